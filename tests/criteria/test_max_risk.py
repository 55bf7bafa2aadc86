from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.max_risk import MaxRisk
from tarnkappe.errors import JobError
from tarnkappe.groups import GroupStats


def of_sizes(*sizes: int) -> GroupStats:
    return GroupStats.from_cells(np.arange(len(sizes)), np.array(sizes))


@given(st.lists(st.integers(1, 200), min_size=1, max_size=9), st.integers(1, 200))
def test_one_over_k_is_k_anonymity(sizes, k):
    """Whatever 1 / k is as a float."""
    stats = of_sizes(*sizes)
    assert MaxRisk(1 / k).satisfied(stats).tolist() == KAnonymity(k).satisfied(stats).tolist()
    assert MaxRisk(1 / k).min_size == k


def test_prosecutor_risk():
    """Groups of 1, 2, 3 and 4: the largest risk is 1 (catalogue, section 7.3)."""
    stats = of_sizes(1, 2, 3, 4)
    verdict = MaxRisk(0.3).verdict(stats)
    assert (verdict.reached, verdict.violating_groups, verdict.asked) == (1.0, 3, "max-risk ≤ 0.3")
    assert MaxRisk(0.5).satisfied(stats).tolist() == [False, True, True, True]


def test_decimals_are_taken_as_written():
    assert MaxRisk(0.33).min_size == 4
    assert MaxRisk(0.09).min_size == 12
    assert MaxRisk(0.05).satisfied(of_sizes(20)).all()
    assert not MaxRisk(0.0499).satisfied(of_sizes(20)).any()


@pytest.mark.parametrize("risk", [0, -0.1, 1.01])
def test_what_is_no_chance_is_refused(risk):
    with pytest.raises(JobError, match="E110 'risk' must be a number of at most 1 above 0"):
        MaxRisk(risk)

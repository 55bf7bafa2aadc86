"""The hybrid runs the one of MRTDS and MRBUG that has the shorter way."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.algorithms.subtree.mr_bug import MRBUG
from tarnkappe.algorithms.subtree.mr_hybrid import MRHybrid, size_halfway_up
from tarnkappe.algorithms.subtree.mr_tds import MRTDS
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.goal import Goal
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_algorithm


def places(n: int = 400) -> Tally:
    """People in twelve places of four regions of two countries, and a label that depends on the region."""
    nested = {"any": {f"c{i}": {f"r{i}{j}": [f"p{i}{j}{k}" for k in range(3)] for j in range(2)} for i in range(2)}}
    quasi = [Domain(name, Taxonomy.from_nested(nested)) for name in ("born", "lives")]
    label = Domain("label", Taxonomy.from_nested(["no", "yes", "maybe"]))
    rng = np.random.default_rng(3)
    born, lives = rng.integers(0, 12, n), rng.integers(0, 12, n)
    secret = (born // 3 + rng.integers(0, 2, n)) % 3
    return count_cells([born, lives], [secret], quasi, [label])[0]


def test_halfway_up_there_are_the_regions():
    tally = places()
    regions = {(int(a) // 3, int(b) // 3) for a, b in tally.quasi}
    assert size_halfway_up(tally) == tally.n_records // len(regions) == 25


@pytest.mark.parametrize(("k", "other"), [(5, MRBUG("label")), (60, MRTDS("label"))])
def test_does_what_the_chosen_one_does(k: int, other: MRBUG | MRTDS):
    tally, goal = places(), Goal([KAnonymity(k), LDiversity("label", 2)])
    found = MRHybrid("label").decide(tally, goal, rng=np.random.default_rng(1))
    expected = other.decide(tally, goal, rng=np.random.default_rng(1))
    assert found.notes["chosen"] == other.name
    assert found.notes["balance"] == 25
    assert np.array_equal(found.group, expected.group)
    assert np.array_equal(found.quota, expected.quota)


def test_the_threshold_decides_if_it_is_given():
    tally, goal = places(), Goal([KAnonymity(5)])
    for threshold, name in ((4, "mrtds"), (5, "mrbug")):
        found = MRHybrid("label", threshold=threshold).decide(tally, goal, rng=np.random.default_rng(1))
        assert found.notes["chosen"] == name


def test_obeys_the_laws():
    for threshold in (1, 1000):
        check_algorithm(MRHybrid("illness", threshold=threshold), Goal([KAnonymity(5), LDiversity("illness", 2)]))

"""MRBUG: what bottom-up generalisation decides, whatever the number of shards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.subtree.bug import BottomUpGeneralization
from tarnkappe.algorithms.subtree.mr_bug import MRBUG
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)


def same(a: Grouping, b: Grouping) -> bool:
    assert a.fixed is not None and b.fixed is not None  # noqa: PT018
    arrays = (
        (a.cell, b.cell),
        (a.group, b.group),
        (a.quota, b.quota),
        (a.fixed.lo, b.fixed.lo),
        (a.fixed.hi, b.fixed.hi),
    )
    return all(np.array_equal(x, y) for x, y in arrays)


@settings(max_examples=examples(60))
@given(
    tallies(n_sensitive=2, wildcards=False),
    goals(know_others=None),
    st.integers(1, 6),
    st.sampled_from(["subtree", "sibling"]),
)
def test_the_same_as_bug(tally: Tally, goal: Goal, partitions: int, granularity: str):
    try:
        expected = BottomUpGeneralization("s1", granularity=granularity).decide(tally, goal, rng=RNG)
    except (InfeasibleError, JobError) as error:
        with pytest.raises(type(error)):
            MRBUG("s1", granularity=granularity, partitions=partitions).decide(tally, goal, rng=RNG)
        return
    found = MRBUG("s1", granularity=granularity, partitions=partitions).decide(tally, goal, rng=RNG)
    check_grouping("mrbug", tally, goal, found)
    assert same(found, expected)


@pytest.mark.parametrize("partitions", [1, 2, 7])
@pytest.mark.parametrize(
    "goal", [Goal([KAnonymity(8)], 0.02), Goal([KAnonymity(3), TCloseness("label", 0.2)])], ids=str
)
def test_a_larger_table(partitions: int, goal: Goal):
    rng = np.random.default_rng(3)
    city = Taxonomy.from_nested({f"region {r}": [f"city {r}.{c}" for c in range(6)] for r in range(5)})
    ages = np.arange(20, 60, dtype=float)
    quasi = [Domain("city", city), Domain("age", Taxonomy.scale([f"{a:g}" for a in ages]), ages)]
    label = Domain("label", Taxonomy.from_nested(["yes", "no", "perhaps"]))
    codes = [rng.choice(d.size, 3000, p=rng.dirichlet(np.ones(d.size))) for d in (*quasi, label)]
    tally = count_cells(codes[:2], codes[2:], quasi, [label])[0]
    expected = BottomUpGeneralization("label").decide(tally, goal, rng=RNG)
    assert same(MRBUG("label", partitions=partitions).decide(tally, goal, rng=RNG), expected)

"""Parts along a Hilbert curve: every part satisfies the goal, and little is lost at their ends."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.local.hilbert_parts import HilbertParts
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.goal import Goal
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping


def table(n: int = 1200) -> Tally:
    rng = np.random.default_rng(2)
    age, pay = (Domain(c, Taxonomy.scale([str(i) for i in range(60)]), np.arange(60.0)) for c in ("age", "pay"))
    ill = Domain("ill", Taxonomy.from_nested(["flu", "gout", "cold"]))
    return count_cells([rng.integers(0, 60, n), rng.integers(0, 60, n)], [rng.integers(0, 3, n)], [age, pay], [ill])[0]


@pytest.mark.parametrize("inner", ["mondrian", "k-member", "oka"])
@pytest.mark.parametrize("by_value", [False, True])
def test_parts_are_grouped_by_another_algorithm(inner, by_value):
    tally, goal = table(), Goal([KAnonymity(4)])
    rng = np.random.default_rng(0)
    found = HilbertParts(inner, 200, by_value=by_value).decide(tally, goal, rng=rng)
    check_grouping("hilbert-parts", tally, goal, found)
    assert found.notes["parts of the curve"] == 6
    whole = algorithm_class(inner)().decide(tally, goal, rng=rng)
    loss = [LossMetric().score(Plan.of(tally, goal, g)) for g in (found, whole)]
    assert loss[0] < 1.5 * loss[1]


@pytest.mark.parametrize(
    "goal", [Goal([KAnonymity(5), LDiversity("ill", 3)]), Goal([TCloseness("ill", 0.15)])], ids=["l", "t"]
)
def test_parts_that_cannot_satisfy_the_goal_are_joined(goal):
    tally = table(200)
    found = HilbertParts("mondrian", 3).decide(tally, goal, rng=np.random.default_rng(0))
    check_grouping("hilbert-parts", tally, goal, found)
    assert 1 < found.notes["parts of the curve"] < 66


def test_a_small_table_is_one_part():
    tally, goal = table(100), Goal([KAnonymity(3)])
    found = HilbertParts("mondrian").decide(tally, goal, rng=np.random.default_rng(0))
    assert found.n_groups == algorithm_class("mondrian")().decide(tally, goal, rng=np.random.default_rng(0)).n_groups

"""l+-Optimize against every subtree recoding of small tables."""

from __future__ import annotations

import numpy as np
import pytest
from every_recoding import mean_loss, recodings, settled
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.subtree.l_plus_optimize import LPlusOptimize
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.metrics import CellLoss, metric_named
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

RNG = np.random.default_rng(0)
UNLIMITED = 1_000_000


def small(tally: Tally) -> bool:
    """Whether all recodings can be looked at one by one."""
    return int(np.prod([2.0 ** len(np.unique(tally.quasi[:, j])) for j in range(tally.quasi.shape[1])])) <= 512


def least(tally: Tally, goal: Goal, metric: CellLoss) -> float | None:
    found = ((settled(tally, goal, recoding), recoding) for recoding in recodings(tally))
    return min((mean_loss(tally, g, r, metric) for g, r in found if g is not None), default=None)


@given(tallies(max_records=30, wildcards=False).filter(small), goals(), st.sampled_from(["lm", "gcp", "iloss"]))
@settings(deadline=None, max_examples=examples(70))
def test_finds_the_optimum(tally, goal, name):
    metric = metric_named(name)
    assert isinstance(metric, CellLoss)
    best = least(tally, goal, metric)
    algorithm = LPlusOptimize(name, nodes=UNLIMITED)
    if best is None:
        with pytest.raises(InfeasibleError):
            algorithm.decide(tally, goal, rng=RNG)
        return
    grouping = algorithm.decide(tally, goal, rng=RNG)
    assert grouping.notes["optimal"]
    assert grouping.notes["cost"] == pytest.approx(best)
    assert metric.score(Plan.of(tally, goal, grouping)) == pytest.approx(best)


@given(tallies(max_records=30, wildcards=False).filter(small), goals(), st.integers(1, 2))
@settings(deadline=None, max_examples=examples(60))
def test_what_is_said_holds_for_all_cuts_where_only_some_are_tried(tally, goal, cuts):
    metric = metric_named("lm")
    assert isinstance(metric, CellLoss)
    best = least(tally, goal, metric)
    try:
        grouping = LPlusOptimize(nodes=UNLIMITED, max_cuts=cuts).decide(tally, goal, rng=RNG)
    except InfeasibleError:
        return
    assert best is not None
    assert grouping.notes["lower bound"] <= best + 1e-12
    if grouping.notes["optimal"]:
        assert grouping.notes["cost"] == pytest.approx(best)


@given(tallies(max_records=30, wildcards=False).filter(small), goals(), st.integers(1, 5))
@settings(deadline=None, max_examples=examples(30))
def test_the_bound_holds_when_stopped_early(tally, goal, nodes):
    metric = metric_named("lm")
    assert isinstance(metric, CellLoss)
    best = least(tally, goal, metric)
    try:
        grouping = LPlusOptimize(nodes=nodes).decide(tally, goal, rng=RNG)
    except InfeasibleError:
        return
    assert best is not None
    assert grouping.notes["lower bound"] <= best + 1e-12
    assert grouping.notes["cost"] >= best - 1e-12
    assert metric.score(Plan.of(tally, goal, grouping)) == pytest.approx(grouping.notes["cost"])


CITY = Domain("city", Taxonomy.from_nested({"North": ["Kiel", "Husum"], "South": ["Ulm", "Passau"]}))
ILLNESS = Domain("illness", Taxonomy.from_nested(["flu", "ulcer"]))


def test_worked_example():
    """The south is mixed enough to keep its cities, the north only as a whole."""
    city = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    illness = np.array([0, 0, 1, 1, 0, 1, 0, 1])
    tally = count_cells([city], [illness], [CITY], [ILLNESS])[0]
    grouping = LPlusOptimize().decide(tally, Goal([FrequencyLDiversity("illness", 2)]), rng=RNG)
    texts = {CITY.taxonomy.labels[v] for v in grouping.fixed.node[:, 0]}
    assert texts == {"North", "Ulm", "Passau"}
    assert grouping.notes["cost"] == pytest.approx(4 / 8 * 1 / 3)
    assert grouping.notes["optimal"]


def test_weights_decide_what_is_kept():
    """Only one of two like columns can be kept: the one that counts more."""
    for heavy, kept in ((0, 0), (1, 1)):
        columns = [Domain(n, Taxonomy.from_nested(["x", "y"]), weight=3.0 if heavy == i else 1.0)
                   for i, n in enumerate("ab")]  # fmt: skip
        tally = count_cells([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])], [], columns, [])[0]
        grouping = LPlusOptimize().decide(tally, Goal([KAnonymity(2)]), rng=RNG)
        assert np.all(grouping.fixed.node[:, kept] > 0)
        assert np.all(grouping.fixed.node[:, 1 - kept] == 0)

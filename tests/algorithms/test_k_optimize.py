"""K-Optimize against every set of cuts of small tables."""

from __future__ import annotations

import numpy as np
import pytest
from every_recoding import discernibility, misclassified, recodings, settled
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.subtree.k_optimize import KOptimize
from tarnkappe.algorithms.subtree.l_plus_optimize import LPlusOptimize
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.metrics.discernibility import Discernibility
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

RNG = np.random.default_rng(0)
UNLIMITED = 1_000_000
TARGETS = st.sampled_from([None, "s0"])


def small(tally: Tally) -> bool:
    """Whether all recodings can be looked at one by one."""
    count = 1
    for j in range(len(tally.quasi_domains)):
        count *= 2 ** min(len(np.unique(tally.quasi[:, j])), 20)
    return count <= 512


def least(tally: Tally, goal: Goal, target: str | None) -> float | None:
    costs = []
    for recoding in recodings(tally):
        grouping = settled(tally, goal, recoding)
        if grouping is not None:
            found = discernibility(tally, grouping) if target is None else misclassified(tally, grouping, target)
            costs.append(found)
    return min(costs, default=None)


@given(tallies(max_records=30, wildcards=False).filter(small), goals(), st.sampled_from([None, "s0"]))
@settings(deadline=None, max_examples=examples(70))
def test_finds_the_optimum(tally, goal, target):
    best = least(tally, goal, target)
    algorithm = KOptimize(target=target, nodes=UNLIMITED)
    if best is None:
        with pytest.raises(InfeasibleError):
            algorithm.decide(tally, goal, rng=RNG)
        return
    grouping = algorithm.decide(tally, goal, rng=RNG)
    reached = discernibility(tally, grouping) if target is None else misclassified(tally, grouping, target)
    assert reached == best
    assert grouping.notes["optimal"]
    scale = 1 if target is None else tally.n_records
    assert grouping.notes["cost"] * scale == pytest.approx(best)
    assert grouping.notes["lower bound"] * scale == pytest.approx(best)
    if target is None:
        assert Discernibility().score(Plan.of(tally, goal, grouping)) == best


@given(tallies(max_records=30, wildcards=False).filter(small), goals(), st.integers(1, 6))
@settings(deadline=None, max_examples=examples(30))
def test_the_bound_holds_when_stopped_early(tally, goal, nodes):
    best = least(tally, goal, None)
    try:
        grouping = KOptimize(nodes=nodes).decide(tally, goal, rng=RNG)
    except InfeasibleError:
        return
    assert best is not None
    assert grouping.notes["lower bound"] <= best <= discernibility(tally, grouping) == grouping.notes["cost"]
    assert grouping.notes["nodes"] <= nodes
    assert grouping.notes["optimal"] == (grouping.notes["lower bound"] == grouping.notes["cost"])


@given(
    tallies(max_records=30, wildcards=False).filter(small), goals(), st.sampled_from([None, "s0"]), st.integers(1, 2)
)
@settings(deadline=None, max_examples=examples(60))
def test_what_is_said_holds_for_all_cuts_where_only_some_are_tried(tally, goal, target, cuts):
    best = least(tally, goal, target)
    try:
        grouping = KOptimize(target=target, nodes=UNLIMITED, max_cuts=cuts).decide(tally, goal, rng=RNG)
    except InfeasibleError:
        return
    assert best is not None
    scale = 1 if target is None else tally.n_records
    assert grouping.notes["lower bound"] * scale <= best + 1e-9
    if grouping.notes["optimal"]:
        assert grouping.notes["cost"] * scale == pytest.approx(best)


AGE = Domain("age", Taxonomy.scale(["20", "21", "22", "40", "41", "42"]), np.array([20.0, 21, 22, 40, 41, 42]))


def test_worked_example():
    """Six ages, k = 3: two groups of three cost 18; one record suppressed would cost six."""
    tally = count_cells([np.arange(6)], [], [AGE], [])[0]
    grouping = KOptimize().decide(tally, Goal([KAnonymity(3)]), rng=RNG)
    assert grouping.group.tolist() == [0, 0, 0, 1, 1, 1]
    assert dict(grouping.notes) == {"optimal": True, "cost": 18.0, "lower bound": 18.0, "nodes": 1}


def test_the_best_of_some_cuts_is_not_called_the_best():
    """One place to cut, and it is the wrong one: two groups of three would cost 18."""
    counts = np.repeat([0, 1, 2, 3, 4, 5], [1, 1, 1, 1, 1, 4])
    tally = count_cells([counts], [], [AGE], [])[0]
    grouping = KOptimize(max_cuts=1).decide(tally, Goal([KAnonymity(2)]), rng=RNG)
    assert grouping.notes["optimal among the cuts tried"]
    assert not grouping.notes["optimal"]
    assert grouping.notes["lower bound"] <= KOptimize().decide(tally, Goal([KAnonymity(2)]), rng=RNG).notes["cost"]
    assert (grouping.notes["cuts tried"], grouping.notes["cuts"]) == (1, 5)


def test_suppression_is_used_where_it_pays():
    """A suppressed record costs as much as the table has records, joining a group of m costs (m + 1)² - m²."""
    tally = count_cells([np.array([0] * 6 + [3] + [5] * 6)], [], [AGE], [])[0]
    strict = KOptimize().decide(tally, Goal([KAnonymity(3)]), rng=RNG)
    assert (strict.suppressed, strict.notes["cost"]) == (0, 6**2 + 7**2)
    tied = KOptimize().decide(tally, Goal([KAnonymity(3)], 0.2), rng=RNG)
    assert tied.notes["cost"] == 2 * 6**2 + 13
    near = count_cells([np.array([0] * 7 + [3] + [5] * 7)], [], [AGE], [])[0]
    assert KOptimize().decide(near, Goal([KAnonymity(8)], 0.2), rng=RNG).notes["cost"] == 15**2
    pays = count_cells([np.array([0] * 6 + [3] + [5])], [], [AGE], [])[0]
    free = KOptimize().decide(pays, Goal([KAnonymity(3)], 0.5), rng=RNG)
    assert (free.suppressed, free.notes["cost"]) == (2, 6**2 + 2 * 8)


def test_equally_good_cuts_are_not_left_out():
    """Both columns say the same: cutting the second as well costs nothing and says more."""
    other = Domain("other", Taxonomy.from_nested(["a", "b"]))
    tally = count_cells([np.array([0, 0, 5, 5]), np.array([0, 0, 1, 1])], [], [AGE, other], [])[0]
    grouping = KOptimize().decide(tally, Goal([KAnonymity(2)]), rng=RNG)
    assert np.all(grouping.fixed.lo == grouping.fixed.hi)


def test_long_ranges_are_cut_at_quantiles():
    values = np.arange(500.0)
    long = Domain("x", Taxonomy.scale([f"{v:g}" for v in values]), values)
    tally = count_cells([np.arange(500)], [], [long], [])[0]
    grouping = KOptimize(max_cuts=9).decide(tally, Goal([KAnonymity(5)]), rng=RNG)
    assert np.bincount(grouping.group).tolist() == [50] * 10


@pytest.mark.parametrize("cls", [KOptimize, LPlusOptimize])
def test_effort_decides_how_long_a_search_goes_on_and_criteria_beyond_a_size_count_more(cls):
    """Work is counted in records that are looked at, so a goal that looks at secrets visits fewer branches."""
    frame = census(600, seed=3)
    taxonomies = census_taxonomies()
    quasi = {n: taxonomies.get(n, tk.numeric()) for n in ("age", "education", "marital-status", "native-country")}
    job = tk.Job(quasi=quasi, sensitive=["occupation"], drop="rest", criteria=[tk.KAnonymity(2)])
    source = open_source(frame)
    tally = MemoryEngine().count(source, job.schema(source.columns))
    by_size = Goal([tk.KAnonymity(10)])
    diverse = Goal([tk.KAnonymity(10), tk.LDiversity("occupation", 3)])
    visited = {}
    for goal in (by_size, diverse):
        for effort in (0.01, 0.05):
            notes = [cls(effort=effort).decide(tally, goal, rng=RNG).notes for _ in range(2)]
            assert notes[0] == notes[1]
            visited[goal, effort] = notes[0]
    for goal in (by_size, diverse):
        few, many = visited[goal, 0.01], visited[goal, 0.05]
        assert few["nodes"] < many["nodes"]
        assert few["cost"] >= many["cost"]
        assert few["lower bound"] <= many["lower bound"]
    assert visited[diverse, 0.05]["nodes"] < visited[by_size, 0.05]["nodes"]

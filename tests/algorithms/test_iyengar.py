"""Iyengar's genetic algorithm: valid, never worse than its seeds, and often optimal on small tables."""

from __future__ import annotations

import numpy as np
import pytest
from every_recoding import mean_loss, misclassified, recodings, settled
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.subtree.iyengar import Iyengar
from tarnkappe.algorithms.subtree.refinements import Refinements
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import Plan, suppress_leftovers
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping


def loss(tally: Tally, goal: Goal, algorithm: Iyengar, seed: int = 0) -> float:
    grouping = algorithm.decide(tally, goal, rng=np.random.default_rng(seed))
    return LossMetric().score(Plan.of(tally, goal, grouping))


@given(tallies(wildcards=False), goals(), st.sampled_from([None, "s0"]), st.integers(0, 99))
@settings(deadline=None, max_examples=examples(30))
def test_valid_and_never_worse_than_the_root(tally, goal, target, seed):
    space = Refinements.of(tally, 100)
    root = suppress_leftovers(tally, space.grouping(tally, np.zeros(len(space), np.bool_)), goal)
    algorithm = Iyengar(target=target, population=6, generations=3)
    try:
        grouping = algorithm.decide(tally, goal, rng=np.random.default_rng(seed))
    except InfeasibleError:
        assert root is None
        return
    check_grouping("iyengar", tally, goal, grouping)
    if root is None:
        return
    if target is None:
        scores = [LossMetric().score(Plan.of(tally, goal, g)) for g in (grouping, root)]
    else:
        scores = [misclassified(tally, g, target) for g in (grouping, root)]
    assert scores[0] <= scores[1] + 1e-12


def random_table(seed: int) -> Tally:
    """Two short columns, in which greedy search often misses the optimum."""
    rng = np.random.default_rng(seed)
    tree = Domain("t", Taxonomy.from_nested({"A": ["a1", "a2"], "B": ["b1", "b2"]}))
    age = Domain("age", Taxonomy.scale(list("12345")), np.array([1.0, 2, 3, 4, 9]))
    return count_cells([rng.integers(0, 4, 30), rng.integers(0, 5, 30)], [], [tree, age], [])[0]


def test_finds_most_optima_of_small_tables():
    goal, reached = Goal([KAnonymity(4)], 0.1), 0
    for seed in range(20):
        tally = random_table(seed)
        found = [(settled(tally, goal, r), r) for r in recodings(tally)]
        best = min(mean_loss(tally, g, r, LossMetric()) for g, r in found if g is not None)
        reached += loss(tally, goal, Iyengar()) == pytest.approx(best)
    assert reached >= 18


def test_more_generations_are_never_worse():
    tally, goal = random_table(1), Goal([KAnonymity(4)])
    scores = [loss(tally, goal, Iyengar(population=8, generations=n)) for n in (1, 5, 30)]
    assert scores == sorted(scores, reverse=True)


def test_as_many_generations_are_bred_as_asked_for():
    tally, goal = random_table(1), Goal([KAnonymity(4)])

    def bred(**settings: int) -> object:
        return Iyengar(population=4, **settings).decide(tally, goal, rng=np.random.default_rng(0)).notes["generations"]

    assert [bred(generations=n) for n in (1, 40, 90)] == [1, 40, 90]
    assert bred(generations=90, patience=3) < 90


def test_the_seed_decides_everything():
    tally, goal = random_table(2), Goal([KAnonymity(3)])
    first, again = (Iyengar().decide(tally, goal, rng=np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first.group, again.group)
    assert first.notes == again.notes


def test_a_target_is_served():
    """Only the age tells the target: it is kept, and the other column is not needed."""
    rng = np.random.default_rng(0)
    age = Domain("age", Taxonomy.scale(list("1234")), np.array([1.0, 2, 3, 4]))
    noise = Domain("noise", Taxonomy.scale(list("1234")), np.array([1.0, 2, 3, 4]))
    target = Domain("class", Taxonomy.from_nested(["no", "yes"]), aside=True)
    codes = rng.integers(0, 4, 40)
    tally = count_cells([codes, rng.integers(0, 4, 40)], [(codes > 1).astype(int)], [age, noise], [target])[0]
    grouping = Iyengar(target="class").decide(tally, Goal([KAnonymity(6)]), rng=rng)
    assert misclassified(tally, grouping, "class") == 0
    assert grouping.notes["cost"] == 0


def test_infeasible():
    age = Domain("age", Taxonomy.scale(list("12")), np.array([1.0, 2]))
    secret = Domain("s", Taxonomy.from_nested(["x", "y"]))
    tally = count_cells([np.array([0, 1])], [np.array([0, 0])], [age], [secret])[0]
    with pytest.raises(InfeasibleError):
        Iyengar().decide(tally, Goal([LDiversity("s", 2)]), rng=np.random.default_rng(0))

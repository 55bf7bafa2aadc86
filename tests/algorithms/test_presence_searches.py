"""SPALM and MPALM: the optimum from above, and cuts that keep the shares alike."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tarnkappe.algorithms.fulldomain.mingen import MinGen
from tarnkappe.algorithms.fulldomain.spalm import Spalm
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.algorithms.multidimensional.mpalm import Mpalm
from tarnkappe.criteria.delta_presence import DeltaPresence
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells, with_population
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

TREE = {"x": {"x1": ["a", "b", "c"], "x2": ["d", "e"]}, "y": {"y1": ["f", "g"]}}


def population(seed: int, people: int = 300) -> Tally:
    """People by number and by tree; the higher the number, the likelier somebody is in the data."""
    rng = np.random.default_rng(seed)
    age = Domain("age", Taxonomy.scale([str(i) for i in range(10)]), np.arange(10.0))
    town = Domain("town", Taxonomy.from_nested(TREE))
    ages, towns = rng.integers(0, 10, people), rng.integers(0, 7, people)
    taking = rng.random(people) < 0.1 + 0.03 * ages
    private = count_cells([ages[taking], towns[taking]], [], [age, town], [])[0]
    return with_population(private, count_cells([ages, towns], [], [age, town], [])[0])[0]


def shares(tally: Tally, grouping: Grouping) -> list[Fraction]:
    """By counting: which share of every group of the public table is in the data."""
    assert tally.population is not None
    people = np.bincount(grouping.group, tally.population[grouping.cell], grouping.n_groups)
    records = np.bincount(grouping.group, grouping.quota, grouping.n_groups)
    return [Fraction(int(r), int(p)) for r, p in zip(records, people, strict=True)]


@pytest.mark.parametrize("bounds", [(0.35, 0.0), (0.45, 0.05), (0.3, 0.2)])
@pytest.mark.parametrize("seed", range(3))
def test_spalm_finds_the_optimum_and_does_not_look_below_a_violation(seed, bounds):
    tally, goal = population(seed), Goal([DeltaPresence(*bounds)])
    rng = np.random.default_rng(0)
    found, truth = (a.decide(tally, goal, rng=rng) for a in (Spalm(), MinGen()))
    assert found.notes["score"] == pytest.approx(truth.notes["score"])
    assert found.notes["nodes checked"] <= truth.notes["nodes checked"]
    assert all(Fraction(str(bounds[1])) <= s <= Fraction(str(bounds[0])) for s in shares(tally, found))


@pytest.mark.parametrize("goal", [Goal([KAnonymity(4)], 0.1), Goal([KAnonymity(3)])], ids=str)
def test_spalm_is_optimal_for_other_goals_too(goal):
    tally = population(1)
    tally = Tally(tally.quasi, tally.sensitive, tally.count, tally.quasi_domains, ())
    found, truth = (a.decide(tally, goal, rng=np.random.default_rng(0)) for a in (Spalm(), MinGen()))
    assert found.notes["score"] == pytest.approx(truth.notes["score"])


@pytest.mark.parametrize("bounds", [(0.35, 0.0), (0.45, 0.05), (0.3, 0.2)])
@pytest.mark.parametrize("seed", range(3))
def test_mpalm_keeps_both_bounds_and_loses_less_than_spalm(seed, bounds):
    tally, goal = population(seed), Goal([DeltaPresence(*bounds)])
    rng = np.random.default_rng(0)
    found, full = (a.decide(tally, goal, rng=rng) for a in (Mpalm(), Spalm()))
    check_grouping("mpalm", tally, goal, found)
    assert all(Fraction(str(bounds[1])) <= s <= Fraction(str(bounds[0])) for s in shares(tally, found))
    loss = [LossMetric().score(Plan.of(tally, goal, g)) for g in (found, full)]
    assert loss[0] <= loss[1]


def test_mpalm_cuts_where_the_shares_are_alike():
    """Half of each sex is in the data, but nobody under 2 and all over 2: cut by sex, although age is wider."""
    sex, age = (
        Domain("sex", Taxonomy.from_nested(["f", "m"])),
        Domain("age", Taxonomy.scale(list("0123")), np.arange(4.0)),
    )
    people = [np.repeat([0, 1], 8), np.tile([0, 0, 1, 1, 2, 2, 3, 3], 2)]
    taking = people[1] >= 2
    private = count_cells([c[taking] for c in people], [], [sex, age], [])[0]
    tally = with_population(private, count_cells(people, [], [sex, age], [])[0])[0]
    goal = Goal([DeltaPresence(0.6)])
    found = Mpalm().decide(tally, goal, rng=np.random.default_rng(0))
    assert shares(tally, found) == [Fraction(1, 2)] * 2
    assert {tuple(row) for row in found.boxes(tally).lo.tolist()} == {(0, 0), (1, 0)}


def test_without_a_public_table_mpalm_cuts_like_mondrian():
    rng = np.random.default_rng(4)
    age = Domain("age", Taxonomy.scale([str(i) for i in range(50)]), np.arange(50.0))
    tally = count_cells([rng.integers(0, 50, 400)], [], [age], [])[0]
    goal = Goal([KAnonymity(5)])
    ours, theirs = (a.decide(tally, goal, rng=rng) for a in (Mpalm(), Mondrian()))
    assert ours.n_groups > 0.8 * theirs.n_groups


def test_mpalm_asks_about_secrets():
    rng = np.random.default_rng(4)
    age = Domain("age", Taxonomy.scale([str(i) for i in range(9)]), np.arange(9.0))
    ill = Domain("ill", Taxonomy.from_nested(["flu", "gout"]))
    tally = count_cells([rng.integers(0, 9, 200)], [rng.integers(0, 2, 200)], [age], [ill])[0]
    goal = Goal([KAnonymity(5), TCloseness("ill", 0.2)])
    check_grouping("mpalm", tally, goal, Mpalm().decide(tally, goal, rng=rng))

"""Swap refinement: groups keep what criteria look at, and lose less."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import goals, groupings, tallies
from tarnkappe.algorithms.fulldomain.datafly import Datafly
from tarnkappe.algorithms.local.pool import Pool
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.algorithms.steps.swaps import swap_refine
from tarnkappe.algorithms.steps.units import ruler_of
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy


def loss(tally: Tally, goal: Goal, grouping: Grouping) -> float:
    kept = grouping.group != SUPPRESSED
    published = Grouping(grouping.cell[kept], grouping.group[kept], grouping.quota[kept], grouping.n_groups)
    return Pool(tally, goal, {}, ruler_of(tally.quasi_domains)).loss(published)


def contents(tally: Tally, goal: Goal, grouping: Grouping) -> list[list[int]]:
    """How often each group has each combination of the values that the goal looks at."""
    seen = [tally.sensitive_index(c) for c in goal.columns]
    value = np.unique(tally.sensitive[:, seen], axis=0, return_inverse=True)[1].reshape(-1)
    table = np.zeros((grouping.n_groups + 1, int(value.max(initial=0)) + 1), np.int64)
    np.add.at(table, (grouping.group, value[grouping.cell]), grouping.quota)
    return table.tolist()


@given(st.data(), tallies(max_records=40), goals(know_others=False), st.integers(1, 3), st.sampled_from([1, 4, 32]))
@settings(deadline=None)
def test_secrets_and_sizes_stay_and_the_loss_never_rises(data, tally, goal, passes, window):
    grouping = data.draw(groupings(tally))
    if grouping.n_groups == 0:
        return
    refined = swap_refine(tally, grouping, goal, passes, window)
    assert contents(tally, goal, refined) == contents(tally, goal, grouping)
    assert np.array_equal(np.bincount(refined.cell, refined.quota, tally.n_cells), tally.count)
    assert np.all(refined.quota > 0)
    assert np.all(np.diff(refined.cell) >= 0)
    assert loss(tally, goal, refined) <= loss(tally, goal, grouping) + 1e-9
    one, two = (
        np.bincount(g.cell, np.where(g.group == SUPPRESSED, g.quota, 0), tally.n_cells) for g in (grouping, refined)
    )
    assert np.array_equal(one, two)
    if goal.decided_by_size:
        return
    levels = [[c.level(goal.stats(tally, g)) for c in goal.criteria] for g in (grouping, refined)]
    for one, two in zip(*levels, strict=True):
        assert np.array_equal(one, two, equal_nan=True)


SCALE = Domain("age", Taxonomy.scale([str(v) for v in range(101)]), np.arange(101.0))
SECRET = Domain("s", Taxonomy.scale(["x", "y", "z"]))


def people(ages: list[int], illness: list[int]) -> Tally:
    return count_cells([np.array(ages)], [np.array(illness)], [SCALE], [SECRET])[0]


#: Two groups of three that lie across each other.
AGES, ILLNESS = [20, 22, 24, 60, 62, 64], [0, 1, 2, 0, 1, 2]
CROSSED = np.array([0, 1, 0, 1, 0, 1], np.int32)


def test_groups_that_lie_across_each_other_are_untangled():
    """[20 62] and [22 64] become [20 24] and [60 64]: 84 years in each group become 4."""
    tally = people(AGES, ILLNESS)
    grouping = Grouping.of_cells(tally, CROSSED, 2)
    goal = Goal([LDiversity("s", 3)])
    assert loss(tally, goal, grouping) == pytest.approx(2 * 3 * 0.42)
    refined = swap_refine(tally, grouping, goal, 1)
    assert refined.group.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    assert loss(tally, goal, refined) == pytest.approx(2 * 3 * 0.04)


def test_only_equal_secrets_change_places():
    """Nobody else has the illness of anybody: nothing can be exchanged, unless only sizes count."""
    tally = people([20, 21, 60, 61], [0, 1, 2, 2])
    grouping = Grouping.of_cells(tally, np.array([0, 1, 0, 1], np.int32), 2)
    same = swap_refine(tally, grouping, Goal([LDiversity("s", 2)]), 3)
    assert loss(tally, Goal([KAnonymity(2)]), same) == pytest.approx(loss(tally, Goal([KAnonymity(2)]), grouping))
    free = swap_refine(tally, grouping, Goal([KAnonymity(2)]), 3)
    assert loss(tally, Goal([KAnonymity(2)]), free) == pytest.approx(4 * 0.01)


def test_cells_are_divided_where_needed():
    """Two of three equal records change groups."""
    tally = people([20, 20, 20, 60, 60, 60], [0] * 6)
    cell, group = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    grouping = Grouping(cell, group, np.array([1, 2, 2, 1], np.int64), 2)
    refined = swap_refine(tally, grouping, Goal([KAnonymity(3)]), 2)
    assert loss(tally, Goal([KAnonymity(3)]), refined) == 0
    assert refined.quota.tolist() == [3, 3]


def test_fixed_boxes_are_left_alone():
    tally = people(AGES, ILLNESS)
    fixed = Datafly().decide(tally, Goal([KAnonymity(2)]), rng=np.random.default_rng(0))
    assert swap_refine(tally, fixed, Goal([KAnonymity(2)]), 3) is fixed


def test_mondrian_with_swaps_loses_less():
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 101, 300) for _ in range(2)]
    domains = [replace(SCALE, name=name) for name in ("x", "y")]
    tally, _ = count_cells(columns, [rng.integers(0, 3, 300)], domains, [SECRET])
    goal = Goal([KAnonymity(4), LDiversity("s", 3)])
    plain, swapped = (Mondrian(swaps=s).decide(tally, goal, rng=rng) for s in (0, 3))
    assert goal.satisfied(goal.stats(tally, swapped)).all()
    assert loss(tally, goal, swapped) < loss(tally, goal, plain)

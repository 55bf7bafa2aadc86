"""Algorithms that break a law on purpose: the checks must notice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.fulldomain.datafly import Datafly
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.boxes import Boxes
from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, GroupStats
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.tally import Tally, distinct_rows
from tarnkappe.testing import check_algorithm


class Broken(Mondrian):
    """Mondrian, spoiled afterwards."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        return self.spoil(tally, super().decide(tally, goal, rng=rng), rng)

    def spoil(self, tally: Tally, grouping: Grouping, rng: np.random.Generator) -> Grouping:
        raise NotImplementedError


class IgnoresK(Algorithm):
    """Every distinct combination is a group of its own."""

    name = "ignores-k"
    handles_wildcards = True

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        if tally.n_records < goal.min_size:
            raise goal.infeasible(tally)
        columns = [tally.quasi[:, j] for j in range(tally.quasi.shape[1])]
        group, first = distinct_rows(columns, [d.size for d in tally.quasi_domains])
        return Grouping.of_cells(tally, group, len(first))


class IgnoresTheSecrets(Mondrian):
    """Looks at k only."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        return super().decide(tally, Goal([KAnonymity(goal.min_size)]), rng=rng)


class OneBigGroup(Algorithm):
    name = "one-big-group"
    handles_wildcards = True

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        grouping = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
        if not tally.n_cells or not goal.satisfied(goal.stats(tally, grouping)).all():
            raise goal.infeasible(tally)
        return grouping


class TwoBigGroups(Mondrian):
    """Separates something, but far too little."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        grouping = super().decide(tally, goal, rng=rng)
        if grouping.n_groups < 3:
            return grouping
        return grouping.relabel(np.arange(grouping.n_groups, dtype=np.int32) % 2, 2)


class LosesRecords(Broken):
    def spoil(self, tally, grouping, rng):
        return replace(grouping, quota=np.maximum(grouping.quota - (grouping.quota > 1), 1))


class LosesPieces(Broken):
    def spoil(self, tally, grouping, rng):
        return Grouping(grouping.cell[:-1], grouping.group[:-1], grouping.quota[:-1], grouping.n_groups)


class InventsRecords(Broken):
    def spoil(self, tally, grouping, rng):
        return replace(grouping, quota=grouping.quota * 2)


class EmptyPieces(Broken):
    """A piece of no record would bring its sensitive value into the group."""

    def spoil(self, tally, grouping, rng):
        return Grouping(
            np.append(grouping.cell, grouping.cell[-1]),
            np.append(grouping.group, np.int32(0)),
            np.append(grouping.quota, 0),
            grouping.n_groups,
        )


class UnsortedPieces(Broken):
    def spoil(self, tally, grouping, rng):
        return Grouping(grouping.cell[::-1], grouping.group[::-1], grouping.quota[::-1], grouping.n_groups)


class EmptyGroups(Broken):
    def spoil(self, tally, grouping, rng):
        return replace(grouping, n_groups=grouping.n_groups + 1)


class SuppressesTooMuch(Broken):
    def spoil(self, tally, grouping, rng):
        if grouping.n_groups == 1:
            return grouping
        return grouping.without(np.arange(grouping.n_groups) == 0)


class SuppressesEverything(Broken):
    def spoil(self, tally, grouping, rng):
        return grouping.without(np.ones(grouping.n_groups, np.bool_))


class NotReproducible(Broken):
    def spoil(self, tally, grouping, rng):
        new = np.random.default_rng().permutation(grouping.n_groups).astype(np.int32)
        return grouping.relabel(new, grouping.n_groups)


class ChangesTheTally(Broken):
    def spoil(self, tally, grouping, rng):
        tally.count[:] = tally.count[::-1].copy()
        return grouping


class PublishesFalsehoods(Datafly):
    """Raises every value to a leaf: the group then does not cover its records."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        grouping = super().decide(tally, goal, rng=rng)
        leaf = [d.taxonomy.leaf_nodes[0] for d in tally.quasi_domains]
        nodes = np.tile(np.array(leaf, np.int32), (grouping.n_groups, 1))
        return replace(grouping, form=FixedBoxes(Boxes.of_nodes(nodes, tally.quasi_domains)))


class GivesUp(Mondrian):
    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        raise goal.infeasible(tally)


class GivesUpEasily(Mondrian):
    """Does not try when the first cut would be hard."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        if tally.n_records < 3 * goal.min_size:
            raise goal.infeasible(tally)
        return super().decide(tally, goal, rng=rng)


class ReturnsNothing(Mondrian):
    """An empty result instead of an error."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        try:
            return super().decide(tally, goal, rng=rng)
        except InfeasibleError:
            return Grouping.of_cells(tally, np.full(tally.n_cells, -1, np.int32), 0)


class Crashes(Mondrian):
    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        if tally.n_records < goal.min_size:
            raise IndexError("list index out of range")
        return super().decide(tally, goal, rng=rng)


class SaysNoToWildcardsButTakesThem(Mondrian):
    handles_wildcards = False

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Accept everything."""


@dataclass(frozen=True)
class OddSize(Criterion):
    """Groups of an odd size: two of them pooled have an even one."""

    name: ClassVar = "odd-size"
    title: ClassVar = "odd size"
    sense: ClassVar = "at least"
    monotone: ClassVar = False
    absorbing: ClassVar = False

    @property
    def threshold(self) -> float:
        return 1.0

    def level(self, stats: GroupStats) -> np.ndarray:
        return (stats.size % 2).astype(np.float64)


class TakesNonMonotone(Mondrian):
    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Accept everything."""


K = Goal([KAnonymity(5)])
L = Goal([KAnonymity(4), LDiversity("disease", 3)])

BROKEN = [
    (IgnoresK(), K, "violate the goal"),
    (IgnoresK(), L, "violate the goal"),
    (IgnoresTheSecrets(), L, "violate the goal"),
    (OneBigGroup(), K, "one big group"),
    (OneBigGroup(), L, "one big group"),
    (TwoBigGroups(), K, "tell .* apart"),
    (LosesRecords(), K, "lost or invented"),
    (LosesPieces(), K, "lost or invented"),
    (InventsRecords(), K, "lost or invented"),
    (EmptyPieces(), K, "without records"),
    (UnsortedPieces(), K, "sorted by cell"),
    (EmptyGroups(), K, "empty ones"),
    (SuppressesTooMuch(), K, "suppressed .* allowed are"),
    (SuppressesEverything(), Goal([KAnonymity(5)], 1.0), "at least one"),
    (NotReproducible(), K, "same seed"),
    (ChangesTheTally(), K, "changes the tally"),
    (PublishesFalsehoods(), K, "cover their records"),
    (GivesUp(), K, "gave up"),
    (GivesUpEasily(), K, "gave up"),
    (ReturnsNothing(), K, "at least one|made a release"),
    (Crashes(), K, "must raise InfeasibleError"),
    (SaysNoToWildcardsButTakesThem(), K, "wildcards"),
    (TakesNonMonotone(), Goal([OddSize()]), "does not refuse"),
]


@pytest.mark.parametrize(("algorithm", "goal", "sentence"), BROKEN, ids=[type(a).__name__ for a, _, _ in BROKEN])
def test_is_caught(algorithm: Algorithm, goal: Goal, sentence: str):
    with pytest.raises(AssertionError, match=sentence):
        check_algorithm(algorithm, goal)


@pytest.mark.parametrize("algorithm", [Mondrian(), Datafly()], ids=str)
def test_what_pooling_can_break_is_refused(algorithm: Algorithm):
    check_algorithm(algorithm, Goal([OddSize()]))


def test_a_hopeless_goal_is_refused():
    with pytest.raises(AssertionError, match="choose a goal"):
        check_algorithm(Mondrian(), Goal([LDiversity("disease", 60)]))


@dataclass(frozen=True)
class EvenSize(Criterion):
    """Groups of an even size: a promise about no sensitive column that is not a smallest size."""

    name: ClassVar = "even-size"
    title: ClassVar = "even size"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False

    @property
    def threshold(self) -> float:
        return 0.0

    def level(self, stats: GroupStats) -> np.ndarray:
        return (stats.size % 2).astype(np.float64)


@pytest.mark.parametrize("algorithm", [Mondrian(), Mondrian("relaxed"), Datafly()], ids=str)
def test_a_criterion_without_a_column_is_asked(algorithm: Algorithm):
    """An algorithm must ask the goal about every group, also where the only criterion looks at no column."""
    check_algorithm(algorithm, Goal([EvenSize()]))

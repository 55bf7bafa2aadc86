"""Anatomize."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.bucketization.likeness import groups_of_alike
from tarnkappe.algorithms.steps.units import select
from tarnkappe.arrays import Codes, Counts
from tarnkappe.deals import Deal, shuffle_runs
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.fixes import algorithm, say
from tarnkappe.goal import Goal
from tarnkappe.kernels.bucketization.anatomizing import deal_different, join_groups
from tarnkappe.params import param
from tarnkappe.publish.buckets import Buckets
from tarnkappe.tally import Tally

#: Groups that are looked at before all of them are, for one that lacks a value.
_TRIES = 64


@dataclass(frozen=True)
class Anatomize(Bucketization):
    r"""Groups of records that all have different sensitive values; quasi-identifiers stand as they are.

    As long as at least l values have records left, a group gets one random record of each of the l values of which
    most are left. At most one record of at most l - 1 values is left over; each of them joins a random group that does
    not have its value. Possible exactly if no value makes up more than 1/l of the records; otherwise so many of the
    commonest are suppressed, if the limit allows it.

    Whoever looks at a group guesses right in at most one of l cases, and the distributions of quasi-identifiers and of
    sensitive values within it stay exact. The error of putting them together again (RCE) is

    .. math:: \mathrm{RCE} = \sum_{G} \sum_{t \in G} \sum_v (p_t(v) - p_G(v))^2 \ge n (1 - 1/l)

    and at most ``1 + 1/n`` times that bound.

    Time is linear in the number of records, and does not depend on the number of quasi-identifiers.

    The paper takes any records of a value, so that a group says nothing of how secrets depend on quasi-identifiers.
    With `alike` the groups are those of Hilb: of people who are near each other, and of at least l different values
    where that is asked. The promise is the same, answers to queries are several times as exact, and any monotone
    criterion about the secret is accepted. Time is that of Hilb then, and RCE may exceed the bound by more.

    Differs from the paper in: values are drawn by counts alone, of equal ones the last in order; the records of a value
    are put in random order once. Any criterion is accepted that enough different values satisfy.

    References
    ----------
    .. [XiTa06] Xiao, Tao. "Anatomy: simple and effective privacy preservation." VLDB 2006.
    """

    name: ClassVar = "anatomize"
    title: ClassVar = "Anatomize"
    summary: ClassVar = (
        "Two tables joined by a group number: exact quasi-identifiers, and sensitive values of which l differ."
    )
    for_groups: ClassVar = "{name: anatomize, alike: true}"
    publishes: ClassVar = Buckets

    alike: bool = param(
        False, doc="Put people into a group whose quasi-identifiers are alike, instead of any.", kw_only=True
    )

    def all_in_one_deal(self, tally: Tally) -> Deal:
        """All records in one bucket: distinct l-diversity may hold there although a value is too common for a deal."""
        cell = np.repeat(np.arange(tally.n_cells, dtype=np.int32), tally.count)
        return Deal(cell, np.array([len(cell)]), Buckets())

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        """Groups of as many different values as the goal needs."""
        self.require_supported(tally, goal)
        if self.alike:
            self.require_published(tally, goal)
            return self._deal_alike(tally, goal, rng)
        column, l = self.one_column(goal), self._needed(goal)  # noqa: E741
        cell, size, left_over = different_values(tally, goal, column, l, rng)
        return Deal(cell, size, Buckets(), {"left over": left_over})

    def _deal_alike(self, tally: Tally, goal: Goal, rng: np.random.Generator) -> Deal:
        """Groups of people who are alike; if there are none, of those whom the surplus of common values leaves."""
        try:
            return Deal.of(groups_of_alike(tally, goal, rng, self.watch), Buckets())
        except InfeasibleError:
            if len(goal.columns) != 1 or any(c.enough_different is None or c.others_known for c in goal.criteria):
                raise
            some, cells = _without_surplus(tally, goal, goal.columns[0], self._needed(goal), rng)
            groups = groups_of_alike(some, goal, rng, self.watch)
            return Deal.of(replace(groups, cell=cells[groups.cell]), Buckets())

    def _needed(self, goal: Goal) -> int:
        """How many different values a group needs so that every criterion holds."""
        vague = [c.name for c in goal.criteria if c.enough_different is None or c.others_known]
        if vague:
            raise JobError(
                "E111",
                f"{self.name} forms groups of different values, which do not decide about {vague[0]}",
                hint=say("Choose another algorithm:  {}", algorithm("angel")),
            )
        return max(2, *(c.enough_different or 1 for c in goal.criteria))


def different_values(
    tally: Tally,
    goal: Goal,
    column: str,
    l: int,  # noqa: E741
    rng: np.random.Generator,
) -> tuple[Codes, Counts, int]:
    """Groups of at least l records with different values of a column: their cells, their sizes, records left over.

    The surplus of common values is left out; an `InfeasibleError` if the limit does not allow it.
    """
    secret, counts, surplus = _too_many(tally, goal, column, l)
    rank = np.argsort(-(counts - surplus), kind="stable")
    pool, begin = _in_random_order(tally, secret, rank, rng)
    left = (counts - surplus)[rank]
    dealt = np.empty(int(left.sum()), np.int32)
    n_groups = int(deal_different(left, begin, pool, l, dealt))
    if n_groups == 0:
        raise goal.infeasible(tally)
    assert left.max() <= 1, "no value is too common, so at most one record of each is left"
    over = pool[begin[left > 0]]
    del pool  # of the size of the table
    return dealt, _with_leftovers(dealt, n_groups, over, secret, l, rng), len(over)


def _without_surplus(
    tally: Tally,
    goal: Goal,
    column: str,
    l: int,  # noqa: E741
    rng: np.random.Generator,
) -> tuple[Tally, Codes]:
    """The table without random records of those values that are too common, and which cells are left of it.

    Criteria that enough different values satisfy do not compare with the whole table.
    """
    secret, _, surplus = _too_many(tally, goal, column, l)
    count = tally.count.copy()
    for value in np.flatnonzero(surplus):
        own = np.flatnonzero(secret == value)
        count[own] -= rng.multivariate_hypergeometric(count[own], surplus[value], method="marginals")
    some, cells = select(tally, count > 0, count)
    if not len(cells):
        raise goal.infeasible(tally)
    return some, cells


def _too_many(tally: Tally, goal: Goal, column: str, l: int) -> tuple[Codes, Counts, Counts]:  # noqa: E741
    """The value of every cell, how many records have each value, and how many of them are too many.

    An `InfeasibleError` if the limit does not allow to leave those out.
    """
    secret = tally.sensitive[:, tally.sensitive_index(column)]
    counts = np.bincount(secret, tally.count, minlength=int(secret.max(initial=-1)) + 1).astype(np.int64)
    surplus = _surplus(counts, l)
    if int(surplus.sum()) > goal.budget(tally.n_records) or not len(counts):
        raise goal.infeasible(tally, int(surplus.sum()) if len(counts) else None)
    return secret, counts, surplus


def _surplus(counts: Counts, l: int) -> Counts:  # noqa: E741
    """How many records of each value are too many: none may make up more than 1/l of what is left."""
    surplus = np.zeros_like(counts)
    if not len(counts):
        return surplus
    order = np.argsort(-counts, kind="stable")
    rest = np.append(np.cumsum(counts[order][::-1])[::-1], 0)
    for capped in range(min(l, len(counts))):  # so many of the commonest values are cut to one size
        most = int(rest[capped]) // (l - capped)
        if counts[order[capped]] <= most:
            surplus[order[:capped]] = counts[order[:capped]] - most
            return surplus
    surplus[:] = counts  # fewer than l values: nothing can be published
    return surplus


def _in_random_order(tally: Tally, secret: Codes, rank: Counts, rng: np.random.Generator) -> tuple[Codes, Counts]:
    """The cells of all records by the rank of their value, those of a value in random order; where each begins."""
    place = np.empty(len(rank), np.int64)
    place[rank] = np.arange(len(rank))
    cells = np.argsort(place[secret], kind="stable").astype(np.int32)
    pool = np.repeat(cells, tally.count[cells])
    ends = np.cumsum(np.bincount(place[secret], tally.count, minlength=len(rank)).astype(np.int64))
    shuffle_runs(pool, np.append(0, ends), rng)
    return pool, np.append(0, ends[:-1])


def _with_leftovers(
    dealt: Codes,
    n_groups: int,
    over: Codes,
    secret: Codes,
    l: int,  # noqa: E741
    rng: np.random.Generator,
) -> Counts:
    """Give each record that is left over to a random group that has no record with its value; the sizes of all groups.

    `dealt` has room for them behind the groups.
    """
    size = np.full(n_groups, l, np.int64)
    joined = np.empty(len(over), np.int64)
    values = dealt[: n_groups * l].reshape(n_groups, l)
    for i, cell in enumerate(over.tolist()):  # no two of them have the same value
        some = rng.integers(n_groups, size=_TRIES)
        lacking = some[(secret[values[some]] != secret[cell]).all(axis=1)]
        if not len(lacking):  # there is one, or the value would be too common
            lacking = np.flatnonzero((secret[values] != secret[cell]).all(axis=1))
        joined[i] = rng.choice(lacking)
    order = np.argsort(joined, kind="stable")
    join_groups(dealt, joined[order], over[order], l)
    np.add.at(size, joined, 1)
    return size

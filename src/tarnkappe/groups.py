"""Groups of cells, and the statistics criteria read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.boxes import Boxes
from tarnkappe.distances import Distances
from tarnkappe.errors import VerificationError
from tarnkappe.kernels.boxes import group_boxes, group_sets
from tarnkappe.kernels.histograms import group_order, pooled_counts, pooled_histogram, run_histogram, run_sums
from tarnkappe.publish.boxes import TIGHT, FixedBoxes
from tarnkappe.publish.form import Labelled
from tarnkappe.tally import Domain, Tally, distinct_rows
from tarnkappe.threads import share_out

#: The group of records that are not published.
SUPPRESSED = -1

#: A fact about a search.
Note = bool | int | float | str


@dataclass(frozen=True, eq=False)
class Draft:
    """Cells in groups while an algorithm is at work: in any order, of any part of the table, as often as asked about.

    Piece ``i`` puts `quota[i]` records of cell `cell[i]` into group `group[i]` (-1: suppressed, or left out). What an
    algorithm decides in the end is a `Grouping`.

    `form` is what the groups will say: boxes that lie tight around their cells, unless the algorithm decides otherwise.

    `notes` are facts about the search for the internal report, such as whether the result is proved to be optimal.
    """

    cell: Codes
    group: Codes
    quota: Counts
    n_groups: int
    form: Labelled = TIGHT
    notes: Mapping[str, Note] = field(default_factory=dict)

    @property
    def fixed(self) -> Boxes | None:
        """What every group covers, if an algorithm fixed it."""
        return self.form.fixed

    @cached_property
    def suppressed(self) -> int:
        """Number of records that are not published."""
        return int(self.quota[self.group == SUPPRESSED].sum())

    def relabel(self, new: Codes, n_groups: int) -> Self:
        """Rename group ``g`` to ``new[g]``; several may become one, -1 suppresses."""
        lookup = np.append(new, np.int32(SUPPRESSED)).astype(np.int32)  # index -1 stays suppressed
        return replace(self, group=lookup[self.group], n_groups=n_groups, form=self.form.relabel(new, n_groups))

    def without(self, doomed: NDArray[np.bool_]) -> Self:
        """The same with these groups suppressed and the rest renumbered."""
        new = np.where(doomed, SUPPRESSED, np.cumsum(~doomed) - 1).astype(np.int32)
        return self.relabel(new, int((~doomed).sum()))

    def boxes(self, tally: Tally) -> Boxes:
        """The box of every group: tight around its cells, or as the algorithm fixed it."""
        if self.fixed is not None:
            return self.fixed
        wild = np.array([d.missing if d.wildcard else -1 for d in tally.quasi_domains], np.int32)
        lo, hi = group_boxes(tally.quasi, self.cell, self.group, self.n_groups, wild)
        node = np.empty_like(lo)
        members = {}
        for j, domain in enumerate(tally.quasi_domains):
            node[:, j] = domain.nodes(lo[:, j], hi[:, j])
            if domain.sets:
                members[j] = group_sets(tally.quasi, j, self.cell, self.group, self.n_groups, int(wild[j]))
        return Boxes(lo, hi, node, members)


#: What steps give back that work on either.
AnyDraft = TypeVar("AnyDraft", bound=Draft)


@dataclass(frozen=True, eq=False)
class Grouping(Draft):
    """Which cells are pooled into which group: what an algorithm decides.

    Usually a cell is one piece; algorithms that cut through equal records split a cell into several. Pieces are sorted
    by cell, or records would be dealt to the groups of others; this is checked wherever one is made. Quotas of a cell
    add up to its count, which `require_whole` checks as soon as the tally is at hand.

    >>> Grouping(np.array([1, 0]), np.array([0, 0]), np.array([3, 4]), 1)
    Traceback (most recent call last):
    ...
    tarnkappe.errors.VerificationError: E502 an algorithm formed groups that are none: pieces are not sorted by cell
      Fix: This is a bug of the algorithm. Please report it, or choose another one:  algorithm: mondrian
    """

    def __post_init__(self) -> None:
        if not len(self.cell) == len(self.group) == len(self.quota):
            raise _no_groups("pieces have arrays of different lengths")
        if np.any(self.cell[1:] < self.cell[:-1]):
            raise _no_groups("pieces are not sorted by cell")
        if self.quota.min(initial=0) < 0:
            raise _no_groups("a piece has fewer than no records")
        if self.group.min(initial=0) < SUPPRESSED or self.group.max(initial=SUPPRESSED) >= self.n_groups:
            raise _no_groups("a piece belongs to a group that does not exist")

    @classmethod
    def of_cells(cls, tally: Tally, group: Codes, n_groups: int, fixed: Boxes | None = None) -> Grouping:
        """A grouping that keeps every cell whole, with boxes that lie tight around the cells or are `fixed`."""
        form = TIGHT if fixed is None else FixedBoxes(fixed)
        cells = np.arange(tally.n_cells, dtype=np.int32)
        return cls(cells, group.astype(np.int32), tally.count, n_groups, form)

    @classmethod
    def sorted_by_cell(cls, cell: Codes, group: Codes, quota: Counts, n_groups: int) -> Grouping:
        """A grouping of pieces that come in any order."""
        order = np.argsort(cell, kind="stable")
        return cls(cell[order], group[order].astype(np.int32), quota[order], n_groups)

    @cached_property
    def splits_cells(self) -> bool:
        """Whether some cell is divided among several groups."""
        return bool(np.any(self.cell[1:] == self.cell[:-1])) if len(self.cell) else False

    def require_whole(self, tally: Tally) -> None:
        """Refuse a grouping that loses or invents records of the tally, or people of its public table."""
        if len(self.cell) and (self.cell[0] < 0 or self.cell[-1] >= tally.n_cells):
            raise _no_groups("a piece belongs to a cell that does not exist")
        if np.any((self.quota == 0) & (tally.count[self.cell] > 0)):
            raise _no_groups("a piece without records would bring its sensitive value into a group")
        dealt = self.quota
        if self.splits_cells:
            dealt = np.add.reduceat(dealt, np.flatnonzero(np.diff(self.cell, prepend=-1)))
        if not np.array_equal(dealt, tally.count):  # as many as there are cells, so they are those of all cells
            raise _no_groups("records were lost or invented, quotas of a cell must add up to its count")


def _no_groups(why: str) -> VerificationError:
    return VerificationError(
        "E502",
        f"an algorithm formed groups that are none: {why}",
        hint="This is a bug of the algorithm. Please report it, or choose another one:  algorithm: mondrian",
    )


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each value of one sensitive column occurs in each group (compressed sparse rows).

    Group ``g`` has the values ``codes[indptr[g]:indptr[g+1]]`` with their `counts`. `table` is the distribution that
    groups are compared with, normally that of the whole table.
    """

    domain: Domain
    indptr: Counts
    codes: Codes
    counts: Counts
    table: Counts


@dataclass(frozen=True, eq=False)
class JointHistogram:
    """How often each *combination* of sensitive values occurs in each group.

    Code ``c`` stands for the values ``values[c]`` of the columns of `domains`.
    """

    domains: tuple[Domain, ...]
    values: Codes
    indptr: Counts
    codes: Codes
    counts: Counts

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, as in `values`."""
        return tuple(d.name for d in self.domains)


@dataclass(frozen=True, eq=False)
class GroupStats:
    """What criteria know about groups: their sizes and their sensitive values. Mergeable in any order.

    `population` counts the people of the public table that belong to each group, if there is one. A group may then have
    no records at all: people of the public table who are certainly not in the data.

    `keys` says what each group publishes: equal numbers in column ``j`` are equal labels of quasi-identifier
    ``quasi[j]``. Criteria about a part of the quasi-identifiers pool groups by it (see `projected`).

    `raised` says what stands in a sensitive column that is coarsened record by record: its codes are nodes of the
    column's taxonomy.

    `distances` says how far records are from the centres that their groups publish, by column, where that is asked and
    centres are known; pooled groups publish other ones.

    >>> stats = GroupStats.from_cells(np.array([0, 0, 1]), np.array([2, 1, 4]))
    >>> stats.size.tolist()
    [3, 4]
    """

    size: Counts
    histograms: Mapping[str, Histogram]
    joint: JointHistogram | None = None
    population: Counts | None = None
    keys: Codes | None = None
    quasi: tuple[str, ...] = ()
    raised: Mapping[str, Histogram] = field(default_factory=dict)
    distances: Mapping[str, Distances] = field(default_factory=dict)

    @classmethod
    def from_cells(
        cls,
        group: NDArray[Any],
        count: Counts,
        sensitive: Mapping[str, tuple[Codes, Domain]] | None = None,
        *,
        joint: tuple[tuple[Domain, ...], Codes, Codes] | None = None,
        tables: Mapping[str, Counts] | None = None,
        population: Counts | None = None,
        keys: Codes | None = None,
        quasi: Sequence[str] = (),
        raised: Mapping[str, tuple[Codes, Domain]] | None = None,
    ) -> GroupStats:
        """Statistics of cells that each belong to one group (-1: left out).

        `joint` is (domains, joint code of every cell, values of every joint code). `tables` replaces the baseline
        distribution of a column; by default it is that of the cells given. `keys` has one row per group, and one column
        for each name in `quasi`. `raised` are the nodes that stand in place of the values of some columns.
        """
        group = np.ascontiguousarray(group, dtype=np.int32)
        n_groups = int(group.max(initial=-1)) + 1
        people = None
        if population is not None:
            kept = group >= 0
            people = np.bincount(group[kept], weights=population[kept], minlength=n_groups).astype(np.int64)
            group = np.where(count > 0, group, SUPPRESSED).astype(np.int32)  # nobody has no sensitive values
        held, nodes, weight = sensitive or {}, raised or {}, np.ascontiguousarray(count, np.int64)
        if group.size and group[0] >= 0 and bool(np.all(group[1:] >= group[:-1])):  # they come group by group
            starts = np.append(0, np.cumsum(np.bincount(group, minlength=n_groups)))
        else:
            starts, order = group_order(group, n_groups)
            weight = weight[order]
            held, nodes = (
                {name: (codes[order], domain) for name, (codes, domain) in columns.items()} for columns in (held, nodes)
            )
            joint = None if joint is None else (joint[0], joint[1][order], joint[2])
        return replace(
            cls.of_runs(starts, held, weight, joint=joint, tables=tables, raised=nodes),
            population=people,
            keys=keys,
            quasi=tuple(quasi),
        )

    @classmethod
    def of_runs(
        cls,
        starts: Counts,
        sensitive: Mapping[str, tuple[Codes, Domain]],
        count: Counts | None = None,
        *,
        joint: tuple[tuple[Domain, ...], Codes, Codes] | None = None,
        tables: Mapping[str, Counts] | None = None,
        raised: Mapping[str, tuple[Codes, Domain]] | None = None,
    ) -> GroupStats:
        """Statistics of cells, or of single records, that come group by group: `starts` says where each group begins.

        `joint`, `tables` and `raised` are as above.
        """
        n = int(starts[-1])
        weight = np.ones(n, np.int64) if count is None else count
        histograms = {}
        for name, (codes, domain) in sensitive.items():
            table = (tables or {}).get(name)
            if table is None:
                table = np.bincount(codes, weights=weight, minlength=domain.size).astype(np.int64)
            parts = run_histogram(starts, np.ascontiguousarray(codes, np.int32), weight, domain.size, share_out)
            histograms[name] = Histogram(domain, *parts, table)
        joint_histogram = None
        if joint is not None:
            domains, joint_codes, values = joint
            parts = run_histogram(starts, np.ascontiguousarray(joint_codes, np.int32), weight, len(values), share_out)
            joint_histogram = JointHistogram(domains, values, *parts)
        shown = {}
        for name, (nodes, domain) in (raised or {}).items():
            n_nodes = domain.taxonomy.n_nodes
            parts = run_histogram(starts, np.ascontiguousarray(nodes, np.int32), weight, n_nodes, share_out)
            shown[name] = Histogram(domain, *parts, np.zeros(n_nodes, np.int64))
        size = np.diff(starts) if count is None else run_sums(starts, count)
        return cls(size, histograms, joint_histogram, raised=shown)

    @classmethod
    def of(
        cls,
        tally: Tally,
        grouping: Draft,
        columns: Iterable[str],
        *,
        joint: bool = False,
        tables: Mapping[str, Counts] | None = None,
        keys: Codes | None = None,
    ) -> GroupStats:
        """Statistics of a grouping for the given sensitive columns."""
        at = grouping.cell
        sensitive = {}
        for name in columns:
            s = tally.sensitive_index(name)
            sensitive[name] = (tally.sensitive[at, s], tally.sensitive_domains[s])
        joint_cells = None
        if joint:
            codes, values = tally.joint
            joint_cells = (tally.sensitive_domains, codes[at], values)
        population = None if tally.population is None else tally.population[at]
        quasi = [d.name for d in tally.quasi_domains]
        return cls.from_cells(
            grouping.group,
            grouping.quota,
            sensitive,
            joint=joint_cells,
            tables=tables,
            population=population,
            keys=keys,
            quasi=quasi,
        )

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.size)

    def refined(self, column: str) -> tuple[GroupStats, Codes]:
        """Groups divided further by the *other* secrets, and the group each part belongs to.

        This is what an attacker sees who knows the other sensitive values of the target.
        """
        assert self.joint is not None, "statistics were made without the joint distribution"
        joint = self.joint
        own = joint.columns.index(column)
        others = joint.values[:, [i for i, d in enumerate(joint.domains) if i != own and not d.aside]]
        key = np.unique(others, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        n_keys = int(key.max(initial=0)) + 1
        group = np.repeat(np.arange(self.n_groups, dtype=np.int64), np.diff(joint.indptr))
        part_key, part = np.unique(group * n_keys + key[joint.codes], return_inverse=True)
        base = self.histograms[column]
        stats = GroupStats.from_cells(
            part,
            joint.counts,
            {column: (joint.values[joint.codes, own], base.domain)},
            tables={column: base.table},
        )
        return stats, (part_key // n_keys).astype(np.int32)

    def pooled(self, into: NDArray[np.integer]) -> GroupStats:
        """Merge groups: group ``g`` becomes part of group ``into[g]`` (-1: left out)."""
        target = np.asarray(into, np.int32)
        n_groups = int(target.max(initial=-1)) + 1
        starts, order = group_order(target, n_groups)

        def merge(h: Histogram | JointHistogram, n_codes: int) -> tuple[Counts, Codes, Counts]:
            merged: tuple[Counts, Codes, Counts] = pooled_histogram(starts, order, h.indptr, h.codes, h.counts, n_codes)
            return merged

        histograms = {
            name: Histogram(h.domain, *merge(h, h.domain.size), h.table) for name, h in self.histograms.items()
        }
        joint = None
        if self.joint is not None:
            merged = merge(self.joint, len(self.joint.values))
            joint = JointHistogram(self.joint.domains, self.joint.values, *merged)
        people = None if self.population is None else pooled_counts(target, self.population, n_groups)
        raised = {
            name: Histogram(h.domain, *merge(h, h.domain.taxonomy.n_nodes), h.table) for name, h in self.raised.items()
        }
        size = pooled_counts(target, self.size, n_groups)
        return GroupStats(size, histograms, joint, people, None, self.quasi, raised)

    def kept(self, keep: NDArray[np.bool_]) -> GroupStats:
        """The statistics of some of the groups, compared with the table as before."""
        into = np.where(keep, np.cumsum(keep) - 1, SUPPRESSED)
        keys = None if self.keys is None else self.keys[keep]
        distances = {name: found.kept(keep) for name, found in self.distances.items()}
        return replace(self.pooled(into), keys=keys, distances=distances)

    def against_itself(self) -> GroupStats:
        """The same groups, compared with the distribution that they have together."""

        def total(h: Histogram) -> Counts:
            return np.bincount(h.codes, weights=h.counts, minlength=h.domain.size).astype(np.int64)

        return replace(self, histograms={n: replace(h, table=total(h)) for n, h in self.histograms.items()})

    def projected(self, on: Sequence[int]) -> tuple[GroupStats, Codes]:
        """Groups pooled by what they publish in some quasi-identifiers only, and the pooled group of each group.

        This is what an attacker sees who knows no more than these quasi-identifiers of the target.
        """
        assert self.keys is not None, "statistics were made without the labels of the groups"
        columns = [self.keys[:, j] for j in on]
        into, _ = distinct_rows(columns, [int(c.max(initial=0)) + 1 for c in columns])
        return self.pooled(into), into

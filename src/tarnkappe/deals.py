"""Records dealt to numbered groups: what an algorithm decides where groups are told apart by a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.errors import VerificationError
from tarnkappe.groups import SUPPRESSED, Draft, Grouping, Note
from tarnkappe.kernels.engines.dealing import occurrences, runs_in_order, shuffle_block, shuffle_within
from tarnkappe.publish.numbered import Numbered
from tarnkappe.tally import Tally
from tarnkappe.threads import map_threads

#: Records that are looked at, shuffled or written at a time.
CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class Deal:
    """Which records form which group, group by group: record ``i`` has cell ``cell[i]``, group ``g`` has `size[g]`.

    Records of the tally that are not dealt are suppressed. A cell may be dealt to many groups; which of its records
    goes where does not matter, because they are alike. `form` is what the groups will say. Where the quasi-identifiers
    have groups of their own, the form has them: one for every cell (see `tarnkappe.publish.recoding`). Where sensitive
    values are coarsened record by record, `raised` is the node of its taxonomy that each record publishes. Where some
    are falsified, `told` is for each record a cell whose sensitive value it publishes, mostly its own.

    >>> from tarnkappe.publish.buckets import Buckets
    >>> Deal(np.array([0, 1, 0]), np.array([2, 2]), Buckets())
    Traceback (most recent call last):
    ...
    tarnkappe.errors.VerificationError: E502 an algorithm dealt records wrongly: groups do not hold all records dealt
      Fix: This is a bug of the algorithm. Please report it, or choose another one:  algorithm: mondrian
    """

    cell: Codes
    size: Counts
    form: Numbered
    notes: Mapping[str, Note] = field(default_factory=dict)
    raised: Codes | None = None
    told: Codes | None = None

    def __post_init__(self) -> None:
        if self.size.min(initial=1) < 1:
            raise _wrong("a group has no records")
        if int(self.size.sum()) != len(self.cell):
            raise _wrong("groups do not hold all records dealt")
        if self.raised is not None and len(self.raised) != len(self.cell):
            raise _wrong("not every record publishes a node")
        if self.told is not None and len(self.told) != len(self.cell):
            raise _wrong("not every record publishes a value")

    @classmethod
    def of(cls, groups: Draft, form: Numbered, notes: Mapping[str, Note] | None = None) -> Deal:
        """The records of groups that were decided as pieces of cells; what they leave out is suppressed."""
        return cls(*records_of(groups), form, notes or {})

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.size)

    @property
    def n_records(self) -> int:
        """Records that are published."""
        return len(self.cell)

    @cached_property
    def starts(self) -> Counts:
        """Where the records of each group begin, and where the last one ends."""
        return np.append(0, np.cumsum(self.size))

    def require_whole(self, tally: Tally) -> Counts:
        """Refuse a deal that invents records; how many of each cell are dealt. The others are suppressed."""
        if len(self.cell) and (self.cell.min() < 0 or self.cell.max() >= tally.n_cells):
            raise _wrong("a record belongs to a cell that does not exist")
        dealt: Counts = occurrences(self.cell, tally.n_cells)
        if np.any(dealt > tally.count):
            raise _wrong("more records of a cell than there are")
        return dealt

    def grouping(self, tally: Tally) -> Grouping:
        """The same groups as pieces of cells; what is not dealt is suppressed."""
        group = self.groups_in(0, self.n_groups)
        keys, quota = np.unique(self.cell.astype(np.int64) * max(self.n_groups, 1) + group, return_counts=True)
        over = tally.count - occurrences(self.cell, tally.n_cells)
        rest = np.flatnonzero((over > 0) | (tally.count == 0))
        cell = np.append(keys // max(self.n_groups, 1), rest).astype(np.int32)
        owner = np.append(keys % max(self.n_groups, 1), np.full(len(rest), SUPPRESSED)).astype(np.int32)
        return Grouping.sorted_by_cell(cell, owner, np.append(quota, over[rest]).astype(np.int64), self.n_groups)

    def chunks(self, most: int = CHUNK) -> Iterator[tuple[int, int]]:
        """Runs of whole groups, of about so many records each: the first group and the one after the last."""
        return whole_runs(self.starts, most)

    def groups_in(self, first: int, after: int) -> Codes:
        """The group of every record of a run of groups."""
        return np.repeat(np.arange(first, after, dtype=np.int32), self.size[first:after])

    def mixed(self, rng: np.random.Generator) -> Deal:
        """The same groups in random order, with the records of each in random order: neither tells anything then."""
        order = rng.permutation(np.arange(self.n_groups, dtype=np.int32))
        mixed = replace(self, cell=np.empty_like(self.cell), size=self.size[order])
        # What a record publishes goes with it, so that the records themselves are mixed then.
        alone = self.raised is None and self.told is None
        values = self.cell if alone else np.arange(self.n_records, dtype=self.cell.dtype)

        def fill(run: tuple[int, int]) -> None:
            first, after = run
            runs_in_order(values, self.starts, order[first:after], mixed.cell[slice(*mixed.starts[[first, after]])])

        map_threads(fill, mixed.chunks())
        shuffle_runs(mixed.cell, mixed.starts, rng)
        if alone:
            return mixed
        moved = [None if shown is None else shown[mixed.cell] for shown in (self.raised, self.told)]
        return replace(mixed, cell=self.cell[mixed.cell], raised=moved[0], told=moved[1])

    def torn(self, rng: np.random.Generator) -> Codes:
        """The cells of the same records once more, those of each group in a random order of their own."""
        cells = self.cell.copy()
        shuffle_runs(cells, self.starts, rng)
        return cells


def records_of(groups: Draft) -> tuple[Codes, Counts]:
    """The cell of every record, group by group, and the size of each group; what is suppressed is left out."""
    order = np.argsort(groups.group, kind="stable")
    order = order[groups.group[order] != SUPPRESSED]
    cell = np.repeat(groups.cell[order], groups.quota[order]).astype(np.int32)
    return cell, np.bincount(groups.group[order], groups.quota[order], groups.n_groups).astype(np.int64)


def whole_runs(starts: Counts, most: int = CHUNK) -> Iterator[tuple[int, int]]:
    """Consecutive runs that hold about so many values together: the first of them, and the one after the last."""
    ends, first = starts[1:], 0
    while first < len(ends):
        after = max(int(np.searchsorted(ends, starts[first] + most, side="right")), first + 1)
        yield first, after
        first = after


def shuffle_runs(values: Codes, starts: Counts, rng: np.random.Generator) -> None:
    """Put each run ``values[starts[i]:starts[i+1]]`` into random order, in place.

    Chance comes in a stream of its own for each part of the values, so that parts are shuffled side by side.
    """
    parts = list(whole_runs(starts))

    def shuffle(part: tuple[tuple[int, int], np.random.Generator]) -> None:
        (first, after), stream = part
        begin, end = int(starts[first]), int(starts[after])
        if after == first + 1:  # it may be of any length
            for stop in range(end - begin, 0, -CHUNK):
                start = max(stop - CHUNK, 0)
                shuffle_block(values[begin:end], start, stop, stream.random(stop - start))
        else:
            shuffle_within(values, starts[first : after + 1], stream.random(end - begin))

    map_threads(shuffle, zip(parts, rng.spawn(len(parts)), strict=True))


def _wrong(why: str) -> VerificationError:
    return VerificationError(
        "E502",
        f"an algorithm dealt records wrongly: {why}",
        hint="This is a bug of the algorithm. Please report it, or choose another one:  algorithm: mondrian",
    )

"""The tally: how many records share each combination of quasi-identifying and sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats, read_only
from tarnkappe.kernels.crossing import count_codes
from tarnkappe.kernels.engines.dealing import occurrences
from tarnkappe.kernels.sorting import bits_of, dense_ranks, pack_columns, ranks_by_place, unpack
from tarnkappe.schema import AsItIs
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.threads import map_threads, share_evenly, share_out

#: So many cells for every row may be listed, whether they occur or not, to number those that do.
_PLACES = 4

#: Cells with so many records each, on average, are counted by every thread for itself.
_RECORDS_PER_CELL = 8


@dataclass(frozen=True, eq=False)
class Hidden:
    """What the floor of a column hides: nobody can tell apart what lies below a code, but it still counts as lost.

    `levels` lie below it, and `distinct` values of the data. Per code: how many values of the taxonomy it stands for,
    how many levels its records were raised on average, and how many bits about its values they gave up on average.
    """

    levels: int
    distinct: int
    values: Counts
    steps: Floats
    bits: Floats


@dataclass(frozen=True, eq=False)
class Domain:
    """What the codes of one column mean: code ``i`` is leaf ``i`` of the taxonomy.

    A missing value is the last leaf, a child of the root (`missing` is its code, -1 if none). A numeric column
    without a taxonomy is one range of its distinct values, whose positions are in `values`.

    If `sets` is true, a group publishes the set of its values instead of a range; at most 64 codes are then possible.

    Under ``missing_rule: wildcard`` (`wildcard`) a missing cell is compatible with everything: it does not widen its
    group's box, and is published with its group's value.
    """

    name: str
    taxonomy: Taxonomy
    values: Floats | None = None
    missing: int = -1
    wildcard: bool = False
    weight: float = 1.0
    sets: bool = False
    #: The highest level of the taxonomy that may be published (None: the root), and whether it follows from that.
    max_level: int | None = None
    as_it_is: AsItIs | None = None
    #: What lies below the codes, where the column has a floor.
    hidden: Hidden | None = None
    #: The decimal sign of the numbers in its labels.
    decimal: str = "."
    #: Counted for a criterion or an algorithm but not a secret by itself: a person key, a target, a guarding node.
    aside: bool = False
    #: How many levels the declaration of the taxonomy has above the values, whatever values occur (None: see the tree).
    n_levels: int | None = None

    @property
    def size(self) -> int:
        """Number of codes."""
        return self.taxonomy.n_leaves

    @cached_property
    def n_values(self) -> int:
        """Number of values, also those that a floor hides."""
        return self.size if self.hidden is None else int(self.hidden.values.sum())

    @cached_property
    def values_covered(self) -> Counts:
        """Per node, how many values it stands for."""
        if self.hidden is None:
            return self.taxonomy.leaf_counts.astype(np.int64)
        before = np.append(0, np.cumsum(self.hidden.values))
        covered: Counts = before[self.taxonomy.hi + 1] - before[self.taxonomy.lo]
        return covered

    @property
    def floor(self) -> int:
        """The level of the column's taxonomy that its codes are: what lies below was never distinguished."""
        return 0 if self.hidden is None else self.hidden.levels

    @cached_property
    def below_ceiling(self) -> NDArray[np.bool_]:
        """Per node, whether its level may be published; a value that hangs high in its tree always may."""
        tree = self.taxonomy
        ok: NDArray[np.bool_] = tree.depth >= tree.height - (tree.height if self.max_level is None else self.max_level)
        ok[tree.leaf_nodes] = True
        return ok

    @cached_property
    def ceiling_of(self) -> Codes:
        """Per code, the highest node that may be published for it."""
        tree = self.taxonomy
        highest: Codes = tree.ancestors[tree.height if self.max_level is None else self.max_level]
        return highest

    @cached_property
    def is_range(self) -> NDArray[np.bool_]:
        """Per node, whether intervals inside it may be published."""
        return self.taxonomy.ranges

    @cached_property
    def is_line(self) -> bool:
        """Whether all values, but for a missing one, are numbers or ranks on one scale."""
        top = 0 if self.missing < 0 else min(1, self.taxonomy.n_nodes - 1)
        return bool(self.is_range[top] and self.taxonomy.leaf_counts[top] == self.size - (self.missing >= 0))

    @cached_property
    def is_integer(self) -> bool:
        """Whether all values are whole numbers."""
        return self.values is not None and bool(np.all(np.mod(self._known_values, 1) == 0))

    @cached_property
    def is_binary(self) -> bool:
        """Whether its values are the numbers 0 and 1."""
        return self.values is not None and self._known_values.tolist() == [0.0, 1.0]

    @property
    def _known_values(self) -> Floats:
        assert self.values is not None
        return self.values[np.isfinite(self.values)]

    @cached_property
    def extent(self) -> float:
        """Largest minus smallest value of a numeric range; for an ordered one, the number of steps."""
        if self.values is None:
            return float(self.size - (self.missing >= 0) - 1)
        return float(np.ptp(self._known_values)) if len(self._known_values) else 0.0

    @cached_property
    def positions(self) -> Floats:
        """Where each code stands on the scale: its value, or its rank where values have no distance."""
        return np.arange(self.size, dtype=np.float64) if self.values is None else self.values

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which codes are values: not the missing one, nor the empty scale of a column that has no other."""
        known = ~self.taxonomy.ranges[self.taxonomy.leaf_nodes]
        if self.missing >= 0:
            known[self.missing] = False
        return known

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The code of every value by its text."""
        return {text: code for code, text in enumerate(self.taxonomy.leaves)}

    @cached_property
    def decimals(self) -> tuple[Counts, int] | None:
        """The positions as whole numbers of some power of ten, and that power; 0 stands for a missing one.

        Differences of decimals are then exact. None where the positions have more than nine decimal places.

        >>> domain = Domain("x", Taxonomy.scale(["0.1", "0.3"]), np.array([0.1, 0.3]))
        >>> domain.decimals
        (array([1, 3]), 10)
        """
        known = np.nan_to_num(self.positions)
        for places in range(10):
            power = 10**places
            whole = np.rint(known * power)
            if np.abs(whole).max(initial=0) < 1 << 53 and np.array_equal(whole / power, known):
                return whole.astype(np.int64), power
        return None

    def nodes(self, lo: Codes, hi: Codes) -> Codes:
        """The lowest node covering each interval of codes.

        An empty interval (``lo > hi``) has nothing but missing wildcards: it publishes the missing value.
        """
        empty = lo > hi
        return self.taxonomy.lca(np.where(empty, self.missing, lo), np.where(empty, self.missing, hi))

    def widths(self, lo: Codes, hi: Codes, node: Codes) -> Floats:
        """How much of the domain each box covers: 0 for one value, 1 for everything.

        A range covers ``(max - min) / extent``, a node ``(leaves - 1) / (all leaves - 1)``.
        """
        by_leaves = (self.values_covered[node] - 1) / max(self.n_values - 1, 1)
        if not self.is_range.any():
            return by_leaves
        known = lo <= hi
        span = self.positions[np.where(known, hi, 0)] - self.positions[np.where(known, lo, 0)]
        by_extent = np.where(known, span, 0.0) / (self.extent or 1.0)
        return np.where(self.is_range[node], by_extent, by_leaves)


@dataclass(frozen=True, eq=False)
class Tally:
    """The distinct (quasi…, sensitive…) cells of a table as integer codes, and how many records are in each.

    Cells are sorted by their quasi-identifiers, then by their sensitive values. This is all an algorithm sees.

    With a public table, `population` says how many of its people have each cell's quasi-identifiers: in full at the
    first cell of every combination, 0 at the others. Combinations that only the public table has are cells without
    records (count 0).
    """

    quasi: Codes
    sensitive: Codes
    count: Counts
    quasi_domains: tuple[Domain, ...]
    sensitive_domains: tuple[Domain, ...]
    population: Counts | None = None
    #: The tally that this one is a part of, if it is one: criteria compare groups with the whole table.
    whole: Tally | None = None

    def __post_init__(self) -> None:
        for name in ("quasi", "sensitive"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_cells(self) -> int:
        """Number of distinct cells."""
        return len(self.count)

    @cached_property
    def has_ceilings(self) -> bool:
        """Whether some column may not be published at all of its levels."""
        return not all(d.below_ceiling.all() for d in self.quasi_domains)

    @cached_property
    def weights(self) -> Floats:
        """The weights of the quasi-identifiers, adding up to 1."""
        given = np.array([d.weight for d in self.quasi_domains])
        shares: Floats = given / given.sum()
        return shares

    @cached_property
    def n_records(self) -> int:
        """Number of records counted."""
        return int(self.count.sum())

    @cached_property
    def value_counts(self) -> tuple[Counts, ...]:
        """Records per value of each quasi-identifier."""
        counts = tuple(np.zeros(domain.size, np.int64) for domain in self.quasi_domains)
        map_threads(lambda j: count_codes(self.quasi, j, self.count, counts[j]), range(len(counts)))
        return counts

    @cached_property
    def n_tuples(self) -> int:
        """Number of distinct quasi-identifier combinations that records have."""
        return int((self.tuple_sizes > 0).sum())

    @cached_property
    def tuple_sizes(self) -> Counts:
        """Records per distinct quasi-identifier combination, as in the raw table."""
        return self.per_tuple(self.count)

    @cached_property
    def tuple_people(self) -> Counts:
        """People of the public table per distinct quasi-identifier combination."""
        assert self.population is not None, "there is no public table"
        return self.per_tuple(self.population)

    def per_tuple(self, values: Counts) -> Counts:
        """Numbers of all cells, added up for each distinct combination of quasi-identifiers."""
        if self.n_cells == 0:
            return np.zeros(0, np.int64)
        sums: Counts = np.add.reduceat(values, np.flatnonzero(begins_run(self.quasi)))
        return sums

    def without(self, column: str) -> Tally:
        """The cells of the same records if a quasi-identifier did not exist; there must be no public table.

        >>> from tarnkappe.taxonomy.tree import Taxonomy
        >>> domains = [Domain(name, Taxonomy.scale(["0", "1"])) for name in ("a", "b")]
        >>> cells, _ = count_cells([np.array([0, 0, 1]), np.array([0, 1, 1])], [], domains, [])
        >>> cells.without("b").quasi.ravel().tolist(), cells.without("b").count.tolist()
        ([0, 1], [2, 1])
        """
        assert self.population is None, "people of a public table are counted by all columns"
        kept = [j for j, d in enumerate(self.quasi_domains) if d.name != column]
        return count_cells(
            [self.quasi[:, j] for j in kept],
            list(self.sensitive.T),
            [self.quasi_domains[j] for j in kept],
            self.sensitive_domains,
            self.count,
        )[0]

    def sensitive_index(self, column: str) -> int:
        """The position of a sensitive column."""
        return [d.name for d in self.sensitive_domains].index(column)

    @cached_property
    def joint(self) -> tuple[Codes, Codes]:
        """The joint sensitive value of each cell as one code, and the table of what each joint code stands for."""
        if self.sensitive.shape[1] == 0:
            return np.zeros(self.n_cells, np.int32), np.zeros((1, 0), np.int32)
        rank, first = distinct_rows(
            [self.sensitive[:, s] for s in range(self.sensitive.shape[1])],
            [d.size for d in self.sensitive_domains],
        )
        return rank, self.sensitive[first]


def begins_run(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each row differs from the one before; the first one does."""
    out = np.zeros(len(rows), np.bool_)
    out[:1] = True
    for column in rows.T:  # faster than all columns at once
        out[1:] |= column[1:] != column[:-1]
    return out


def distinct_rows(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """Number the distinct rows of integer columns in lexicographic order.

    Returns the rank of every row and, for every rank, the position of one row that has it. Column ``j`` holds codes
    below ``sizes[j]``. Columns are packed into 63-bit keys; where they do not fit, the leading ones are ranked first.

    >>> rank, first = distinct_rows([np.array([1, 0, 1]), np.array([5, 5, 5])], [2, 6])
    >>> rank.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    keys, width, _ = pack_columns(columns, sizes)
    rank, first, _ = dense_ranks(keys, width, share_out)
    return rank, first


def count_cells(
    quasi: Sequence[NDArray[Any]],
    sensitive: Sequence[NDArray[Any]],
    quasi_domains: Sequence[Domain],
    sensitive_domains: Sequence[Domain],
    weights: Counts | None = None,
) -> tuple[Tally, Codes]:
    """Count the cells of encoded columns, each row as many times as `weights` says; also the cell of every row."""
    columns = [*quasi, *sensitive]
    sizes = [d.size for d in (*quasi_domains, *sensitive_domains)]
    if prod(sizes) <= min(_PLACES * len(columns[0]), np.iinfo(np.int32).max):
        cell, codes = ranks_by_place(columns, sizes, share_evenly)
        quasi_codes, sensitive_codes = (np.ascontiguousarray(c) for c in np.split(codes, [len(quasi)], axis=1))
    else:
        keys, width, readable = pack_columns(columns, sizes)
        cell, first, distinct = dense_ranks(keys, width, share_out)
        quasi_codes = np.empty((len(first), len(quasi)), np.int32)
        sensitive_codes = np.empty((len(first), len(sensitive)), np.int32)
        if readable:
            bits = bits_of(sizes)
            into = (bits[len(quasi) :], sensitive_codes), (bits[: len(quasi)], quasi_codes)
            unpack(distinct, into, share_evenly)
        else:
            for out, given in ((quasi_codes, quasi), (sensitive_codes, sensitive)):
                for j, codes in enumerate(given):
                    out[:, j] = codes[first]
    n_cells = len(quasi_codes)
    count = _occurrences(cell, n_cells) if weights is None else np.bincount(cell, weights, n_cells).astype(np.int64)
    tally = Tally(quasi_codes, sensitive_codes, count, tuple(quasi_domains), tuple(sensitive_domains))
    return tally, cell


def _occurrences(cell: Codes, n_cells: int) -> Counts:
    """How many records each cell has, counted in threads where that takes little more memory than the records."""
    if n_cells > len(cell) // _RECORDS_PER_CELL:
        return occurrences(cell, n_cells)
    found: list[Counts] = []
    share_evenly(lambda begin, end: found.append(occurrences(cell[begin:end], n_cells)), len(cell))
    return sum(found, np.zeros(n_cells, np.int64))


def with_population(tally: Tally, people: Tally) -> tuple[Tally, Codes]:
    """Add the people of a public table to a tally of records; also returns where each of its cells went.

    `people` counts the public table by the same quasi-identifiers, and by nothing else. Combinations that only the
    public table has become cells without records.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> age = Domain("age", Taxonomy.scale(["30", "31"]))
    >>> records, _ = count_cells([np.array([1])], [], [age], [])
    >>> public, _ = count_cells([np.array([0, 1, 1])], [], [age], [])
    >>> tally, moved = with_population(records, public)
    >>> tally.count.tolist(), tally.population.tolist(), moved.tolist()
    ([0, 1], [1, 2], [1])
    """
    n = tally.n_cells
    quasi = np.concatenate([tally.quasi, people.quasi])
    sizes = [d.size for d in tally.quasi_domains]
    rank, first = distinct_rows([quasi[:, j] for j in range(len(sizes))], sizes)
    public = np.zeros(len(first), np.int64)
    public[rank[n:]] = people.count
    known = np.zeros(len(first), np.bool_)
    known[rank[:n]] = True
    alone = n + np.flatnonzero(~known[rank[n:]])
    cells = np.concatenate([np.arange(n), alone])
    order = np.argsort(rank[cells], kind="stable")  # cells of one combination keep their order
    moved = np.empty(len(order), np.int32)
    moved[order] = np.arange(len(order))
    cells = cells[order]
    has_records = cells < n
    sensitive = np.zeros((len(cells), tally.sensitive.shape[1]), np.int32)
    sensitive[has_records] = tally.sensitive
    count = np.zeros(len(cells), np.int64)
    count[has_records] = tally.count
    leads = np.diff(rank[cells], prepend=-1) != 0
    joined = replace(
        tally, quasi=quasi[cells], sensitive=sensitive, count=count, population=np.where(leads, public[rank[cells]], 0)
    )
    return joined, moved[:n]

"""Data swapping that keeps tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.masks.base import Chance, ColumnMask, Fitted, Held, Kept, MaskCard, unfit
from tarnkappe.masks.columns import Columns, differing
from tarnkappe.params import param

#: Tables that are compared one by one; beyond them the joint tables of blocks stand for all.
_MOST_TABLES = 200


@dataclass(frozen=True)
class DataSwapping(ColumnMask):
    r"""Values are exchanged between records so that every table of up to t columns stays exactly as it is.

    The columns beside the one that is exchanged are dealt to t blocks. Where records are corners of a cube in the
    blocks, one value on its even and another on its odd corners, both are exchanged. For t = 2 that is

    .. math:: (a, b, s), (a', b', s), (a, b', s'), (a', b, s') \to (a, b, s'), (a', b', s'), (a, b', s), (a', b, s) .

    Any t columns lie in the exchanged column and at most t - 1 blocks, or do not contain it, so their table
    stays. Cubes are looked for at random, `attempts` times the number of records. How many values change depends on the
    data: few do in sparse tables. O(attempts · records · 2^t log records).

    References
    ----------
    .. [DaRe82] Dalenius, Reiss. "Data-swapping: a technique for disclosure control." Journal of Statistical Planning
       and Inference 1982.
    .. [DiSt98] Diaconis, Sturmfels. "Algebraic algorithms for sampling from conditional distributions." Annals of
       Statistics 1998.
    """

    name: ClassVar = "data-swapping"
    title: ClassVar = "data swapping that keeps tables"
    card: ClassVar = MaskCard(
        changes="values of a column are exchanged between records, some of them several times.",
        keeps="every table of up to t of the named columns, exactly.",
        does_not="change values of records for which no exchange exists; in sparse tables these are many.",
        not_for="columns with many values, such as amounts: no two tables of them can be kept at once.",
    )

    beside: tuple[str, ...] = param(doc="The other columns whose tables stay.", example=("NAME",))
    t: int = param(2, doc="How many columns the tables that stay have at most.", ge=2, le=4)
    attempts: int = param(20, doc="How often cubes are looked for, as a multiple of the number of records.", ge=1)

    def __post_init__(self) -> None:
        """Check that there are as many blocks as columns of a table."""
        super().__post_init__()
        if len(set(self.beside)) < self.t or self.column in self.beside:
            others = ["sex", "region", "age", "job"][: self.t]
            fix = Fix(f"beside: [{', '.join(others)}]", f"beside={others}")
            what = f"'beside' must name at least {self.t} other columns, so that something can be exchanged"
            raise JobError("E110", what, hint=fix)

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The other columns."""
        return self.beside

    @property
    def done(self) -> str:
        """In words."""
        return f"values exchanged between records; tables of up to {self.t} columns are as they were"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        return (f"every table of up to {self.t} of {', '.join([self.column, *self.beside])}",)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Exchange values until all attempts are made."""
        from tarnkappe.kernels.masks.swapping import swap_within_tables

        value = data.codes([self.column]).astype(np.int32)
        before, n, rng = value.copy(), data.n, chance.rng
        parts = [self.beside[b :: self.t] for b in range(self.t)]
        block = np.ascontiguousarray(np.column_stack([data.codes(part) for part in parts]), np.int64)
        radix = block.max(axis=0, initial=0) + 1
        key = _keys(block, radix)
        cells, _, starts, members = _classes(key)
        sides = [_classes(_keys(np.delete(block, b, axis=1), np.delete(radix, b))) for b in range(self.t)]
        most = max(len(s[2]) for s in sides)
        side_starts = np.stack([np.pad(s[2], (0, most - len(s[2])), "edge") for s in sides])
        for _ in range(self.attempts):
            swap_within_tables(
                value,
                block,
                radix,
                cells,
                starts,
                members,
                np.ascontiguousarray(np.column_stack([s[1] for s in sides])),
                side_starts,
                np.stack([s[3] for s in sides]),
                rng.random((n, self.t + 2)),
            )
        changed = value != before
        if not changed.any():
            hint = "Fewer or coarser columns in  beside,  or more  attempts."
            raise unfit(self, "no exchange keeps all tables", data.source, hint)
        # Somebody who had each value hands it over: the values themselves are not touched.
        first = np.zeros(int(before.max(initial=0)) + 1, np.int64)
        first[before] = np.arange(n)
        return Held([data.values(self.column).gather(first[value]).alias(self.column)])

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Every table of up to t columns that are published."""
        there = [name for name in self.beside if name in after.names]
        tables = [(self.column, *others) for others in combinations(there, min(self.t - 1, len(there)))]
        for table in tables[:_MOST_TABLES]:
            yield Kept(f"the table of {', '.join(table)}", differing(table, before, after))


def _keys(block: NDArray[np.int64], radix: NDArray[np.int64]) -> NDArray[np.int64]:
    key = np.zeros(len(block), np.int64)
    for b in range(block.shape[1]):
        key = key * radix[b] + block[:, b]
    return key


def _classes(
    key: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The sorted keys, the class of every record, where each class begins, and its records."""
    keys, of = np.unique(key, return_inverse=True)
    members = np.argsort(of, kind="stable")
    return keys, of.astype(np.int64), np.append(0, np.cumsum(np.bincount(of))).astype(np.int64), members

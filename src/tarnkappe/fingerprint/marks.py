"""Block marks: which of two columns is coarsened, block by block, says whose copy it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.fingerprint.keys import DatasetKey, derived
from tarnkappe.tally import distinct_rows
from tarnkappe.taxonomy.tree import Taxonomy


@dataclass(frozen=True, eq=False)
class Columns:
    """The quasi-identifiers of all copies: their trees, and the coarsest level that any pattern has (`level`).

    `ceiling` is the highest level that may be published.
    """

    names: tuple[str, ...]
    trees: tuple[Taxonomy, ...]
    level: tuple[int, ...]
    ceiling: tuple[int, ...]

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The columns that can go up a level."""
        pairs = zip(self.level, self.ceiling, strict=True)
        return tuple(j for j, (level, top) in enumerate(pairs) if level < top)

    def raised(self, node: Codes, j: int, level: int) -> Codes:
        """Nodes of a column at a higher level."""
        tree = self.trees[j]
        up: Codes = tree.ancestors[level][tree.lo[node]]
        return up


@dataclass(frozen=True, eq=False)
class Layout:
    """Where marks are: groups, the block of each, and the pairs of columns of each block.

    Group ``g`` has the nodes ``node[g]`` (at the levels of `columns`) and ``size[g]`` records. Position
    ``b * bits + i`` of the code is pair i of block b: a 0 coarsens its first column in the whole block, a 1 its second.
    """

    columns: Columns
    node: Codes
    size: Counts
    block: Codes
    pairs: NDArray[np.int32]

    @property
    def bits(self) -> int:
        """Pairs of every block."""
        return int(self.pairs.shape[1])

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.pairs)

    @property
    def n_positions(self) -> int:
        """Positions of the code."""
        return self.n_blocks * self.bits

    @cached_property
    def block_sizes(self) -> Counts:
        """Records of every block; groups without a mark are in none."""
        inside = self.block >= 0
        return np.bincount(self.block[inside], self.size[inside], self.n_blocks).astype(np.int64)

    @classmethod
    def of(
        cls, columns: Columns, node: Codes, size: Counts, key: DatasetKey, bits: int, using: Sequence[int] | None = None
    ) -> Layout:
        """Divide groups into blocks, and choose the columns that carry the mark of each by key.

        Groups that look alike when all columns go up a level choose the same columns, so a reader of any copy finds
        them. Those that look alike when the chosen ones go up are a block: its mark never tells them apart.
        """
        free = tuple(columns.free if using is None else using)
        high = node.copy()
        visible = np.zeros((len(node), len(free)), np.bool_)
        for i, j in enumerate(free):
            high[:, j] = columns.raised(node[:, j], j, columns.level[j] + 1)
            visible[:, i] = high[:, j] != node[:, j]
        choices = _choices(len(free), bits)
        above, first = _ranked(high)
        shows = np.ones((len(first), len(free)), np.bool_)
        np.logical_and.at(shows, above, visible)
        chosen = np.full((len(first), bits, 2), -1, np.int32)
        for a, at in enumerate(first):
            able = [c for c in choices if shows[a, [i for pair in c for i in pair]].all()]
            if able:
                name = "\0".join(columns.trees[j].labels[v] for j, v in enumerate(high[at]))
                drawn = derived(key.raw, "pair", str(bits), name)
                pick = able[int.from_bytes(drawn[:8], "big") % len(able)]
                turned = [pair if drawn[8] >> i & 1 else pair[::-1] for i, pair in enumerate(pick)]
                chosen[a] = [[free[i] for i in pair] for pair in turned]
        look = node.copy()
        own = chosen[above].reshape(len(node), -1)
        for j in free:
            marked = (own == j).any(axis=1)
            look[marked, j] = high[marked, j]
        carries = own[:, 0] >= 0
        block = np.full(len(node), -1, np.int32)
        if carries.any():
            rank, at = _ranked(np.column_stack([above, look])[carries])
            block[carries] = rank
            pairs = chosen[above[carries][at]]
        else:
            pairs = np.zeros((0, bits, 2), np.int32)
        return cls(columns, node, size, block, pairs)

    def unmarked(self) -> Layout:
        """The same groups without marks."""
        nothing = np.full_like(self.block, -1), self.pairs[:0]
        return Layout(self.columns, self.node, self.size, *nothing)

    def marked(self, code: Flags) -> Codes:
        """The nodes of every group in the copy with these bits: one row per group."""
        out = self.node.copy()
        inside = np.flatnonzero(self.block >= 0)
        symbols = code.reshape(self.n_blocks, self.bits)[self.block[inside]].astype(np.int64)
        for i in range(self.bits):
            column = np.take_along_axis(self.pairs[self.block[inside], i], symbols[:, i : i + 1], axis=1)[:, 0]
            for j in np.unique(column):
                rows = inside[column == j]
                out[rows, j] = self.columns.raised(self.node[rows, j], int(j), self.columns.level[j] + 1)
        return out

    def extra_loss(self, costs: Sequence[Floats]) -> float:
        """What an average mark adds to the loss, if going up costs so much for each node of each column."""
        inside = np.flatnonzero(self.block >= 0)
        total = 0.0
        for i in range(self.bits):
            for side in range(2):
                column = self.pairs[self.block[inside], i, side]
                for j in np.unique(column):
                    rows = inside[column == j]
                    total += 0.5 * float(costs[j][self.node[rows, j]] @ self.size[rows])
        return total


def _ranked(rows: Codes) -> tuple[Codes, Codes]:
    return distinct_rows([rows[:, j] for j in range(rows.shape[1])], [int(c.max(initial=0)) + 1 for c in rows.T])


def _choices(n: int, bits: int) -> list[tuple[tuple[int, int], ...]]:
    """All ways to take disjoint pairs of columns."""
    pairs = list(combinations(range(n), 2))
    if bits == 1:
        return [(pair,) for pair in pairs]
    return [c for c in combinations(pairs, bits) if len({i for pair in c for i in pair}) == 2 * bits]

"""Reading a leak: which marks its rows show, whatever has been done to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Floats
from tarnkappe.fingerprint.marks import Layout
from tarnkappe.tally import distinct_rows

#: A column that is nowhere as fine as in the copies was coarsened by somebody else: that it is coarse tells nothing.
_LEAST_FINE = 0.02

#: A position shows both symbols if the rarer one has at least this share.
_LEAST_SHARE = 0.05

#: Rows that fit more groups than this tell nothing.
_MOST_GROUPS = 5_000

#: No column, or a text that no label explains.
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Leak:
    """The distinct rows of a leak: a node for every column of the copies (-1: unknown), and how often each occurs."""

    node: Codes
    count: Floats

    @property
    def n_rows(self) -> int:
        """Rows in all."""
        return int(self.count.sum())


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a leak shows at every position: records that say 0, that say 1, that show both at once.

    `sure` counts only rows that fit one block; `likely` also those that fit several, as far as each block is likely.
    """

    sure: Floats
    likely: Floats
    #: How certain on average the block of the rows behind `likely` is.
    certainty: Floats
    #: Rows that fit no group of the copies.
    strange: float
    n_rows: int
    #: Where rows show both columns of a pair fine: from -1 (the first was guessed, so it had been coarse) to 1.
    guessed: Floats | None = None

    @property
    def read(self) -> int:
        """Positions at which something was read."""
        return int((self.likely.sum(axis=1) > 0).sum())

    @property
    def both(self) -> NDArray[np.bool_]:
        """Positions at which both symbols were seen."""
        zero, one, merged = self.sure.T
        total = zero + one + merged
        rarer = np.minimum(zero, one)
        seen: NDArray[np.bool_] = (total > 0) & (
            (merged > _LEAST_SHARE * total) | (rarer >= np.maximum(_LEAST_SHARE * total, 1e-9))
        )
        return seen

    @property
    def strict(self) -> Floats:
        """Clear symbols: -1 for a 0, 1 for a 1, 0 where nothing is sure."""
        zero, one, _ = self.sure.T
        return np.where(self.both, 0.0, np.sign(one - zero))


def read_marks(leak: Leak, layout: Layout) -> Evidence:
    """Find the block of every row and what it shows.

    A cell is fine if it says at least as much as the copies do, otherwise coarse. Rows are compared with the groups of
    the copies at the levels they have; columns that are missing or not understood are left out. Where several groups
    fit, those come first that explain most of what is coarse. One look-up per combination of levels: O(rows · columns).
    """
    if not layout.n_positions:
        nothing = np.zeros((0, 3))
        return Evidence(nothing, nothing, np.zeros(0), 0.0, leak.n_rows)
    level, at_level = _levels(leak.node, layout)
    rows = leak.count
    total = max(float(rows.sum()), 1.0)
    known = level >= 0
    fine = (level == 0) & known
    informative = np.array(
        [rows[fine[:, j]].sum() >= _LEAST_FINE * rows[known[:, j]].sum() for j in range(level.shape[1])]
    )
    informative &= known.any(axis=0)
    sure, likely = np.zeros((layout.n_positions, 3)), np.zeros((layout.n_positions, 3))
    squares = np.zeros(layout.n_positions)
    merged = np.zeros((len(layout.node), layout.bits))  # rows of every group that show both columns of a pair fine
    strange = 0.0
    which, _ = distinct_rows(
        [level[:, j] + 1 for j in range(level.shape[1])], [int(level.max(initial=0)) + 2] * level.shape[1]
    )
    order = np.argsort(which, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
        if not len(part):
            continue
        steps = level[part[0]]
        used = [j for j in range(len(steps)) if steps[j] >= 0]
        if not used:
            strange += float(rows[part].sum())
            continue
        row, group = _matches(leak, layout, at_level, part, steps, used)
        found = np.bincount(row, minlength=len(part)) > 0
        strange += float(rows[part[~found]].sum())
        if not len(row):
            continue
        block = layout.block[group]
        # What this combination of levels says about every pair of columns, and how well a block explains it.
        symbol, misfit = _symbols(layout, steps, informative)
        cost = np.where(block >= 0, misfit[np.maximum(block, 0)], _unexplained(steps, informative))
        best = np.full(len(part), np.inf)
        np.minimum.at(best, row, cost)
        keep = cost <= best[row]
        row, group, block = row[keep], group[keep], block[keep]
        weight = layout.size[group].astype(np.float64)
        weight /= np.bincount(row, weight, len(part))[row]
        alone = (block >= 0) & (weight > 1 - 1e-9)
        for i in range(layout.bits):
            fine = alone & (symbol[np.maximum(block, 0), i] == 2)
            np.add.at(merged[:, i], group[fine], rows[part[row[fine]]])
        # One entry for each row and block.
        entry, at = distinct_rows([row, block + 1], [len(part), layout.n_blocks + 1])
        weight = np.bincount(entry, weight).astype(np.float64)
        row, block = row[at], block[at]
        inside = block >= 0
        row, block, weight = row[inside], block[inside], weight[inside]
        mass = rows[part[row]] * weight
        for i in range(layout.bits):
            seen = symbol[block, i]
            shown = seen >= 0
            position = block[shown] * layout.bits + i
            np.add.at(likely, (position, seen[shown]), mass[shown])
            np.add.at(squares, position, mass[shown] * weight[shown])
            clear = weight[shown] > 1 - 1e-9
            np.add.at(sure, (position[clear], seen[shown][clear]), mass[shown][clear])
    mass = likely.sum(axis=1)
    certainty = np.divide(squares, mass, out=np.zeros_like(mass), where=mass > 0)
    return Evidence(sure, likely, certainty, strange, int(total), _guessed(layout, merged))


def _guessed(layout: Layout, merged: Floats) -> Floats:
    r"""Which column of every pair was guessed, where somebody made all cells fine again.

    The publisher knows how many records have each value in a block. Those of the column that never was coarse are as
    they were, those of the other are off by chance at least:

    .. math:: \tanh\frac{\chi^2_{second} - \chi^2_{first}}{4}

    Whoever merges copies publishes the truth in both: then it is near 0.
    """
    inside = np.flatnonzero(layout.block >= 0)
    block = layout.block[inside]
    out = np.zeros((layout.n_blocks, layout.bits))
    for i in range(layout.bits):
        count = merged[inside, i]
        size = layout.size[inside].astype(np.float64)
        share = np.bincount(block, count, layout.n_blocks) / np.maximum(layout.block_sizes, 1)
        off = []
        for side in range(2):
            value = layout.node[inside, layout.pairs[block, i, side]]
            rank, first = distinct_rows([block, value], [layout.n_blocks, int(value.max(initial=0)) + 1])
            seen, had = np.bincount(rank, count), np.bincount(rank, size)
            expected = had * share[block[first]]
            apart = np.divide((seen - expected) ** 2, expected, out=np.zeros_like(seen), where=expected > 0)
            off.append(np.bincount(block[first], apart, layout.n_blocks))
        out[:, i] = np.tanh((off[1] - off[0]) / 4)
    return out.reshape(-1)


def _levels(node: Codes, layout: Layout) -> tuple[Codes, Codes]:
    """How many levels above those of the copies each cell is (-1: unknown), and its node at that level."""
    columns = layout.columns
    steps, at_level = np.full(node.shape, -1, np.int32), np.full(node.shape, -1, np.int32)
    for j, tree in enumerate(columns.trees):
        texts = np.unique(node[:, j])
        step_of, node_of = np.full(tree.n_nodes + 1, -1, np.int32), np.full(tree.n_nodes + 1, -1, np.int32)
        for v in texts[texts >= 0].tolist():
            leaf = int(tree.lo[v])
            for level in range(columns.level[j], tree.height + 1):
                above = int(tree.ancestors[level][leaf])
                if tree.lo[above] <= tree.lo[v] and tree.hi[v] <= tree.hi[above]:
                    step_of[v], node_of[v] = level - columns.level[j], above
                    break
        steps[:, j], at_level[:, j] = step_of[node[:, j]], node_of[node[:, j]]
    return steps, at_level


def _matches(
    leak: Leak, layout: Layout, at_level: Codes, part: NDArray[np.int64], steps: Codes, used: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of a part and the groups that they fit: positions in the part, and groups."""
    columns = layout.columns
    raised = [columns.raised(layout.node[:, j], j, columns.level[j] + int(steps[j])) for j in used]
    keys = [np.concatenate([up, at_level[part, j]]) for up, j in zip(raised, used, strict=True)]
    rank, _ = distinct_rows(keys, [columns.trees[j].n_nodes for j in used])
    groups, rows = rank[: len(layout.node)], rank[len(layout.node) :]
    order = np.argsort(groups, kind="stable")
    start, end = (np.searchsorted(groups[order], rows, side=side) for side in ("left", "right"))
    many = end - start
    many = np.where(many > _MOST_GROUPS, 0, many)
    row = np.repeat(np.arange(len(part)), many)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    return row, order[np.repeat(start, many) + offset]


def _unexplained(steps: Codes, informative: NDArray[np.bool_]) -> int:
    """Columns that are coarse although others are fine there."""
    return int(((steps > 0) & informative).sum())


def _symbols(
    layout: Layout, steps: Codes, informative: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per block and pair what rows with these levels show (2: both at once, -1: nothing), and what is left open."""
    state = np.where(steps < 0, -1, (steps > 0).astype(np.int64))  # unknown, fine, coarse
    telling = np.where((state == 1) & ~informative, -1, state)
    x, y = state[layout.pairs[:, :, 0]], state[layout.pairs[:, :, 1]]
    told_x, told_y = telling[layout.pairs[:, :, 0]], telling[layout.pairs[:, :, 1]]
    symbol = np.full(x.shape, -1, np.int64)
    symbol[(x == 0) & ((y == 1) | (y == -1))] = 1  # the first column is fine, so the second was coarsened
    symbol[(y == 0) & ((x == 1) | (x == -1))] = 0
    symbol[(told_x == -1) & (told_y == 1)] = 1
    symbol[(told_y == -1) & (told_x == 1)] = 0
    symbol[(x == 0) & (y == 0)] = 2
    in_pair = np.zeros((layout.n_blocks, len(steps)), np.bool_)
    flat = layout.pairs.reshape(layout.n_blocks, 2 * layout.bits)
    np.put_along_axis(in_pair, flat.astype(np.int64), True, axis=1)
    misfit = (((steps > 0) & informative)[None, :] & ~in_pair).sum(axis=1)
    misfit = misfit + ((x == 0) & (y == 0)).sum(axis=1) + ((told_x == 1) & (told_y == 1)).sum(axis=1)
    return symbol, misfit

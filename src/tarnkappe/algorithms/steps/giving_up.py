"""Rows that give up cells until every group satisfies the goal: what local suppression and mu-Argus share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.boxes import Boxes
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.tally import Tally, distinct_rows

#: Up to so many possible combinations are counted in one dense table.
_DENSE = 1 << 22

#: Pieces of cells, sorted by cell: the cell, the row it belongs to (-1: suppressed), and how many records it has.
Pieces = tuple[Codes, Codes, Counts]


class Rows:
    """Rows of codes that publish a node per column; a cell that is given up publishes the root, which is node 0.

    A row stands for some records of the tally: `pieces` says for which. Rows that publish the same are one group.
    """

    def __init__(self, tally: Tally, goal: Goal, codes: Codes, pieces: Pieces) -> None:
        self.tally = tally
        self.goal = goal
        self.tables = goal.table_distributions(tally)
        self.trees = [d.taxonomy for d in tally.quasi_domains]
        self.codes = codes
        self.cell, self.row, self.quota = pieces
        kept = self.row >= 0
        self.size = np.bincount(self.row[kept], self.quota[kept], len(codes)).astype(np.int64)
        self.weight = np.array([d.weight for d in tally.quasi_domains])

    @classmethod
    def distinct(cls, tally: Tally, goal: Goal) -> Rows:
        """The distinct rows of a tally."""
        return cls(tally, goal, *distinct_codes(tally))

    def leaves(self) -> Codes:
        """What each row publishes if nothing is given up."""
        return np.column_stack([tree.leaf_nodes[self.codes[:, j]] for j, tree in enumerate(self.trees)])

    def rare(self, node: Codes, columns: tuple[int, ...], threshold: int) -> NDArray[np.bool_]:
        """Which rows publish a combination in some columns that fewer records share than a threshold says."""
        sizes = [self.trees[j].n_nodes for j in columns]
        if np.prod([float(s) for s in sizes]) <= _DENSE:
            key = np.zeros(len(node), np.int64)
            for j, n in zip(columns, sizes, strict=True):
                key = key * n + node[:, j]
        else:
            key = distinct_rows([node[:, j] for j in columns], sizes)[0].astype(np.int64)
        found: NDArray[np.bool_] = np.bincount(key, weights=self.size)[key] < threshold
        return found

    def groups(self, node: Codes) -> tuple[Codes, Codes]:
        """The group of each row, those that publish the same, and one row of every group."""
        return distinct_rows([node[:, j] for j in range(node.shape[1])], [t.n_nodes for t in self.trees])

    def grouping(self, node: Codes) -> Grouping:
        """The groups, and what they publish."""
        group, first = self.groups(node)
        boxes = Boxes.of_nodes(node[first], self.tally.quasi_domains)
        return Grouping(self.cell, self._of_pieces(group), self.quota, len(first), FixedBoxes(boxes))

    def judged(self, node: Codes) -> tuple[Codes, NDArray[np.bool_]]:
        """The group of each row, and which groups satisfy the goal."""
        group, first = self.groups(node)
        grouping = Grouping(self.cell, self._of_pieces(group), self.quota, len(first))
        return group, self.goal.satisfied(self.goal.stats(self.tally, grouping, self.tables, node[first]))

    def _of_pieces(self, group: Codes) -> Codes:
        return np.append(group, np.int32(SUPPRESSED))[self.row].astype(np.int32)

    def settle(self, node: Codes) -> Iterator[Grouping]:
        """Groupings to be tried one after another: first with cells given up, then with ever more rows at the root."""
        while True:
            group, ok = self.judged(node)
            violating = ~ok[group] & node.any(axis=1)
            if not violating.any():
                break
            node = self._fewer_cells(node, violating)
        yield self.grouping(node)
        smallest = np.argsort(np.bincount(group, weights=self.size), kind="stable")
        joined = 1
        while joined < 2 * len(smallest):
            node = np.where(np.isin(group, smallest[:joined])[:, None], 0, node)
            yield self.grouping(node)
            joined *= 2

    def _fewer_cells(self, node: Codes, violating: NDArray[np.bool_]) -> Codes:
        """Violating rows with one more cell given up: those that are settled so, or if none is, all of them."""
        best, best_rows, best_gain = -1, violating, 0.0
        for j in range(node.shape[1]):
            given = node.copy()
            given[violating, j] = 0
            group, ok = self.judged(given)
            settled = violating & (node[:, j] != 0) & ok[group]
            gain = float(self.size[settled].sum()) / self.weight[j]
            if gain > best_gain:
                best, best_rows, best_gain = j, settled, gain
        if best < 0:
            values = [len(np.unique(node[violating, j])) for j in range(node.shape[1])]
            spread = np.where((node[violating] != 0).any(axis=0), values, 0)
            best = int(np.argmax(spread))
        out = node.copy()
        out[best_rows, best] = 0
        return out


def distinct_codes(tally: Tally) -> tuple[Codes, Pieces]:
    """The distinct combinations of quasi-identifiers of a tally, each standing for all cells that have it."""
    row, first = distinct_rows(list(tally.quasi.T), [d.size for d in tally.quasi_domains])
    return tally.quasi[first], (np.arange(tally.n_cells, dtype=np.int32), row, tally.count)

"""What a recoding costs, and what any recoding that is coarser than a given one must cost."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from tarnkappe.algorithms.subtree.candidates import Rows, Splits
from tarnkappe.algorithms.subtree.refinements import Refinements, Steps
from tarnkappe.arrays import Codes, Floats
from tarnkappe.groups import GroupStats
from tarnkappe.metrics import CellLoss, metric_named
from tarnkappe.tally import Tally

#: So many losses of codes are remembered at most.
_REMEMBERED = 1 << 22


class Cost(ABC):
    """A cost that adds up over groups; a suppressed record costs `price`."""

    price: float
    #: What a sum is multiplied with to be reported.
    scale: float = 1.0

    @abstractmethod
    def published(self, rows: Rows, made: Steps, splits: Splits) -> Floats:
        """What each group of each split of the recoding `made` costs if it is published."""

    @abstractmethod
    def floor(self, rows: Rows, steps: Steps) -> Floats:
        """What the records of each row cost at least in any recoding that makes no other steps than these.

        The rows are those that the steps tell apart.
        """


class DiscernibilityCost(Cost):
    """Every record costs the size of its group, a suppressed one the size of the table."""

    def __init__(self, tally: Tally, min_size: int) -> None:
        self.price = float(tally.n_records)
        self.min_size = min_size

    def published(self, rows: Rows, made: Steps, splits: Splits) -> Floats:
        """The squares of the sizes."""
        return np.square(splits.size.astype(np.float64))

    def floor(self, rows: Rows, steps: Steps) -> Floats:
        """No group is smaller than the smallest allowed, or than the finest partition's."""
        size = rows.size.astype(np.float64)
        return size * np.maximum(size, self.min_size)


class ClassificationCost(Cost):
    """A record costs 1 if its value of the target is not the most frequent in its group, or if it is suppressed."""

    price = 1.0

    def __init__(self, tally: Tally, target: str) -> None:
        self.tally = tally
        self.target = target
        self.scale = 1.0 / tally.n_records

    def published(self, rows: Rows, made: Steps, splits: Splits) -> Floats:
        """The records outside the majority of each group."""
        everything = np.ones(len(splits.size), np.bool_)
        grouping = splits.grouping(self.tally, rows, everything)
        stats = GroupStats.of(self.tally, grouping, [self.target])
        return self._outside_majority(stats)

    def floor(self, rows: Rows, steps: Steps) -> Floats:
        """The records outside the majority of each row: groups of several rows have no fewer."""
        s = self.tally.sensitive_index(self.target)
        cells = {self.target: (self.tally.sensitive[:, s], self.tally.sensitive_domains[s])}
        return self._outside_majority(GroupStats.from_cells(rows.of_cell, self.tally.count, cells))

    def _outside_majority(self, stats: GroupStats) -> Floats:
        found = stats.histograms[self.target]
        return (stats.size - np.maximum.reduceat(found.counts, found.indptr[:-1])).astype(np.float64)


class CellLossCost(Cost):
    """The weighted mean over columns of a loss of single cells; a suppressed record has lost everything."""

    price = 1.0

    def __init__(self, tally: Tally, space: Refinements, metric: str) -> None:
        found = metric_named(metric)
        assert isinstance(found, CellLoss)
        self.metric = found
        self.space = space
        self.scale = 1.0 / tally.n_records
        weights = np.array([d.weight for d in tally.quasi_domains])
        self.weights: Floats = weights / weights.sum()
        self._least = [self._least_above(j) for j in range(len(weights))]
        self._known: dict[tuple[int, bytes], tuple[Floats, Floats]] = {}
        self._gains: dict[tuple[int, bytes], Floats] = {}

    def _least_above(self, j: int) -> Floats:
        """Per node of a taxonomy, the least loss of it and its ancestors: a metric may charge a child more."""
        tree = self.space.domains[j].taxonomy
        least = self.metric.node_costs(self.space.domains[j]).copy()
        for v in range(1, tree.n_nodes):
            least[v] = min(least[v], least[tree.parent[v]])
        return least

    def code_losses(self, j: int, part: Codes) -> tuple[Floats, Floats]:
        """The loss of each code of column `j` if its codes are in these parts, and the least of all coarser parts."""
        key = j, part.tobytes()
        if key not in self._known:
            if len(self._known) * len(part) > _REMEMBERED:
                self._known.clear()
            boxes = self.space.boxes(j, part)
            loss = self.metric.cell_loss(boxes, 0, self.space.domains[j])
            self._known[key] = loss[part], np.minimum(loss, self._least[j][boxes.node[:, 0]])[part]
        return self._known[key]

    def row_losses(self, codes: Codes, part: Codes, *, least: bool = False) -> Floats:
        """The (least) loss of a record of each row, given the parts of all columns."""
        total = np.zeros(len(codes))
        for j, weight in enumerate(self.weights):
            total += weight * self.code_losses(j, self.space.column_parts(part, j))[least][codes[:, j]]
        return total

    def published(self, rows: Rows, made: Steps, splits: Splits) -> Floats:
        """Records times loss; a step changes the loss in its own column only."""
        part = self.space.parts(made)
        loss = self.row_losses(rows.codes, part)[splits.first]
        before = [self.space.column_parts(part, j) for j in range(len(self.weights))]
        keys = [of_code.tobytes() for of_code in before]
        for a, step in enumerate(splits.steps):
            if step >= 0:
                j = self.space.column[step]
                mine = slice(splits.begin[a], splits.begin[a + 1])
                loss[mine] += self._gain(int(step), before[j], keys[j])[rows.codes[splits.first[mine], j]]
        return loss * splits.size

    def _gain(self, step: int, before: Codes, key: bytes) -> Floats:
        """What a step changes in the weighted loss of each code of its column, whose parts were these before."""
        known = self._gains.get((step, key))
        if known is None:
            if len(self._gains) * len(before) > _REMEMBERED:
                self._gains.clear()
            j = int(self.space.column[step])
            starts = self.space.starts[self.space.begin[step] : self.space.begin[step + 1]]
            cut = np.zeros(len(before), np.bool_)
            cut[starts] = np.diff(before, prepend=before[0])[starts] == 0
            after = before + np.cumsum(cut, dtype=np.int32)
            known = self.weights[j] * (self.code_losses(j, after)[0] - self.code_losses(j, before)[0])
            self._gains[step, key] = known
        return known

    def floor(self, rows: Rows, steps: Steps) -> Floats:
        """The loss in the finest recoding, or in an ancestor that is cheaper."""
        return self.row_losses(rows.codes, self.space.parts(steps), least=True) * rows.size

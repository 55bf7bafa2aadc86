"""InfoGain Mondrian."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.steps.front import weighted_widths
from tarnkappe.algorithms.steps.ranked import RankedFront
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.multidimensional.gains import find_gains
from tarnkappe.kernels.multidimensional.segments import scratch
from tarnkappe.params import param
from tarnkappe.tally import Domain, Tally
from tarnkappe.threads import share_out

#: Gains per record that differ by less are equal: their difference is rounding.
_PLACES = 10


@dataclass(frozen=True)
class InfoGainMondrian(Algorithm):
    r"""Cut each group where the cut tells most about a target column, as long as both parts satisfy the goal.

    For a target of categories the gain of a cut of :math:`G` into :math:`L` and :math:`R` is the information gain

    .. math:: |G|\,H(G) - |L|\,H(L) - |R|\,H(R), \qquad H(G) = -\sum_c p_c \log_2 p_c,

    for a numeric target (regression) the fall of the sum of squared deviations from the mean. All thresholds of all
    quasi-identifiers are candidates, best first; on a taxonomy they lie between children of the lowest common ancestor,
    and only where no such cut is allowed may one go through a subtree. Among equal gains the wider quasi-identifier
    wins, then the more even cut: a group in which the target is pure is cut on, for the other uses of the data.
    Published are tight boxes. O(d · n · log n) for balanced cuts, times the number of classes.

    Differs from the paper in: cuts of taxonomies by consecutive children instead of all children at once; how equal
    gains are decided; tight boxes instead of cut cells. Records whose numeric target is missing do not count for the
    gain.

    References
    ----------
    .. [LeDR06b] LeFevre, DeWitt, Ramakrishnan. "Workload-aware anonymization." KDD 2006.
    """

    name: ClassVar = "infogain-mondrian"
    title: ClassVar = "InfoGain Mondrian"
    scheme: ClassVar = "multidimensional"
    summary: ClassVar = "Cuts the table where a cut tells most about a target; for training classifiers."
    handles_wildcards: ClassVar = True

    target: str = param(
        doc="The column that a model shall predict: categories, or numbers for a regression.", refers_to="predicted"
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cut until no cut is allowed."""
        self.require_supported(tally, goal)
        if tally.n_records == 0 or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)
        return _GainFront(tally, goal, self.target).exhaust()


def _find(arrays: tuple[Any, ...], starts: Counts, segments: Counts, begin: int, end: int) -> None:
    """Find the gains of some segments, with room for them."""
    given = (*arrays, *scratch(starts, segments[begin:end]), begin, end)
    find_gains(*given)


class _GainFront(RankedFront):
    """Cuts where the target becomes most certain."""

    def __init__(self, tally: Tally, goal: Goal, target: str) -> None:
        super().__init__(tally, goal)
        s = tally.sensitive_index(target)
        self.target = np.ascontiguousarray(tally.sensitive[:, s])
        self.moments = _moments(tally.sensitive_domains[s], self.target, tally.count)

    def candidates(self, lo: Codes, hi: Codes, size: Counts) -> tuple[Counts, Counts, Codes]:
        """All cuts that leave enough records on both sides: segment, attribute and code, best first per segment."""
        width = weighted_widths(self.tally.quasi_domains, lo, hi)
        target = self.target[self.cell]
        large = size >= 2 * self.goal.min_size
        found = []
        for j in range(lo.shape[1]):
            here = np.flatnonzero(large & (width[:, j] > 0))
            pieces = self.starts[here + 1] - self.starts[here]
            bounds = np.concatenate([[0], np.cumsum(np.minimum(pieces, hi[here, j] - lo[here, j] + 1))])
            n = int(bounds[-1])
            code, left, gain = np.empty(n, np.int32), np.zeros(n, np.int64), np.zeros(n)
            torn = np.zeros(n, np.bool_)
            given = (self.rows, self.quota, self.starts, here, j, lo, hi, *self.shape(j)[1:], target, self.moments)
            out = (bounds, code, left, gain, torn)
            share_out(partial(_find, (*given, *out), self.starts, here), self.work(here))
            segment = np.repeat(here, np.diff(bounds))
            smaller = np.minimum(left, size[segment] - left)
            good = np.flatnonzero((code >= 0) & (smaller >= self.goal.min_size))
            at = segment[good]
            per_record = np.round(gain[good] / size[at], _PLACES)
            attribute = np.full(len(good), j, np.int64)
            found.append((at, torn[good], -per_record, -width[at, j], -smaller[good], attribute, code[good]))
        segment, torn, loss, narrow, uneven, attribute, code = (np.concatenate(a) for a in zip(*found, strict=True))
        order = np.lexsort((code, attribute, uneven, narrow, loss, torn, segment))
        return segment[order], attribute[order], code[order]


def _moments(domain: Domain, target: Codes, count: Counts) -> Floats:
    """1, y and y² of every value of a numeric target, standardised; 0 where it is missing. Classes have none."""
    if domain.values is None:
        return np.zeros((domain.size, 0))
    known = np.isfinite(domain.values)
    records = np.where(known, np.bincount(target, weights=count, minlength=domain.size), 0.0)
    total = max(records.sum(), 1.0)
    y = np.where(known, domain.values, 0.0)
    y = np.where(known, y - (y @ records) / total, 0.0)
    y /= np.sqrt((y**2) @ records / total) or 1.0
    return np.column_stack([known.astype(np.float64), y, y**2])

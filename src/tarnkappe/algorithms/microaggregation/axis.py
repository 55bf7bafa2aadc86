"""Records in a line: sorted by one number each."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.algorithms.microaggregation.records import Records
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import Fix, assignment, say
from tarnkappe.goal import Goal
from tarnkappe.params import param
from tarnkappe.tally import Tally

#: What records may be sorted by that is no quasi-identifier.
AXES = ("score", "component")


@dataclass(frozen=True)
class OnAxis(Microaggregation):
    """Sorts the records and groups neighbours; a subclass says how (`along`)."""

    by: str = param(
        "score",
        doc="What records are sorted by: score (the sum of their standardised values), component (the first principal "
        "component), or the name of a quasi-identifier.",
    )

    @abstractmethod
    def along(self, points: Floats, k: int) -> Codes:
        """The group of every point; the points stand in order, and groups of at least `k` are made of neighbours."""

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups along the score or the first component."""
        return self._sorted(points, first_component(points) if self.by == "component" else points.sum(axis=1), k)

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Refuse an axis that there is not, as well."""
        super().require_supported(tally, goal)
        names = [d.name for d in tally.quasi_domains]
        if self.by not in self._axes and self.by not in names:
            known = ", ".join([*self._axes, *names])
            raise JobError(
                "E110",
                f"'by' names '{self.by}', which is no quasi-identifier{did_you_mean(self.by, [*self._axes, *names])}",
                hint=say("{}   Possible: {}.", assignment("by", self._axes[0]), Fix(known, known)),
            )

    @property
    def _axes(self) -> tuple[str, ...]:
        """What `by` may be besides a quasi-identifier."""
        return AXES

    def _partitioned(self, records: Records, k: int, rng: np.random.Generator) -> Codes:
        if self.by in self._axes:
            return super()._partitioned(records, k, rng)
        names = [d.name for d in records.tally.quasi_domains]
        return self._sorted(records.points, records.tally.quasi[records.cell, names.index(self.by)], k)

    def _sorted(self, points: Floats, key: Floats | Codes, k: int) -> Codes:
        """The groups of points that are sorted by some key; equal ones stay in their order."""
        order = np.argsort(key, kind="stable")
        group = np.empty(len(points), np.int32)
        group[order] = self.along(points[order], k)
        return group


def first_component(points: Floats) -> Floats:
    """How far points lie along the direction of their largest variance."""
    centred = points - points.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    axis *= np.sign(axis[np.argmax(np.abs(axis))]) or 1.0  # else the direction would be a matter of the library
    along: Floats = centred @ axis
    return along


def from_both_ends(n: int, k: int) -> Codes:
    """The groups of n records in order: k from both ends, again and again; the one at the median takes the rest.

    >>> from_both_ends(11, 3).tolist()
    [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]
    """
    n_groups = max(n // k, 1)
    size: Counts = np.full(n_groups, k)
    size[n_groups // 2] = n - k * (n_groups - 1)
    return np.repeat(np.arange(n_groups, dtype=np.int32), size)

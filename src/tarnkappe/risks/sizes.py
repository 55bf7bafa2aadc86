"""How many groups of a sample have each size, and what a model makes of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tarnkappe.arrays import Counts


@dataclass(frozen=True)
class Estimate:
    """How many people of the population are unique, by one model; None if its equations have no solution here."""

    model: str
    uniques: float | None
    #: Why there is no figure, or what the rule chose and why.
    remark: str = ""

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class SizeCounts:
    """How many groups of a sample have each size: ``times[i]`` groups of ``size[i]`` records."""

    size: Counts
    times: Counts

    @classmethod
    def of(cls, sizes: Counts) -> SizeCounts:
        """Count the sizes of groups.

        >>> SizeCounts.of(np.array([1, 1, 3])).groups_of(1)
        2
        """
        found, times = np.unique(sizes, return_counts=True)
        return cls(found.astype(np.int64), times.astype(np.int64))

    def groups_of(self, size: int) -> int:
        """How many groups have this size."""
        return int(self.times[self.size == size].sum())

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.times.sum())

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.size @ self.times)

"""(epsilon, m)-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Measure, SensitiveCriterion, as_fraction, times
from tarnkappe.criteria.values import numbers
from tarnkappe.errors import JobError
from tarnkappe.fixes import assignment
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.criteria.windows import fullest_windows
from tarnkappe.params import param
from tarnkappe.tally import Domain
from tarnkappe.wording import stated


@dataclass(frozen=True)
class EpsilonMAnonymity(SensitiveCriterion):
    r"""Around every number of a group lies at most one in ``m`` of the group's numbers.

    .. math:: |\{y \in G : |y - s| \le \varepsilon\}| \le |G| / m \text{ for every } s \in G

    With `relative`, the neighbourhood of :math:`s` is :math:`\varepsilon |s|` wide on either side, with
    :math:`\varepsilon < 1`. A missing value is near to missing values only. Differences of decimals are exact.

    The level is the share of records in the fullest neighbourhood, the threshold :math:`1/m`. O(d log d) for a group
    with d different numbers.

    **Not monotone**: {0, 100} and {-1, 1} satisfy (1, 2)-anonymity; pooled, three of four numbers are near to 0.

    Differs from the paper in: nothing; it defines the relative form for positive numbers, where :math:`|s| = s`.

    References
    ----------
    .. [LiTX08] Li, Tao, Xiao. "Preservation of proximity privacy in publishing numerical sensitive data." SIGMOD 2008.
    """

    name: ClassVar = "epsilon-m-anonymity"
    title: ClassVar = "(epsilon, m)-anonymity"
    sense: ClassVar = "at most"
    monotone: ClassVar = False
    absorbing: ClassVar = False
    card: ClassVar = Card(
        protects_from="proximity: guessing a number to within epsilon is right at most once in m times.",
        does_not="combine with algorithms that rely on pooling groups safely; it needs one that checks whole releases.",
        typical="m = 2 to 5, epsilon a difference that does not matter, such as 1000 for an income.",
        cost="high where many people have about the same number.",
    )

    epsilon: float = param(doc="How far apart two numbers may be and still count as near.", ge=0, example=100)
    m: int = param(doc="One over the largest share of a group that may be near to one of its numbers.", ge=1, example=2)
    relative: bool = param(False, doc="Take epsilon as a share of the number instead of a difference.")

    def __post_init__(self) -> None:
        """Check the parameters; a neighbourhood as wide as the number itself would hold all smaller ones."""
        super().__post_init__()
        if self.relative and self.epsilon >= 1:
            raise JobError(
                "E110",
                f"a relative 'epsilon' is a share of the number, below 1, got {stated(self.epsilon)}",
                hint=assignment("epsilon", 0.1),
            )

    @property
    def threshold(self) -> float:
        """The largest share allowed."""
        return 1.0 / self.m

    @property
    def measured_by(self) -> Measure:
        """Differences are those of numbers."""
        return "numbers"

    @property
    def min_size(self) -> int:
        """Every number is near to itself."""
        return self.m

    @property
    def asked(self) -> str:
        """The promise in short."""
        near = f"{stated(self.epsilon)} times the number" if self.relative else f"{stated(self.epsilon)}"
        return f"share within {near} ≤ 1/{self.m}"

    def _neighbourhoods(self, domain: Domain) -> tuple[Codes, Codes]:
        """The smallest and the largest code near to each code."""
        position: NDArray[Any] = numbers(self, domain)
        reach: NDArray[Any] = self.epsilon * (np.abs(position) if self.relative else np.ones(domain.size))
        if domain.decimals is not None:
            position, power = domain.decimals
            epsilon = as_fraction(self.epsilon)
            scale = np.abs(position) if self.relative else np.full(domain.size, power)
            # Differences are whole numbers, so that only the whole part of what is near counts.
            reach = np.minimum(times(scale, epsilon.numerator) // epsilon.denominator, 1 << 62).astype(np.int64)
        known = position[: domain.size - 1] if domain.missing >= 0 else position
        first = np.searchsorted(known, position - reach, side="left").astype(np.int32)
        last = (np.searchsorted(known, position + reach, side="right") - 1).astype(np.int32)
        if domain.missing >= 0:
            first[domain.missing] = last[domain.missing] = domain.missing
        return first, last

    def _nearest(self, stats: GroupStats) -> Counts:
        """The number of records in the fullest neighbourhood of each group."""
        h = stats.histograms[self.column]
        first, last = self._neighbourhoods(h.domain)
        near: Counts = fullest_windows(h.indptr, h.codes, h.counts, h.indptr, first[h.codes], last[h.codes])
        return near

    def level(self, stats: GroupStats) -> Floats:
        """The share of the fullest neighbourhood of each group."""
        share: Floats = self._nearest(stats) / np.maximum(stats.size, 1)
        return share

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it, in integers."""
        return (times(self._nearest(stats), self.m) <= stats.size).astype(np.bool_)

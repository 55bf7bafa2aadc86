"""Confidence bounding, also known as l+-diversity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, SensitiveCriterion, as_fraction, no_entry, sizes_of_entries, times
from tarnkappe.criteria.projection import on_part, projected
from tarnkappe.criteria.values import require_named
from tarnkappe.errors import JobError
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.tally import Domain
from tarnkappe.wording import stated

#: `min_size` looks no further than this; it need only be a lower bound.
_LARGEST_MIN_SIZE = 10_000


@dataclass(frozen=True)
class ConfidenceBounding(SensitiveCriterion):
    r"""No sensitive value makes up more of a group than the bound that is set for this value.

    .. math:: |\{r \in G : r[S] = s\}| \le h_s \, |G| \text{ for every } s

    `bounds` gives values a bound of their own, `bound` is that of all others; 1 leaves a value free. The level is the
    largest share in units of its bound, so it must be at most 1. Comparisons are made in integers. O(values present in
    the groups).

    With `x` it speaks of an attacker who knows no more than these quasi-identifiers: groups that publish the same there
    are counted as one. Several of them, each with an `x` of its own, are the templates ``<X → s, h>`` of the paper.

    This is also l+-diversity, which says :math:`1/l_s` instead of :math:`h_s`; ``1/3`` is taken as one third exactly.
    One bound for all values is frequency l-diversity.

    >>> ConfidenceBounding("illness", {"HIV": 0.1}, x=("job", "city")).asked
    'share over bound ≤ 1 (HIV 0.1) by job, city'

    Differs from the paper in: values without a template may have a bound too.

    References
    ----------
    .. [WaFY07] Wang, Fung, Yu. "Handicapping attacker's confidence: an alternative to k-anonymization." Knowledge and
       Information Systems 11(3), 2007.
    .. [LiWa10] Liu, Wang. "On optimal anonymization for l+-diversity." ICDE 2010.
    """

    name: ClassVar = "confidence-bounding"
    title: ClassVar = "confidence bounding (l+-diversity)"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    card: ClassVar = Card(
        protects_from="inferring a delicate value with more confidence than you allow for that value.",
        does_not="protect values without a bound, or stop similar meanings.",
        typical="0.1 to 0.2 for delicate values, more for the others; never less than the share in the table.",
        cost="low when only rare values have a strict bound.",
    )

    bounds: Mapping[str, float] = param(
        {}, doc="Largest share of each of these values in a group.", gt=0, le=1, example="{VALUE: 0.1}"
    )
    bound: float = param(1.0, doc="Largest share of every other value; 1 leaves them free.", gt=0, le=1)
    x: tuple[str, ...] = param(
        (), doc="The quasi-identifiers that the attacker knows; all of them if not given.", refers_to="quasi"
    )

    def __post_init__(self) -> None:
        """Check the parameters; something must be bounded."""
        super().__post_init__()
        if min([self.bound, *self.bounds.values()]) == 1:
            raise JobError(
                "E110",
                f"{self.name} bounds no value of '{self.column}'",
                hint=f"- {self.name}: {{column: {self.column}, bounds: {{HIV: 0.1}}}}",
            )
        if self.x and self.know_others:
            raise JobError(
                "E110",
                f"{self.name} cannot have an attacker who knows {', '.join(self.x)} only, and other sensitive columns",
                hint="Leave out x or know_others, or declare the other sensitive columns as quasi-identifiers.",
            )

    @property
    def threshold(self) -> float:
        """A value may fill its bound, and no more."""
        return 1.0

    @cached_property
    def min_size(self) -> int:
        """The smallest number of records that can be dealt out to values within their bounds.

        Who knows only `x` takes several groups for one, so that no group need have so many by itself.
        """
        if self.x:
            return 1
        named = [as_fraction(bound) for bound in self.bounds.values()]
        others = as_fraction(self.bound)
        largest = min(math.ceil(1 / others), _LARGEST_MIN_SIZE)
        enough = (n for n in range(1, largest) if sum(math.floor(bound * n) for bound in named) >= n)
        return next(enough, largest)

    @property
    def enough_different(self) -> int:
        """Enough for one record to be no larger share than the strictest bound."""
        return math.ceil(1 / min(as_fraction(bound) for bound in (self.bound, *self.bounds.values())))

    @property
    def asked(self) -> str:
        """The promise in short."""
        parts = [f"{value} {stated(bound)}" for value, bound in self.bounds.items()]
        if self.bound < 1:
            parts.append(f"{'others' if parts else 'every value'} {stated(self.bound)}")
        return f"share over bound ≤ 1 ({', '.join(parts)}){on_part(self.x)}"

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse bounds for values that the column does not have."""
        require_named(self, "bounds", self.bounds, domains[self.column])

    def _limits(self, domain: Domain) -> list[Fraction]:
        """The bound of every code."""
        limits = [as_fraction(self.bound)] * domain.size
        for value, bound in self.bounds.items():
            if value in domain.code_of:
                limits[domain.code_of[value]] = as_fraction(bound)
        return limits

    def level(self, stats: GroupStats) -> Floats:
        """The largest share of a value, in units of its bound."""
        known, part = projected(stats, self.x, self.columns)
        h = known.histograms[self.column]
        limits = np.array(self._limits(h.domain), np.float64)
        filled = h.counts / (sizes_of_entries(known, h) * limits[h.codes])
        return reduce_groups(np.maximum, filled, h.indptr)[part]

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it, in integers: all bounds are brought to one denominator."""
        known, part = projected(stats, self.x, self.columns)
        h = known.histograms[self.column]
        limits = self._limits(h.domain)
        denominator = math.lcm(*{limit.denominator for limit in limits})
        fits = int(known.size.max(initial=0)) * denominator < 1 << 63
        allowed = np.array([int(limit * denominator) for limit in limits], np.int64 if fits else object)
        beyond = times(h.counts, denominator) > allowed[h.codes] * sizes_of_entries(known, h)
        return no_entry(beyond, h)[part]

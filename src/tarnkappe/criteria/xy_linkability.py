"""(X, Y)-linkability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.criteria.projection import on_part, projected
from tarnkappe.criteria.values import require_named
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.tally import Domain, distinct_rows
from tarnkappe.wording import stated


@dataclass(frozen=True)
class XYLinkability(Criterion):
    r"""From the quasi-identifiers in X nobody can infer a value of Y with more confidence than ``h``.

    .. math:: \frac{|\{r \in G : r[Y] = y\}|}{|G|} \le h

    for all records of the same published values in X, and for the named `value` or, without one, for every value. Given
    the key of a person (`subject`), people are counted instead of records: those who have the value in some record of
    the group, among all people of the group. Compared as exact fractions.

    Counted by records it is a template ``<X → y, h>`` of confidence bounding.

    Counted by records it is monotone. Counted by people it is not: two people may have the value in one of two groups
    each, and both of them in the union.

    Differs from the paper in: the value of Y is that of a single column.

    References
    ----------
    .. [WaFu06] Wang, Fung. "Anonymizing sequential releases." KDD 2006.
    .. [WaFY07] Wang, Fung, Yu. "Handicapping attacker's confidence: an alternative to k-anonymization." Knowledge and
       Information Systems 11(3), 2007.
    """

    name: ClassVar = "xy-linkability"
    title: ClassVar = "(X, Y)-linkability"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    protects: ClassVar = frozenset({"secret"})
    card: ClassVar = Card(
        protects_from="inferring a delicate value from what is known about a person, with more confidence than h.",
        does_not="protect other values than the named one, or people who are singled out: add k-anonymity.",
        typical="0.1 to 0.5 for a delicate value; never less than its share in the table.",
        cost="low for a rare value and few known quasi-identifiers, high if every value is meant.",
    )

    y: str = param(doc="The sensitive column.", refers_to="sensitive", example="NAME")
    h: float = param(doc="Largest confidence with which a value may be inferred.", gt=0, le=1, example=0.5)
    value: str | None = param(
        None, doc="The value that must not be inferred; every value if not given.", refers_to="value"
    )
    x: tuple[str, ...] = param(
        (), doc="The quasi-identifiers that the attacker knows; all of them if not given.", refers_to="quasi"
    )
    subject: str | None = param(
        None, doc="The key of a person, to count people instead of records.", refers_to="person"
    )

    @property
    def needs_joint(self) -> bool:
        """People are counted per value."""
        return self.subject is not None

    @property
    def is_monotone(self) -> bool:
        """Counted by records only."""
        return self.subject is None

    @property
    def threshold(self) -> float:
        """The largest confidence."""
        return self.h

    @property
    def asked(self) -> str:
        """The promise in short."""
        what = "any value" if self.value is None else f"'{self.value}'"
        return f"confidence in {what}{on_part(self.x)} ≤ {stated(self.h)}"

    @property
    def min_size(self) -> int:
        """Every record has some value, which needs others beside it."""
        return 1 if self.value is not None or self.x else math.ceil(1 / as_fraction(self.h))

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse a value that the column does not have: a misspelt one would protect nothing."""
        if self.value is not None:
            require_named(self, "value", [self.value], domains[self.y])

    def level(self, stats: GroupStats) -> Floats:
        """The largest confidence for what each group publishes in X."""
        having, total, part = self._counts(stats)
        confidence: Floats = (having / np.maximum(total, 1))[part]
        return confidence

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it, in whole numbers."""
        having, total, part = self._counts(stats)
        most = as_fraction(self.h)
        within = times(having, most.denominator) <= times(total, most.numerator)
        return within.astype(np.bool_)[part]

    def _counts(self, stats: GroupStats) -> tuple[Counts, Counts, Codes]:
        """Per pool of groups: who has the (commonest) value, and everybody; and the pool of each group."""
        known, part = projected(stats, self.x, self.columns)
        histogram = known.histograms[self.y]
        group, code, count, total = _entries(histogram.indptr), histogram.codes, histogram.counts, known.size
        if self.subject is not None:
            group, code, count = _people_per_value(known, self.y, self.subject)
            total = np.diff(known.histograms[self.subject].indptr)
        if self.value is not None:
            count = np.where(code == histogram.domain.code_of.get(self.value, -1), count, 0)
        indptr = np.searchsorted(group, np.arange(known.n_groups + 1))
        return reduce_groups(np.maximum, count, indptr), total, part


def _entries(indptr: Counts) -> Counts:
    """The group of each entry of compressed rows."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def _people_per_value(stats: GroupStats, column: str, subject: str) -> tuple[Counts, Codes, Counts]:
    """How many people have each value in each group: group, value and people, in ascending order."""
    joint = stats.joint
    assert joint is not None, "statistics were made without the joint distribution"
    at = [joint.columns.index(name) for name in (column, subject)]
    value, person = (joint.values[joint.codes, i] for i in at)
    sizes = [stats.n_groups, *(joint.domains[i].size for i in at)]
    group = _entries(joint.indptr)
    _, once = distinct_rows([group, value, person], sizes)  # a person counts once per group and value
    rank, first = distinct_rows([group[once], value[once]], sizes[:2])
    return group[once][first], value[once][first], np.bincount(rank, minlength=len(first))

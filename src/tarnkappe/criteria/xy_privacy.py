"""(X, Y)-privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.criteria.xy_linkability import XYLinkability
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.tally import Domain


@dataclass(frozen=True)
class XYPrivacy(Criterion):
    r"""(X, Y)-anonymity and (X, Y)-linkability at once.

    What is published in X is linked to at least ``k`` different values of Y, and no value of the sensitive column can
    be inferred from it with more confidence than ``h``. If Y is the key of a person, the confidence counts people too.

    The level is the confidence; where fewer than k values of Y are linked it is ``2 - distinct / k``, above every h.

    Not monotone where people are counted, for the reason that (X, Y)-linkability gives.

    Differs from the paper in: the two halves may speak about different columns, such as people and their illness. With
    ``y`` and ``column`` the same it is the paper's.

    References
    ----------
    .. [WaFu06] Wang, Fung. "Anonymizing sequential releases." KDD 2006.
    """

    name: ClassVar = "xy-privacy"
    title: ClassVar = "(X, Y)-privacy"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    protects: ClassVar = frozenset({"identity", "secret"})
    card: ClassVar = Card(
        protects_from="being singled out among fewer than k people, and having a delicate value inferred with more "
        "confidence than h, where a person has several records.",
        does_not="stop similar meanings, or what the whole table reveals.",
        typical="k 5 and h 0.2 to 0.5.",
        cost="moderate to high.",
    )

    y: str = param(
        doc="The column whose different values are counted, usually that with role subject.",
        refers_to="counted",
        example="NAME",
    )
    k: int = param(doc="Smallest number of different values of y.", ge=1, example=5)
    column: str = param(doc="The sensitive column.", refers_to="sensitive", example="NAME")
    h: float = param(doc="Largest confidence with which a sensitive value may be inferred.", gt=0, le=1, example=0.5)
    value: str | None = param(
        None, doc="The value that must not be inferred; every value if not given.", refers_to="value"
    )
    x: tuple[str, ...] = param(
        (), doc="The quasi-identifiers that the attacker knows; all of them if not given.", refers_to="quasi"
    )

    @cached_property
    def anonymity(self) -> XYAnonymity:
        """The half that counts values of Y."""
        return XYAnonymity(self.y, self.k, self.x)

    @cached_property
    def linkability(self) -> XYLinkability:
        """The half that bounds confidence."""
        return XYLinkability(self.column, self.h, self.value, self.x, None if self.y == self.column else self.y)

    @property
    def needs_joint(self) -> bool:
        """As its second half."""
        return self.linkability.needs_joint

    @property
    def is_monotone(self) -> bool:
        """As its second half."""
        return self.linkability.is_monotone

    @property
    def threshold(self) -> float:
        """The largest confidence."""
        return self.h

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"{self.anonymity.asked} and {self.linkability.asked}"

    @property
    def min_size(self) -> int:
        """What both halves need."""
        return max(self.anonymity.min_size, self.linkability.min_size)

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse a value that the column does not have."""
        self.linkability.require_values(domains)

    def level(self, stats: GroupStats) -> Floats:
        """The confidence; above 1 where too few values of Y are linked."""
        distinct = self.anonymity.level(stats)
        return np.where(distinct >= self.k, self.linkability.level(stats), 2 - distinct / self.k)

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy both halves."""
        return self.anonymity.holds(stats) & self.linkability.holds(stats)

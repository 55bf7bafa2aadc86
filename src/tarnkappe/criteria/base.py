"""What every privacy criterion is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.groups import GroupStats, Histogram
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import Declared, param, referring
from tarnkappe.publish.form import Secret
from tarnkappe.tally import Domain
from tarnkappe.wording import count

Scope = Literal["group", "projection", "table", "method", "mechanism"]

#: How a level compares with what is asked for.
Sense = Literal["at least", "at most", "below"]

#: What tells how far apart two values of a sensitive column are: whether they are the same, their order, their numbers,
#: or their taxonomy.
Measure = Literal["names", "order", "numbers", "taxonomy"]


@dataclass(frozen=True)
class Card:
    """Plain words about a criterion, for `tarnkappe explain`, the report and the docs."""

    protects_from: str
    does_not: str
    typical: str
    cost: str


@dataclass(frozen=True)
class Verdict:
    """What a criterion asked for, what the worst group reached, and whether that is enough."""

    criterion: str
    column: str | None
    asked: str
    reached: float
    ok: bool
    violating_groups: int


@dataclass(frozen=True)
class Supply:
    """How many of what a parameter asks for a table has."""

    parameter: str
    there: int
    of: str


@dataclass(frozen=True)
class Criterion(Declared, ABC):
    """A promise about every group of a release.

    A subclass is a frozen dataclass in a file of its own. It declares its parameters with `param`, says how its level
    is computed for all groups at once, and states two facts that search algorithms rely on and tests check:

    `monotone`
        pooling two groups that satisfy the criterion gives a group that satisfies it;
    `absorbing`
        a group that satisfies it still does whatever is pooled into it (needed to prune searches with suppression).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    #: How a level compares with the threshold: ``level >= t``, ``level <= t`` or ``level < t``.
    sense: ClassVar[Sense]
    monotone: ClassVar[bool]
    absorbing: ClassVar[bool]
    card: ClassVar[Card]
    #: What an attacker does not find out: which record is a person's, whether a person is in the data, or what is
    #: sensitive about a person. A form that publishes just that cannot keep the promise (see `Form.hides`).
    protects: ClassVar[frozenset[Secret]] = frozenset({"identity"})
    #: Whether a group satisfies the criterion exactly when it has `min_size` records.
    decided_by_size: ClassVar[bool] = False
    #: What decides: each group by itself, groups pooled by a part of their labels, or all groups of the table together.
    #: In the last two cases `satisfied` says which groups would have to be suppressed. "mechanism": how the release was
    #: made decides, and no look at the groups can; only algorithms that are such a mechanism accept it. "method":
    #: groups show a part of it, and how they were formed is the rest; only algorithms that form them so accept it.
    scope: ClassVar[Scope] = "group"
    #: Whether groups are compared with the distribution of the whole table, which suppression shifts.
    compares_with_table: ClassVar[bool] = False
    #: Whether it needs the people of a public table (`GroupStats.population`).
    needs_population: ClassVar[bool] = False
    #: Whether everybody in the data must stand in the public table.
    needs_everybody: ClassVar[bool] = False

    @abstractmethod
    def level(self, stats: GroupStats) -> Floats:
        """One number per group: how strongly it is protected, or how badly exposed (see `sense`)."""

    @property
    @abstractmethod
    def threshold(self) -> float:
        """What the level is compared with."""

    @property
    def min_size(self) -> int:
        """The smallest group that could possibly satisfy the criterion; lets algorithms skip hopeless ones."""
        return 1

    @property
    def enough_different(self) -> int | None:
        """So many records, no two with the same value of the sensitive column, satisfy it; None if no number does.

        Lets algorithms form groups that need not be asked about. More such records satisfy it too.
        """
        return None

    @property
    def enough_apart(self) -> tuple[int, float] | None:
        """So many different numbers, spread over so wide a range, satisfy it; None if that does not decide.

        Lets algorithms form groups along the numbers of the sensitive column that need not be asked about.
        """
        return None

    @property
    def sampling(self) -> float:
        """With which probability a record may take part in the release at all; below 1 only for a mechanism."""
        return 1.0

    @property
    def sensitive_column(self) -> str | None:
        """The sensitive column it looks at, if any."""
        return next(iter(referring(self, "sensitive")), None)

    @property
    def measured_by(self) -> Measure:
        """What must be known about the values of the sensitive column, besides which of them are the same."""
        return "names"

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns whose values must be counted for it, besides the quasi-identifiers."""
        return referring(self, "sensitive", "person", "counted")

    @property
    def person_column(self) -> str | None:
        """The key of persons by which it counts them, if a person may have several records and still be one."""
        return next(iter(referring(self, "person")), None)

    @property
    def number_columns(self) -> tuple[str, ...]:
        """Those of the counted columns, besides the sensitive one, whose numbers it computes with, such as weights."""
        return ()

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers an attacker is assumed to know; none means all of them."""
        return referring(self, "quasi")

    @property
    def centre_column(self) -> str | None:
        """The quasi-identifier whose published numbers it compares with those of records (`GroupStats.distances`)."""
        return None

    @property
    def decided_on(self) -> Scope:
        """What decides about this criterion, with its parameters (see `scope`)."""
        return "projection" if self.quasi_identifiers else self.scope

    @property
    def needs_joint(self) -> bool:
        """Whether it needs the joint distribution of the counted columns (`GroupStats.joint`)."""
        return self.others_known

    @property
    def others_known(self) -> bool:
        """Whether the attacker is assumed to know the other sensitive columns."""
        return bool(getattr(self, "know_others", False))

    @property
    def judges_empty_groups(self) -> bool:
        """Whether it also speaks about people of a public table who are not in the data: nothing can be suppressed."""
        return False

    @property
    def compared(self) -> Sense:
        """How a level of this criterion, with its parameters, compares with the threshold."""
        return self.sense

    @property
    def is_monotone(self) -> bool:
        """Whether this criterion, with its parameters, is monotone."""
        return self.monotone

    @property
    def is_absorbing(self) -> bool:
        """Whether this criterion, with its parameters, is absorbing: whoever knows the others sees new parts appear."""
        return self.absorbing and not self.others_known and self.decided_on == "group"

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse parameters that name what the data do not have; `domains` are those of the counted columns."""

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy the criterion; overridden where integers decide more exactly than floats."""
        level = self.level(stats)
        if self.compared == "at least":
            return level >= self.threshold
        return level <= self.threshold if self.compared == "at most" else level < self.threshold

    def satisfied(self, stats: GroupStats) -> Flags:
        """Which groups satisfy the criterion, with the other sensitive columns known to the attacker if asked."""
        if not self.others_known:
            return self.holds(stats)
        assert self.sensitive_column is not None
        parts, owner = stats.refined(self.sensitive_column)
        ok = np.ones(stats.n_groups, np.bool_)
        ok[owner[~self.holds(parts)]] = False
        return ok

    def least_suppressed(self, stats: GroupStats) -> Counts:
        """How many records of each group must be suppressed at least, however the group is divided further.

        Lets searches rule out all specialisations of a release. If a criterion is absorbing, no part of a group that
        violates it satisfies it. If it is monotone, the parts that are kept satisfy it together; criteria that can say
        how large such a remainder is override this.
        """
        lost = ~self.satisfied(stats) if self.is_absorbing else np.zeros(stats.n_groups, np.bool_)
        return np.where(lost, stats.size, 0)

    def worst_level(self, stats: GroupStats) -> float:
        """The level of the most exposed group."""
        if self.others_known:
            assert self.sensitive_column is not None
            stats, _ = stats.refined(self.sensitive_column)
        level = self.level(stats)
        return float(level.min() if self.compared == "at least" else level.max())

    @property
    def asked(self) -> str:
        """The promise in short, such as ``k >= 5``."""
        sign = {"at least": "≥", "at most": "≤", "below": "<"}[self.compared]
        whole = float(self.threshold).is_integer()
        return f"{self.name} {sign} {count(int(self.threshold)) if whole else format(self.threshold, 'g')}"

    def supply(self, everyone: GroupStats) -> Supply | None:
        """What a parameter asks for that no level can tell of: how many of it all records in one group have.

        Where there are fewer than asked for, nothing can satisfy the criterion, whatever its threshold.
        """
        return None

    def verdict(self, stats: GroupStats) -> Verdict:
        """Compare every group with the threshold."""
        ok = self.satisfied(stats)
        return Verdict(
            self.name,
            self.sensitive_column,
            self.asked,
            self.worst_level(stats) if stats.n_groups else float("nan"),
            bool(ok.all()),
            int((~ok).sum()),
        )


def sizes_of_entries(stats: GroupStats, h: Histogram) -> NDArray[np.int64]:
    """The size of the group that each entry of a histogram belongs to."""
    return np.repeat(stats.size, np.diff(h.indptr))


def no_entry(bad: NDArray[Any], h: Histogram) -> Flags:
    """Which groups have no entry of a histogram that is bad."""
    found = reduce_groups(np.logical_or, bad.astype(np.bool_), h.indptr)
    return ~found.astype(np.bool_)


def as_fraction(number: float) -> Fraction:
    """The number that a person meant: the decimal as it is written, or the simple fraction that it stands for.

    >>> as_fraction(0.07), as_fraction(1 / 3)
    (Fraction(7, 100), Fraction(1, 3))
    """
    simple = Fraction(number).limit_denominator(1000)
    return simple if float(simple) == number else Fraction(str(number))


def times(counts: NDArray[Any], factor: int | NDArray[Any]) -> NDArray[Any]:
    """Counts times a whole number each, exactly: in Python's own integers where 64 bits could not hold the products.

    >>> times(np.array([2, 3]), 5).tolist(), times(np.array([2]), 10**30).tolist() == [2 * 10**30]
    ([10, 15], True)
    >>> times(np.array([10**12]), np.array([10**12])).tolist() == [10**24]
    True
    """
    largest = factor if isinstance(factor, int) else int(factor.max(initial=0))
    fits = int(counts.max(initial=0)) * largest < 1 << 63
    return counts * factor if fits else counts.astype(object) * factor


@dataclass(frozen=True)
class SensitiveCriterion(Criterion):
    """A criterion about the values of one sensitive column."""

    protects: ClassVar = frozenset({"secret"})

    column: str = param(doc="The sensitive column.", refers_to="sensitive", example="NAME")
    know_others: bool = param(
        False,
        doc="Treat the other sensitive columns as known to the attacker (part of the quasi-identifier).",
        kw_only=True,
    )

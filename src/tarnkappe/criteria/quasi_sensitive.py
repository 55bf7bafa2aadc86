"""Quasi-sensitive attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.criteria.values import require_somewhere
from tarnkappe.errors import JobError
from tarnkappe.fixes import assignment
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.tally import Domain
from tarnkappe.wording import stated

#: What stands between the values of a rule, and before what they reveal.
_AND, _REVEALS = " + ", " -> "


@dataclass(frozen=True)
class QuasiSensitive(Criterion):
    r"""Values that are harmless by themselves reveal no secret of more than one in ``l`` people of a group.

    .. math:: |\{r \in G : r \text{ reveals } s\}| \cdot l \le |G|

    for every group :math:`G` and every secret :math:`s` of the `reveals` rules. A drug is nothing to hide, but whoever
    looks it up knows the illness. Rules say what outsiders can look up: ``insulin -> diabetes``, or for values that
    only together tell it, ``fever + cough -> flu``. A record reveals a secret if it has all values of one of its rules,
    in whichever of the quasi-sensitive columns (`beside`) they stand. The secret itself need not be in the data.

    >>> QuasiSensitive(("drug",), ("insulin -> diabetes", "metformin -> diabetes"), 2).secrets
    {'diabetes': [('insulin',), ('metformin',)]}

    Monotone: the share in a union lies between the two shares. O(rules · combinations of values).

    Differs from the paper in: it is the frequency form of QS l-diversity, with every fitting rule believed. QS
    t-closeness is left out. Quasi-sensitive values are not suppressed one by one; quasi-identifiers are coarsened
    instead.

    References
    ----------
    .. [ShXF10] Shi, Xiong, Fung. "Anonymizing data with quasi-sensitive attribute values." CIKM 2010.
    """

    name: ClassVar = "quasi-sensitive"
    title: ClassVar = "quasi-sensitive attributes"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    protects: ClassVar = frozenset({"secret"})
    card: ClassVar = Card(
        protects_from="looking up harmless values, such as a drug, to find out what is sensitive about a person.",
        does_not="know more of the world than the rules say; a rule that is missing protects nobody.",
        typical="2 to 5.",
        cost="low for rules about rare values.",
    )

    beside: tuple[str, ...] = param(
        doc="The quasi-sensitive columns.",
        refers_to="sensitive",
        example=("NAME",),
        samples=(("disease",), ("disease", "income")),
    )
    reveals: tuple[str, ...] = param(
        doc="Rules such as 'insulin -> diabetes' or 'fever + cough -> flu'.",
        example=("insulin -> diabetes",),
        samples=(("value 1 -> x",), ("value 0 -> x", "value 2 -> x", "value 1 + value 3 -> y")),
    )
    l: float = param(doc="At most one in so many records of a group may reveal the same.", ge=1, example=2)  # noqa: E741

    def __post_init__(self) -> None:
        """Refuse rules that cannot be read."""
        super().__post_init__()
        if not self.beside or not self.reveals:
            what, such = ("reveals", "insulin -> diabetes") if self.beside else ("beside", "NAME")
            raise JobError("E110", f"'{what}' of {self.name} is empty", hint=assignment(what, [such]))
        for rule in self.reveals:
            left, arrow, secret = rule.partition(_REVEALS)
            if not (arrow and secret.strip() and all(value.strip() for value in left.split(_AND))):
                raise JobError(
                    "E110",
                    f"a rule of {self.name} cannot be read: '{rule}'",
                    hint='reveals: ["insulin -> diabetes", "fever + cough -> flu"]',
                )

    @property
    def secrets(self) -> dict[str, list[tuple[str, ...]]]:
        """What is revealed, and the values that reveal it together."""
        out: dict[str, list[tuple[str, ...]]] = {}
        for rule in self.reveals:
            left, _, secret = rule.partition(_REVEALS)
            out.setdefault(secret.strip(), []).append(tuple(value.strip() for value in left.split(_AND)))
        return out

    @property
    def threshold(self) -> float:
        """One in l."""
        return 1 / self.l

    @property
    def needs_joint(self) -> bool:
        """Values of several columns reveal something together."""
        return True

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"records that reveal the same ≤ 1 in {stated(self.l)}"

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse a rule about a value that no column has: a misspelt one would protect nothing."""
        named = [value for rules in self.secrets.values() for values in rules for value in values]
        require_somewhere(self, "reveals", named, [domains[name] for name in self.beside])

    def level(self, stats: GroupStats) -> Floats:
        """The largest share of records that reveal the same secret, in each group."""
        worst = np.zeros(stats.n_groups)
        for revealing in self._revealing(stats):
            worst = np.maximum(worst, revealing / np.maximum(stats.size, 1))
        return worst

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it, in whole numbers."""
        l = as_fraction(self.l)  # noqa: E741
        ok = np.ones(stats.n_groups, np.bool_)
        for revealing in self._revealing(stats):
            within = times(revealing, l.numerator) <= times(stats.size, l.denominator)
            ok &= within.astype(np.bool_)
        return ok

    def _revealing(self, stats: GroupStats) -> Iterator[Counts]:
        """For every secret, how many records of each group reveal it."""
        joint = stats.joint
        assert joint is not None, "statistics were made without the joint distribution"
        places = [joint.columns.index(name) for name in self.beside]
        group = np.repeat(np.arange(stats.n_groups), np.diff(joint.indptr))

        def has(value: str) -> Flags:
            """Which combinations have a value in one of the columns."""
            found = np.zeros(len(joint.values), np.bool_)
            for i in places:
                if value in joint.domains[i].code_of:
                    found |= joint.values[:, i] == joint.domains[i].code_of[value]
            return found

        for rules in self.secrets.values():
            match = np.any([np.all([has(value) for value in values], axis=0) for values in rules], axis=0)
            kept = match[joint.codes]
            revealing = np.zeros(stats.n_groups, np.int64)
            np.add.at(revealing, group[kept], joint.counts[kept])
            yield revealing

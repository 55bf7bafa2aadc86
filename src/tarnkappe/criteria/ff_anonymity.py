"""FF-anonymity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.criteria.values import require_somewhere
from tarnkappe.errors import JobError
from tarnkappe.fixes import assignment
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.tally import Domain, distinct_rows
from tarnkappe.wording import stated

#: More columns have too many parts that somebody may know.
_MOST_COLUMNS = 10


@dataclass(frozen=True)
class FFAnonymity(Criterion):
    r"""Values are sensitive, not columns: whatever observable values are known, no guarded one is inferred above ``c``.

    .. math:: \frac{|\{r \in G : r \text{ has } X \text{ and } y\}|}{|\{r \in G : r \text{ has } X\}|} \le c

    for every group :math:`G`, every set :math:`X` of observable values in `freeform` columns, and every guarded value
    :math:`y` in another of them. A column such as an illness holds both: a broken leg is seen by everybody and helps to
    find a person, HIV is what must not be found out. The guarded `values` are named; all others may be known, any part
    of them. Labels of the quasi-identifiers are known, too: who knows fewer of them sees unions of groups, which say
    less.

    >>> FFAnonymity(("illness",), ("HIV",), 0.5).asked
    'confidence in a guarded value, others known, ≤ 0.5'

    O(2^d · combinations) for d columns. Monotone: what is known divides a union into unions of parts.

    Differs from the paper in: observable values that would betray somebody are hidden by coarsening the
    quasi-identifiers and by leaving records out. The paper suppresses observable values one by one.

    References
    ----------
    .. [WXFW09] Wang, Xu, Fu, Wong. "FF-anonymity: when quasi-identifiers are missing." ICDE 2009.
    """

    name: ClassVar = "ff-anonymity"
    title: ClassVar = "FF-anonymity"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    protects: ClassVar = frozenset({"secret"})
    card: ClassVar = Card(
        protects_from="inferring a guarded value from the harmless values that stand in the same columns, such as one "
        "illness from another that everybody sees.",
        does_not="protect values that are not named, or people who are singled out: add k-anonymity.",
        typical="0.1 to 0.5, and never less than the share of a guarded value in the table.",
        cost="high if many columns hold both: whatever is not guarded counts as known.",
    )

    freeform: tuple[str, ...] = param(
        doc="Sensitive columns whose values are guarded or observable.",
        refers_to="sensitive",
        example=("NAME",),
        samples=(("disease",), ("disease", "income")),
    )
    values: tuple[str, ...] = param(
        doc="The values that nobody may infer; all others may be known.",
        refers_to="value",
        example=("HIV",),
        samples=(("value 1",), ("value 0", "value 2")),
    )
    c: float = param(doc="Largest confidence with which a guarded value may be inferred.", gt=0, le=1, example=0.5)

    def __post_init__(self) -> None:
        """Refuse what says nothing, or takes for ever."""
        super().__post_init__()
        if not self.freeform or not self.values:
            what = "values" if self.freeform else "freeform"
            raise JobError("E110", f"'{what}' of {self.name} is empty", hint=assignment(what, ["NAME"]))
        if len(self.freeform) > _MOST_COLUMNS:
            raise JobError(
                "E110",
                f"{self.name} looks at all parts of at most {_MOST_COLUMNS} columns, got {len(self.freeform)}",
                hint="Name those columns only that hold guarded values; others may be quasi-identifiers.",
            )

    @property
    def threshold(self) -> float:
        """The largest confidence."""
        return self.c

    @property
    def needs_joint(self) -> bool:
        """What is known in one column narrows down the others."""
        return True

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"confidence in a guarded value, others known, ≤ {stated(self.c)}"

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse a value that no column has: a misspelt one would protect nothing."""
        require_somewhere(self, "values", self.values, [domains[name] for name in self.freeform])

    def level(self, stats: GroupStats) -> Floats:
        """The largest confidence in each group."""
        worst = np.zeros(stats.n_groups)
        for group, having, known in self._parts(stats):
            np.maximum.at(worst, group, having / known)
        return worst

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it, in whole numbers."""
        most = as_fraction(self.c)
        ok = np.ones(stats.n_groups, np.bool_)
        for group, having, known in self._parts(stats):
            sure = times(having, most.denominator) > times(known, most.numerator)
            ok[group[sure.astype(np.bool_)]] = False
        return ok

    def _parts(self, stats: GroupStats) -> Iterator[tuple[Counts, Counts, Counts]]:
        """Per set of known columns, and other column: the group of each part, who has its commonest guarded value."""
        joint = stats.joint
        assert joint is not None, "statistics were made without the joint distribution"
        places = [joint.columns.index(name) for name in self.freeform]
        code = [joint.values[joint.codes, i] for i in places]
        guarded = [_codes_of(self.values, joint.domains[i])[column] for i, column in zip(places, code, strict=True)]
        sizes = [joint.domains[i].size for i in places]
        group = np.repeat(np.arange(stats.n_groups), np.diff(joint.indptr))
        columns = range(len(places))
        for n_known in range(len(places)):
            for known in combinations(columns, n_known):
                seen = ~np.any([guarded[j] for j in known], axis=0) if known else np.ones(len(group), np.bool_)
                if not seen.any():
                    continue
                keys = [group[seen], *(code[j][seen] for j in known)]
                part, first = distinct_rows(keys, [stats.n_groups, *(sizes[j] for j in known)])
                count = joint.counts[seen]
                total = np.bincount(part, count).astype(np.int64)
                for j in columns:
                    if j not in known:
                        having = _commonest(part, len(first), code[j][seen], sizes[j], count, guarded[j][seen])
                        yield group[seen][first], having, total


def _codes_of(values: tuple[str, ...], domain: Domain) -> Flags:
    """Which codes of a column are guarded."""
    flags = np.zeros(domain.size, np.bool_)
    flags[[domain.code_of[value] for value in values if value in domain.code_of]] = True
    return flags


def _commonest(part: Codes, n: int, code: Codes, size: int, count: Counts, guarded: Flags) -> Counts:
    """How many records of each part have its commonest guarded value of a column."""
    if not guarded.any():
        return np.zeros(n, np.int64)
    pair, first = distinct_rows([part[guarded], code[guarded]], [n, size])
    records = np.bincount(pair, count[guarded]).astype(np.int64)
    owner = part[guarded][first]
    out = np.zeros(n, np.int64)
    np.maximum.at(out, owner, records)
    return out

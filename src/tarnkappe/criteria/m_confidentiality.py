"""m-confidentiality."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.criteria.values import require_named
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.tally import Domain
from tarnkappe.wording import stated


@dataclass(frozen=True)
class MConfidentiality(Criterion):
    r"""Nobody links a person to guarded values with more credibility than 1/``m``, even knowing how groups are formed.

    .. math:: |\{r \in G : r[S] \in V\}| \cdot m \le |G|

    for every group :math:`G` and the set :math:`V` of guarded `values`: that is what a table shows. The rest lies in
    how it was made. An algorithm that coarsens no more than it must betrays by each coarse group that something in it
    made that necessary (the minimality attack). So groups must be formed without a look at the sensitive column, and
    only an algorithm that does so accepts the criterion: MASK, which falsifies values where that leaves too many.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> illness = Domain("illness", Taxonomy.scale(["flu", "HIV"]))
    >>> group, code = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1], np.int32)
    >>> stats = GroupStats.from_cells(group, np.array([1, 1, 1, 2]), {"illness": (code, illness)})
    >>> MConfidentiality("illness", ("HIV",), 2).holds(stats).tolist()
    [True, False]

    References
    ----------
    .. [WFWP07] Wong, Fu, Wang, Pei. "Minimality attack in privacy preserving data publishing." VLDB 2007.
    """

    name: ClassVar = "m-confidentiality"
    title: ClassVar = "m-confidentiality"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    scope: ClassVar = "method"
    protects: ClassVar = frozenset({"secret"})
    card: ClassVar = Card(
        protects_from="the minimality attack: someone who knows the algorithm, and concludes from a coarse group that "
        "something in it made that necessary.",
        does_not="keep every sensitive value true: some are falsified where a group has too many guarded ones.",
        typical="2 to 5, and few guarded values that are rare.",
        cost="some false values; the groups are those of plain k-anonymity.",
    )

    column: str = param(doc="The sensitive column.", refers_to="sensitive", example="NAME")
    values: tuple[str, ...] = param(
        doc="The guarded values.", refers_to="value", example=("HIV",), samples=(("value 1",), ("value 0", "value 2"))
    )
    m: float = param(doc="At most one in so many records of a group may have a guarded value.", ge=1, example=2)

    def __post_init__(self) -> None:
        """Refuse what guards nothing: every release would keep it."""
        super().__post_init__()
        if not self.values:
            raise JobError("E110", f"'values' of {self.name} is empty", hint=Fix("values: [HIV]", 'values=["HIV"]'))

    @property
    def threshold(self) -> float:
        """One in m."""
        return 1 / self.m

    @property
    def min_size(self) -> int:
        """A group without a guarded value may be of any size."""
        return 1

    @property
    def asked(self) -> str:
        """The promise in short, as far as a table can show it."""
        return f"guarded values ≤ 1 in {stated(self.m)}, groups formed without them"

    @property
    def least_group(self) -> int:
        """The smallest group in which a guarded value may occur."""
        return math.ceil(as_fraction(self.m))

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse values that the column does not have: a misspelt one would protect nothing."""
        require_named(self, "values", list(self.values), domains[self.column])

    def guarded_codes(self, domain: Domain) -> Flags:
        """Which codes of the column are guarded."""
        flags = np.zeros(domain.size, np.bool_)
        flags[[domain.code_of[value] for value in self.values if value in domain.code_of]] = True
        return flags

    def guarded(self, stats: GroupStats) -> Counts:
        """How many records of each group have a guarded value."""
        h = stats.histograms[self.column]
        group = np.repeat(np.arange(stats.n_groups), np.diff(h.indptr))
        kept = self.guarded_codes(h.domain)[h.codes]
        found = np.zeros(stats.n_groups, np.int64)
        np.add.at(found, group[kept], h.counts[kept])
        return found

    def level(self, stats: GroupStats) -> Floats:
        """The share of guarded values in each group."""
        return self.guarded(stats) / np.maximum(stats.size, 1)

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it, in whole numbers."""
        m = as_fraction(self.m)
        return (times(self.guarded(stats), m.numerator) <= times(stats.size, m.denominator)).astype(np.bool_)

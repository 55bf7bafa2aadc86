"""Personalized privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.errors import DataError, did_you_mean
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.criteria.windows import fullest_windows
from tarnkappe.params import param
from tarnkappe.tally import Domain


@dataclass(frozen=True)
class PersonalizedPrivacy(Criterion):
    r"""Nobody is inferred to have a value under their own guarding node with more than a chance of ``p_breach``.

    Every person names a *guarding node* in the taxonomy of the sensitive column: what nobody may infer about them, such
    as "respiratory illness". It stands in the column `guard`; an empty cell means that the person does not mind. For a
    record t with guarding node :math:`g_t` in the group G

    .. math:: P_\mathrm{breach}(t) = \frac{|\{r \in G : r[S] \text{ lies under } g_t\}|}{|G|} \le p_\mathrm{breach}

    A node lies under itself, so that a single value may be guarded too. The level of a group is the largest breach
    probability of its records. Comparisons are made in integers. O(d log d) for a group with d combinations of value
    and node.

    **Not monotone**: a person at 1/2 who is pooled with a group full of the guarded value gets to 3/4.

    Differs from the paper in: covered is the *primary* case, one record per person, with sensitive values published as
    they are. The paper also treats persons with several records (the *non-primary* case), and may generalise sensitive
    values person by person; then a published value counts for the share of its leaves that lie under the node. Guarding
    nodes must not be published: they would tell an attacker whose secret is worth guarding.

    References
    ----------
    .. [XiTa06] Xiao, Tao. "Personalized privacy preservation." SIGMOD 2006.
    """

    name: ClassVar = "personalized-privacy"
    title: ClassVar = "personalized privacy"
    sense: ClassVar = "at most"
    monotone: ClassVar = False
    absorbing: ClassVar = False
    protects: ClassVar = frozenset({"secret"})
    card: ClassVar = Card(
        protects_from="inferring what each person asked to be kept secret, as finely or coarsely as they asked.",
        does_not="protect those who asked for nothing, and it says nothing about other values.",
        typical="p_breach = 0.2 to 0.5.",
        cost="low when few people guard much, high when many guard whole branches.",
    )

    column: str = param(doc="The sensitive column.", refers_to="sensitive", example="NAME")
    guard: str = param(
        doc="The column with everybody's guarding node; an empty cell guards nothing.",
        refers_to="counted",
        example="OTHER",
    )
    p_breach: float = param(
        doc="Largest chance of inferring a value under a person's guarding node.", gt=0, le=1, example=0.5
    )

    @property
    def threshold(self) -> float:
        """The p_breach."""
        return self.p_breach

    @property
    def needs_joint(self) -> bool:
        """Which guarding nodes a group has depends on both columns."""
        return True

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"chance of a breach ≤ {self.p_breach:g}"

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse guarding nodes that the taxonomy does not have."""
        self._guarded(domains[self.column], domains[self.guard])

    def _guarded(self, secret: Domain, guard: Domain) -> tuple[Codes, Codes]:
        """The first and the last sensitive code that each guarding node covers; an empty cell covers none."""
        tree = secret.taxonomy
        node_of = {label: node for node, label in reversed(list(enumerate(tree.labels)))}  # the upper one, if repeated
        unknown = [t for t, known in zip(guard.taxonomy.leaves, guard.known, strict=True) if known and t not in node_of]
        if unknown:
            raise DataError(
                "E412",
                f"'{guard.name}' holds {len(unknown)} guarding node{'s' if len(unknown) > 1 else ''} "
                f"that the taxonomy of '{secret.name}' does not have",
                details=[f"unknown: '{text}'{did_you_mean(text, node_of)}" for text in unknown[:3]],
                hint=f"Correct the cells, or add the node to the taxonomy of '{secret.name}'.",
            )
        nodes = np.array([node_of.get(text, 0) for text in guard.taxonomy.leaves], np.int32)
        first, last = tree.lo[nodes].copy(), tree.hi[nodes].copy()
        first[~guard.known], last[~guard.known] = 1, 0
        return first, last

    def _breaches(self, stats: GroupStats) -> Counts:
        """Per group, the records under the guarding node of its most exposed record."""
        joint = stats.joint
        assert joint is not None, "statistics were made without the joint distribution"
        h = stats.histograms[self.column]
        at = joint.columns.index(self.guard)
        first, last = self._guarded(h.domain, joint.domains[at])
        node = joint.values[joint.codes, at]
        under: Counts = fullest_windows(h.indptr, h.codes, h.counts, joint.indptr, first[node], last[node])
        return under

    def level(self, stats: GroupStats) -> Floats:
        """The largest breach probability of each group."""
        chance: Floats = self._breaches(stats) / np.maximum(stats.size, 1)
        return chance

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it; ``p_breach`` as an exact fraction keeps the comparison in integers."""
        allowed = as_fraction(self.p_breach)
        within = times(self._breaches(stats), allowed.denominator) <= times(stats.size, allowed.numerator)
        return within.astype(np.bool_)

"""Personalized privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction
from tarnkappe.errors import DataError, did_you_mean
from tarnkappe.groups import GroupStats, Histogram
from tarnkappe.kernels.criteria.breaches import worst_breaches
from tarnkappe.params import param
from tarnkappe.tally import Domain
from tarnkappe.wording import stated

#: Levels closer to the threshold than this are compared as fractions.
_TIE = 1e-9


@dataclass(frozen=True)
class PersonalizedPrivacy(Criterion):
    r"""Nobody is inferred to have a value under their own guarding node with more than a chance of ``p_breach``.

    Every person names a *guarding node* in the taxonomy of the sensitive column: what nobody may infer about them, such
    as "respiratory illness". It stands in the column `guard`; an empty cell means that the person does not mind. For a
    record t with guarding node :math:`g_t` in the group G

    .. math:: P_\mathrm{breach}(t) = \frac{|\{r \in G : r[S] \text{ lies under } g_t\}|}{|G|} \le p_\mathrm{breach}

    A node lies under itself, so that a single value may be guarded too. Where sensitive values are coarsened person by
    person (see `greedy-personalized`), a published node counts for the share of its values that lie under the guarding
    node: for all of it if it lies under it, for :math:`|g_t| / |v|` if it lies above it.

    This is the *primary* case of the paper: everybody has one record. Given the key of a person (`subject`), anybody of
    the group may have any number of its records (the *non-primary* case). With n different people in the group

    .. math:: P_\mathrm{breach}(t) = 1 - \prod_{r \in G} \left(1 - \frac{\mathrm{share}(r, g_t)}{n}\right)

    The level of a group is the largest breach probability of its records. Comparisons are exact. O(d · m) for a group
    with d different values and m different nodes.

    **Not monotone**: a person at 1/2 who is pooled with a group full of the guarded value gets to 3/4.

    Guarding nodes must not be published: they would tell an attacker whose secret is worth guarding.

    Differs from the paper in: an attacker is always taken to know exactly who is in the data, which is the worst case.

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

    subject: str | None = param(
        None, doc="The key of a person, if people may have several records each.", refers_to="person"
    )

    @property
    def threshold(self) -> float:
        """The p_breach."""
        return self.p_breach

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"chance of a breach ≤ {stated(self.p_breach)}{'' if self.subject is None else ' by people'}"

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse guarding nodes that the taxonomy does not have."""
        self.windows(domains[self.column], domains[self.guard])

    def windows(self, secret: Domain, guard: Domain) -> tuple[Codes, Codes, Counts]:
        """The first and the last sensitive code that each guarding node covers, and how many values lie there.

        An empty cell covers none.
        """
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
        first[~guard.known], last[~guard.known] = 1, 0  # none
        before = np.append(0, np.cumsum(secret.known))
        return first, last, before[last + 1] - before[first]

    def level(self, stats: GroupStats) -> Floats:
        """The largest breach probability of each group."""
        shown, guards = self._shown(stats), stats.histograms[self.guard]
        first, last, guarded = self.windows(shown.domain, guards.domain)
        tree, covered = shown.domain.taxonomy, self.known_values(shown.domain)
        chance: Floats = worst_breaches(
            shown.indptr,
            tree.lo[shown.codes],
            tree.hi[shown.codes],
            np.maximum(covered[shown.codes], 1),
            shown.counts,
            np.maximum(self.people(stats), 1),
            guards.indptr,
            first[guards.codes],
            last[guards.codes],
            guarded[guards.codes],
            self.subject is not None,
        )
        return chance

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it; where floats cannot tell, fractions do."""
        level = self.level(stats)
        ok: Flags = level <= self.p_breach
        for group in np.flatnonzero(np.abs(level - self.p_breach) <= _TIE):
            ok[group] = self._exact(stats, int(group)) <= as_fraction(self.p_breach)
        return ok

    def _shown(self, stats: GroupStats) -> Histogram:
        """What groups publish in the sensitive column, as nodes of its taxonomy."""
        if self.column in stats.raised:
            return stats.raised[self.column]
        h = stats.histograms[self.column]
        return replace(h, codes=h.domain.taxonomy.leaf_nodes[h.codes].astype(np.int32))

    @staticmethod
    def known_values(domain: Domain) -> Counts:
        """How many values each node stands for; nobody takes the missing one for what a label hides."""
        before = np.append(0, np.cumsum(domain.known))
        covered: Counts = before[domain.taxonomy.hi + 1] - before[domain.taxonomy.lo]
        return covered

    def people(self, stats: GroupStats) -> Counts:
        """How many people each group has."""
        return stats.size if self.subject is None else np.diff(stats.histograms[self.subject].indptr)

    def _exact(self, stats: GroupStats, group: int) -> Fraction:
        """The level of a group as a fraction."""
        shown, guards = self._shown(stats), stats.histograms[self.guard]
        first, last, _ = self.windows(shown.domain, guards.domain)
        is_value, tree = shown.domain.known, shown.domain.taxonomy
        own = slice(shown.indptr[group], shown.indptr[group + 1])
        entries = list(zip(shown.codes[own].tolist(), shown.counts[own].tolist(), strict=True))
        n, worst = int(self.people(stats)[group]), Fraction(0)
        for guard in guards.codes[guards.indptr[group] : guards.indptr[group + 1]]:
            a, b = int(first[guard]), int(last[guard])
            if a > b:
                continue
            under, spared = Fraction(0), Fraction(1)
            for node, count in entries:
                low, high = int(tree.lo[node]), int(tree.hi[node])
                values = max(int(is_value[low : high + 1].sum()), 1)
                share = Fraction(int(is_value[a : b + 1].sum()), values) if low <= a and b <= high else Fraction(0)
                share = Fraction(1) if a <= low and high <= b else share
                under += share * count
                spared *= (1 - share / n) ** count if self.subject is not None else 1
            worst = max(worst, under / n if self.subject is None else 1 - spared)
        return worst

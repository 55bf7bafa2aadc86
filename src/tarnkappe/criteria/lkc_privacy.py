"""LKC-privacy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, Sense, Supply, as_fraction, times
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.wording import plural, stated


@dataclass(frozen=True)
class LKCPrivacy(Criterion):
    r"""Whoever knows at most L quasi-identifiers finds at least K records, and infers no value with confidence above C.

    .. math:: |G_X| \ge K \quad\text{and}\quad \frac{|\{r \in G_X : r[S] = s\}|}{|G_X|} \le C

    for every set X of at most L quasi-identifiers, every group :math:`G_X` of records that publish the same in X, and
    every sensitive value s. For high-dimensional data: an attacker who knows everything need not be feared, and
    k-anonymity over all quasi-identifiers would destroy the data.

    Sets of exactly ``min(L, d)`` of the d quasi-identifiers are tested; the groups of smaller ones are unions of
    theirs. The level is the largest confidence; where a group is smaller than K it is ``2 - size / K``, above every C.
    O(binomial(d, L) · groups).

    With ``L = d`` it is (alpha, k)-anonymity for ``alpha = C``; without a column it is k-anonymity of every L of them,
    and the level is the smallest number of records that fit.

    References
    ----------
    .. [MFHL09] Mohammed, Fung, Hung, Lee. "Anonymizing healthcare data: a case study on the blood transfusion service."
       KDD 2009.
    """

    name: ClassVar = "lkc-privacy"
    title: ClassVar = "LKC-privacy"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    scope: ClassVar = "projection"
    protects: ClassVar = frozenset({"identity", "secret"})
    card: ClassVar = Card(
        protects_from="an attacker who knows up to L quasi-identifiers of a person: at least K records fit, and no "
        "secret follows with more confidence than C.",
        does_not="protect from someone who knows more than L of them.",
        typical="L 2 to 4, K 5 to 20, C 0.2 to 0.5.",
        cost="low compared with k-anonymity over many quasi-identifiers.",
    )

    l: int = param(doc="L: how many quasi-identifiers an attacker knows at most.", ge=1, example=2)  # noqa: E741
    k: int = param(doc="K: smallest number of records that fit what is known.", ge=1, example=5)
    c: float = param(1.0, doc="C: largest confidence with which a sensitive value may be inferred.", gt=0, le=1)
    column: str | None = param(
        None, doc="The sensitive column; without one only K is asked for.", refers_to="sensitive"
    )

    @property
    def compared(self) -> Sense:
        """Without a column there is no confidence to limit: records are counted."""
        return "at most" if self.column else "at least"

    @property
    def threshold(self) -> float:
        """The largest confidence, or the smallest number of records."""
        return self.c if self.column else self.k

    @property
    def asked(self) -> str:
        """The promise in short."""
        sure = f", confidence ≤ {stated(self.c)}" if self.column else ""
        return f"whoever knows {plural(self.l, 'quasi-identifier')}: records ≥ {self.k}{sure}"

    def supply(self, everyone: GroupStats) -> Supply:
        """The records that fit everybody."""
        return Supply("k", int(everyone.size.sum()), "records")

    def level(self, stats: GroupStats) -> Floats:
        """The largest confidence over all sets of quasi-identifiers; above 1 where too few records fit.

        Without a column the fewest records that fit.
        """
        if not self.column:
            fewest = np.full(stats.n_groups, np.inf)
            for _, size, part in self._pools(stats):
                fewest = np.minimum(fewest, size[part])
            return fewest
        worst = np.zeros(stats.n_groups)
        for commonest, size, part in self._pools(stats):
            level = np.where(size >= self.k, commonest / np.maximum(size, 1), 2 - size / self.k)
            worst = np.maximum(worst, level[part])
        return worst

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it for all sets of quasi-identifiers, in whole numbers."""
        most = as_fraction(self.c)
        ok = np.ones(stats.n_groups, np.bool_)
        for commonest, size, part in self._pools(stats):
            sure = times(commonest, most.denominator) > times(size, most.numerator)
            ok &= ~(sure.astype(np.bool_) | (size < self.k))[part]
        return ok

    def _pools(self, stats: GroupStats) -> Iterator[tuple[Counts, Counts, Codes]]:
        """Per set of quasi-identifiers: records with the commonest value, all records, and the pool of each group."""
        assert stats.keys is not None, "statistics were made without the labels of the groups"
        needed = {} if self.column is None else {self.column: stats.histograms[self.column]}
        slim = GroupStats(stats.size, needed, keys=stats.keys)
        d = stats.keys.shape[1]
        for x in combinations(range(d), min(self.l, d)):
            known, part = slim.projected(x)
            commonest = np.zeros_like(known.size)
            if self.column is not None:
                histogram = known.histograms[self.column]
                commonest = reduce_groups(np.maximum, histogram.counts, histogram.indptr)
            yield commonest, known.size, part

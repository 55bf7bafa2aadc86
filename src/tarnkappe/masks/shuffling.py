"""Data shuffling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.masks.base import SIGMAS, Chance, ColumnsMask, Fitted, Held, Kept, MaskCard, exchanged, unfit
from tarnkappe.masks.columns import Columns, differing
from tarnkappe.params import param

#: What a dependence that is not that of normal numbers may add to the difference of correlations.
_MODEL = 0.05


@dataclass(frozen=True)
class Shuffling(ColumnsMask):
    r"""Numbers are dealt out anew by rank, so that columns depend on each other as before, and no record keeps its own.

    All numbers become normal scores of their ranks. New scores of the shuffled columns X are drawn given those of the
    columns S beside them,

    .. math:: Y = R_{XS} R_{SS}^{-1} S + e, \quad e \sim N(0, R_{XX} - R_{XS} R_{SS}^{-1} R_{SX}),

    where R are correlations of scores, and the numbers of X are dealt out in the order of Y. So the values of each
    column stay exactly as they are, and rank correlations to sampling error. Given S, the new numbers tell nothing more
    about the old ones. A missing number stays missing; in its place a score is drawn, so that what else the record
    has is dealt out like everything. Correlations are those of the complete records.
    O(records · columns² + records log records).

    References
    ----------
    .. [MuSa06] Muralidhar, Sarathy. "Data shuffling: a new masking approach for numerical data." Management Science
       2006.
    """

    name: ClassVar = "shuffling"
    title: ClassVar = "data shuffling"
    card: ClassVar = MaskCard(
        changes="every number becomes that of another record, drawn anew from how the columns depend on each other.",
        keeps="every number, and how often it occurs; correlations of ranks to sampling error.",
        does_not="keep dependence that ranks do not show, such as a ring; who is rare in the columns beside stays so.",
        not_for="names, or relations within small groups.",
    )

    beside: tuple[str, ...] = param((), doc="Columns of numbers that stay, and that the shuffled ones depend on.")

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The columns that stay."""
        return self.beside

    @property
    def done(self) -> str:
        """In words."""
        return "shuffled: values dealt out anew by rank"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        everything = ", ".join([*self.columns, *self.beside])
        return (
            f"all values of {', '.join(self.columns)}, and how often each occurs",
            f"rank correlations of {everything} to sampling error",
        )

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Draw new scores, and deal the numbers out in their order."""
        names = [*self.columns, *self.beside]
        x = data.matrix(names)
        complete = ~np.isnan(x).any(axis=1)
        n, k = len(x), len(self.columns)
        if complete.sum() < 2 * len(names) + 2:
            raise unfit(self, "too few records have all numbers", data.source, "Fewer columns.")
        scores = _scores(x, chance.rng)
        r = np.corrcoef(scores[complete], rowvar=False).reshape(len(names), len(names))
        inverse = np.linalg.pinv(r[k:, k:]) if self.beside else np.zeros((0, 0))
        mean = scores[:, k:] @ (r[:k, k:] @ inverse).T if self.beside else np.zeros((n, k))
        rest = r[:k, :k] - (r[:k, k:] @ inverse @ r[k:, :k] if self.beside else 0)
        value, vector = np.linalg.eigh(rest)
        drawn = mean + chance.rng.standard_normal((n, k)) @ (vector * np.sqrt(np.maximum(value, 0))).T
        made = []
        for j, name in enumerate(self.columns):
            row, there = np.arange(n), np.flatnonzero(~np.isnan(x[:, j]))
            old, new = (there[np.argsort(score[there, j], kind="stable")] for score in (scores, drawn))
            row[new] = old
            made.append(data.values(name).gather(row).alias(name))
        return Held(made)

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Every value occurs as often as before, and correlations of ranks are the same to sampling error."""
        for name in self.columns:
            yield Kept(f"values of {name}, and how often each occurs", differing([name], before, after))
        names = [*self.columns, *(name for name in self.beside if name in after.names)]
        one, other = _rank_correlations(before.matrix(names)), _rank_correlations(after.matrix(names))
        if one is None or other is None:
            return
        n = int((~np.isnan(before.matrix(names)).any(axis=1)).sum())
        for i in range(len(self.columns)):
            for j in range(len(names)):
                if i < j:
                    what = f"rank correlation of {names[i]} and {names[j]}"
                    yield Kept(what, abs(one[i, j] - other[i, j]), SIGMAS / math.sqrt(n) + _MODEL)

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Hardly anybody keeps their own number."""
        for name in self.columns:
            there = ~np.isnan(before.floats(name))
            yield exchanged(name, before.floats(name)[there], after.floats(name)[there])


def _scores(x: Floats, rng: np.random.Generator) -> Floats:
    """Normal scores of the ranks in each column; ties are broken by lot, and scores of missing numbers are drawn."""
    grid = np.linspace(-8, 8, 20001)
    below = np.array([NormalDist().cdf(g) for g in grid])
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        there = np.flatnonzero(~np.isnan(x[:, j]))
        lot = there[rng.permutation(len(there))]
        out[lot[np.argsort(x[lot, j], kind="stable")], j] = np.interp(
            (np.arange(len(lot)) + 0.5) / len(lot), below, grid
        )
        out[np.isnan(x[:, j]), j] = rng.standard_normal(len(x) - len(lot))
    return out


def _rank_correlations(x: Floats) -> Floats | None:
    """Spearman's correlations of the complete records; none if a column does not vary."""
    x = x[~np.isnan(x).any(axis=1)]
    ranks = np.column_stack([np.unique(x[:, j], return_inverse=True)[1] for j in range(x.shape[1])])
    mid = np.empty(ranks.shape)
    for j in range(ranks.shape[1]):
        count = np.bincount(ranks[:, j])
        mid[:, j] = (np.cumsum(count) - count / 2)[ranks[:, j]]
    if len(x) < 2 or (mid.std(axis=0) == 0).any():
        return None
    return np.corrcoef(mid, rowvar=False).reshape(x.shape[1], x.shape[1])

"""Population uniques by a log-linear model of how common combinations are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.wording import count

Interactions = Literal["none", "pairs"]

#: So many combinations of values a table for the model with pairs may have.
MOST_COMBINATIONS = 200_000

_MOST_ROUNDS = 200

#: So many records a sum may be off at the end.
_OFF = 1e-3


@dataclass(frozen=True)
class LogLinear:
    """How many sample uniques are unique in the population, and how many are expected to be found.

    `uniques` is tau1, the expected number of sample uniques that nobody else of the population is like; `expected` is
    tau2, the expected number of correct matches among the sample uniques.
    """

    interactions: Interactions
    sample_uniques: int
    uniques: float
    expected: float
    #: What a reader must know about the model, if anything.
    remark: str = ""

    def __str__(self) -> str:
        shown = (
            f"{count(round(self.uniques))} of {count(self.sample_uniques)} sample uniques are unique in the population"
        )
        return f"{shown}, {count(round(self.expected))} would be found" + (f" ({self.remark})" if self.remark else "")

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


def log_linear(codes: Codes, records: Counts, sizes: Sequence[int], n_people: int) -> LogLinear:
    r"""Counts of combinations are Poisson, their means a log-linear model; who is drawn is independent.

    .. math:: \tau_1 = \sum_{f = 1} e^{-\lambda(1 - \pi)}, \quad
              \tau_2 = \sum_{f = 1} \frac{1 - e^{-\lambda(1 - \pi)}}{\lambda (1 - \pi)}, \quad \lambda = \mu / \pi

    where µ is the fitted count of a combination in the sample. All pairs of columns interact as long as all
    combinations of values fit into a table; with more of them columns are taken to be independent, and the remark says
    so. Row i of `codes` is a combination that `records[i]` records have.

    References
    ----------
    .. [SkHo98] Skinner, Holmes. "Estimating the re-identification risk per record in microdata." JOS 14(4), 1998.
    .. [SkSh08] Skinner, Shlomo. "Assessing identification risk in survey microdata using log-linear models." JASA 2008.
    """
    alone = np.flatnonzero(records == 1)
    interactions: Interactions = "pairs" if len(sizes) > 2 and math.prod(sizes) <= MOST_COMBINATIONS else "none"
    remark = ""
    if interactions == "pairs":
        fitted, is_fitted = _fitted(codes, records, sizes)
        means = fitted[tuple(codes[alone].T)]
        remark = "" if is_fitted else f"the fit was stopped after {_MOST_ROUNDS} rounds"
    else:
        n = float(records.sum())
        means = np.full(len(alone), n)
        for j, size in enumerate(sizes):
            means = means * (np.bincount(codes[:, j], records, size)[codes[alone, j]] / n)
        if len(sizes) > 2:
            remark = "columns taken to be independent: too many combinations for pairs"
    n_records = int(records.sum())
    rest = np.maximum(means / n_records * (n_people - n_records), 0.0)  # people of the population not in the sample
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(rest > 1e-12, -np.expm1(-rest) / rest, 1.0)
    return LogLinear(interactions, len(alone), float(np.exp(-rest).sum()), float(found.sum()), remark)


def _fitted(codes: Codes, records: Counts, sizes: Sequence[int]) -> tuple[Floats, bool]:
    """The table whose sums over all but two columns are those of the data (iterative proportional fitting)."""
    table = np.zeros(sizes)
    np.add.at(table, tuple(codes.T), records)
    pairs = list(combinations(range(len(sizes)), 2))
    others = [tuple(a for a in range(len(sizes)) if a not in pair) for pair in pairs]
    wanted = [table.sum(axis=axes, keepdims=True) for axes in others]
    out = np.full(sizes, records.sum() / table.size)
    for _ in range(_MOST_ROUNDS):
        off = 0.0
        for axes, target in zip(others, wanted, strict=True):
            has = out.sum(axis=axes, keepdims=True)
            off = max(off, float(np.abs(has - target).max()))
            out *= np.divide(target, has, out=np.zeros_like(target), where=has > 0)
        if off < _OFF:
            return out, True
    return out, False

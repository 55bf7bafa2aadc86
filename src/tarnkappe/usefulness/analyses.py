"""Usual analyses on both tables: whether they can be told apart, and regressions and eigenvalues agree."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.errors import JobError
from tarnkappe.usefulness.distributions import Binned, numbers_of
from tarnkappe.usefulness.reading import Pair

#: Values of a category that have a column of their own in a design; rarer ones share one.
_CATEGORIES = 12

#: The normal quantile of a 95 % interval.
_Z = 1.959963984540054


@dataclass(frozen=True)
class Propensity:
    """Whether a model can tell records of the release from those of the original.

    `pmse` is 0 if it cannot, and at most 0.25 for tables of the same length; `ratio` compares it with what two random
    samples of one population would give (1: as near as that).
    """

    pmse: float
    ratio: float
    converged: bool

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a regression on both tables; `overlap` of its 95 % intervals is 1 if they are the same."""

    name: str
    original: float
    release: float
    overlap: float

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Regression:
    """A linear regression of the target on all other columns, on both tables."""

    target: str
    coefficients: tuple[Coefficient, ...]
    #: The share of the variance that is explained in either table.
    explained: tuple[float, float]

    @property
    def overlap(self) -> float:
        """The mean overlap of the intervals; negative if they lie apart."""
        return float(np.mean([c.overlap for c in self.coefficients])) if self.coefficients else 1.0

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "target": self.target,
            "overlap": self.overlap,
            "explained": list(self.explained),
            "coefficients": [c.as_dict() for c in self.coefficients],
        }


@dataclass(frozen=True, eq=False)
class Design:
    """Both tables as numbers: rows with weights. A number is in standard deviations, a category a share per value."""

    names: tuple[str, ...]
    original: Floats
    release: Floats
    weights: tuple[Floats, Floats]


def design(pair: Pair, columns: tuple[str, ...]) -> Design:
    """Columns as numbers; a label stands at the middle of its values, or is a share of each of them."""
    names: list[str] = []
    before: list[Floats] = []
    after: list[Floats] = []
    records, count = pair.records.astype(np.float64), pair.tally.count.astype(np.float64)
    for name in columns:
        found = numbers_of(pair, name)
        if found is not None:
            old, new = found
            mean = float(np.average(np.nan_to_num(old), weights=count))
            known = ~np.isnan(old)
            if known.any():
                mean = float(np.average(old[known], weights=count[known]))
            spread = float(np.sqrt(np.average(np.nan_to_num(old - mean) ** 2, weights=count))) or 1.0
            names.append(name)
            before.append(np.nan_to_num((old - mean) / spread))
            after.append(np.nan_to_num((new - mean) / spread))
            continue
        binned = Binned(pair, name, _CATEGORIES)
        shares = binned.of_rows()
        for b in range(1, binned.n_bins):  # the first is what the others are compared with
            names.append(f"{name} {b}")
            before.append((binned.of_cells == b).astype(np.float64))
            after.append(shares[:, b])
    if not names:
        return Design((), np.zeros((len(count), 0)), np.zeros((len(records), 0)), (count, records))
    return Design(tuple(names), np.column_stack(before), np.column_stack(after), (count, records))


def propensity(pair: Pair) -> Propensity:
    r"""Whether a logistic regression can tell which table a record is from.

    .. math:: \mathrm{pMSE} = \frac1N \sum_i (\hat p_i - c)^2, \quad
              \mathrm{ratio} = \frac{\mathrm{pMSE}}{(k - 1)(1 - c)^2 c / N}

    with k coefficients, N records in both tables together and the share c of the release among them.

    References
    ----------
    .. [SNRD18] Snoke, Raab, Nowok, Dibben, Slavkovic. "General and specific utility measures for synthetic data." 2018.
    """
    return told_apart(design(pair, (*pair.quasi, *pair.others)))


def told_apart(both: Design) -> Propensity:
    """The same for two tables that are numbers already."""
    x = np.vstack([both.original, both.release])
    x = np.column_stack([np.ones(len(x)), x])
    y = np.append(np.zeros(len(both.original)), np.ones(len(both.release)))
    w = np.concatenate(both.weights)
    p, converged = _logistic(x, y, w)
    n, c = float(w.sum()), float(both.weights[1].sum() / w.sum())
    pmse = float(w @ (p - c) ** 2 / n)
    null = (x.shape[1] - 1) * (1 - c) ** 2 * c / n
    return Propensity(pmse, pmse / null if null > 0 else float("nan"), converged)


def _logistic(x: Floats, y: Floats, w: Floats) -> tuple[Floats, bool]:
    """Fitted probabilities by Newton's method, with a trace of ridge where columns are redundant."""
    beta = np.zeros(x.shape[1])
    ridge = 1e-8 * float(w.sum()) * np.eye(x.shape[1])
    p: Floats = np.full(len(x), 0.5)
    for _ in range(50):
        slope = x.T @ (w * (y - p)) - ridge @ beta
        step = np.linalg.solve((x * (w * p * (1 - p))[:, None]).T @ x + ridge, slope)
        beta += step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -30, 30)))
        if np.abs(step).max() < 1e-6:
            return p, True
    return p, False


def regression(pair: Pair, target: str) -> Regression:
    r"""Least squares of the target on all other columns, on both tables, and how far their intervals overlap.

    .. math:: J = \frac12 \Bigl( \frac{u - l}{u_o - l_o} + \frac{u - l}{u_r - l_r} \Bigr), \quad
              u = \min(u_o, u_r),\ l = \max(l_o, l_r)

    A target that is no number is 1 for its commonest value and 0 for the others. Centres shrink the spread of what they
    replace: then coefficients lean (Schmid), which shows here.

    References
    ----------
    .. [KKOR06] Karr, Kohnen, Oganian, Reiter, Sanil. "A framework for evaluating the utility of data altered to protect
       confidentiality." The American Statistician 60(3), 2006.
    .. [Schm06] Schmid. "Estimation of a linear model under microaggregation by individual ranking." 2006.
    """
    every = (*pair.quasi, *pair.others)
    if target not in every:
        raise JobError("E105", f"'{target}' is no column of both tables", hint=f"Columns: {', '.join(every)}.")
    both = design(pair, tuple(name for name in every if name != target))
    y = _target(pair, target)
    fits = [_least_squares(x, y_, w) for x, y_, w in zip((both.original, both.release), y, both.weights, strict=True)]
    (b, e, r2), (b2, e2, r22) = fits
    out = []
    for i, name in enumerate(("constant", *both.names)):
        if np.isfinite(e[i]) and np.isfinite(e2[i]):
            overlap = _overlap(b[i], _Z * e[i], b2[i], _Z * e2[i])
            out.append(Coefficient(name, float(b[i]), float(b2[i]), overlap))
    return Regression(target, tuple(out), (r2, r22))


def _target(pair: Pair, target: str) -> tuple[Floats, Floats]:
    found = numbers_of(pair, target)
    if found is not None:
        return found
    binned = Binned(pair, target, _CATEGORIES)
    commonest = int(np.argmax(binned.original))
    return (binned.of_cells == commonest).astype(np.float64), binned.of_rows()[:, commonest]


def _least_squares(x: Floats, y: Floats, w: Floats) -> tuple[Floats, Floats, float]:
    """Coefficients with a constant first, their standard errors (NaN where redundant), and the variance explained."""
    known = ~np.isnan(y)
    x, y, w = np.column_stack([np.ones(known.sum()), x[known]]), y[known], w[known]
    gram = (x * w[:, None]).T @ x
    inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
    beta = inverse @ (x.T @ (w * y))
    rest = y - x @ beta
    n = float(w.sum())
    variance = float(w @ rest**2) / max(n - x.shape[1], 1.0)
    mean = float(w @ y / n)
    total = float(w @ (y - mean) ** 2)
    seen = np.abs(np.diag(gram)) > 1e-9 * n
    seen &= np.abs(np.diag(inverse @ gram) - 1) < 1e-6
    error = np.where(seen, np.sqrt(np.maximum(np.diag(inverse), 0.0) * variance), np.nan)
    return beta, error, 1 - float(w @ rest**2) / total if total > 0 else 1.0


def _overlap(one: float, half: float, two: float, other: float) -> float:
    """The overlap of two intervals, each given by its middle and half its length."""
    if half <= 0 or other <= 0:
        return 1.0 if one == two and half == other else 0.0
    common = min(one + half, two + other) - max(one - half, two - other)
    return float((common / (2 * half) + common / (2 * other)) / 2)


def eigenvalues(pair: Pair) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """The eigenvalues of the correlations of all columns of numbers, in both tables; None if there are not two."""
    names, both = [], []
    for name in (*pair.quasi, *pair.others):
        found = numbers_of(pair, name)
        if found is not None:
            names.append(name)
            both.append(found)
    if len(names) < 2:
        return None
    weights = (pair.tally.count.astype(np.float64), pair.records.astype(np.float64))
    out = []
    for side in (0, 1):
        x = np.column_stack([pair_[side] for pair_ in both])
        known = ~np.isnan(x).any(axis=1)
        if known.sum() < 2:
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            covariance = np.cov(x[known], rowvar=False, aweights=weights[side][known])
            spread = np.sqrt(np.diag(covariance))
            correlation = np.nan_to_num(covariance / np.outer(spread, spread))
        np.fill_diagonal(correlation, 1.0)
        out.append(tuple(float(v) for v in np.linalg.eigvalsh(correlation)[::-1]))
    return out[0], out[1]

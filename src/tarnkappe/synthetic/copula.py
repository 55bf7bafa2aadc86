"""The Gaussian copula for names and numbers alike: shares of every column, and one correlation for every pair."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.bundle import Found
from tarnkappe.criteria.base import Card
from tarnkappe.synthetic.domains import Coded
from tarnkappe.synthetic.model import Copied

#: Terms of the series that relates correlations of codes to those of what is normally distributed behind them.
_TERMS = 40
#: Correlations are kept away from 1, where nothing is left to chance.
_STRONGEST = 0.995


@dataclass(frozen=True, eq=False)
class Copula(Copied):
    r"""Behind every column stands a normal variable; a code is drawn by the interval that it falls into.

    Codes of names have no order, so names are put in the order of the mean of the column they go with most. What codes
    of two columns correlate is less than what stands behind them does. With :math:`a_{jr}` the coefficients of the
    step functions from normal variables to standardised codes in Hermite polynomials,

    .. math:: \mathrm{corr}(c_i, c_j) = \sum_{r \ge 1} a_{ir} a_{jr} \rho^r ,

    which is solved for :math:`\rho` of every pair.

    References
    ----------
    .. [Nels06] Nelsen. "An introduction to copulas." Springer 2006.
    .. [Olss79] Olsson. "Maximum likelihood estimation of the polychoric correlation coefficient." Psychometrika 1979.
    """

    k: int
    n: int
    #: Per column the codes in the order in which they stand, and the bounds of their intervals, the last without one.
    orders: tuple[Codes, ...]
    bounds: tuple[Floats, ...]
    correlation: Floats

    promise: ClassVar = "no-copies"
    title: ClassVar = "Gaussian copula"
    attacker: ClassVar = "somebody who looks for records of the data among the published ones."
    card: ClassVar = Card(
        protects_from="being copied: values are those that k people have, and no record is that of fewer than k.",
        does_not="hide whether somebody is in the data, nor keep more than shares and pairwise correlations.",
        typical="k = 10 or more; columns of numbers, or of few names.",
        cost="what depends on three columns together, or is not monotone, is lost.",
    )

    @property
    def usual_records(self) -> int:
        """As many as there are people."""
        return self.n

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Normal variables that correlate, cut into codes."""
        behind = rng.standard_normal((n, len(self.domains))) @ np.linalg.cholesky(self.correlation).T
        places = (np.searchsorted(b, behind[:, j]) for j, b in enumerate(self.bounds))
        return np.column_stack([self.orders[j][p] for j, p in enumerate(places)]).astype(np.int32)

    def sentence(self) -> str:
        """What was counted."""
        return f"every value is one that at least {self.k} people have, and no record is that of fewer than {self.k}."

    def check(self, people: Codes, written: Codes) -> Found:
        """Written records are compared with those of people."""
        return Found((self.copy_verdict(people, written),))

    def facts(self) -> dict[str, Any]:
        """The strongest correlation."""
        off = np.abs(self.correlation - np.eye(len(self.correlation)))
        return {"strongest_correlation": round(float(off.max(initial=0.0)), 4)}


def fit_copula(people: Codes, domains: tuple[Coded, ...], k: int) -> Copula:
    """Shares of all columns, and the correlation of every pair of what stands behind them."""
    counts = [np.bincount(people[:, j], minlength=d.size) for j, d in enumerate(domains)]
    orders = _orders(people, domains)
    bounds = [_bounds(c[order]) for c, order in zip(counts, orders, strict=True)]
    d = len(domains)
    scores = np.zeros((len(people), d))
    series = np.zeros((d, _TERMS))
    for j, order in enumerate(orders):
        share = counts[j][order] / len(people)
        level = np.cumsum(share) - share / 2  # the middle of what each code covers
        mean = float(share @ level)
        spread = float(np.sqrt(share @ (level - mean) ** 2)) or 1.0
        standard = (level - mean) / spread
        by_code = np.zeros(len(order))
        by_code[order] = standard
        scores[:, j] = by_code[people[:, j]]
        series[j] = hermite_coefficients(bounds[j], standard)
    observed = scores.T @ scores / len(people)
    return Copula(domains, k, len(people), tuple(orders), tuple(bounds), _correlation(observed, series))


def _orders(people: Codes, domains: tuple[Coded, ...]) -> list[Codes]:
    """The order of codes of each column: their own on a scale, else by the mean of the column they go with most."""
    ranks = np.zeros(people.shape)
    for j, domain in enumerate(domains):
        counts = np.bincount(people[:, j], minlength=domain.size)
        order = np.arange(domain.size) if domain.ordered else np.argsort(-counts, kind="stable")
        level = np.zeros(domain.size)
        level[order] = np.cumsum(counts[order]) - counts[order] / 2
        ranks[:, j] = level[people[:, j]] / len(people)
    out: list[Codes] = []
    for j, domain in enumerate(domains):
        if domain.ordered or people.shape[1] == 1:
            out.append(np.arange(domain.size, dtype=np.int32))
            continue
        counts = np.maximum(np.bincount(people[:, j], minlength=domain.size), 1)
        means = np.column_stack(
            [np.bincount(people[:, j], ranks[:, i], domain.size) / counts for i in range(len(domains))]
        )
        told = (counts[:, None] * (means - 0.5) ** 2).sum(axis=0)  # how much the code tells about each other column
        told[j] = -1.0
        out.append(np.argsort(means[:, int(np.argmax(told))], kind="stable").astype(np.int32))
    return out


def _bounds(counts: Counts) -> Floats:
    """The bounds between neighbouring codes of a normal variable that gives them these shares."""
    normal = NormalDist()
    shares = np.clip(np.cumsum(counts)[:-1] / counts.sum(), 1e-12, 1 - 1e-12)
    return np.array([normal.inv_cdf(float(p)) for p in shares])


def hermite_coefficients(bounds: Floats, levels: Floats, terms: int = _TERMS) -> Floats:
    r"""The coefficients of a step function in normalised Hermite polynomials: :math:`a_r = E[g(Z) h_r(Z)]`.

    >>> bool(abs((hermite_coefficients(np.array([0.0]), np.array([-1.0, 1.0])) ** 2).sum() - 1) < 0.1)
    True
    """
    density = np.exp(-(bounds**2) / 2) / np.sqrt(2 * np.pi)
    jumps = np.diff(levels)
    before, current = np.zeros_like(bounds), np.ones_like(bounds)  # h_{r-1} begins with h_0
    out = np.zeros(terms)
    for r in range(1, terms + 1):
        out[r - 1] = float((jumps * density * current).sum()) / np.sqrt(r)
        before, current = current, (bounds * current - np.sqrt(r - 1) * before) / np.sqrt(r)
    return out


def _correlation(observed: Floats, series: Floats) -> Floats:
    """What correlates behind the codes, made a correlation matrix where pairs contradict each other."""
    products = series[:, None, :] * series[None, :, :]
    low, high = np.full(observed.shape, -_STRONGEST), np.full(observed.shape, _STRONGEST)
    for _ in range(50):  # the sum grows with the correlation, so halving finds it
        middle = (low + high) / 2
        reached = np.zeros_like(middle)
        for r in range(series.shape[1] - 1, -1, -1):
            reached = (reached + products[:, :, r]) * middle
        up = reached < observed
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    found = (low + high) / 2
    found = (found + found.T) / 2
    np.fill_diagonal(found, 1.0)
    values, vectors = np.linalg.eigh(found)
    whole = vectors @ np.diag(np.maximum(values, 1e-4)) @ vectors.T
    scale = np.sqrt(np.diag(whole))
    out: Floats = whole / np.outer(scale, scale)
    return out

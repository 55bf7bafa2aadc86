"""How far off single columns and pairs of columns are that readers estimate from a release."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Floats
from tarnkappe.tally import Domain
from tarnkappe.usefulness.reading import Pair

#: A column with more values is compared in so many bins of about as many records each.
BINS = 20


@dataclass(frozen=True)
class ColumnDifference:
    """How one column of a release differs from the original.

    `distance` is half the sum of differences of shares (total variation, 0 to 1), `divergence` the Jensen-Shannon
    divergence in bits. Of numbers also how far off mean and standard deviation are, in standard deviations.
    """

    column: str
    distance: float
    divergence: float
    mean_off: float | None
    deviation_off: float | None
    #: The loss metric (LM) of the column; None where nothing was coarsened, or centres were published.
    loss: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Association:
    """How strongly two columns go together in the original, and in the release as readers estimate it (Cramér's V)."""

    first: str
    second: str
    original: float
    release: float

    @property
    def off(self) -> float:
        """By how much it differs."""
        return abs(self.original - self.release)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {**asdict(self), "off": self.off}


def jensen_shannon(p: Floats, q: Floats) -> float:
    r"""The Jensen-Shannon divergence of two distributions, in bits: 0 if they are the same, at most 1.

    .. math:: \mathrm{JS}(p, q) = \tfrac12 \sum p \log_2 \frac{2p}{p + q} + \tfrac12 \sum q \log_2 \frac{2q}{p + q}

    >>> round(jensen_shannon(np.array([1.0, 0.0]), np.array([0.5, 0.5])), 4)
    0.3113
    """
    middle = (p + q) / 2

    def part(x: Floats) -> float:
        some = x > 0
        return float((x[some] * np.log2(x[some] / middle[some])).sum())

    return max((part(p) + part(q)) / 2, 0.0)


class Binned:
    """A column of a pair in few bins: shares of the original, and of every row of the release.

    What a label covers is taken to be spread evenly over its values, as readers must who know nothing else.
    """

    def __init__(self, pair: Pair, name: str, most: int = BINS) -> None:
        """Bin the values of one column; `most` bins if it has more values."""
        self.name = name
        codes = pair.original_codes(name)
        domain = pair.tally.quasi_domains[pair.quasi.index(name)] if name in pair.quasi else pair.other_domain(name)
        counts = np.bincount(codes, pair.tally.count, domain.size)
        self.bin_of, self.n_bins = bins_of(domain, counts, most)
        self.original = np.bincount(self.bin_of, counts, self.n_bins)
        self.of_cells = self.bin_of[codes]
        if name in pair.quasi:
            labels = pair.labels[pair.quasi.index(name)]
            self._weights: Floats = labels.shares(self.bin_of, self.n_bins)
            self._row: NDArray[Any] = labels.code[pair.group]
        else:
            shown = pair.others[name]
            self._weights = np.vstack([np.eye(self.n_bins), np.zeros((1, self.n_bins))])
            self._row = np.where(shown >= 0, self.bin_of[np.maximum(shown, 0)], self.n_bins)

    def of_rows(self) -> Floats:
        """For every row of the release the share of each bin."""
        shares: Floats = self._weights[self._row]
        return shares

    def published(self, records: Floats) -> Floats:
        """How many records of the release readers estimate in each bin."""
        estimated: Floats = np.bincount(self._row, records, len(self._weights)) @ self._weights
        return estimated

    def crossed(self, other: Binned, records: Floats) -> Floats:
        """How many records of the release readers estimate in each pair of bins."""
        flat = self._row.astype(np.int64) * len(other._weights) + other._row
        size = len(self._weights) * len(other._weights)
        if size <= 20_000_000:
            joint = np.bincount(flat, records, size).reshape(len(self._weights), -1)
            out: Floats = self._weights.T @ joint @ other._weights
            return out
        slowly: Floats = (self._weights[self._row] * records[:, None]).T @ other._weights[other._row]
        return slowly


def bins_of(domain: Domain, counts: NDArray[Any], most: int) -> tuple[NDArray[np.int64], int]:
    """The bin of every value: neighbours of about equal numbers on a scale, else the commonest and all others."""
    if domain.size <= most:
        return np.arange(domain.size), domain.size
    if domain.is_line:
        before = np.cumsum(counts) - counts / 2
        found = np.minimum((before / max(counts.sum(), 1) * most).astype(np.int64), most - 1)
        if domain.missing >= 0:
            found[domain.missing] = most
    else:
        rank = np.empty(domain.size, np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(domain.size)
        found = np.minimum(rank, most - 1)
    used, out = np.unique(found, return_inverse=True)
    return out, len(used)


def column_differences(pair: Pair, losses: dict[str, float]) -> tuple[ColumnDifference, ...]:
    """Every column that both tables have."""
    out = []
    records = pair.records.astype(np.float64)
    for name in (*pair.quasi, *pair.others):
        binned = Binned(pair, name)
        p = binned.original / max(binned.original.sum(), 1)
        estimated = binned.published(records)
        q = estimated / max(estimated.sum(), 1e-300)
        off = _moments(pair, name)
        out.append(
            ColumnDifference(
                name, float(np.abs(p - q).sum() / 2), jensen_shannon(p, q), off[0], off[1], losses.get(name)
            )
        )
    return tuple(out)


def numbers_of(pair: Pair, name: str) -> tuple[Floats, Floats] | None:
    """A column of numbers: those of the cells of the original, and of the rows of the release; None if it has none.

    A label stands at the middle of its values.
    """
    domain = pair.tally.quasi_domains[pair.quasi.index(name)] if name in pair.quasi else pair.other_domain(name)
    if domain.values is None:
        return None
    place = domain.positions.astype(np.float64)
    before = place[pair.original_codes(name)]
    if name in pair.quasi:
        labels = pair.labels[pair.quasi.index(name)]
        return before, labels.positions[labels.code][pair.group]
    shown = pair.others[name]
    strange = pair.numbers.get(name, np.full(len(shown), np.nan))  # numbers that a mask or a model has made
    return before, np.where(shown >= 0, place[np.maximum(shown, 0)], strange)


def _moments(pair: Pair, name: str) -> tuple[float | None, float | None]:
    """How far off mean and standard deviation are, in standard deviations of the original."""
    found = numbers_of(pair, name)
    if found is None:
        return None, None
    (mean, deviation), (other, spread) = (
        _mean_and_deviation(x, w) for x, w in zip(found, (pair.tally.count, pair.records), strict=True)
    )
    if not deviation > 0 or np.isnan(other):
        return None, None
    return (other - mean) / deviation, spread / deviation - 1


def _mean_and_deviation(values: Floats, weights: NDArray[Any]) -> tuple[float, float]:
    known = ~np.isnan(values)
    if not known.any():
        return float("nan"), float("nan")
    mean = float(np.average(values[known], weights=weights[known]))
    return mean, float(np.sqrt(np.average((values[known] - mean) ** 2, weights=weights[known])))


def associations(pair: Pair) -> tuple[Association, ...]:
    """Every pair of columns that both tables have; those that differ most first."""
    columns = [Binned(pair, name) for name in (*pair.quasi, *pair.others)]
    records = pair.records.astype(np.float64)
    out = []
    for one, two in combinations(columns, 2):
        flat = one.of_cells * two.n_bins + two.of_cells
        before = np.bincount(flat, pair.tally.count, one.n_bins * two.n_bins).reshape(one.n_bins, -1).astype(np.float64)
        out.append(Association(one.name, two.name, cramers_v(before), cramers_v(one.crossed(two, records))))
    return tuple(sorted(out, key=lambda a: -a.off))


def cramers_v(joint: Floats) -> float:
    r"""How strongly rows and columns of a table of counts go together: 0 not at all, 1 one decides the other.

    .. math:: V = \sqrt{\frac{\chi^2 / n}{\min(r, c) - 1}}

    >>> cramers_v(np.array([[5.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    joint = joint[joint.sum(axis=1) > 1e-12][:, joint.sum(axis=0) > 1e-12]
    n, fewest = float(joint.sum()), min(joint.shape, default=0)
    if fewest < 2 or n <= 0:
        return 0.0
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / n
    squares = float(((joint - expected) ** 2 / expected).sum())
    return float(np.sqrt(min(squares / n / (fewest - 1), 1.0)))

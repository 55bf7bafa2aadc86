"""ULoss and PLoss: what a release loses about large populations, and what it tells about single people."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Floats
from tarnkappe.errors import JobError
from tarnkappe.tally import Domain
from tarnkappe.usefulness.distributions import BINS, bins_of, jensen_shannon
from tarnkappe.usefulness.reading import Pair

#: So many populations are looked at, smaller sets of columns first.
MOST_POPULATIONS = 20_000


@dataclass(frozen=True)
class PopulationLoss:
    """What readers learn about large populations, and what about single people, from one sensitive column.

    A population is everybody with certain values in a few quasi-identifiers, `support` of all records at least.
    `uloss` is how far off its distribution of the column is on average, `trivial` the same if nothing but the column
    was published, which is the baseline: a release is worth what lies between. `ploss` is how much the distribution of
    somebody's group tells beyond that of the whole table, for the person it tells most about. They are not of one
    scale: harm is done to single people, use is made of many.
    """

    column: str
    uloss: float
    trivial: float
    ploss: float
    n_populations: int
    support: float
    most_columns: int
    #: Whether there are more populations than were looked at.
    is_cut: bool

    @property
    def kept(self) -> float:
        """The share of what can be learnt about populations that the release keeps; 0: no better than nothing."""
        return max(1.0 - self.uloss / self.trivial, 0.0) if self.trivial > 0 else 1.0

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {**asdict(self), "kept": self.kept}


@dataclass(frozen=True, eq=False)
class _Items:
    """The values of one quasi-identifier that populations may be named by: runs of its codes.

    Item i are the codes from ``lo[i]`` to ``hi[i]``, `shares` the part of every label that is in it.
    """

    lo: Codes
    hi: Codes
    cell: Codes
    label: Codes
    shares: Floats
    size: int


def population_loss(
    pair: Pair, column: str, support: float = 0.01, most_columns: int = 3, most: int = MOST_POPULATIONS
) -> PopulationLoss:
    r"""Compare the sensitive column in all large populations: as it is, and as readers estimate it.

    .. math:: \mathrm{ULoss} = \frac1{|Y|} \sum_{y \in Y} \mathrm{JS}(\hat P_y, P_y), \quad
              \mathrm{PLoss} = \max_r \mathrm{JS}(P_{G(r)}, Q)

    where Q is the distribution in the whole table, that is, in the trivially anonymised one. Readers take the values of
    a group to be spread evenly over what its labels cover (the within-box assumption), and the sensitive column to be
    independent of where in the box somebody is. Populations are named by values and by taxonomy nodes below the root,
    numbers without a taxonomy by twentieths, in at most `most_columns` columns. They are found by growing frequent
    sets: what has too few records is not extended, and one pass over a population counts all values of a further
    column with their sensitive values at once.

    Differs from the paper in: the paper mines with an FP-tree and leaves the logarithm of JS open; here it is to the
    base of two, so both are between 0 and 1.

    References
    ----------
    .. [LiLi09] Li, Li. "On the tradeoff between privacy and utility in data publishing." KDD 2009.
    """
    if column not in pair.others:
        raise JobError(
            "E105",
            f"'{column}' is no column that both tables publish beside the quasi-identifiers",
            hint=f"Columns: {', '.join(pair.others) or 'none'}.",
        )
    if not 0 < support <= 1 or most_columns < 1:
        raise JobError("E110", "'support' must be above 0 and at most 1", hint="support=0.01")
    secret = pair.tally.sensitive[:, pair.tally.sensitive_index(column)].astype(np.int64)
    n_values = pair.other_domain(column).size
    whole = np.bincount(secret, pair.tally.count, n_values).astype(np.float64)
    overall = whole / whole.sum()
    histogram = pair.histogram(column).astype(np.float64)
    growing = _Growing(pair, secret, n_values, histogram, support * pair.n_original)
    off, trivial, is_cut = growing.compared(overall, most_columns, most)
    known = histogram[histogram.sum(axis=1) > 0]
    told = [jensen_shannon(row / row.sum(), overall) for row in np.unique(known, axis=0)]
    return PopulationLoss(
        column,
        float(np.mean(off)) if off else 0.0,
        float(np.mean(trivial)) if trivial else 0.0,
        max(told, default=0.0),
        len(off),
        support,
        most_columns,
        is_cut,
    )


class _Growing:
    """Grows populations column by column, the original and the estimate side by side."""

    def __init__(self, pair: Pair, secret: NDArray[np.int64], n_values: int, histogram: Floats, fewest: float) -> None:
        self._secret, self._n_values, self._histogram, self._fewest = secret, n_values, histogram, fewest
        self._count = pair.tally.count.astype(np.float64)
        self._items = [_items(pair, j, fewest) for j in range(len(pair.quasi))]

    def compared(self, overall: Floats, most_columns: int, most: int) -> tuple[list[float], list[float], bool]:
        """How far off every population is by the release, and by the whole table; and whether there are more."""
        off: list[float] = []
        trivial: list[float] = []
        everybody = np.arange(len(self._count)), np.ones(len(self._histogram)), 0, 0
        waiting = deque([everybody])
        while waiting:
            cells, weight, first, depth = waiting.popleft()
            for j in range(first, len(self._items)):
                items = self._items[j]
                truth = self._truth(items, cells)
                large = np.flatnonzero(truth.sum(axis=1) >= self._fewest)
                if not len(large):
                    continue
                estimate = self._estimate(items, weight, large)
                for i, guess in zip(large.tolist(), estimate, strict=True):
                    if len(off) >= most:
                        return off, trivial, True
                    right = truth[i] / truth[i].sum()
                    total = guess.sum()
                    off.append(jensen_shannon(guess / total if total > 0 else overall, right))
                    trivial.append(jensen_shannon(overall, right))
                    if depth + 1 < most_columns and j + 1 < len(self._items):
                        code = items.cell[cells]
                        inside = cells[(code >= items.lo[i]) & (code <= items.hi[i])]
                        waiting.append((inside, weight * items.shares[items.label, i], j + 1, depth + 1))
        return off, trivial, False

    def _truth(self, items: _Items, cells: NDArray[np.int64]) -> Floats:
        """How often each sensitive value occurs with every item of a column, among some cells."""
        flat = items.cell[cells].astype(np.int64) * self._n_values + self._secret[cells]
        counts = np.bincount(flat, self._count[cells], items.size * self._n_values).reshape(items.size, -1)
        before = np.vstack([np.zeros(self._n_values), np.cumsum(counts, axis=0)])
        found: Floats = before[items.hi + 1] - before[items.lo]
        return found

    def _estimate(self, items: _Items, weight: Floats, which: NDArray[np.int64]) -> Floats:
        """The same as readers estimate it, for some of the items."""
        by_label = np.zeros((len(items.shares), self._n_values))
        np.add.at(by_label, items.label, weight[:, None] * self._histogram)
        found: Floats = items.shares[:, which].T @ by_label
        return found


def _items(pair: Pair, j: int, fewest: float) -> _Items:
    """The frequent values and nodes of one quasi-identifier."""
    domain, published = pair.tally.quasi_domains[j], pair.labels[j]
    codes = np.ascontiguousarray(pair.tally.quasi[:, j])
    counts = np.bincount(codes, pair.tally.count, domain.size)
    lo, hi = _runs(domain, counts)
    before = np.append(0.0, np.cumsum(counts))
    frequent = before[hi + 1] - before[lo] >= fewest
    lo, hi = lo[frequent], hi[frequent]
    return _Items(lo, hi, codes, published.code, published.shares_of_runs(lo, hi), domain.size)


def _runs(domain: Domain, counts: NDArray[Any]) -> tuple[Codes, Codes]:
    """Runs of codes that have a name: values and nodes below the root; of a scale without levels equal parts."""
    tree = domain.taxonomy
    if domain.is_line and domain.size > BINS:
        bins, n_bins = bins_of(domain, counts, BINS)
        first = np.searchsorted(bins, np.arange(n_bins))
        last = np.searchsorted(bins, np.arange(n_bins), side="right") - 1
        return first.astype(np.int32), last.astype(np.int32)
    runs = np.unique(np.column_stack([tree.lo[1:], tree.hi[1:]]), axis=0)
    return np.ascontiguousarray(runs[:, 0]), np.ascontiguousarray(runs[:, 1])

"""Tables of columns and of pairs with noise, along a tree that is chosen with noise too; people are drawn from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.mechanisms import choose, rho_of
from tarnkappe.mechanisms.gaussian import LARGEST_VARIANCE
from tarnkappe.synthetic.domains import Coded
from tarnkappe.synthetic.model import Spent
from tarnkappe.synthetic.private import Noise, Private, chosen, without_negatives

#: Values whose noisy count is below so many standard deviations of the noise are counted together.
_CLEAR = 3.0
#: Cells of the table of one pair.
_MOST_CELLS = 20_000_000
#: How often a table of a pair is scaled to the shares of its columns.
_ROUNDS = 100

#: The ends of an edge of the tree: two columns, the first before the second.
Edge = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Pooled:
    """A column whose rare values are counted together: `of` is the new code of each, `shares` how to draw them back."""

    of: Codes
    size: int
    shares: Floats

    @classmethod
    def by(cls, noisy: Counts, deviation: float) -> Pooled:
        """Pool values whose noisy count hardly differs from nothing; only what is already noisy decides."""
        clear = noisy >= _CLEAR * deviation
        if int((~clear).sum()) < 2:
            return cls(np.arange(len(noisy), dtype=np.int32), len(noisy), np.ones(len(noisy)))
        of = np.where(clear, np.cumsum(clear) - 1, int(clear.sum())).astype(np.int32)
        shares = np.where(clear, 1.0, np.maximum(noisy, 0) + 1e-6)
        return cls(of, int(clear.sum()) + 1, shares)

    def back(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Codes as they were: one that stands for several becomes one of them at random."""
        table = np.zeros((self.size, len(self.of)))
        table[self.of, np.arange(len(self.of))] = self.shares
        return drawn(table, codes, rng)


@dataclass(frozen=True, eq=False)
class Marginals(Private):
    r"""Noisy tables along a tree of columns; each column is drawn given the one before it in the tree.

    A third of :math:`\varepsilon` goes into the counts of every column, a third into choosing the tree, and a third
    into the counts of its pairs. A pair is the likelier chosen the farther its table is from what its columns say
    without it, in records. That distance is rounded to whole records, so one record changes it by at most 1.

    With a :math:`\delta`, noise is Gaussian and costs are added up as zCDP, as in the paper; without one, noise is
    geometric and :math:`\varepsilon` pure.

    Differs from MST in: tables are made to agree by scaling instead of by a maximum likelihood fit, which on a tree
    gives distributions of the same form.

    References
    ----------
    .. [McMS21] McKenna, Miklau, Sheldon. "Winning the NIST contest: a scalable and general approach to differentially
       private synthetic data." J. Privacy and Confidentiality 2021.
    """

    total: float
    pools: tuple[Pooled, ...]
    #: What every column is drawn after (-1: nothing), and the order in which they are drawn.
    parents: tuple[int, ...]
    order: tuple[int, ...]
    #: How many people have which code, a row for each code of what a column is drawn after.
    tables: tuple[Floats, ...]

    @property
    def usual_records(self) -> int:
        """The noisy number of people."""
        return max(1, round(self.total))

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Column by column, down the tree."""
        coarse = np.zeros((n, len(self.domains)), np.int32)
        for j in self.order:
            before = coarse[:, self.parents[j]] if self.parents[j] >= 0 else np.zeros(n, np.int32)
            coarse[:, j] = drawn(self.tables[j], before, rng)
        return np.column_stack([pool.back(coarse[:, j], rng) for j, pool in enumerate(self.pools)])


def drawn(table: Floats, rows: Codes, rng: np.random.Generator) -> Codes:
    """A column of a table of weights for each row that is named, with probabilities like the weights of that row."""
    weights = table + 1e-12 * (table.sum(axis=1, keepdims=True) == 0)  # a row without anybody is drawn evenly
    steps = np.cumsum(weights, axis=1)
    steps /= steps[:, -1:]
    ladder = (steps + np.arange(len(table))[:, None]).ravel()
    at = np.searchsorted(ladder, rows + rng.random(len(rows)), side="right") - rows.astype(np.int64) * table.shape[1]
    out: Codes = np.clip(at, 0, table.shape[1] - 1).astype(np.int32)
    return out


@dataclass(frozen=True)
class Shares:
    """What each table of a column, each choice of a pair, and each table of a pair may cost."""

    one: Noise
    choice: float
    pair: Noise

    @classmethod
    def of(cls, epsilon: float, delta: float, d: int) -> Shares:
        """A third for each kind of step; all of it for the only column if there is one.

        >>> Shares.of(3.0, 0.0, 2)
        Shares(one=Noise(epsilon=0.5, variance=0), choice=1.0, pair=Noise(epsilon=1.0, variance=0))
        """
        if not delta:
            if d == 1:
                return cls(Noise(epsilon), 0.0, Noise(epsilon))
            third = epsilon / 3
            return cls(Noise(third / d), third / (d - 1), Noise(third / (d - 1)))
        rho = rho_of(epsilon, delta)
        if rho / 3 / d < 1 / (2 * LARGEST_VARIANCE):
            raise JobError("E110", f"epsilon = {epsilon:g} leaves nothing but noise", hint="epsilon: 1.0")
        if d == 1:
            return cls(Noise.worth(rho), 0.0, Noise.worth(rho))
        return cls(Noise.worth(rho / 3 / d), (8 * rho / 3 / (d - 1)) ** 0.5, Noise.worth(rho / 3 / (d - 1)))


def fit_marginals(
    people: Codes, domains: tuple[Coded, ...], epsilon: float, delta: float, rng: np.random.Generator
) -> Marginals:
    """Count with noise, choose a tree, count its pairs with noise, and make all of it agree."""
    d = len(domains)
    shares = Shares.of(epsilon, delta, d)
    ones = [noisy_counts(people[:, j], domain.size, shares.one, rng) for j, domain in enumerate(domains)]
    ledger: list[Spent] = [shares.one.cost("counts of columns", d)]
    pools = tuple(Pooled.by(one, shares.one.deviation) for one in ones)
    coarse = np.column_stack([pool.of[people[:, j]] for j, pool in enumerate(pools)]).astype(np.int32)
    first = [
        np.bincount(pool.of, one.astype(np.float64), pool.size).astype(np.float64)
        for pool, one in zip(pools, ones, strict=True)
    ]
    sizes = np.array([len(one) for one in ones])
    total = max(1.0, float(np.average([one.sum() for one in ones], weights=1 / sizes)))
    _require_countable(domains, pools)
    tables: dict[Edge, Floats] = {}
    if d > 1:
        for a, b in chosen_tree(scores_of_pairs(coarse, first, total), d, shares.choice, rng):
            shape = pools[a].size, pools[b].size
            flat = coarse[:, a].astype(np.int64) * shape[1] + coarse[:, b]
            tables[a, b] = noisy_counts(flat, shape[0] * shape[1], shares.pair, rng).reshape(shape).astype(np.float64)
        ledger += [chosen("choice of pairs", shares.choice, d - 1), shares.pair.cost("counts of pairs", d - 1)]
    columns, agreed = _agreed(first, tables, total, shares.one.deviation, shares.pair.deviation)
    parents, order = _walk(d, tables)
    given = tuple(
        columns[j][None, :] if p < 0 else agreed[p, j] if (p, j) in agreed else agreed[j, p].T
        for j, p in enumerate(parents)
    )
    return Marginals(domains, epsilon, delta, tuple(ledger), total, pools, parents, order, given)


def noisy_counts(codes: Codes | Counts, size: int, noise: Noise, rng: np.random.Generator) -> Counts:
    """How many records have each code, with noise; one record changes one count by one."""
    counts: Counts = np.bincount(codes, minlength=size) + noise.draw(size, rng)
    return counts


def scores_of_pairs(coarse: Codes, ones: list[Floats], total: float) -> dict[Edge, int]:
    """How far the table of each pair is from what its columns say, in whole records: one record changes it by 1."""
    out = {}
    for a, b in combinations(range(len(ones)), 2):
        flat = coarse[:, a].astype(np.int64) * len(ones[b]) + coarse[:, b]
        real = np.bincount(flat, minlength=len(ones[a]) * len(ones[b]))
        expected = np.outer(np.maximum(ones[a], 0), np.maximum(ones[b], 0)).ravel() / total
        out[a, b] = int(np.abs(real - np.rint(expected).astype(np.int64)).sum())
    return out


def chosen_tree(scores: Mapping[Edge, int], d: int, epsilon: float, rng: np.random.Generator) -> Iterator[Edge]:
    """The edges of a tree over d columns, one after the other by the exponential mechanism, `epsilon` each."""
    part = list(range(d))
    for _ in range(d - 1):
        open_ = [edge for edge in scores if part[edge[0]] != part[edge[1]]]
        a, b = open_[choose(np.array([scores[e] for e in open_], np.int64), epsilon, 1, rng)]
        part = [part[a] if p == part[b] else p for p in part]
        yield a, b


def _require_countable(domains: tuple[Coded, ...], pools: tuple[Pooled, ...]) -> None:
    for a, b in combinations(range(len(pools)), 2):
        if pools[a].size * pools[b].size > _MOST_CELLS:
            names = domains[a].name, domains[b].name
            raise JobError(
                "E110",
                f"'{names[0]}' and '{names[1]}' have more pairs of values than can be counted",
                hint=Fix(f"{names[0]}: {{…, width: …}}   with wider intervals", "wider intervals, or fewer values"),
            )


def _agreed(
    ones: list[Floats], pairs: Mapping[Edge, Floats], total: float, noise_one: float, noise_pair: float
) -> tuple[list[Floats], dict[Edge, Floats]]:
    """Tables without negative counts that agree: columns as all their tables say, weighted by how sure each is."""
    columns = []
    for j, one in enumerate(ones):
        said, weights = [one.astype(np.float64)], [1 / noise_one**2]
        for (a, b), table in pairs.items():
            if j in (a, b):
                along = 1 if j == a else 0
                said.append(table.sum(axis=along))
                weights.append(1 / (noise_pair**2 * table.shape[along]))
        columns.append(without_negatives(np.average(said, axis=0, weights=weights), total))
    return columns, {(a, b): scaled(table, columns[a], columns[b]) for (a, b), table in pairs.items()}


def scaled(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """A table with these sums of rows and columns, scaled until it has them (iterative proportional fitting)."""
    total = rows.sum()
    out: Floats = without_negatives(table, total) + 1e-9 * np.outer(rows, columns) / total
    for _ in range(_ROUNDS):
        out *= (rows / np.maximum(out.sum(axis=1), 1e-300))[:, None]
        out *= columns / np.maximum(out.sum(axis=0), 1e-300)
        if np.abs(out.sum(axis=1) - rows).max() < 1e-6 * total:
            break
    return out


def _walk(d: int, edges: Mapping[Edge, object]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What each column is drawn after, and in which order, beginning with the first column."""
    parents, order = [-1] * d, [0]
    for j in order:
        near = [b if a == j else a for a, b in edges if j in (a, b)]
        for other in near:
            if other not in order:
                parents[other] = j
                order.append(other)
    return tuple(parents), tuple(order)

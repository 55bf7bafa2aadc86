"""How many people somebody finds again who links the original with the masked data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.attacks.probabilistic_linkage import learned_weights
from tarnkappe.errors import DataError, JobError
from tarnkappe.io import Source
from tarnkappe.kernels.masks.linking import count_agreements, count_near_ranks, rank_likeliest, rank_nearest
from tarnkappe.masks.columns import Columns
from tarnkappe.masks.linkage import MaxLinkage
from tarnkappe.threads import share_out

#: Pairs that the weights of columns are learned from, about.
_LEARNED_FROM = 4_000_000

#: Columns that patterns of agreement are counted over.
_MOST_COLUMNS = 16


@dataclass(frozen=True, eq=False)
class _Pairs:
    """People who are looked for (numbers `x`, names `a`), all records (`z`, `b`), and each person's own record."""

    x: Floats
    a: Codes
    z: Floats
    b: Codes
    own: Counts


def linked(
    original: Source, masked: Source, names: Sequence[str], asked: MaxLinkage, rng: np.random.Generator
) -> dict[str, float]:
    """The share of people whom every attacker links with their own record, ties counted as the chance to pick it.

    Row i of both tables is the same record. O(people · records · columns) for each attacker.
    """
    pairs = _pairs(original, masked, names, asked, rng)
    ways: dict[str, Callable[[_Pairs, MaxLinkage], float]] = {
        "distance": _by_distance,
        "rank-interval": _by_ranks,
        "probabilistic": _by_likelihood,
    }
    return {way: ways[way](pairs, asked) for way in asked.attacks}


def _pairs(
    original: Source, masked: Source, names: Sequence[str], asked: MaxLinkage, rng: np.random.Generator
) -> _Pairs:
    if not names or len(names) > _MOST_COLUMNS:
        what = "knows no column" if not names else f"can compare at most {_MOST_COLUMNS} columns"
        raise JobError(
            "E110", f"the attacker of max-linkage {what}", hint="- max-linkage: {share: 0.05, columns: [income]}"
        )
    before, after = Columns(original), Columns(masked)
    numbers, codes = [], []
    for name in names:
        try:
            x, z = before.floats(name), after.floats(name)
        except DataError:
            codes.append(_same_codes(before.values(name), after.values(name)))
            continue
        spread = float(np.nanstd(x)) if (~np.isnan(x)).any() else 1.0
        numbers.append((x / (spread or 1.0), z / (spread or 1.0)))
    n = original.n_rows
    who = np.sort(rng.permutation(n)[: asked.people]).astype(np.int64)

    def stacked(parts: list[np.ndarray], kind: type) -> np.ndarray:
        return np.ascontiguousarray(np.column_stack(parts), kind) if parts else np.zeros((n, 0), kind)

    x, z = (stacked([pair[i] for pair in numbers], np.float64) for i in (0, 1))
    a, b = (stacked([pair[i] for pair in codes], np.int32) for i in (0, 1))
    return _Pairs(np.ascontiguousarray(x[who]), np.ascontiguousarray(a[who]), z, b, who)


def _same_codes(one: pl.Series, other: pl.Series) -> tuple[Codes, Codes]:
    both = pl.concat([one.cast(pl.String), other.cast(pl.String)]).fill_null("")
    codes = (both.rank("dense").cast(pl.Int32) - 1).to_numpy()
    return codes[: len(one)], codes[len(one) :]


def _shared(task: Callable[[int, int], None], people: int, records: int) -> None:
    share_out(task, np.arange(people + 1, dtype=np.int64) * max(records, 1))


def _picked(beaten: Flags, ties: Counts) -> float:
    return float((1 / ties[~beaten]).sum() / max(len(beaten), 1))


def _by_distance(p: _Pairs, asked: MaxLinkage) -> float:
    beaten, ties = np.zeros(len(p.own), np.bool_), np.zeros(len(p.own), np.int64)
    _shared(lambda i, k: rank_nearest(p.x, p.a, p.z, p.b, p.own, i, k, beaten, ties), len(p.own), len(p.z))
    return _picked(beaten, ties)


def _by_ranks(p: _Pairs, asked: MaxLinkage) -> float:
    """The best of all windows that were asked for."""
    best, n = 0.0, len(p.z)
    order = np.sort(p.z, axis=0)
    rank, first, last = _ranks(order, p.z, "left"), _ranks(order, p.x, "left"), _ranks(order, p.x, "right")
    for percent in asked.windows_percent:
        half = max(percent / 100 * n, 1)
        low, high = first - half, last + half
        inside, fits = np.zeros(len(p.own), np.bool_), np.zeros(len(p.own), np.int64)

        def task(i: int, k: int, low: Floats = low, high: Floats = high) -> None:
            count_near_ranks(low, high, p.a, rank, p.b, p.own, i, k, inside, fits)  # noqa: B023

        _shared(task, len(p.own), n)
        best = max(best, float((1 / fits[inside]).sum() / max(len(p.own), 1)))
    return best


def _ranks(order: Floats, x: Floats, side: Literal["left", "right"]) -> Floats:
    """Where numbers stand among sorted ones, column by column."""
    out = np.empty(x.shape)
    for j in range(x.shape[1]):
        out[:, j] = np.searchsorted(order[:, j], x[:, j], side)
    return out


def _by_likelihood(p: _Pairs, asked: MaxLinkage) -> float:
    columns = p.x.shape[1] + p.a.shape[1]
    some = slice(None, None, max(len(p.own) * len(p.z) // _LEARNED_FROM, 1))
    patterns = np.zeros(1 << columns, np.int64)
    count_agreements(np.ascontiguousarray(p.x[some]), np.ascontiguousarray(p.a[some]), p.z, p.b, asked.near, patterns)
    score = learned_weights(patterns, columns, len(p.z))
    beaten, ties = np.zeros(len(p.own), np.bool_), np.zeros(len(p.own), np.int64)

    def task(i: int, k: int) -> None:
        rank_likeliest(p.x, p.a, p.z, p.b, asked.near, score, p.own, i, k, beaten, ties)

    _shared(task, len(p.own), len(p.z))
    return _picked(beaten, ties)

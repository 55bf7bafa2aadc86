"""Interval disclosure: how near published numbers are to those of the people whom they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Floats
from tarnkappe.errors import DataError, JobError
from tarnkappe.io import Source
from tarnkappe.kernels.risks.nearest import nearest_points
from tarnkappe.threads import share_out
from tarnkappe.wording import percent

#: How records of the original were found in the release: by a key, by their order, or as the nearest published point.
Matched = Literal["key", "rows", "nearest"]

#: Widths of the intervals, as shares of the standard deviation or of all ranks.
WIDTHS = (0.01, 0.02, 0.05, 0.1)


@dataclass(frozen=True)
class IntervalDisclosure:
    """How often a person's number lies in a narrow interval around the published one, for one column.

    `by_deviation` and `by_rank` have the share of records for every width of `widths`: within so many standard
    deviations of the published number, and within so many of all ranks of it. `security` is the security ratio of
    secure k-Ward: in the group that is worst off, the share of records at least `tolerance` standard deviations away.
    """

    column: str
    matched: Matched
    widths: tuple[float, ...]
    by_deviation: tuple[float, ...]
    by_rank: tuple[float, ...]
    tolerance: float
    security: float
    #: The share of records that are published exactly as they are.
    exact: float

    def __str__(self) -> str:
        width, share = self.widths[-1], self.by_deviation[-1]
        how = ", at most" if self.matched == "nearest" else ""
        return (
            f"{percent(share)} of the records are within {width:g} standard deviations of what is published{how}; "
            f"security ratio {self.security:.2f} at tolerance {self.tolerance:g}"
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "column": self.column,
            "matched": self.matched,
            "widths": list(self.widths),
            "by_deviation": list(self.by_deviation),
            "by_rank": list(self.by_rank),
            "tolerance": self.tolerance,
            "security": self.security,
            "exact": self.exact,
        }


def interval_disclosure(
    original: Source,
    release: Source,
    columns: Sequence[str],
    *,
    key: str | None = None,
    in_order: bool = False,
    tolerance: float = 0.01,
    widths: Sequence[float] = WIDTHS,
) -> tuple[IntervalDisclosure, ...]:
    r"""How much of people's numbers the published numbers tell.

    .. math:: \mathrm{SDID}_w = \frac{|\{i : |x_i - x'_i| \le w\,\sigma\}|}{n}, \quad
              \mathrm{RID}_w = \frac{|\{i : |\mathrm{rank}(x_i) - \mathrm{rank}(x'_i)| \le w\,n\}|}{n}, \quad
              \gamma = \min_G \frac{|\{i \in G : |x_i - x'_G| \ge \varepsilon\sigma\}|}{|G|}

    A record is compared with the published row that has the same `key`, or with that of the same place (`in_order`), or
    else with the nearest published row: then no attacker can come closer, and the shares are upper bounds. The last
    takes O(records · distinct published rows).

    References
    ----------
    .. [DoTo01] Domingo-Ferrer, Torra. "A quantitative comparison of disclosure control methods for microdata." 2001.
    .. [LZWJ02] Li, Zhu, Wang, Jajodia. "A privacy-enhanced microaggregation method." FoIKS 2002, LNCS 2284.
    """
    if tolerance < 0:
        raise JobError("E110", f"'tolerance' must be at least 0, got {tolerance!r}", hint="tolerance=0.01")
    given, shown = _numbers(original, columns), _numbers(release, columns)
    deviation = np.nanstd(given, axis=0)
    matched: Matched = "nearest"
    if key is not None:
        matched, place = "key", _by_key(original, release, key)
    elif in_order:
        if len(given) != len(shown):
            raise DataError(
                "E413",
                "original and release have different numbers of rows, so rows of the same place do not belong together",
                where=release.name,
                hint="Give a key column, or leave the order out: records are then compared with the nearest row.",
            )
        matched, place = "rows", np.arange(len(given), dtype=np.int32)
    else:
        place = _nearest(given, shown, deviation)
    group = np.unique(np.nan_to_num(shown, nan=np.inf), axis=0, return_inverse=True)[1].reshape(-1)[place]
    out = []
    for j, name in enumerate(columns):
        off = np.abs(given[:, j] - shown[place, j])
        known = ~np.isnan(off)
        sigma = deviation[j]
        order = np.sort(given[~np.isnan(given[:, j]), j])
        apart = np.abs(_ranks(order, given[known, j]) - _ranks(order, shown[place[known], j]))
        n = max(len(given), 1)
        far = np.bincount(group[known], off[known] >= tolerance * sigma)
        size = np.bincount(group[known])
        some = size > 0
        out.append(
            IntervalDisclosure(
                name,
                matched,
                tuple(widths),
                tuple(float((off[known] <= w * sigma).sum()) / n for w in widths),
                tuple(float((apart <= w * len(order)).sum()) / n for w in widths),
                tolerance,
                float((far[some] / size[some]).min()) if some.any() else 1.0,
                float((off[known] == 0).sum()) / n,
            )
        )
    return tuple(out)


def _numbers(source: Source, columns: Sequence[str]) -> Floats:
    """Columns of numbers, one row per record; NaN where one is missing."""
    frame = source.read(list(columns))
    numbers = [source.numeric(frame[name], name).cast(pl.Float64).fill_null(float("nan")) for name in columns]
    return np.column_stack([x.to_numpy() for x in numbers]).astype(np.float64)


def _ranks(order: Floats, values: Floats) -> Floats:
    """Where values stand among ordered ones, in the middle of those that are equal."""
    low, high = np.searchsorted(order, values), np.searchsorted(order, values, side="right")
    middle: Floats = (low + high) / 2
    return middle


def _nearest(given: Floats, shown: Floats, deviation: Floats) -> Codes:
    """The published row nearest to each record, in standard deviations."""
    scale = np.where(deviation > 0, deviation, 1.0)
    points, first = np.unique(shown / scale, axis=0, return_index=True)
    records = np.ascontiguousarray(given / scale)
    out = np.zeros(len(given), np.int32)

    def look(begin: int, end: int) -> None:
        nearest_points(records, points, begin, end, out)

    share_out(look, np.arange(len(given) + 1, dtype=np.int64) * len(points))
    return first.astype(np.int32)[out]


def _by_key(original: Source, release: Source, key: str) -> Codes:
    """The published row of each record that has the same key."""
    own = original.read([key]).select(pl.col(key).cast(pl.String).alias("key"))
    other = release.read([key]).select(pl.col(key).cast(pl.String).alias("key")).with_row_index("place")
    if other["key"].n_unique() < other.height:
        raise DataError(
            "E413", f"'{key}' stands twice in the release", where=release.name, hint="Give a column that is a key."
        )
    found = own.join(other, on="key", how="left", maintain_order="left")["place"]
    if found.null_count():
        raise DataError(
            "E413",
            f"some records of '{key}' are not in the release",
            where=release.name,
            hint="Leave out the key: records are then compared with the nearest published row.",
        )
    return found.to_numpy().astype(np.int32)

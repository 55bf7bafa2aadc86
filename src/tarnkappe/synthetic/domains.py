"""The values that made-up people may have, as codes: declared in the job, or taken from what enough people share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.errors import DataError, JobError
from tarnkappe.job.synthetic import SyntheticColumn
from tarnkappe.kernels.synthetic.binning import bins_of_counts
from tarnkappe.taxonomy import ANY, Taxonomy, TaxonomyBuilder
from tarnkappe.taxonomy.builders import File, Tree

#: What values that too few people share are published as, where enough people have one of them.
OTHERS = ANY
#: Intervals of a declared column; more would each be nearly empty.
MOST_VALUES = 100_000


@dataclass(frozen=True, eq=False)
class Coded(ABC):
    """How the values of a column are coded: 0, 1, 2 …; the code of an empty cell is the last, or there is none (-1)."""

    name: str
    missing: int

    @property
    @abstractmethod
    def size(self) -> int:
        """How many codes there are."""

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Whether codes stand on a scale."""

    @property
    def tree(self) -> Taxonomy | None:
        """The taxonomy over the values, if one was declared."""
        return None

    @abstractmethod
    def encode(self, column: pl.Series) -> Codes:
        """The code of every record; what has no place in the domain counts as the domain says."""

    @abstractmethod
    def decode(self, codes: Codes, rng: np.random.Generator) -> pl.Series:
        """Values for codes; where a code stands for several, chance decides which."""

    @abstractmethod
    def strangers(self, column: pl.Series) -> int:
        """How many cells of a written column hold something that no made-up person may have."""

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """What a manifest says about the domain."""


@dataclass(frozen=True, eq=False)
class Names(Coded):
    """Values that are texts; whatever is not listed counts as the code `other`."""

    texts: tuple[str, ...]
    other: int
    taxonomy: Taxonomy | None = None
    is_scale: bool = False

    @property
    def size(self) -> int:
        """The texts, and the empty cell if there is one."""
        return len(self.texts) + (self.missing >= 0)

    @property
    def ordered(self) -> bool:
        """Whether somebody declared an order."""
        return self.is_scale

    @property
    def tree(self) -> Taxonomy | None:
        """The taxonomy over the texts."""
        return self.taxonomy

    def encode(self, column: pl.Series) -> Codes:
        """By the text of each cell."""
        texts = column.cast(pl.String)
        codes = texts.cast(pl.Enum(self.texts), strict=False).to_physical().cast(pl.Int32)
        empty = pl.Series([self.missing if self.missing >= 0 else self.other], dtype=pl.Int32)
        unknown = pl.Series([self.other], dtype=pl.Int32)
        both = pl.select(
            pl.when(texts.is_null()).then(empty).when(codes.is_null()).then(unknown).otherwise(codes)
        ).to_series()
        out: Codes = both.to_numpy().astype(np.int32)
        return out

    def decode(self, codes: Codes, rng: np.random.Generator) -> pl.Series:
        """The texts themselves."""
        words = pl.Series([*self.texts, *([None] if self.missing >= 0 else [])], dtype=pl.String)
        return words.gather(codes).alias(self.name)

    def strangers(self, column: pl.Series) -> int:
        """Texts that are not listed, and empty cells where there are none."""
        texts = column.cast(pl.String)
        known = texts.is_in(list(self.texts)) | (texts.is_null() if self.missing >= 0 else False)
        return int((~known.fill_null(self.missing >= 0)).sum())

    def told(self) -> dict[str, Any]:
        """All values."""
        return {"values": list(self.texts), "missing": self.missing >= 0}


@dataclass(frozen=True, eq=False)
class Numbers(Coded):
    """Numbers in intervals from `lo` to `hi`, counted in steps; what lies outside counts as the nearest end."""

    lo: Counts
    hi: Counts
    step: float
    #: The code of what is no number, if it has none of its own.
    other: int

    @property
    def size(self) -> int:
        """The intervals, and the empty cell if there is one."""
        return len(self.lo) + (self.missing >= 0)

    @property
    def ordered(self) -> bool:
        """Numbers are."""
        return True

    def encode(self, column: pl.Series) -> Codes:
        """By the interval that holds each number."""
        numbers = column.cast(pl.Float64).to_numpy()
        lost = np.isnan(numbers)
        ticks = self._ticks(np.where(lost, 0.0, numbers))
        found = np.searchsorted(self.lo, ticks, side="right").astype(np.int32) - 1
        out: Codes = np.where(lost, self.missing if self.missing >= 0 else self.other, np.maximum(found, 0))
        return out.astype(np.int32)

    def _ticks(self, numbers: Floats) -> Counts:
        """How many steps each number is from 0, within the ends."""
        inside = np.clip(numbers / self.step, float(self.lo[0]), float(self.hi[-1]))
        return np.rint(inside).astype(np.int64)

    def decode(self, codes: Codes, rng: np.random.Generator) -> pl.Series:
        """A number of the interval, each of its steps as likely as any other."""
        gone = codes >= len(self.lo)
        at = np.where(gone, 0, codes)
        ticks = self.lo[at] + rng.integers(0, self.hi[at] - self.lo[at] + 1)
        whole = self.step == round(self.step)
        values = pl.Series(self.name, ticks * int(self.step) if whole else self._rounded(ticks))
        return pl.select(pl.when(pl.Series(~gone)).then(values)).to_series().alias(self.name)

    def _rounded(self, ticks: Counts) -> Floats:
        places = max(0, math.ceil(-math.log10(self.step)) + 6)
        out: Floats = np.round(ticks * self.step, places)
        return out

    def strangers(self, column: pl.Series) -> int:
        """Numbers outside of the ends or between steps, and empty cells where there are none."""
        numbers = column.cast(pl.Float64).to_numpy()
        lost = np.isnan(numbers)
        steps = np.where(lost, float(self.lo[0]), numbers / self.step)
        off = np.abs(steps - np.rint(steps)) > 1e-4
        outside = (np.rint(steps) < self.lo[0]) | (np.rint(steps) > self.hi[-1])
        return int((off | outside | (lost if self.missing < 0 else False)).sum())

    def bounds(self, first: int, last: int) -> tuple[float, float]:
        """The least and the largest number of some neighbouring intervals."""
        return float(self.lo[first] * self.step), float(self.hi[last] * self.step)

    def told(self) -> dict[str, Any]:
        """The ends and the step."""
        low, high = self.bounds(0, len(self.lo) - 1)
        return {"low": low, "high": high, "step": self.step, "missing": self.missing >= 0}


def declared(name: str, column: SyntheticColumn) -> Coded:
    """The domain of a column whose values the job declares; the data have no say in it.

    There is always a code for the empty cell: whatever is not declared counts as missing.
    """
    if column.type == "numeric":
        assert column.low is not None
        assert column.high is not None
        assert column.width is not None
        step = column.step or 1.0
        first, last, width = (round(x / step) for x in (column.low, column.high, column.width))
        n = (last - first) // width + 1
        if n > MOST_VALUES:
            raise JobError(
                "E110",
                f"'{name}' has {n} intervals",
                hint=f"{name}: {{width: {column.width * n // 100:g}}}   (or less)",
            )
        lo = first + width * np.arange(n, dtype=np.int64)
        return Numbers(name, n, lo, np.minimum(lo + width - 1, last), step, n)
    texts, tree, scale = column.values, None, False
    if texts is None:
        tree = declared_tree(name, column.taxonomy)
        texts, scale = tuple(tree.leaves), column.taxonomy.ordered
    return Names(name, len(texts), tuple(texts), len(texts), tree, scale)


def declared_tree(name: str, builder: TaxonomyBuilder) -> Taxonomy:
    """A taxonomy that is written down with all its values."""
    if isinstance(builder, (Tree, File)):
        return builder._declared(name) if isinstance(builder, File) else builder._declared()
    listed = getattr(builder, "values", None)
    if listed and not builder.follows_data:
        return builder.build(list(listed), name)
    raise JobError(
        "E111",
        f"the taxonomy of '{name}' does not say which values there are",
        hint=f"{name}: {{values: [a, b]}}   or  {{taxonomy: {{kind: tree, tree: …}}}}",
    )


def found(name: str, column: pl.Series, spec: SyntheticColumn, k: int, bins: int) -> Coded:
    """The domain of a column as its values are, as far as `k` people share them."""
    if spec.type == "numeric":
        return _found_numbers(name, column.cast(pl.Float64), spec, k, bins)
    counts = column.cast(pl.String).drop_nulls().value_counts(name="records").sort(column.name)
    n_missing = column.null_count()
    enough = counts.filter(pl.col("records") >= k)
    texts = [str(t) for t in enough[column.name]]
    rare = int(counts["records"].sum()) - int(enough["records"].sum())
    missing_alone = n_missing >= k
    rare += 0 if missing_alone else n_missing
    if OTHERS in texts:  # it stands for itself then, and for what is rare
        other = texts.index(OTHERS)
    elif rare >= k or not (texts or missing_alone):
        texts.append(OTHERS)
        other = len(texts) - 1
    elif texts:
        other = int(np.argmax(enough["records"].to_numpy()))
    else:
        other = 0
    return Names(name, len(texts) if missing_alone else -1, tuple(texts), other)


def _found_numbers(name: str, column: pl.Series, spec: SyntheticColumn, k: int, bins: int) -> Coded:
    """Numbers in intervals that k people share; the ends are where k people lie, not where one does."""
    numbers = column.drop_nulls().drop_nans()
    n_missing = len(column) - len(numbers)
    if len(numbers) < k:
        raise DataError(
            "E450",
            f"fewer than {k} people have a number in '{name}', so nothing can be said about it",
            hint=f"{name}: drop",
        )
    values = numbers.to_numpy()
    step = spec.step or _step_of(values)
    low, high = (np.partition(values, i)[i] for i in (k - 1, len(values) - k))
    low, high = (spec.low if spec.low is not None else low), (spec.high if spec.high is not None else high)
    ends = np.rint(np.array([min(low, high), max(low, high)]) / step)
    ticks = np.clip(np.rint(values / step), *ends).astype(np.int64)
    distinct, counts = np.unique(ticks, return_counts=True)
    if spec.width is not None:
        group = (distinct - distinct[0]) // max(round(spec.width / step), 1)
        _, starts = np.unique(group, return_index=True)
        counts_in = np.add.reduceat(counts, starts)
        joined = bins_of_counts(counts_in, k, k)
        bin_of = np.repeat(joined, np.diff(np.append(starts, len(distinct))))
    else:
        bin_of = bins_of_counts(counts, k, max(k, -(-len(values) // bins)))
    starts = np.flatnonzero(np.diff(bin_of, prepend=-1))
    lo, hi = distinct[starts], distinct[np.append(starts[1:], len(distinct)) - 1]
    own = n_missing >= k
    middle = int(np.searchsorted(lo, np.median(ticks), side="right")) - 1
    return Numbers(name, len(lo) if own else -1, lo, hi, step, middle)


def _step_of(values: Floats) -> float:
    """What all numbers are multiples of: 1, or a power of ten below; finer than a millionth of the range is noise."""
    for places in range(7):
        scaled = values * 10.0**places
        if np.all(np.abs(scaled - np.rint(scaled)) < 1e-6):
            return float(10.0**-places)
    spread = float(values.max() - values.min())
    return float(10.0 ** (math.floor(math.log10(spread)) - 6))

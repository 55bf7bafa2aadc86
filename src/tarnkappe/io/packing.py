"""Rows of codes packed into few words: how many bits each column has, and how often each row occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.threads import share_evenly

_WORD_BITS = 63

#: Bits to spare where codes need several words anyway.
_AHEAD = 2

#: What the numbers of rows are called beside words.
_OFTEN = "n"


def bits_for(n_values: int) -> int:
    """Bits that hold the codes of so many values and of the missing one."""
    return max(n_values.bit_length(), 1)


@dataclass(frozen=True)
class Layout:
    """How many bits the codes of each column have; columns share words in their order, the first one on top.

    >>> layout = Layout({"a": 3, "b": 60, "c": 1})
    >>> layout.words
    [['a', 'b'], ['c']]
    >>> packed = layout.pack(np.array([[1, 5, 0], [7, 0, 1]], np.int32))
    >>> layout.unpack(packed).tolist()
    [[1, 5, 0], [7, 0, 1]]
    """

    bits: Mapping[str, int]

    @cached_property
    def words(self) -> list[list[str]]:
        """Which columns share a word."""
        words: list[list[str]] = [[]]
        used = 0
        for name, bits in self.bits.items():
            if used + bits > _WORD_BITS:
                words.append([])
                used = 0
            words[-1].append(name)
            used += bits
        return words

    @property
    def titles(self) -> list[str]:
        """What words are called as columns."""
        return [f"word{i}" for i in range(len(self.words))]

    @classmethod
    def with_room(cls, needed: Mapping[str, int], spare: Sequence[str]) -> Layout:
        """So many bits for each column, and some to spare for these: what one word has left, if one can do.

        >>> Layout.with_room({"a": 3, "b": 40, "c": 1}, spare=["a", "b"]).bits
        {'a': 12, 'b': 49, 'c': 1}
        """
        left = _WORD_BITS - sum(needed.values())
        more = left // len(spare) if spare and left >= 0 else _AHEAD
        return cls({name: bits + more * (name in spare) for name, bits in needed.items()})

    def pack(self, codes: NDArray[np.int32]) -> pl.DataFrame:
        """The words of rows of codes."""
        at = {name: j for j, name in enumerate(self.bits)}
        words = {}
        for title, names in zip(self.titles, self.words, strict=True):
            word = np.zeros(len(codes), np.uint64)
            for name in names:
                word = (word << np.uint64(self.bits[name])) | codes[:, at[name]].astype(np.uint64)
            words[title] = word
        return pl.DataFrame(words)

    def unpack(self, packed: pl.DataFrame) -> NDArray[np.int32]:
        """The codes of every column, read off the words."""
        at = {name: j for j, name in enumerate(self.bits)}
        codes = np.empty((packed.height, len(at)), np.int32, order="F")  # columns are looked at one by one
        words = [packed[title].to_numpy() for title in self.titles]

        def read(begin: int, end: int) -> None:
            for word, names in zip(words, self.words, strict=True):
                rest = word[begin:end]
                for name in reversed(names):
                    shift = np.uint64(self.bits[name])
                    above = rest >> shift
                    codes[begin:end, at[name]] = rest - (above << shift)
                    rest = above

        share_evenly(read, len(codes))
        return codes


class Packed(NamedTuple):
    """Rows as words, as they were laid out then; where rows are counted, how often each occurs."""

    layout: Layout
    words: pl.DataFrame

    def now(self, layout: Layout) -> pl.DataFrame:
        """The same in another layout."""
        if layout is self.layout:
            return self.words
        counts = [self.words[_OFTEN]] if _OFTEN in self.words.columns else []
        return layout.pack(self.layout.unpack(self.words)).with_columns(counts)

    def counted(self, layout: Layout) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        """The words, and how often each row occurs."""
        frame = self.now(layout)
        return frame.select(layout.titles), frame[_OFTEN].to_numpy()


def distinct(parts: Sequence[Packed], layout: Layout) -> Packed:
    """The distinct rows and how often each occurs; single words are sorted by numpy, which is swiftest."""
    frames = [part.now(layout) for part in parts]
    if len(layout.titles) > 1:
        rows = pl.concat(frames).lazy().group_by(layout.titles).agg(pl.len().cast(pl.Int64).alias(_OFTEN))
        return Packed(layout, rows.collect(engine="streaming"))
    words = np.concatenate([frame.to_series().to_numpy() for frame in frames])
    words.sort()
    first = np.flatnonzero(np.append(True, words[1:] != words[:-1])[: len(words)])
    return Packed(layout, pl.DataFrame({layout.titles[0]: words[first], _OFTEN: np.diff(first, append=len(words))}))


def added_up(parts: Sequence[Packed], layout: Layout) -> Packed:
    """Counted rows as one, every row once."""
    if len(parts) == 1:
        return parts[0]
    rows = pl.concat([part.now(layout) for part in parts]).lazy()
    return Packed(layout, rows.group_by(layout.titles).agg(pl.col(_OFTEN).sum()).collect(engine="streaming"))

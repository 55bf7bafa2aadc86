"""How many words occur once, how many twice, and so on."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.threads import map_threads

Words = NDArray[np.uint64]

#: So many words are dealt to partitions; fewer are sorted at once, which needs no kernels of its own.
_MANY = 1 << 18

#: Words of a partition, about; there are no more partitions than so many.
_FEW, _MOST = 1 << 13, 1 << 13

#: Slots for the different words of a partition, for each of the words that it has on average.
_SLOTS = 4

#: Words that are repeated less often are counted together with others.
_OFTEN = 1 << 12


def repeats_of(words: pl.Series) -> dict[int, int]:
    """How many words occur once, how many twice, and so on.

    >>> repeats_of(pl.Series([3, 3, 5, 7, 7], dtype=pl.UInt64))
    {1: 1, 2: 2}
    """
    from tarnkappe.kernels.sorting import count_runs

    if len(words) < _MANY:
        return count_runs(words.sort().to_numpy())
    from tarnkappe.kernels.io.repeats import count_partitions, deal_words, weigh_words

    parts = [chunk.to_numpy() for chunk in words.get_chunks()]
    n = max(min(len(words) // _FEW, _MOST), 1)
    bits = max((n - 1).bit_length(), 1)
    sizes = np.zeros((len(parts), 1 << bits), np.int64)
    map_threads(lambda i: weigh_words(parts[i], bits, sizes[i]), range(len(parts)))
    ends = np.cumsum(sizes.sum(axis=0))
    at = np.cumsum(sizes, axis=0) - sizes + (ends - sizes.sum(axis=0))
    dealt = np.empty(len(words), np.uint64)
    map_threads(lambda i: deal_words(parts[i], bits, at[i], dealt), range(len(parts)))
    found: Counter[int] = Counter()
    room = 1 << (_SLOTS * max(len(words) >> bits, _FEW)).bit_length()

    def count(bounds: tuple[int, int]) -> Counter[int]:
        slots, times = np.empty(room, np.uint64), np.empty(room, np.uint32)
        counted, own, first = np.zeros(_OFTEN, np.int64), Counter[int](), bounds[0]
        while (first := count_partitions(dealt, ends, first, bounds[1], slots, times, counted)) < bounds[1]:
            own.update(count_runs(np.sort(dealt[ends[first - 1] if first else 0 : ends[first]])))
            first += 1
        counted[0] = 0
        own.update({int(length): int(counted[length]) for length in np.flatnonzero(counted)})
        return own

    for own in map_threads(count, pairwise(np.linspace(0, 1 << bits, 9).astype(int).tolist())):
        found.update(own)
    return dict(sorted(found.items()))

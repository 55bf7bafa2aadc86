"""Drawing from many categorical distributions at once, with one random word per draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Words = NDArray[np.uint32]
Codes = NDArray[np.intp]

WORD_BITS = 32


@dataclass(frozen=True, eq=False)
class AliasTable:
    """One categorical distribution per context, drawn from in constant time (the alias method).

    Every distribution is cut into ``2**bits`` slots of equal probability, each shared by at most two
    outcomes: its own and its `other`. The high bits of a random word choose the slot, the low bits choose
    between the two. An outcome of probability zero is never drawn. Each slot is split to the nearest
    ``2**-32``.

    >>> coin = AliasTable.of([[0.25, 0.75], [1.0, 0.0]])
    >>> words = np.array([0, 2**30, 2**31, 2**32 - 1], np.uint32)
    >>> coin.draw(words, np.array([0, 0, 0, 1])).tolist()
    [0, 1, 1, 0]

    References
    ----------
    .. [W77] Walker. "An efficient method for generating discrete random variables with general
       distributions." ACM Transactions on Mathematical Software 3(3), 1977.
    """

    bits: int
    threshold: Words
    other: Codes

    @classmethod
    def of(cls, weights: ArrayLike) -> AliasTable:
        """Build from one row of non-negative weights per context; rows need not add up to one."""
        rows = np.atleast_2d(np.asarray(weights, np.float64))
        total = rows.sum(axis=1, keepdims=True)
        if (rows < 0).any() or not (total > 0).all():
            raise ValueError("every row of weights needs a positive sum and no negative entry")
        contexts, outcomes = rows.shape
        bits = max(1, (outcomes - 1).bit_length())
        slots = 1 << bits
        low = np.zeros((contexts, slots))
        low[:, :outcomes] = rows / total * slots
        high = low.copy()
        share = np.ones((contexts, slots))
        other = np.tile(np.arange(slots, dtype=np.intp), (contexts, 1))
        every = np.arange(contexts)
        # One slot per round and context: the poorest slot is filled up by the richest. A settled slot becomes
        # infinitely rich for the search of the poorest, and infinitely poor for that of the richest.
        for _ in range(slots - 1):
            poor = low.argmin(axis=1)
            rich = high.argmax(axis=1)
            share[every, poor] = low[every, poor]
            other[every, poor] = rich
            high[every, rich] -= 1.0 - low[every, poor]
            low[every, rich] = high[every, rich]
            low[every, poor] = np.inf
            high[every, poor] = -np.inf
        unit = float(1 << (WORD_BITS - bits))
        threshold = np.rint(np.clip(share, 0.0, 1.0) * unit).astype(np.uint32)
        return cls(bits, threshold.ravel(), other.ravel())

    def draw(self, words: Words, context: NDArray[np.integer] | None = None) -> Codes:
        """One outcome per word, from the distribution of its context (the first one without a context)."""
        shift = WORD_BITS - self.bits
        own = (words >> np.uint32(shift)).astype(np.intp)
        slot = own if context is None else own + (context << self.bits)
        kept = (words & np.uint32((1 << shift) - 1)) < self.threshold.take(slot)
        return np.where(kept, own, self.other.take(slot))

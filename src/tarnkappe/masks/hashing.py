"""Keyed hashes of the texts of a column, all at once."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.io.texts import texts_as_views

#: Longer keys cannot be taken; those that are derived from the one in a file have as many.
_MOST_BYTES = 32


def keyed_words(key: bytes, texts: pl.Series, words: int = 8) -> NDArray[np.uint32]:
    """BLAKE2s of every text under a key (RFC 7693), the first so many of its eight words.

    It is a pseudorandom function like HMAC-SHA256: without the key its values are as good as random, however many are
    seen. The key takes a block of its own, which is hashed once for all texts. So a text of up to 64 bytes takes one
    compression of ten rounds, where HMAC takes two of 64.

    >>> import hashlib
    >>> words = keyed_words(b"k" * 32, pl.Series(["Ada", "Grace"]))
    >>> words[1].astype("<u4").tobytes() == hashlib.blake2s(b"Grace", key=b"k" * 32).digest()
    True
    """
    from tarnkappe.kernels.masks.hashing import keyed_hashes, keyed_states
    from tarnkappe.threads import share_out

    if not 0 < len(key) <= _MOST_BYTES:
        raise ValueError(f"a key of {len(key)} bytes")
    views, buffers, owner = texts_as_views(texts)
    states = keyed_states(np.frombuffer(key, np.uint8))
    out = np.empty((len(views), words), np.uint32)

    def task(first: int, after: int) -> None:
        keyed_hashes(states, views, buffers, first, after, out)

    share_out(task, np.arange(len(views) + 1, dtype=np.int64))
    del owner  # of the memory that was read
    return out

"""Keyed hashes of the texts of a column, all at once."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.io.texts import texts_as_bytes

#: Bytes of a block of SHA-256, and what HMAC mixes with the key.
_BLOCK, _INNER, _OUTER = 64, 0x36, 0x5C


def keyed_words(key: bytes, texts: pl.Series) -> NDArray[np.uint32]:
    """HMAC-SHA256 of every text, as eight words.

    >>> import hmac
    >>> words = keyed_words(b"k" * 32, pl.Series(["Ada", "Grace"]))
    >>> words[1].astype(">u4").tobytes() == hmac.digest(b"k" * 32, b"Grace", "sha256")
    True
    """
    from tarnkappe.kernels.masks.hashing import hmac_words, keyed_state
    from tarnkappe.threads import share_out

    text, ends = texts_as_bytes(texts.cast(pl.String))
    inner, outer = (keyed_state(block) for block in _blocks(key))
    out = np.empty((len(ends), 8), np.uint32)

    def task(first: int, after: int) -> None:
        hmac_words(inner, outer, text, ends, first, after, out)

    share_out(task, np.arange(len(ends) + 1, dtype=np.int64))
    return out


def _blocks(key: bytes) -> list[NDArray[np.uint32]]:
    """The blocks that HMAC puts before a text and before its hash."""
    short = hashlib.sha256(key).digest() if len(key) > _BLOCK else key
    padded = np.frombuffer(short.ljust(_BLOCK, b"\0"), np.uint8)
    return [np.frombuffer((padded ^ pad).tobytes(), ">u4").astype(np.uint32) for pad in (_INNER, _OUTER)]

"""Texts that become others of the same form: a digit for every digit, a letter for every letter, all else as it is."""

from __future__ import annotations

import numpy as np
import polars as pl

from tarnkappe.io.texts import bytes_as_texts, texts_as_bytes
from tarnkappe.masks.hashing import keyed_words

#: Rounds of the Feistel network.
_ROUNDS = 10

#: Texts of a form with fewer different ones than a million could all be tried: log10 of the number of texts.
FEWEST = 6.0


def room(text: pl.Expr) -> pl.Expr:
    """How many texts there are of the form of each, as a power of ten."""
    digits, letters = text.str.count_matches("[0-9]"), text.str.count_matches("[A-Za-z]")
    return digits + letters * float(np.log10(26))


def respelt(key: bytes, texts: pl.Series, *, back: bool = False) -> pl.Series:
    """Another text of the same form for each, different ones for different texts; `back` reverses it.

    >>> made = respelt(b"k" * 32, pl.Series(["AB-123456", "AB-123457", None]))
    >>> respelt(b"k" * 32, made, back=True).to_list()
    ['AB-123456', 'AB-123457', None]
    """
    from tarnkappe.kernels.masks.spelling import add_words, messages

    whole, ends = texts_as_bytes(texts)
    signs = whole.copy()
    tell = np.empty(len(signs) + len(ends), np.uint8)
    told = ends + np.arange(1, len(ends) + 1)
    for step in range(_ROUNDS):
        number = _ROUNDS - 1 - step if back else step
        messages(signs, ends, number, tell)
        told_texts = _as_messages(tell, told)
        add_words(signs, ends, number % 2, keyed_words(key, told_texts), -1 if back else 1)
    return bytes_as_texts(signs, ends, texts.name, texts.is_null().to_numpy())


def redrawn(key: bytes, texts: pl.Series, first: int = 0, last: int = 0) -> pl.Series:
    """A text of the same form for each, drawn anew under a key; some signs at its beginning and end stay.

    Nobody can reverse it, but different texts may become the same.
    """
    from tarnkappe.kernels.masks.spelling import draw_words

    whole, ends = texts_as_bytes(texts)
    signs = whole.copy()
    draw_words(signs, ends, keyed_words(key, texts), first, last)
    return bytes_as_texts(signs, ends, texts.name, texts.is_null().to_numpy())


def _as_messages(tell: np.ndarray, ends: np.ndarray) -> pl.Series:
    return bytes_as_texts(tell, ends, "", np.zeros(len(ends), np.bool_))

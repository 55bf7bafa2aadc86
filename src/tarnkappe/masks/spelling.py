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


#: Letters and digits of all scripts, accents included, and what stands for each class.
FORM = ((r"\p{N}", "0"), (r"\p{Lu}", "A"), (r"[\p{L}\p{M}]", "a"))

#: What is none of 0 to 9, a to z and A to Z.
_BEYOND = "&&[^0-9a-zA-Z]"


def has_foreign(text: pl.Expr) -> pl.Expr:
    """Whether some text has letters or digits of other scripts; only texts that are longer in bytes can have any."""
    longer = text.str.len_bytes() > text.str.len_chars()
    return text.filter(longer).str.contains(rf"[\p{{N}}\p{{L}}\p{{M}}{_BEYOND}]").any()


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

    Nobody can reverse it, but different texts may become the same. Letters and digits of other scripts become ones of
    A to Z and 0 to 9.
    """
    from tarnkappe.kernels.masks.spelling import draw_words

    parts = texts.to_frame("x").select(*_parted(pl.col("x"), first, last))
    if parts.select(has_foreign(pl.col("inside"))).item():
        for signs, stands_for in FORM:
            plain = pl.col("inside").str.replace_all(f"[{signs}{_BEYOND}]", stands_for)
            parts = parts.with_columns(plain)
    whole, ends = texts_as_bytes(parts["inside"])
    drawn = whole.copy()
    draw_words(drawn, ends, keyed_words(key, texts))
    inside = bytes_as_texts(drawn, ends, texts.name, texts.is_null().to_numpy())
    if not first and not last:
        return inside
    return parts.select(pl.col("before") + pl.lit(inside) + pl.col("after")).to_series().alias(texts.name)


def _parted(text: pl.Expr, first: int, last: int) -> list[pl.Expr]:
    """The signs that stay before and after, and those between."""
    n = text.str.len_chars().cast(pl.Int64)
    begin = pl.min_horizontal(n, first)
    end = pl.max_horizontal(n - last, begin)
    inside = text.str.slice(begin, end - begin)
    return [
        text.str.slice(0, begin).alias("before"),
        inside.alias("inside"),
        text.str.slice(end).alias("after"),
    ]


def _as_messages(tell: np.ndarray, ends: np.ndarray) -> pl.Series:
    return bytes_as_texts(tell, ends, "", np.zeros(len(ends), np.bool_))

"""Values as texts, and columns of texts as bytes that stand one after another, and back."""

from __future__ import annotations

import numpy as np
import polars as pl

from tarnkappe.arrays import Bytes, Counts, Flags


def is_text(dtype: pl.DataType) -> bool:
    """Whether a column holds text, plain or as categories."""
    return isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))


def plain_text(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A value as a text; a whole number is the same text in a column of floats as in one of whole numbers.

    >>> pl.select(plain_text(pl.lit(pl.Series([7.0, 7.5, None])), pl.Float64())).to_series().to_list()
    ['7', '7.5', None]
    """
    if not dtype.is_float():
        return value.cast(pl.String)
    whole = (value == value.floor()) & value.is_finite() & (value.abs() < 2.0**53)
    as_whole = value.clip(-(2.0**53), 2.0**53).cast(pl.Int64, strict=False).cast(pl.String)
    return pl.when(whole).then(as_whole).otherwise(value.cast(pl.String))


def plain_texts(values: pl.Series) -> pl.Series:
    """A column as plain texts."""
    return values.to_frame("v").select(plain_text(pl.col("v"), values.dtype).alias(values.name)).to_series()


def texts_as_bytes(texts: pl.Series) -> tuple[Bytes, Counts]:
    """All texts one after another as UTF-8, and where each ends; a missing one is empty."""
    whole = texts.fill_null("")
    ends = whole.str.len_bytes().cast(pl.Int64).cum_sum().to_numpy()
    joined = whole.str.join("").item() if len(whole) else ""
    return np.frombuffer(joined.encode(), np.uint8), ends


def bytes_as_texts(text: Bytes, ends: Counts, name: str, missing: Flags) -> pl.Series:
    """Texts of which the bytes stand one after another."""
    import pyarrow as pa

    offsets = np.append(0, ends).astype(np.int64)
    array = pa.Array.from_buffers(
        pa.large_string(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text))]
    )
    made = pl.Series(name, array, dtype=pl.String)
    if not missing.any():
        return made
    return made.to_frame().select(pl.when(~pl.lit(pl.Series(missing))).then(pl.first()).alias(name)).to_series()

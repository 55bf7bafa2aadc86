"""Values as texts, and columns of texts as bytes that stand one after another, and back."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Codes, Counts, Flags, Floats

#: Bytes in one buffer of texts that have views.
_MOST = (1 << 31) - 1


def is_text(dtype: pl.DataType) -> bool:
    """Whether a column holds text, plain or as categories."""
    return isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))


def as_text(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A value as a text; of a time of day, Polars itself would leave out what is less than a second.

    >>> pl.select(as_text(pl.lit(pl.Series([1_500_000_000], dtype=pl.Time)), pl.Time())).item()
    '00:00:01.500'
    """
    return value.dt.to_string("%H:%M:%S%.f") if dtype == pl.Time else value.cast(pl.String)


def plain_text(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A value as a text; a whole number is the same text in a column of floats as in one of whole numbers.

    >>> pl.select(plain_text(pl.lit(pl.Series([7.0, 7.5, None])), pl.Float64())).to_series().to_list()
    ['7', '7.5', None]
    """
    if not dtype.is_float():
        return as_text(value, dtype)
    whole = (value == value.floor()) & value.is_finite() & (value.abs() < 2.0**53)
    as_whole = value.clip(-(2.0**53), 2.0**53).cast(pl.Int64, strict=False).cast(pl.String)
    return pl.when(whole).then(as_whole).otherwise(value.cast(pl.String))


def plain_texts(values: pl.Series) -> pl.Series:
    """A column as plain texts."""
    return values.to_frame("v").select(plain_text(pl.col("v"), values.dtype).alias(values.name)).to_series()


def series_of(numbers: Floats) -> pl.Series:
    """Floats as a column, without a copy if all are numbers; no number (NaN) is missing."""
    import pyarrow as pa

    column = pl.Series("", pa.array(numbers), dtype=pl.Float64)
    return column.fill_nan(None) if np.isnan(numbers.sum()) else column


def texts_as_bytes(texts: pl.Series) -> tuple[Bytes, Counts]:
    """All texts one after another as UTF-8, and where each ends; a missing one is empty."""
    whole = texts.fill_null("")
    ends = whole.str.len_bytes().cast(pl.Int64).cum_sum().to_numpy()
    joined = whole.str.join("").item() if len(whole) else ""
    return np.frombuffer(joined.encode(), np.uint8), ends


def bytes_as_texts(text: Bytes, ends: Counts, name: str, missing: Flags) -> pl.Series:
    """Texts of which the bytes stand one after another."""
    import pyarrow as pa

    from tarnkappe.kernels.io.views import make_views

    n, content = len(ends), np.ascontiguousarray(text)
    known = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    if len(content) > _MOST:  # places in a view have 32 bits
        offsets = pa.py_buffer(np.append(0, ends).astype(np.int64))
        array = pa.Array.from_buffers(pa.large_string(), n, [known, offsets, pa.py_buffer(content)])
    else:
        views = np.zeros((n, 4), np.int32)
        make_views(content, ends, views)
        array = pa.Array.from_buffers(pa.string_view(), n, [known, pa.py_buffer(views), pa.py_buffer(content)])
    return pl.Series(name, array, dtype=pl.String)


def texts_as_views(texts: pl.Series) -> tuple[NDArray[np.int32], Counts, object]:
    """Texts as Arrow keeps them: a view of four numbers each, the addresses of their buffers, and what owns them.

    A missing one is empty. Nothing is copied.
    """
    whole = texts.cast(pl.String).fill_null("").rechunk()
    array = whole.to_arrow(compat_level=pl.CompatLevel.newest())
    _, first, *buffers = array.buffers()
    views = np.frombuffer(first, np.int32).reshape(-1, 4)[array.offset : array.offset + len(array)]
    return views, np.array([buffer.address for buffer in buffers], np.int64), array


def fields_as_texts(text: Bytes, begin: int, ends: Codes, fields: int, field: int, n: int) -> pl.Series:
    """One field of `n` records of a plain CSV file, as long as the bytes are there; an empty one is missing.

    `ends` says where the fields of all records end, the first of which begins at `begin`.
    """
    import pyarrow as pa

    from tarnkappe.kernels.io.records import field_views

    views = np.empty((n + 1, 4), np.int32)[:n]  # the last one may be written beyond
    field_views(text, begin, ends, fields, field, views)
    empty = views[:, 0] == 0
    known = pa.py_buffer(np.packbits(~empty, bitorder="little")) if empty.any() else None
    array = pa.Array.from_buffers(pa.string_view(), n, [known, pa.py_buffer(views), pa.py_buffer(text)])
    return pl.Series("", array, dtype=pl.String)

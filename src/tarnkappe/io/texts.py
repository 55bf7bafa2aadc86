"""Columns of texts as bytes that stand one after another, and back."""

from __future__ import annotations

import numpy as np
import polars as pl

from tarnkappe.arrays import Bytes, Counts, Flags


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

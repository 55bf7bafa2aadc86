"""Columns of texts of which there are few, given by their codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tarnkappe.arrays import Codes

if TYPE_CHECKING:  # whoever writes a criterion needs no frames
    import polars as pl

#: Beyond this many different texts a column is written as plain text: an enumeration would only bloat the header.
_MOST = 1 << 16


def text_column(code: Codes, texts: Sequence[str] | pl.Series) -> pl.Series:
    """The text of every code, -1 is null; as an enumeration, unless there are too many texts for one."""
    import polars as pl

    if len(texts) > _MOST:
        text = pl.Series([*texts, None], dtype=pl.String)
        return text.gather(np.where(code < 0, len(texts), code))
    if (code < 0).any():
        physical = pl.Series(code)
        physical = pl.select(pl.when(physical >= 0).then(physical)).to_series()
    else:  # Polars keeps codes without a sign, and has less to do if they come so
        physical = pl.Series(code.view(f"u{code.itemsize}"))
    return physical.cat.to(pl.Enum(texts))

"""Value marks: the classical way, single cells changed by key; only in columns that no criterion reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Flags
from tarnkappe.errors import DataError, JobError
from tarnkappe.fingerprint.code import TardosCode
from tarnkappe.fingerprint.keys import DatasetKey, derived
from tarnkappe.fingerprint.reading import Evidence
from tarnkappe.schema import Schema


def mark_values(
    table: pl.DataFrame, schema: Schema, column: str, key: DatasetKey, recipient: str, *, length: int, every: int = 10
) -> pl.DataFrame:
    """Mark about every tenth whole number of a column: its last bit becomes a bit of the recipient.

    The other columns of a row decide by key whether it is marked, and with which bit; there is no need for an
    identifier. A quasi-identifier or a sensitive column is refused: changing single cells there would break criteria.

    Differs from the paper in: the key of a row is made of its other columns, and bits are those of a Tardos code.

    References
    ----------
    .. [LSJ05] Li, Swarup, Jajodia. "Fingerprinting relational databases: schemes and specialties." IEEE TDSC 2005.
    """
    if schema[column].role != "keep":
        raise JobError(
            "E111",
            f"'{column}' is read by criteria: value marks there would break what they promise",
            hint=f"Mark a column with  {column}: {{role: keep}}  only, or use block marks.",
        )
    values = _whole(table, column)
    position, marked = _places(table, column, key, length, every)
    bits = TardosCode(key, length).bits(recipient)
    wanted = bits[position].astype(np.int64)
    changed = np.where(marked, values - (values % 2) + wanted, values)
    return table.with_columns(pl.Series(column, changed).cast(table[column].dtype))


def read_values(table: pl.DataFrame, column: str, key: DatasetKey, *, length: int, every: int = 10) -> Evidence:
    """What a leak shows at every position of the code; `tracing.score_recipients` compares it with the recipients."""
    values = _whole(table, column)
    position, marked = _places(table, column, key, length, every)
    votes = np.zeros((length, 3))
    np.add.at(votes, (position[marked], values[marked] % 2), 1.0)
    return Evidence(votes, votes, (votes.sum(axis=1) > 0).astype(np.float64), 0.0, table.height)


def _whole(table: pl.DataFrame, column: str) -> NDArray[np.int64]:
    if not table[column].dtype.is_integer() or table[column].null_count():
        raise DataError("E406", f"'{column}' is not a column of whole numbers without gaps", hint="Choose another one.")
    return table[column].to_numpy().astype(np.int64)


def _places(
    table: pl.DataFrame, column: str, key: DatasetKey, length: int, every: int
) -> tuple[NDArray[np.int64], Flags]:
    """The position of every row, and whether it is marked: keyed digests of its other texts, mixed."""
    mixed = np.zeros(table.height, np.uint64)
    for name in sorted(set(table.columns) - {column}):
        texts = table[name].cast(pl.String)
        drawn = {t: int.from_bytes(derived(key.raw, "row", name, t or "")[:8], "big") for t in texts.unique().to_list()}
        mixed += texts.replace_strict(drawn, return_dtype=pl.UInt64).to_numpy()
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    marked: Flags = (mixed // np.uint64(length)) % np.uint64(every) == 0
    return (mixed % np.uint64(length)).astype(np.int64), marked


def columns_to_mark(schema: Schema) -> Sequence[str]:
    """The columns in which value marks are allowed."""
    return [c.name for c in schema.columns if c.role == "keep"]

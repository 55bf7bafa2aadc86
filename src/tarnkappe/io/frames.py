"""Data frames of any kind: recognise them, read them, and give back the kind that was given."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any, Literal, cast

import polars as pl
import polars.selectors as cs

from tarnkappe.errors import DataError
from tarnkappe.io.base import Source, on_the_clock
from tarnkappe.io.headers import check_columns

FrameKind = Literal["polars", "pandas", "pyarrow", "arrow"]


def frame_kind(data: object) -> FrameKind | None:
    """Which library made the frame; none if it is not a frame.

    pandas and pyarrow are recognised by name, so that neither is imported for somebody who does not use it. Anything
    else that hands over its rows by the Arrow PyCapsule interface is taken as well: relations of DuckDB, tables of
    Ibis, frames of Narwhals.

    >>> frame_kind(pl.DataFrame({"a": [1]}))
    'polars'
    """
    if isinstance(data, (pl.DataFrame, pl.LazyFrame)):
        return "polars"
    for cls in type(data).__mro__:
        library = cls.__module__.split(".")[0]
        if library == "pandas" and cls.__name__ == "DataFrame":
            return "pandas"
        if library == "pyarrow" and cls.__name__ == "Table":
            return "pyarrow"
    is_column = type(data).__name__ in ("Series", "ChunkedArray", "Column")
    hands_over = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    return "arrow" if hands_over and not is_column else None


def like(original: object, result: pl.DataFrame) -> Any:
    """The result as the kind of frame that was given; a path or a lazy frame gives a Polars data frame.

    Categories become text: a category list also names values that no row has any more, and those may be the very
    values that were to be protected.

    >>> like(pl.LazyFrame({"a": [1]}), pl.DataFrame({"a": [2]})).to_dicts()
    [{'a': 2}]
    """
    result = result.with_columns((cs.categorical() | cs.enum()).cast(pl.String))
    kind = frame_kind(original)
    if kind == "pandas":
        return result.to_pandas()
    if kind == "pyarrow":
        return result.to_arrow(compat_level=pl.CompatLevel.oldest())
    return result


class FrameSource(Source):
    """A data frame in memory.

    A lazy frame is collected here, once: collecting it again for other columns might give the rows in another order.
    """

    may_misdate = True

    def __init__(self, data: object, missing: tuple[str, ...], name: str = "data frame") -> None:
        """Take over the frame as a Polars data frame, without copying where that is possible."""
        kind = frame_kind(data)
        if kind is None:
            # Lazy frames of other libraries hand over nothing before they are collected.
            how = "data.collect()" if hasattr(data, "collect") else "polars.DataFrame(data)"
            raise DataError(
                "E409",
                f"cannot read data of type {type(data).__module__}.{type(data).__qualname__}",
                hint=f"Give a path, a Polars, pandas or PyArrow data frame, or what hands over Arrow data:  {how}",
            )
        self._kind = kind
        self._frame = _as_polars(data, kind)
        super().__init__(name, self._frame.columns, self._frame.height, missing)

    @property
    def format(self) -> str:
        """The library the frame came from."""
        return self._kind

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the rows as an Arrow stream; equal for frames made in the same way from the same rows."""
        sink = _HashSink()
        # The oldest Arrow layout keeps texts one after another, whatever frame they were sliced from.
        self._frame.rechunk().write_ipc_stream(cast(Any, sink), compat_level=pl.CompatLevel.oldest())
        return sink.hash.hexdigest()

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return on_the_clock(self._frame.lazy().select(columns))


class _HashSink:
    """A file that keeps nothing but the hash of what is written to it."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""


def _as_polars(data: Any, kind: FrameKind) -> pl.DataFrame:
    if kind == "polars":
        return data.collect() if isinstance(data, pl.LazyFrame) else cast(pl.DataFrame, data)
    if kind == "arrow":
        data, kind = _table_of(data), "pyarrow"
    names = [str(c) for c in (data.columns if kind == "pandas" else data.column_names)]
    check_columns(names, "data frame")
    try:
        return pl.from_pandas(data) if kind == "pandas" else cast(pl.DataFrame, pl.from_arrow(data))
    except (Exception, pl.exceptions.PanicException):  # Polars panics at kinds of Arrow that it has no place for
        # The libraries' own words may quote a value, so only the column is named.
        column = next((c for i, c in enumerate(names) if not _converts(data, i, kind)), names[0])
        texts = f'df["{column}"] = df["{column}"].astype("string")'
        raise DataError(
            "E409",
            f"column '{column}' of the data frame mixes types or holds objects that are not plain values",
            where="data frame",
            hint=texts if kind == "pandas" else f'table = table.drop_columns("{column}")',
        ) from None


def _table_of(data: Any) -> Any:
    """What a stream of Arrow data holds, if it is a table."""
    import pyarrow as pa

    try:
        return pa.table(data)
    except Exception:  # whatever the other library raises; its words may quote values
        raise DataError(
            "E409",
            f"the Arrow data of {type(data).__module__}.{type(data).__qualname__} are no table, or cannot be read",
            hint="Hand over a table whose query runs, such as  pyarrow.table(data)",
        ) from None


def _converts(data: Any, index: int, kind: FrameKind) -> bool:
    try:
        if kind == "pandas":
            pl.from_pandas(data.iloc[:, [index]])
        else:
            pl.from_arrow(data.select([index]))
    except (Exception, pl.exceptions.PanicException):
        return False
    return True

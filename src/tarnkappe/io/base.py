"""What every source of a table offers, whatever it is read from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import polars as pl
import polars.selectors as cs

from tarnkappe.errors import DataError, did_you_mean
from tarnkappe.fixes import role, say
from tarnkappe.io.cells import BATCH, Cells, Counted, Step, count_rows
from tarnkappe.io.formulas import HARMLESS, RUNS, meant
from tarnkappe.io.headers import check_columns
from tarnkappe.io.kept import one_of_a_kind, restored_rows, together, words
from tarnkappe.io.numbers import as_numbers
from tarnkappe.io.repeats import repeats_of
from tarnkappe.io.texts import is_text
from tarnkappe.wording import plural

if TYPE_CHECKING:
    from tarnkappe.io.csvcodes import Numbered


class Source(ABC):
    """A table that can be read, column by column, as often as needed and always in the same row order.

    A source may hold a temporary file; use it in a ``with`` block, or call `close`, to remove that at once.
    """

    #: What to call the table in messages: the name of the file, or "data frame".
    name: str
    #: Names of all columns, in order.
    columns: tuple[str, ...]
    #: Number of rows, the header not counted.
    n_rows: int
    #: Decimal sign of numbers written as text.
    decimal: str = "."
    #: Whether rows come in the order in which they are stored.
    in_order: ClassVar[bool] = True
    #: Whether the digest may be computed while the rows are read: nothing but a file is asked for both.
    hashed_aside: ClassVar[bool] = False
    #: Whether dates may lie beyond the calendar, and it costs little to look.
    may_misdate: bool = False
    #: Whether texts that a spreadsheet would run are stored with an apostrophe before them.
    spreadsheet_safe: bool = False

    def __init__(self, name: str, columns: Sequence[str], n_rows: int, missing: tuple[str, ...]) -> None:
        """Remember what is common to all sources; refuse tables without rows or without clear column names."""
        check_columns(columns, name)
        if n_rows == 0:
            raise DataError(
                "E402",
                f"'{name}' has a header but no rows",
                where=name,
                hint="Give a file with at least one row of data.",
            )
        self.name = name
        self.columns = tuple(columns)
        self.n_rows = n_rows
        self.missing = missing

    @property
    @abstractmethod
    def format(self) -> str:
        """The format and dialect in a few words."""

    @cached_property
    @abstractmethod
    def sha256(self) -> str:
        """The SHA-256 of the file, or of the rows of a frame, as hexadecimal digits."""

    @abstractmethod
    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        """The columns as they are stored."""

    def _scan_as(self, columns: list[str], types: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """The columns as they are stored, some of them in another type."""
        return self._scan(columns).with_columns(pl.col(name).cast(pl.String).cast(t) for name, t in types.items())

    def unreadable(self) -> DataError:
        """The error to raise when Polars cannot read what looked fine when the source was opened."""
        return DataError(
            "E401",
            f"'{self.name}' cannot be read: it is damaged, or changed since it was opened",
            where=self.name,
            hint="Write the file again, or make a new copy of it.",
        )

    @property
    def description(self) -> str:
        """The source in one line for the screen."""
        rows, columns = plural(self.n_rows, "row"), plural(len(self.columns), "column")
        return f"{self.name} · {rows} · {columns} · {self.format}"

    def stored(self) -> pl.LazyFrame:
        """All columns as they are stored: missing markers are texts."""
        return self._scan(list(self.columns))

    def scan(self, columns: Sequence[str]) -> pl.LazyFrame:
        """The columns as a lazy frame for streaming; missing markers are null, categories are text."""
        chosen = self._known(columns)
        frame = self._scan(chosen)
        return frame.with_columns(self.shown(name, t) for name, t in frame.collect_schema().items() if is_ambiguous(t))

    def scan_as_were(self, types: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """The columns as values of the types that they had before they were written; see `tarnkappe.io.kept`."""
        names = list(types)
        return restored_rows(self.scan(names), self.types(names), types, self.decimal)

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """The columns as a data frame; missing markers are null, categories stay categories unless one is a marker."""
        try:
            frame = self._scan(self._known(columns)).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise self.unreadable() from None  # their own words may quote values
        if columns and frame.height != self.n_rows:
            raise self.unreadable()
        return frame.with_columns(self.cleaned(series) for series in frame if is_ambiguous(series.dtype))

    def batches(
        self,
        columns: Sequence[str],
        types: Mapping[str, pl.DataType],
        select: Sequence[pl.Expr],
        most: int = BATCH,
    ) -> Iterator[pl.DataFrame]:
        """What `select` makes of the columns as they are stored, in batches of `most` rows in their order.

        `types` says how text columns are to be read. Missing markers are left alone; see `cleaned`.
        """
        frame = self._scan_as(self._known(columns), types).select(select)
        try:
            yield from frame.collect_batches(chunk_size=most, engine="streaming")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise self.unreadable() from None  # their own words may quote values

    def counted(self, columns: Sequence[str], step: Step | None = None) -> Counted | None:
        """The distinct rows of these columns as they are stored, if this source has a swifter way than Polars."""
        return None

    def counted_alike(self, columns: Sequence[str]) -> Counted | None:
        """The same, found by Polars, if most rows are like others and can be compared as a whole."""
        return None

    def numbered(self, columns: Sequence[str]) -> Numbered | None:
        """These columns as numbers of the texts that are stored, if this source has a swifter way than Polars."""
        return None

    def typed(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, pl.Series] | None:
        """Columns as numbers, and others as enumerations of texts, if this source has a swifter way than Polars."""
        return None

    def cells(self, columns: Sequence[str], step: Step | None = None) -> Cells:
        """The distinct rows of these columns and how often each occurs; missing markers are missing values."""
        return count_rows(self, columns, step)

    def fingerprint(self, labels: Mapping[str, pl.DataType], carried: Mapping[str, Any]) -> int:
        """The fingerprint of all records (see `tarnkappe.io.kept`) by columns that had these types."""

        def word(wanted: Mapping[str, pl.DataType]) -> pl.Expr:
            return words({name: pl.col(name) for name in wanted})

        try:
            found = self.scan_as_were({**labels, **carried}).select(together(word(labels), word(carried)).sum())
            return int(found.collect(engine="streaming").item())
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise self.unreadable() from None  # their own words may quote values

    def sample(self, columns: Sequence[str], n: int) -> pl.DataFrame:
        """The first `n` rows of these columns; missing markers are null."""
        return self.scan(columns).head(n).collect()

    def collected(self, frame: pl.LazyFrame, *, streaming: bool = False) -> pl.DataFrame:
        """What a query on `scan` finds; an error of ours if the table can no longer be read."""
        try:
            return frame.collect(engine="streaming" if streaming else "auto")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise self.unreadable() from None  # their own words may quote values

    def collected_batches(self, frame: pl.LazyFrame, most: int) -> Iterator[pl.DataFrame]:
        """What a query on `scan` finds, some rows at a time; they come in any order."""
        try:
            yield from frame.collect_batches(chunk_size=most, maintain_order=False, engine="streaming")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise self.unreadable() from None  # their own words may quote values

    def repeats(self, columns: Sequence[str]) -> dict[int, int]:
        """How many combinations of these columns occur once, how many twice, and so on.

        Rows are told apart by 64 bits of a hash: among ten million of them, two are confused in one case of 400 000.

        >>> from tarnkappe.io import open_source
        >>> open_source(pl.DataFrame({"a": [1, 1, 2]})).repeats(["a"])
        {1: 1, 2: 1}
        """
        names = self._known(columns)
        return repeats_of(self.collected(self._scan(names).select(self.row_words(names)), streaming=True).to_series())

    def row_words(self, columns: Sequence[str]) -> pl.Expr:
        """One word of 64 bits for every row of these columns as they are stored; equal rows have the same."""
        return pl.struct(self.shown(n, t) for n, t in self.types(columns).items()).hash().alias("row")

    def n_distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """How many different values each column has, a missing one among them."""
        return self.scan(columns).select(pl.all().n_unique()).collect().row(0, named=True)

    def n_missing(self, columns: Sequence[str]) -> dict[str, int]:
        """How many rows have no value in each column.

        >>> from tarnkappe.io import open_source
        >>> open_source(pl.DataFrame({"a": [1, None, None]})).n_missing(["a"])
        {'a': 2}
        """
        return self.scan(columns).select(pl.all().null_count()).collect().row(0, named=True)

    def with_formulas(self, columns: Sequence[str]) -> list[str]:
        """Which of these columns have texts that a spreadsheet would run as formulas."""
        return self.with_texts(columns, RUNS, HARMLESS)

    def with_texts(self, columns: Sequence[str], like: str, unlike: str | None = None) -> list[str]:
        """Which of these columns have texts that match a pattern, and not another one.

        >>> from tarnkappe.io import open_source
        >>> open_source(pl.DataFrame({"a": ["1,5"], "b": ["x, y"], "c": [1.5]})).with_texts(["a", "b", "c"], ",[0-9]")
        ['a']
        """
        texts = [name for name, t in self.types(columns).items() if is_text(t)]
        if not texts:
            return []
        given = [cs.by_name(name).str for name in texts]  # whatever signs are in the name
        matched = [g.contains(like) if unlike is None else g.contains(like) & ~g.contains(unlike) for g in given]
        found = self.scan(texts).select(m.any() for m in matched).collect(engine="streaming")
        return [name for name, any_of_them in found.row(0, named=True).items() if any_of_them]

    def types(self, columns: Sequence[str]) -> dict[str, pl.DataType]:
        """The types of the columns; categories are text."""
        schema = self._scan(self._known(columns)).collect_schema()
        return {name: pl.String() if is_text(t) else t for name, t in schema.items()}

    def shown(self, name: str, type_: pl.DataType) -> pl.Expr:
        """A column as `scan` shows it, of one that is as it is stored."""
        column = cs.by_name(name)  # whatever signs are in the name
        return self._meant(column.cast(pl.String)) if is_text(type_) else one_of_a_kind(column, type_)

    def cleaned(self, values: pl.Series) -> pl.Series:
        """Values as they are stored, with missing markers as null."""
        if not is_text(values.dtype):
            return values.to_frame().select(one_of_a_kind(pl.first(), values.dtype)).to_series()
        if not isinstance(values.dtype, pl.String):  # categories become text only if they say something else as such
            used = values.unique().cast(pl.String).drop_nulls()
            if self.cleaned(used).equals(used, null_equal=True):
                return values
        return values.cast(pl.String).to_frame().select(self._meant(pl.first())).to_series()

    def _meant(self, text: pl.Expr) -> pl.Expr:
        """What stored texts stand for."""
        return without_markers(meant(text) if self.spreadsheet_safe else text, self.missing)

    def numeric(self, series: pl.Series, column: str | None = None, *, distinct: bool = False) -> pl.Series:
        """The series as numbers: a column read from this source in full, or its `distinct` values; see `as_numbers`."""
        name = column or series.name

        def rows_with(values: list[str]) -> tuple[int, int]:
            rows = self.scan([name]).with_row_index("_row").filter(pl.col(name).cast(pl.String).is_in(values))
            n, first = rows.select(pl.len(), pl.col("_row").min()).collect(engine="streaming").row(0)
            return n, first + 1

        return as_numbers(series, name, self.decimal, self.name, self.line_of, rows_with if distinct else None)

    def line_of(self, row: int) -> int | None:
        """The line of the file on which data row `row` (from 1) begins, if the source has lines."""
        return None

    def close(self) -> None:
        """Remove what the source keeps on disk; it cannot be read afterwards."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.description}>"

    @cached_property
    def odd(self) -> dict[str, str]:
        """What columns hold whose values cannot be compared one by one; such a column can only be left out."""
        return {name: what for name, t in self._stored_types().items() if (what := _odd_kind(t)) is not None}

    def _stored_types(self) -> Mapping[str, pl.DataType]:
        return self._scan(list(self.columns)).collect_schema()

    def _known(self, columns: Sequence[str]) -> list[str]:
        """The asked columns, each once, if the table has them all and their values can be compared."""
        for column in columns:
            if column in self.odd:
                raise DataError(
                    "E408",
                    f"column '{column}' of '{self.name}' holds {self.odd[column]}, which Tarnkappe does not take",
                    where=self.name,
                    hint=say(
                        "{}   or make plain columns of it before:  texts, numbers or dates.", role(column, "drop")
                    ),
                )
            if column not in self.columns:
                raise DataError(
                    "E410",
                    f"'{self.name}' has no column '{column}'{did_you_mean(column, self.columns)}",
                    where=self.name,
                    hint=f"Its columns are: {', '.join(self.columns)}.",
                )
        if self.may_misdate:
            self._refuse_no_dates([name for name in dict.fromkeys(columns) if name not in self._dated])
        return list(dict.fromkeys(columns))

    @cached_property
    def _dated(self) -> set[str]:
        """Columns whose dates and moments, if they hold any, are known to lie within the calendar."""
        return {name for name, t in self._stored_types().items() if t.base_type() not in (pl.Date, pl.Datetime)}

    def _refuse_no_dates(self, columns: Sequence[str]) -> None:
        """Refuse dates beyond the calendar, as a wrong unit makes them: no format writes them, and Polars gives up."""
        if not columns:
            return
        types = self._stored_types()
        beyond = self.collected(self._scan([*columns]).select(_beyond_calendar(n, types[n]) for n in columns))
        for name in beyond.columns:
            if beyond[name].item():
                raise DataError(
                    "E406",
                    f"column '{name}' has dates before the year 1 or after the year 9999",
                    where=self.name,
                    hint=say(
                        "{}   or write the dates again: perhaps seconds were taken for milliseconds.",
                        role(name, "drop"),
                    ),
                )
            self._dated.add(name)


#: What cannot be compared, counted and written in every format, and what to call it.
_ODD_KINDS: tuple[tuple[type[pl.DataType], str], ...] = (
    (pl.List, "lists"),
    (pl.Array, "lists"),
    (pl.Struct, "structures"),
    (pl.Duration, "durations"),
    (pl.Binary, "bytes"),
    (pl.Object, "objects"),
    (pl.Int128, "whole numbers of more than 64 bits"),
    *([(pl.UInt128, "whole numbers of more than 64 bits")] if hasattr(pl, "UInt128") else []),
    *([(pl.Map, "maps")] if hasattr(pl, "Map") else []),
    *([(pl.BaseExtension, "values of another library, such as periods")] if hasattr(pl, "BaseExtension") else []),
)


#: The first and the last day of the calendar, counted from 1970.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896

#: How many of a unit a day has.
_PER_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def _beyond_calendar(column: str, dtype: pl.DataType) -> pl.Expr:
    """Whether a column has dates or moments that no calendar has."""
    per_day = _PER_DAY[dtype.time_unit] if isinstance(dtype, pl.Datetime) else 1
    days = cs.by_name(column).to_physical() // per_day
    return ((days < _FIRST_DAY) | (days > _LAST_DAY)).any()


#: Longer decimal numbers are known to a file's header, and no engine reads them.
_DIGITS = 38


def _odd_kind(dtype: pl.DataType) -> str | None:
    if isinstance(dtype, pl.Decimal) and dtype.precision is not None and dtype.precision > _DIGITS:
        return f"decimal numbers of more than {_DIGITS} digits"
    return next((what for kind, what in _ODD_KINDS if isinstance(dtype, kind)), None)


def on_the_clock(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The frame with moments as the clock of their time zone shows them: a day of birth is the day it was there."""
    return frame.with_columns(cs.datetime(time_zone="*").dt.replace_time_zone(None))


def texts_of(schema: Mapping[str, pl.DataType]) -> list[str]:
    """The columns that hold text."""
    return [name for name, dtype in schema.items() if is_text(dtype)]


def is_ambiguous(dtype: pl.DataType) -> bool:
    """Whether a value of a column may be stored in several ways."""
    return is_text(dtype) or dtype.is_float()


def without_markers(text: pl.Expr, missing: tuple[str, ...]) -> pl.Expr:
    """The text expression with missing markers as null."""
    if not missing:
        return text
    if len(missing) == 1:
        return pl.when(text != missing[0]).then(text)
    return pl.when(~text.is_in(list(missing))).then(text)

"""What can be said about the columns of a table without saying any of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.guards import SAMPLE, Look, look_at
from tarnkappe.io import Source, is_text
from tarnkappe.io.base import without_markers

#: Texts that often stand for a missing value. "NA" is also Namibia, so it only counts among numbers.
_MARKERS = ("?", "N/A", "n/a", "#N/A", "NULL", "NaN", "nan", "k.A.")
_MARKERS_OF_NUMBERS = (*_MARKERS, "NA", "-", ".")

#: Ways to write a date, the unambiguous ones first; a pattern each, to see quickly which one may fit.
_DATE_FORMATS = {
    "%Y-%m-%d": r"^\d{4}-\d{2}-\d{2}$",
    "%d.%m.%Y": r"^\d{1,2}\.\d{1,2}\.\d{4}$",
    "%d/%m/%Y": r"^\d{1,2}/\d{1,2}/\d{4}$",
    "%m/%d/%Y": r"^\d{1,2}/\d{1,2}/\d{4}$",
    "%Y-%m-%d %H:%M:%S": r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$",
    "%Y-%m-%dT%H:%M:%S": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$",
    "%d.%m.%Y %H:%M": r"^\d{1,2}\.\d{1,2}\.\d{4} \d{2}:\d{2}$",
}

#: How Polars writes moments; %f takes any number of digits.
_MOMENT_FORMAT = "%Y-%m-%d %H:%M:%S.%f"


@dataclass(frozen=True)
class ColumnFacts:
    """What a column is made of."""

    name: str
    n_rows: int
    distinct: int
    missing: int
    #: Texts found in it that stand for a missing value.
    markers: tuple[str, ...]
    #: Whether all values are numbers and none is a code with leading zeros.
    numeric: bool
    #: How all its values are written if they are dates.
    date_format: str | None
    #: How many characters every value has, if all have the same number.
    length: int | None
    look: Look
    #: What it holds if that cannot be compared, such as lists.
    odd: str | None = None

    @property
    def kind(self) -> str:
        """What the values are, in a word."""
        if self.odd:
            return self.odd
        return "date" if self.date_format else "number" if self.numeric else "text"

    @property
    def known(self) -> int:
        """Rows that have a value."""
        return self.n_rows - self.missing

    @property
    def uniqueness(self) -> float:
        """Different values per row that has one."""
        return self.distinct / max(self.known, 1)


def column_facts(source: Source) -> tuple[ColumnFacts, ...]:
    """Look at every column: at a sample to see what it may be, then at all rows to make sure."""
    plain = [c for c in source.columns if c not in source.odd]
    frame = source.scan(plain).select(pl.col(c) if c in plain else pl.lit(None).alias(c) for c in source.columns)
    sample = _collect(source, frame.head(SAMPLE))
    markers = _markers(source, frame, sample)
    floats = [c for c in source.columns if sample[c].dtype.is_float()]
    frame = frame.with_columns(
        *(without_markers(pl.col(c), found) for c, found in markers.items() if found),
        pl.col(floats).fill_nan(None),
    )
    sample = _collect(source, frame.head(SAMPLE))
    formats = {c: _possible_formats(sample[c]) for c in source.columns}
    everything = [_measures(i, c, sample[c].dtype, formats[c], source.decimal) for i, c in enumerate(source.columns)]
    row = _collect(source, frame.select(e for group in everything for e in group)).row(0, named=True)
    return tuple(
        _facts(source, i, c, row, markers[c], formats[c], look_at(c, sample[c])) for i, c in enumerate(source.columns)
    )


def _facts(
    source: Source,
    i: int,
    name: str,
    row: dict[str, int],
    markers: tuple[str, ...],
    formats: Sequence[str],
    look: Look,
) -> ColumnFacts:
    known = source.n_rows - row[f"{i} missing"]
    fitting = [form for f, form in enumerate(formats) if known and row[f"{i} date {f}"] == known]
    lengths = row[f"{i} shortest"], row[f"{i} longest"]
    return ColumnFacts(
        name=name,
        n_rows=source.n_rows,
        distinct=row[f"{i} distinct"],
        missing=row[f"{i} missing"],
        markers=markers,
        numeric=known > 0 and row[f"{i} numbers"] == known and not row[f"{i} padded"],
        date_format=fitting[0] if fitting else None,
        length=lengths[0] if lengths[0] == lengths[1] else None,
        look=look,
        odd=source.odd.get(name),
    )


def _measures(i: int, name: str, dtype: pl.DataType, formats: Sequence[str], decimal: str) -> list[pl.Expr]:
    """What is counted over all rows of a column; the results are named by the column's position."""
    column = pl.col(name)
    text = column.cast(pl.String)
    numbers, padded = pl.lit(0), pl.lit(False)
    if dtype.is_numeric():
        numbers = column.is_finite().sum() if dtype.is_float() else column.count()
    elif is_text(dtype):
        numbers = _as_float(text, decimal).is_finite().sum()
        padded = text.str.contains(r"^\s*[+-]?0[0-9]").any()
    dates = [_date_count(text, dtype, form).alias(f"{i} date {f}") for f, form in enumerate(formats)]
    return [
        column.null_count().alias(f"{i} missing"),
        column.drop_nulls().n_unique().alias(f"{i} distinct"),
        numbers.alias(f"{i} numbers"),
        padded.alias(f"{i} padded"),
        text.str.len_chars().min().alias(f"{i} shortest"),
        text.str.len_chars().max().alias(f"{i} longest"),
        *dates,
    ]


def _as_float(text: pl.Expr, decimal: str) -> pl.Expr:
    bare = text.str.strip_chars()
    if decimal == ",":
        bare = pl.when(~bare.str.contains(".", literal=True)).then(bare.str.replace_all(",", ".", literal=True))
    return bare.cast(pl.Float64, strict=False)


def _date_count(text: pl.Expr, dtype: pl.DataType, form: str) -> pl.Expr:
    if dtype.is_temporal():
        return text.count()
    return text.str.to_datetime(form, strict=False, exact=True).count()


def _possible_formats(series: pl.Series) -> tuple[str, ...]:
    """The ways in which the dates of a sample may be written, if they are dates at all."""
    if series.dtype == pl.Date:
        return ("%Y-%m-%d",)
    if isinstance(series.dtype, pl.Datetime):
        return (_MOMENT_FORMAT,)
    known = series.drop_nulls()
    if not is_text(series.dtype) or known.is_empty():
        return ()
    return tuple(form for form, pattern in _DATE_FORMATS.items() if known.str.contains(pattern).all())


def _markers(source: Source, frame: pl.LazyFrame, sample: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """Per column the texts that seem to stand for a missing value; among numbers more texts do."""
    texts = [c for c in source.columns if is_text(sample[c].dtype)]
    if not texts:
        return dict.fromkeys(source.columns, ())
    wanted = {c: _MARKERS_OF_NUMBERS if _mostly_numbers(sample[c], source.decimal) else _MARKERS for c in texts}
    found = _collect(
        source,
        frame.select(
            pl.col(c).filter(pl.col(c).is_in(list(wanted[c]))).unique().sort().implode().alias(c) for c in texts
        ),
    ).row(0, named=True)
    return {c: tuple(found.get(c) or ()) for c in source.columns}


def _mostly_numbers(series: pl.Series, decimal: str) -> bool:
    known = series.drop_nulls()
    numbers = known.to_frame().select(_as_float(pl.first(), decimal).count()).item()
    return bool(numbers > 0.5 * len(known))


def _collect(source: Source, frame: pl.LazyFrame) -> pl.DataFrame:
    try:
        return frame.collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise DataError(
            "E401",
            f"'{source.name}' cannot be read: it is damaged, or changed since it was opened",
            where=source.name,
            hint="Write the file again, or make a new copy of it.",
        ) from None  # their own words may quote values


@dataclass(frozen=True)
class Uniqueness:
    """How well a set of columns tells people apart."""

    columns: tuple[str, ...]
    n_rows: int
    combinations: int
    #: Rows that no other row is like.
    unique: int
    #: Rows in groups of fewer than five.
    in_small_groups: int

    @property
    def share(self) -> float:
        """The share of unique rows."""
        return self.unique / self.n_rows


#: Groups below this size count as small.
SMALL = 5


def uniqueness(source: Source, columns: Sequence[str]) -> Uniqueness:
    """Count the rows that are unique, or nearly so, on some columns.

    >>> from tarnkappe.io import open_source
    >>> uniqueness(open_source(pl.DataFrame({"age": [30, 30, 31], "sex": ["f", "f", "m"]})), ["age", "sex"]).unique
    1
    """
    frame = source.read(columns)
    frame.columns = [str(i) for i in range(frame.width)]
    sizes = frame.group_by(frame.columns).len("records")["records"]
    return Uniqueness(
        tuple(columns),
        source.n_rows,
        len(sizes),
        int((sizes == 1).sum()),
        int(sizes.filter(sizes < SMALL).sum()),
    )

"""What can be said about the columns of a table without saying any of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tarnkappe.io import Source, is_text
from tarnkappe.io.base import without_markers
from tarnkappe.looks.base import Finding, Sight
from tarnkappe.looks.column import SAMPLE, findings

#: Texts that often stand for a missing value, alone in a cell.
_MARKERS = ("?", "-", "--", ".", "N/A", "n/a", "#N/A", "NULL", "NaN", "nan", "k.A.", "k. A.", "NA", "<NA>")

#: Markers that may be the code of a country, a state or a language where all other values are codes of two letters.
_CODES = ("NA",)
_TWO_LETTERS = r"^[A-Z]{2}$"

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

#: Numbers that nothing else can be read from: 1,234 or 1.234,5 or 1 234; and plain ones among them.
_SEPARATED = (
    r"^\s*[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?\s*$"
    r"|^\s*[+-]?[0-9]{1,3}(?:[.' \u{2019}\u{a0}\u{202f}][0-9]{3})+(?:,[0-9]+)?\s*$"
)
#: Numbers that could be thousands or have three places after the point: nobody but the steward can tell.
_DOUBTFUL = r"^\s*[+-]?[1-9][0-9]{0,2}(?:[.,][0-9]{3})+\s*$"
_PLAIN = r"^\s*[+-]?[0-9]+(?:[.,][0-9]+)?\s*$"

#: The open ends of a scale: 90+, <18, ≥ 65, 85 and over.
_OPEN_END = (
    r"^\s*(?:[<>≤≥]=?\s*[0-9]+|[0-9]+\s*(?:\+|(?i:and|or|und|oder) "
    r"(?i:over|older|more|above|mehr|älter|under|younger|less|below)))\s*$"
)

#: Codes of the international classification of diseases, version 10 or, with a point, 9.
_ICD = (
    r"^(?:[A-TV-Z][0-9][0-9AB](?:\.[0-9A-Z]{1,4})?|[A-TV-Z][0-9]{2}[0-9A-Z]{1,4}"
    r"|[0-9]{3}\.[0-9]{1,2}|[EV][0-9]{2,3}\.[0-9]{1,2})$"
)


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
    #: Whether the numbers are all whole.
    whole: bool
    #: Whether all values are numbers, some of them with separators of thousands.
    separated: bool
    #: Whether all values are numbers but for the open ends of the scale, such as 90+.
    open_ended: bool
    #: Whether most values are codes of diagnoses.
    diagnoses: bool
    #: How all its values are written if they are dates.
    date_format: str | None
    #: How many characters every value has, if all have the same number.
    length: int | None
    #: Whether it only says yes or no.
    is_answer: bool
    #: Why it seems to point at people, the worst first.
    findings: tuple[Finding, ...]
    #: What it holds if that cannot be compared, such as lists.
    odd: str | None = None

    @property
    def kind(self) -> str:
        """What the values are, in a word."""
        if self.odd:
            return self.odd
        return "date" if self.date_format else "number" if self.numeric or self.separated else "text"

    @property
    def known(self) -> int:
        """Rows that have a value."""
        return self.n_rows - self.missing

    @property
    def differs(self) -> float:
        """Different values per row that has one."""
        return self.distinct / max(self.known, 1)

    def finding(self, *kinds: str) -> Finding | None:
        """What one of some detectors found."""
        return next((f for f in self.findings if f.kind in kinds), None)

    @property
    def words(self) -> str:
        """The column in a few words, without any of its values.

        >>> from tarnkappe.io import open_source
        >>> column_facts(open_source(pl.DataFrame({"ward": ["A", "B", None]})))[0].words
        '2 different texts, 1 missing'
        """
        if self.odd:
            return self.odd
        what = self.kind
        plural = "" if self.distinct == 1 else "s"
        seen = f"{self.distinct} different {what}{plural}" if self.distinct > 1 else f"{self.distinct} {what}{plural}"
        if self.separated:
            seen += " with separators of thousands"
        if self.open_ended:
            seen = f"{self.distinct} different numbers with open ends such as N+"
        return seen + (f", {self.missing} missing" if self.missing else "")


def column_facts(source: Source, columns: Sequence[str] | None = None) -> tuple[ColumnFacts, ...]:
    """Look at every column: at a sample to see what it may be, then at all rows to make sure."""
    names = source.columns if columns is None else tuple(columns)
    plain = [c for c in names if c not in source.odd]
    frame = source.scan(plain).select(pl.col(c) if c in plain else pl.lit(None).alias(c) for c in names)
    sample = source.collected(frame.head(SAMPLE))
    markers = _markers(source, names, frame, sample)
    floats = [c for c in names if sample[c].dtype.is_float()]
    frame = frame.with_columns(
        *(without_markers(pl.col(c), found) for c, found in markers.items() if found),
        pl.col(floats).fill_nan(None),
    )
    sample = source.collected(frame.head(SAMPLE))
    formats = {c: _possible_formats(sample[c]) for c in names}
    everything = [_measures(i, c, sample[c], formats[c], source.decimal) for i, c in enumerate(names)]
    row = source.collected(frame.select(e for group in everything for e in group)).row(0, named=True)
    return tuple(_facts(source, i, c, row, markers[c], formats[c], sample[c]) for i, c in enumerate(names))


def _facts(
    source: Source,
    i: int,
    name: str,
    row: dict[str, int],
    markers: tuple[str, ...],
    formats: Sequence[str],
    sample: pl.Series,
) -> ColumnFacts:
    known, distinct = source.n_rows - row[f"{i} missing"], row[f"{i} distinct"]
    fitting = [form for f, form in enumerate(formats) if known and row[f"{i} date {f}"] == known]
    lengths = row[f"{i} shortest"], row[f"{i} longest"]
    doubtful = known > 0 and row[f"{i} doubtful"] == known
    numeric = known > 0 and row[f"{i} numbers"] == known and not row[f"{i} padded"] and not doubtful
    sight = Sight.of(name, sample, distinct, known)
    return ColumnFacts(
        name=name,
        n_rows=source.n_rows,
        distinct=distinct,
        missing=row[f"{i} missing"],
        markers=markers,
        numeric=numeric,
        whole=numeric and row[f"{i} whole"] == known,
        separated=not numeric and known > 0 and row[f"{i} separated"] == known,
        open_ended=not numeric and known > 0 and row[f"{i} open"] == known,
        diagnoses=not numeric and sight.share(_ICD) > 0.8,
        date_format=fitting[0] if fitting else None,
        length=lengths[0] if lengths[0] == lengths[1] else None,
        is_answer=sight.is_answer,
        findings=findings(sight),
        odd=source.odd.get(name),
    )


def _measures(i: int, name: str, sample: pl.Series, formats: Sequence[str], decimal: str) -> list[pl.Expr]:
    """What is counted over all rows of a column; the results are named by the column's position."""
    column, dtype = pl.col(name), sample.dtype
    text = column.cast(pl.String)
    numbers, whole, padded, separated, doubtful, open_ended = (pl.lit(0) for _ in range(6))
    if dtype.is_numeric():
        numbers = column.is_finite().sum() if dtype.is_float() else column.count()
        whole = (column == column.round()).sum() if dtype.is_float() or dtype.is_decimal() else column.count()
    elif is_text(dtype):
        value = _as_float(text, decimal)
        numbers, whole = value.is_finite().sum(), (value == value.round()).sum()
        padded = text.str.contains(r"^\s*[+-]?0[0-9]").any()
        # Only where the sample has such a value can all rows be of that kind: it is asked of few columns.
        known = sample.drop_nulls()
        if _some_and_rest(known, _SEPARATED):
            separated = text.str.contains(f"{_SEPARATED}|{_PLAIN}").sum()
            doubtful = text.str.contains(_DOUBTFUL).sum()
        if _some_and_rest(known, _OPEN_END):
            open_ended = text.str.contains(f"{_OPEN_END}|{_PLAIN}").sum()
    dates = [_date_count(text, dtype, form).alias(f"{i} date {f}") for f, form in enumerate(formats)]
    return [
        column.null_count().alias(f"{i} missing"),
        column.drop_nulls().n_unique().alias(f"{i} distinct"),
        numbers.alias(f"{i} numbers"),
        whole.alias(f"{i} whole"),
        padded.alias(f"{i} padded"),
        separated.alias(f"{i} separated"),
        doubtful.alias(f"{i} doubtful"),
        open_ended.alias(f"{i} open"),
        text.str.len_chars().min().alias(f"{i} shortest"),
        text.str.len_chars().max().alias(f"{i} longest"),
        *dates,
    ]


def _some_and_rest(known: pl.Series, pattern: str) -> bool:
    """Whether some values match a pattern, and all others are plain numbers."""
    return bool(known.str.contains(pattern).any()) and bool(known.str.contains(f"{pattern}|{_PLAIN}").all())


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


def _markers(
    source: Source, names: Sequence[str], frame: pl.LazyFrame, sample: pl.DataFrame
) -> dict[str, tuple[str, ...]]:
    """Per column the texts that seem to stand for a missing value."""
    texts = [c for c in names if is_text(sample[c].dtype)]
    if not texts:
        return dict.fromkeys(names, ())
    wanted = {c: _possible_markers(sample[c]) for c in texts}
    found = source.collected(
        frame.select(
            pl.col(c).filter(pl.col(c).is_in(list(wanted[c]))).unique().sort().implode().alias(c) for c in texts
        )
    ).row(0, named=True)
    return {c: tuple(found.get(c) or ()) for c in names}


def _possible_markers(series: pl.Series) -> tuple[str, ...]:
    """The texts that would stand for a missing value in this column: NA is also Namibia."""
    others = series.drop_nulls().unique()
    others = others.filter(~others.is_in(_MARKERS))
    coded = len(others) > 0 and bool(others.str.contains(_TWO_LETTERS).all())
    return tuple(m for m in _MARKERS if not (coded and m in _CODES))


@dataclass(frozen=True)
class Uniqueness:
    """How well a set of columns tells people apart."""

    columns: tuple[str, ...]
    n_rows: int
    combinations: int
    #: Rows that no other row is like.
    unique: int
    #: Rows in groups of fewer than five, or of another number that was asked for.
    in_small_groups: int

    @property
    def share(self) -> float:
        """The share of unique rows."""
        return self.unique / self.n_rows


#: Groups below this size count as small.
SMALL = 5


def uniqueness(source: Source, columns: Sequence[str], small: int = SMALL) -> Uniqueness:
    """Count the rows that are unique, or like fewer than `small` - 1 others, on some columns.

    >>> from tarnkappe.io import open_source
    >>> uniqueness(open_source(pl.DataFrame({"age": [30, 30, 31], "sex": ["f", "f", "m"]})), ["age", "sex"]).unique
    1
    """
    repeats = source.repeats(columns)
    return Uniqueness(
        tuple(columns),
        source.n_rows,
        sum(repeats.values()),
        repeats.get(1, 0),
        sum(times * n for times, n in repeats.items() if times < small),
    )

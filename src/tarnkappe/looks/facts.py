"""What can be said about the columns of a table without saying any of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tarnkappe.io import Source, is_text
from tarnkappe.io.base import without_markers
from tarnkappe.looks.base import Finding, Sight
from tarnkappe.looks.column import SAMPLE, findings
from tarnkappe.looks.measures import ColumnMeasures

#: Texts that often stand for a missing value, alone in a cell.
MARKERS = ("?", "-", "--", ".", "N/A", "n/a", "#N/A", "NULL", "NaN", "nan", "k.A.", "k. A.", "NA", "<NA>")

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
    "%Y-%m": r"^\d{4}-\d{2}$",
    "%m/%Y": r"^\d{1,2}/\d{4}$",
}

#: How Polars writes moments; %f takes any number of digits.
_MOMENT_FORMAT = "%Y-%m-%d %H:%M:%S.%f"

#: Cells that are looked at at a time.
_CELLS = 1 << 20

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
    """Look at every column: at a sample to see what it may be, then at all rows to make sure, some at a time."""
    names = source.columns if columns is None else tuple(columns)
    plain = [c for c in names if c not in source.odd]
    nothing = pl.lit(None, pl.Boolean)
    frame = source.scan(plain).select(pl.col(c) if c in plain else nothing.alias(c) for c in names)
    sample = source.collected(frame.head(SAMPLE))
    wanted = {c: _possible_markers(sample[c]) for c in names}
    sample = sample.select(without_markers(pl.col(c), wanted[c]) for c in names)
    formats = {c: _possible_formats(sample[c]) for c in names}
    seen = {c: ColumnMeasures(sample[c], wanted[c], formats[c], source.decimal) for c in names}
    for batch in source.collected_batches(frame, max(_CELLS // max(len(names), 1), SAMPLE)):
        for column in batch:
            seen[column.name].add(column)
    return tuple(_facts(source, c, seen[c], sample[c]) for c in names)


def _facts(source: Source, name: str, seen: ColumnMeasures, sample: pl.Series) -> ColumnFacts:
    known, distinct = seen.known, seen.distinct
    fitting = [form for form, n in seen.dates.items() if known and n == known]
    doubtful = known > 0 and seen.doubtful == known
    numeric = known > 0 and seen.numbers == known and not seen.padded and not doubtful
    sight = Sight.of(name, sample, distinct, known)
    return ColumnFacts(
        name=name,
        n_rows=source.n_rows,
        distinct=distinct,
        missing=source.n_rows - known,
        markers=seen.markers,
        numeric=numeric,
        whole=numeric and seen.whole == known,
        separated=not numeric and known > 0 and seen.separated == known,
        open_ended=not numeric and known > 0 and seen.open_ended == known,
        diagnoses=not numeric and sight.share(_ICD) > 0.8,
        date_format=fitting[0] if fitting else None,
        length=seen.shortest if seen.shortest == seen.longest else None,
        is_answer=sight.is_answer,
        findings=findings(sight),
        odd=source.odd.get(name),
    )


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


def _possible_markers(series: pl.Series) -> tuple[str, ...]:
    """The texts that would stand for a missing value in this column: NA is also Namibia."""
    if not is_text(series.dtype):
        return ()
    others = series.drop_nulls().unique()
    others = others.filter(~others.is_in(MARKERS))
    coded = len(others) > 0 and bool(others.str.contains(_TWO_LETTERS).all())
    return tuple(m for m in MARKERS if not (coded and m in _CODES))


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

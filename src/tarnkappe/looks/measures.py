"""What is counted over all rows of a column, some rows at a time: memory grows with its different values only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tarnkappe.io import is_text

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

_DATE = "date "


class ColumnMeasures:
    """Counts over the rows of one column. Each different value of a batch is looked at once."""

    def __init__(self, sample: pl.Series, markers: Sequence[str], formats: Sequence[str], decimal: str) -> None:
        """What is worth counting is seen from a sample; `markers` are texts that stand for a missing value."""
        self._wanted, self._measures = list(markers), _measures(sample, formats, decimal)
        self._markers: set[str] = set()
        self._values = _Different()
        self._sums: dict[str, int] = {}
        #: How many characters values have, at least and at most.
        self.shortest: int | None = None
        self.longest: int | None = None
        self.dates = dict.fromkeys(formats, 0)

    def add(self, column: pl.Series) -> None:
        """Look at further rows."""
        values = column.fill_nan(None) if column.dtype.is_float() else column
        found = values.drop_nulls().alias("value").value_counts(name="n")
        if self._wanted:
            is_marker = found["value"].is_in(self._wanted)
            self._markers.update(found["value"].filter(is_marker))
            found = found.filter(~is_marker)
        self._values.add(found["value"])
        told = found.select(self._measures).row(0, named=True)
        shortest, longest = told.pop("shortest"), told.pop("longest")
        if shortest is not None:
            self.shortest = shortest if self.shortest is None else min(self.shortest, shortest)
            self.longest = longest if self.longest is None else max(self.longest, longest)
        for key, n in told.items():
            self._sums[key] = self._sums.get(key, 0) + int(n)
        for form in self.dates:
            self.dates[form] = self._sums.get(_DATE + form, 0)

    @property
    def markers(self) -> tuple[str, ...]:
        """The texts found that stand for a missing value."""
        return tuple(sorted(self._markers))

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return self._values.n

    @property
    def known(self) -> int:
        """Rows that have a value."""
        return self._sums.get("known", 0)

    @property
    def numbers(self) -> int:
        """Rows that are numbers."""
        return self._sums.get("numbers", 0)

    @property
    def whole(self) -> int:
        """Rows that are whole numbers."""
        return self._sums.get("whole", 0)

    @property
    def padded(self) -> bool:
        """Whether there are codes with leading zeros."""
        return self._sums.get("padded", 0) > 0

    @property
    def separated(self) -> int:
        """Rows that are numbers, perhaps with separators of thousands."""
        return self._sums.get("separated", 0)

    @property
    def doubtful(self) -> int:
        """Rows whose separators may be either of thousands or before the places."""
        return self._sums.get("doubtful", 0)

    @property
    def open_ended(self) -> int:
        """Rows that are numbers, or the open end of a scale."""
        return self._sums.get("open", 0)


class _Different:
    """How many different values went by, told apart by 64 bits of a hash each."""

    def __init__(self) -> None:
        self._known: np.ndarray[tuple[int], np.dtype[np.uint64]] = np.zeros(0, np.uint64)
        self._waiting: list[pl.Series] = []
        self._n_waiting = 0

    def add(self, different: pl.Series) -> None:
        """Some values, each once."""
        if different.dtype.is_float():
            different = different + 0.0  # one zero, whatever its sign
        self._waiting.append(different.hash())
        self._n_waiting += len(different)
        if self._n_waiting > 2 * len(self._known):
            self._merge()

    @property
    def n(self) -> int:
        """How many."""
        self._merge()
        return len(self._known)

    def _merge(self) -> None:
        if self._waiting:
            self._known = pl.concat([pl.Series(self._known), *self._waiting]).unique().to_numpy()
            self._waiting, self._n_waiting = [], 0


def _measures(sample: pl.Series, formats: Sequence[str], decimal: str) -> list[pl.Expr]:
    """What is counted of different values and how often each occurs; only what the sample makes possible."""
    value, rows = pl.col("value"), pl.col("n")
    dtype, text = sample.dtype, value.cast(pl.String)
    counted: dict[str, pl.Expr] = {}
    if dtype.is_numeric():
        broken = dtype.is_float() or dtype.is_decimal()
        counted["numbers"] = value.is_finite() if dtype.is_float() else value.is_not_null()
        counted["whole"] = value == value.round() if broken else value.is_not_null()
    elif is_text(dtype):
        number = _as_float(text, decimal)
        counted["numbers"], counted["whole"] = number.is_finite(), number == number.round()
        counted["padded"] = text.str.contains(r"^\s*[+-]?0[0-9]")
        # Only where the sample has such a value can all rows be of that kind: it is asked of few columns.
        known = sample.drop_nulls()
        if _some_and_rest(known, _SEPARATED):
            counted["separated"] = text.str.contains(f"{_SEPARATED}|{_PLAIN}")
            counted["doubtful"] = text.str.contains(_DOUBTFUL)
        if _some_and_rest(known, _OPEN_END):
            counted["open"] = text.str.contains(f"{_OPEN_END}|{_PLAIN}")
    for form in formats:
        is_date = pl.lit(True) if dtype.is_temporal() else _is_date(text, form)
        counted[_DATE + form] = is_date
    return [
        rows.sum().alias("known"),
        *(rows.filter(is_so.fill_null(False)).sum().alias(name) for name, is_so in counted.items()),
        text.str.len_chars().min().alias("shortest"),
        text.str.len_chars().max().alias("longest"),
    ]


def _is_date(text: pl.Expr, form: str) -> pl.Expr:
    return text.str.to_datetime(form, strict=False, exact=True).is_not_null()


def _some_and_rest(known: pl.Series, pattern: str) -> bool:
    """Whether some values match a pattern, and all others are plain numbers."""
    return bool(known.str.contains(pattern).any()) and bool(known.str.contains(f"{pattern}|{_PLAIN}").all())


def _as_float(text: pl.Expr, decimal: str) -> pl.Expr:
    bare = text.str.strip_chars()
    if decimal == ",":
        bare = pl.when(~bare.str.contains(".", literal=True)).then(bare.str.replace_all(",", ".", literal=True))
    return bare.cast(pl.Float64, strict=False)

"""Read a column that the user declared numeric as numbers."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tarnkappe.arrays import LARGEST, SMALLEST
from tarnkappe.errors import DataError
from tarnkappe.fixes import Fix, role, say

_MAX_EXAMPLES = 3

#: Values that tell early that a column does not hold whole numbers only.
_FIRST = 1000
_MAX_EXAMPLE_LENGTH = 20


def as_numbers(
    series: pl.Series,
    column: str,
    decimal: str = ".",
    where: str = "data",
    line_of: Callable[[int], int | None] | None = None,
    rows_with: Callable[[list[str]], tuple[int, int]] | None = None,
    *,
    in_order: bool = True,
) -> pl.Series:
    """The column as whole numbers if all its values are, else as floats; missing values stay missing.

    Spaces around a number do not matter. What is not a finite number is an error that names the first row, counted
    from 1, and its line if `line_of` knows it. `where` names the table in the message. If the series has only the
    distinct values of a column, `rows_with` says how many rows have some of them, and which is the first. Where rows
    are not `in_order`, none is named.

    >>> as_numbers(pl.Series(["007", " 12", None]), "age").to_list()
    [7, 12, None]
    >>> as_numbers(pl.Series(["3,14", "2"]), "size", decimal=",").to_list()
    [3.14, 2.0]
    """
    dtype = series.dtype
    if dtype.is_integer() or dtype in (pl.Boolean, pl.Null):
        whole = series.cast(pl.Int64, strict=False)
        return whole if whole.null_count() == series.null_count() else series.cast(pl.Float64)
    if dtype.is_float() or dtype.is_decimal():
        floats = series.cast(pl.Float64).fill_nan(None)
        bad = floats.is_infinite().fill_null(False)
    elif dtype in (pl.String, pl.Categorical, pl.Enum):
        text = series.cast(pl.String)
        numbers = _parsed(text, decimal)
        if numbers.null_count() > series.null_count():
            numbers = _parsed(text.str.strip_chars(), decimal)
        if numbers.dtype == pl.Int64:
            return numbers
        floats = numbers
        bad = ~floats.is_finite().fill_null(False) & series.is_not_null()
    else:
        moments = isinstance(dtype, (pl.Date, pl.Datetime))
        what = "dates" if moments else f"values of type {dtype}"
        hint = role(column, "quasi", "dates") if moments else "Convert the column to numbers first, or drop it."
        raise DataError(
            "E406",
            f"column '{column}' was declared numeric but holds {what}",
            where=where,
            hint=hint,
        )
    if bad.any():
        texts = series.filter(bad).cast(pl.String).unique().sort().to_list()  # engines meet them in other orders
        n_bad, row = (int(bad.sum()), int(bad.arg_max() or 0) + 1) if rows_with is None else rows_with(texts)
        first = row if in_order else None
        raise _not_numbers(texts[:_MAX_EXAMPLES], n_bad, first, column, decimal, where, line_of)
    _refuse_extreme(floats, column, where)
    return floats


def only_numbers(series: pl.Series, decimal: str = ".") -> pl.Series:
    """The column without what is not a number that can be computed with: such values are missing.

    >>> only_numbers(pl.Series(["7", "many", "1e999"])).to_list()
    ['7', None, None]
    """
    text = series.dtype in (pl.String, pl.Categorical, pl.Enum)
    if not (text or series.dtype.is_float()):
        return series
    floats = _floats(series.cast(pl.String).str.strip_chars(), decimal) if text else series.cast(pl.Float64)
    size = floats.abs()
    fine = (size == 0) | ((size >= SMALLEST) & (size <= LARGEST))
    return series.to_frame().select(pl.when(fine.fill_null(False)).then(pl.first()).alias(series.name)).to_series()


def _parsed(text: pl.Series, decimal: str) -> pl.Series:
    """The text as whole numbers if all are, else as floats; null where that fails."""
    for some in (text.head(_FIRST), text):  # if the first are not, to try them all would be in vain
        whole = some.cast(pl.Int64, strict=False)
        if whole.null_count() > some.null_count():
            return _floats(text, decimal)
    return whole


def _refuse_extreme(floats: pl.Series, column: str, where: str) -> None:
    """Refuse numbers whose squares, summed over many records, floating-point numbers cannot hold."""
    size = floats.abs()
    extreme = (size > LARGEST) | ((size < SMALLEST) & (size > 0))
    if extreme.any():
        what = "larger than 1e140" if (size > LARGEST).any() else "nearer to zero than 1e-140"
        raise DataError(
            "E406",
            f"column '{column}' has numbers {what}, beyond what can be computed with",
            where=where,
            hint=say("Measure it in another unit, name the text that means missing, or  {}", _as_texts(column)),
        )


def _floats(text: pl.Series, decimal: str) -> pl.Series:
    """The text as floats, null where that fails. With a decimal comma a point would be a guess, so it fails."""
    if decimal == ",":
        column = pl.first()
        pointed = column.str.replace_all(",", ".", literal=True)
        safe = pl.when(~column.str.contains(".", literal=True)).then(pointed)
        text = text.to_frame().select(safe).to_series()
    return text.cast(pl.Float64, strict=False)


def _not_numbers(
    values: list[str],
    n_bad: int,
    row: int | None,
    column: str,
    decimal: str,
    where: str,
    line_of: Callable[[int], int | None] | None,
) -> DataError:
    """The error that says how many values are not numbers, where the first one stands, and shows a few."""
    line = line_of(row) if line_of and row is not None else None
    first = "" if row is None else f", the first in row {row}" + (f", line {line}" if line else "")
    shown = ", ".join(repr(_short(value)) for value in values)
    other = "." if decimal == "," else ","
    if all(other in value and _is_number(value.replace(other, decimal), decimal) for value in values):
        sign = Fix(f"decimal: '{other}'", f'data=DataSettings(dialect=CsvDialect(decimal="{other}"))')
        hint = say("If these are numbers, state their decimal sign:  {}", sign)
    else:
        hint = say(
            "Say what stands for a missing value, such as  {} , or publish texts:  {}",
            Fix("missing: ['', 'NA']", 'data=DataSettings(missing=("", "NA"))'),
            _as_texts(column),
        )
    return DataError(
        "E406",
        f"column '{column}' has {n_bad} value{'s' if n_bad > 1 else ''} that "
        f"{'are' if n_bad > 1 else 'is'} not a number{first}",
        where=f"{where}:{line}" if line else where,
        details=[f"For example: {shown}"],
        hint=hint,
    )


def _as_texts(column: str) -> Fix:
    """A column that was declared numeric as one of texts, whatever its role."""
    told = role(column, "quasi", "suppress").in_python
    return Fix(f"{column}: {{type: categorical}}", f"{told}  or  {role(column, 'sensitive').in_python}")


def _short(value: str) -> str:
    return value if len(value) <= _MAX_EXAMPLE_LENGTH else value[: _MAX_EXAMPLE_LENGTH - 1] + "…"


def _is_number(value: str, decimal: str) -> bool:
    return _floats(pl.Series("value", [value.strip()]), decimal).null_count() == 0

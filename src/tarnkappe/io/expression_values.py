"""Values of expressions: of which kind they are, how one becomes another, and what functions make of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Literal

import polars as pl

from tarnkappe.errors import DataError

#: What an expression yields; `loose` is text that may stand for a number, as everything in a CSV file does.
Kind = Literal["number", "text", "truth", "moment", "loose", "nothing"]


@dataclass(frozen=True)
class Value:
    """A part of an expression: what Polars computes, and what kind of value that is."""

    expr: pl.Expr
    kind: Kind
    #: The text of a literal, to be read as a date where one is expected.
    literal: str | None = None
    #: The column, if the part is nothing else.
    column: str | None = None
    #: The number, if the part is nothing else.
    number: float | None = None

    @classmethod
    def constant(cls, number: float) -> Value:
        """A number that is the same for all records."""
        if isinstance(number, int) and abs(number) > _LARGEST_WHOLE:
            number = float(number)
        return cls(pl.lit(number), "number", number=number)


#: Whole numbers are computed in so many bits, where products of any two that a column holds have room.
WHOLE = pl.Int128()

_LARGEST_WHOLE = (1 << 127) - 1

#: So many letters of an expression are shown in an error.
_SHOWN = 200


@dataclass(frozen=True)
class Compiled:
    """An expression that can be computed, what it reads, and texts that it takes for numbers."""

    text: str
    expr: pl.Expr
    kind: Kind
    columns: tuple[str, ...]
    #: Columns of text that are used as numbers or days, and whether a text is none.
    unreadable: Mapping[str, pl.Expr] = field(default_factory=dict)

    def of_type(self, dtype: pl.DataType) -> Compiled:
        """The same in another type, which has room for it."""
        return replace(self, expr=self.expr.cast(dtype))


class Values:
    """What can be done with values; what cannot be done is an error that shows the expression."""

    def __init__(self, text: str, decimal: str, where: str | None) -> None:
        """`decimal` is the sign in numbers that are written as text."""
        self._text, self._decimal, self._where = text, decimal, where
        self._unreadable: dict[str, pl.Expr] = {}

    def _wrong(self, what: str, hint: str | None = None) -> DataError:
        shown = self._text if len(self._text) <= _SHOWN else f"{self._text[:_SHOWN]} …"
        return DataError(
            "E473",
            f"the expression  {shown}  cannot be used: {what}",
            where=self._where,
            hint=hint or "filter: \"age >= 18 AND sex IN ('f', 'm')\"",
        )

    def _truth(self, value: Value) -> pl.Expr:
        if value.kind not in ("truth", "nothing"):
            raise self._wrong("a comparison is expected beside AND, OR and NOT")
        return value.expr.cast(pl.Boolean)

    def _number(self, value: Value) -> pl.Expr:
        if value.kind in ("number", "nothing"):
            return value.expr
        if value.kind == "truth":
            return value.expr.cast(WHOLE)
        if value.kind != "loose":
            raise self._wrong(f"a {value.kind} cannot be used as a number")
        text = value.expr.str.strip_chars()
        plain = text.str.replace(self._decimal, ".", literal=True) if self._decimal != "." else text
        made = plain.cast(pl.Float64, strict=False)
        self._note(value, made)
        return made

    def _moment(self, value: Value) -> pl.Expr:
        if value.kind == "moment":
            return value.expr
        if value.literal is not None:
            return pl.lit(self._day(value.literal))
        if value.kind != "loose":
            raise self._wrong(f"a {value.kind} cannot be used as a day")
        made = value.expr.str.to_date("%Y-%m-%d", strict=False)
        self._note(value, made)
        return made

    def _day(self, text: str) -> date | datetime:
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            raise self._wrong(f"'{text}' is not a day such as '2024-12-31'") from None
        return found if ":" in text else found.date()

    def _note(self, value: Value, made: pl.Expr) -> None:
        """Remember to look for texts that cannot be read: they must not vanish like missing values."""
        if value.column is not None:
            self._unreadable[value.column] = (value.expr.is_not_null() & made.is_null()).sum()

    @staticmethod
    def _as_text(value: Value) -> pl.Expr:
        return value.expr.cast(pl.String)

    def _equal(self, one: Value, other: Value) -> pl.Expr:
        return self._pair(one, other, "__eq__")

    def _pair(self, one: Value, other: Value, how: str) -> pl.Expr:
        kinds = {one.kind, other.kind}
        if "nothing" in kinds:
            raise self._wrong("a comparison with NULL is never true", "IS NULL   or  IS NOT NULL")
        if "number" in kinds:
            left, right = self._number(one), self._number(other)
        elif "moment" in kinds:
            left, right = self._moment(one), self._moment(other)
        elif kinds == {"truth"} or kinds <= {"text", "loose"}:
            left, right = one.expr, other.expr
        else:
            raise self._wrong(f"a {one.kind} and a {other.kind} cannot be compared")
        made: pl.Expr = getattr(left, how)(right)
        return made

    def _common(self, values: list[Value]) -> Kind:
        kinds = {v.kind for v in values} - {"nothing"}
        if not kinds:
            return "text"
        if kinds <= {"text", "loose"}:
            return "text" if len(kinds) > 1 or kinds == {"text"} else "loose"
        if len(kinds) > 1:
            raise self._wrong(f"its results are of different kinds: {' and '.join(sorted(kinds))}")
        return kinds.pop()

    def _in(self, values: list[Value], kind: Kind) -> list[pl.Expr]:
        """Values of which one is chosen. Polars would put constants that stand alone into the fewest bits they need."""
        if kind in ("text", "loose"):
            return [value.expr.cast(pl.String) for value in values]
        narrow = kind == "number" and all(isinstance(value.number, int) or value.kind == "nothing" for value in values)
        return [value.expr.cast(WHOLE) if narrow else value.expr for value in values]

    def _computed(self, name: str, given: list[Value]) -> Value:
        first = given[0]
        if name in ("abs", "round", "floor", "ceil"):
            number = self._number(first)
            if name == "abs":
                return Value(number.abs(), "number") if first.number is None else Value.constant(abs(first.number))
            if name == "round" and len(given) > 1:
                return Value(number.cast(pl.Float64).round(self._whole(given[1])), "number")
            rounded = {"round": number.round, "floor": number.floor, "ceil": number.ceil}[name]()
            return Value(rounded.cast(WHOLE, strict=False), "number")
        if name in ("year", "month", "day"):
            return Value(getattr(self._moment(first).dt, name)().cast(WHOLE), "number")
        if name in ("least", "greatest"):
            numbers = [replace(value, expr=self._number(value), kind="number") for value in given]
            chosen = self._in(numbers, "number")
            return Value((pl.min_horizontal if name == "least" else pl.max_horizontal)(chosen), "number")
        if name == "coalesce":
            kind = self._common(given)
            return Value(pl.coalesce(self._in(given, kind)), kind)
        text = self._as_text(first)
        if name == "length":
            return Value(text.str.len_chars().cast(WHOLE), "number")
        if name == "substr":
            start = self._whole(given[1]) - 1
            return Value(text.str.slice(start, self._whole(given[2]) if len(given) > 2 else None), "loose")
        if name == "left":
            return Value(text.str.head(self._whole(given[1])), "loose")
        if name == "right":
            return Value(text.str.tail(self._whole(given[1])), "loose")
        if name == "concat":
            return Value(pl.concat_str([self._as_text(value) for value in given], ignore_nulls=True), "text")
        if name == "replace":
            return Value(text.str.replace_all(self._said(given[1]), self._said(given[2]), literal=True), "loose")
        plain = {"lower": text.str.to_lowercase, "upper": text.str.to_uppercase, "trim": text.str.strip_chars}
        return Value(plain[name](), "loose")

    def _whole(self, value: Value) -> int:
        try:
            return int(pl.select(value.expr).item()) if value.kind == "number" else self._no_number()
        except (pl.exceptions.PolarsError, TypeError, ValueError):
            return self._no_number()

    def _no_number(self) -> int:
        raise self._wrong("a whole number is expected there")

    def _said(self, value: Value) -> str:
        if value.literal is None:
            raise self._wrong("a text in single quotes is expected there")
        return value.literal


#: Functions and how many values they take, at least and at most. All of them look at one record alone.
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("abs", "floor", "ceil", "year", "month", "day", "length", "lower", "upper", "trim"), (1, 1)),
    **dict.fromkeys(("left", "right"), (2, 2)),
    **dict.fromkeys(("least", "greatest", "concat", "coalesce"), (2, 20)),
    "round": (1, 2),
    "substr": (2, 3),
    "replace": (3, 3),
}


def pattern(like: str) -> str:
    """A pattern of LIKE as a regular expression."""
    signs = {"%": "(?s:.*)", "_": "(?s:.)"}
    return "^" + "".join(signs.get(sign) or re.escape(sign) for sign in like) + r"\z"

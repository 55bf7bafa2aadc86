"""What a job may say about the values of one record: a small part of SQL, read here and nowhere else.

Expressions see the columns of their own record and nothing besides: no files, no other records, no chance. So a filter
can be used while records stream by, and a job file that came by mail can do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import add, mul, sub
from typing import Any

import polars as pl

from tarnkappe.errors import did_you_mean
from tarnkappe.io.expression_values import FUNCTIONS, WHOLE, Compiled, Kind, Value, Values, pattern

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)
        |(?P<string>'(?:[^']|'')*')
        |(?P<quoted>"(?:[^"]|"")*")
        |(?P<word>[^\W\d]\w*)
        |(?P<sign><=|>=|<>|!=|==|\|\||[-+*/%(),<>=]))""",
    re.VERBOSE,
)
_WORDS = {
    *("and", "or", "not", "in", "is", "null", "between", "like", "case", "when", "then", "else", "end", "cast", "as"),
    *("true", "false"),
}
_DEEPEST = 50

#: So many sums, products and branches may lie in each other, and so many conditions beside each other: Polars takes
#: the square of their number.
_LONGEST, _WIDEST = 500, 5000

#: Longer whole numbers are read with the digits that a float has.
_DIGITS = 38


@dataclass
class _Token:
    kind: str
    text: str
    at: int


class Expression(Values):
    """Reads one expression.

    >>> table = pl.DataFrame({"age": ["17", "34"], "sex": ["m", "f"]})
    >>> told = Expression("age >= 18 AND sex IN ('f', 'x')", table.schema, pl.col).compiled()
    >>> table.filter(told.expr).to_dicts(), told.columns
    ([{'age': '34', 'sex': 'f'}], ('age', 'sex'))
    """

    def __init__(
        self,
        text: str,
        schema: Mapping[str, pl.DataType],
        column: Callable[[str], pl.Expr],
        *,
        decimal: str = ".",
        loose: bool = True,
        where: str | None = None,
    ) -> None:
        """`column` is how a column is read; with `loose` text columns may be used as numbers."""
        super().__init__(text, decimal, where)
        self._schema, self._column, self._loose = schema, column, loose
        self._tokens = list(self._split())
        self._next, self._depth, self._steps, self._conditions = 0, 0, 0, 0
        self._used: dict[str, None] = {}

    def compiled(self) -> Compiled:
        """The whole expression."""
        value = self._either()
        if not self._ended:
            raise self._wrong(f"nothing is expected before '{self._here.text}'")
        return Compiled(self._text, value.expr, value.kind, tuple(self._used), self._unreadable)

    # Tokens

    def _split(self) -> Iterator[_Token]:
        at, text = 0, self._text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._wrong(f"there is no sign {text[at:].strip()[:1]!r} in expressions")
            kind = found.lastgroup or ""
            yield _Token(kind, found[kind], found.start(kind))
            at = found.end()

    @property
    def _ended(self) -> bool:
        return self._next >= len(self._tokens)

    @property
    def _here(self) -> _Token:
        if self._ended:
            raise self._wrong("it ends too early")
        return self._tokens[self._next]

    def _take(self, *texts: str) -> str | None:
        """The next token if it is one of these words or signs."""
        if not self._ended and self._here.kind in ("word", "sign") and self._here.text.lower() in texts:
            self._next += 1
            return self._tokens[self._next - 1].text.lower()
        return None

    def _expect(self, text: str) -> None:
        if not self._take(text):
            got = "its end" if self._ended else f"'{self._here.text}'"
            raise self._wrong(f"'{text.upper()}' is expected before {got}")

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _LONGEST:
            raise self._wrong(f"it has more than {_LONGEST} sums, products and branches")

    def _condition(self) -> None:
        self._conditions += 1
        if self._conditions > _WIDEST:
            raise self._wrong(f"it has more than {_WIDEST} conditions and values of lists")

    # From the loosest binding to the tightest

    def _either(self) -> Value:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._wrong("it is nested too deeply")
        values = [self._both()]
        while self._take("or"):
            self._condition()
            values.append(self._both())
        self._depth -= 1
        return values[0] if len(values) == 1 else Value(pl.any_horizontal(map(self._truth, values)), "truth")

    def _both(self) -> Value:
        values = [self._negated()]
        while self._take("and"):
            self._condition()
            values.append(self._negated())
        return values[0] if len(values) == 1 else Value(pl.all_horizontal(map(self._truth, values)), "truth")

    def _negated(self) -> Value:
        turned = 0
        while self._take("not"):
            turned += 1
        value = self._compared()
        return value if not turned else Value(~self._truth(value) if turned % 2 else self._truth(value), "truth")

    def _compared(self) -> Value:
        value = self._sum()
        if self._take("is"):
            negative = bool(self._take("not"))
            self._expect("null")
            return Value(value.expr.is_not_null() if negative else value.expr.is_null(), "truth")
        negative = bool(self._take("not"))
        made: pl.Expr | None = None
        if self._take("in"):
            self._expect("(")
            listed = [self._sum()]
            while self._take(","):
                self._condition()
                listed.append(self._sum())
            self._expect(")")
            made = self._among(value, listed)
        elif self._take("between"):
            low = self._sum()
            self._expect("and")
            high = self._sum()
            made = self._pair(value, low, "__ge__") & self._pair(value, high, "__le__")
        elif self._take("like"):
            if self._here.kind != "string":
                raise self._wrong("LIKE needs a pattern in single quotes")
            made = self._as_text(value).str.contains(pattern(self._literal()))
        elif negative:
            raise self._wrong("after NOT one of IN, BETWEEN and LIKE is expected")
        if made is not None:
            return Value(~made if negative else made, "truth")
        signs = {"=": "__eq__", "==": "__eq__", "!=": "__ne__", "<>": "__ne__"}
        signs |= {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
        sign = self._take(*signs)
        return value if sign is None else Value(self._pair(value, self._sum(), signs[sign]), "truth")

    def _among(self, value: Value, listed: list[Value]) -> pl.Expr:
        """Whether it equals one of these. Plain texts and numbers are looked up; Polars takes long for many steps."""
        texts = [x.literal for x in listed if x.literal is not None]
        if value.kind in ("text", "loose") and len(texts) == len(listed):
            return value.expr.is_in(texts)
        numbers = [x.number for x in listed if x.number is not None]
        if value.column is not None and len(numbers) == len(listed):
            dtype = self._schema[value.column]
            if value.kind == "loose" or isinstance(dtype, pl.Float64):
                return self._number(value).is_in([*map(float, numbers)])
            if dtype.is_integer() and all(isinstance(x, int) for x in numbers):
                return value.expr.is_in(pl.Series(numbers, dtype=WHOLE).implode())
        return pl.any_horizontal([self._equal(value, x) for x in listed])  # one step, not each within the next

    def _sum(self) -> Value:
        value = self._product()
        while sign := self._take("+", "-", "||"):
            self._step()
            other = self._product()
            if sign == "||":
                value = Value(self._as_text(value) + self._as_text(other), "text")
            else:
                value = self._reckoned(value, add if sign == "+" else sub, other)
        return value

    def _reckoned(self, value: Value, how: Callable[[Any, Any], Any], other: Value) -> Value:
        """A sum, a difference or a product; of constants at once, since Polars has few bits for them."""
        if value.number is not None and other.number is not None:
            return Value.constant(how(value.number, other.number))
        return Value(how(self._number(value), self._number(other)), "number")

    def _product(self) -> Value:
        value = self._signed()
        while sign := self._take("*", "/", "%"):
            self._step()
            other = self._signed()
            if sign == "*":
                value = self._reckoned(value, mul, other)
                continue
            left, right = self._number(value), self._number(other)
            # What divides by zero is missing, whatever the kind of number.
            some = pl.when(right != 0).then(right)
            if sign == "/":
                # Polars multiplies by the inverse of a constant, and 49 * (1 / 49) is less than 1. So every record
                # gets a divisor of its own.
                value = Value(left / (some * left.is_not_null().cast(pl.Float64)), "number")
            else:
                value = Value(left % some, "number")
        return value

    def _signed(self) -> Value:
        turned = 0
        while sign := self._take("-", "+"):
            turned += sign == "-"
        value = self._single()
        if not turned:
            return value
        if turned % 2 == 0:
            return Value(self._number(value), "number", number=value.number)
        # Not `-number`, which Polars has not for the widest integers.
        return self._reckoned(Value.constant(0), sub, value)

    def _single(self) -> Value:
        token = self._here
        if self._take("("):
            value = self._either()
            self._expect(")")
            return value
        if token.kind == "number":
            self._next += 1
            whole = token.text.isdigit() and len(token.text) <= _DIGITS
            return Value.constant(int(token.text) if whole else float(token.text))
        if token.kind == "string":
            text = self._literal()
            return Value(pl.lit(text), "text", text)
        if token.kind == "quoted":
            self._next += 1
            return self._of_column(token.text[1:-1].replace('""', '"'))
        word = token.text.lower()
        if token.kind != "word":
            raise self._wrong(f"a value is expected before '{token.text}'")
        self._next += 1
        if word in ("true", "false"):
            return Value(pl.lit(word == "true"), "truth")
        if word == "null":
            return Value(pl.lit(None), "nothing")
        if word == "case":
            return self._case()
        if word == "cast":
            return self._cast()
        if self._take("("):
            return self._called(word)
        if word in _WORDS:
            raise self._wrong(f"a value is expected before '{token.text}'")
        return self._of_column(token.text)

    def _literal(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1].text[1:-1].replace("''", "'")

    def _of_column(self, name: str) -> Value:
        if name not in self._schema:
            near = [c for c in self._schema if c.startswith(name) and not re.fullmatch(r"[^\W\d]\w*", c)]
            told = f'; write  "{near[0]}"  in double quotes' if near else did_you_mean(name, self._schema)
            raise self._wrong(
                f"there is no column '{name}'{told}", f"Columns are: {', '.join(list(self._schema)[:20])}."
            )
        self._used[name] = None
        dtype = self._schema[name]
        expr = self._column(name)
        if dtype.is_numeric():
            kind: Kind = "number"
            if dtype.is_integer():  # wide and signed: 250 + 10 is 4 in eight bits, and -1 nothing without a sign
                expr = expr.cast(WHOLE)
        elif isinstance(dtype, pl.Boolean):
            kind = "truth"
        elif isinstance(dtype, (pl.Date, pl.Datetime)):
            kind = "moment"
        else:
            kind, expr = ("loose" if self._loose else "text"), expr.cast(pl.String)
        return Value(expr, kind, column=name)

    # Forms of their own

    def _case(self) -> Value:
        self._depth += 1
        branches: list[tuple[pl.Expr, Value]] = []
        while self._take("when"):
            self._step()
            condition = self._truth(self._either())
            self._expect("then")
            branches.append((condition, self._either()))
        if not branches:
            raise self._wrong("CASE needs  WHEN condition THEN value")
        last = self._either() if self._take("else") else Value(pl.lit(None), "nothing")
        self._expect("end")
        self._depth -= 1
        kind = self._common([value for _, value in branches] + [last])
        *chosen, made = self._in([*(value for _, value in branches), last], kind)
        for (condition, _), value in reversed([*zip(branches, chosen, strict=True)]):
            made = pl.when(condition).then(value).otherwise(made)
        return Value(made, kind)

    def _cast(self) -> Value:
        self._expect("(")
        value = self._either()
        if value.kind == "text" and value.literal is None:  # somebody says what it is
            value = replace(value, kind="loose")
        self._expect("as")
        word = self._here.text.lower()
        self._next += 1
        self._expect(")")
        if word in ("int", "integer", "bigint"):
            return Value(self._number(value).cast(WHOLE, strict=False), "number")
        if word in ("float", "double", "real", "number"):
            return Value(self._number(value).cast(pl.Float64), "number")
        if word in ("text", "varchar", "string"):
            return Value(self._as_text(value), "text")
        if word == "date":
            return Value(self._moment(value).cast(pl.Date), "moment")
        raise self._wrong(f"there is no type '{word}'", "Types are: INT, FLOAT, TEXT, DATE.")

    def _called(self, name: str) -> Value:
        given: list[Value] = []
        if not self._take(")"):
            given.append(self._either())
            while self._take(","):
                given.append(self._either())
            self._expect(")")
        if name not in FUNCTIONS:
            raise self._wrong(
                f"there is no function '{name}'{did_you_mean(name, FUNCTIONS)}",
                f"Functions are: {', '.join(FUNCTIONS)}.",
            )
        fewest, most = FUNCTIONS[name]
        if not fewest <= len(given) <= most:
            raise self._wrong(f"'{name}' takes {fewest if fewest == most else f'{fewest} or more'} values")
        return self._computed(name, given)

"""The language of queries: what is to be counted or added up, of which records, and by which columns.

::

    count where age in 20..29 and sex = F group by region
    avg(income) where "marital status" != "never married"

"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeVar, get_args

from tarnkappe.errors import JobError, did_you_mean

#: What can be asked.
Aggregate = Literal["count", "sum", "avg", "min", "max"]

#: How a value is compared with those of a column.
Sign = Literal["=", "!=", "<", "<=", ">", ">=", "in", ".."]

_AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
_COMPARISONS: tuple[Sign, ...] = ("=", "!=", "<", "<=", ">", ">=")
_OTHER_SPELLINGS = {"==": "=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!=", "mean": "avg", "average": "avg"}

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>"(?:[^"]|"")*"|'(?:[^']|'')*')
      | (?P<sign>\.\.|<=|>=|!=|<>|==|[≤≥≠=<>(),])
      | (?P<word>(?:(?!\.\.)[^\s"'=<>!(),≤≥≠])+)
      | (?P<odd>\S)
    )""",
    re.VERBOSE,
)

_Part = TypeVar("_Part")

_EXAMPLE = "count where age in 20..29 and sex = F group by region"


@dataclass(frozen=True)
class Token:
    """A word, a text in quotes or a sign of a query, and where it stands, counted from 1."""

    kind: Literal["quoted", "sign", "word", "end"]
    text: str
    place: int


@dataclass(frozen=True)
class Condition:
    """What a column must be: compared by `sign` with the values, of which ``in`` has many and ``..`` two."""

    column: Token
    sign: Sign
    values: tuple[Token, ...]


@dataclass(frozen=True)
class Question:
    """A query that was understood; whether its columns exist is seen when it is asked."""

    text: str
    aggregate: Aggregate
    column: Token | None
    conditions: tuple[Condition, ...]
    by: tuple[Token, ...]

    def refuse(self, message: str, at: Token | None = None, hint: str = _EXAMPLE) -> NoReturn:
        """Say what is wrong with the query, and where."""
        raise misunderstood(self.text, message, None if at is None else at.place, hint)


def parse(text: str) -> Question:
    """Understand a query.

    >>> asked = parse("count where age in 20..29 and sex = F group by region")
    >>> [(c.column.text, c.sign, [v.text for v in c.values]) for c in asked.conditions]
    [('age', '..', ['20', '29']), ('sex', '=', ['F'])]
    >>> parse("count were age = 3")
    Traceback (most recent call last):
    ...
    tarnkappe.errors.JobError: E115 'were' is not expected here (did you mean 'where'?) (query, position 7)
      count were age = 3
            ^
      Fix: count where age in 20..29 and sex = F group by region
    """
    return _Parser(text).question()


def misunderstood(text: str, message: str, place: int | None, hint: str = _EXAMPLE) -> JobError:
    """The error about a query; `place` is the position, from 1, that it points at."""
    shown = " ".join(text.split("\n"))
    details = [] if place is None else [shown, " " * (place - 1) + "^"]
    return JobError(
        "E115", message, where="query" if place is None else f"query, position {place}", details=details, hint=hint
    )


def _tokens(text: str) -> list[Token]:
    out = []
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind is None:
            continue
        word, place = found[kind], found.start(kind) + 1
        if kind == "odd":
            what = "the quote is not closed" if word in "\"'" else f"'{word}' is not expected here"
            raise misunderstood(text, what, place)
        if kind == "quoted":
            out.append(Token("quoted", word[1:-1].replace(word[0] * 2, word[0]), place))
        elif kind == "sign":
            out.append(Token("sign", _OTHER_SPELLINGS.get(word, word), place))
        else:
            out.append(Token("word", word, place))
    return [*out, Token("end", "", len(text.rstrip()) + 1)]


class _Parser:
    """Goes through the words of a query once, from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0

    def question(self) -> Question:
        """All of it."""
        aggregate, column = self._aggregate()
        conditions = self._listed(self._condition, "and") if self._takes("where") else ()
        by: tuple[Token, ...] = ()
        if self._takes("group"):
            if not self._takes("by"):
                self._refuse("'by' is missing after 'group'")
            by = self._listed(self._name, ",")
        if self._next.kind != "end":
            after = ("group",) if by else ("and", "group") if conditions else ("where", "group")
            known = () if by else after
            self._refuse(f"'{self._next.text}' is not expected here{did_you_mean(self._next.text.lower(), known)}")
        return Question(self._text, aggregate, column, conditions, by)

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _takes(self, word: str) -> bool:
        """Whether this word or sign comes next; then it is gone."""
        token = self._next
        found = token.kind in ("word", "sign") and token.text.lower() == word
        self._at += found
        return found

    def _refuse(self, message: str) -> NoReturn:
        raise misunderstood(self._text, message, self._next.place)

    def _aggregate(self) -> tuple[Aggregate, Token | None]:
        word = self._next
        given = word.text.lower()
        name = next((a for a in _AGGREGATES if a == _OTHER_SPELLINGS.get(given, given)), None)
        if word.kind != "word" or name is None:
            begins = f"a query begins with one of {', '.join(_AGGREGATES)}"
            self._refuse(begins + did_you_mean(given, _AGGREGATES))
        self._take()
        if name == "count":
            if self._takes("("):
                if not self._takes("*"):
                    self._refuse("count counts records: write  count  or  count(*)")
                self._close()
            return name, None
        if not self._takes("("):
            self._refuse(f"{name} needs a column in brackets, such as {name}(age)")
        column = self._name()
        self._close()
        return name, column

    def _close(self) -> None:
        if not self._takes(")"):
            self._refuse("a closing bracket ')' is missing")

    def _name(self) -> Token:
        if self._next.kind not in ("word", "quoted"):
            self._refuse("the name of a column is missing")
        return self._take()

    def _value(self) -> Token:
        if self._next.kind not in ("word", "quoted"):
            self._refuse("a value is missing")
        return self._take()

    def _condition(self) -> Condition:
        column = self._name()
        if self._takes("in"):
            if self._takes("("):
                values = self._listed(self._value, ",")
                self._close()
                return Condition(column, "in", values)
            low = self._value()
            if not self._takes(".."):
                self._refuse("after 'in' comes a range, such as 20..29, or a list, such as (a, b)")
            return Condition(column, "..", (low, self._value()))
        found = [sign for sign in _COMPARISONS if self._next.kind == "sign" and self._next.text == sign]
        if not found:
            self._refuse("after a column comes one of  = != < <= > >= in   (names with blanks are quoted)")
        self._take()
        return Condition(column, found[0], (self._value(),))

    def _listed(self, one: Callable[[], _Part], between: str) -> tuple[_Part, ...]:
        found = [one()]
        while self._takes(between):
            found.append(one())
        return tuple(found)

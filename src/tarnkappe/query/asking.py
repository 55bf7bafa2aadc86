"""Ask a release: queries are answered from its published tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from tarnkappe.errors import did_you_mean
from tarnkappe.query import estimates
from tarnkappe.query.answers import Answer, Estimate, number_text
from tarnkappe.query.columns import Numbers, PublishedColumn, Texts
from tarnkappe.query.labels import Known
from tarnkappe.query.language import Condition, Question, Token, parse
from tarnkappe.query.tables import Tables
from tarnkappe.query.wanted import Wanted

#: Groups that a query may ask for at once.
_MOST_GROUPS = 5_000

_NOT_LISTED = "Some labels may stand for values that are not listed."
_WHOLE_ONLY = "Of numbers in intervals only whole ones are listed."

_FIGURES = {
    "sum": estimates.added_up,
    "avg": estimates.averaged,
    "min": estimates.smallest,
    "max": estimates.largest,
}


@dataclass(frozen=True, eq=False)
class Asked:
    """A release whose tables were read once, and that can be asked many times."""

    tables: Tables
    #: What is said about all answers.
    about: tuple[str, ...]

    def ask(self, query: str) -> Answer:
        """Answer a query."""
        question = parse(query)
        column = None if question.column is None else self._column(question, question.column)
        if column is not None and not isinstance(column, Numbers):
            known = ", ".join(n for n in self.tables.names if isinstance(self.tables.column(n), Numbers))
            hint = f"Columns of numbers: {known}." if known else "count"
            question.refuse(
                f"'{column.name}' holds no numbers to take the {question.aggregate} of", question.column, hint
            )
        wanted: dict[str, Wanted] = {}
        for condition in question.conditions:
            asked = self._column(question, condition.column)
            wanted[asked.name] = _narrowed(question, asked, condition, wanted.get(asked.name, Wanted()))
        rows = tuple(self._rows(question, wanted, column))
        return Answer(
            query,
            tuple(token.text for token in question.by),
            rows,
            self.tables.n_records,
            tuple(self._notes(question, wanted, column, rows)),
        )

    def _column(self, question: Question, token: Token) -> PublishedColumn:
        if token.text not in self.tables.names:
            question.refuse(
                f"the release has no column '{token.text}'{did_you_mean(token.text, self.tables.names)}",
                token,
                f"Columns: {', '.join(self.tables.names)}.",
            )
        return self.tables.column(token.text)

    def _rows(
        self, question: Question, wanted: Mapping[str, Wanted], column: PublishedColumn | None
    ) -> Iterator[Estimate]:
        if not question.by:
            yield Estimate.of(self._figure(question, wanted, column))
            return
        by = [self._column(question, token) for token in question.by]
        n_groups = 1
        choices: list[list[float | str | None]] = []
        for token, asked in zip(question.by, by, strict=True):
            values = asked.values()
            if values is None:
                question.refuse(
                    f"'{asked.name}' has intervals of numbers that are not whole, so its values cannot be listed",
                    token,
                    f"count where {_quoted(asked.name)} in 0..1",
                )
            given = [*values, *([None] if asked.has_gaps else [])]
            choices.append(given)
            n_groups *= len(given)
        if n_groups > _MOST_GROUPS:
            question.refuse(f"that makes {n_groups} groups, more than {_MOST_GROUPS}", question.by[0])
        for chosen in product(*choices):
            narrowed = dict(wanted)
            for asked, value in zip(by, chosen, strict=True):
                before = narrowed.get(asked.name, Wanted())
                narrowed[asked.name] = before.without_value() if value is None else before.one_of(frozenset({value}))
            if estimates.counted(self.tables, narrowed)[2] > 0:
                yield Estimate.of(self._figure(question, narrowed, column), tuple(map(_shown, chosen)))

    def _figure(
        self, question: Question, wanted: Mapping[str, Wanted], column: PublishedColumn | None
    ) -> estimates.Figure:
        if question.aggregate == "count" or column is None:
            return estimates.counted(self.tables, wanted)
        return _FIGURES[question.aggregate](self.tables, wanted, column.name)

    def _notes(
        self,
        question: Question,
        wanted: Mapping[str, Wanted],
        column: PublishedColumn | None,
        rows: tuple[Estimate, ...],
    ) -> Iterator[str]:
        """What the estimates take for granted, where they are not exact."""
        yield from self.about
        by = [self.tables.column(token.text) for token in question.by]
        if any(column.is_open or column.vague for column in by):  # records may have values that nobody can list
            yield _NOT_LISTED
        elif any(isinstance(column, Numbers) and column.lists_whole_ones for column in by):
            yield _WHOLE_ONLY
        if all(row.is_exact for row in rows):
            return
        names = {*wanted, *(token.text for token in question.by), *([column.name] if column else ())}
        columns = [self.tables.column(name) for name in self.tables.names if name in names]
        vague = [c.name for c in columns if c.vague]
        if vague:
            yield f"Taken as they stand, though they say nothing certain about one record: {', '.join(vague)}."
        if any(not c.vague and not c.is_exact for c in columns):
            yield "Values are taken to be spread evenly over what their label stands for."
        if len(self.tables.homes(names)) > 1:
            yield "Columns that were torn from each other are taken to be independent within a group."
        if any(row.value is None for row in rows) and question.aggregate in ("min", "max"):
            yield "Of a smallest or largest value there are only bounds."
        elif any(row.value is None and row.high is not None for row in rows):
            yield "Without an estimate: nothing tells which values a label stands for."


def _narrowed(question: Question, column: PublishedColumn, condition: Condition, before: Wanted) -> Wanted:
    """What was wanted of a column, and this condition too."""
    if any(token.kind == "quoted" and not token.text for token in condition.values):
        if condition.sign == "=":
            return before.without_value()
        if condition.sign == "!=":
            return before.with_value()
        question.refuse('a missing value "" can only be asked for with  =  or  !=', condition.values[0])
    values = [_key(question, column, token, condition.sign) for token in condition.values]
    first = values[0]
    if condition.sign in ("=", "in"):
        return before.one_of(frozenset(values))
    if condition.sign == "!=":
        return before.other_than(first)
    if isinstance(column, Texts) and not column.known:  # nothing but * : any condition may hold, and several at once
        return before.perhaps()
    if not isinstance(first, float):
        name = _quoted(column.name)
        question.refuse(
            f"'{column.name}' holds no numbers, so its values have no order that is known here",
            condition.values[0],
            f"count where {name} in ({', '.join(_quoted(t.text) for t in condition.values)})",
        )
    if condition.sign == "..":
        last = values[1]
        assert isinstance(last, float), "the column holds numbers"
        if last < first:
            question.refuse("the range is empty: its first end is larger than its last", condition.values[0])
        return before.at_least(first).at_most(last)
    narrow = {"<": before.below, "<=": before.at_most, ">": before.above, ">=": before.at_least}
    return narrow[condition.sign](first)


def _key(question: Question, column: PublishedColumn, token: Token, sign: str) -> float | str:
    """A value of a query as it is compared: a number where the column has numbers.

    If it says nothing certain about a record, records may have texts though none is left.
    """
    if not isinstance(column, Numbers):
        return token.text
    number = Known().number(token.text.replace(",", ".") if token.kind == "quoted" else token.text)
    if number is None:
        try:
            number = float(token.text)  # such as 007
        except ValueError:
            if column.vague and sign in ("=", "in", "!="):
                return token.text
            question.refuse(f"'{column.name}' holds numbers, and '{token.text}' is none", token)
    return number


def _quoted(text: str) -> str:
    return text if text.isalnum() else '"' + text.replace('"', '""') + '"'


def _shown(value: float | str | None) -> str | None:
    return value if value is None or isinstance(value, str) else number_text(value).replace(" ", "")

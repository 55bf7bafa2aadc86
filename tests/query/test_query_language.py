"""Queries are understood, or refused with a place and a fix."""

from __future__ import annotations

import pytest

from tarnkappe.errors import JobError
from tarnkappe.query import parse


def conditions(text):
    return [(c.column.text, c.sign, *(v.text for v in c.values)) for c in parse(text).conditions]


def test_what_is_asked_for():
    assert parse("count").aggregate == "count"
    assert parse("COUNT(*)").aggregate == "count"
    assert parse("average( age )").aggregate == "avg"
    asked = parse('sum("net income") group by "a ""b""", sex')
    assert asked.column.text == "net income"
    assert [t.text for t in asked.by] == ['a "b"', "sex"]


def test_conditions():
    assert conditions("count where a=1 and b != x AND c in (1, 'two words', 3) and d in -5..1.5") == [
        ("a", "=", "1"),
        ("b", "!=", "x"),
        ("c", "in", "1", "two words", "3"),
        ("d", "..", "-5", "1.5"),
    ]
    assert conditions("count where a<1 and a<=1 and a>1 and a>=1 and a<>1 and a==1 and a≥1 and a≤2") == [
        ("a", "<", "1"),
        ("a", "<=", "1"),
        ("a", ">", "1"),
        ("a", ">=", "1"),
        ("a", "!=", "1"),
        ("a", "=", "1"),
        ("a", ">=", "1"),
        ("a", "<=", "2"),
    ]
    assert conditions('count where marital-status = Never-married and day = 2020-01-31 and x = ""') == [
        ("marital-status", "=", "Never-married"),
        ("day", "=", "2020-01-31"),
        ("x", "=", ""),
    ]
    assert conditions('count where "where" = and and "group" = by') == [("where", "=", "and"), ("group", "=", "by")]


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", 1, "begins with one of"),
        ("cont where a = 1", 1, "did you mean 'count'"),
        ("sum where a = 1", 5, "needs a column in brackets"),
        ("count(age)", 7, "count counts records"),
        ("avg(age where a = 1", 9, "closing bracket"),
        ("sum()", 5, "name of a column is missing"),
        ("count were a = 1", 7, "did you mean 'where'"),
        ("count where", 12, "name of a column is missing"),
        ("count where a", 14, "after a column comes one of"),
        ("count where a b = 1", 15, "names with blanks are quoted"),
        ("count where a = ", 16, "a value is missing"),
        ("count where a in 1", 19, "comes a range"),
        ("count where a in 1..", 21, "a value is missing"),
        ("count where a in (1 2)", 21, "closing bracket"),
        ("count where a = 1 or b = 2", 19, "'or' is not expected here"),
        ("count group region", 13, "'by' is missing"),
        ("count group by a where b = 1", 18, "'where' is not expected here"),
        ('count where a = "x', 17, "the quote is not closed"),
        ("count where a ! 1", 15, "'!' is not expected here"),
        ("__import__('os').system('x')", 1, "begins with one of"),
    ],
)
def test_what_is_not_understood_is_pointed_at(text, place, says):
    with pytest.raises(JobError) as error:
        parse(text)
    assert error.value.code == "E115"
    assert error.value.where == f"query, position {place}"
    assert says in error.value.message
    assert error.value.details == (text, " " * (place - 1) + "^")
    parse(error.value.hint)  # the fix works when pasted

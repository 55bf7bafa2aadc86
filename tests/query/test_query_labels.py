"""What labels stand for, worked by hand: the share that is wanted, whether it is certain, whether it is possible."""

from __future__ import annotations

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.query import Asked
from tarnkappe.query.labels import Known, declared
from tarnkappe.query.tables import whole_table
from tarnkappe.schema import Column

MEANINGS = {
    "age": {
        "[20 29]": "20 to 29, both included.",
        "30-39": "30 to 39, both included.",
        "≥90": "90 or more.",
        "45": "The value itself.",
        "*": "Any value: nothing is said.",
    },
    "share": {"[0.5, 1)": "0.5 or more, and less than 1.", "0.25": "The value itself."},
    "area": {
        "north": 'One of: "a, b", c.',
        "{c | d}": "One of: c, d.",
        "many": "One of: c, e and others.",
        "c": "The value itself.",
        "*": "Any value: nothing is said.",
    },
    "zip": {"010**": "Begins with 010.", "22765": "The value itself."},
    "grade": {"[good bad]": "good to bad, both included, in the order of the column."},
    "sex": {"*": "Any value: nothing is said."},
}


@pytest.mark.parametrize(
    ("column", "label", "where", "value", "low", "high"),
    [
        ("age", "[20 29]", "age in 25..40", 0.5, 0, 1),
        ("age", "[20 29]", "age in 20..29", 1, 1, 1),
        ("age", "[20 29]", "age > 20", 0.9, 0, 1),
        ("age", "[20 29]", "age >= 20 and age < 25", 0.5, 0, 1),
        ("age", "[20 29]", "age > 29", 0, 0, 0),
        ("age", "[20 29]", "age = 20", 0.1, 0, 1),
        ("age", "[20 29]", "age != 20", 0.9, 0, 1),
        ("age", "[20 29]", "age != 30", 1, 1, 1),
        ("age", "[20 29]", f"age in ({', '.join(map(str, range(20, 30)))})", 1, 0, 1),  # 20.5 is not excluded
        ("age", "30-39", "age <= 39", 1, 1, 1),
        ("age", "≥90", "age < 80", 0, 0, 0),
        ("age", "≥90", "age > 80", 1, 1, 1),
        ("age", "45", "age in (45, 46)", 1, 1, 1),
        ("age", "45", "age != 45", 0, 0, 0),
        ("share", "[0.5, 1)", "share <= 0.75", 0.5, 0, 1),
        ("share", "[0.5, 1)", "share = 0.5", 0, 0, 1),
        ("area", "north", 'area = "a, b"', 0.5, 0, 1),
        ("area", "north", 'area in ("a, b", c)', 1, 1, 1),
        ("area", "north", "area = a", 0, 0, 0),
        ("area", "{c | d}", "area != c", 0.5, 0, 1),
        ("area", "many", "area = x", 0, 0, 1),
        ("area", "c", "area = c", 1, 1, 1),
        ("zip", "010**", 'zip = "01099"', None, 0, 1),
        ("zip", "010**", 'zip = "22765"', 0, 0, 0),
        ("zip", "010**", 'zip != "22765"', 1, 1, 1),
        ("grade", "[good bad]", "grade = middling", None, 0, 1),
        ("sex", "*", "sex = F", None, 0, 1),
        ("sex", "*", "sex < 3", None, 0, 1),
    ],
)
def test_labels_that_a_stranger_reads(column, label, where, value, low, high):
    others = [x for x in MEANINGS[column] if x != label]
    frame = pl.DataFrame({column: [label, *others], "which": ["this", *["other"] * len(others)]})
    found = Asked(whole_table(frame, Known(MEANINGS)), ()).ask(f"count where which = this and {where}")
    assert found.value == (None if value is None else pytest.approx(value))
    assert (found.low, found.high) == (low, high)


def test_the_job_tells_more():
    columns = [
        Column("area", "quasi", taxonomy=tk.tree({"many": ["c", "e", "f", "g"], "other": ["h"]})),
        Column("grade", "quasi", taxonomy=tk.ordered("very good", "good", "middling", "bad")),
    ]
    known = Known(MEANINGS, *declared(columns))
    asked = Asked(whole_table(pl.DataFrame({"area": ["many"], "grade": ["[good bad]"]}), known), ())
    assert asked.ask("count where area in (f, g)").value == 0.5
    assert asked.ask("count where area = h").high == 0
    assert asked.ask("count where area in (c, e, f, g)").low == 1
    assert asked.ask("count where grade in (good, middling)").value == pytest.approx(2 / 3)
    assert asked.ask('count where grade = "very good"').high == 0


def test_missing_values():
    frame = pl.DataFrame({"age": ["45", None, "[20 29]"]})
    asked = Asked(whole_table(frame, Known(MEANINGS)), ())
    assert asked.ask('count where age = ""').value == 1
    assert asked.ask("count where age != 45").high == 1
    assert asked.ask("sum(age)").value == pytest.approx(45 + 24.5)
    assert [row.group for row in asked.ask("count group by age").rows][-1] == (None,)
    lacking = Asked(whole_table(frame, Known(MEANINGS, may_lack=frozenset({"age"}))), ())
    assert (lacking.ask("count where age = 45").low, lacking.ask("count where age = 45").high) == (0, 1)


def test_what_has_no_value_meets_no_condition_on_values():
    frame = pl.DataFrame({"age": ["45", None, "[20 29]"], "area": ["c", None, None]})
    asked = Asked(whole_table(frame, Known(MEANINGS)), ())
    for void in ('age = "" and age > 3', 'age = 45 and age = ""', 'age = "" and age != 3', 'age = "" and age != ""'):
        found = asked.ask(f"count where {void}")
        assert (found.value, found.low, found.high) == (0, 0, 0)
    assert [row.group for row in asked.ask("count where age = 45 group by age").rows] == [("45",)]
    assert [row.group for row in asked.ask("count where area != d group by area").rows] == [("c",)]
    assert [row.group for row in asked.ask('count where area = "" group by area').rows] == [(None,)]
    assert asked.ask('count where age != ""').high == 2


def test_several_conditions_on_what_is_nowhere_shown():
    """Of a column of nothing but stars, values between two ends are possible, however far apart the ends."""
    frame = pl.DataFrame({"age": ["*", "*"]})
    asked = Asked(whole_table(frame, Known({"age": {"*": "Any value: nothing is said."}})), ())
    for where in ("age > 35 and age < 60", "age >= 3 and age <= 5", "age > 35 and age = 36"):
        found = asked.ask(f"count where {where}")
        assert (found.value, found.low, found.high) == (None, 0, 2)


def test_groups_of_nothing_but_stars_are_not_passed_over_in_silence():
    data = pl.DataFrame({"zip": ["22765", "20246"] * 2, "illness": ["flu", "flu", "gout", "gout"]})
    quasi = {"zip": tk.prefix(3)}
    release = tk.Job(quasi=quasi, sensitive=["illness"], criteria=[tk.KAnonymity(4)]).anonymize(data)
    found = release.query("count group by zip")
    assert (found.rows, found.notes[-1]) == ((), "Some labels may stand for values that are not listed.")
    assert release.query("count group by illness").notes == ()


def test_values_that_are_not_listed_are_mentioned_where_all_others_are_exact():
    """Nobody knows which numbers lie above 30, or between whole ones: their records are in no row."""
    frame = pl.DataFrame({"age": [17, 17, 17, 31, 40, 35], "pay": [1.0, 2.5, 3.0, 4.0, 4.0, 4.0]})
    job = tk.Job(
        columns=[Column("age", "quasi", "numeric", tk.cuts(30)), Column("pay", "quasi", "numeric")],
        criteria=[tk.KAnonymity(3)],
        algorithm="hilb",
        seed=1,
    )
    release = job.anonymize(frame)
    for column, values, note in (
        ("age", ["17", "30"], "Some labels may stand for values that are not listed."),
        ("pay", ["1", "2", "3", "4"], "Of numbers in intervals only whole ones are listed."),
    ):
        largest = release.query(f"max({column}) group by {column}")
        assert [row.group for row in largest.rows] == [(value,) for value in values]
        assert all(row.is_exact for row in largest.rows)
        assert largest.notes == (note,)


def test_values_that_centres_stand_for_are_not_listed():
    frame = pl.DataFrame({"age": [17, 18, 19, 41, 42, 43], "pay": [1, 1, 1, 1, 1, 1]})
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["pay"], criteria=[tk.KAnonymity(3)], algorithm="mdav", seed=1)
    paid = job.anonymize(frame).query("avg(pay) where pay = 1 group by age")
    assert [row.group for row in paid.rows] == [("18",), ("42",)]
    assert paid.notes == ("Some labels may stand for values that are not listed.",)

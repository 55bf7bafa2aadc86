"""Torn tables: estimates and bounds are those of all ways in which a group may belong together."""

from __future__ import annotations

from itertools import permutations, product
from statistics import mean

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import DataError
from tarnkappe.publish.sheets import Strand
from tarnkappe.query import Asked
from tarnkappe.query.labels import Known
from tarnkappe.query.tables import numbered_tables

PEOPLE = pl.DataFrame(
    {
        "age": [23, 27, 35, 59, 61, 65, 65, 70],
        "sex": list("MMMMWWWW"),
        "zip": ["11000", "13000", "59000", "12000", "54000", "25000", "25000", "30000"],
        "group": [1, 1, 1, 1, 2, 2, 2, 2],
    }
)
SECRETS = pl.DataFrame(
    {
        "group": [1, 1, 2, 2, 2],
        "illness": ["dyspepsia", "pneumonia", "bronchitis", "flu", "gastritis"],
        "records": [2, 2, 1, 2, 1],
    }
)


@pytest.fixture(scope="module")
def anatomised() -> Asked:
    """Tables 4.10 of the thesis: those of Xiao and Tao."""
    strands = [Strand(("age", "sex", "zip")), Strand(("illness",), "secrets", "records")]
    return Asked(numbered_tables({"": PEOPLE, "secrets": SECRETS}, "group", strands, Known()), ())


@pytest.mark.parametrize(
    ("query", "value", "low", "high"),
    [
        # Of the first group three are younger than 40, and two of four have pneumonia.
        ("count where age < 40 and illness = pneumonia", 3 * 2 / 4, 1, 2),
        # The query of the paper: one tuple of the first group qualifies, half of its people have pneumonia.
        ("count where age in 0..30 and zip in 10000..12000 and illness = pneumonia", 0.5, 0, 1),
        ("count where sex = W and illness = flu", 2, 2, 2),
        ("count where illness in (flu, pneumonia)", 4, 4, 4),
        ("count where age <= 61 and illness = flu", 0.5, 0, 1),
        ("count where age >= 65 and illness in (flu, gastritis)", 3 * 3 / 4, 2, 3),
        ("sum(age) where illness = pneumonia", (23 + 27 + 35 + 59) / 2, 23 + 27, 35 + 59),
        ("avg(age) where illness = pneumonia", 36, 25, 47),
        ("min(age) where illness = pneumonia", None, 23, 35),
        ("max(age) where illness = pneumonia", None, 27, 59),
        ("max(age) where illness = gastritis", None, 61, 70),
        ("sum(age) where sex = W", 261, 261, 261),
        ("avg(age) where sex = W", 65.25, 65.25, 65.25),
        ("max(age) where sex = M", 59, 59, 59),
        ("count where age = 1 and illness = flu", 0, 0, 0),
    ],
)
def test_worked_by_hand(anatomised, query, value, low, high):
    found = anatomised.ask(query)
    assert found.value == (None if value is None else pytest.approx(value))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_group_by(anatomised):
    found = anatomised.ask("count where age < 60 group by illness")
    assert {row.group[0]: (row.value, row.low, row.high) for row in found.rows} == {
        "dyspepsia": (2, 2, 2),
        "pneumonia": (2, 2, 2),
    }
    both = anatomised.ask("count group by sex, illness")
    assert sum(row.value for row in both.rows) == 8
    assert ("W", "flu") in [row.group for row in both.rows]
    assert both.table.columns == ["sex", "illness", "value", "low", "high"]
    with pytest.raises(ValueError, match="group by"):
        _ = both.value


def test_nobody_matches(anatomised):
    for what in ("avg", "min", "max"):
        found = anatomised.ask(f"{what}(age) where illness = measles")
        assert (found.value, found.low, found.high) == (None, None, None)
    assert anatomised.ask("sum(age) where illness = measles").high == 0


def test_tables_that_do_not_belong_together_are_refused():
    strands = [Strand(("age",)), Strand(("illness",), "secrets", "records")]
    with pytest.raises(DataError):
        numbered_tables({"": PEOPLE[1:], "secrets": SECRETS}, "group", strands, Known())


groups = st.lists(
    st.lists(
        st.tuples(st.integers(-3, 4), st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 2)),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=3,
)


def torn(rows, strands):
    """A table whose strands are put in another order within every group, each by itself."""
    frame = pl.DataFrame(
        [(n, *row) for n, group in enumerate(rows) for row in group], ["group", "x", "a", "s", "w"], orient="row"
    )
    parts = {"group": frame["group"]}
    for turn, strand in enumerate(strands):
        mixed = pl.concat([g.sort(strand.columns, descending=bool(turn % 2)) for g in frame.partition_by("group")])
        parts |= {name: mixed[name] for name in strand.columns}
    return Asked(numbered_tables({"": pl.DataFrame(parts)}, "group", strands, Known()), ())


def worlds(rows):
    """All tables that two torn sides (x, a) and (s, w) may come from: every group in all its orders."""
    each = [
        [
            [(*left, *right) for left, right in zip([g[:2] for g in group], order, strict=True)]
            for order in permutations(g[2:] for g in group)
        ]
        for group in rows
    ]
    for chosen in product(*each):
        yield [row for group in chosen for row in group]


CONDITIONS = {
    "s = x": lambda r: r[2] == "x",
    "a = a and s != z": lambda r: r[1] == "a" and r[2] != "z",
    "x > 0 and s in (x, y) and w >= 1": lambda r: r[0] > 0 and r[2] in "xy" and r[3] >= 1,
    "x in -2..2 and w = 1": lambda r: -2 <= r[0] <= 2 and r[3] == 1,
}


@given(groups, st.sampled_from(sorted(CONDITIONS)))
def test_two_sides_are_answered_like_all_worlds_together(rows, where):
    asked = torn(rows, [Strand(("x", "a")), Strand(("s", "w"))])
    holds = CONDITIONS[where]
    found = [[r[0] for r in world if holds(r)] for world in worlds(rows)]
    counts, sums = [len(x) for x in found], [sum(x) for x in found]
    count, total = asked.ask(f"count where {where}"), asked.ask(f"sum(x) where {where}")
    assert count.value == pytest.approx(mean(counts))
    assert (count.low, count.high) == (min(counts), max(counts))
    assert total.value == pytest.approx(mean(sums))
    assert (total.low, total.high) == (min(sums), max(sums))
    some = [x for x in found if x]
    for name, figure in {"avg": mean, "min": min, "max": max}.items():
        answer = asked.ask(f"{name}(x) where {where}")
        if some:
            reached = [figure(x) for x in some]
            assert answer.low == pytest.approx(min(reached))
            assert answer.high == pytest.approx(max(reached))
        else:
            assert answer.low is None


@given(groups)
def test_the_truth_lies_within_the_bounds_of_three_sides(rows):
    asked = torn(rows, [Strand(("x",)), Strand(("a", "s")), Strand(("w",))])
    truth = [r for group in rows for r in group]
    for where, holds in CONDITIONS.items():
        matching = [r[0] for r in truth if holds(r)]
        for name, figure in {"count": len, "sum": sum, "avg": mean, "min": min, "max": max}.items():
            if name in ("count", "sum") or matching:
                answer = asked.ask(f"{name if name == 'count' else f'{name}(x)'} where {where}")
                assert answer.low - 1e-9 <= figure(matching) <= answer.high + 1e-9
                assert answer.value is None or answer.low - 1e-9 <= answer.value <= answer.high + 1e-9


@given(groups)
def test_a_column_in_two_strands_is_asked_where_the_others_are(rows):
    """Overlapping slices: a question about columns of one strand is answered exactly."""
    frame = pl.DataFrame(
        [(n, *row) for n, group in enumerate(rows) for row in group], ["group", "x", "a", "s", "w"], orient="row"
    )
    first = frame.select("group", "x", "a")
    second = frame.select("group", "a", "s", "w").sort("group", "s", "a")
    strands = [Strand(("x", "a")), Strand(("a", "s", "w"), "more")]
    asked = Asked(numbered_tables({"": first, "more": second}, "group", strands, Known()), ())
    for condition, sign in (("x > 0 and a = a", lambda r: r[0] > 0), ("s = x and a = a", lambda r: r[2] == "x")):
        truth = sum(1 for group in rows for r in group if sign(r) and r[1] == "a")
        found = asked.ask(f"count where {condition}")
        assert (found.low, found.value, found.high) == (truth, truth, truth)

"""Suggestions: plausible roles with reasons, and a job file that runs, or stops where somebody has to decide."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.datasets import census
from tarnkappe.errors import JobError
from tarnkappe.io import open_source
from tarnkappe.job.files import job_from_text
from tarnkappe.job.suggest import Suggestion, suggest, suggested_job_text
from tarnkappe.job.text import read_job_text
from tarnkappe.job.words import meaning_of
from tarnkappe.looks.facts import column_facts, uniqueness
from tarnkappe.pipeline import anonymize, check


def suggestions(table: dict[str, list[object]]) -> dict[str, Suggestion]:
    return {s.column: s for s in suggest(open_source(pl.DataFrame(table, strict=False)))}


def text_of(frame: pl.DataFrame, **given: str) -> str:
    source = open_source(frame)
    return suggested_job_text(source, suggest(source), "data.csv", **given)


ROWS = 60
SIXTY: list[object] = list(range(ROWS))


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("age", "quasi"),
        ("Alter", "quasi"),
        ("sex", "quasi"),
        ("Geschlecht", "quasi"),
        ("Geschl", "quasi"),
        ("GebDat", "quasi"),
        ("zipCode", "quasi"),
        ("PLZ", "quasi"),
        ("native-country", "quasi"),
        ("Staatsangehörigkeit", "quasi"),
        ("MARITAL_STATUS", "quasi"),
        ("Familienstand", "quasi"),
        ("workclass", "quasi"),
        ("diagnosis", "sensitive"),
        ("Hauptdiagnose", "sensitive"),
        ("Erkrankung", "sensitive"),
        ("Befund", "sensitive"),
        ("salary-class", "sensitive"),
        ("Gehalt", "sensitive"),
        ("occupation", "sensitive"),
        ("fnlwgt", "drop"),
    ],
)
def test_names_in_english_and_german_tell_a_role(name: str, role: str) -> None:
    meaning = meaning_of(name)
    assert meaning is not None
    assert meaning.role == role
    assert meaning.reason


@pytest.mark.parametrize("name", ["notes", "x1", "", "ward", "page", "image", "message"])
def test_other_names_tell_nothing(name: str) -> None:
    assert meaning_of(name) is None


@pytest.mark.parametrize(
    ("name", "values", "role", "reason"),
    [
        ("full name", ["Ann", "Bob"] * 30, "identifier", "names of people"),
        ("contact", [f"p{i}@example.org" for i in range(ROWS)], "identifier", "e-mail"),
        ("case_id", SIXTY, "identifier", "called an id"),
        ("remark", [f"free words {i} that go on for quite a while" for i in range(ROWS)], "drop", "free text"),
        ("diagnosis", [f"text {i}" for i in range(ROWS)], "identifier", "all of its values are different"),
        ("ward", [None] * ROWS, "drop", "no values"),
        ("ward", ["A"] * ROWS, "drop", "same in every row"),
        ("ward", ["A", "B"] * 30, "undecided", "nothing tells who knows it"),
        ("visits", [i % 7 for i in range(ROWS)], "undecided", "nothing tells"),
        ("pressure", [100 + i * 0.37 for i in range(ROWS)], "drop", "all of its values are different"),
        ("admitted", [f"2020-01-{1 + i % 28:02d}" for i in range(ROWS)], "quasi", "when something happened"),
    ],
)
def test_values_tell_a_role_and_every_role_has_a_reason(
    name: str, values: list[object], role: str | None, reason: str
) -> None:
    found = suggestions({name: values})[name]
    assert found.role == role
    assert reason in found.reason


@pytest.mark.parametrize(
    ("name", "values", "kind", "taxonomy"),
    [
        ("age", [20 + i % 50 for i in range(ROWS)], "numeric", None),
        ("zip", [f"{i:05d}" for i in range(ROWS)], "categorical", {"kind": "prefix", "keep": [4, 3, 2, 1]}),
        ("zip", [10000 + i for i in range(ROWS)], "categorical", {"kind": "prefix", "keep": [4, 3, 2, 1]}),
        ("sex", ["f", "m"] * 30, "categorical", "suppress"),
        ("race", [1, 2, 3] * 20, "categorical", {"kind": "set"}),
        ("race", [1.0, 2.0, 3.0] * 20, "categorical", {"kind": "set"}),
        ("yrs_married", [0.5, 2.5, 6.0, 9.0] * 15, "numeric", None),
        ("birth_date", [f"19{i:02d}-03-01" for i in range(ROWS)], "categorical", {"kind": "dates"}),
        ("Geburtsdatum", [f"1.3.19{i:02d}" for i in range(ROWS)], "categorical", {"kind": "dates"}),
        (
            "dob",
            [f"{1 + i % 28}/12/1980" for i in range(ROWS)],
            "categorical",
            {"kind": "dates", "format": "%d/%m/%Y"},
        ),
        ("birth", [datetime.date(1990, 1, 1 + i % 28) for i in range(ROWS)], "categorical", {"kind": "dates"}),
    ],
)
def test_a_quasi_identifier_gets_a_way_to_be_coarsened(
    name: str, values: list[object], kind: str, taxonomy: object
) -> None:
    found = suggestions({name: values})[name]
    assert (found.role, found.kind, found.taxonomy) == ("quasi", kind, taxonomy)
    job = job_from_text(text_of(pl.DataFrame({name: values})))
    assert check(job, pl.DataFrame({name: values})).tally.n_records == ROWS


def test_markers_of_missing_values_are_recognised_and_become_part_of_the_job() -> None:
    table = {"age": ["31", "NA", "44"] * 20, "country": ["NA", "?", "DE"] * 20}
    found = suggestions(table)
    assert found["age"].facts.markers == ("NA",)
    assert found["age"].facts.numeric
    assert found["age"].facts.missing == 20
    assert found["country"].facts.markers == ("?",)  # NA may be Namibia
    job = job_from_text(text_of(pl.DataFrame(table)))
    assert set(job.data.missing) == {"", "NA", "?"}
    assert job.missing_rule == "own-value"


def test_without_gaps_in_quasi_identifiers_no_rule_is_asked_for() -> None:
    job = job_from_text(text_of(pl.DataFrame({"age": [1, 2] * 9, "illness": ["a", None] * 9})))
    assert job.missing_rule is None


def test_a_census_runs_with_the_suggested_job_as_it_is() -> None:
    people = census(2000, seed=3)
    text = text_of(people)
    release = anonymize(job_from_text(text), people, seed=1)
    assert all(v.ok for v in release.verdicts)
    assert release.criteria == ("k-anonymity", "l-diversity")
    assert {c.name for c in release.columns if c.role == "sensitive"} == {"occupation"}
    assert text.startswith("# These are suggestions: review every role")
    entries = text.split("columns:\n")[1].split("\n\n")[0].splitlines()
    entries = [line for line in entries if not line.startswith("  #")]
    assert len(entries) == people.width
    assert all("  # " in line for line in entries)  # a reason each


def test_a_column_nobody_knows_stops_the_job_until_somebody_decides() -> None:
    people = pl.DataFrame({"age": [31, 44] * 20, "ward": ["A", "B"] * 20})
    text = text_of(people)
    with pytest.raises(JobError) as caught:
        anonymize(job_from_text(text), people)
    assert caught.value.code == "E101"
    assert "ward: 2 different texts" in caught.value.details
    decided = re.sub(r"(?<=ward: ) *{role: undecided}", "{role: quasi, taxonomy: suppress}", text)
    assert anonymize(job_from_text(decided), people).n_published == 40


def test_it_is_said_when_no_sensitive_column_was_recognised() -> None:
    text = text_of(pl.DataFrame({"age": [1, 2] * 9}))
    assert "No sensitive column was recognised" in text
    assert "l-diversity" not in [c.name for c in job_from_text(text).goal.criteria]


def test_a_sensitive_column_of_one_value_gets_no_criterion_that_cannot_hold() -> None:
    text = text_of(pl.DataFrame({"age": [1, 2] * 9, "illness": ["flu"] * 18}))
    assert "cannot hold" in text
    assert [c.name for c in job_from_text(text).goal.criteria] == ["k-anonymity"]


#: Names of columns but for those that are refused: blanks, patterns of names, and a byte order mark at the beginning.
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10).filter(
    lambda name: name.strip() and not re.fullmatch(r"\*|\^.*\$|\ufeff.*", name, re.DOTALL)
)


@given(
    st.lists(names, min_size=1, max_size=5, unique=True),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10),
)
@settings(max_examples=examples(60), deadline=None)
def test_whatever_columns_are_called_the_text_is_valid_and_names_them(columns: list[str], path: str) -> None:
    frame = pl.DataFrame({name: [f"{i % 3}" for i in range(30)] for name in columns})
    source = open_source(frame)
    found = suggest(source)
    text = suggested_job_text(source, found, path, title=path)
    data = read_job_text(text, "job")
    assert data["data"]["path"] == path
    assert data["title"] == path
    assert set(data["columns"]) == {s.column for s in found}


@given(st.lists(st.integers(0, 10**6), min_size=25, max_size=40, unique=True))
@settings(max_examples=20, deadline=None)
def test_no_value_of_the_data_gets_into_the_job_file(values: list[int]) -> None:
    canaries = [f"canary{v}" for v in values]
    frame = pl.DataFrame({"city": canaries, "illness": canaries, "notes": canaries, "age": ["41"] * len(values)})
    assert "canary" not in text_of(frame)


def test_uniqueness_counts_people_who_are_alone_or_nearly() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 1, 1, 2, 2, 3], "records": ["x"] * 8})
    found = uniqueness(open_source(frame), ["a", "records"])
    assert (found.combinations, found.unique, found.in_small_groups) == (3, 1, 3)
    assert found.share == 1 / 8


def test_facts_count_over_all_rows_not_only_the_sample() -> None:
    n = 20_000
    values = ["2020-01-01"] * (n - 1) + ["not a date"]
    numbers = ["1"] * (n - 1) + ["x"]
    date, number = column_facts(open_source(pl.DataFrame({"d": values, "n": numbers})))
    assert date.date_format is None
    assert not number.numeric
    assert number.distinct == 2


def test_a_decimal_comma_and_an_empty_float_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a;b\n" + "".join(f"{i},5;x\n" for i in range(30)))
    assert column_facts(open_source(path))[0].numeric
    nan = pl.DataFrame({"f": [1.5, float("nan"), None]})
    facts = column_facts(open_source(nan))[0]
    assert (facts.numeric, facts.missing, facts.distinct) == (True, 2, 1)


def test_codes_with_leading_zeros_are_no_numbers() -> None:
    facts = column_facts(open_source(pl.DataFrame({"code": ["007", "123"]})))[0]
    assert (facts.numeric, facts.kind, facts.length) == (False, "text", 3)


def test_boolean_and_categorical_columns_are_understood() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "married": rng.integers(0, 2, 40) == 1,
            "city": pl.Series(["x", "y"] * 20, dtype=pl.Categorical),
            "seen": [datetime.datetime(2020, 1, 1 + i % 9, 12) for i in range(40)],
        }
    )
    job = job_from_text(text_of(frame))
    assert [c.role for c in job.columns] == ["quasi", "quasi", "quasi"]
    assert check(job, frame).tally.n_records == 40

"""Suggestions for columns as they are in real files; what is unclear is never suggested to be published."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tarnkappe.errors import JobError
from tarnkappe.io import open_source
from tarnkappe.job.files import job_from_text
from tarnkappe.job.suggest import Suggestion, suggest, suggested_job_text
from tarnkappe.pipeline import anonymize

N = 120
RNG = np.random.default_rng(1)


def found(**columns: list[object]) -> dict[str, Suggestion]:
    return {s.column: s for s in suggest(open_source(pl.DataFrame(columns, strict=False)))}


def job_text(frame: pl.DataFrame) -> str:
    source = open_source(frame)
    return suggested_job_text(source, suggest(source), "data.csv")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x7", [i % 40 + 0.5 for i in range(N)]),
        ("x8", [i % 5 for i in range(N)]),
        ("x9", ["A", "B", "C"] * 40),
        ("flag", [0, 1] * 60),
        ("rating", [f"code {i % 70}" for i in range(N)]),
    ],
)
def test_what_is_unclear_is_not_yet_decided_and_the_job_says_what_was_seen(name: str, values: list[object]) -> None:
    frame = pl.DataFrame({"age": [20 + i % 9 for i in range(N)], name: values})
    assert found(**{name: values})[name].role == "undecided"
    text = job_text(frame)
    assert "{role: keep" not in text
    assert "{role: sensitive" not in text
    with pytest.raises(JobError) as caught:
        anonymize(job_from_text(text), frame)
    assert caught.value.code == "E101"
    assert any(f"{name}: {len(set(values))} different" in line for line in caught.value.details)


@pytest.mark.parametrize(
    "values", [[1000 + (i * 37) % 997 for i in range(N)], [0.5 + (i * 37) % 997 for i in range(N)]]
)
@pytest.mark.parametrize("name", ["x", "income", "case_id"])
def test_numbers_that_are_all_different_are_removed(name: str, values: list[object]) -> None:
    assert found(**{name: values})[name].role in ("identifier", "drop")


@pytest.mark.parametrize("name", ["children", "household_size", "education", "Kinderzahl", "siblings"])
def test_small_whole_numbers_are_numbers(name: str) -> None:
    s = found(**{name: [i % 6 for i in range(N)]})[name]
    assert (s.role, s.kind, s.taxonomy) == ("quasi", "numeric", None)


def test_small_whole_numbers_that_stand_for_categories_are_sets() -> None:
    assert found(race=[i % 5 for i in range(N)])["race"].taxonomy == {"kind": "set"}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("dx", ["flu", "gout"] * 60),
        ("diag_1", [f"{i % 60}" for i in range(N)]),
        ("c3", ["E11.9", "I10", "J45.0", "F32.1", "C50", "K21.9"] * 20),
        ("main condition", ["flu", "gout", "burn"] * 40),
    ],
)
def test_diagnoses_are_sensitive_by_name_or_by_their_codes(name: str, values: list[object]) -> None:
    assert found(**{name: values})[name].role == "sensitive"


@pytest.mark.parametrize("values", [[0, 1] * 60, ["yes", "no"] * 60, [True, False] * 60, ["Y", "N"] * 60])
@pytest.mark.parametrize("name", ["diabetes", "smoker", "high_blood_pressure", "DEATH_EVENT", "anaemia", "schwanger"])
def test_answers_about_health_are_sensitive_categories(name: str, values: list[object]) -> None:
    s = found(**{name: values})[name]
    assert (s.role, s.kind) == ("sensitive", "categorical")


@pytest.mark.parametrize("form", ["{:,}", "{:_}"])
def test_numbers_with_separators_of_thousands_are_seen_as_such(form: str) -> None:
    values = [form.format(1000 + i % 50 * 1234).replace("_", ".") for i in range(N)]
    s = found(amount=values)["amount"]
    assert s.role == "undecided"
    assert "separators of thousands" in s.reason
    assert s.facts.kind == "number"


@pytest.mark.parametrize("end", ["90+", ">89", "90 and over", "≥ 90"])
def test_open_ends_of_a_scale_keep_its_order(end: str) -> None:
    values = [str(20 + i % 70) for i in range(N)] + [end] * 5
    frame = pl.DataFrame({"age": values})
    s = found(age=values)["age"]
    assert (s.role, s.taxonomy) == ("quasi", {"kind": "order"})
    release = anonymize(job_from_text(job_text(frame)), frame, seed=1)
    assert all(v.ok for v in release.verdicts)
    assert release.n_groups > 3


def test_a_scale_with_an_open_end_is_no_scale_of_texts() -> None:
    """A child of 5 was published as [49 50], since "5" as a text lies between "49" and "50"."""
    ages = [str(5 + i % 85) for i in range(N)] + ["90+"] * 5
    frame = pl.DataFrame({"age": ages})
    release = anonymize(job_from_text(job_text(frame)), frame, seed=1)
    bounds = {label.strip("[]").replace("+", "") for label in release.table["age"]}
    ends = [[int(end) for end in label.split()] for label in bounds]
    assert all(label == sorted(label) for label in ends)
    assert all(sum(low <= age <= high for low, *_, high in ([*e, *e] for e in ends)) == 1 for age in range(5, 90))


def test_few_but_free_texts_are_dropped() -> None:
    remarks = ["called her daughter about it", "wants to move to Bremen soon", "asked for Dr Meyer again"]
    s = found(info=[None] * (N - 12) + remarks * 4)["info"]
    assert (s.role, "free text" in s.reason) == ("drop", True)
    assert found(info=[None] * (N - 6) + ["her son came to visit"] * 6)["info"].role == "drop"
    assert found(info=[None] * (N - 6) + ["x"] * 6)["info"].role == "undecided"  # who has it is told apart


def test_long_labels_that_many_rows_share_are_no_free_text() -> None:
    labels = ["Type 2 diabetes mellitus without complications", "Essential hypertension that is primary", "None of it"]
    assert found(diagnosis=labels * 40)["diagnosis"].role == "sensitive"


@pytest.mark.parametrize("marker", ["NA", "-", ".", "?", "N/A"])
def test_marks_of_missing_values_are_seen_in_texts_and_numbers(marker: str) -> None:
    seen = found(age=["31", marker, "44"] * 40, illness=["flu", marker, "gout"] * 40)
    assert seen["age"].facts.markers == seen["illness"].facts.markers == (marker,)
    assert seen["age"].facts.numeric
    assert seen["illness"].facts.missing == 40


def test_namibia_is_no_missing_value() -> None:
    assert found(country=["NA", "DE", "FR"] * 40)["country"].facts.markers == ()


def test_age_beside_the_date_of_birth_is_enough() -> None:
    seen = found(
        age=[20 + i % 50 for i in range(N)],
        date_of_birth=[f"{1950 + i % 50}-03-{1 + i % 28:02d}" for i in range(N)],
    )
    assert seen["age"].role == "quasi"
    assert (seen["date_of_birth"].role, "redundant" in seen["date_of_birth"].reason) == ("drop", True)
    assert found(dob=[f"{1950 + i % 50}-03-{1 + i % 28:02d}" for i in range(N)])["dob"].role == "quasi"


def test_an_index_without_a_name_is_dropped_and_the_reason_said(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('"","age"\n' + "".join(f'"{i + 1}",{20 + i % 9}\n' for i in range(N)))
    with open_source(path) as source:
        seen = suggest(source)
        text = suggested_job_text(source, seen, "r.csv")
        assert [(s.column, s.role) for s in seen] == [("Unnamed: 0", "drop"), ("age", "quasi")]
        assert "the index that R or pandas wrote" in text
        release = anonymize(job_from_text(text), path, seed=1)
    assert release.table.columns == ["age"]


def test_the_key_of_people_with_several_records_becomes_the_subject() -> None:
    frame = pl.DataFrame({"nr": [i // 4 for i in range(400)], "age": [20 + i // 4 % 40 for i in range(400)]})
    text = job_text(frame)
    asked = job_from_text(text)
    assert [(c.name, c.role) for c in asked.columns] == [("nr", "subject"), ("age", "quasi")]
    assert [c.name for c in asked.goal.criteria] == ["xy-anonymity"]
    assert anonymize(asked, frame, seed=1).verdicts[0].reached >= 5


def test_a_salary_is_never_the_key_of_a_person() -> None:
    assert found(salary=[1000.5 + i % 50 for i in range(N)])["salary"].role == "sensitive"


def test_three_hundred_columns_take_little_time_and_little_screen() -> None:
    frame = pl.DataFrame({f"q{j}": RNG.integers(0, 7, 500) for j in range(300)} | {"age": RNG.integers(20, 60, 500)})
    start = time.process_time()
    text = job_text(frame)
    assert time.process_time() - start < 20
    assert "301 columns may be quasi-identifiers" in text
    with pytest.raises(JobError) as caught:
        anonymize(job_from_text(text), frame)
    assert len(caught.value.message) < 120
    assert len(caught.value.details) < 12


@pytest.mark.parametrize("value", ["Anna Schmidt", "DE89370400440532013000", "Anna came back from Spain last week"])
def test_what_stands_in_every_row_is_not_published_without_a_reason_of_somebody(value: str) -> None:
    """It was kept, with a reason that no person had given and that kept the guard silent."""
    s = found(x=[value] * N)["x"]
    assert (s.role, "because" in job_text(pl.DataFrame({"x": [value] * N})).split("columns:")[1]) == ("drop", False)


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("month_of_diagnosis", [f"{1990 + i % 20}-{1 + i % 12:02}" for i in range(60)], "quasi"),
        ("Diagnose_Datum", [f"{1 + i % 10}. Mai {1990 + i % 4}" for i in range(60)], "quasi"),
        ("diagnosis_city", ["Kiel", "Bremen", "Husum"] * 20, "quasi"),
        ("income_wgt", [100 + i % 20 for i in range(60)], "drop"),
    ],
)
def test_what_others_know_is_not_suggested_as_sensitive(name: str, values: list[object], role: str) -> None:
    suggestion = found(**{name: values, "age": [20 + i % 40 for i in range(60)]})[name]
    assert suggestion.role == role
    assert "known" in [f.tells for f in suggestion.facts.findings]


def test_months_are_coarsened_as_dates() -> None:
    months = [f"{1 + i % 12:02}/{1990 + i % 20}" for i in range(60)]
    assert found(seen=months)["seen"].taxonomy == {"kind": "dates", "format": "%m/%Y"}
    frame = pl.DataFrame({"seen": months})
    assert anonymize(job_from_text(job_text(frame)), frame).smallest_group >= 5


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("date de naissance", "drop"),
        ("fecha de nacimiento", "drop"),
        ("Geb.-Datum", "drop"),
        ("état civil", "quasi"),
        ("estado civil", "quasi"),
        ("municipio", "quasi"),
        ("VIH", "sensitive"),
        ("fumador", "sensitive"),
        ("salaire", "sensitive"),
        ("profesión", "sensitive"),
        ("latitud", "identifier"),
    ],
)
def test_tables_in_french_and_spanish_are_understood(name: str, role: str) -> None:
    dates = [f"{1 + i % 28:02}/{1 + i % 12:02}/{1950 + i % 40}" for i in range(N)]
    values = {"drop": dates, "identifier": [47.25 + i % 9 / 64 for i in range(N)]}.get(role, [i % 5 for i in range(N)])
    assert found(**{name: values, "âge": [20 + i % 40 for i in range(N)]})[name].role == role

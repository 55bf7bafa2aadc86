"""Person keys, public tables, targets and levels in job files and in the Python API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tarnkappe import Datafly, Job, KAnonymity, Mondrian, intervals, numeric, suppress
from tarnkappe.criteria.k_map import KMap
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.criteria.xy_linkability import XYLinkability
from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.io import CsvDialect
from tarnkappe.job import Population
from tarnkappe.job.files import job_from_text, job_json_schema
from tarnkappe.params import param
from tarnkappe.schema import Column

JOB = """
data: {path: clinic.csv}
population: {path: register.csv, delimiter: ;, missing: ["", "?"]}
columns:
  age: {role: quasi, type: numeric, taxonomy: {kind: intervals, widths: [5, 20]}, min_level: 1, max_level: 2}
  sex: {role: quasi, taxonomy: suppress, max_level: 0}
  illness: sensitive
  007: subject
  name: identifier
criteria:
  - k-map: {k: 5}
  - xy-anonymity: {y: 007, k: 3, x: [age]}
  - xy-linkability: {y: illness, h: 0.5, value: 1, subject: 007}
algorithm: datafly
"""


@dataclass(frozen=True)
class Aimed(Mondrian):
    """An algorithm that works towards a column."""

    target: str | None = param(None, doc="The column.", refers_to="counted", kw_only=True)


def test_a_job_file_says_it_all(tmp_path: Path):
    job = job_from_text(JOB, folder=tmp_path)
    age, sex, *_ = job.columns
    assert (age.min_level, age.max_level, sex.min_level, sex.max_level) == (1, 2, 0, 0)
    assert {c.name: c.role for c in job.columns}["007"] == "subject"
    assert job.population == Population(str(tmp_path / "register.csv"), CsvDialect(delimiter=";"), ("", "?"))
    assert job.goal.criteria == (
        KMap(5),
        XYAnonymity("007", 3, ("age",)),
        XYLinkability("illness", 0.5, "1", (), "007"),
    )
    assert job_from_text(job.to_yaml(tmp_path), folder=tmp_path) == job


def test_the_schema_for_editors_knows_them():
    schema = job_json_schema()
    assert set(schema["properties"]["population"]["properties"]) >= {"path", "delimiter", "missing"}
    column = schema["properties"]["columns"]["additionalProperties"]["anyOf"][1]
    assert column["properties"]["min_level"]["minimum"] == 0
    assert "subject" in column["properties"]["role"]["enum"]


def job(**changes: Any) -> Job:
    given: dict[str, Any] = {
        "quasi": {"age": numeric(), "sex": suppress()},
        "sensitive": ["illness"],
        "subject": "patient",
        "identifiers": ["name"],
        "criteria": [KAnonymity(2)],
    }
    return Job(**{**given, **changes})


def test_a_public_table_in_python():
    frame = pl.DataFrame({"age": [1]})
    assert job(population=frame).population.given is frame  # type: ignore[union-attr]
    assert job(population=Path("register.csv")).population == Population("register.csv")
    assert job(population=frame) == job(population=frame)
    assert "population" not in job(population=frame).to_yaml()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"algorithm": Aimed(target="ilness")}, "E105 mondrian looks at 'ilness'.*did you mean 'illness'"),
        ({"algorithm": Aimed(target="age")}, "E111 mondrian looks at the values of 'age'.*coarsened"),
        ({"algorithm": Aimed(target="name")}, "E111 mondrian looks at 'name'.*direct identifier"),
        ({"criteria": [XYAnonymity("pateint", 2)]}, "E105 xy-anonymity looks at 'pateint'.*did you mean 'patient'"),
        ({"criteria": [XYAnonymity("sex", 2)]}, "E111 xy-anonymity looks at the values of 'sex'"),
        ({"criteria": [XYAnonymity("patient", 2, ("agee",))]}, "E105 .*'agee'.*no quasi-identifier.*mean 'age'"),
        ({"criteria": [XYLinkability("patient", 0.5)]}, "E105 .*'patient', which is no sensitive column"),
        ({"criteria": [XYLinkability("illness", 0.5, subject="name")]}, "E111 .*'name'.*direct identifier"),
    ],
)
def test_columns_that_cannot_be_counted(changes: dict[str, Any], words: str):
    with pytest.raises(JobError, match=words) as error:
        job(**changes)
    assert error.value.hint


def test_the_rest_may_hold_what_is_counted():
    """Columns that are only the rest are known when the data are there."""
    given = job(criteria=[XYAnonymity("visit", 2)], drop="rest")
    columns = ["age", "sex", "illness", "patient", "name"]
    assert [c.name for c in given.aside(given.schema([*columns, "visit"]))] == ["visit"]
    with pytest.raises(JobError, match="E105"):
        given.schema(columns)


@pytest.mark.parametrize(
    ("levels", "words"),
    [((2, 1), "contradict each other: at least 2, at most 1"), ((0, 3), None), ((1, None), None)],
)
def test_levels(levels: tuple[int, int | None], words: str | None):
    if words is None:
        Column("age", "quasi", "numeric", intervals(5), 1.0, None, *levels)
        return
    with pytest.raises(JobError, match=words):
        Column("age", "quasi", "numeric", intervals(5), 1.0, None, *levels)


def test_only_quasi_identifiers_have_levels():
    with pytest.raises(JobError, match="E110 'illness' has levels"):
        Column("illness", "sensitive", min_level=1)


FRAME = pl.DataFrame({"age": list(range(20, 60)), "sex": ["f", "m"] * 20})


def limited(lowest: int, highest: int | None, algorithm: Any) -> Job:
    columns = [
        Column("age", "quasi", "numeric", intervals(5, 20), 1.0, None, lowest, highest),
        Column("sex", "quasi", "categorical", suppress()),
    ]
    return Job(columns=columns, criteria=[KAnonymity(2)], algorithm=algorithm)


def test_levels_are_kept():
    table = limited(2, 2, Datafly()).anonymize(FRAME).table
    assert table["age"].n_unique() == 2
    assert limited(0, None, Datafly()).anonymize(FRAME).table["age"].n_unique() == 8


def test_a_level_that_is_not_there():
    with pytest.raises(TarnkappeError, match="E110 the taxonomy of 'age' has no level 4, its highest is 3") as error:
        limited(4, None, Datafly()).anonymize(FRAME)
    assert error.value.hint == "age: {min_level: 3}"


def test_every_algorithm_knows_levels():
    ages = limited(1, 1, Mondrian()).anonymize(FRAME).table["age"]
    assert sorted(set(ages)) == ["20-24", "25-29", "30-34", "35-39", "40-44", "45-49", "50-54", "55-59"]

"""Jobs made in Python: what they refuse, what they warn about, and what is left out of files."""

from __future__ import annotations

import polars as pl
import pytest

from tarnkappe import Job, KAnonymity, LDiversity, TCloseness, numeric, suppress, tree
from tarnkappe.errors import DataError, JobError, TarnkappeError
from tarnkappe.job.files import job_from_text
from tarnkappe.schema import Column
from tarnkappe.taxonomy import Taxonomy

FRAME = pl.DataFrame({"age": [1, 2] * 10, "sex": ["f", "m"] * 10, "illness": ["a", "b", "a", "b"] * 5, "x": ["1"] * 20})


def test_the_rest_of_the_columns_is_named_in_the_job_of_the_release() -> None:
    job = Job(quasi={"age": numeric(), "sex": suppress()}, sensitive=["illness"], drop="rest", criteria=[KAnonymity(2)])
    release = job.anonymize(FRAME, seed=1)
    again = job_from_text(release.job.to_yaml())
    assert {c.name: c.role for c in again.columns} == {
        "age": "quasi",
        "sex": "quasi",
        "illness": "sensitive",
        "x": "drop",
    }
    assert again.anonymize(FRAME, seed=1).table.equals(release.table)


def test_a_taxonomy_object_is_taken_as_it_is() -> None:
    made = Taxonomy.from_nested({"ANY": ["f", "m"]})
    job = Job(quasi={"sex": made}, keep="rest", criteria=[KAnonymity(2)])
    assert job.columns[0].taxonomy == tree(made.nested())


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"quasi": {"age": numeric()}, "keep": "rest", "drop": "rest"}, "E110"),
        ({"quasi": {"age": numeric()}, "keep": "everything"}, "E110"),
        ({"quasi": {"age": 5}}, "E110"),
        ({"quasi": {}}, "E106"),
        ({"quasi": {"age": numeric()}, "criteria": []}, "E106"),
        ({"quasi": {"age": numeric()}, "criteria": [LDiversity("illness", 2)]}, "E105"),
        (
            {
                "quasi": {"age": numeric()},
                "sensitive": ["illness"],
                "criteria": [TCloseness("illness", 0.2, "hierarchical")],
            },
            "E111",
        ),
        ({"quasi": {"age": numeric()}, "columns": [Column("age", "drop")]}, "E104"),
        ({"quasi": {"age": numeric()}, "max_suppressed": 2}, "E110"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused(given: dict[str, object], code: str) -> None:
    with pytest.raises(TarnkappeError) as caught:
        Job(**{"criteria": [KAnonymity(2)], **given})  # type: ignore[arg-type]
    assert caught.value.code == code


def test_data_must_have_the_columns_and_the_columns_a_role() -> None:
    job = Job(quasi={"age": numeric(), "sex": suppress()}, criteria=[KAnonymity(2)])
    with pytest.raises(JobError, match="2 columns have no role: illness, x"):
        job.check(FRAME)
    with pytest.raises(DataError, match="no column 'sex'"):
        job.check(FRAME.select("age"))


def test_warnings_travel_with_the_check() -> None:
    job = Job(quasi={"age": numeric()}, sensitive=["illness"], drop="rest", criteria=[KAnonymity(2)])
    assert [n.code for n in job.check(FRAME)] == ["W601", "W602"]
    assert job.with_seed(5).seed == 5


AGE = "columns: {age: {role: quasi, type: numeric}}\n"
K = AGE + "criteria: [{k-anonymity: {k: 2}}]\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("just words", "E100"),
        (AGE + "criteria: {k-anonymity: {k: 2}}", "E110"),
        (AGE + "criteria: [k-anonymity]", "E110"),
        (AGE + "criteria: [{k-anonymity: 5}]", "E110"),
        (AGE + "criteria: [{k-anonymity: }]", "E103"),
        (K + "data: x", "E110"),
        (K + "algorithm: {cut: x}", "E103"),
        (K + "algorithm: mondrain", "E105"),
        (K + "limits: {suppressed_rows: x}", "E110"),
        (K + "limits: {suppressed_rows: 101%}", "E110"),
        (K + "version: 2", "E110"),
        ("columns: {? [a] : drop}\ncriteria: []", "E100"),
        ("columns: &a {x: *a}\ncriteria: []", "E100"),
    ],
)
def test_sections_of_the_wrong_shape_are_told(text: str, code: str) -> None:
    with pytest.raises(JobError) as caught:
        job_from_text(text, "job.yaml")
    assert caught.value.code == code
    assert str(caught.value.where).startswith("job.yaml")


def test_an_algorithm_may_have_parameters() -> None:
    assert job_from_text(K + "algorithm: mondrian").algorithm.get_params() == {"cut": "strict", "swaps": 0}
    relaxed = job_from_text(K + "algorithm: {name: mondrian, cut: relaxed}").algorithm
    assert relaxed.get_params() == {"cut": "relaxed", "swaps": 0}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"identifiers": ["illness"]}, "'illness' is named as 'sensitive' and 'identifier'"),
        ({"columns": [Column("sex", "drop"), Column("sex", "drop")]}, "'sex' is named as 'drop' twice"),
    ],
)
def test_a_column_that_is_named_twice_is_told_with_its_roles(given: dict[str, object], said: str) -> None:
    with pytest.raises(JobError, match=f"column {said}") as caught:
        Job(quasi={"age": numeric()}, sensitive=["illness"], criteria=[KAnonymity(2)], **given)  # type: ignore[arg-type]
    assert caught.value.code == "E104"
    assert caught.value.hint == f"Name {said.split(maxsplit=1)[0]} in one of them only."

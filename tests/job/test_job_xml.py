"""The configuration of an earlier tool becomes a job."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tarnkappe import FrequencyLDiversity, KAnonymity, Mondrian, TCloseness
from tarnkappe.algorithms import all_algorithms
from tarnkappe.errors import JobError
from tarnkappe.job.files import job_from_text
from tarnkappe.job.xml import import_xml, job_from_xml
from tarnkappe.pipeline import anonymize

CONFIG = """<?xml version="1.0"?>
<config method="Hilb" l="5">
  <input filename="hdfs:///datasets/pums/5percent" />
  <identifiers>
    <attribute name="workclass" index="1" type="CATEGORICAL" />
    <attribute name="education" index="2"
      type="CATEGORICAL" />
  </identifiers>
  <quasi_identifiers>
    <attribute name="age" index="0" type="NUMERICAL" />
    <attribute name="gender" index="7" type="CATEGORICAL" />
    <attribute name="country" index="10" type="CATEGORICAL" />
  </quasi_identifiers>
  <sensitive_attributes>
    <attribute name="occupation" index="4" type="CATEGORICAL" />
  </sensitive_attributes>
</config>
"""

TAXONOMIES = """<?xml version="1.0"?>
<taxonomies>
  <taxonomy attribute="gender">
    <node value="ANY SEX"><node value="Male" /><node value="Female" /></node>
  </taxonomy>
</taxonomies>
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "config.xml").write_text(CONFIG)
    (tmp_path / "taxonomies.xml").write_text(TAXONOMIES)
    return tmp_path / "config.xml"


def changed(config: Path, *change: tuple[str, str]) -> Path:
    text = CONFIG
    for old, new in change:
        assert old in text
        text = text.replace(old, new)
    config.write_text(text)
    return config


def test_roles_kinds_taxonomies_and_order(config: Path) -> None:
    job = job_from_xml(config, config.with_name("taxonomies.xml"))
    assert [(c.name, c.role, c.kind) for c in job.columns] == [
        ("age", "quasi", "numeric"),
        ("workclass", "identifier", "categorical"),
        ("education", "identifier", "categorical"),
        ("occupation", "sensitive", "categorical"),
        ("gender", "quasi", "categorical"),
        ("country", "quasi", "categorical"),
    ]
    gender, country = job.columns[4].taxonomy, job.columns[5].taxonomy
    assert gender is not None
    assert country is not None
    assert gender.build(["Male", "Female"], "gender").labels == ("ANY SEX", "Male", "Female")
    assert country.name == "suppress"
    assert job.goal.criteria == (FrequencyLDiversity(column="occupation", l=5),)
    assert job.data.path == "hdfs:///datasets/pums/5percent"


def test_an_unknown_method_is_replaced_and_that_is_said(config: Path) -> None:
    found = import_xml(changed(config, ("Hilb", "Whatever")), None)
    assert found.job.algorithm == Mondrian()
    assert "Whatever" in found.notices[0].message
    known = import_xml(changed(config, ("Hilb", "DataFly")), None)
    assert known.job.algorithm == all_algorithms()["datafly"]()
    assert known.notices == ()


def test_the_parameters_become_criteria(config: Path) -> None:
    job = job_from_xml(changed(config, ('method="Hilb" l="5"', 'k="7" t="0.3"')))
    assert job.goal.criteria == (KAnonymity(7), TCloseness(column="occupation", t=0.3))


def test_files_are_found_beside_the_configuration(config: Path) -> None:
    here = changed(config, ("hdfs:///datasets/pums/5percent", "file://census.csv"))
    assert job_from_xml(here).data.path == str(config.parent / "census.csv")
    there = changed(config, ("hdfs:///datasets/pums/5percent", "file:///data/census.csv"))
    assert job_from_xml(there).data.path == "/data/census.csv"


def test_what_was_imported_names_a_folder_for_its_release(config: Path) -> None:
    assert job_from_xml(config).output.folder == str(config.parent / "5percent-release")
    here = changed(config, ("hdfs:///datasets/pums/5percent", "file://census.csv"))
    assert job_from_xml(here).output.folder == str(config.parent / "census-release")


def test_the_job_can_be_written_and_runs(config: Path) -> None:
    job = job_from_xml(config, config.with_name("taxonomies.xml"))
    again = job_from_text(job.to_yaml(config.parent), folder=config.parent)
    assert again == job
    n = 200
    people = pl.DataFrame(
        {
            "age": [str(20 + i % 40) for i in range(n)],
            "workclass": ["x"] * n,
            "education": ["y"] * n,
            "occupation": [f"job {i % 13}" for i in range(n)],
            "gender": ["Male", "Female"] * (n // 2),
            "country": ["USA"] * n,
        }
    )
    release = anonymize(again, people, seed=1)
    assert release.table.columns == ["age", "occupation", "gender", "country"]
    assert all(v.ok for v in release.verdicts)


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("<?xml", "<!DOCTYPE config [<!ENTITY a 'b'>]><?xml"), 1, ""),
        (('<?xml version="1.0"?>', "<!DOCTYPE config>"), 1, "not allowed"),
        (("</config>", ""), 18, "well-formed"),
        (("<config", "<confg"), 2, "did you mean 'config'"),
        (("quasi_identifiers", "quasi_identifier"), 9, "did you mean 'quasi_identifiers'"),
        (('l="5"', 'll="5"'), 2, "unknown attribute 'll'"),
        (('l="5"', 'l="five"'), 2, "must be a number"),
        (('l="5"', 'l="0"'), 2, "at least 1"),
        ((' l="5"', ""), 2, "no protection"),
        (('index="0"', 'index="-1"'), 10, "position"),
        (('index="0"', 'index="7"'), 11, "stands twice"),
        (('name="gender"', 'name="age"'), 11, "stands twice"),
        (('name="gender" ', ""), 11, "'name' is missing"),
        (('type="NUMERICAL"', 'type="Numerical"'), 10, "did you mean 'NUMERICAL'"),
        (('filename="hdfs:///datasets/pums/5percent"', ""), 3, "'filename' is missing"),
        (("<identifiers>", "<identifiers>text"), 4, "text stands"),
    ],
)
def test_what_cannot_be_understood_is_told_with_its_line(
    config: Path, change: tuple[str, str], line: int, words: str
) -> None:
    with pytest.raises(JobError) as caught:
        job_from_xml(changed(config, change))
    assert caught.value.code == "E109"
    assert caught.value.where == f"{config}:{line}"
    assert words in caught.value.message


def test_a_broken_taxonomy_file_is_told_with_its_line(config: Path) -> None:
    trees = config.with_name("taxonomies.xml")
    trees.write_text(TAXONOMIES.replace('<node value="Male" />', "<node />"))
    with pytest.raises(JobError) as caught:
        job_from_xml(config, trees)
    assert caught.value.code == "E109"
    assert caught.value.where == f"{trees}:4"


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(JobError) as caught:
        job_from_xml(tmp_path / "config.xml")
    assert caught.value.code == "E107"

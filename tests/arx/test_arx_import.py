"""A project of ARX becomes a job that runs, and says what it could not take over."""

from __future__ import annotations

import zipfile
from pathlib import Path

import polars as pl
import pytest
from projects import element, write_project
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.cli.app import app
from tarnkappe.errors import DataError, JobError
from tarnkappe.job.arx import import_arx
from tarnkappe.job.files import load_job
from tarnkappe.pipeline import run_job

AGES = [str(age) for age in range(20, 60)]
ILLNESS = ["flu", "cold", "gout", "Größe"]
RECORDS = [[f"p{i}", AGES[(i * 7) % 40], "mf"[i % 2], ILLNESS[i % 4], str(i % 5)] for i in range(200)]
HEADER = ["name", "age", "sex", "illness", "visits"]
AGE_TREE = [
    [a, f"{int(a) // 5 * 5}-{int(a) // 5 * 5 + 4}", f"{int(a) // 10 * 10}-{int(a) // 10 * 10 + 9}", "*"] for a in AGES
]
TREE = {"ref": "hierarchies/age.csv", "min": "1", "max": "All"}
COLUMNS = {
    "name": {"type": "IDENTIFYING_ATTRIBUTE", "datatype": "String"},
    "age": {"type": "QUASI_IDENTIFYING_ATTRIBUTE", "datatype": "Integer", **TREE},
    "sex": {
        "type": "QUASI_IDENTIFYING_ATTRIBUTE",
        "datatype": "String",
        "ref": "hierarchies/sex.csv",
        "min": "All",
        "max": "All",
    },
    "illness": {"type": "SENSITIVE_ATTRIBUTE", "datatype": "String"},
    "visits": {"type": "INSENSITIVE_ATTRIBUTE", "datatype": "Integer"},
}
HIERARCHIES = {"age": AGE_TREE, "sex": [["m", "*"], ["f", "*"]]}
CRITERIA = ["5-anonymity", "distinct-2-diversity for attribute 'illness'"]
THEIRS = [
    HEADER,
    *(["*", AGE_TREE[AGES.index(r[1])][2], r[2], r[3], r[4]] for r in RECORDS[:190]),
    *([["*", "*", "*", "*", "*"]] * 10),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(
        tmp_path / "klinik.deid", [HEADER, *RECORDS], COLUMNS, HIERARCHIES, CRITERIA, output=THEIRS, outliers=0.05
    )


def test_a_project_becomes_a_job_that_runs(project: Path, tmp_path: Path):
    made = CliRunner().invoke(app, ["import-arx", str(project), "-o", str(tmp_path / "out")])
    assert made.exit_code == 0, made.output
    job = load_job(tmp_path / "out" / "job.yaml")
    assert job.title == "Klinik Süd"
    assert {c.name: c.role for c in job.columns} == {
        "name": "identifier", "age": "quasi", "sex": "quasi", "illness": "sensitive", "visits": "keep"
    }  # fmt: skip
    assert job.goal.criteria == (tk.KAnonymity(5), tk.LDiversity(column="illness", l=2))
    assert job.goal.max_suppressed == 0.05
    assert next(c for c in job.columns if c.name == "age").min_level == 1
    release = run_job(job, job.data.path, tmp_path / "release")
    written = pl.read_csv(next((tmp_path / "release" / "public").glob("data.csv")), separator=";")
    assert written.group_by("age", "sex").len()["len"].min() >= 5
    assert written.group_by("age", "sex").agg(pl.col("illness").n_unique())["illness"].min() >= 2
    assert not set(written["age"].cast(pl.String)) & set(AGES)  # their lowest level is 1
    assert release.n_published == 200


def test_the_result_stands_beside_theirs(project: Path, tmp_path: Path):
    made = CliRunner().invoke(app, ["import-arx", str(project), "-o", str(tmp_path / "out"), "--run"])
    assert made.exit_code == 0, made.output
    said = " ".join(made.output.split())
    assert "ARX: 190 records, 10 left out, 8 groups" in said
    assert "Tarnkappe: 200 records, 0 left out" in said
    assert "of the detail lost" in said


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("shannon-entropy-2.0-diversity for attribute 'illness'", tk.EntropyLDiversity(column="illness", l=2.0)),
        ("entropy-1.5-diversity for attribute 'illness'", tk.EntropyLDiversity(column="illness", l=1.5)),
        ("recursive-(4.0,2)-diversity for attribute 'illness'", tk.RecursiveCLDiversity(column="illness", c=4.0, l=2)),
        ("0.2-closeness with equal ground-distance for attribute 'illness'", tk.TCloseness(column="illness", t=0.2)),
        (
            "0.5-closeness with ordered distance for attribute 'visits'",
            tk.TCloseness(column="visits", t=0.5, distance="ordered"),
        ),
        ("enhanced-2.0-likeness for attribute 'illness'", tk.BetaLikeness(column="illness", beta=2.0)),
        ("basic-2.0-likeness for attribute 'illness'", tk.BetaLikeness(column="illness", beta=2.0, form="basic")),
        (
            "1.5-disclosure privacy for attribute 'illness'",
            tk.DeltaDisclosure(column="illness", delta=1.5, absent="skipped"),
        ),
        ("(0.2)-avg-reidentification-risk", tk.AverageRisk(0.2)),
    ],
)
def test_models_in_the_words_of_arx(model: str, wanted: object, tmp_path: Path):
    columns = {**COLUMNS, "visits": {"type": "SENSITIVE_ATTRIBUTE", "datatype": "Integer"}}
    path = write_project(tmp_path / "x.deid", [HEADER, *RECORDS], columns, HIERARCHIES, ["5-anonymity", model])
    assert import_arx(path, tmp_path / "x").job.goal.criteria == (tk.KAnonymity(5), wanted)


def test_what_is_lost_is_listed(tmp_path: Path):
    columns = {**COLUMNS, "sex": {**COLUMNS["sex"], "microaggregationFunction": "Mode"}}
    hierarchies = {**HIERARCHIES, "age": [["20", "a", "*"], ["21", "a", "x"], ["22", "b", "*"]]}
    path = write_project(
        tmp_path / "x.deid", [HEADER, *RECORDS], columns, hierarchies, ["5-anonymity", "(0.1, 0.5)-presence", "(5)-map"]
    )
    found = import_arx(path, tmp_path / "x")
    said = "\n".join(n.message for n in found.notices)
    assert {n.code for n in found.notices} == {"W663"}
    for word in (
        "(0.1, 0.5)-presence",
        "(5)-map",
        "'sex' was to be microaggregated",
        "hierarchy of 'age' is not a tree",
    ):
        assert word in said
    assert found.job.goal.criteria == (tk.KAnonymity(5),)


def test_weights_and_other_delimiters(tmp_path: Path):
    more = "<attributeWeights><attributeWeight>" + element("attribute", "age") + element("weight", 1.0)
    more += "</attributeWeight></attributeWeights>"
    path = write_project(
        tmp_path / "x.deid", [HEADER, *RECORDS], COLUMNS, HIERARCHIES, CRITERIA, more=more, delimiter=","
    )
    found = import_arx(path, tmp_path / "x")
    assert {c.name: c.weight for c in found.job.columns if c.role == "quasi"} == {"age": 2.0, "sex": 1.0}
    assert found.job.data.dialect.delimiter == ","
    assert found.job.anonymize(found.data).n_published > 0


BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><config>&c;</config>'


@pytest.mark.parametrize(
    "files",
    [
        {"metadata.xml": "<metadata><version>3"},
        {"input/config.xml": BOMB},
        {"input/definition.xml": "<definition><assigment><name>age</name></assigment></definition>"},
    ],
)
def test_damaged_projects_are_named(files: dict[str, str], tmp_path: Path):
    path = write_project(tmp_path / "x.deid", [HEADER, *RECORDS], COLUMNS, HIERARCHIES, CRITERIA, files=files)
    with pytest.raises(DataError) as caught:
        import_arx(path, tmp_path / "x")
    assert caught.value.code == "E477"
    assert caught.value.hint


def test_what_is_no_project(project: Path, tmp_path: Path):
    whole = project.read_bytes()
    for content in (b"", b"no zip", whole[: len(whole) // 2]):
        (tmp_path / "x.deid").write_bytes(content)
        made = CliRunner().invoke(app, ["import-arx", str(tmp_path / "x.deid"), "-o", str(tmp_path / "never")])
        assert made.exit_code == 3, made.output
        assert not (tmp_path / "never").exists()
    with zipfile.ZipFile(tmp_path / "y.deid", "w") as archive:
        archive.writestr("../../evil.csv", "x")
    with pytest.raises(DataError, match=r"metadata\.xml"):
        import_arx(tmp_path / "y.deid", tmp_path / "y")
    with pytest.raises(DataError) as caught:
        import_arx(tmp_path / "none.deid", tmp_path / "z")
    assert caught.value.code == "E401"
    path = write_project(tmp_path / "w.deid", [HEADER, *RECORDS], COLUMNS, HIERARCHIES, [])
    with pytest.raises(JobError, match="no protection"):
        import_arx(path, tmp_path / "w")


def test_no_name_leaves_the_folder(tmp_path: Path):
    evil = "../../evil"
    header = [evil, *HEADER[1:]]
    columns = {
        evil: {**COLUMNS["sex"], "ref": f"hierarchies/{evil}.csv"},
        **{k: v for k, v in COLUMNS.items() if k != "name"},
    }
    hierarchies = {**HIERARCHIES, evil: [[r[0], "*"] for r in RECORDS]}
    path = write_project(tmp_path / "x.deid", [header, *RECORDS], columns, hierarchies, CRITERIA)
    import_arx(path, tmp_path / "deep" / "er" / "x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep", "x.deid"]
    assert not list(tmp_path.glob("**/evil*"))


def test_an_existing_folder_stays(project: Path, tmp_path: Path):
    (tmp_path / "out").mkdir()
    made = CliRunner().invoke(app, ["import-arx", str(project), "-o", str(tmp_path / "out")])
    assert made.exit_code == 6
    assert list((tmp_path / "out").iterdir()) == []

"""Job files: what is written is read back as the same job, and what is wrong is told with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe import (
    Datafly,
    EntropyLDiversity,
    FrequencyLDiversity,
    Job,
    KAnonymity,
    LDiversity,
    Mondrian,
    RecursiveCLDiversity,
    TCloseness,
    dates,
    frequency,
    from_file,
    intervals,
    ordered,
    prefix,
    suppress,
    tree,
)
from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.io import CsvDialect
from tarnkappe.job import DataSettings, OutputSettings
from tarnkappe.job.files import job_from_text, job_json_schema, load_job
from tarnkappe.schema import Column

MINIMAL = """
columns:
  age: {role: quasi, type: numeric}
  illness: sensitive
criteria:
  - k-anonymity: {k: 5}
"""

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
names = st.one_of(texts, st.sampled_from(["no", "null", "1", "title", "path", "tree", "1e5", "a: b", "# x", " y "]))


@st.composite
def taxonomies(draw: st.DrawFn) -> Any:
    made = st.one_of(
        st.just(suppress()),
        st.builds(
            lambda w, top: intervals(w, 2 * w, top=top),
            st.sampled_from([0.5, 5, 7.0]),
            st.one_of(st.none(), st.just(80)),
        ),
        st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True).map(lambda k: prefix(*sorted(k)[::-1])),
        st.sampled_from([dates(), dates("month", "year"), dates(format="%d/%m/%Y")]),
        st.lists(texts, min_size=1, max_size=4, unique=True).map(lambda v: ordered(*v)),
        st.sampled_from([frequency(0.01, 0.05), frequency(top=(10, 3), label="1e5")]),
        st.dictionaries(texts, st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=3).map(
            lambda t: tree(t, on_unknown="top", trim=True)
        ),
        st.just(from_file("trees/a b.csv", delimiter=";", attribute="007")),
    )
    return draw(made)


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    quasi, sensitive, *others = draw(st.lists(names, min_size=2, max_size=7, unique=True))
    columns = [
        Column(quasi, "quasi", "numeric", None, draw(st.sampled_from([1.0, 2.5]))),
        Column(sensitive, "sensitive", draw(st.sampled_from(["numeric", "categorical"]))),
    ]
    for name in others:
        role = draw(st.sampled_from(["quasi", "identifier", "keep", "drop"]))
        because = draw(st.one_of(st.none(), texts.map(lambda text: f"{text} reviewed by the board")))
        taxonomy = draw(taxonomies()) if role == "quasi" else None
        kind = "numeric" if taxonomy is not None and taxonomy.numeric else "categorical"
        columns.append(Column(name, role, kind, taxonomy, 1.0, because))
    criteria = draw(
        st.lists(
            st.sampled_from(
                [
                    KAnonymity(7),
                    LDiversity(sensitive, 3),
                    EntropyLDiversity(sensitive, 2.5),
                    FrequencyLDiversity(sensitive, 4, know_others=True),
                    RecursiveCLDiversity(sensitive, 2.5, 3),
                    TCloseness(sensitive, 0.15, "ordered"),
                ]
            ),
            min_size=1,
            max_size=3,
        )
    )
    return Job(
        columns=draw(st.permutations(columns)),
        criteria=criteria,
        max_suppressed=draw(st.sampled_from([0.0, 0.02, 0.5])),
        algorithm=draw(st.sampled_from([Mondrian(), Mondrian(cut="relaxed"), Datafly()])),
        missing_rule=draw(st.sampled_from([None, "own-value", "wildcard"])),
        seed=draw(st.one_of(st.none(), st.integers(0, 2**128 - 1))),
        title=draw(st.one_of(st.just(""), texts)),
        purpose=draw(st.one_of(st.just(""), texts)),
        data=DataSettings(
            draw(st.sampled_from([None, "census.csv", "hdfs:///data/x"])),
            draw(st.sampled_from([CsvDialect(), CsvDialect(delimiter="tab", encoding="cp1252", decimal=",")])),
            tuple(draw(st.lists(texts, max_size=3, unique=True))) or ("",),
        ),
        output=OutputSettings(draw(st.sampled_from([None, "out"])), draw(st.sampled_from([None, "parquet"]))),
    )


@given(jobs())
@settings(max_examples=examples(60), deadline=None)
def test_a_job_written_and_read_is_the_same_job(job: Job) -> None:
    again = job_from_text(job.to_yaml(), folder=".")
    assert again == job
    assert again.to_yaml() == job.to_yaml()


def test_paths_are_relative_to_the_folder_of_the_file(tmp_path: Path) -> None:
    text = MINIMAL.replace("illness: sensitive", "illness: sensitive\n  zip: {role: quasi, taxonomy: t}")
    text += "taxonomies: {t: {kind: file, path: trees/zip.csv}}\ndata: {path: data/x.csv}\noutput: {folder: out}\n"
    (tmp_path / "job.yaml").write_text(text)
    job = load_job(tmp_path / "job.yaml")
    assert job.data.path == str(tmp_path / "data/x.csv")
    moved = tmp_path / "elsewhere" / "deep"
    moved.mkdir(parents=True)
    (moved / "job.yaml").write_text(job.to_yaml(moved))
    again = load_job(moved / "job.yaml")
    assert Path(str(again.data.path)).resolve() == (tmp_path / "data/x.csv").resolve()
    assert Path(str(again.output.folder)).resolve() == (tmp_path / "out").resolve()
    assert Path(again.columns[2].taxonomy.path).resolve() == (tmp_path / "trees/zip.csv").resolve()  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["title", "path", "missing", "tree", "values", "because"])
def test_a_column_may_be_called_like_a_key(name: str) -> None:
    job = job_from_text(MINIMAL.replace("age: {", f"{name}: {{weight: 2, "))
    assert job.columns[0].name == name
    assert job.columns[0].weight == 2


def test_names_that_look_like_numbers_stay_names() -> None:
    text = MINIMAL.replace("illness", "2019") + "  - l-diversity: {column: 2019, l: 2}\n"
    assert job_from_text(text).goal.columns == ("2019",)


@pytest.mark.parametrize(
    ("change", "code", "line", "words"),
    [
        (("criteria:", "critera:"), "E102", 5, "did you mean 'criteria'"),
        (("role: quasi", "roel: quasi"), "E102", 3, "did you mean 'role'"),
        (("role: quasi", "role: quais"), "E110", 3, "did you mean 'quasi'"),
        (("k-anonymity: {k: 5}", "k-anonimity: {k: 5}"), "E105", 6, "did you mean 'k-anonymity'"),
        (("{k: 5}", "{k: 0}"), "E110", 6, "at least 1"),
        (("{k: 5}", "{}"), "E103", 6, "needs 'k'"),
        (("{k: 5}", "{k: 5, k: 6}"), "E104", 6, "stands twice"),
        (("type: numeric", "taxonomy: zip"), "E105", 3, "not declared"),
        (("type: numeric", "weight: 1"), "E112", 3, "no taxonomy"),
        (("{role: quasi, type: numeric}", "[quasi"), "E100", 4, "not valid YAML"),
        (("{role: quasi, type: numeric}", "5"), "E110", 3, "needs a role"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(change: tuple[str, str], code: str, line: int, words: str) -> None:
    with pytest.raises(TarnkappeError) as caught:
        job_from_text(MINIMAL.replace(*change), "census.yaml")
    assert caught.value.code == code
    assert caught.value.where == f"census.yaml:{line}"
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("age: {role: quasi, type: numeric}", "age: numeric"), "age: {role: quasi, type: numeric}"),
        (("age: {role: quasi, type: numeric}", "age: quasy"), "age: {role: quasi, taxonomy: suppress}"),
        (("illness: sensitive", "illness: sensitiv"), "illness: {role: sensitive}"),
        (("criteria:", "filter: age > 17\ncriteria:"), "data: {filter: age > 17}"),
    ],
)
def test_what_is_told_instead_can_be_pasted(wrong: tuple[str, str], told: str) -> None:
    text = MINIMAL.replace(*wrong)
    with pytest.raises(JobError) as error:
        job_from_text(text)
    assert error.value.hint == told
    assert error.value.where
    mended = text.replace(f"  {wrong[1]}\n", f"  {told}\n").replace("filter: age > 17", told)
    job_from_text(mended)


def test_a_job_about_something_else_is_told_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a job.yaml"
    path.write_text(MINIMAL + "items: {column: illness}\n")
    with pytest.raises(JobError, match="E102 this job file is about sets of items") as error:
        load_job(path)
    assert error.value.hint is not None
    assert error.value.hint.startswith(f"tarnkappe run '{path}' ")


def test_a_setting_about_something_else_is_told_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(MINIMAL)
    with pytest.raises(JobError, match="E102 this job file is about made-up people") as error:
        load_job(path, ["synthetic.method=trees"])
    assert error.value.hint == "Write  synthetic:  into a job file of its own."


def test_a_file_in_the_place_of_a_taxonomy_is_told_how_to_declare() -> None:
    with pytest.raises(JobError) as caught:
        job_from_text(MINIMAL.replace("type: numeric", "taxonomy: ages.csv"), "census.yaml")
    assert caught.value.hint == "taxonomy: {kind: file, path: ages.csv}"


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(JobError) as missing:
        load_job(tmp_path / "job.yaml")
    assert missing.value.code == "E107"
    (tmp_path / "job.yaml").write_bytes(b"title: \xff\xfe")
    with pytest.raises(JobError) as broken:
        load_job(tmp_path / "job.yaml")
    assert broken.value.code == "E100"


def test_settings_change_what_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(MINIMAL + "  - l-diversity: {column: illness, l: 2}\n")
    job = load_job(
        path,
        [
            "criteria.k=10",
            "criteria.l-diversity.l=3",
            "limits.suppressed_rows=2%",
            "algorithm.name=datafly",
            "columns.age.weight=2",
            "seed=4",
            "title=007",
        ],
    )
    assert job.goal.criteria == (KAnonymity(10), LDiversity("illness", 3))
    assert job.goal.max_suppressed == 0.02
    assert job.algorithm == Datafly()
    assert (job.columns[0].weight, job.seed, job.title) == (2.0, 4, "007")


def test_a_setting_goes_below_an_algorithm_or_a_role_that_is_written_as_one_word(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(MINIMAL + "algorithm: hilb\n")
    job = load_job(path, ["algorithm.effort=best", "columns.illness.type=numeric"])
    assert job.algorithm == Hilb(effort="best")
    assert (job.columns[-1].role, job.columns[-1].kind) == ("sensitive", "numeric")


@pytest.mark.parametrize("setting", ["k", "=5", "criteria.", "criteria.nothing=5", "criteria.l-diversity.l=3", "k=[1"])
def test_a_setting_that_means_nothing_is_refused(tmp_path: Path, setting: str) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(MINIMAL)
    with pytest.raises(JobError):
        load_job(path, [setting])


def test_the_schema_knows_all_keys_and_all_that_is_registered() -> None:
    schema = job_json_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert {"columns", "criteria", "data", "limits", "output", "seed"} <= set(schema["properties"])
    assert schema["required"] == ["columns", "criteria"]
    assert "k-anonymity" in schema["properties"]["criteria"]["items"]["properties"]
    kinds = schema["properties"]["taxonomies"]["additionalProperties"]["anyOf"]
    assert {k["properties"]["kind"]["const"] for k in kinds} >= {"tree", "file", "intervals", "prefix", "suppress"}


def test_a_folder_in_the_place_of_a_job_file_is_told_which_job_lies_in_it(tmp_path: Path) -> None:
    kept = tmp_path / "a release" / "do-not-share"
    kept.mkdir(parents=True)
    (kept / "job.yaml").write_text(MINIMAL)
    with pytest.raises(JobError, match="E107") as error:
        load_job(kept.parent)
    assert error.value.hint == f"Give a job file in it, such as  '{kept / 'job.yaml'}'"

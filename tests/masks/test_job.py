"""Masks in job files and on the command line: what is refused, what is written back, what the commands say."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from conftest import patients
from tarnkappe.cli.app import app
from tarnkappe.errors import TarnkappeError
from tarnkappe.job.files import job_json_schema
from tarnkappe.job.masking import MaskingJob, load_masking_job, masking_json_schema
from tarnkappe.masks import Mask, all_masks

MASKED = """
data: {path: data.csv}
columns:
  person: identifier
  age: {role: quasi, type: numeric}
  sex: quasi
  income: {role: sensitive, type: numeric}
masks:
  - rank-swapping: {columns: [age, income], window_percent: 10}
  - pseudonyms: {column: person, key: secret.key}
criteria:
  - max-linkage: {share: 0.5}
output: {folder: out}
seed: 4
"""

GROUPED = """
data: {path: data.csv}
columns:
  person: identifier
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  income: {role: sensitive, type: numeric}
masks:
  - rounding: {column: income, base: 100}
  - pseudonyms: {column: person, key: secret.key}
criteria:
  - k-anonymity: {k: 5}
output: {folder: out}
seed: 4
"""


@pytest.fixture
def folder(tmp_path: Path, key: str) -> Path:
    patients(500).select("person", "age", "sex", "income").drop_nulls().write_csv(tmp_path / "data.csv")
    return tmp_path


def written(folder: Path, text: str) -> Path:
    (folder / "job.yaml").write_text(text)
    return folder / "job.yaml"


@pytest.mark.parametrize("text", [MASKED, GROUPED])
def test_a_job_file_is_run_verified_and_can_be_run_again(folder: Path, text: str):
    runner, job = CliRunner(), written(folder, text)
    done = runner.invoke(app, ["run", str(job)])
    assert done.exit_code == 0, done.output
    checked = runner.invoke(app, ["verify", str(folder / "out")])
    assert checked.exit_code == 0, checked.output
    first = (folder / "out" / "public" / "data.csv").read_bytes()
    again = runner.invoke(app, ["run", str(folder / "out" / "do-not-share" / "job.yaml"), "-o", str(folder / "again")])
    assert again.exit_code == 0, again.output
    assert (folder / "again" / "public" / "data.csv").read_bytes() == first
    assert runner.invoke(app, ["check", str(job)]).exit_code == 0
    dry = json.loads(runner.invoke(app, ["run", str(job), "--dry-run", "--json"]).stdout)
    assert len(dry["masks"]) == 2


def test_verify_notices_a_masked_table_that_was_changed(folder: Path):
    runner = CliRunner()
    assert runner.invoke(app, ["run", str(written(folder, MASKED))]).exit_code == 0
    file = folder / "out" / "public" / "data.csv"
    table = pl.read_csv(file)
    table.with_columns(pl.col("income").reverse() * 2).write_csv(file)
    found = runner.invoke(app, ["verify", str(folder / "out")])
    assert found.exit_code != 0
    assert "not kept: values of income" in found.output


def test_without_the_original_only_the_table_is_compared(folder: Path):
    runner = CliRunner()
    assert runner.invoke(app, ["run", str(written(folder, MASKED))]).exit_code == 0
    (folder / "data.csv").unlink()
    found = runner.invoke(app, ["verify", str(folder / "out")])
    assert found.exit_code == 0
    assert "the original is not here" in found.output


@pytest.mark.parametrize(
    ("text", "old", "new", "code"),
    [
        (GROUPED, "column: income, base: 100", "column: age, base: 10", "E111"),  # a quasi-identifier beside groups
        (GROUPED, "column: income, base: 100", "column: person, base: 10", "E111"),  # numbers of an identifier
        (GROUPED, "column: income, base: 100", "column: incom, base: 10", "E105"),
        (GROUPED, "base: 100", "base: -1", "E110"),
        (GROUPED, "rounding:", "roundin:", "E105"),
        (GROUPED, "base: 100", "bas: 100", "E102"),
        (GROUPED, "secret.key", "absent.key", "E420"),
        (GROUPED, "seed: 4", "engine: spark", "E111"),
        (GROUPED, "{k: 5}", "{k: 5}\n  - max-linkage: {share: 0.1}", "E111"),
        (
            GROUPED,
            "column: income, base: 100}",
            "column: income, base: 100}\n  - rounding: {column: income, base: 9}",
            "E110",
        ),
        (MASKED, "share: 0.5", "share: 2", "E110"),
        (MASKED, "share: 0.5", "share: 0.0001", "E503"),
        (MASKED, "columns: [age, income]", "columns: [age, age]", "E110"),
        (MASKED, "columns: [age, income]", "columns: [sex]", "E406"),  # names have no ranks
        (MASKED, "window_percent: 10", "window: 10", "E102"),
        (MASKED, "secret.key", "absent.key", "E420"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(folder: Path, text: str, old: str, new: str, code: str):
    assert old in text
    result = CliRunner().invoke(app, ["run", str(written(folder, text.replace(old, new)))])
    assert code in result.output, result.output
    assert result.exit_code in (2, 3, 5)
    assert "Fix:" in result.output
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "mask", ["shuffling: {columns: [income], beside: [age]}", "pram: {column: income, stay_share: 0.5, by: [sex]}"]
)
def test_a_mask_may_look_at_columns_that_groups_coarsen(folder: Path, mask: str):
    text = GROUPED.replace("rounding: {column: income, base: 100}", mask).replace("k: 5}", "k: 40}")
    done = CliRunner().invoke(app, ["run", str(written(folder, text))])
    assert done.exit_code == 0, done.output
    table = pl.read_csv(folder / "out" / "public" / "data.csv")
    assert table["age"].dtype == pl.String


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (tk.Pram("sex", stay_share=0.5), tk.DataSwapping("illness", beside=["sex", "region"])),
        (tk.Pram("illness", stay_share=0.5, by=["region"]), tk.RecordSwapping("region", share=0.5)),
    ],
)
def test_figures_over_a_column_that_another_mask_changes_are_refused(one: Mask, other: Mask):
    for masks in ([one, other], [other, one]):
        with pytest.raises(TarnkappeError, match="which a mask changes"):
            tk.mask(patients(200).select("sex", "region", "illness"), masks)


def test_dates_may_move_by_person_where_people_get_pseudonyms(key: str):
    masks = [tk.Pseudonyms("person", key=key), tk.DateShift(["visit"], person="person", max_days=30)]
    table = patients(200).select("person", "visit")
    assert tk.mask(table, masks, columns=[tk.Column("person", "identifier")]).table.height == 200


def test_quasi_identifiers_that_nobody_masks_are_spoken_of(folder: Path):
    result = CliRunner().invoke(app, ["run", str(written(folder, MASKED))])
    assert "W641" in result.output
    assert "'sex' is a quasi-identifier" in result.output


def test_a_masking_job_reads_what_it_writes(folder: Path):
    job = load_masking_job(written(folder, MASKED))
    (folder / "second.yaml").write_text(job.to_yaml(folder))
    again = load_masking_job(folder / "second.yaml")
    assert again == job
    assert isinstance(job, MaskingJob)


def test_a_grouping_job_reads_what_it_writes(folder: Path):
    job = tk.Job.from_yaml(written(folder, GROUPED))
    (folder / "second.yaml").write_text(job.to_yaml(folder))
    assert tk.Job.from_yaml(folder / "second.yaml").masks == job.masks
    assert [type(mask).__name__ for mask in job.masks] == ["Rounding", "Pseudonyms"]


def test_both_schemas_know_every_mask():
    for schema in (job_json_schema(), masking_json_schema()):
        assert set(schema["properties"]["masks"]["items"]["properties"]) == set(all_masks())


@pytest.mark.parametrize("name", list(all_masks()))
def test_masks_explain_themselves(name: str):
    told = CliRunner().invoke(app, ["explain", name])
    assert told.exit_code == 0
    for word in ("Changes", "Keeps", "Does not", "Not for"):
        assert word in told.output


@pytest.mark.parametrize("name", list(all_masks()))
def test_shares_and_percents_say_so_in_their_names(name: str):
    from tarnkappe.params import parameters

    for p in parameters(all_masks()[name]):
        if "percent" in p.doc.lower() or "share of" in p.doc.lower():
            assert p.name.endswith(("percent", "share")), p.name


@pytest.mark.parametrize(
    "mask",
    [
        tk.AdditiveNoise(["x"], variance_share=0.1),
        tk.Shuffling(["x", "y"]),
        tk.DataSwapping("x", beside=["y", "z"]),
        tk.RecordSwapping("x", share=0.5),
        tk.TopBottomCoding("y", top_percent=1, by="mean"),
        tk.DateShift(["y"], person="z", max_days=3),
        tk.RankSwapping(["x"], window_percent=10),
        tk.RankSwapping(["y", "x"], window_percent=10, tails="bounded"),
    ],
)
def test_data_that_a_mask_can_make_nothing_of(mask: Mask, tmp_path: Path):
    frame = pl.DataFrame({"x": [1, 1, 1], "y": [1, 2, 3], "z": [1, 1, 2]})
    with pytest.raises(TarnkappeError) as error:
        tk.mask(frame, mask, folder=tmp_path / "out")
    assert error.value.code == "E421"
    assert error.value.hint
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("numbers", [[], [7], [7, None], [None, None]])
def test_nobody_is_exchanged_with_himself(numbers: list[int | None], tmp_path: Path):
    frame = pl.DataFrame({"x": pl.Series(numbers, dtype=pl.Int64)})
    with pytest.raises(TarnkappeError) as error:
        tk.mask(frame, tk.RankSwapping(["x"], window_percent=50), folder=tmp_path / "out")
    assert error.value.code in ("E421", "E404", "E405") or not numbers
    assert not (tmp_path / "out").exists()


def test_no_key_is_spoken_of_where_there_is_none(folder: Path):
    text = GROUPED.replace("pseudonyms: {column: person, key: secret.key}", "identifier-masking: {columns: [person]}")
    done = CliRunner().invoke(app, ["run", str(written(folder, text))])
    assert done.exit_code == 0, done.output
    assert "keyed pseudonym" not in done.output + (folder / "out" / "public" / "report.html").read_text()


@pytest.mark.parametrize("t", [2, 3, 4])
def test_the_fix_of_too_few_columns_names_enough_of_them(t: int):
    with pytest.raises(TarnkappeError) as error:
        tk.DataSwapping("illness", beside=["sex"], t=t)
    names = str(error.value.hint).partition("[")[2].partition("]")[0].split(", ")
    tk.DataSwapping("illness", beside=[name.strip("'\"") for name in names], t=t)


@pytest.mark.parametrize(("lower", "upper"), [(5.0, 1.0), (3.0, -2.0), (-4.0, -4.0)])
def test_the_fix_of_bounds_without_room_leaves_some(lower: float, upper: float):
    with pytest.raises(TarnkappeError) as error:
        tk.AdditiveNoise(["income"], variance_share=0.1, lower=lower, upper=upper)
    said = dict(part.split(": ") for part in str(error.value.hint).split("   and  "))
    bounds = {"lower": lower, "upper": upper} | {name: float(number) for name, number in said.items()}
    tk.AdditiveNoise(["income"], variance_share=0.1, **bounds)

"""An earlier recoding applied to other data: the same labels, true of the new records, and the goal checked anew."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.errors import DataError, InfeasibleError, JobError, RefusedError
from tarnkappe.history.applying import apply_recoding
from tarnkappe.job.places import OutputSettings

CITIES = {"north": ["Kiel", "Bremen"], "south": ["Ulm", "Passau"]}


def people(n: int, seed: int, low: int = 20, high: int = 80) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "row": np.arange(n),
            "age": rng.integers(low, high, n),
            "city": rng.choice(["Kiel", "Bremen", "Ulm", "Passau"], n),
            "ill": rng.choice(list("abcde"), n),
        }
    )


def job(algorithm: str, k: int = 3, **more: Any) -> tk.Job:
    age = tk.numeric() if algorithm == "mondrian" else tk.intervals(10, 30, start=0)
    how: dict[str, Any] = {"quasi": {"age": age, "city": tk.tree(CITIES)}, "sensitive": ["ill"], "drop": "rest"}
    how |= {"criteria": [tk.KAnonymity(k)], "max_suppressed": 1.0, "seed": 1, "algorithm": algorithm}
    return tk.Job(**{**how, "output": OutputSettings(recoding=True), **more})


def covers(label: str, value: Any) -> bool:
    if label == "*" or label == str(value) or value in CITIES.get(label, ()):
        return True
    low, _, high = label.strip("[]").partition(" " if label.startswith("[") else "-")
    return high.isdigit() and int(low) <= value <= int(high)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["ola", "mondrian", "hilb"]), st.integers(2, 4))
def test_labels_are_old_ones_and_true(tmp_path_factory, seed: int, algorithm: str, k: int):
    """By the written files: only labels of the earlier release, in groups of at least k, each true of its record."""
    place = tmp_path_factory.mktemp("apply")
    tk.run_job(job(algorithm, k), people(80, seed), place / "old")
    new = people(120, seed + 1).with_columns(pl.col("row").cast(pl.String))
    shown = job(algorithm, k, keep=["row"], because={"row": "a test looks at it"}, drop=())
    try:
        apply_recoding(place / "old", shown, new, place / "new", unseen="suppress")
    except InfeasibleError:
        return
    old = pl.read_parquet(place / "old/public/release.parquet")
    made = pl.read_parquet(place / "new/public/release.parquet")
    for name in ("age", "city"):
        assert set(made[name].cast(pl.String)) <= set(old[name].cast(pl.String))
    assert made.group_by("age", "city").len()["len"].min() >= k
    truth = {row: (age, city, ill) for row, age, city, ill in new.rows()}
    for row, age, city, ill in made.select("row", pl.col("age", "city").cast(pl.String), "ill").rows():
        assert covers(age, truth[row][0])
        assert covers(city, truth[row][1])
        assert ill == truth[row][2]


def test_values_unseen_before(tmp_path: Path):
    tk.run_job(job("mondrian"), people(80, 1, high=50), tmp_path / "old")
    new = people(80, 2, low=45, high=60)
    with pytest.raises(DataError) as error:
        apply_recoding(tmp_path / "old", job("mondrian", 2), new, tmp_path / "new")
    assert error.value.code == "E448"
    assert not (tmp_path / "new").exists()
    release = apply_recoding(tmp_path / "old", job("mondrian", 2), new, tmp_path / "new", unseen="suppress")
    assert "W654" in [n.code for n in release.notices]
    assert "W654" not in (tmp_path / "new/public/manifest.json").read_text()


def test_a_taxonomy_knows_more_values_than_the_data_had(tmp_path: Path):
    """Passau was in no record, but the tree says that it lies in the south; 53 was not, but lies in 50-59."""
    old = people(200, 1).filter((pl.col("city") != "Passau") & (pl.col("age") != 53))
    coarse = job("ola", min_level={"city": 1, "age": 1})
    tk.run_job(coarse, old, tmp_path / "old")
    new = people(200, 2)
    apply_recoding(tmp_path / "old", coarse, new, tmp_path / "new")
    made = pl.read_parquet(tmp_path / "new/public/release.parquet")
    assert made.height == 200
    assert set(made["city"].cast(pl.String)) == {"north", "south"}


def test_the_file_is_for_people_and_may_be_edited(tmp_path: Path):
    tk.run_job(job("ola", 60, quasi={"city": tk.tree(CITIES)}, max_suppressed=0.0), people(200, 1), tmp_path / "old")
    file = tmp_path / "old/do-not-share/recoding.csv"
    table = pl.read_csv(file, infer_schema=False)
    assert table.filter(pl.col("column") == "city").sort("from").rows() == [
        ("city", "north", "Bremen", "Bremen"),
        ("city", "north", "Kiel", "Kiel"),
        ("city", "south", "Passau", "Passau"),
        ("city", "south", "Ulm", "Ulm"),
    ]


def test_labels_that_say_nothing_and_cells_that_are_empty(tmp_path: Path):
    tk.run_job(job("ola", 150, max_suppressed=0.0), people(200, 1), tmp_path / "old")
    assert set(pl.read_parquet(tmp_path / "old/public/release.parquet")["city"].cast(pl.String)) == {"*"}
    new = people(200, 2).with_columns(pl.when(pl.col("row") > 3).then("age").alias("age"))
    fine = job("ola", 20, missing_rule="own-value")
    apply_recoding(tmp_path / "old", fine, new, tmp_path / "new", unseen="suppress")
    made = pl.read_parquet(tmp_path / "new/public/release.parquet")
    assert set(made["city"].cast(pl.String)) == {"*"}
    assert made.group_by("age", "city").len()["len"].min() >= 20
    tk.run_job(job("mondrian"), people(200, 1), tmp_path / "other")
    with pytest.raises(DataError, match="records have values"):
        apply_recoding(tmp_path / "other", job("mondrian", missing_rule="own-value"), new, tmp_path / "third")


@pytest.mark.parametrize("harm", ["missing", "foreign", "column", "groups", "unseen"])
def test_an_earlier_release_that_does_not_belong(tmp_path: Path, harm: str):
    tk.run_job(job("mondrian"), people(80, 1), tmp_path / "old")
    private = tmp_path / "old/do-not-share"
    file = private / "recoding.csv"
    how: dict[str, Any] = {}
    if harm == "missing":
        file.unlink()
    elif harm == "foreign":
        file.write_text("a,b\n1,2\n")
    elif harm == "column":
        pl.read_csv(file, infer_schema=False).filter(pl.col("column") != "city").write_csv(file)
    elif harm == "groups":
        (private / "groups.parquet").unlink()
    else:
        how["unseen"] = "whatever"
    with pytest.raises((DataError, JobError)) as error:
        apply_recoding(tmp_path / "old", job("mondrian"), people(80, 2), tmp_path / "new", **how)
    assert error.value.code in ("E107", "E448", "E110")
    assert not (tmp_path / "new").exists()


def test_no_recoding_of_centres(tmp_path: Path):
    made = tk.Job(
        quasi={"age": tk.numeric()},
        criteria=[tk.KAnonymity(3)],
        drop="rest",
        algorithm="mdav",
        output=OutputSettings(recoding=True),
    )
    with pytest.raises(JobError, match="centres"):
        tk.run_job(made, people(50, 1), tmp_path / "old")
    assert not (tmp_path / "old").exists()


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from tarnkappe.cli.app import app

    people(100, 1).write_csv(tmp_path / "old.csv")
    people(100, 2).write_csv(tmp_path / "new.csv")
    (tmp_path / "job.yaml").write_text(job("ola").to_yaml(tmp_path))
    assert "recoding: true" in (tmp_path / "job.yaml").read_text()
    for words in (
        ["run", str(tmp_path / "job.yaml"), str(tmp_path / "old.csv"), "-o", str(tmp_path / "old")],
        [
            "apply",
            str(tmp_path / "old"),
            str(tmp_path / "new.csv"),
            "--job",
            str(tmp_path / "job.yaml"),
            "-o",
            str(tmp_path / "new"),
        ],
        ["verify", str(tmp_path / "new")],
    ):
        with pytest.raises(SystemExit) as ended:
            app(words)
        assert ended.value.code == 0, capsys.readouterr()
        said = capsys.readouterr().out
        if words[0] == "apply":
            assert "new.csv · 100 rows" in said, "what was given is told, not what was made of it"
            assert "data frame" not in said
            unique = pl.read_csv(tmp_path / "new.csv").group_by("age", "city").len().filter(pl.col("len") == 1).height
            assert f"{unique} records are unique" in said
    assert (tmp_path / "new/public/release.csv").exists() or list((tmp_path / "new/public").glob("*.csv"))
    told = json.loads((tmp_path / "new/do-not-share/manifest.json").read_text())["input"]
    assert told["name"] == "new.csv"
    assert told["sha256"] == hashlib.sha256((tmp_path / "new.csv").read_bytes()).hexdigest()


def test_data_are_not_overwritten(tmp_path: Path):
    tk.run_job(job("ola"), people(80, 1), tmp_path / "old")
    tk.run_job(job("ola"), people(80, 1), tmp_path / "new")
    file = tmp_path / "new/new.csv"
    people(80, 2).write_csv(file)
    with pytest.raises(RefusedError, match="E602"):
        apply_recoding(tmp_path / "old", job("ola"), file, tmp_path / "new", unseen="suppress", overwrite=True)
    assert file.is_file()


def test_other_data_are_written_in_the_format_that_they_have(tmp_path: Path):
    tk.run_job(job("ola"), people(80, 1), tmp_path / "old")
    people(120, 2).write_csv(tmp_path / "new.csv")
    apply_recoding(tmp_path / "old", job("ola"), tmp_path / "new.csv", tmp_path / "new", unseen="suppress")
    assert [f.suffix for f in (tmp_path / "new/public").glob("release.*")] == [".csv"]

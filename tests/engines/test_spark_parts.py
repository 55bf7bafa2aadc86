"""Groups decided by executors, in parts of a curve: the written table keeps its promises, everybody their values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from spark_setup import require_spark

import tarnkappe as tk
from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.engines.needs import BASE, memory_for
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.errors import InfeasibleError, LimitError
from tarnkappe.job.model import replace_job
from tarnkappe.pipeline import run_job
from tarnkappe.schema import Column

require_spark()

pytestmark = pytest.mark.usefixtures("spark")

#: Countries and their parts of the world.
WORLD = {"Europe": ["France", "Spain"], "Asia": ["China", "India", "Japan"]}


KEPT = [
    Column("nr", "keep", because="made up to tell records apart"),
    Column("note", "keep", because="made up for this test"),
]


def people(seed: int, n: int = 1200) -> pl.DataFrame:
    """A random table with gaps, numbers that are written in two ways, and values that only some have."""
    rng = np.random.default_rng(seed)
    lands = [land for part in WORLD.values() for land in part]
    ages = rng.normal(45, 15, n).round().astype(int)
    return pl.DataFrame(
        {
            "nr": np.arange(n),
            "age": [None if rng.random() < 0.02 else f"{a}.0" if rng.random() < 0.1 else f"{a}" for a in ages],
            "wage": (rng.lognormal(7, 1, n) / 50).round() * 50,
            "land": rng.choice(lands, n, p=[0.5, 0.2, 0.2, 0.05, 0.05]),
            "illness": [("flu", "cold", "gout", "cough", None)[i] for i in rng.integers(0, 5, n)],
            "note": [f"note; {i}" if i % 3 else "" for i in rng.integers(0, 9, n)],
        }
    )


def job(cells: int | None, **changes: Any) -> tk.Job:
    """A job whose cells, or parts of them, may be so many."""
    given: dict[str, Any] = {
        "quasi": {"age": tk.numeric(), "wage": tk.numeric(), "land": tk.tree(WORLD)},
        "sensitive": ["illness"],
        "drop": "rest",
        "criteria": [tk.KAnonymity(4), tk.LDiversity("illness", 3)],
        "algorithm": Hilb(),
        "missing_rule": "own-value",
        "engine": EngineSettings("spark", memory=None if cells is None else str(memory_for(cells, 4))),
        "seed": 3,
    }
    return tk.Job(**{**given, **changes})


def written(folder: Path) -> pl.DataFrame:
    parts = sorted(p for p in (folder / "public").glob("people.*/part-*"))
    read = {".csv": lambda p: pl.read_csv(p, infer_schema=False), ".parquet": pl.read_parquet}
    return pl.concat([read[p.suffix](p) for p in parts]).cast(pl.String)


def covered(label: str | None, value: str | None) -> bool:
    """Whether a label covers a value, as a reader would say."""
    if label is None or value is None:
        return (label is None and value is None) or label == "*"
    if label.startswith("["):
        low, high = map(float, label[1:-1].split())
        return low <= float(value) <= high
    if label in WORLD or label == "*":
        return label == "*" or value in WORLD[label]
    return label == value or float(label) == float(value)


def require_kept(table: pl.DataFrame, k: int, different: int) -> None:
    groups = table.group_by("age", "wage", "land").agg(pl.len(), pl.col("illness").n_unique())
    assert groups["len"].min() >= k
    assert groups["illness"].min() >= different


@pytest.mark.parametrize(
    ("file", "seed", "changes"),
    [
        pytest.param("people.csv", 1, {}, id="csv", marks=pytest.mark.full),
        pytest.param("people.parquet", 2, {"max_suppressed": 0.05, "missing_rule": "wildcard"}, id="suppressed"),
        pytest.param("people.csv", 3, {"algorithm": tk.MRMondrian()}, id="mrmondrian", marks=pytest.mark.full),
        pytest.param("people.csv", 4, {"algorithm": tk.RothkoS()}, id="rothko-s", marks=pytest.mark.full),
    ],
)
def test_what_executors_decide_keeps_its_promises(tmp_path: Path, file: str, seed: int, changes: dict[str, Any]):
    data = people(seed)
    (data.write_csv if file.endswith("csv") else data.write_parquet)(tmp_path / file)
    release = run_job(job(250, **changes), tmp_path / file, tmp_path / "release")
    assert release.private_manifest["search"]["parts of the curve"] >= 4
    table = written(tmp_path / "release")
    require_kept(table, 4, 3)
    assert table.height == release.n_published >= 0.95 * data.height
    assert release.n_groups == table.select("age", "wage", "land").n_unique()
    assert sum(size * n for size, n in release.group_sizes) == table.height
    if not release.n_suppressed:
        assert (
            table["illness"]
            .value_counts()
            .sort("illness")
            .equals(data["illness"].cast(pl.String).value_counts().sort("illness"))
        )
    alone = replace_job(job(None, **changes), engine=EngineSettings()).anonymize(tmp_path / file)
    assert release.score("gcp") < 1.3 * alone.score("gcp")


def test_kept_values_stand_with_the_labels_of_those_whose_they_are(tmp_path: Path):
    data = people(5)
    data.write_csv(tmp_path / "people.csv")
    release = run_job(job(200, columns=KEPT), tmp_path / "people.csv", tmp_path / "release")
    table = written(tmp_path / "release")
    require_kept(table, 4, 3)
    both = table.join(data.cast(pl.String), on="nr", suffix=" before")
    assert both.height == table.height == data.height
    for name in ("age", "wage", "land"):
        assert all(covered(*pair) for pair in zip(both[name], both[f"{name} before"], strict=True))
    for name in ("illness", "note"):
        assert both[name].fill_null("").equals(both[f"{name} before"].fill_null(""), check_names=False)
    assert table["nr"].to_list() != sorted(table["nr"].to_list(), key=int)
    assert "labels and kept values true of every record" in release.proved


@pytest.mark.full
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path):
    people(5).write_csv(tmp_path / "people.csv")
    for name in ("one", "two"):
        run_job(job(200, columns=KEPT), tmp_path / "people.csv", tmp_path / name)
    files = [sorted((tmp_path / name / "public" / "people.csv").iterdir()) for name in ("one", "two")]
    assert [p.read_bytes() for p in files[0]] == [p.read_bytes() for p in files[1]]


def test_what_parts_cannot_do_is_refused_and_leaves_nothing(tmp_path: Path):
    people(6, 300).write_csv(tmp_path / "people.csv")
    for changes, message in (
        ({"algorithm": tk.Datafly()}, "datafly has to see all cells at once"),
        ({"max_level": {"land": 1}}, "a column has a highest level"),
        ({"criteria": [tk.TCloseness("illness", 0.5)], "max_suppressed": 0.1}, "left out is known too late"),
    ):
        with pytest.raises(LimitError, match=r"E702.*in parts") as error:
            run_job(job(100, **changes), tmp_path / "people.csv", tmp_path / "release")
        assert message in str(error.value)
        assert ("algorithm: hilb" in str(error.value.hint)) == ("algorithm" in changes)
    with pytest.raises(InfeasibleError, match="E301"):
        run_job(job(100, criteria=[tk.KAnonymity(301)]), tmp_path / "people.csv", tmp_path / "release")
    with pytest.raises(LimitError, match="decides and writes them in parts"):
        job(100).anonymize(tmp_path / "people.csv")
    small = EngineSettings("spark", memory=str(BASE // 2))
    with pytest.raises(LimitError, match="more than"):
        run_job(replace_job(job(1), engine=small), tmp_path / "people.csv", tmp_path / "release")
    assert [p.name for p in tmp_path.iterdir()] == ["people.csv"]

"""The Spark engine on real data files: the same releases as in memory, and nothing half written."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from spark_setup import require_spark

import tarnkappe as tk
from grids import grid
from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_map import KMap
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.engines.spark import SparkEngine, tasks
from tarnkappe.errors import DataError, InfeasibleError, JobError, RefusedError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.io import open_source
from tarnkappe.job.model import replace_job
from tarnkappe.pipeline import run_job
from tarnkappe.plan import Plan
from tarnkappe.schema import Column
from tarnkappe.tally import Tally

require_spark()

PUBLISHED = ["age", "occupation", "sex", "hours-per-week", "native-country"]


pytestmark = pytest.mark.usefixtures("spark")


@dataclass(frozen=True)
class Dividing(tk.Mondrian):
    """Divides every cell of several records between its group and the next one."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        whole = super().decide(tally, Goal([tk.KAnonymity(8 * goal.min_size)]), rng=rng)
        other = (whole.group + 1) % whole.n_groups
        half = tally.count // 2
        cell = np.repeat(whole.cell, 2)
        group = np.column_stack([whole.group, other]).reshape(-1)
        quota = np.column_stack([tally.count - half, half]).reshape(-1)
        kept = quota > 0
        return Grouping(cell[kept], group[kept].astype(np.int32), quota[kept], whole.n_groups)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A census with gaps, odd texts and odd numbers."""
    folder = tmp_path_factory.mktemp("data")
    frame = census(3000, seed=4).with_columns(
        age=pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise(pl.col("age")),
        race=pl.when(pl.int_range(pl.len()) % 7 == 0)
        .then(pl.lit(' a "quoted", text; '))
        .otherwise(pl.col("race").cast(pl.String)),
        occupation=pl.when(pl.int_range(pl.len()) % 90 == 0).then(None).otherwise(pl.col("occupation").cast(pl.String)),
    )
    frame = frame.with_columns(hours=pl.format("{}{}", pl.lit("0"), pl.col("hours-per-week"))).with_columns(
        pl.when(pl.int_range(pl.len()) % 3 == 0)
        .then(pl.col("hours"))
        .otherwise(pl.col("hours-per-week").cast(pl.String))
        .alias("hours")
    )
    frame.write_csv(folder / "people.csv")
    frame.write_parquet(folder / "people.parquet")
    return folder


def job(**changes: Any) -> tk.Job:
    taxonomies = census_taxonomies()
    given: dict[str, Any] = {
        "quasi": {"age": tk.numeric(), "sex": tk.suppress(), "native-country": taxonomies["native-country"]},
        "sensitive": {"occupation": None, "hours": tk.numeric()},
        "drop": "rest",
        "criteria": [tk.KAnonymity(5)],
        "missing_rule": "own-value",
        "seed": 3,
    }
    return tk.Job(**{**given, **changes})


KEPT = {
    "columns": [
        Column("race", "keep", because="made up for a test"),
        Column("education", "keep", because="made up for a test"),
    ]
}

HILB = {"algorithm": Hilb(), "criteria": [FrequencyLDiversity("occupation", 3)]}


def on_spark(asked: tk.Job) -> tk.Job:
    return replace_job(asked, engine=EngineSettings("spark", "local[2]"))


def table(folder: Path) -> pl.DataFrame:
    """The released table as texts, of one file or of many."""
    parts = [p for p in (folder / "public").rglob("*") if p.suffix in (".csv", ".parquet") and p.is_file()]
    parts = [p for p in parts if p.name != "codebook.csv"]
    read = {".csv": lambda p: pl.read_csv(p, infer_schema=False), ".parquet": pl.read_parquet}
    return pl.concat([read[p.suffix](p) for p in sorted(parts)]).cast(pl.String)


def counted(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.group_by(pl.all()).len().sort(pl.all())


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        pytest.param("people.csv", {}, id="csv", marks=pytest.mark.full),
        pytest.param("people.parquet", {"missing_rule": "wildcard", "max_suppressed": 0.02}, id="parquet"),
        pytest.param("people.csv", KEPT, id="csv-keep", marks=pytest.mark.full),
        pytest.param("people.parquet", KEPT, id="parquet-keep", marks=pytest.mark.full),
        pytest.param("people.csv", {"algorithm": Dividing()}, id="divided", marks=pytest.mark.full),
        pytest.param("people.csv", {"algorithm": Dividing(), **KEPT}, id="divided-keep", marks=pytest.mark.full),
        pytest.param(
            "people.csv", {"algorithm": tk.Datafly(), "max_suppressed": 0.1}, id="global", marks=pytest.mark.full
        ),
        pytest.param("people.csv", HILB, id="hilb", marks=pytest.mark.full),
        pytest.param("people.parquet", {**HILB, **KEPT}, id="hilb-keep", marks=pytest.mark.full),
        pytest.param("people.parquet", {"algorithm": MDAV()}, id="centres", marks=pytest.mark.full),
        pytest.param("people.csv", {"algorithm": MDAV(), **KEPT}, id="centres-keep"),
    ],
)
def test_a_release_on_spark_is_the_release_in_memory(people: Path, tmp_path: Path, file: str, changes: dict[str, Any]):
    asked = job(**changes)
    here = tk.run_job(asked, people / file, tmp_path / "memory")
    there = tk.run_job(on_spark(asked), people / file, tmp_path / "spark")
    assert there.n_groups == here.n_groups
    assert there.group_sizes == here.group_sizes
    assert there.verdicts == here.verdicts
    assert [(s.name, s.value) for s in there.scores] == [(s.name, s.value) for s in here.scores]
    mine, other = table(tmp_path / "spark"), table(tmp_path / "memory")
    assert mine.columns == other.columns
    quasi = ["age", "sex", "native-country"]
    assert counted(mine.select(quasi)).equals(counted(other.select(quasi)))
    if "keep" not in str(changes):
        assert counted(mine.drop("hours")).equals(counted(other.drop("hours")))
    # What passes through is not touched: rows are those of the input, whatever group they are in.
    through = [c for c in mine.columns if c not in quasi]
    if not changes.get("max_suppressed"):
        source = pl.read_csv(people / "people.csv", infer_schema=False).select(through)
        assert counted(mine.select(through)).equals(counted(source))


def test_a_release_on_spark_is_repeatable_and_in_random_order(people: Path, tmp_path: Path):
    asked = job(**KEPT)
    for name in ("one", "two"):
        tk.run_job(on_spark(asked), people / "people.csv", tmp_path / name)
    one, two = table(tmp_path / "one"), table(tmp_path / "two")
    assert one.equals(two)
    place = {
        row: i
        for i, row in enumerate(
            pl.read_csv(people / "people.csv", infer_schema=False)
            .select("race", "education", "occupation", "hours")
            .rows()
        )
    }
    found = np.array([place[row] for row in one.select("race", "education", "occupation", "hours").rows()])
    assert abs(np.corrcoef(np.arange(len(found)), found)[0, 1]) < 0.1


@pytest.mark.full
def test_another_seed_gives_another_order(people: Path, tmp_path: Path):
    tables = []
    for seed in (3, 4):
        tk.run_job(on_spark(job(**KEPT, seed=seed)), people / "people.csv", tmp_path / f"{seed}")
        tables.append(table(tmp_path / f"{seed}"))
    assert not tables[0].equals(tables[1])


def test_the_folder_is_complete_and_its_digest_can_be_checked(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tarnkappe.engines.spark.engine.PART", 1000)
    release = tk.run_job(on_spark(job()), people / "people.csv", tmp_path / "out")
    folder = tmp_path / "out" / "public" / "people.csv"
    assert sorted(p.name for p in folder.iterdir()) == [f"part-0000{i}.csv" for i in range(3)]
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in sorted(folder.iterdir())]
    assert release.public_manifest["sha256"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert not list(tmp_path.glob(".*"))
    # The parts are a table for every engine.
    with open_source(folder) as parts:
        assert parts.sha256 == release.public_manifest["sha256"]
        assert parts.n_rows == 3000
    assert SparkEngine("local[2]").open(folder).n_rows == 3000


def test_a_release_at_an_address_appears_complete_or_not_at_all(people: Path, tmp_path: Path):
    address = f"file://{tmp_path}/far/release"
    tk.run_job(on_spark(job(**KEPT)), people / "people.parquet", address)
    tk.run_job(job(**KEPT), people / "people.parquet", tmp_path / "near")
    far = tmp_path / "far" / "release"
    names = sorted(p.relative_to(far).as_posix() for p in far.rglob("*") if p.is_file() and p.suffix != ".crc")
    near = tmp_path / "near"
    others = sorted(p.relative_to(near).as_posix() for p in near.rglob("*") if p.is_file())
    assert names == sorted({*others, "public/people.parquet/part-00000.parquet"} - {"public/people.parquet"})
    quasi = ["age", "sex", "native-country"]
    assert counted(table(far).select(quasi)).equals(counted(table(near).select(quasi)))
    with pytest.raises(RefusedError, match="exists already"):
        tk.run_job(on_spark(job()), people / "people.parquet", address)
    tk.run_job(on_spark(job()), people / "people.parquet", address, overwrite=True)
    (tmp_path / "far" / "other").mkdir()
    (tmp_path / "far" / "other" / "x").write_text("x")
    with pytest.raises(RefusedError, match="not an earlier release"):
        tk.run_job(on_spark(job()), people / "people.parquet", f"file://{tmp_path}/far/other", overwrite=True)
    with pytest.raises(JobError, match="only Spark"):
        tk.run_job(job(), people / "people.parquet", address)
    impossible = on_spark(job(criteria=[tk.KAnonymity(5000)]))
    with pytest.raises(InfeasibleError):
        tk.run_job(impossible, people / "people.parquet", f"file://{tmp_path}/far/new")
    assert sorted(p.name for p in (tmp_path / "far").iterdir()) == ["other", "release"]


def exchanges(frame: Any) -> int:
    plan = frame._jdf.queryExecution().executedPlan().toString()
    return len(re.findall(r"\bExchange\b", plan))


@pytest.mark.full
def test_shuffles_are_as_many_as_promised(people: Path):
    for changes, asked in (({}, 0), (KEPT, 1), ({"algorithm": Dividing(), **KEPT}, 2), ({"algorithm": Dividing()}, 0)):
        engine = SparkEngine("local[2]")
        wanted = job(**changes)
        source = engine.open(people / "people.csv")
        schema = wanted.schema(source.columns)
        assert exchanges(source.distinct_rows([c.name for c in (*schema.quasi, *schema.sensitive)])) == 1
        tally = engine.count(source, schema)
        grouping = wanted.algorithm.decide(tally, wanted.goal, rng=np.random.default_rng(1))
        plan = Plan.of(tally, wanted.goal, grouping)
        keys = tuple(range(8))
        kept = bool(changes.get("columns"))
        frame = engine.recoded(plan, schema, keys)[0] if kept else engine.generated(plan, schema, keys)
        assert exchanges(frame) == asked


@pytest.mark.parametrize(("algorithm", "lie"), grid([tk.Mondrian(), Dividing()], ["labels of another", "a group on"]))
def test_a_lie_about_records_is_noticed(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: Any, lie: str
):
    """Counts of labels and secrets are as planned, but what was kept stands with the wrong ones."""
    labelled, entered = tasks.Recoding.labelled, tasks.Recoding.entered

    def exchanged(self: Any, group: Any, batch: Any) -> Any:
        return labelled(self, np.roll(group, 1), batch)

    def next_group(self: Any, cell: Any, group: Any, batch: Any) -> Any:
        return entered(self, cell, np.roll(group, 1), batch)

    if lie == "labels of another":
        monkeypatch.setattr(tasks.Recoding, "labelled", exchanged)
    else:
        monkeypatch.setattr(tasks.Recoding, "entered", next_group)
    asked = job(algorithm=algorithm, sensitive=[], **KEPT)
    with pytest.raises(VerificationError, match="E501"):
        run_job(on_spark(asked), people / "people.csv", tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_a_public_table_is_counted_on_spark(people: Path):
    asked = job(criteria=[KMap(2)], population=str(people / "people.parquet"))
    here = tk.pipeline.check(asked, people / "people.csv").tally
    there = tk.pipeline.check(on_spark(asked), people / "people.csv").tally
    assert np.array_equal(here.count, there.count)
    assert np.array_equal(here.population, there.population)


def test_frames_of_any_kind(people: Path):
    frame = pl.read_parquet(people / "people.parquet")
    asked = on_spark(job())
    table_ = asked.anonymize(frame).table
    assert table_.height == 3000
    spark = SparkEngine("local[2]")
    source = spark.open(spark.spark.createDataFrame(frame.select("age", "sex").to_arrow()))
    assert source.description == "data frame · 3 000 rows · 2 columns · data frame, on Spark"


def test_what_is_wrong_is_said(people: Path, tmp_path: Path):
    bad = tmp_path / "bad.csv"
    bad.write_text("age,sex\n30,f\n31\n32,m\n")
    simple = on_spark(tk.Job(quasi={"age": tk.numeric(), "sex": tk.suppress()}, criteria=[tk.KAnonymity(1)]))
    with pytest.raises(DataError) as short:
        tk.run_job(simple, bad, tmp_path / "out")
    assert short.value.code == "E403"
    with pytest.raises(DataError) as absent:
        tk.run_job(simple, tmp_path / "absent.csv", tmp_path / "out")
    assert absent.value.code == "E401"
    bad.write_text("age,sex\n30,f\nold,m\nold,m\n")
    with pytest.raises(DataError, match="'age' has 2 values that are not a number") as text:
        tk.run_job(simple, bad, tmp_path / "out")
    assert "row" not in str(text.value)
    counting = job(criteria=[XYAnonymity("race", 2)], subject="race")
    with pytest.raises(JobError, match="not published"):
        tk.run_job(on_spark(counting), people / "people.csv", tmp_path / "out")
    with pytest.raises(JobError, match="Spark Connect"):
        tk.run_job(replace_job(simple, engine=EngineSettings("spark", "sc://x")), bad, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kept", [pytest.param([], marks=pytest.mark.full), ["sex"]])
def test_sizes_and_radii_are_those_of_the_engine_in_memory(tmp_path: Path, kept: list[str]):
    """Generated from the plan, and record by record; a column that is dropped has the name of a figure."""
    data = census(300, seed=2).select("age", "hours-per-week", "occupation", "sex").with_columns(radius=pl.lit("r"))
    data.write_csv(tmp_path / "people.csv")
    found = []
    for engine in ("memory", "spark"):
        asked = tk.Job(
            quasi={"age": tk.numeric(), "hours-per-week": tk.numeric()},
            sensitive=["occupation"],
            keep=kept,
            drop="rest",
            criteria=[tk.KAnonymity(3)],
            algorithm="r-gather",
            missing_rule="own-value",
            engine=engine,
        )
        table = asked.anonymize(tmp_path / "people.csv", seed=1).table
        rows = table if isinstance(table, pl.DataFrame) else pl.from_arrow(table.toArrow())
        assert rows.columns[-2:] == ["group size", "radius"]
        found.append(sorted(map(str, rows.rows())))
    assert found[0] == found[1]

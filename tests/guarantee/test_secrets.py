"""What must not leave the house is not in the folder that is meant to be shared."""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path

import polars as pl
import pytest
from checker import read_release
from whole_jobs import usual_algorithms

import tarnkappe as tk
from canaries import everything_in
from grids import fewer, grid
from tarnkappe.algorithms import Algorithm
from tarnkappe.certificate import add_checker
from tarnkappe.job.model import Job
from tarnkappe.job.places import OutputSettings
from tarnkappe.schema import Column

SEED = 314159265358979323846264338327950288419

ALGORITHMS = usual_algorithms()
FORMATS = ["csv", "parquet"]

N = 400


def table() -> pl.DataFrame:
    """People with canaries: in what is removed, in rare quasi values, and in records that get suppressed."""
    frame = pl.DataFrame(
        {
            "name": [f"CanaryName{i:04d}" for i in range(N)],
            "dropped": [f"CanaryDropped{i % 50:02d}" for i in range(N)],
            "age": [20 + i * 7 % 40 for i in range(N)],
            "town": [("Kiel", "Ulm", "Rom", "Bern")[i % 4] for i in range(N)],
            "illness": [("flu", "gout", "mumps")[i // 4 % 3] for i in range(N)],
            "note": ["-"] * N,
        }
    )
    # A few records that no group of their own could hold, with values that nobody else has.
    rare = pl.DataFrame(
        {
            "name": [f"CanaryName9{i:03d}" for i in range(3)],
            "dropped": ["CanaryDropped99"] * 3,
            "age": [25, 30, 35],
            "town": [f"CanaryTown{i}" for i in range(3)],
            "illness": [f"CanaryIllness{i}" for i in range(3)],
            "note": [f"CanaryNote{i}" for i in range(3)],
        }
    )
    return pl.concat([frame, rare])


def job(algorithm: Algorithm, output: str, limit: float) -> Job:
    towns = {
        "*": {"North": ["Kiel"], "South": ["Ulm", "Bern"], "Far": ["Rom", "CanaryTown0", "CanaryTown1", "CanaryTown2"]}
    }
    return Job(
        quasi={"age": tk.numeric(), "town": tk.tree(towns)},
        identifiers=["name"],
        drop=["dropped"],
        sensitive=["illness"],
        columns=[Column("note", "keep", because="a remark of the clerk")],
        criteria=[tk.KAnonymity(8)],
        max_suppressed=limit,
        algorithm=algorithm,
        title="A release",
        output=OutputSettings(format=output),
    )


@pytest.fixture(
    params=[  # every algorithm in one of the formats; the others in the full suite
        pytest.param((a, f), id=f"{a}-{f}", marks=[] if i % 2 == j else [pytest.mark.full])
        for i, a in enumerate(ALGORITHMS)
        for j, f in enumerate(FORMATS)
    ],
    scope="module",
)
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release made from a file of these people."""
    algorithm, output = request.param
    folder = tmp_path_factory.mktemp("secret")
    table().write_csv(folder / "people.csv")
    tk.run_job(job(algorithm, output, 0.05), folder / "people.csv", folder / "release", seed=SEED)
    return folder / "release"


def test_the_search_sees_what_is_there(release: Path):
    """A search that finds nothing because it looks at nothing would prove nothing."""
    public, internal = everything_in(release / "public"), everything_in(release / "do-not-share")
    for word in ("flu", "gout", "town", "k-anonymity", "A release", "a remark of the clerk"):
        assert word in public
    assert str(SEED) in internal


def test_seed_is_not_published(release: Path):
    text = everything_in(release / "public")
    assert str(SEED) not in text
    assert hex(SEED)[2:] not in text
    assert '"seed"' not in text


def test_removed_columns_are_not_published(release: Path):
    text = everything_in(release / "public")
    assert "CanaryName" not in text
    assert "CanaryDropped" not in text


def test_suppressed_records_leave_no_trace(release: Path):
    """Their sensitive and kept values are gone, from the table, its dictionaries and its statistics, and the report."""
    written = read_release(release)
    text = everything_in(release / "public")
    notes = {row[written.names.index("note")] for row in written.rows}
    for i in range(3):
        if f"CanaryNote{i}" not in notes:
            assert f"CanaryNote{i}" not in text
            assert f"CanaryIllness{i}" not in text


@pytest.mark.parametrize("output", FORMATS)
def test_some_records_are_suppressed(output: str, tmp_path: Path):
    """So that the test before is about something."""
    tk.run_job(job(tk.Datafly(), output, 0.05), table(), tmp_path / "release", seed=SEED)
    text = everything_in(tmp_path / "release/public")
    assert read_release(tmp_path / "release").public["suppressed"] != 0
    assert "CanaryNote" not in text
    assert "CanaryIllness" not in text


def test_rare_values_are_not_published(release: Path):
    """An original value that fewer records share than a group must have stands neither in the table nor beside it."""
    assert "CanaryTown" not in everything_in(release / "public")


def test_input_is_not_described(release: Path):
    """Whoever has a guess at the input cannot confirm it: neither its hash nor its path is published."""
    text = everything_in(release / "public")
    data = release.parent / "people.csv"
    assert hashlib.sha256(data.read_bytes()).hexdigest() not in text
    assert str(release.parent) not in text
    private = json.loads((release / "do-not-share/manifest.json").read_text("utf-8"))
    assert private["input"]["sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
    assert private["seed"] == SEED


def test_internal_files_are_for_their_owner_only(release: Path):
    for path in (release / "do-not-share").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


@pytest.mark.parametrize(("algorithm", "k"), fewer(grid(ALGORITHMS, [2, 5, 30]), every=2))
def test_report_names_only_values_that_many_share(algorithm: Algorithm, k: int, tmp_path: Path):
    """Every town of the input occurs in as many records as its number says; small ones must stay unsaid."""
    towns = [f"Town{size:03d}" for size in range(1, 60) for _ in range(size)]
    frame = pl.DataFrame({"town": towns, "age": [i % 50 for i in range(len(towns))]})
    made = Job(
        quasi={"town": tk.suppress(), "age": tk.numeric()},
        criteria=[tk.KAnonymity(k)],
        algorithm=algorithm,
        max_suppressed=0.2,
    )
    tk.run_job(made, frame, tmp_path / "release", seed=1)
    public = tmp_path / "release/public"
    beside = (public / "manifest.json").read_text("utf-8") + (public / "report.html").read_text("utf-8")
    for size in range(1, k):
        assert f"Town{size:03d}" not in beside


def test_public_facts_do_not_depend_on_the_seed(tmp_path: Path):
    """Apart from the hash of the shuffled table and the date, the public manifest says the same for every seed."""
    manifests = []
    for seed in (1, 2):
        tk.run_job(job(tk.Mondrian("relaxed"), "csv", 0.05), table(), tmp_path / f"{seed}", seed=seed)
        manifest = json.loads((tmp_path / f"{seed}/public/manifest.json").read_text("utf-8"))
        for written in manifest["tables"]:
            del written["sha256"]
        manifests.append({key: value for key, value in manifest.items() if key not in ("sha256", "made")})
    assert manifests[0] == manifests[1]


@pytest.mark.parametrize("engine", ["memory", "streaming"])
@pytest.mark.parametrize("algorithm", ["anatomize", "angel", "slicing", "mondrian"])
def test_no_form_and_no_engine_publishes_what_was_removed(algorithm: str, engine: str, tmp_path: Path):
    """Names, dropped values, the seed, and where the data lay; the checker beside the tables has none of them."""
    people = table().filter(~pl.col("illness").str.starts_with("Canary"))
    folder = tmp_path / "CanaryFolder"
    folder.mkdir()
    people.write_csv(folder / "people.csv")
    made = Job(
        quasi={"age": tk.numeric(), "town": tk.suppress()},
        identifiers=["name"],
        drop=["dropped", "note"],
        sensitive=["illness"],
        criteria=[tk.LDiversity("illness", 2)],
        algorithm=algorithm,
        output=OutputSettings(format="csv"),
        engine=engine,
    )
    tk.run_job(made, folder / "people.csv", folder / "release", seed=SEED)
    add_checker(folder / "release")
    text = everything_in(folder / "release" / "public")
    assert "flu" in text
    for canary in ("CanaryName", "CanaryDropped", "CanaryFolder", str(SEED), hex(SEED)[2:], str(tmp_path)):
        assert canary not in text
    assert hashlib.sha256((folder / "people.csv").read_bytes()).hexdigest() not in text

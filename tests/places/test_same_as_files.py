"""A table in a database and the same table in a file: the same cells, and with the same seed the same release."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from database_tables import Database
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.audit import audit
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.engines.streaming import StreamingEngine
from tarnkappe.io import open_source
from tarnkappe.job.model import replace_job
from tarnkappe.job.places import OutputSettings
from tarnkappe.pipeline import counted, run_job

TEXTS = st.sampled_from(
    ["", "a", "A", "ä", "á", "a ", " a", "NULL", "n/a", "0", "00", 'x"y', "it's", "z\n", "\\N", "💧"]
)
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.25, 1e10, float("nan")])

COLUMNS = {
    "age": (st.none() | st.integers(0, 6), pl.Int64),
    "town": (st.none() | TEXTS, pl.String),
    "size": (st.none() | NUMBERS, pl.Float64),
    "born": (st.none() | st.sampled_from([dt.date(1950, 1, 1), dt.date(1999, 12, 31), dt.date(1600, 2, 29)]), pl.Date),
    "smokes": (st.none() | st.booleans(), pl.Boolean),
    "seen": (
        st.none() | st.sampled_from([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 0, 0, 0, 7)]),
        pl.Datetime("us"),
    ),
}

ROWS = st.lists(st.tuples(*(values for values, _ in COLUMNS.values())), min_size=1, max_size=25)

JOB = tk.Job(
    quasi={
        "age": tk.numeric(),
        "town": tk.suppress(),
        "born": tk.suppress(),
        "smokes": tk.suppress(),
        "seen": tk.suppress(),
    },
    sensitive=["size"],
    criteria=[tk.KAnonymity(1)],
    missing_rule="own-value",
    engine="streaming",
)

#: SQLite has neither days nor yes and no, and a CSV file has only texts.
PLAIN_JOB = tk.Job(
    quasi={"age": tk.numeric(), "town": tk.suppress()},
    drop="rest",
    criteria=[tk.KAnonymity(1)],
    missing_rule="own-value",
    engine="streaming",
)


def frame_of(rows: list[tuple]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={name: t for name, (_, t) in COLUMNS.items()}, orient="row")


def cells_of(job: tk.Job, data: object) -> list[tuple]:
    """The cells as texts of values with their counts: what a tally says, whatever numbers its codes have."""
    tally = counted(job, data).tally
    sides = ((tally.quasi_domains, tally.quasi), (tally.sensitive_domains, tally.sensitive))
    shown = [
        [domain.taxonomy.leaves[code] if code < len(domain.taxonomy.leaves) else None for code in codes]
        for domains, side in sides
        for domain, codes in zip(domains, side.T, strict=True)
    ]
    return [*zip(*shown, tally.count.tolist(), strict=True)]


@given(rows=ROWS)
@settings(max_examples=8)
def test_the_same_tally(database_of_each, tmp_path_factory, rows):
    table = frame_of(rows)
    folder = tmp_path_factory.mktemp("tally")
    table.write_parquet(folder / "people.parquet")
    table.write_csv(folder / "people.csv")
    for kind, made in database_of_each.items():
        job = PLAIN_JOB if kind == "sqlite" else JOB
        database = made()
        database.put("people", table)
        expected = cells_of(job, folder / "people.parquet")
        assert cells_of(job, database.address("people")) == expected
        assert cells_of(replace_job(job, engine=EngineSettings("memory")), database.address("people")) == expected
        assert cells_of(PLAIN_JOB, database.address("people")) == cells_of(PLAIN_JOB, folder / "people.csv")


@pytest.fixture(scope="module")
def database_of_each(request, tmp_path_factory):
    """Makes empty databases, one of each kind there is."""
    from database_tables import fresh_schema
    from postgresql_server import binaries

    def file(kind):
        return Database(kind, f"{kind}:///{tmp_path_factory.mktemp(kind)}/census.{kind}")

    makers = {"duckdb": lambda: file("duckdb"), "sqlite": lambda: file("sqlite")}
    if binaries() is not None:
        uri = request.getfixturevalue("server")
        makers["postgresql"] = lambda: fresh_schema(uri)
    return makers


def people(n: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["f", "m", ""], n),
            "zip": [f"{z:05d}" for z in rng.integers(0, 40, n)],
            "illness": rng.choice(["flu", "cold", "HIV"], n),
            "visits": rng.integers(0, 5, n),
            "note": [f"n{i}" for i in rng.integers(0, 50, n)],
        }
    )


def release_job(keep: bool, algorithm: str = "mondrian") -> tk.Job:
    rest = {"keep": ["note", "visits"]} if keep else {"drop": ["note", "visits"]}
    return tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress(), "zip": tk.prefix(4, 3)},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(5), tk.LDiversity("illness", 2)]
        if algorithm == "mondrian"
        else [tk.FrequencyLDiversity("illness", 2)],
        algorithm=algorithm,
        missing_rule="own-value",
        engine="streaming",
        seed=11,
        **rest,
    )


@pytest.mark.parametrize("keep", [True, False])
def test_the_same_release_row_by_row(database, tmp_path, keep):
    table, job = people(600), release_job(keep)
    table.write_parquet(tmp_path / "people.parquet")
    database.put("people", table)
    run_job(job, tmp_path / "people.parquet", tmp_path / "from-file")
    expected = pl.read_parquet(tmp_path / "from-file/public/people.parquet")
    target = OutputSettings(str(tmp_path / "papers"), database=database.address("released"))
    release = run_job(replace_job(job, output=target), database.address("people"))
    written = database.rows("released")
    if keep or database.kind != "postgresql":
        assert written == expected.rows()
    else:  # the server writes out records that are alike one after the other
        assert Counter(written) == Counter(expected.rows())
    run_job(job, database.address("people"), tmp_path / "from-database")
    assert pl.read_parquet(tmp_path / "from-database/public/people.parquet").equals(expected)
    assert audit(tmp_path / "papers").same_as_manifest
    assert release.public_manifest["records"] == 600


def test_several_tables_of_one_release(database, tmp_path):
    table, job = people(300), release_job(False, "anatomize")
    table.write_parquet(tmp_path / "people.parquet")
    database.put("people", table)
    run_job(job, tmp_path / "people.parquet", tmp_path / "from-file")
    target = OutputSettings(str(tmp_path / "papers"), database=database.address("released"))
    run_job(replace_job(job, output=target), database.address("people"))
    files = {
        t["file"].removesuffix(".parquet")
        for t in json.loads((tmp_path / "from-file/public/manifest.json").read_text())["tables"]
    }
    assert database.tables() == {"people"} | {name.replace("people", "released") for name in files}
    for name in files:
        expected = pl.read_parquet(tmp_path / f"from-file/public/{name}.parquet")
        assert database.rows(name.replace("people", "released")) == expected.rows()
    assert audit(tmp_path / "papers").ok


def test_only_cells_cross_the_wire(database, monkeypatch):
    database.put("people", people(5000).with_columns(age=pl.col("age") // 30))
    source = open_source(database.address("people"))
    arrived = []
    batches = source._look.batches
    monkeypatch.setattr(source._look, "batches", lambda *a: (arrived.append(b.height) or b for b in batches(*a)))
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        drop="rest",
        criteria=[tk.KAnonymity(2)],
        missing_rule="own-value",
    )
    StreamingEngine().count(source, job.schema(source.columns))
    assert sum(arrived) <= 9


def test_counting_is_one_aggregate_to_the_server(database_of, request):
    database = database_of("postgresql")
    database.put("people", people(500))
    source = open_source(database.address("people"))
    plan = "\n".join(row[0] for row in database.ask(f"EXPLAIN {source.counting(['age', 'sex', 'illness'])}"))
    assert plan.count("Aggregate") == 1
    assert plan.count("Seq Scan") == 1
    assert "Sort" not in plan
    source.close()

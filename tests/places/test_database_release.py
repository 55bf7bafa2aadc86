"""Releases that go to a table of a database: verified by reading back, all or nothing, and nothing is told."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.audit import audit
from tarnkappe.engines import streaming
from tarnkappe.errors import DataError, RefusedError, TarnkappeError, VerificationError
from tarnkappe.io import open_source
from tarnkappe.io.databases import Address, sql
from tarnkappe.io.databases import base as base_module
from tarnkappe.io.databases import staging as staging_module
from tarnkappe.job.places import OutputSettings
from tarnkappe.pipeline import run_job

NASTY = '"; drop table people; --'


def people(n: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n), "illness": rng.choice(["flu", "cold"], n)}
    )


def job_to(database, folder: Path, table: str = "released", **more) -> tk.Job:
    return tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(5)],
        seed=5,
        data=database.address("people"),
        output=OutputSettings(str(folder), database=database.address(table)),
        **more,
    )


def files(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_the_table_goes_to_the_database_and_the_papers_to_the_folder(database, tmp_path):
    database.put("people", people())
    release = run_job(job_to(database, tmp_path / "papers"))
    assert database.tables() == {"people", "released"}
    assert len(database.rows("released")) == 200
    assert files(tmp_path / "papers") == [
        *("do-not-share/groups.parquet", "do-not-share/job.yaml", "do-not-share/manifest.json"),
        *("do-not-share/report.html", "public/codebook.csv", "public/manifest.json", "public/report.html"),
    ]
    assert release.public_manifest["database"]["table"] == "released"
    assert audit(tmp_path / "papers").ok
    database.ask("UPDATE released SET illness = 'none'")
    assert audit(tmp_path / "papers").same_as_manifest is False


def test_an_existing_table_is_only_replaced_if_it_is_a_release_and_that_is_asked_for(database, tmp_path):
    database.put("people", people())
    database.put("precious", people(3))
    before = database.rows("precious")
    for overwrite in (False, True):
        with pytest.raises(RefusedError, match=r"E601.*precious"):
            run_job(job_to(database, tmp_path / "papers", "precious"), overwrite=overwrite)
    assert database.rows("precious") == before
    run_job(job_to(database, tmp_path / "papers"))
    first = database.rows("released")
    with pytest.raises(RefusedError, match="E601"):
        run_job(job_to(database, tmp_path / "other"))
    assert not (tmp_path / "other").exists()
    run_job(job_to(database, tmp_path / "papers"), seed=6, overwrite=True)
    assert database.rows("released") != first
    assert database.tables() == {"people", "precious", "released"}
    assert audit(tmp_path / "papers").ok


def test_the_data_are_never_replaced_by_their_release(database, tmp_path):
    database.put("people", people())
    with pytest.raises(RefusedError, match="E602"):
        run_job(job_to(database, tmp_path / "papers", "people"), overwrite=True)


def test_what_does_not_verify_leaves_nothing_behind(database, tmp_path, monkeypatch):
    """Sabotage: a row is changed on its way into the database, and once more on its way out of it."""
    monkeypatch.setattr(streaming, "_ALIKE", 1 << 20)
    database.put("people", people())
    run_job(job_to(database, tmp_path / "papers"))
    before, papers = database.rows("released"), files(tmp_path / "papers")
    write = staging_module.StagedTable.write

    def spoilt(self, batch):
        row = pl.int_range(pl.len()) == 0
        write(self, batch.with_columns(age=pl.when(row).then(pl.lit("999")).otherwise(pl.col("age").cast(pl.String))))

    monkeypatch.setattr(staging_module.StagedTable, "write", spoilt)
    with pytest.raises(VerificationError, match="E501"):
        run_job(job_to(database, tmp_path / "papers"), overwrite=True)
    monkeypatch.setattr(
        staging_module.StagedTable, "write", lambda self, batch: write(self, batch.head(batch.height - 1))
    )
    with pytest.raises(VerificationError, match="E501"):
        run_job(job_to(database, tmp_path / "papers"), overwrite=True)
    assert database.rows("released") == before
    assert database.tables() == {"people", "released"}
    assert files(tmp_path / "papers") == papers
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_if_the_folder_cannot_be_finished_nothing_is_committed(database, tmp_path, monkeypatch):
    database.put("people", people())
    monkeypatch.setattr(staging_module.DatabaseStaging, "_refuse_taken", refuse_at_last())
    with pytest.raises(RefusedError):
        run_job(job_to(database, tmp_path / "papers"))
    assert database.tables() == {"people"}
    assert not (tmp_path / "papers").exists()


def refuse_at_last():
    calls = []

    def refused(self, table):
        calls.append(table)
        if len(calls) == 3:
            raise RefusedError("E601", "it appeared meanwhile")

    return refused


@pytest.mark.parametrize("keep", [True, False])
def test_names_are_only_names(database, tmp_path, keep):
    odd = {"age": 'a"ge', "sex": NASTY, "illness": "it's; %s ? :x \\"}
    table = people().rename(odd).with_columns(pl.lit("x'y\"z").alias("select"))
    database.put("people", people(3))
    database.put(NASTY, table)
    job = tk.Job(
        quasi={'a"ge': tk.numeric(), NASTY: tk.suppress()},
        sensitive=["it's; %s ? :x \\"],
        criteria=[tk.KAnonymity(5)],
        output=OutputSettings(str(tmp_path / "papers"), database=database.address(NASTY + " released")),
        **({"keep": ["select"]} if keep else {"drop": ["select"]}),
    )
    run_job(job, database.address(NASTY))
    assert database.tables() == {"people", NASTY, NASTY + " released"}
    found = open_source(database.address(NASTY + " released"))
    assert found.columns == tuple(table.columns if keep else table.columns[:3])
    assert found.n_rows == 200
    assert audit(tmp_path / "papers").ok


def test_a_query_is_read_like_a_table(database, tmp_path):
    database.put("people", people())
    where = "people" if database.schema is None else f"{database.schema}.people"
    asked = Address(database.uri, query=f"SELECT age, sex, illness FROM {where} WHERE age < 40;").text
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(5)],
        data=asked,
    )
    release = run_job(job, None, tmp_path / "papers")
    assert release.public_manifest["records"] == people().filter(pl.col("age") < 40).height
    assert (tmp_path / "papers/public/query.parquet").is_file()


@pytest.mark.parametrize(
    "query",
    ["DELETE FROM people", "SELECT 1 AS a; DROP TABLE people", "SELECT nothing FROM people", "SELECT 1/0 FROM nowhere"],
)
def test_a_query_can_only_read(database, query):
    database.put("people", people(3))
    with pytest.raises(TarnkappeError) as refused:
        open_source(Address(database.uri, query=query).text)
    assert refused.value.code in ("E464", "E465")
    assert len(database.rows("people")) == 3


def test_tables_that_are_not_there(database, tmp_path):
    database.put("people", people(3))
    with pytest.raises(DataError, match="E464") as refused:
        open_source(database.address("peple"))
    command = str(refused.value.hint).partition(":  ")[2]
    program = shlex.split(command)[0]
    words = [sys.executable if program == "python" else shutil.which(program), *shlex.split(command)[1:]]
    if words[0] is None:
        pytest.skip(f"{program} is not installed")
    assert "people" in subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_files_that_are_no_databases(tmp_path):
    (tmp_path / "text.db").write_text("no database at all " * 300)
    for kind in ("duckdb", "sqlite"):
        for name in ("text.db", "absent.db"):
            with pytest.raises(DataError) as refused:
                open_source(f"{kind}:///{tmp_path}/{name}#people")
            assert refused.value.code == "E463", (kind, name)
            assert refused.value.hint
    assert not (tmp_path / "absent.db").exists()


def test_types_come_and_go(database, tmp_path):
    import datetime as dt
    from decimal import Decimal

    n = 12
    kept = pl.DataFrame(
        {
            "age": [30] * n,
            "day": [dt.date(1990, 1, 1 + i) if i else None for i in range(n)],
            "moment": [dt.datetime(2020, 1, 1, 3, 4, 5, i) if i else None for i in range(n)],
            "ratio": [i / 7 if i else None for i in range(n)],
            "yes": [bool(i % 2) if i else None for i in range(n)],
            "small": pl.Series([i if i else None for i in range(n)], dtype=pl.Int16),
            "text": [f"x{i}" if i else None for i in range(n)],
            **({} if database.kind == "sqlite" else {"price": [Decimal(f"{i}.50") if i else None for i in range(n)]}),
        },
        schema_overrides={"price": pl.Decimal(10, 2)} if database.kind != "sqlite" else None,
    )
    if database.kind == "postgresql":  # its library takes decimals for texts
        database.put("raw", kept.drop("price").with_columns(pl.Series("price", [str(p or 0) for p in kept["price"]])))
        database.ask(
            "CREATE TABLE people AS SELECT age, day, moment, ratio, yes, small, text, price::numeric(10,2) FROM raw"
        )
    else:
        database.put("people", kept)
    job = tk.Job(
        quasi={"age": tk.numeric()},
        keep=[name for name in kept.columns if name != "age"],
        criteria=[tk.KAnonymity(5)],
        because={name: "made up for this test" for name in kept.columns if name != "age"},
        data=database.address("people"),
        output=OutputSettings(str(tmp_path / "papers"), database=database.address("released")),
    )
    run_job(job)
    given, found = (open_source(database.address(t)) for t in ("people", "released"))
    rest = [name for name in kept.columns if name != "age"]
    assert found.read(rest).sort("text").equals(given.read(rest).sort("text"))
    if database.kind != "sqlite":
        assert {name: found.types(rest)[name] for name in rest} == {name: kept.schema[name] for name in rest}


@pytest.mark.parametrize(
    ("values", "dtype", "refusing"),
    [
        ([2**64 - 1, 0], pl.UInt64(), {"sqlite"}),
        (["123456789012345678901234.10", "1.10"], pl.Decimal(38, 2), {"sqlite"}),
        ([1, 10**9 + 1], pl.Time(), {"duckdb", "postgresql"}),
        ([1000, 10**9], pl.Time(), set()),
        ([1, 1001], pl.Datetime("ns"), {"postgresql"}),
        ([0.1 + 2**-55, float("inf")], pl.Float64(), set()),
    ],
)
def test_what_a_database_cannot_hold_is_refused(database, tmp_path, values, dtype, refusing):
    table = pl.DataFrame({"age": [30] * 12, "kept": pl.Series(values * 6).cast(dtype)})
    table.write_parquet(tmp_path / "people.parquet")
    job = tk.Job(
        quasi={"age": tk.numeric()},
        keep=["kept"],
        criteria=[tk.KAnonymity(5)],
        because={"kept": "made up for this test"},
        output=OutputSettings(str(tmp_path / "papers"), database=database.address("released")),
    )
    if database.kind in refusing:
        with pytest.raises(DataError, match=r"E475.*'kept' has values"):
            run_job(job, tmp_path / "people.parquet")
        assert not (tmp_path / "papers").exists()
    else:
        run_job(job, tmp_path / "people.parquet")
        assert audit(tmp_path / "papers").ok


def test_what_postgresql_calls_equal_is_not_always_the_same(database_of):
    database = database_of("postgresql")
    database.ask("CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    database.ask("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    database.ask("CREATE DOMAIN years AS int CHECK (VALUE > 0)")
    database.ask(
        "CREATE TABLE people (town text COLLATE nocase, code char(5), mood mood, age years, born date, big numeric)"
    )
    database.ask(
        "INSERT INTO people VALUES ('a', 'x', 'sad', 3, 'infinity', 1.5), ('A', 'x ', 'ok', 4, '2000-01-01', 'NaN'), "
        "('A', 'x', 'ok', 4, '2000-01-01', NULL)"
    )
    source = open_source(database.address("people"))
    cells = dict(zip(("town", "code", "mood", "age", "born", "big"), source.read(source.columns), strict=True))
    assert cells["town"].to_list() == ["a", "A", "A"]
    assert cells["code"].to_list() == ["x", "x", "x"]
    assert cells["mood"].to_list() == ["sad", "ok", "ok"]
    assert cells["age"].to_list() == [3, 4, 4]
    assert [str(d) for d in cells["born"]] == ["None", "2000-01-01", "2000-01-01"]
    assert cells["big"].to_list() == [1.5, None, None]
    assert sorted(source.counted(["town", "code", "mood", "age", "born", "big"]).count.tolist()) == [1, 2]
    source.close()


@pytest.mark.parametrize("kind", ["postgresql", "duckdb"])
def test_infinite_numbers_are_no_numbers_and_a_query_can_leave_them_out(database_of, kind: str):
    database = database_of(kind)
    database.put("people", pl.DataFrame({"age": [3.0, 3.0, float("inf"), float("nan")]}))
    job = tk.Job(quasi={"age": tk.numeric()}, criteria=[tk.KAnonymity(2)], missing_rule="own-value")
    with pytest.raises(DataError, match="E406"):
        job.anonymize(database.address("people"))
    address = Address.of(database.address("people"))
    table = sql.dotted(address.schema, "people")
    as_told = open_source(f"{address.uri}#?SELECT nullif(age, 'inf') AS age FROM {table}")
    assert as_told.read(["age"])["age"].to_list() == [3.0, 3.0, None, None]
    as_told.close()


def test_a_look_does_not_change_while_others_write(database_of):
    database = database_of("postgresql")
    database.put("people", people(50))
    source = open_source(database.address("people"))
    database.ask("DELETE FROM people WHERE age < 40")
    assert source.read(["age"]).height == 50
    assert source.counted(["age"]).count.sum() == 50
    source.close()


def test_sqlite_columns_are_what_their_values_are(database_of):
    database = database_of("sqlite")
    database.ask("CREATE TABLE people (a INTEGER, b TEXT COLLATE NOCASE, c, d REAL)")
    database.ask("INSERT INTO people VALUES (1, 'x', 1, 1), ('n/a', 'X', 2.5, 2), (NULL, 'x', NULL, 3)")
    source = open_source(database.address("people"))
    assert source.read(["a", "b", "c", "d"]).rows() == [
        ("1", "x", 1.0, 1.0),
        ("n/a", "X", 2.5, 2.0),
        (None, "x", None, 3.0),
    ]
    assert source.counted(["b"]).values[0].to_list() == ["X", "x"]


def test_no_password_is_told_anywhere(database_of, tmp_path, monkeypatch):
    """Passwords of the environment reach the server and nothing else; the folder to share does not name the host."""
    database = database_of("postgresql")
    database.put("people", people())
    monkeypatch.setenv("CENSUS_PASSWORD", "s3cr3t-word")
    uri = database.uri.replace("steward@", "steward:${CENSUS_PASSWORD}@")
    job = job_to(database, tmp_path / "papers")
    outputs = OutputSettings(job.output.folder, database=Address(uri, database.schema, "released").text)
    release = run_job(
        tk.Job(
            quasi={"age": tk.numeric(), "sex": tk.suppress()},
            sensitive=["illness"],
            criteria=[tk.KAnonymity(5)],
            data=Address(uri, database.schema, "people").text,
            output=outputs,
        )
    )
    for file in files(tmp_path / "papers"):
        content = (tmp_path / "papers" / file).read_bytes()
        assert b"s3cr3t-word" not in content
        if file.startswith("public/"):
            assert b"steward" not in content
            assert b"tk-pg-" not in content
    assert "s3cr3t" not in str(release)
    with pytest.raises(DataError) as refused:
        open_source(Address(uri.replace("/postgres?", "/nothing?"), None, "people").text)
    assert refused.value.code == "E463"
    assert "s3cr3t" not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("postgresql://steward@localhost:1/postgres", "nobody listens"),
        ("postgresql://steward@/postgres?host=/nonexistent-folder", "nobody listens"),
        ("postgresql://steward@/postgres?no_such_setting=1", "not one that PostgreSQL understands"),
        ("postgresql:///postgres?service=no-such-service", "no such service"),
    ],
)
def test_servers_that_do_not_answer(uri, reason):
    with pytest.raises(DataError) as refused:
        open_source(f"{uri}#people")
    assert refused.value.code == "E463"
    assert reason in refused.value.message
    assert refused.value.hint


def test_postgresql_would_cut_off_long_names(database_of, tmp_path):
    database = database_of("postgresql")
    database.put("people", people())
    with pytest.raises(DataError, match="E469"):
        run_job(job_to(database, tmp_path / "papers", "x" * 64))


def test_what_depends_on_a_table_keeps_it(database_of, tmp_path):
    database = database_of("postgresql")
    database.put("people", people())
    run_job(job_to(database, tmp_path / "papers"))
    before = database.rows("released")
    database.ask("CREATE VIEW seen AS SELECT * FROM released")
    with pytest.raises(DataError, match=r"E467.*depend"):
        run_job(job_to(database, tmp_path / "papers"), seed=9, overwrite=True)
    assert database.rows("released") == before
    assert audit(tmp_path / "papers").ok


@pytest.mark.parametrize(("kind", "package"), [("postgresql", "adbc_driver_postgresql"), ("duckdb", "duckdb")])
def test_a_missing_extra_is_one_line_to_install(monkeypatch, kind, package):
    find = base_module.importlib.util.find_spec
    monkeypatch.setattr(base_module.importlib.util, "find_spec", lambda name: None if name == package else find(name))
    with pytest.raises(DataError) as refused:
        open_source(f"{kind}:///census#people")
    assert refused.value.code == "E460"
    assert refused.value.hint == f"pip install 'tarnkappe[{kind}]'"


def test_nothing_of_this_is_imported_for_others(tmp_path):
    people(20).write_parquet(tmp_path / "people.parquet")
    code = (
        "import sys; from tarnkappe.io import open_source; import tarnkappe.pipeline\n"
        f"open_source({str(tmp_path / 'people.parquet')!r}).read(['age'])\n"
        "assert not {'duckdb', 'adbc_driver_manager', 'adbc_driver_postgresql'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_public_manifest_says_that_the_table_is_in_a_database(database, tmp_path):
    database.put("people", people())
    run_job(job_to(database, tmp_path / "papers"))
    told = json.loads((tmp_path / "papers/public/manifest.json").read_text())
    assert told["database"]["kind"] == database.kind
    for path in (tmp_path / "papers/do-not-share").iterdir():
        path.unlink()
    (tmp_path / "papers/do-not-share").rmdir()
    with pytest.raises(TarnkappeError, match=r"E108.*database"):
        audit(tmp_path / "papers")

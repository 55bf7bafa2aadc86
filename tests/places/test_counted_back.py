"""A written table that the database groups itself, inside the transaction, instead of sending its rows back."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.audit import audit
from tarnkappe.engines import streaming
from tarnkappe.errors import RefusedError, VerificationError
from tarnkappe.io.databases import staging as staging_module
from tarnkappe.io.databases.counts import CountedBack
from tarnkappe.io.databases.source import OF_COUNTS, OF_ROWS
from tarnkappe.job.places import OutputSettings
from tarnkappe.pipeline import run_job


def people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "sex": rng.choice(["f", "m"], n),
            "illness": rng.choice(["flu", "cold"], n),
            "visit": np.arange(n),
        }
    )


def job_to(database, folder: Path, **more) -> tk.Job:
    return tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(20)],
        seed=5,
        data=database.address("people"),
        output=OutputSettings(str(folder), database=database.address("released")),
        **{"drop": ["visit"], **more},
    )


def digest_of(folder: Path) -> str:
    return str(json.loads((folder / "public/manifest.json").read_text())["database"]["digest"])


def test_rows_that_are_alike_are_counted_and_their_order_does_not_matter(database, tmp_path, monkeypatch):
    monkeypatch.setattr(staging_module, "ReadBack", None)  # the rows are not read back
    database.put("people", people())
    run_job(job_to(database, tmp_path / "papers"))
    assert digest_of(tmp_path / "papers") == OF_COUNTS
    assert audit(tmp_path / "papers").ok
    name, rows = "released", database.rows("released")
    database.ask(f"DELETE FROM {name} WHERE age = {_text(rows[0][0])} AND sex = {_text(rows[0][1])}")
    moved = [row for row in rows if row[:2] == rows[0][:2]]
    assert not audit(tmp_path / "papers").same_as_manifest
    for row in moved:  # the same rows, at the end
        database.ask(f"INSERT INTO {name} VALUES ({', '.join(map(_text, row))})")
    assert audit(tmp_path / "papers").ok


def _text(value: object) -> str:
    return "'" + str(value) + "'"


def test_rows_that_all_differ_are_read_back(database, tmp_path, monkeypatch):
    monkeypatch.setattr(staging_module, "CountedBack", None)
    database.put("people", people())
    because = {"visit": "numbers of a made-up list"}
    run_job(job_to(database, tmp_path / "papers", drop=[], keep=["visit"], because=because))
    assert digest_of(tmp_path / "papers") == OF_ROWS
    assert audit(tmp_path / "papers").ok


@pytest.mark.parametrize("change", ["one secret for another", "a label", "a row less"])
@pytest.mark.parametrize("way", ["rows", "runs"])
def test_what_the_database_counts_is_held_to_the_plan(database, tmp_path, monkeypatch, way, change):
    """Sabotage: what is written is not what was planned, so nothing appears."""
    if way == "runs" and database.kind != "postgresql":
        pytest.skip("every record is sent by itself")
    database.put("people", people())
    write, write_runs = staging_module.StagedTable.write, staging_module.StagedRuns.write_runs
    reached = []

    def spoilt(batch):
        reached.append(way)
        texts = batch.with_columns(pl.all().cast(pl.String))
        first = pl.int_range(pl.len()) == 0
        if change == "a row less":
            return texts.slice(1)
        if change == "a label":
            return texts.with_columns(age=pl.when(first).then(pl.lit("[1 2]")).otherwise("age"))
        other = pl.when(pl.col("illness") == "flu").then(pl.lit("cold")).otherwise(pl.lit("flu"))
        return texts.with_columns(illness=pl.when(first).then(other).otherwise("illness"))

    def spoilt_run(run):
        rows, count = run
        alone = pl.concat([rows.head(1), rows])  # one record of the first run
        rest = spoilt(alone)
        return rest, np.concatenate([[1], count - (np.arange(len(count)) == 0)])[len(alone) - len(rest) :]

    if way == "rows":
        monkeypatch.setattr(streaming, "_ALIKE", 1 << 20)
        monkeypatch.setattr(staging_module.StagedTable, "write", lambda self, batch: write(self, spoilt(batch)))
    else:
        monkeypatch.setattr(
            staging_module.StagedRuns, "write_runs", lambda self, runs: write_runs(self, map(spoilt_run, runs))
        )
    with pytest.raises(VerificationError, match="E501"):
        run_job(job_to(database, tmp_path / "papers"))
    assert reached
    assert database.tables() == {"people"}
    assert not (tmp_path / "papers").exists()


def test_records_that_are_alike_are_sent_once_and_written_out_there(database_of, tmp_path, monkeypatch):
    """In either way the same records are published, and nothing else is left in the database."""
    database = database_of("postgresql")
    database.put("people", people())
    alone = []  # records that are sent by themselves
    monkeypatch.setattr(staging_module.StagedTable, "write", lambda _, batch: alone.append(batch))
    run_job(job_to(database, tmp_path / "runs"))
    assert not alone
    monkeypatch.undo()
    runs = database.rows("released")
    database.ask("DROP TABLE released")
    monkeypatch.setattr(streaming, "_ALIKE", 1 << 20)
    run_job(job_to(database, tmp_path / "rows"))
    assert sorted(runs) == sorted(database.rows("released"))
    assert database.tables() == {"people", "released"}
    manifests = [json.loads((tmp_path / way / "public/manifest.json").read_text()) for way in ("runs", "rows")]
    assert manifests[0]["sha256"] == manifests[1]["sha256"]


def test_runs_show_no_cells_and_no_order_of_the_data(database_of, tmp_path):
    """A group's records that look the same are one run, whatever cells they are of; groups are ordered by lot."""
    database = database_of("postgresql")
    table = people(2000).sort("age", "sex", "illness")
    database.put("people", table)
    orders = []
    for seed in (1, 2):
        run_job(job_to(database, tmp_path / "papers"), seed=seed, overwrite=True)
        rows = database.rows("released")
        runs = [row for row, before in zip(rows, [None, *rows], strict=False) if row != before]
        assert len(runs) == len(set(runs))
        groups = [row[:2] for row, before in zip(runs, [(None,), *runs], strict=False) if row[:2] != before[:2]]
        assert len(groups) == len(set(groups))
        assert groups != sorted(groups)
        orders.append(groups)
    assert set(orders[0]) == set(orders[1])
    assert orders[0] != orders[1]


def test_the_rows_of_a_counted_table_are_all_of_its_rows(database):
    from tarnkappe.io.databases import Address
    from tarnkappe.io.databases.base import look_at

    table = people().with_columns(pl.when(pl.col("age") > 50).then(None).otherwise("age").alias("age")).drop("visit")
    database.put("people", table)
    look = look_at(Address.of(database.address("people")))
    source = CountedBack(look, "people", ("",))
    assert source.n_rows == 300
    assert (
        source.read(list(table.columns))
        .sort(table.columns)
        .equals(table.with_columns(pl.col("age").cast(source.types(["age"])["age"])).sort(table.columns))
    )
    cells = source.cells(["sex"])
    assert dict(zip(cells.frame()["sex"].to_list(), cells.count.tolist(), strict=True)) == dict(
        table.group_by("sex").len().iter_rows()
    )
    look.close()


def test_papers_that_were_partly_removed_never_take_the_name_of_a_release(database, tmp_path, monkeypatch):
    """A run that is killed while it removes the papers it replaced leaves some of them, with a digest that may fit."""
    database.put("people", people())
    run_job(job_to(database, tmp_path / "papers"))
    removed = []
    monkeypatch.setattr(shutil, "rmtree", lambda folder, **_: removed.append(Path(folder)))
    run_job(job_to(database, tmp_path / "papers"), overwrite=True)
    [old] = [folder for folder in removed if (folder / "public").is_dir()]
    for file in (old / "do-not-share").iterdir():
        file.unlink()
    old.rename(old.with_name(re.sub(r"-\d+-", "-999999999-", old.name)))  # its process is dead
    monkeypatch.undo()
    with pytest.raises(RefusedError, match="E601"):
        run_job(job_to(database, tmp_path / "papers"))
    assert audit(tmp_path / "papers").ok
    assert (tmp_path / "papers/do-not-share/job.yaml").is_file()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []

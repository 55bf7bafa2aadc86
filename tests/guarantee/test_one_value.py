"""A value is the same value in counting, writing, reading back and `verify`, however it is stored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.errors import InfeasibleError
from tarnkappe.io import open_source
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.pipeline import run_job
from tarnkappe.schema import Column

ENGINES = ["memory", "streaming"]

NAN = float("nan")


def job(engine: str = "memory", **changes: Any) -> tk.Job:
    given: dict[str, Any] = {
        "quasi": {"town": tk.suppress()},
        "sensitive": ["level"],
        "criteria": [tk.KAnonymity(2), tk.LDiversity("level", 2)],
        "missing_rule": "own-value",
        "engine": engine,
        "seed": 1,
    }
    return tk.Job(**{**given, **changes})


def released(folder: Path) -> pl.DataFrame:
    file = next((folder / "public").glob("data.*"))
    return pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file, infer_schema=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_is_one_value(engine: str, tmp_path: Path):
    """A group in which everybody's level is missing is not diverse, whether a gap is stored as null or as NaN."""
    table = pl.DataFrame({"town": ["a", "a", "b", "b"], "level": [NAN, None, 1.5, 2.5]})
    table.write_parquet(tmp_path / "data.parquet")
    asked = job(engine, algorithm=tk.Datafly(), max_suppressed=0.0)
    run_job(asked, tmp_path / "data.parquet", tmp_path / "release")
    assert released(tmp_path / "release")["town"].unique().to_list() == ["*"], "two gaps were taken for two values"
    assert not tk.verify(table, [tk.LDiversity("level", 2)], ["town"], ["level"]).ok
    with pytest.raises(InfeasibleError):
        run_job(asked, table.head(2), tmp_path / "nobody")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("role", ["sensitive", "quasi", "keep"])
@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_there_is_one_zero_and_one_gap(engine: str, role: str, format_: str, tmp_path: Path):
    levels = [0.0, -0.0, NAN, None, 1e100, 0.1, -0.0, 2.0]
    table = pl.DataFrame({"town": ["a"] * 8, "level": levels, "illness": list("xyxyxyxy")})
    table.write_parquet(tmp_path / "data.parquet")
    quasi = {"town": tk.suppress()} | ({"level": tk.numeric()} if role == "quasi" else {})
    columns = [Column("level", role, because="made-up levels that belong to nobody")] if role != "quasi" else []
    asked = job(
        engine,
        quasi=quasi,
        sensitive=["illness"],
        columns=columns,
        criteria=[tk.KAnonymity(2)],
        output=OutputSettings(format=format_),
    )
    run_job(asked, tmp_path / "data.parquet", tmp_path / "release")
    if role != "quasi":
        found = released(tmp_path / "release")["level"].cast(pl.Float64)
        assert found.null_count() == 2
        assert sorted(found.drop_nulls()) == [0.0, 0.0, 0.0, 0.1, 2.0, 1e100]
        assert all(math.copysign(1, x) == 1 for x in found.drop_nulls())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sign_at_the_start_of_the_first_record_is_read(engine: str, tmp_path: Path):
    """U+FEFF marks a file at its very start only; elsewhere it is a sign like any other."""
    path = tmp_path / "data.csv"
    path.write_text("level,town\n\ufeffx,a\n\ufeffx,a\ny,a\n\ufeffx,b\ny,b\n", "utf-8")
    assert open_source(path).read(["level"])["level"].to_list() == ["\ufeffx", "\ufeffx", "y", "\ufeffx", "y"]
    run_job(job(engine), path, tmp_path / "release")
    text = (tmp_path / "release/public/data.csv").read_text("utf-8")
    assert text.count("\ufeffx") == 3


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("marker", [",", '"', 'a"b', ", ", "\n", "NA", ";"])
def test_any_missing_marker(engine: str, marker: str, tmp_path: Path):
    path = tmp_path / "data.csv"
    quoted = '"' + marker.replace('"', '""') + '"'
    path.write_text(f"town,level\na,{quoted}\na,x\nb,{quoted}\nb,y\n,x\n,y\n".replace("\n,", f"\n{quoted},"), "utf-8")
    run_job(job(engine, data=DataSettings(missing=(marker,))), path, tmp_path / "release")
    with open_source((tmp_path / "release/public/data.csv"), missing=(marker,)) as source:
        table = source.read(source.columns)
    assert table["level"].null_count() == 2
    assert table["town"].null_count() in (0, 2)
    assert table.height == 6


def test_values_that_differ_only_in_how_they_are_written_are_noticed():
    table = pl.DataFrame({"town": ["a"] * 6, "level": ["HIV", "HIV ", "hiv", "flu", "cold", "hi v"]})
    found = [n for n in job().anonymize(table).notices if n.code == "W615"]
    assert len(found) == 1
    assert "'level' has 2 values more than it has words" in found[0].message
    assert "hiv" not in (found[0].message + str(found[0].hint)).lower(), "a message names a person's value"
    clean = table.with_columns(level=pl.Series(["HIV", "flu", "cold"] * 2))
    assert not [n for n in job().anonymize(clean).notices if n.code == "W615"]


@pytest.mark.parametrize("others", [["NA", ""], ["NaN", ""], [" ", ""], ["-", "k.A."], ["n/a", "NA"]], ids=str)
def test_gaps_written_in_several_ways_are_noticed(others: list[str], tmp_path: Path):
    """A group in which everybody is missing was 2-diverse with NA and an empty cell, and nobody said so."""
    path = tmp_path / "data.csv"
    path.write_text("town,level\n" + "".join(f"a,{v}\n" for v in [*others, "x", "7", *others, "x", "7"]), "utf-8")
    (found,) = [n for n in job().anonymize(path).notices if n.code == "W615"]
    assert "'level' has 1 value more than it has words" in found.message
    assert "sign of a missing value" in found.message
    path.write_text("town,level\n" + f"a,{others[0]}\na,x\na,7\n" * 2, "utf-8")
    assert not [n for n in job().anonymize(path).notices if n.code == "W615"]


def test_one_number_written_in_several_ways_is_noticed():
    """A group in which everybody has nothing was 2-diverse with 0, 0.0 and -0, and nobody said so."""
    table = pl.DataFrame({"town": ["a"] * 6, "level": ["0", "-0", "0.0", "00", "x", "7"]})
    (found,) = [n for n in job().anonymize(table).notices if n.code == "W615"]
    assert "'level' has 3 values more than it has words" in found.message
    long = table.with_columns(level=pl.Series([f"1234567890123456{i}" for i in range(6)]))
    assert not [n for n in job().anonymize(long).notices if n.code == "W615"]


def test_a_missing_value_can_be_named_where_no_value_is_called_so():
    """`(missing)`, as reports show it; a value of that name is meant before it."""
    frame = pl.DataFrame({"town": ["a"] * 4, "level": ["low", "high", "high", None]})

    def share(table: pl.DataFrame) -> float:
        criterion = tk.AlphaKAnonymity("level", 1.0, 2, value="(missing)")
        return tk.verify(table, [criterion], ["town"], ["level"]).verdicts[0].reached

    assert share(frame) == 0.25
    called_so = frame.with_columns(pl.Series("level", ["(missing)", "(missing)", "high", None]))
    assert share(called_so) == 0.5

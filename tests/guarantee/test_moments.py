"""Columns of dates and moments, of whatever library and precision, are published by periods that hold them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.errors import DataError

K = 4
MOMENTS = [datetime.datetime(2000 + i % 7, 1 + i % 12, 1 + i % 28, i % 24, i % 60, i % 50, 1000 * i) for i in range(84)]


def people(moments: pl.Series | None = None) -> pl.DataFrame:
    """One person per moment; the sensitive column tells the true year."""
    seen = pl.Series("seen", MOMENTS) if moments is None else moments.alias("seen")
    return pl.DataFrame([seen, pl.Series("truth", [f"in {m.year}" for m in MOMENTS])])


def with_type(dtype: pl.DataType) -> pl.DataFrame:
    return people(pl.Series(MOMENTS).cast(dtype))


KINDS: dict[str, Callable[[], Any]] = {
    "dates": lambda: with_type(pl.Date()),
    "midnights": lambda: people(pl.Series(MOMENTS).dt.truncate("1d")),
    **{unit: lambda unit=unit: with_type(pl.Datetime(unit)) for unit in ("ms", "us", "ns")},
    "utc": lambda: people(pl.Series(MOMENTS).dt.replace_time_zone("UTC")),
    "a time zone": lambda: people(pl.Series(MOMENTS).dt.replace_time_zone("America/Sao_Paulo", non_existent="null")),
    "pandas": lambda: people().to_pandas(),
    "pandas days": lambda: people(pl.Series(MOMENTS).dt.truncate("1d")).to_pandas(),
    "pandas ns": lambda: with_type(pl.Datetime("ns")).to_pandas(),
    "pandas zone": lambda: people(pl.Series(MOMENTS).dt.replace_time_zone("UTC")).to_pandas(),
    "pyarrow": lambda: people().to_arrow(),
}


def checked(table: pl.DataFrame) -> None:
    """Every label holds the true date, and no group is small."""
    assert table.height == len(MOMENTS)
    assert table.group_by("seen").len()["len"].min() >= K
    for label, truth in table.rows():
        decade = label.endswith("s") and truth[3:6] == label[:3]
        assert label == "*" or decade or label[:4] == truth[3:], label
    assert table["seen"].n_unique() > 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algorithm", ["mondrian", "flash"])
def test_frames_of_moments(kind: str, algorithm: str):
    release = job(algorithm).anonymize(KINDS[kind](), seed=1)
    table = release.table
    checked(table if isinstance(table, pl.DataFrame) else pl.DataFrame(table))


@pytest.mark.parametrize("kind", [k for k in KINDS if not k.startswith("p")])
@pytest.mark.parametrize("engine", ["memory", "streaming"])
@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_files_of_moments(kind: str, engine: str, format_: str, tmp_path: Path):
    file = tmp_path / f"people.{format_}"
    given = KINDS[kind]()
    given.write_parquet(file) if format_ == "parquet" else given.write_csv(file)
    tk.run_job(job("mondrian", engine=engine), file, tmp_path / "out", seed=1)
    written = tmp_path / "out" / "public" / file.name
    checked(pl.read_parquet(written) if format_ == "parquet" else pl.read_csv(written, infer_schema=False))


def job(algorithm: str, **settings: Any) -> tk.Job:
    return tk.Job(
        quasi={"seen": tk.dates("month", "year", "decade")},
        sensitive=["truth"],
        criteria=[tk.KAnonymity(K)],
        algorithm=algorithm,
        missing_rule="own-value",
        **settings,
    )


def test_periods_of_pandas_are_refused_by_name():
    table = people().to_pandas()
    table["seen"] = pd.to_datetime(table["seen"]).dt.to_period("M")
    with pytest.raises(DataError, match="periods") as refused:
        job("mondrian").anonymize(table)
    assert refused.value.code == "E408"

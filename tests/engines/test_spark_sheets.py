"""Releases of several tables on Spark keep the same promises as elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from spark_setup import require_spark

import tarnkappe as tk
from tarnkappe.audit import audit
from tarnkappe.datasets import census
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.job.places import OutputSettings

require_spark()

pytestmark = pytest.mark.usefixtures("spark")


def read(folder: Path) -> pl.DataFrame:
    parts = sorted(folder.iterdir())
    reader = pl.read_parquet if parts[0].suffix == ".parquet" else pl.read_csv
    return pl.concat([reader(part) for part in parts])


@pytest.mark.parametrize("output", ["csv", pytest.param("parquet", marks=pytest.mark.full)])
def test_buckets_on_spark(tmp_path: Path, output: str):
    people = census(2000, seed=4).select("age", "sex", "occupation").cast(pl.String).cast({"age": pl.Int64})
    people.write_parquet(tmp_path / "people.parquet")
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["occupation"],
        criteria=[tk.LDiversity("occupation", 5)],
        algorithm="anatomize",
        engine=EngineSettings("spark", "local[2]"),
        output=OutputSettings(format=output),
    )
    release = tk.run_job(job, tmp_path / "people.parquet", tmp_path / "out", seed=1)
    assert release.verdicts[0].reached >= 5
    here, there = (read(tmp_path / "out" / "public" / f"people{sheet}.{output}") for sheet in ("", "-secrets"))
    assert Counter(here.select("age", "sex").rows()) == Counter(people.select("age", "sex").rows())
    assert there["records"].sum() == people.height
    assert there.group_by("group").agg(pl.col("occupation").n_unique())["occupation"].min() >= 5
    sizes = here.group_by("group").len().sort("group")["len"].to_list()
    assert sizes == there.group_by("group").agg(pl.col("records").sum()).sort("group")["records"].to_list()
    assert audit(str(tmp_path / "out")).ok

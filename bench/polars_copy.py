"""What Polars needs to read a table, group it by the quasi-identifiers and write it again."""

from __future__ import annotations

import sys

import polars as pl
from measure import SCRATCH, report, timed
from tables import CENSUS_QUASI, SENSITIVE, census_file

rows = int(sys.argv[1])


def work() -> int:
    frame = pl.read_parquet(census_file(rows), columns=[*CENSUS_QUASI, SENSITIVE])
    groups = frame.group_by(CENSUS_QUASI).len().height
    frame.write_parquet(SCRATCH / "copy.parquet")
    return groups


census_file(rows)
groups, seconds, cpu = timed(work)
report(seconds=seconds, cpu=cpu, groups=groups)

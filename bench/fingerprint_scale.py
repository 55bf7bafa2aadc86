"""Traceable copies at any size: planning from the tally, and copies as one rewrite each, beside a plain copy.

    python bench/fingerprint_scale.py [--rows 10000000] [--recipients 1000] [--copies 3] [--engine streaming]
    python bench/fingerprint_scale.py --adult [--copies 100]

Makes the census CSV if it is absent. Prints one JSON line, everything in wall and processor seconds: the plan, every
copy, a Polars copy of the same columns, the ratio, and tracing a tenth of a copy. Wanted: plan under 60 s, ratio at
most 2. With ``--adult`` (TARNKAPPE_DATA): all copies under 30 s, tracing a whole copy of 30 162 rows under 2 s.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from census_scale import census_csv
from measure import SCRATCH

import tarnkappe as tk
from tarnkappe.datasets import census_taxonomies
from tarnkappe.fingerprint import Key, Register, issue, plan_copies, trace

QUASI = ("age", "sex", "education", "marital-status", "workclass", "native-country")
SENSITIVE = "occupation"

KEY = Key(bytes(range(32)))

#: Wall and processor seconds, by what was done.
Spent = dict[str, tuple[float, float]]


@contextmanager
def timed(spent: Spent, name: str) -> Iterator[None]:
    """Note what a step takes."""
    wall, cpu = time.perf_counter(), _cpu()
    yield
    spent[name] = round(time.perf_counter() - wall, 3), round(_cpu() - cpu, 3)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def adult(copies: int, folder: Path) -> dict[str, object]:
    """Adult with eight quasi-identifiers, k = 3: all copies, and a leak of all rows."""
    from fingerprint_acceptance import Acceptance

    acceptance, spent = Acceptance(quick=True), Spent()
    source = str(acceptance.folder / "adult.csv")
    with timed(spent, "plan"):
        planned = plan_copies(acceptance.job(), source, KEY, recipients=copies)
    register = Register.open(folder / "register.jsonl")
    with timed(spent, "all copies"):
        for i in range(copies):
            _, register = issue(planned, KEY, f"r{i}", folder / f"r{i}", register=register)
    with timed(spent, "trace"):
        found = trace(str(folder / "r7" / "public" / "adult.csv"), planned.scheme, KEY, register)
    assert found.accused == ("r7",)
    return {"copies": copies, "rows of the leak": found.evidence.n_rows, **spent}


def census(rows: int, recipients: int, copies: int, engine: str, folder: Path) -> dict[str, object]:
    """The generated census: a plan, some copies, a plain copy, and a leak of a tenth of one."""
    path, trees, spent = census_csv(rows), census_taxonomies(), Spent()
    quasi = {name: trees[name] for name in QUASI if name != "age"}
    job = tk.Job(
        quasi={"age": tk.intervals(5, 10, 20, 40), **quasi},
        sensitive=[SENSITIVE],
        drop="rest",
        criteria=[tk.KAnonymity(10)],
        max_suppressed=0.02,
        engine=engine,
    )
    with timed(spent, "plan"):
        planned = plan_copies(job, str(path), KEY, recipients=recipients)
    register = Register.open(folder / "register.jsonl")
    for i in range(copies):
        with timed(spent, f"copy {i}"):
            _, register = issue(planned, KEY, f"r{i}", folder / f"r{i}", register=register)
    with timed(spent, "plain copy"):
        pl.scan_csv(path).select(*QUASI, SENSITIVE).sink_csv(folder / "plain.csv")
    leak = next((folder / "r0" / "public").glob("census-*.csv"))
    pl.read_csv(leak, infer_schema=False).sample(fraction=0.1, seed=1).write_csv(folder / "leak.csv")
    with timed(spent, "trace"):
        found = trace(str(folder / "leak.csv"), planned.scheme, KEY, register)
    best = [min(spent[f"copy {i}"][kind] for i in range(copies)) / spent["plain copy"][kind] for kind in (0, 1)]
    return {
        "rows": rows,
        "cells": planned.decided.plan.tally.n_cells,
        "positions": planned.scheme.layout.n_positions,
        **spent,
        "ratio": [round(x, 2) for x in best],
        "accused": found.accused,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", action="store_true")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--recipients", type=int, default=1000)
    parser.add_argument("--copies", type=int)
    parser.add_argument("--engine", default="streaming")
    given = parser.parse_args()
    folder = SCRATCH / "copies"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if given.adult:
        told = adult(given.copies or 100, folder)
    else:
        told = census(given.rows, given.recipients, given.copies or 3, given.engine, folder)
    print(json.dumps(told))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

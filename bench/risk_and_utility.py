"""Seconds of `tarnkappe risk` and `tarnkappe utility` on Adult and on a census, warm.

    python bench/risk_and_utility.py [--rows 1000000]

Prints one JSON line per measurement: what, records, wall and CPU seconds, the second of two runs in one process.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
from measure import DATA

import tarnkappe as tk

NINE = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
NINE.append("salary-class")


def measured(what: str, records: int, task: Callable[[], object]) -> None:
    """Run a task twice and print what the second took."""
    task()
    wall, cpu = time.perf_counter(), time.process_time()
    task()
    seconds = {"wall": round(time.perf_counter() - wall, 3), "cpu": round(time.process_time() - cpu, 3)}
    print(json.dumps({"what": what, "records": records, **seconds}), flush=True)


def adult(folder: Path) -> None:
    """Nine columns of Adult, all subsets of them, and a release beside its original."""
    table = pl.read_csv(folder / "adult.csv", separator=";", infer_schema_length=0).select(NINE)
    n = table.height
    measured("attackers, models", n, lambda: tk.risk(table, NINE, population=300_000))
    measured("all 511 subsets", n, lambda: tk.risk(table, NINE, subsets=True))
    measured("special uniques", n, lambda: tk.risk(table, NINE, special=True))
    quasi = {name: tk.from_file(str(folder / f"adult_hierarchy_{name}.csv")) for name in NINE[:-1]}
    job = tk.Job(quasi=quasi, sensitive=["salary-class"], criteria=[tk.KAnonymity(10)], seed=1)
    release = job.anonymize(table, seed=1)
    measured("utility", n, lambda: tk.utility(table, release))
    measured("utility with ULoss, PLoss", n, lambda: tk.utility(table, release, column="salary-class"))
    measured(
        "utility with a model", n, lambda: tk.utility(table, release, target="salary-class", learn=True, queries=10)
    )


def census(rows: int) -> None:
    """A census of any size."""
    from tarnkappe.datasets import census as people

    table = people(rows, seed=1)
    quasi = [name for name in ("age", "sex", "native-country", "education") if name in table.columns]
    measured("attackers, models", rows, lambda: tk.risk(table, quasi, population=100 * rows))
    measured("all subsets, special uniques", rows, lambda: tk.risk(table, quasi, subsets=True, special=True))


def main() -> None:
    """Measure what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    folder = DATA / "adult"
    if folder.is_dir():
        adult(folder)
    census(given.rows)


if __name__ == "__main__":
    main()

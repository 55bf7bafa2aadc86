"""Traceable copies at any size: planning from the tally, and copies as one rewrite each, beside a plain copy.

    python bench/fingerprint_scale.py --rows 10000000 --recipients 1000 --copies 3 [--engine streaming]

Makes the census CSV if it is absent. Prints one JSON line: seconds of the plan, of each copy, a Polars copy of the
same columns, the ratio, and of tracing a tenth of a copy. Wanted: plan under 60 s, ratio at most 2.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time

import polars as pl
from census_scale import census_csv
from measure import SCRATCH

import tarnkappe as tk
from tarnkappe.datasets import census_taxonomies
from tarnkappe.fingerprint import Key, Register, issue, plan_copies, trace

QUASI = ("age", "sex", "education", "marital-status", "workclass", "native-country")
SENSITIVE = "occupation"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--recipients", type=int, default=1000)
    parser.add_argument("--copies", type=int, default=3)
    parser.add_argument("--engine", default="streaming")
    given = parser.parse_args()
    path = census_csv(given.rows)
    trees = census_taxonomies()
    quasi = {name: trees[name] for name in QUASI if name != "age"}
    job = tk.Job(
        quasi={"age": tk.intervals(5, 10, 20, 40), **quasi},
        sensitive=[SENSITIVE],
        drop="rest",
        criteria=[tk.KAnonymity(10)],
        max_suppressed=0.02,
        engine=given.engine,
    )
    key, folder = Key(bytes(range(32))), SCRATCH / "copies"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.perf_counter()
    planned = plan_copies(job, str(path), key, recipients=given.recipients)
    told: dict[str, object] = {"rows": given.rows, "plan": time.perf_counter() - began}
    register = Register.open(folder / "register.jsonl")
    seconds = []
    for i in range(given.copies):
        began = time.perf_counter()
        _, register = issue(planned, key, f"r{i}", folder / f"r{i}", register=register)
        seconds.append(time.perf_counter() - began)
    began = time.perf_counter()
    pl.scan_csv(path).select(*QUASI, SENSITIVE).sink_csv(folder / "plain.csv")
    plain = time.perf_counter() - began
    leak = next((folder / "r0" / "public").glob("census-*.csv"))
    tenth = folder / "leak.csv"
    pl.read_csv(leak, infer_schema=False).sample(fraction=0.1, seed=1).write_csv(tenth)
    began = time.perf_counter()
    found = trace(str(tenth), planned.scheme, key, register)
    told |= {
        "positions": planned.scheme.layout.n_positions,
        "copies": seconds,
        "plain copy": plain,
        "ratio": min(seconds) / plain,
        "trace": time.perf_counter() - began,
        "accused": found.accused,
    }
    print(json.dumps(told))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

"""Numbered groups at scale: a verified release of the census by each bucketisation; prints one JSON line per run.

    python bench/numbered_scale.py [--rows 250000 500000 1000000] [--algorithms anatomize angel slicing k-e-permutation]

Eight quasi-identifiers and the occupation, of which no value may make up more than a tenth of a group; for
(k, e)-permutation hours per week instead, at least 5 different ones that lie 10 apart. Each run is a process of its
own. A cliff would show as a ratio of seconds far above that of the rows.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from measure import SCRATCH

import tarnkappe as tk
from tarnkappe.datasets import census_taxonomies, write_census

TREES = ("workclass", "education", "marital-status", "race", "sex", "native-country")
ALGORITHMS = ("anatomize", "angel", "slicing", "k-e-permutation")


def census_parquet(rows: int) -> Path:
    """The census as a Parquet file, made if absent."""
    path = SCRATCH / f"census-{rows}.parquet"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        write_census(path, rows)
    return path


def job_of(algorithm: str) -> tk.Job:
    """The job of an algorithm."""
    trees = census_taxonomies()
    quasi = {"age": tk.numeric(), **{name: trees[name] for name in TREES}}
    if algorithm == "k-e-permutation":
        secret, criterion = "hours-per-week", tk.KEAnonymity("hours-per-week", k=5, e=10)
        kind = {"sensitive": {secret: tk.numeric()}}
        quasi["capital-gain"] = tk.numeric()
    else:
        secret, criterion = "occupation", tk.FrequencyLDiversity("occupation", 10)
        kind = {"sensitive": [secret]}
        quasi["hours-per-week"] = tk.numeric()
    return tk.Job(quasi=quasi, drop="rest", criteria=[criterion], algorithm=algorithm, seed=1, **kind)


def one(algorithm: str, rows: int) -> dict[str, object]:
    """One run in this process."""
    path = census_parquet(rows)
    begun, spent = time.perf_counter(), time.process_time()
    done = tk.run_job(job_of(algorithm), path, SCRATCH / "numbered", overwrite=True)
    return {
        "algorithm": algorithm,
        "rows": rows,
        "seconds": round(time.perf_counter() - begun, 1),
        "cpu_seconds": round(time.process_time() - spent, 1),
        "phases": done.private_manifest["seconds"],
        "groups": done.n_groups,
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "verified": all(v.ok for v in done.verdicts),
    }


def main() -> None:
    """Run each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[250_000, 500_000, 1_000_000])
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.algorithms[0], given.rows[0])))
        return
    for algorithm in given.algorithms:
        for rows in given.rows:
            subprocess.run(
                [sys.executable, __file__, "--one", "--algorithms", algorithm, "--rows", str(rows)], check=True
            )


if __name__ == "__main__":
    main()

"""Loss of Tarn on the benchmark tables of microaggregation, against the oracle; prints one JSON line for each pair.

    python bench/microaggregation_oracle.py --seconds 60 [--data census] [--k 3] [--threads 2] [--seed 0] [--keep]

`target` is the best loss that is known, `bound` one that no partition can be below (where one has been proven), and
`ratio` the loss in terms of the target. As many kicks are made as take about so many seconds on this machine. The loss
is computed from the groups and the table with numpy alone. With `--keep`, ``microaggregation/slides.py report`` shows
the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
import polars as pl

from tarnkappe.algorithms.microaggregation.blocks import BlockMDAV
from tarnkappe.algorithms.microaggregation.refinement import halved, refined
from tarnkappe.arrays import Codes, Floats

SHARED = Path(os.environ.get("TARNKAPPE_DATA", Path(__file__).parents[2] / "shared"))
#: Kicks of a trial that tells how long one takes.
_TRIED = 2_000

ORACLE = json.loads((SHARED / "oracles/microaggregation.json").read_text(encoding="utf-8"))


def table(name: str) -> Floats:
    frame = pl.read_csv(SHARED / f"data/microaggregation/{name}.csv")
    values = (frame.select(ORACLE["eia_columns"]) if name == "eia" else frame).to_numpy().astype(np.float64)
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def known(name: str, k: int, method: str) -> float | None:
    for r in ORACLE["results"]:
        if (r["dataset"], r["k"]) == (name, k) and r["algorithm"].startswith(method):
            return float(r["IL"])
    return None


def loss(points: Floats, group: Codes) -> float:
    error = sum(((own - own.mean(axis=0)) ** 2).sum() for own in (points[group == g] for g in np.unique(group)))
    return float(100 * error / ((points - points.mean(axis=0)) ** 2).sum())


def measured(name: str, k: int, seconds: float, threads: int, seed: int) -> dict[str, object]:
    points, rng = table(name), np.random.default_rng(seed)
    starts = [BlockMDAV().partition(points, k, rng), halved(points, np.zeros(len(points), np.int32), k)]
    begin = time.monotonic()
    refined(points, starts, k, np.random.default_rng(seed), kicks=_TRIED, n_chains=threads)
    kicks = round(seconds * _TRIED / (time.monotonic() - begin))
    begin, used = time.monotonic(), time.process_time()
    group = refined(points, starts, k, rng, kicks=kicks, n_chains=threads)
    took, cpu = time.monotonic() - begin, time.process_time() - used
    reached, target, size = loss(points, group), known(name, k, "ILS"), np.bincount(group)
    return {
        "data": name,
        "k": k,
        "loss": round(reached, 5),
        "bound": known(name, k, "LOWER BOUND"),
        "target": target,
        "ratio": round(reached / target, 5) if target else None,
        "smallest": int(size.min()),
        "largest": int(size.max()),
        "descent": known(name, k, "MDAV+LS"),
        "kicks": kicks,
        "seconds": round(took, 1),
        "cpu": round(cpu, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--data", choices=("census", "tarragona", "eia"))
    parser.add_argument("--k", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="keep the figures for the report")
    given = parser.parse_args()
    if given.keep and (given.data or given.k):
        parser.error("--keep needs all tables and sizes")
    warm = np.random.default_rng(0).normal(size=(50, 2))  # machine code is made before the clock starts
    refined(warm, [np.zeros(50, np.int32)], 3, np.random.default_rng(0), kicks=2, n_chains=1)
    rows = []
    for name in (given.data,) if given.data else ("census", "tarragona", "eia"):
        for k in (given.k,) if given.k else (3, 4, 5, 10):
            rows.append(measured(name, k, given.seconds, given.threads, given.seed))
            print(json.dumps(rows[-1]), flush=True)
    if given.keep:
        path = Path(__file__).parent / "microaggregation" / "figures" / f"oracle-{given.seconds:g}.json"
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""k^m-anonymity of a million baskets: read, decided, written, read back and proved; prints one JSON line.

    python bench/baskets_scale.py [--rows 1000000] [--items 10] [--k 5] [--m 2] [--algorithm apriori|disassociation]

Baskets hold so many different items of 500, drawn as in a shop: the i-th item is bought about 1/i times as often as the
first. Items are coarsened along a tree of two levels.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
import polars as pl
from measure import SCRATCH

import tarnkappe as tk

N_ITEMS, FAMILY = 500, 10


def baskets(rows: int, items: int) -> pl.DataFrame:
    """A basket per row; the items of the largest weight times luck are in it, which draws without putting back."""
    rng = np.random.default_rng(1)
    weight = np.log(1 / np.arange(1, N_ITEMS + 1))
    names = pl.Series([f"item {i:03}" for i in range(N_ITEMS)])
    parts = []
    for first in range(0, rows, 1 << 16):
        n = min(1 << 16, rows - first)
        drawn = np.argpartition(-(weight + rng.gumbel(size=(n, N_ITEMS))), items, axis=1)[:, :items]
        columns = [names.gather(drawn[:, j]).alias(str(j)) for j in range(items)]
        parts.append(pl.DataFrame(columns).select(pl.concat_str(pl.all(), separator=";").alias("basket")))
    return pl.concat(parts)


def main() -> None:
    """Measure, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=10)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--m", type=int, default=2)
    parser.add_argument("--algorithm", default="apriori")
    given = parser.parse_args()
    path = SCRATCH / f"baskets-{given.rows}-{given.items}.csv"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        baskets(given.rows, given.items).write_csv(path)
    families = {
        f"family {f:02}": [f"item {i:03}" for i in range(f * FAMILY, (f + 1) * FAMILY)]
        for f in range(N_ITEMS // FAMILY)
    }
    begun, spent = time.perf_counter(), time.process_time()
    release = tk.anonymize_items(
        path,
        "basket",
        k=given.k,
        m=given.m,
        taxonomy=tk.tree(families) if given.algorithm == "apriori" else None,
        algorithm=given.algorithm,
        folder=SCRATCH / "baskets",
        overwrite=True,
        seed=1,
    )
    print(
        json.dumps(
            {
                **{name: getattr(given, name) for name in ("rows", "items", "k", "m", "algorithm")},
                "seconds": round(time.perf_counter() - begun, 1),
                "cpu_seconds": round(time.process_time() - spent, 1),
                "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
                "loss": release.loss,
                "verified": all(v.ok for v in release.verdicts),
            }
        )
    )


if __name__ == "__main__":
    main()

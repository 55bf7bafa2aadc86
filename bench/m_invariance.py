"""m-invariance over ten releases of a million records, of which a tenth leaves and a tenth joins between releases.

    python bench/m_invariance.py                 ten releases of 1 M records
    python bench/m_invariance.py --rows 20000    the same, small

Each release is written, read back, and held to all earlier ones; the seconds are those of the whole release.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import tarnkappe as tk
from tarnkappe.history.series import republish_people


def population(n: int, values: int, seed: int) -> pl.DataFrame:
    """People with four quasi-identifiers and a secret whose values are not equally common."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(8, 8 + values)
    return pl.DataFrame(
        {
            "person": np.arange(n),
            "age": rng.integers(16, 95, n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice([f"r{i:02}" for i in range(40)], n),
            "hours": rng.integers(1, 80, n),
            "illness": rng.choice([f"d{i:02}" for i in range(values)], n, p=share / share.sum()),
        }
    )


def main() -> None:
    """Print one line per release, and the whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--m", type=int, default=5)
    parser.add_argument("--values", type=int, default=40)
    parser.add_argument("--format", choices=("csv", "parquet"), default="parquet")
    given = parser.parse_args()
    change = given.rows // 10
    everybody = population(given.rows + change * given.releases, given.values, 1)
    rng = np.random.default_rng(2)
    quasi = {"age": tk.numeric(), "sex": tk.suppress(), "region": tk.suppress(), "hours": tk.numeric()}
    here = np.arange(given.rows)
    whole = 0.0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for i in range(given.releases):
            file = place / f"data.{given.format}"
            data = everybody[here]
            data.write_csv(file) if given.format == "csv" else data.write_parquet(file)
            began = time.perf_counter()
            release = republish_people(
                file,
                m=given.m,
                subject="person",
                ledger=place / "ledger.jsonl",
                folder=place / f"release{i}",
                quasi=quasi,
                sensitive=["illness"],
                identifiers=["person"],
                seed=i,
            )
            took = time.perf_counter() - began
            whole += took
            told = release.public_manifest
            rows = told["tables"][0]["rows"]
            print(f"release {i + 1:2}: {took:6.2f} s · {rows} rows · {told['counterfeits']} counterfeits", flush=True)
            leave = rng.choice(len(here), change, replace=False)
            fresh = np.arange(given.rows + i * change, given.rows + (i + 1) * change)
            here = np.sort(np.concatenate([np.delete(here, leave), fresh]))
    print(f"{given.releases} releases of {given.rows} records, m = {given.m}: {whole:.1f} s")


if __name__ == "__main__":
    main()

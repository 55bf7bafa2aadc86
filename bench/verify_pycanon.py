"""`verify` beside pyCANON: the same levels on random tables, and the time both take on Adult as Mondrian releases it.

    .venv-peers/bin/python bench/verify_pycanon.py

Runs in the environment of the peers (`make bench` makes it), which has both. Compared are the figures of pyCANON that
its definitions make comparable: k, distinct l, t with the equal distance, alpha and basic beta. Prints one JSON line;
exit code 1 if a level differs.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pycanon.anonymity as peer
from measure import DATA
from tables import ADULT_QUASI

import tarnkappe as tk
from tarnkappe.criteria.alpha_k_anonymity import AlphaKAnonymity
from tarnkappe.criteria.beta_likeness import BetaLikeness
from tarnkappe.datasets import load_adult

TABLES = 200


def ours(table: pl.DataFrame, quasi: list[str], secret: str) -> dict[str, float]:
    """What `verify` finds, in one call."""
    asked = {
        "k": tk.KAnonymity(1),
        "l": tk.LDiversity(secret, 1),
        "t": tk.TCloseness(secret, 1.0),
        "alpha": AlphaKAnonymity(secret, alpha=1.0, k=1),
        "beta": BetaLikeness(secret, beta=1e9, form="basic"),
    }
    found = tk.verify(table, list(asked.values()), quasi, [secret])
    return {name: v.reached for name, v in zip(asked, found.verdicts, strict=True)}


def theirs(table: Any, quasi: list[str], secret: str) -> dict[str, float]:
    """What pyCANON finds, in a call for each."""
    return {
        "k": peer.k_anonymity(table, quasi),
        "l": peer.l_diversity(table, quasi, [secret]),
        "t": peer.t_closeness(table, quasi, [secret]),
        "alpha": peer.alpha_k_anonymity(table, quasi, [secret])[0],
        "beta": peer.basic_beta_likeness(table, quasi, [secret]),
    }


def random_table(rng: np.random.Generator) -> pl.DataFrame:
    """Some records with two quasi-identifiers and a skewed secret."""
    n, values = int(rng.integers(5, 300)), int(rng.integers(2, 7))
    weights = rng.random(values) ** 2 + 0.01
    return pl.DataFrame(
        {
            "age": rng.choice(["20-29", "30-39", "40-49", "*"], n),
            "town": rng.choice(["a", "b", "c"], n),
            "illness": rng.choice([f"i{j}" for j in range(values)], n, p=weights / weights.sum()),
        }
    )


def best(act: Callable[[], Any], times: int) -> float:
    """The shortest of some runs, in seconds."""
    out = math.inf
    for _ in range(times):
        start = time.perf_counter()
        act()
        out = min(out, time.perf_counter() - start)
    return out


def main() -> int:
    """Compare, measure, print."""
    rng = np.random.default_rng(1)
    differ: dict[str, int] = {}
    for _ in range(TABLES):
        table = random_table(rng)
        here, there = ours(table, ["age", "town"], "illness"), theirs(table.to_pandas(), ["age", "town"], "illness")
        for name, level in here.items():
            if not math.isclose(level, float(there[name]), rel_tol=1e-9, abs_tol=1e-12):
                differ[name] = differ.get(name, 0) + 1
    frame, taxonomies = load_adult(DATA / "adult")
    quasi = list(ADULT_QUASI)
    job = tk.Job(
        quasi={q: taxonomies.get(q, tk.numeric()) for q in quasi},
        sensitive=["occupation"],
        drop="rest",
        criteria=[tk.KAnonymity(5)],
        seed=1,
    )
    released = job.anonymize(frame).table.select([*quasi, "occupation"]).select(pl.all().cast(pl.String))
    other = released.to_pandas()
    fast = best(lambda: ours(released, quasi, "occupation"), 5)
    slow = best(lambda: theirs(other, quasi, "occupation"), 1)
    groups = released.select(pl.struct(quasi).n_unique()).item()
    print(
        json.dumps(
            {
                "tables": TABLES,
                "levels_that_differ": differ,
                "adult_groups": groups,
                "verify_seconds": round(fast, 4),
                "pycanon_seconds": round(slow, 3),
                "ratio": round(slow / fast),
            }
        )
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

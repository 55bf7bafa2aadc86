"""A small table with hierarchies that carries marks."""

from __future__ import annotations

import numpy as np
import polars as pl

import tarnkappe as tk
from tarnkappe.fingerprint.keys import Key

KEY = Key(bytes(range(32)))
NAMES = ("age", "area", "job", "origin", "school")


def people(n: int = 8000, seed: int = 1) -> pl.DataFrame:
    """Five independent columns of twelve values each, and an illness."""
    rng = np.random.default_rng(seed)
    columns = {name: [f"{name}{x:02d}" for x in rng.integers(0, 12, n)] for name in NAMES}
    return pl.DataFrame({**columns, "illness": rng.choice(["flu", "cold", "none", "gout"], n)})


def tree(name: str) -> tk.Taxonomy:
    paths = [(f"{name}{i:02d}", f"{name}:{i // 3}", f"half {i // 6} of {name}", "*") for i in range(12)]
    return tk.Taxonomy.from_paths(paths)


def job(**settings) -> tk.Job:
    given = {
        "quasi": {name: tree(name) for name in NAMES},
        "sensitive": ["illness"],
        "criteria": [tk.KAnonymity(4)],
        "max_suppressed": 0.1,
    }
    return tk.Job(**{**given, **settings})

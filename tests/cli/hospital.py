"""A small hospital file and a job for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

JOB = """\
title: Hospital
data: {path: people.csv}
columns:
  name: {role: identifier}
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  zip: {role: quasi, taxonomy: {kind: prefix, keep: [4, 3, 2, 1]}}
  illness: {role: sensitive}
criteria:
  - k-anonymity: {k: 5}
  - l-diversity: {column: illness, l: 2}
output: {folder: release}
"""

ROWS = 400


def people() -> pl.DataFrame:
    """Invented patients; names and illnesses begin with a word that must never be printed."""
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "name": [f"canary-{i}" for i in range(ROWS)],
            "age": rng.integers(18, 90, ROWS),
            "sex": rng.choice(["female", "male"], ROWS),
            "zip": [f"2{n:04d}" for n in rng.integers(0, 3000, ROWS)],
            "illness": rng.choice(["canary-flu", "canary-gout", "canary-cough", "canary-burn"], ROWS),
        }
    )


def files(folder: Path) -> set[str]:
    """All files below a folder."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}

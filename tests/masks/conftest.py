"""Tables that masks are tried on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

KEY = "a5" * 32


def patients(n: int = 2000, seed: int = 1) -> pl.DataFrame:
    """People with numbers that depend on each other, names, dates, several records each, and gaps."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    income = np.round(np.exp(7 + age / 60 + rng.normal(0, 0.5, n)), 2)
    day = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    return pl.DataFrame(
        {
            "person": [f"P-{i:06d}" for i in rng.integers(0, n // 2, n)],
            "age": age,
            "income": [None if gap else x for x, gap in zip(income.tolist(), rng.random(n) < 0.03, strict=True)],
            "tax": np.round(income * 0.3 + rng.normal(0, 100, n), 2),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "illness": rng.choice(["flu", "cold", "angina", "HIV"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "visit": day,
            "discharge": day + rng.integers(1, 30, n),
        }
    )


@pytest.fixture
def key(tmp_path: Path) -> str:
    """A file with a key."""
    file = tmp_path / "secret.key"
    file.write_text(KEY)
    return str(file)

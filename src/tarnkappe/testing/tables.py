"""Small random tables as data frames, and a job about them, for laws that go through the whole package."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.criteria.base import Criterion
from tarnkappe.job import Job, numeric
from tarnkappe.taxonomy import tree

#: The quasi-identifiers and the sensitive columns of such tables.
QUASI, SENSITIVE = ("age", "town"), ("disease", "income")

_TOWNS = {"north": ["Kiel", "Husum"], "south": ["Ulm", "Passau", "Lindau am Bodensee"]}
_DISEASES = ["flu", "cold", "gout", "angina", "asthma", "a, b", 'a "c"']


def random_table(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """People with an age, a town, a disease and an income; ages and diseases may be missing."""
    towns = [town for part in _TOWNS.values() for town in part]
    age = pl.Series(rng.integers(20, 60, n))
    return pl.DataFrame(
        {
            "age": age.zip_with(pl.Series(rng.random(n) < 0.9), pl.Series([None] * n, dtype=pl.Int64)),
            "town": rng.choice(towns, n),
            "disease": rng.choice(np.array([*_DISEASES, None], dtype=object), n).tolist(),
            "income": rng.integers(1, 30, n) * 100,
        },
        schema_overrides={"disease": pl.String},
    )


def job_about(criteria: list[Criterion], algorithm: Algorithm | None = None, **settings: Any) -> Job:
    """A job about such a table."""
    return Job(
        quasi={"age": numeric(), "town": tree(_TOWNS)},
        sensitive={"disease": None, "income": numeric()},
        criteria=criteria,
        algorithm=algorithm,
        missing_rule="own-value",
        because=dict.fromkeys((*QUASI, *SENSITIVE), "drawn by lot, about nobody"),
        **settings,
    )

"""Where one group of all records would do, no job ends with "no release"."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.last_resort import LAST_RESORT
from tarnkappe.algorithms.microaggregation.secure_k_ward import SecureKWard
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.schema import Column
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class GivesUp(Algorithm):
    """Finds nothing, ever."""

    name: ClassVar = "gives-up"
    title: ClassVar = "Gives up"
    scheme: ClassVar = "multidimensional"
    summary: ClassVar = "Finds nothing."

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Nothing."""
        raise goal.infeasible(tally)


@dataclass(frozen=True)
class GivesUpCentres(SecureKWard):
    """Finds nothing, ever, and would publish centres."""

    name: ClassVar = "gives-up-centres"

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Nothing."""
        raise goal.infeasible(tally)


PEOPLE = pl.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"], "illness": ["a", "b", "c", "d"]})


def job(algorithm: Algorithm, k: int = 4, **settings) -> tk.Job:
    settings = {"quasi": {"age": tk.numeric(), "sex": tk.suppress()}, **settings}
    return tk.Job(sensitive=["illness"], criteria=[tk.KAnonymity(k)], algorithm=algorithm, **settings)


@pytest.mark.parametrize("algorithm", [GivesUp(), GivesUpCentres()], ids=str)
def test_one_group_is_better_than_no_release(algorithm: Algorithm, tmp_path: Path):
    release = tk.run_job(job(algorithm), PEOPLE, tmp_path / "out", seed=1)
    written = pl.read_parquet(tmp_path / "out" / "public" / "release.parquet")
    assert written.select("age", "sex").unique().height == 1
    assert sorted(written["illness"]) == ["a", "b", "c", "d"]
    assert "one group" in release.private_manifest["search"][LAST_RESORT]


def test_what_one_group_does_not_satisfy_is_still_infeasible():
    with pytest.raises(InfeasibleError) as error:
        job(GivesUp(), k=5).anonymize(PEOPLE)
    assert error.value.code == "E301"


def test_a_highest_level_is_kept():
    columns = [Column("sex", "quasi", taxonomy=tk.suppress(), max_level=0), Column("age", "drop")]
    with pytest.raises(InfeasibleError):
        job(GivesUp(), quasi={}, columns=columns).anonymize(PEOPLE)

"""What is said to be the mean of a group is its mean: summed up again before a release appears."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms.microaggregation import centres as finding
from tarnkappe.errors import VerificationError

PEOPLE = pl.DataFrame(
    {
        "age": [20, 21, 23, 40, 44, 47, 60, 61, 69, None],
        "pay": [1000.5, 1100.25, 900.0, 2000.0, 2100.0, 2500.75, 3000.0, 3100.0, 2900.0, 3000.0],
    }
)


def job(**settings: object) -> tk.Job:
    quasi = {"age": tk.numeric(), "pay": tk.numeric()}
    return tk.Job(quasi=quasi, criteria=[tk.KAnonymity(3)], missing_rule="own-value", **settings)


@pytest.mark.parametrize("settings", [{}, {"decimals": None}, {"decimals": 0}, {"whole": True}], ids=str)
def test_rounded_means_are_means(settings: dict[str, object], tmp_path: Path):
    release = tk.run_job(job(algorithm=tk.MDAV(**settings)), PEOPLE, tmp_path / "release", seed=1)
    assert all(v.ok for v in release.verdicts)


@pytest.mark.parametrize("off", [0.02, -0.4])
def test_another_number_than_the_mean_is_no_release(off: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    right = finding.centres_of

    def wrong(*given: object, **settings: object) -> object:
        form = right(*given, **settings)
        values = form.values.copy()
        values[0, 0] = np.round(values[0, 0] + off, 2)  # within what the group covers
        return replace(form, values=values)

    monkeypatch.setattr("tarnkappe.algorithms.microaggregation.base.centres_of", wrong)
    with pytest.raises(VerificationError) as caught:
        tk.run_job(job(algorithm=tk.MDAV()), PEOPLE, tmp_path / "release", seed=1)
    assert caught.value.code == "E501"
    assert "labels of 'age' are not true of the values they stand for, in 1 group" in str(caught.value)
    assert not (tmp_path / "release").exists()

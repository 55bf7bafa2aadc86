"""A release whose promise lies in how it was made says nothing else about the input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.errors import JobError


def people(n: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"sex": rng.choice(["f", "m"], n), "flu": rng.choice(["yes", "no"], n), "note": ["x"] * n})


def job(**columns: object) -> tk.Job:
    settings: dict = {"drop": ["note"], **columns}
    return tk.Job(
        quasi={"sex": tk.suppress()},
        sensitive=["flu"],
        criteria=[tk.DifferentialPrivacy(1.0, 1e-6)],
        algorithm=tk.Sdgs(share=0.0),
        max_suppressed=1.0,
        **settings,
    )


def test_the_public_folder_has_no_figures_of_the_input(tmp_path: Path):
    release = tk.run_job(job(), people(), tmp_path / "out", seed=5)
    public = tmp_path / "out" / "public"
    manifest = json.loads((public / "manifest.json").read_text())
    assert not {"suppressed", "loss", "missing_values"} & manifest.keys()
    assert {p.name for p in public.iterdir()} == {"release.parquet", "codebook.csv", "manifest.json"}
    assert (tmp_path / "out" / "do-not-share" / "report.html").exists()
    assert 0 < release.n_published < 3000


def test_no_advice_to_add_criteria_that_would_be_refused():
    assert {n.code for n in job().check(people())} & {"W602", "W605"} == set()


def test_columns_past_the_mechanism_are_refused():
    with pytest.raises(JobError, match="cannot cover 'note'"):
        job(drop=[], keep=["note"]).anonymize(people())

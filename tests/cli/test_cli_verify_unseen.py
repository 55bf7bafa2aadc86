"""What no reader of a table can check is never called kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tarnkappe as tk
from tarnkappe.datasets import census

PEOPLE = census(600, seed=1).select("age", "sex", "hours-per-week").with_row_index("who")
VALUES = {"age": {"low": 16, "high": 95, "width": 20}, "sex": ["Female", "Male"]}


def linkage(place: Path) -> None:
    mask = tk.RankSwapping(["age", "hours-per-week"], window_percent=80)
    data = place / "people.csv"
    PEOPLE.drop("who").write_csv(data)
    tk.mask(data, mask, linkage=tk.MaxLinkage(share=0.9), folder=place / "out", seed=1)


def drawn(place: Path) -> None:
    tk.synthesize(PEOPLE, "marginals", columns=VALUES, rest="drop", epsilon=1.0, folder=place / "out", audit=False)


def noisy(place: Path) -> None:
    tk.noisy_counts(PEOPLE, {"sex": VALUES["sex"]}, epsilon=1.0, folder=place / "out")


def series(place: Path) -> None:
    how = {"quasi": {"age": tk.numeric()}, "sensitive": ["sex"], "identifiers": ["who"], "drop": "rest"}
    tk.republish_people(
        PEOPLE, m=2, subject="who", ledger=place / "ledger", folder=place / "out", max_counterfeits=0.9, **how
    )


@pytest.mark.parametrize(
    ("make", "unseen"),
    [(linkage, "max-linkage"), (drawn, "how they were drawn"), (noisy, "noise was drawn"), (series, "ledger")],
)
def test_what_cannot_be_checked_is_not_called_kept(cli, make, unseen: str, tmp_path: Path):
    make(tmp_path)
    done = cli("verify", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "the file keeps the promise" not in done.output
    assert unseen in " ".join(done.output.split())
    told = json.loads(cli("verify", tmp_path / "out", "--json").stdout)
    assert unseen in told["unseen"]

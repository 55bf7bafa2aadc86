"""``algorithm: auto`` takes what suits the situation, says why, and promises nothing that it cannot keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.algorithms import all_algorithms
from tarnkappe.choice import RULES
from tarnkappe.cli.app import app
from tarnkappe.datasets import census, census_taxonomies

N = 300


def table() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "height": rng.integers(150, 200, N),
            "zip": rng.choice(["22765", "22767", "20246", "10115"], N),
            "illness": rng.choice(["flu", "gout", "cold", "mumps"], N),
        }
    )


def job(criteria: Any, **settings: Any) -> tk.Job:
    quasi = {"age": tk.intervals(5, 20), "height": tk.intervals(10), "zip": tk.prefix(3, 2)}
    return tk.Job(quasi=quasi, sensitive=["illness"], criteria=criteria, algorithm={"name": "auto", **settings})


SITUATIONS = [
    (tk.KAnonymity(5), {}, "hilb"),
    ([tk.KAnonymity(5), tk.LDiversity("illness", l=2)], {}, "hilb"),
    (tk.KAnonymity(40), {}, "hilb"),
    (tk.KAnonymity(60), {}, "top-down-greedy"),
    ([tk.KAnonymity(60), tk.LDiversity("illness", l=2)], {}, "hilb"),
    (tk.KAnonymity(5), {"publish": "centres"}, "mdav"),
    ([tk.KAnonymity(2), tk.AverageRisk(0.1)], {}, "flash"),
]


@pytest.mark.parametrize(("criteria", "settings", "name"), SITUATIONS)
def test_what_suits_the_situation_is_taken(criteria: Any, settings: dict[str, Any], name: str):
    release = job(criteria, **settings).anonymize(table(), seed=1)
    assert release.job.algorithm.name == release.public_manifest["algorithm"]["name"] == name
    assert release.private_manifest["search"]["chosen"].startswith(f"{name}: ")
    assert all(v.ok for v in release.verdicts)
    again = release.job.anonymize(table(), seed=1)
    assert again.table.equals(release.table), "the choice can be repeated by name"


def test_rules_name_algorithms_that_exist_and_one_always_applies():
    assert {rule.algorithm for rule in RULES} <= set(all_algorithms())
    assert RULES[-1].when(None, None, None)  # type: ignore[arg-type]


def test_check_and_the_internal_report_say_what_is_chosen_and_why(tmp_path: Path):
    table().write_csv(tmp_path / "people.csv")
    text = job(tk.KAnonymity(5)).to_yaml() + "data: {path: people.csv}\noutput: {folder: out}\n"
    (tmp_path / "job.yaml").write_text(text)
    shown = CliRunner().invoke(app, ["check", str(tmp_path / "job.yaml")])
    assert "chosen is hilb: it starts from the groups" in shown.stdout, shown.output
    told = json.loads(CliRunner().invoke(app, ["check", str(tmp_path / "job.yaml"), "--json"]).stdout)
    assert told["estimate"]["why"].startswith("hilb")
    assert CliRunner().invoke(app, ["run", str(tmp_path / "job.yaml")]).exit_code == 0
    report = next((tmp_path / "out").glob("*/job.yaml")).with_name("report.html")
    assert "hilb: it starts from the groups" in report.read_text("utf-8")


@pytest.mark.parametrize("k", [5, 40, 60])
def test_what_is_chosen_loses_no_more_than_mondrian(k: int):
    chosen = job(tk.KAnonymity(k)).anonymize(table(), seed=1)
    quick = tk.Job(columns=chosen.job.columns, criteria=tk.KAnonymity(k), algorithm="mondrian").anonymize(
        table(), seed=1
    )
    assert chosen.score("gcp") <= quick.score("gcp")


def test_large_groups_are_made_by_dividing_and_lose_less_than_neighbours_on_a_curve():
    people, taxonomies = census(3000, seed=1), census_taxonomies()
    quasi = {"age": tk.numeric(), **{c: taxonomies[c] for c in ("education", "marital-status", "race", "sex")}}

    def made(algorithm: str) -> tk.Release:
        asked = tk.Job(quasi=quasi, drop="rest", criteria=tk.KAnonymity(100), algorithm=algorithm)
        return asked.anonymize(people, seed=1)

    chosen = made("auto")
    assert "hilb does" in chosen.private_manifest["search"]["chosen"]
    assert chosen.score("gcp") < made("hilb").score("gcp")

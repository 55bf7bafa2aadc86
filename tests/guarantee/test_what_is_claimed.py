"""What a run says about its release was looked at in the written table, or is not said."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe import runs
from tarnkappe.pipeline import run_job
from tarnkappe.truth import untrue_records

TABLE = pl.DataFrame(
    {
        "name": [f"person {i}" for i in range(12)],
        "age": [30 + i % 6 for i in range(12)],
        "illness": ["flu", "cold", "gout"] * 4,
        "ward": ["a", "b"] * 6,
    }
)


def job(**columns: object) -> tk.Job:
    return tk.Job(
        **{"quasi": {"age": tk.numeric()}, "sensitive": ["illness"], "drop": "rest", **columns},
        criteria=[tk.KAnonymity(3)],
        seed=1,
    )


def test_identifiers_are_spoken_of_only_if_there_are_any():
    assert "no identifier columns" in str(job(identifiers=["name"]).anonymize(TABLE))
    assert "identifier columns" not in str(job().anonymize(TABLE.drop("name")))


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_kept_values_are_spoken_of_only_if_they_were_compared(engine: str, tmp_path: Path, monkeypatch):
    asked = []
    monkeypatch.setattr(runs, "untrue_records", lambda *given: asked.append(given) or untrue_records(*given))
    TABLE.write_csv(tmp_path / "data.csv")
    kept = job(identifiers=["name"], keep=["ward"], engine=engine)
    release = run_job(kept, tmp_path / "data.csv", tmp_path / "kept")
    assert release.proved == ("no identifier columns", "labels and kept values true of every record")
    assert asked[0][2] is not None
    assert run_job(job(engine=engine), tmp_path / "data.csv", tmp_path / "other").proved == (
        "labels true of every record",
    )


def test_nothing_is_said_that_was_not_checked():
    """Nobody looks at the order of the records, so nobody says that it is a random one."""
    said = str(job(identifiers=["name"]).anonymize(TABLE))
    assert "shuffled" not in said
    assert "labels true of every record" in said


def test_centres_are_not_called_true_of_every_record(tmp_path: Path):
    """A mean is nobody's age: what is compared is that every record has the centre that its group publishes."""
    asked = tk.Job(
        quasi={"age": tk.numeric()}, sensitive=["illness"], drop="rest", criteria=[tk.KAnonymity(3)], algorithm="mdav"
    )
    assert asked.anonymize(TABLE, seed=1).proved == ("every record has the centre of its group",)
    kept = tk.Job(
        quasi={"age": tk.numeric()}, keep=["ward"], drop="rest", criteria=[tk.KAnonymity(3)], algorithm="mdav"
    )
    assert kept.anonymize(TABLE, seed=1).proved == (
        "every record has the centre of its group, and kept values are its own",
    )


def test_a_release_that_tells_nobody_apart_is_not_passed_over_in_silence():
    def codes(k: int, table: pl.DataFrame, **asked: object) -> set[str]:
        made = tk.Job(quasi={"age": tk.numeric()}, drop="rest", criteria=[tk.KAnonymity(k)], seed=1, **asked)
        return {notice.code for notice in made.anonymize(table).notices}

    assert "W622" in codes(7, TABLE)
    assert "W622" in codes(7, TABLE, algorithm="mdav")
    assert "W622" not in codes(6, TABLE)
    assert "W622" not in codes(7, TABLE.with_columns(age=pl.lit(30))), "nobody could be told apart before"

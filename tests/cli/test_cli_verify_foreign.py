"""``verify`` of files that others made: what they reach, which groups break a promise, and what `*` and gaps mean."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import polars as pl
import pytest

import tarnkappe as tk

TABLE = pl.DataFrame(
    {
        "age": ["30-39"] * 4 + ["40-49"] * 3 + ["*"] * 2,
        "sex": ["f"] * 4 + ["m"] * 3 + ["*"] * 2,
        "illness": ["flu", "flu", "gout", "mumps", "gout", "gout", "flu", "cancer", "cancer"],
        "stay": ["1", "2", "10", "3", "2", "1", "1", "9", "9"],
    }
)


@pytest.fixture
def foreign(cli, folder: Path) -> Path:
    TABLE.write_csv("foreign.csv", separator=";")
    return folder / "foreign.csv"


def words(*more: str) -> tuple[str, ...]:
    return ("verify", "foreign.csv", "--quasi", "age,sex", *more)


def test_without_a_criterion_it_says_what_the_file_reaches(cli, foreign: Path):
    result = cli(*words("--sensitive", "illness,stay"))
    assert result.exit_code == 0, result.output
    assert "k = 2 · l of illness = 1 · t of illness = 0.778" in result.stdout
    assert "t of stay by order" in result.stdout
    assert "t of illness by order" not in result.stdout, "names have no order"
    assert "keeps the promise" not in result.stdout, "nothing was promised"
    data = json.loads(cli(*words("--sensitive", "illness", "--json")).stdout)
    assert data["reached"]["k"] == 2
    assert data["reached"]["t of illness"] == pytest.approx(7 / 9)


def test_what_is_reached_is_true_when_asked(cli, foreign: Path):
    reached = json.loads(cli(*words("--sensitive", "illness", "--json")).stdout)["reached"]
    t = reached["t of illness"]
    assert cli(*words("--k", "2", "--l", "1", "--t", f"{t + 1e-9}", "--sensitive", "illness")).exit_code == 0
    assert cli(*words("--k", "3")).exit_code == 5
    assert cli(*words("--l", "2", "--sensitive", "illness")).exit_code == 5
    assert cli(*words("--t", f"{t - 1e-6}", "--sensitive", "illness")).exit_code == 5


def test_l_and_t_need_a_sensitive_column(cli, foreign: Path):
    for asked in ("--l", "--t"):
        result = cli(*words(asked, "1"))
        assert result.exit_code == 2
        assert "--sensitive" in result.stderr


def test_violating_groups_are_listed_and_their_values_only_on_request(cli, foreign: Path):
    quiet = cli(*words("--k", "4"))
    assert "2 groups violate it" in quiet.stdout
    assert "2 records with k-anonymity at 2" in quiet.stdout
    assert "40-49" not in quiet.stdout
    shown = cli(*words("--k", "4", "--show", "2"))
    assert "2 records with k-anonymity at 2 · age: * · sex: *" in shown.stdout
    assert "3 records with k-anonymity at 3 · age: 40-49 · sex: m" in shown.stdout
    only = cli(*words("--k", "4", "--show", "1"))
    assert "40-49" not in only.stdout
    assert "gout" not in shown.stdout, "never a sensitive value"


def test_worst_groups_are_listed_where_nothing_is_asked(cli, foreign: Path):
    assert "Worst" not in cli(*words()).stdout
    shown = cli(*words("--show", "1"))
    assert shown.exit_code == 0
    assert "2 records with k-anonymity at 2 · age: * · sex: *" in shown.stdout
    assert "nothing was asked" in shown.stdout
    data = json.loads(cli(*words("--show", "2", "--json")).stdout)
    assert [w["records"] for w in data["worst_groups"]] == [2, 3]
    assert "violations" not in data


def test_rows_of_stars_are_a_group_unless_said_otherwise(cli, foreign: Path):
    assert "2 rows of nothing but *: a group like any other" in cli(*words("--k", "2")).stdout
    left_out = cli(*words("--k", "3", "--suppressed", "*"))
    assert left_out.exit_code == 0
    assert "2 rows of nothing but *: left out" in left_out.stdout
    data = json.loads(cli(*words("--suppressed", "*", "--json")).stdout)
    assert (data["records"], data["suppressed"], data["reached"]["k"]) == (9, 2, 3)


def test_the_dialect_can_be_stated(cli, folder: Path):
    (folder / "odd.csv").write_text("ort|n\nKöln|1\nKöln|2\n", encoding="latin-1")
    result = cli("verify", "odd.csv", "--quasi", "ort", "--k", "2", "--delimiter", "|", "--encoding", "latin-1")
    assert result.exit_code == 0, result.output
    assert cli("verify", "odd.csv", "--quasi", "ort", "--missing", "never").exit_code == 2


def test_a_gap_is_a_value_or_may_be_any(cli, folder: Path):
    pl.DataFrame({"age": ["1", "1", None, "2"], "sex": ["f", "f", "f", None], "n": "0"}).write_csv("gaps.csv")
    own = json.loads(cli("verify", "gaps.csv", "--quasi", "age,sex", "--json").stdout)
    assert own["reached"]["k"] == 1
    wild = json.loads(cli("verify", "gaps.csv", "--quasi", "age,sex", "--missing", "wildcard", "--json").stdout)
    # (1, f) could be rows 0-2; (?, f) all four; (2, ?) rows 2 and 3.
    assert wild["reached"]["k"] == 2
    assert (wild["records"], wild["groups"]) == (4, 3)


def brute(table: pl.DataFrame, quasi: list[str]) -> int:
    rows = table.select(quasi).rows()
    return min(
        sum(all(a is None or b is None or a == b for a, b in zip(x, y, strict=True)) for y in rows) for x in rows
    )


def test_wildcards_are_those_of_brute_force(cli, folder: Path):
    import numpy as np

    rng = np.random.default_rng(5)
    for _ in range(5):
        table = pl.DataFrame({q: rng.choice(["a", "b", None], 40, p=[0.45, 0.45, 0.1]).tolist() for q in "xyz"})
        table.with_columns(n=pl.lit("0")).write_csv("wild.csv")
        told = json.loads(cli("verify", "wild.csv", "--quasi", "x,y,z", "--missing", "wildcard", "--json").stdout)
        assert told["reached"]["k"] == brute(table, ["x", "y", "z"])


def test_a_release_verifies_itself(folder: Path):
    people = pl.DataFrame({"age": list(range(20, 40)), "illness": ["flu", "gout"] * 10})
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=tk.KAnonymity(5))
    release = job.anonymize(people, seed=1)
    assert release.verify().ok
    saved = release.save(folder / "saved")
    assert saved.verify().ok
    table = folder / "saved/public/release.parquet"
    pl.read_parquet(table).head(7).write_parquet(table)
    assert not saved.verify().ok


def test_one_group_violates(cli, foreign: Path):
    assert "1 group violates it" in cli(*words("--k", "3")).stdout


def test_what_to_type_names_columns_of_the_file_and_quotes_it(cli, folder: Path):
    TABLE.write_csv("my foreign.csv")
    asked = cli("verify", "my foreign.csv").stderr
    assert "tarnkappe verify 'my foreign.csv' --quasi age,sex --k 5" in asked
    TABLE.select("stay", "illness").write_csv("other.csv")
    assert "tarnkappe verify other.csv --quasi stay,illness --k 5" in cli("verify", "other.csv").stderr
    assert "--quasi stay,illness" in cli("verify", "other.csv", "--k", "5").stderr


@pytest.mark.parametrize("option", [("--k", "0"), ("--l", "0"), ("--t", "2"), ("--t", "-1")])
def test_what_cannot_be_asked_is_refused_as_an_option_and_not_as_a_line_of_a_job(cli, foreign: Path, option):
    result = cli(*words("--sensitive", "illness", *option))
    assert result.exit_code == 2
    assert f"invalid value for '{option[0]}'" in result.stderr


def test_a_wrong_encoding_is_answered_with_an_option(cli, foreign: Path):
    assert "--encoding utf-8" in cli(*words("--encoding", "utf-17")).stderr


def test_the_columns_of_a_fix_can_be_pasted_although_a_name_has_a_comma_or_a_space_at_its_end(cli):
    for header, n in (('"city, state",age', 2), ('age ,"zip"', 2)):
        Path("odd.csv").write_text(f"{header}\n" + "a,1\n" * 6, encoding="utf-8")
        fix = cli("verify", "odd.csv", "--k", "2").stderr.split("Fix:  ")[1].split("   (")[0]
        pasted = shlex.split(fix)
        assert pasted.count("--quasi") == n
        assert cli("verify", "odd.csv", "--k", "2", *pasted).exit_code == 0

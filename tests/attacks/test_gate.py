"""Attacks in a job: no release appears that does not withstand them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.errors import JobError, VerificationError
from tarnkappe.job.files import job_from_text, job_json_schema
from tarnkappe.runs import Run

PEOPLE = pl.DataFrame(
    {
        "age": [20, 21, 22, 30, 31, 32],
        "sex": ["f", "m"] * 3,
        "illness": ["flu", "flu", "flu", "cold", "gout", "flu"],
    }
)


def job(*attacks: object, **changes: object) -> tk.Job:
    settings = {"quasi": {"age": tk.numeric(), "sex": tk.suppress()}, "sensitive": ["illness"], "seed": 1, **changes}
    return tk.Job(**{"criteria": [tk.KAnonymity(3)], "attacks": attacks, **settings})


def test_a_release_that_gives_people_away_is_not_made(tmp_path: Path):
    """Three people of one group have the flu: half of the table is known for certain."""
    target = tmp_path / "release"
    with pytest.raises(VerificationError) as caught:
        tk.run_job(job("homogeneity"), PEOPLE, target)
    error = caught.value
    assert (error.code, error.exit_code) == ("E503", 5)
    assert "50.0 %" in error.details[0]
    assert "l-diversity: {column: illness, l: 2}" in str(error.hint)
    assert "flu" not in str(error)
    assert not target.exists()
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"
    with pytest.raises(VerificationError):
        job("homogeneity").anonymize(PEOPLE)


def test_the_fix_that_is_named_helps(tmp_path: Path):
    asked = job("homogeneity", "record-linkage", criteria=[tk.KAnonymity(3), tk.LDiversity("illness", l=2)])
    release = tk.run_job(asked, PEOPLE, tmp_path / "release")
    assert [found.attack for found in release.attacks] == ["homogeneity", "record-linkage"]
    assert all(found.rate == 0 for found in release.attacks)


def test_a_margin_lets_it_pass(tmp_path: Path):
    asked = job(tk.Homogeneity(margin=0.5), "unsorted-matching")
    release = tk.run_job(asked, PEOPLE, tmp_path / "release")
    kept = json.loads((tmp_path / "release/do-not-share/manifest.json").read_text())
    assert {a["attack"]: a["rate"] for a in kept["attacks"]}["homogeneity"] == 0.5
    told = json.loads((tmp_path / "release/public/manifest.json").read_text())
    assert [a["name"] for a in told["withstood"]] == ["homogeneity", "unsorted-matching"]
    assert "rate" not in json.dumps(told["withstood"]), "what was reached may tell about the data"
    assert release.for_readers().attacks == ()
    assert "Attacks" in str(release)
    again = tk.Job.from_yaml(tmp_path / "release/do-not-share/job.yaml")
    assert again.attacks == asked.attacks


def test_the_written_file_is_attacked_not_the_plan(tmp_path: Path, monkeypatch):
    """Sabotage: an engine that keeps the order of the data is found out, whatever the plan says."""
    people = pl.DataFrame({"age": list(range(600)), "illness": ["flu", "cold", "gout"] * 200})
    asked = tk.Job(
        quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(5)], attacks=["unsorted-matching"]
    )
    assert tk.run_job(asked, people, tmp_path / "good", seed=2).attacks[0].rate < 0.1

    class Lazy:
        def permutation(self, things):
            return np.arange(things) if isinstance(things, int) else things

    monkeypatch.setattr(Run, "chance", Lazy())
    with pytest.raises(VerificationError) as caught:
        tk.run_job(asked, people, tmp_path / "bad", seed=2)
    assert "unsorted-matching: reached 100 %" in caught.value.details[0]
    assert not (tmp_path / "bad").exists()


@pytest.mark.parametrize("algorithm", ["anatomize", "slicing", "angel", "mondrian", "mdav"])
def test_every_form_is_attacked(algorithm: str):
    people = pl.DataFrame({"age": [20 + i % 40 for i in range(120)], "illness": ["flu", "cold", "gout", "burn"] * 30})
    criteria = [tk.KAnonymity(3)] if algorithm in ("mondrian", "mdav") else [tk.LDiversity("illness", l=2)]
    quasi = {"age": tk.numeric()}
    asked = tk.Job(
        quasi=quasi, sensitive=["illness"], criteria=criteria, algorithm=algorithm, attacks=[tk.Homogeneity(margin=1.0)]
    )
    found = asked.anonymize(people, seed=3).attacks[0]
    assert found.trials == 120
    if algorithm not in ("mondrian", "mdav"):
        assert found.rate == 0


JOB = """\
columns:
  age: {role: quasi, type: numeric}
  illness: {role: sensitive}
criteria:
  - k-anonymity: {k: 3}
attacks:
"""


def test_a_job_file_names_attacks():
    made = job_from_text(JOB + "  - homogeneity\n  - skewness: {column: illness, margin: 0.3}\n")
    assert made.attacks == (tk.Homogeneity(), tk.Skewness(column="illness", margin=0.3))
    assert job_from_text(made.to_yaml()).attacks == made.attacks
    assert "homogeneity" in json.dumps(job_json_schema()["properties"]["attacks"])


@pytest.mark.parametrize(
    ("entry", "code", "says"),
    [
        ("- homogenity", "E105", "did you mean 'homogeneity'"),
        ("- homogeneity: {column: age}", "E105", "no sensitive column"),
        ("- homogeneity: {margn: 1}", "E102", "margn"),
        ("- homogeneity: {margin: 2}", "E110", "margin"),
        ("- 5", "E110", "one name"),
        ("- temporal", "E111", "--other"),
        ("- membership", "E111", "population"),
        ("homogeneity", "E110", "list"),
    ],
)
def test_attacks_that_a_job_cannot_have(entry: str, code: str, says: str):
    with pytest.raises(JobError) as caught:
        job_from_text(f"{JOB}  {entry}\n")
    assert caught.value.code == code
    assert says in str(caught.value)


def test_a_mechanism_is_not_tested_on_the_data():
    with pytest.raises(JobError) as caught:
        tk.Job(
            quasi={"age": tk.intervals(10, start=0)},
            criteria=[tk.DifferentialPrivacy(epsilon=2, delta=1e-5)],
            algorithm="sdgs",
            attacks=["record-linkage"],
        )
    assert caught.value.code == "E111"


def test_a_second_release_must_not_give_away_what_the_first_hid(tmp_path: Path):
    """Two releases of the same people, cut at different places: together they leave one value for some of them."""
    people = pl.DataFrame({"age": [20, 21, 22, 23, 24, 25], "illness": ["a", "b", "c", "a", "b", "d"]})
    first = pl.DataFrame({"age": ["[20 21]", "[20 21]", "[22 23]", "[22 23]", "[24 25]", "[24 25]"]})
    first.with_columns(people["illness"]).write_csv(tmp_path / "first.csv")
    made = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(3)], seed=1)
    alone = tk.attack("complementary-release", made.anonymize(people), known=people, others=[tmp_path / "first.csv"])[0]
    assert alone.rate > alone.baseline == 0
    (tmp_path / "job.yaml").write_text(
        made.to_yaml() + "attacks:\n  - complementary-release: {earlier: first.csv}\n", encoding="utf-8"
    )
    asked = tk.Job.from_yaml(tmp_path / "job.yaml")
    assert asked.attacks[0].earlier == str(tmp_path / "first.csv")
    assert "earlier: first.csv" in asked.to_yaml(tmp_path)
    with pytest.raises(VerificationError) as caught:
        tk.run_job(asked, people, tmp_path / "second")
    assert "complementary-release" in caught.value.details[0]
    assert not (tmp_path / "second").exists()
    first[:4].with_columns(people["illness"][:4]).write_csv(tmp_path / "pairs.csv")
    same = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(2)],
        attacks=[tk.ComplementaryRelease(earlier=str(tmp_path / "pairs.csv"))],
        seed=1,
    )
    assert tk.run_job(same, people[:4], tmp_path / "second").attacks[0].rate == 0, "with the groups of the first"
    for file in (tmp_path / "second/public").iterdir():
        assert b"pairs.csv" not in file.read_bytes(), "where the publisher keeps files is nobody's business"


@pytest.mark.parametrize("content", [None, "age\n"])
def test_an_earlier_release_that_cannot_be_read_is_no_damage_of_this_one(tmp_path: Path, content: str | None):
    earlier = tmp_path / "earlier.csv"
    if content is not None:
        earlier.write_text(content)
    asked = job(tk.ComplementaryRelease(earlier=str(earlier)))
    with pytest.raises(JobError, match="E111 the earlier release that 'complementary-release' names cannot be read"):
        tk.run_job(asked, PEOPLE, tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_where_nobody_can_be_looked_for_nothing_was_withstood(tmp_path: Path):
    """What is missing may be anything, and of everybody something is missing."""
    people = PEOPLE.with_columns(
        age=pl.when(pl.col("sex") == "f").then("age"), sex=pl.when(pl.col("sex") == "m").then("sex")
    )
    asked = job("record-linkage", missing_rule="wildcard")
    with pytest.raises(JobError, match="E111 the attack 'record-linkage' needs a table of people"):
        tk.run_job(asked, people, tmp_path / "release")
    assert not (tmp_path / "release").exists()

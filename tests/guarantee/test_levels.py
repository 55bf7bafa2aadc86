"""Floors and ceilings hold in the written file, whatever algorithm decides and whatever engine writes.

The file is read as plain text and every label is looked up in lists that are written out here: nothing of the library
says what a level is.
"""

import csv
import random
from pathlib import Path

import polars as pl
import pytest
from whole_jobs import usual_algorithms

import tarnkappe as tk
from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.fulldomain.sdgs import Sdgs
from tarnkappe.errors import InfeasibleError, TarnkappeError
from tarnkappe.schema import Column
from tarnkappe.taxonomy import dates, intervals, prefix, quantiles, tree

HEADER = ("age", "zip", "job", "seen", "illness")
TREE = {"*": {"care": {"ward": ["nurse", "midwife"], "theatre": ["surgeon", "porter"]}, "desk": {"it": ["admin"]}}}

#: Labels that are at least as coarse as the floor and no coarser than the ceiling, by column.
AGE_BANDS = {f"{a}-{a + 4}" for a in range(15, 95, 5)}
AGE_TWENTIES = {f"{a}-{a + 19}" for a in range(0, 100, 20)}
JOBS = {"ward", "theatre", "it", "care", "desk"}


def table(path: Path, rows: int = 240, seed: int = 3) -> list[dict[str, str]]:
    draw = random.Random(seed)
    records = [
        {
            "age": str(draw.randint(18, 92)),
            "zip": f"{draw.choice('24')}{draw.choice('01')}{draw.randint(0, 999):03}",
            "job": draw.choice(["nurse", "midwife", "surgeon", "porter", "admin"]),
            "seen": f"20{draw.randint(10, 13)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}",
            "illness": draw.choice(["flu", "cold", "asthma", "gout"]),
        }
        for _ in range(rows)
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(records)
    return records


def written(folder: Path) -> list[dict[str, str]]:
    with (folder / "public" / "people.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def columns(age: Column, zips: Column, job: Column, seen: Column) -> list[Column]:
    return [age, zips, job, seen, Column("illness", "sensitive")]


def released(tmp_path: Path, algorithm, declared: list[Column], criteria=None, limit: float = 0.0, engine="memory"):
    records = table(tmp_path / "people.csv")
    job = tk.Job(
        columns=declared,
        criteria=criteria or [tk.KAnonymity(3)],
        max_suppressed=limit,
        algorithm=algorithm,
        engine=engine,
    )
    tk.run_job(job, tmp_path / "people.csv", tmp_path / "out", seed=5)
    return records, written(tmp_path / "out")


def numeric(name: str, taxonomy, **levels) -> Column:
    return Column(name, "quasi", "numeric", taxonomy, **levels)


def text(name: str, taxonomy, **levels) -> Column:
    return Column(name, "quasi", taxonomy=taxonomy, **levels)


def floors() -> list[Column]:
    """At least five-year bands, never more than two digits, no single job, no day."""
    return columns(
        numeric("age", intervals(5, 20), min_level=1),
        text("zip", prefix(2, 1), min_level=1),
        text("job", tree(TREE), min_level=1),
        text("seen", dates("month", "year"), min_level=2),
    )


ALL = usual_algorithms("illness")


@pytest.mark.parametrize("algorithm", ALL, ids=lambda a: a.name)
def test_no_algorithm_publishes_below_the_floor_or_above_the_ceiling(tmp_path, algorithm):
    declared = columns(
        numeric("age", intervals(5, 20), min_level=1, max_level=2),
        text("zip", prefix(2, 1), min_level=1, max_level=2),
        text("job", tree(TREE), min_level=1, max_level=2),
        text("seen", dates("month", "year"), min_level=2),
    )
    _, rows = released(tmp_path, algorithm, declared, limit=0.3)
    assert rows
    assert {row["age"] for row in rows} <= AGE_BANDS | AGE_TWENTIES
    assert {row["zip"] for row in rows} <= {"20***", "21***", "40***", "41***", "2****", "4****"}
    assert {row["job"] for row in rows} <= JOBS
    assert {row["seen"] for row in rows} <= {"2010", "2011", "2012", "2013", "*"}


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_engines_keep_floors_and_ceilings_alike(tmp_path, engine):
    declared = columns(
        numeric("age", intervals(5, 20), min_level=1, max_level=2),
        text("zip", prefix(2, 1), min_level=1, max_level=2),
        text("job", tree(TREE)),
        text("seen", dates("month", "year"), min_level=1),
    )
    _, rows = released(tmp_path, tk.Mondrian(), declared, limit=0.2, engine=engine)
    assert rows
    assert {row["age"] for row in rows} <= AGE_BANDS | AGE_TWENTIES
    assert {row["zip"] for row in rows} <= {"20***", "21***", "40***", "41***", "2****", "4****"}
    assert all(len(row["seen"]) <= len("2010-01") for row in rows)


def test_a_ceiling_holds_together_with_criteria_that_compare_with_the_table(tmp_path):
    declared = floors()
    declared[0] = numeric("age", intervals(5, 20), min_level=1, max_level=2)
    criteria = [tk.KAnonymity(3), tk.TCloseness("illness", 0.35)]
    for number, algorithm in enumerate((tk.Mondrian(), tk.Hilb(), tk.MDAV())):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, rows = released(folder, algorithm, declared, criteria, limit=0.3)
        assert {row["age"] for row in rows} <= AGE_BANDS | AGE_TWENTIES


def test_a_ceiling_that_nothing_satisfies_is_infeasible(tmp_path):
    declared = floors()
    declared[0] = numeric("age", intervals(5, 20), max_level=0)
    for algorithm in (tk.Mondrian(), tk.Flash(), tk.MDAV()):
        with pytest.raises(InfeasibleError):
            released(tmp_path, algorithm, declared, [tk.KAnonymity(50)])
        assert not (tmp_path / "out").exists()
        with pytest.raises(InfeasibleError, match="E301"):  # `check` knows it too, before anything is decided
            tk.Job(columns=declared, criteria=[tk.KAnonymity(50)], algorithm=algorithm).check(tmp_path / "people.csv")


def test_rooms_of_a_ceiling_use_the_budget_of_all_together(tmp_path):
    declared = floors()
    declared[0] = numeric("age", intervals(5, 20), max_level=2)
    for number, algorithm in enumerate((tk.Mondrian(), tk.TopDownSpecialization("illness"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        records, rows = released(folder, algorithm, declared, [tk.KAnonymity(20)], limit=0.15)
        assert len(records) - len(rows) <= 0.15 * len(records)


def test_values_without_levels_cannot_have_a_floor():
    with pytest.raises(TarnkappeError, match="has a lowest level, but values that its taxonomy lacks"):
        text("job", tree(TREE, on_unknown="top"), min_level=1)


@pytest.mark.parametrize("level", [1, 2])
def test_what_a_floor_hides_is_charged_as_if_an_algorithm_had_chosen_that_level(tmp_path, level):
    people = tmp_path / "people.csv"
    # Bands of five years suffice for 8, those of twenty for 40: the search chooses the level that the floor asks for.
    ages = [str(age) for age in range(20, 80) for _ in range(2 + age % 3)]
    people.write_text("age\n" + "\n".join(ages), encoding="utf-8")

    def scores(k: int, lowest: int) -> dict[str, float]:
        job = tk.Job(
            columns=[numeric("age", intervals(5, 20), min_level=lowest)],
            criteria=[tk.KAnonymity(k)],
            algorithm=tk.Flash(),
        )
        release = job.anonymize(people, seed=1)
        assert release.private_manifest["search"]["levels"] == str(level)
        return {s.name: s.value for s in release.scores}

    chosen, floored = scores({1: 8, 2: 40}[level], 0), scores(2, level)
    assert chosen["lm"] > 0.05
    for name in ("lm", "gcp", "loss", "iloss", "precision", "minimal-distortion", "nonuniform-entropy"):
        assert floored[name] == pytest.approx(chosen[name]), name


class TestDefaultLevels:
    """A numeric column without a taxonomy has levels where an algorithm needs them."""

    def job(self, algorithm, **more) -> tk.Job:
        return tk.Job(
            quasi={"age": tk.numeric(), "zip": tk.prefix(2, 1)},
            drop=["job", "seen"],
            sensitive=["illness"],
            criteria=[tk.KAnonymity(4)],
            algorithm=algorithm,
            **more,
        )

    @pytest.mark.parametrize("algorithm", [a for a in ALL if a.scheme == "full-domain"], ids=lambda a: a.name)
    def test_full_domain_is_not_useless(self, tmp_path, algorithm):
        table(tmp_path / "people.csv")
        tk.run_job(self.job(algorithm, max_suppressed=0.05), tmp_path / "people.csv", tmp_path / "out", seed=1)
        labels = {row["age"] for row in written(tmp_path / "out")}
        assert 2 <= len(labels) <= 16
        assert "*" not in labels

    def test_neither_extreme_of_the_table_is_published(self, tmp_path):
        records = table(tmp_path / "people.csv")
        ages = [int(r["age"]) for r in records]
        tk.run_job(self.job(tk.Flash()), tmp_path / "people.csv", tmp_path / "out", seed=1)
        everything = "".join(
            f.read_text("utf-8") for f in (tmp_path / "out" / "public").iterdir() if f.suffix != ".html"
        )
        labels = {row["age"] for row in written(tmp_path / "out")}
        assert not any(str(extreme) in label for label in labels for extreme in (min(ages), max(ages)))
        assert any(label.startswith("<") for label in labels)
        assert any(label.startswith("≥") for label in labels)
        assert f"[{min(ages)} {max(ages)}]" not in everything

    def test_local_algorithms_still_publish_tight_ranges(self, tmp_path):
        table(tmp_path / "people.csv")
        tk.run_job(self.job(tk.Mondrian()), tmp_path / "people.csv", tmp_path / "out", seed=1)
        assert any(row["age"].startswith("[") for row in written(tmp_path / "out"))

    def test_a_floor_on_a_plain_number_uses_them_too(self, tmp_path):
        declared = floors()
        declared[0] = Column("age", "quasi", "numeric", min_level=2)
        for number, algorithm in enumerate((tk.Mondrian(), tk.MDAV(), tk.Hilb())):
            folder = tmp_path / str(number)
            folder.mkdir()
            _, rows = released(folder, algorithm, declared)
            assert 1 <= len({row["age"] for row in rows}) <= 15
            assert not any(row["age"].isdigit() for row in rows)

    def test_differential_privacy_refuses_levels_that_follow_the_data(self, tmp_path):
        table(tmp_path / "people.csv")
        job = tk.Job(
            quasi={"age": quantiles(), "zip": tk.prefix(2)},
            drop=["job", "seen"],
            sensitive=["illness"],
            criteria=[tk.DifferentialPrivacy(epsilon=1.0, delta=1e-2)],
            max_suppressed=1.0,
            algorithm=Sdgs(),
        )
        with pytest.raises(TarnkappeError, match="does not depend on the data"):
            job.anonymize(tmp_path / "people.csv")


@pytest.mark.parametrize("algorithm", ["tds", "mrtds", "hdtds", "bug", "mrbug"])
def test_rooms_of_a_ceiling_may_publish_sets_and_all_values(algorithm):
    """Two pairs of values in one room; in the other nothing can be divided, so a node is published and no set."""
    rows = [("11", blood, job) for blood, job in zip("abcd" * 2, "xxyy" * 2, strict=True)]
    rows += [("21", blood, job) for blood, job in zip("abcd", "xyxy", strict=True)]
    release = tk.Job(
        columns=[
            Column("zip", "quasi", taxonomy=prefix(1), max_level=1),
            Column("blood", "quasi", taxonomy=tk.value_set()),
            Column("job", "sensitive"),
        ],
        criteria=[tk.KAnonymity(4)],
        algorithm=algorithm_class(algorithm)("job"),
        seed=1,
    ).anonymize(pl.DataFrame(rows, schema=["zip", "blood", "job"], orient="row"))
    labels = set(release.table.select("zip", "blood").rows())
    assert labels == {("11", "{a | b}"), ("11", "{c | d}"), ("21", "{a | b | c | d}")}

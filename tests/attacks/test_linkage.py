"""Linking people with records: against brute force, with errors, and at some size."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.attacks.people import Ground, covering, covering_looks, inside, overlap_by_row, overlapping
from tarnkappe.kernels.attacks.matching import count_patterns, rank_by_distance, rank_by_pattern
from tarnkappe.schema import Column

LABELS = st.sampled_from(["*", "1", "3", "[1 3]", "2-5", "<3", ">=4", "{1 | 4}", "(1, 4]", "5"])


def meant(label: str) -> set[int]:
    """What a label stands for, by hand."""
    return {
        "*": {1, 2, 3, 4, 5},
        "[1 3]": {1, 2, 3},
        "2-5": {2, 3, 4, 5},
        "<3": {1, 2},
        ">=4": {4, 5},
        "{1 | 4}": {1, 4},
        "(1, 4]": {2, 3, 4},
    }.get(label) or {int(label)}


rows = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=12)
values = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12)


def ground_of(people: pl.DataFrame, *tables: pl.DataFrame) -> Ground:
    columns = [Column("a", "keep"), Column("b", "keep")]
    everything = pl.DataFrame({"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5]})
    return Ground.of(columns, [people, everything], [("table", t, ".") for t in tables])


def fits(person: tuple[int, int], row: tuple[str, str]) -> bool:
    return all(x in meant(label) for x, label in zip(person, row, strict=True))


@settings(max_examples=examples(60))
@given(values, rows)
def test_who_could_be_behind_which_row(people_: list[tuple[int, int]], rows_: list[tuple[str, str]]):
    people = pl.DataFrame(people_, schema=["a", "b"], orient="row")
    table = pl.DataFrame(rows_, schema=["a", "b"], orient="row")
    ground = ground_of(people, table)
    coded, looks = ground.people(people), ground.looks(table, "table")
    expected = [sum(fits(p, r) for r in rows_) for p in people_]
    assert covering(coded, looks)[coded.of].tolist() == expected
    start, look = covering_looks(coded, looks)
    listed = [looks.count[look[start[i] : start[i + 1]]].sum() for i in coded.of]
    assert listed == expected
    behind = inside(coded, looks)[looks.of]
    assert behind.tolist() == [sum(fits(p, r) for p in people_) for r in rows_]


@settings(max_examples=examples(60))
@given(rows, rows)
def test_which_rows_could_be_about_the_same_person(ours_: list[tuple[str, str]], theirs_: list[tuple[str, str]]):
    ours, theirs = (pl.DataFrame(r, schema=["a", "b"], orient="row") for r in (ours_, theirs_))
    ground = ground_of(pl.DataFrame({"a": [1], "b": [1]}), ours, theirs)
    a, b = ground.looks(ours, "ours"), ground.looks(theirs, "theirs")

    def meet(r: tuple[str, str], s: tuple[str, str]) -> bool:
        return all(meant(x) & meant(y) for x, y in zip(r, s, strict=True))

    pairs = [meet(r, s) for r in ours_ for s in theirs_]
    assert overlapping(a, b) == pytest.approx(sum(pairs) / len(pairs))
    assert overlap_by_row(a, b).tolist() == [meet(r, s) for r, s in zip(ours_, theirs_, strict=False)]


def crowd(n: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [str(i) for i in range(n)],
            "age": rng.integers(18, 90, n),
            "zip": [f"{z:05d}" for z in rng.integers(0, 400, n)],
            "sex": rng.choice(["f", "m"], n),
        }
    )


QUASI = {"age": tk.numeric(), "zip": tk.prefix(4, 3, 2, 1), "sex": tk.suppress()}


@pytest.mark.parametrize("name", ["record-linkage", "distance-linkage", "probabilistic-linkage"])
def test_raw_data_are_found_and_anonymous_data_are_not(name: str):
    people = crowd(500)
    unique = people.group_by("age", "zip", "sex").len().filter(pl.col("len") == 1).height
    found = tk.attack(name, people, quasi=list(QUASI), known=people, key="id")[0]
    assert found.successes == unique
    assert found.beats_baseline
    job = tk.Job(quasi=QUASI, criteria=[tk.KAnonymity(5)], keep=["id"], because={"id": "made up for this test, no one"})
    table = job.anonymize(people, seed=1).table
    found = tk.attack(name, table, quasi=QUASI, known=people, key="id")[0]
    assert (found.rate, found.beats_baseline) == (0, False)


def test_probabilistic_linkage_survives_errors():
    """Every fifth age is wrong: nobody of those fits their own record any more, but most are still the likeliest."""
    people = crowd(300)
    mistaken = pl.when(pl.int_range(300) % 5 == 0).then(pl.col("age") + 40).otherwise("age")
    wrong = people.with_columns(mistaken.alias("age"))
    exact = tk.attack("record-linkage", people, quasi=list(QUASI), known=wrong, key="id")[0]
    likely = tk.attack("probabilistic-linkage", people, quasi=list(QUASI), known=wrong, key="id")[0]
    assert exact.rate <= 0.8
    assert likely.rate > exact.rate


def test_averages_are_linked_by_distance():
    """Pairs of neighbours, averaged: both people of a pair are as near to the same two records."""
    people = pl.DataFrame({"id": list("abcd"), "x": [0.0, 2.0, 100.0, 104.0]})
    pairs = pl.DataFrame({"id": list("abcd"), "x": [1.0, 1.0, 102.0, 102.0]})
    found = tk.attack("distance-linkage", pairs, quasi=["x"], known=people, key="id")[0]
    assert (found.rate, found.figures["expected share of right picks among the best"]) == (0, 0.5)
    noise = pl.DataFrame({"id": list("abcd"), "x": [0.4, 1.8, 101.0, 103.0]})
    assert tk.attack("distance-linkage", noise, quasi=["x"], known=people, key="id")[0].rate == 1


def test_the_case_of_a_governor():
    """A city of 20 000 voters by date of birth, sex and postcode, and the 2 000 of them whose stays in hospital a
    commission gave away without names: most stand alone in the register, and the governor is among them."""
    n, n_ill = 20_000, 2_000
    rng = np.random.default_rng(1997)
    days = rng.integers(0, 365 * 80, n)
    voters = pl.DataFrame(
        {
            "name": [f"voter {i}" for i in range(n)],
            "birth": pl.Series(days).cast(pl.Int32).cast(pl.Date).cast(pl.String),
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.choice([f"0213{i}" for i in range(8)], n),
        }
    )
    columns = ["birth", "sex", "zip"]
    stays = voters.sample(n_ill, seed=1, shuffle=True).with_columns(pl.lit("faint").alias("diagnosis"))
    linking = tk.RecordLinkage(complete="people")
    found = tk.attack(linking, stays.drop("name"), quasi=columns, known=voters)[0]
    alone = voters.filter(pl.len().over(columns) == 1)
    assert found.successes == stays.join(alone, on=columns).height
    assert found.rate > 0.85
    assert found.successes == tk.attack(linking, stays, quasi=columns, known=voters, key="name")[0].successes
    quasi = {"birth": tk.dates("year", "decade"), "sex": tk.suppress(), "zip": tk.prefix(4)}
    job = tk.Job(quasi=quasi, sensitive=["diagnosis"], drop=["name"], criteria=[tk.KAnonymity(5)])
    safe = job.anonymize(stays, seed=1)
    found = tk.attack(linking, safe, known=voters, quasi=quasi)[0]
    assert (found.rate, found.beats_baseline) == (0, False)


@settings(max_examples=examples(30))
@given(st.integers(1, 10**6))
def test_ranks_of_records_against_plain_python(seed: int):
    rng = np.random.default_rng(seed)
    n, looks, columns, size = 6, 5, 2, 3
    codes, labels = rng.integers(0, size, (n, columns)), rng.integers(0, 4, (looks, columns))
    count, own = rng.integers(1, 4, looks), rng.integers(0, looks, n)
    distance, agree = rng.integers(0, 4, (columns, size, 4)).astype(float), rng.integers(0, 2, (columns, size, 4))
    offset, width = np.arange(columns) * size * 4, np.full(columns, 4)
    score = rng.integers(0, 3, 1 << columns).astype(float)
    sides = codes.astype(np.int32), labels.astype(np.int32), count, own
    far = [
        [sum(distance[j, codes[i, j], labels[b, j]] for j in range(columns)) for b in range(looks)] for i in range(n)
    ]
    bits = [
        [sum(int(agree[j, codes[i, j], labels[b, j]]) << j for j in range(columns)) for b in range(looks)]
        for i in range(n)
    ]
    likely = [[score[p] for p in row] for row in bits]
    for kernel_, table, extra, values_, sign in (
        (rank_by_distance, distance.ravel(), (), far, 1),
        (rank_by_pattern, agree.astype(np.uint8).ravel(), (score,), likely, -1),
    ):
        beaten, ties = np.zeros(n, np.bool_), np.zeros(n, np.int64)
        kernel_(table, offset, width, *extra, *sides, 0, n, beaten, ties)
        for i in range(n):
            mine = values_[i][own[i]]
            assert beaten[i] == any(sign * v < sign * mine for v in values_[i])
            if not beaten[i]:
                assert ties[i] == sum(count[b] for b in range(looks) if values_[i][b] == mine)
    patterns = np.zeros(1 << columns, np.int64)
    count_patterns(agree.astype(np.uint8).ravel(), offset, width, sides[0], sides[1], count, patterns)
    expected = [sum(count[b] for row in bits for b in range(looks) if row[b] == p) for p in range(1 << columns)]
    assert patterns.tolist() == expected

"""Isolation by guesses from a release, against hand-made cases and a plain twin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import DataError, JobError
from tarnkappe.evaluate import isolation
from tarnkappe.evaluate.isolation import _Space, _squares
from tarnkappe.job import Job, numeric
from tarnkappe.publish.label_reader import LabelReader
from tarnkappe.tally import Domain
from tarnkappe.taxonomy import intervals, ordered, suppress, tree, value_set
from tarnkappe.taxonomy.tree import Taxonomy

AGES = pl.DataFrame({"age": [0, 10, 20, 100]})


def share(original: pl.DataFrame, release: dict[str, list[Any]], quasi: dict[str, Any], c: float, t: int) -> float:
    return isolation(original, pl.DataFrame(release), quasi, c, t, rng=np.random.default_rng(0)).share


@pytest.mark.parametrize(
    ("label", "c", "t", "isolated"),
    [
        # centre 5: the others are 5, 5, 15 and 95 away
        ("[0 10]", 1, 2, 0),  # both are within 5 of the centre
        ("[0 10]", 1, 3, 2),
        ("[0 10]", 2.9, 3, 2),
        ("[0 10]", 3.1, 3, 0),  # the ball reaches the third
        ("[0 10]", 3.1, 4, 3),  # 15 · 3.1 = 46.5 does not reach the last
        # centre 60: 60, 50, 40 and 40 away
        ("[20 100]", 1.2, 3, 2),
        ("[20 100]", 1.3, 3, 0),
        ("[20 100]", 1.19, 4, 3),  # 50 · 1.19 = 59.5 does not reach the last, 40 · 1.19 even less
        ("100", 5, 2, 1),  # guessed right, and nobody else is there
        ("100", 5, 1, 0),
        ("[0 100]", 1, 5, 4),  # fewer than t records at all
    ],
)
def test_a_line_of_four(label: str, c: float, t: int, isolated: int):
    assert share(AGES, {"age": [label]}, {"age": numeric()}, c, t) == isolated / 4


def test_several_guesses_isolate_more():
    assert share(AGES, {"age": ["[0 10]", "100", "100"]}, {"age": numeric()}, 2, 3) == 3 / 4


def test_records_that_are_the_same_protect_each_other():
    twins = pl.DataFrame({"age": [0, 10, 10, 10, 50]})
    found = isolation(twins, pl.DataFrame({"age": ["10"]}), {"age": numeric()}, 4, 3, rng=np.random.default_rng(0))
    assert found.share == 0
    assert found.raw == 2 / 5
    assert (found.n_records, found.n_guesses) == (5, 1)


CITY = {"north": ["Kiel", "Husum"], "south": ["Ulm", "Passau"]}


def test_categories_are_apart_by_their_taxonomy():
    domain = Domain("city", Taxonomy.from_nested(CITY))  # height 2
    kinds = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25] * 4])
    expected = [
        [0, 1 / 2, 1, 1],  # Kiel: Husum shares one of two levels
        # north: level 0 is (½, ½, 0, 0) against one 1: ½ inside, 1½ outside; level 1 is 0 inside, 2 outside
        [1 / 8, 1 / 8, 7 / 8, 7 / 8],
        [(3 / 4 + 1 / 2) / 4] * 4,
    ]
    assert np.allclose(_squares(domain, kinds), expected)
    flat = Domain("sex", Taxonomy.from_nested(["f", "m"]))
    assert np.allclose(_squares(flat, np.eye(2)), [[0, 1], [1, 0]])


def test_a_published_node_is_a_guess_in_the_middle_of_its_values():
    people = pl.DataFrame({"city": ["Kiel", "Husum", "Ulm", "Passau"]})
    quasi = {"city": tree(CITY)}
    # from the middle of north its two cities are sqrt(1/8) away, the others sqrt(7/8): about 2.65 times as far
    assert share(people, {"city": ["north"]}, quasi, 2.6, 3) == 2 / 4
    assert share(people, {"city": ["north"]}, quasi, 2.7, 3) == 0
    assert share(people, {"city": ["north"]}, quasi, 1, 2) == 0
    assert share(people, {"city": ["*"]}, quasi, 1, 4) == 0


def test_columns_add_up():
    people = pl.DataFrame({"age": [0, 100, 0, 100], "sex": ["f", "f", "m", "m"]})
    quasi = {"age": numeric(), "sex": suppress()}
    # from (50, f) both women are ½ away, both men sqrt(5/4)
    assert share(people, {"age": ["[0 100]"], "sex": ["f"]}, quasi, 2.2, 3) == 0.5
    assert share(people, {"age": ["[0 100]"], "sex": ["f"]}, quasi, 2.3, 3) == 0


def test_points_at_the_same_distance_are_counted_together():
    """13 and 17 are equally far from 15; rounded, 17 is nearer and was taken for the only one there."""
    people = pl.DataFrame({"age": [10, 13, 17, 20]})
    assert share(people, {"age": ["[13 17]"]}, {"age": numeric()}, 1, 2) == 0


@given(st.lists(st.integers(0, 30), min_size=2, max_size=12), st.data(), st.sampled_from([1, 2]), st.integers(1, 4))
@settings(deadline=None, max_examples=examples(60))
def test_isolated_on_a_line_in_whole_numbers(ages, data, c, t):
    low, high = sorted(data.draw(st.lists(st.sampled_from(ages), min_size=2, max_size=2)))
    off = [abs(2 * age - low - high) for age in ages]
    alone = [sum(other <= c * mine for other in off) < t for mine in off]
    found = share(pl.DataFrame({"age": ages}), {"age": [f"[{low} {high}]"]}, {"age": numeric()}, c, t)
    assert found == pytest.approx(sum(alone) / len(ages))


@pytest.mark.parametrize("how", [numeric(), intervals(10, 20)])
def test_a_release_of_centres_is_read(how):
    people = pl.DataFrame({"age": [10, 13, 17, 20, 60], "sex": ["f", "f", "m", "m", "m"]})
    quasi = {"age": how, "sex": suppress()}
    # from (61.5, m) the man of 60 is 1.5 away, all others more than 40
    assert share(people, {"age": [61.5], "sex": ["m"]}, quasi, 4, 2) == 1 / 5
    job = Job(quasi={"age": numeric(), "sex": suppress()}, criteria=[KAnonymity(2)], algorithm=MDAV())
    table = job.anonymize(people, seed=1).table
    found = isolation(people, table, quasi, 2, 2, rng=np.random.default_rng(0))
    assert found.n_guesses == table.unique().height


def test_missing_values_are_far_from_all_others():
    people = pl.DataFrame({"age": [0, None, 100]})
    assert share(people, {"age": [None]}, {"age": numeric()}, 4, 2) == 1 / 3
    assert share(people, {"age": ["0"]}, {"age": numeric()}, 4, 2) == 1 / 3


@pytest.mark.parametrize(
    ("how", "values", "label", "leaves"),
    [
        (numeric(), [1, 2, 5], "[1 2]", ["1", "2"]),
        (numeric(), [1, 2, 5], "5.0", ["5"]),
        (intervals(5, 10), [12, 17, 23], "10-19", ["12", "17"]),
        (intervals(5, 10), [12, 17, 23], "*", ["12", "17", "23"]),
        (ordered("low", "so so", "high"), ["low", "high"], '[low "so so"]', ["low", "so so"]),
        (value_set("red", "a, b", "blue"), ["red", "blue"], "{red | a, b | blue}", ["red", "a, b", "blue"]),
        (tree(CITY), ["Kiel"], "south", ["Ulm", "Passau"]),
    ],
)
def test_labels_are_understood(how: Any, values: list[Any], label: str, leaves: list[str]):
    domain = _Space.of(pl.DataFrame({"x": values}), {"x": how}).domains[0]
    found = LabelReader(domain).leaves(label)
    assert found is not None
    assert [domain.taxonomy.leaves[i] for i in found] == leaves


@pytest.mark.parametrize("label", ["no such thing", "[1 9]", "[1]", "{1 | 9}", "inf", "nan"])
def test_labels_of_another_release_are_refused(label: str):
    with pytest.raises(DataError) as caught:
        share(pl.DataFrame({"x": [1, 2]}), {"x": [label]}, {"x": numeric()}, 2, 2)
    assert caught.value.code == "E406"


def brute(points: list[tuple[float, ...]], guesses: list[tuple[float, ...]], c: float, t: int) -> float:
    isolated = [any(sum(math.dist(q, y) <= c * math.dist(q, x) for y in points) < t for q in guesses) for x in points]
    return sum(isolated) / len(points)


@settings(max_examples=examples(60))
@given(st.integers(1, 25), st.integers(0, 10**6), st.sampled_from([1.01, 1.7, 4.3]), st.integers(1, 6))
def test_equals_brute_force(n: int, seed: int, c: float, t: int):
    rng = np.random.default_rng(seed)
    people = pl.DataFrame({"a": rng.integers(0, 9, n), "b": rng.integers(0, 7, n), "s": rng.choice(["f", "m"], n)})
    quasi = {"a": numeric(), "b": numeric(), "s": suppress()}
    rows = rng.choice(n, (min(n, 4), 2))
    bounds = {col: np.sort(np.stack([people[col].to_numpy()[rows[:, i]] for i in (0, 1)]), axis=0) for col in "ab"}
    sexes = rng.choice(people["s"].to_numpy(), len(rows))
    release = {col: [f"[{a} {b}]" if a < b else f"{a}" for a, b in bounds[col].T] for col in "ab"}

    def scaled(col: str, x: float) -> float:
        low, high = people[col].min(), people[col].max()
        return (x - low) / ((high - low) or 1)  # type: ignore[operator]

    def one(s: str) -> tuple[float, float]:
        half = math.sqrt(0.5)
        return (half, 0.0) if s == "f" else (0.0, half)

    points = [(scaled("a", a), scaled("b", b), *one(s)) for a, b, s in people.rows()]
    centres = [
        (scaled("a", a.mean()), scaled("b", b.mean()), *one(s))
        for a, b, s in zip(bounds["a"].T, bounds["b"].T, sexes, strict=True)
    ]
    found = share(people, {**release, "s": sexes.tolist()}, quasi, c, t)
    assert found == brute(points, centres, c, t)


@settings(max_examples=20)
@given(st.integers(2, 40), st.integers(0, 10**6), st.integers(1, 5))
def test_the_raw_table_isolates_whoever_has_few_twins(n: int, seed: int, t: int):
    rng = np.random.default_rng(seed)
    people = pl.DataFrame({"a": rng.integers(0, 5, n), "s": rng.choice(["f", "m"], n)})
    quasi = {"a": numeric(), "s": suppress()}
    found = isolation(people, people, quasi, 3, t, rng=rng)
    assert found.share == found.raw


def test_larger_groups_isolate_fewer():
    rng = np.random.default_rng(2)
    people = pl.DataFrame({"age": rng.integers(18, 90, 600), "sex": rng.choice(["f", "m"], 600)})
    quasi = {"age": numeric(), "sex": suppress()}
    shares = []
    for k in (1, 2, 20):
        table = Job(quasi=quasi, criteria=[KAnonymity(k)]).anonymize(people).table
        shares.append(isolation(people, table, quasi, 2, 8, rng=rng).share)
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.5
    assert shares[2] < 0.2


def test_chance_is_reproducible():
    one, two = (
        isolation(AGES, pl.DataFrame({"age": ["10"]}), {"age": numeric()}, 1.5, 3, rng=np.random.default_rng(4))
        for _ in range(2)
    )
    assert one == two
    assert 0 <= one.chance <= 1


@pytest.mark.parametrize(("c", "t", "quasi"), [(0.5, 2, {"age": numeric()}), (2, 0, {"age": numeric()}), (2, 2, {})])
def test_parameters_are_checked(c: float, t: int, quasi: dict[str, Any]):
    with pytest.raises(JobError):
        share(AGES, {"age": ["10"]}, quasi, c, t)

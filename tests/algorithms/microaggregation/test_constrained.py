"""Refinement under criteria beyond a size: the goal holds afterwards, and the loss never rises."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms.microaggregation import constrained
from tarnkappe.algorithms.microaggregation.condensation import Condensation
from tarnkappe.algorithms.microaggregation.constrained import divided, exchanged
from tarnkappe.algorithms.microaggregation.k_ward import KWard
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.algorithms.microaggregation.records import Records
from tarnkappe.algorithms.microaggregation.tarn import Tarn
from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.kernels.microaggregation.relocating import choose_moves

GOALS = {
    "k": Goal([tk.KAnonymity(4)]),
    "distinct": Goal([tk.KAnonymity(3), tk.LDiversity("secret", 3)]),
    "entropy": Goal([tk.EntropyLDiversity("secret", 2.5)]),
    "recursive": Goal([RecursiveCLDiversity("secret", 2.0, 3)]),
    "frequency": Goal([tk.FrequencyLDiversity("secret", 2.5)]),
    "t": Goal([tk.KAnonymity(3), tk.TCloseness("secret", 0.3)]),
    "two columns": Goal([tk.LDiversity("secret", 2), tk.LDiversity("other", 2)]),
    "others known": Goal([tk.FrequencyLDiversity("secret", 1.5, know_others=True)]),
}


def people(n: int, seed: int) -> pl.DataFrame:
    """Records whose secrets depend on where they lie, so that neighbours are often alike; some are equal."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(n, 3)).round(1 if seed % 2 else 0)
    secret = np.argsort(np.argsort(place[:, 0] + rng.normal(size=n))) * 5 // n  # each of five values equally often
    other = rng.integers(0, 3, n)
    return pl.DataFrame(
        {"a": place[:, 0], "b": place[:, 1], "c": place[:, 2], "secret": secret.astype(str), "other": other.astype(str)}
    )


def records_of(frame: pl.DataFrame, goal: Goal) -> Records:
    quasi = {name: tk.numeric() for name in "abc"}
    job = tk.Job(quasi=quasi, sensitive=["secret", "other"], criteria=list(goal.criteria))
    source = open_source(frame)
    return Records.of(MemoryEngine().count(source, job.schema(source.columns)), goal)


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
def test_the_goal_holds_and_the_loss_never_rises(goal: Goal):
    for seed in range(4):
        records = records_of(people(40 + 60 * seed, seed), goal)
        rng = np.random.default_rng(seed)
        start = records.settled(MDAV().partition(records.points, goal.min_size, rng))
        halves = divided(records, start)
        end = exchanged(records, halves, rng)
        for group in (halves, end):
            assert records.satisfied(group).all()
            np.testing.assert_array_equal(np.unique(group), np.arange(group.max() + 1))
        assert records.error(end) <= records.error(halves) + 1e-9 <= records.error(start) + 2e-9


def plainly_settled(records: Records, group: np.ndarray) -> np.ndarray:
    """Groups that violate the goal pooled with those that add least to the error, everything counted anew."""
    while not (ok := records.satisfied(group)).all():
        size = np.bincount(group)
        means = np.array([records.points[group == g].mean(axis=0) for g in range(len(size))])
        price = ((means[:, None] - means) ** 2).sum(axis=2) * (size[:, None] * size / (size[:, None] + size))
        np.fill_diagonal(price, np.inf)
        into, merged = np.arange(len(size)), np.zeros(len(size), bool)
        lacking = np.flatnonzero(~ok)
        for a in lacking[np.argsort(price[lacking].min(axis=1), kind="stable")]:
            b = int(np.argmin(price[a]))
            if not merged[a] and (ok[b] or not merged[b]):
                into[a] = b
                merged[[a, b]] = True
        group = np.unique(into[group], return_inverse=True)[1]
    return group


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
def test_groups_are_pooled_as_if_all_were_counted_anew(goal: Goal):
    records = records_of(people(150, 5).with_columns(a=np.random.default_rng(1).normal(size=150)), goal)
    start = MDAV().partition(records.points, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(records.settled(start), plainly_settled(records, start))


def test_where_nearly_all_groups_fall_short_it_does_not_matter_how_they_were_formed():
    frame = people(600, 2)
    pooled, kept = (
        [method._formed(records_of(frame, goal), np.random.default_rng(1)) for method in (KWard(), Condensation())]
        for goal in (Goal([tk.KAnonymity(3), tk.TCloseness("secret", 0.02)]), GOALS["distinct"])
    )
    np.testing.assert_array_equal(*pooled)
    assert not np.array_equal(*kept)


@pytest.mark.parametrize(("secrets", "sizes"), [("xyxyxx", [3, 3]), ("xyxxxx", [6])])
def test_groups_are_divided_if_both_halves_satisfy_the_goal(secrets: str, sizes: list[int]):
    flat = [0.0] * 6
    frame = pl.DataFrame({"a": [0.0, 1, 10, 11, 20, 21], "b": flat, "c": flat, "secret": list(secrets)})
    records = records_of(frame.with_columns(other=pl.lit("o")), Goal([tk.LDiversity("secret", 2)]))
    group = divided(records, np.zeros(records.n, np.int32))
    assert np.bincount(group).tolist() == sizes


@pytest.mark.parametrize("algorithm", [MDAV(refine=True), Tarn()], ids=str)
@pytest.mark.parametrize("goal", ["k", "distinct", "t"])
def test_a_release_is_better_for_refinement(algorithm, goal):
    frame = people(300, 1)
    losses = []
    for method in (MDAV(), algorithm):
        job = tk.Job(
            quasi={name: tk.numeric() for name in "abc"},
            sensitive=["secret"],
            drop="rest",
            criteria=list(GOALS[goal].criteria),
            algorithm=method,
        )
        release = job.anonymize(frame)
        losses.append(release.score("sse"))
    assert losses[1] < losses[0]


def test_the_same_seed_gives_the_same_groups():
    records = records_of(people(200, 3), GOALS["distinct"])
    start = divided(records, np.zeros(records.n, np.int32))
    one, other = (exchanged(records, start, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_large_groups_make_many_moves_in_a_round(monkeypatch):
    """Two clusters, of which a fifth was put into the wrong group: put right in fewer rounds than there are moves."""
    monkeypatch.setattr(constrained, "_ROUNDS", 20)
    monkeypatch.setattr(constrained, "_LOOKS", 0)
    rng = np.random.default_rng(1)
    n = 1200
    right = np.arange(n) % 2
    place = rng.normal(size=(n, 3)) + 8 * right[:, None]
    frame = pl.DataFrame({name: place[:, j] for j, name in enumerate("abc")})
    frame = frame.with_columns(secret=pl.Series(np.arange(n)).cast(str), other=pl.lit("o"))
    records = records_of(frame, Goal([tk.KAnonymity(400), tk.LDiversity("secret", 2)]))
    side = (records.points.sum(axis=1) > records.points.sum(axis=1).mean()).astype(np.int32)
    wrong = np.where(np.arange(n) % 5 == 0, 1 - side, side).astype(np.int32)
    found = exchanged(records, wrong, np.random.default_rng(2))
    assert (found != side).sum() in (0, n)


def test_the_best_moves_are_chosen_that_both_groups_have_left():
    """Four moves, best first: the second is of a busy point, the fourth of a group that has made its one move."""
    group, home = np.array([0, 0, 1, 1, 2], np.int32), np.array([1, 2, 0, 0, 0], np.int32)
    partner = np.array([2, -1, -1, -1, -1], np.int32)
    found = np.array([0, 2, 3, 4])
    assert choose_moves(group, home, partner, found, np.array([3, 2, 1])).tolist() == [True, False, True, True]
    assert choose_moves(group, home, partner, found, np.array([2, 2, 1])).tolist() == [True, False, True, False]
    assert choose_moves(group, home, partner, found, np.array([1, 1, 1])).tolist() == [True, False, False, False]

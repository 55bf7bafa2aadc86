"""The poster's objective: exact optimum, genetic algorithm, frameproof families."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import JobError
from tarnkappe.fingerprint.candidates import Candidates
from tarnkappe.fingerprint.families import framed, frameproof, meet, one_finer
from tarnkappe.fingerprint.genetic import evolve, mutate
from tarnkappe.fingerprint.selection import Objective, best_window
from tarnkappe.goal import Goal
from tarnkappe.tally import Tally


def by_hand(losses: np.ndarray, objective: Objective) -> float:
    """All subsets."""
    sizes = range(objective.n_min, min(objective.n_max, len(losses)) + 1)
    return min(objective.of(losses[list(chosen)]) for n in sizes for chosen in combinations(range(len(losses)), n))


@settings(max_examples=examples(200))
@given(
    st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=3, max_size=8),
    st.sampled_from([0.0, 0.1, 1.0, 3.0]),
    st.sampled_from([1.0, 2.0]),
)
def test_windows_are_optimal(losses: list[float], size_weight: float, cv_weight: float):
    objective = Objective(2, len(losses) - 1, size_weight=size_weight, cv_weight=cv_weight)
    assert objective.is_proved
    found = best_window(np.array(losses), objective)
    assert found.value == pytest.approx(by_hand(np.array(losses), objective), abs=1e-7)
    assert found.gap == 0


def test_bad_objectives_are_refused():
    for n_min, n_max in ((1, 5), (6, 5)):
        with pytest.raises(JobError):
            Objective(n_min, n_max)
    with pytest.raises(JobError):
        Objective(size_weight=-1)
    with pytest.raises(JobError):
        best_window(np.array([0.5]), Objective())
    with pytest.raises(JobError):
        best_window(np.array([0.5, 2.0]), Objective())


def test_the_genetic_algorithm_repeats_itself_and_never_beats_the_optimum():
    losses = np.random.default_rng(0).uniform(0.2, 0.9, 40)
    objective = Objective(2, 20)
    for seed in range(5):
        runs = [
            evolve(losses, objective, rng=np.random.default_rng(seed), population=20, generations=30) for _ in range(2)
        ]
        assert runs[0].selection.members.tolist() == runs[1].selection.members.tolist()
        assert runs[0].selection.value >= best_window(losses, objective).value - 1e-12
        assert runs[0].selection.gap >= 0
        assert np.all(np.diff(runs[0].value) <= 1e-12), "the best survives"
        assert objective.n_min <= runs[0].size[-1] <= objective.n_max


def test_mutations_have_the_rates_of_the_poster():
    rng = np.random.default_rng(1)
    added = removed = same = 0
    replaced = []
    for _ in range(6000):
        genes = np.zeros(100, np.bool_)
        genes[:30] = True
        mutate(genes, rng)
        change = int(genes.sum()) - 30
        added += change == 1
        removed += change == -1
        same += change == 0
        if change == 0:
            replaced.append(int((~genes[:30]).sum()))
    assert abs(same / 6000 - 0.4) < 0.02
    assert abs(added / 6000 - 0.3) < 0.02
    assert abs(removed / 6000 - 0.3) < 0.02
    assert min(replaced) == 0
    assert max(replaced) == 10
    assert abs(np.mean(replaced) - 5) < 0.3


def test_meets():
    assert meet([0, 2], [1, 1]) == (0, 1)


def brute_largest(levels: np.ndarray, c: int) -> int:
    for n in range(len(levels), 0, -1):
        if any(framed(levels[list(chosen)], c) is None for chosen in combinations(range(len(levels)), n)):
            return n
    return 0


@settings(max_examples=25)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=8, unique=True), st.integers(1, 3))
def test_families_are_the_largest_and_the_cheapest(rows: list[tuple[int, ...]], c: int):
    levels = np.array(rows, np.int16)
    losses = levels.sum(axis=1) / 10
    found = frameproof(levels, losses, c, rng=np.random.default_rng(0), effort=20_000)
    assert framed(levels[found.members], c) is None
    assert found.bound >= brute_largest(levels, c) >= len(found.members)
    if found.is_optimal:
        assert len(found.members) == brute_largest(levels, c)
    n = len(found.members)
    cheap = frameproof(levels, losses, c, n=n, rng=np.random.default_rng(0), effort=20_000)
    families = [list(x) for x in combinations(range(len(rows)), n) if framed(levels[list(x)], c) is None]
    best = min(losses[x].mean() for x in families)
    assert framed(levels[cheap.members], c) is None
    assert cheap.bound - 1e-12 <= best <= cheap.mean_loss + 1e-12


def test_one_column_finer_than_all_others_cannot_be_framed_by_anybody():
    family = one_finer([0, 3, 0, 1, 2, 1, 0, 2], [1, 4, 1, 2, 3, 2, 2, 2])
    assert len(family) == 7
    assert framed(family, 7) is None
    broken = family.copy()
    broken[0] += 1
    assert framed(broken, 7) is not None


def test_families_on_adult(eight: Tally):
    found = Candidates.of(eight, Goal([KAnonymity(3)]))
    chain = frameproof(found.levels, found.loss, 1, rng=np.random.default_rng(0))
    assert len(chain.members) == 36
    assert chain.is_optimal
    assert framed(found.levels[chain.members], 1) is None
    pairs = frameproof(found.levels, found.loss, 2, rng=np.random.default_rng(0), effort=100_000)
    assert len(pairs.members) >= 9
    assert framed(found.levels[pairs.members], 2) is None
    assert pairs.gap > 0
    with pytest.raises(JobError, match="the largest family found"):
        frameproof(found.levels, found.loss, 2, n=40, rng=np.random.default_rng(0), effort=10_000)


def test_the_same_seed_gives_the_same_family():
    """Effort is counted in work, not in time."""
    levels = np.random.default_rng(1).integers(0, 4, (60, 5)).astype(np.int16)
    losses = np.random.default_rng(2).random(60)
    for n in (None, 4):
        found = [
            frameproof(levels, losses, 2, n=n, rng=np.random.default_rng(3), effort=5_000).members.tolist()
            for _ in range(2)
        ]
        assert found[0] == found[1]

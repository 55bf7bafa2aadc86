"""The privacy loss of every mechanism, in numbers: all pairs of neighbours on small domains, for all outcomes."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tarnkappe.mechanisms import choice_probabilities, choose, epsilon_of, gaussian_noise, geometric_noise, rho_of
from tarnkappe.synthetic import diffgen, marginals
from tarnkappe.synthetic.alpha_beta import believed, fit_alpha_beta, keeping_and_inserting
from tarnkappe.synthetic.domains import Coded, Names, Numbers
from tarnkappe.synthetic.private import Noise, together

EPSILON = 1.3
TOLERANCE = 1e-9


def names(name: str, m: int) -> Names:
    """`m` codes, the last for the empty cell."""
    return Names(name, m - 1, tuple(f"{name}{i}" for i in range(m - 1)), m - 1)


def cells(domains: tuple[Coded, ...]) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(d.size) for d in domains)))


def neighbours(domains: tuple[Coded, ...], bases: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Tables, and each with every possible record added."""
    rng = np.random.default_rng(seed)
    possible = cells(domains)
    for size in range(1, bases + 1):
        base = [possible[i] for i in rng.integers(0, len(possible), size)]
        for one in possible:
            yield np.array(base, np.int32), np.array([*base, one], np.int32)


class Scripted:
    """Stands in for chance: follows a script of choices, and notes how likely each was and what was counted."""

    def __init__(self, script: tuple[int, ...]) -> None:
        self.script = script
        self.asked: list[int] = []
        self.log = 0.0
        self.counted: list[tuple[float, np.ndarray]] = []

    def choose(self, scores: np.ndarray, epsilon: float, sensitivity: int, rng: object) -> int:
        chosen = self.script[len(self.asked)] if len(self.asked) < len(self.script) else 0
        self.asked.append(len(scores))
        self.log += math.log(choice_probabilities(scores, epsilon, sensitivity)[chosen])
        return chosen


def scripts(run: Callable[[tuple[int, ...]], Scripted]) -> Iterator[tuple[int, ...]]:
    """Every sequence of choices that can be made."""
    open_: list[tuple[int, ...]] = [()]
    while open_:
        script = open_.pop()
        asked = run(script).asked
        if len(asked) == len(script):
            yield script
        else:
            open_ += [(*script, i) for i in range(asked[len(script)])]


def loss(one: Scripted, other: Scripted) -> float:
    """The largest log ratio of probabilities of the same outcome: choices, and counts with geometric noise."""
    noise = sum(e * np.abs(a - b).sum() for (e, a), (_, b) in zip(one.counted, other.counted, strict=True))
    return abs(one.log - other.log) + float(noise)


def test_choices_have_the_probabilities_that_are_computed_with():
    rng = np.random.default_rng(1)
    for scores in ([0, 1, 3], [5, 5], [0, 40, 41], [7]):
        drawn = np.bincount([choose(np.array(scores), 0.9, 2, rng) for _ in range(1000)], minlength=len(scores)) / 1000
        assert drawn == pytest.approx(choice_probabilities(np.array(scores), 0.9, 2), abs=0.06)
    assert choose(np.array([0, 10**12]), 50.0, 1, rng) == 1


def test_noise_has_no_more_than_its_loss():
    rng = np.random.default_rng(2)
    draws = np.bincount(geometric_noise(0.7, 1, rng, 400_000) + 60)[55:66] / 400_000
    ratio = np.log(draws[1:] / draws[:-1])
    assert np.abs(ratio).max() <= 0.7 + 0.06


def gaussian_shares(variance: int) -> np.ndarray:
    """The distribution of Gaussian noise from -400 to 400."""
    x = np.arange(-400, 401)
    weights = np.exp(-(x**2) / (2 * variance))
    return weights / weights.sum()


@pytest.mark.parametrize("variance", [1, 5, 400])
def test_gaussian_noise_is_drawn_as_it_is_computed_with(variance: int):
    noise = gaussian_noise(variance, np.random.default_rng(3), 60_000)
    found = np.bincount(np.clip(noise, -400, 400) + 400, minlength=801) / 60_000
    assert np.abs(np.cumsum(found) - np.cumsum(gaussian_shares(variance))).max() < 0.012
    assert noise.var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-6), (2.0, 1e-4)])
def test_gaussian_noise_and_choices_fail_no_more_often_than_delta(epsilon: float, delta: float):
    """The exact delta of one table of counts and one choice together, over all outcomes, at the epsilon they cost."""
    rho = rho_of(epsilon, delta)
    noise = Noise.worth(rho / 2)
    choice = (8 * rho / 2) ** 0.5
    p = gaussian_shares(noise.variance)
    q = np.roll(p, 1)  # a neighbour's count is one higher
    for scores, others in itertools.product(itertools.product(range(3), repeat=2), repeat=2):
        if max(abs(a - b) for a, b in zip(scores, others, strict=True)) > 1:
            continue
        a, b = (choice_probabilities(np.array(s), choice, 1) for s in (scores, others))
        both = np.outer(p, a), np.outer(q, b)
        for one, other in (both, both[::-1]):
            assert np.maximum(one - math.exp(epsilon) * other, 0).sum() <= delta


def test_shares_of_a_budget_add_up_to_it():
    for d, epsilon, delta in itertools.product((1, 2, 7), (0.3, 1.0, 4.0), (0.0, 1e-6)):
        domains = tuple(names(f"c{j}", 3) for j in range(d))
        people = np.zeros((20, d), np.int32)
        model = marginals.fit_marginals(people, domains, epsilon, delta, np.random.default_rng(1))
        total = together(model.ledger, delta)
        assert 0.9 * epsilon < total <= epsilon + TOLERANCE
        assert model.check(people, people).ok
        careless = dataclasses.replace(model, ledger=(*model.ledger, model.ledger[0]))
        assert not careless.check(people, people).ok
    assert epsilon_of(0.0, 1e-6) == 0.0


@pytest.mark.parametrize("d", [2, 3])
def test_marginals_on_every_pair_of_neighbours(d: int, monkeypatch: pytest.MonkeyPatch):
    domains = tuple(names(n, 2) for n in "abc"[:d])
    rng = np.random.default_rng(0)

    def run(table: np.ndarray, outputs: list[np.ndarray]) -> Callable[[tuple[int, ...]], Scripted]:
        def with_script(script: tuple[int, ...]) -> Scripted:
            chance = Scripted(script)
            waiting = iter(outputs)

            def noisy(codes: np.ndarray, size: int, noise: Noise, rng: object) -> np.ndarray:
                """The outcome is given; what it takes to get there is counted."""
                chance.counted.append((noise.epsilon, np.bincount(codes, minlength=size)))
                return next(waiting)[:size]

            monkeypatch.setattr(marginals, "choose", chance.choose)
            monkeypatch.setattr(marginals, "noisy_counts", noisy)
            marginals.fit_marginals(table, domains, EPSILON, 0.0, np.random.default_rng(0))
            return chance

        return with_script

    worst = 0.0
    for base, more in neighbours(domains, 3):
        for _ in range(3):
            outputs = [rng.integers(-3, 9, 9) for _ in range(2 * d)]
            for script in scripts(run(base, outputs)):
                one, other = run(base, outputs)(script), run(more, outputs)(script)
                worst = max(worst, loss(one, other))
    assert 0.5 * EPSILON < worst <= EPSILON + TOLERANCE


@pytest.mark.parametrize("steps", [1, 2])
def test_diffgen_on_every_pair_of_neighbours(steps: int, monkeypatch: pytest.MonkeyPatch):
    ticks = np.arange(3)
    domains = (Numbers("x", 3, ticks, ticks, 1.0, 3), names("y", 3), names("class", 3))

    def run(table: np.ndarray) -> Callable[[tuple[int, ...]], Scripted]:
        def with_script(script: tuple[int, ...]) -> Scripted:
            chance = Scripted(script)
            monkeypatch.setattr(diffgen, "choose", chance.choose)
            monkeypatch.setattr(diffgen, "geometric_noise", lambda e, s, rng, n: np.zeros(n, np.int64))
            model = diffgen.fit_diffgen(table, domains, EPSILON, "class", steps, np.random.default_rng(0))
            shape = model.counts.shape
            flat = np.ravel_multi_index(list(model.view(table).T), shape)
            chance.counted.append((EPSILON / 2, np.bincount(flat, minlength=math.prod(shape))))
            return chance

        return with_script

    worst = 0.0
    for base, more in neighbours(domains, 3 if steps == 1 else 1):
        for script in scripts(run(base)):
            worst = max(worst, loss(run(base)(script), run(more)(script)))
    assert 0.5 * EPSILON < worst <= EPSILON + TOLERANCE


def test_the_distance_of_pairs_changes_by_one_record_at_most():
    rng = np.random.default_rng(3)
    domains = tuple(names(n, 3) for n in "abc")
    for base, more in neighbours(domains, 6, seed=1):
        ones = [rng.integers(-2, 9, 3).astype(float) for _ in domains]
        scores = [marginals.scores_of_pairs(t, ones, 5.0) for t in (base, more)]
        assert all(abs(scores[0][e] - scores[1][e]) <= 1 for e in scores[0])


@pytest.mark.parametrize(("d", "gamma"), [(0.1, 0.5), (0.3, 0.4), (0.01, 0.2), (0.5, 1.0)])
def test_beliefs_after_alpha_beta_by_going_through_all_tables(d: float, gamma: float):
    """Bayes by brute force: all tables over three possible records, all releases, several priors."""
    alpha, beta = keeping_and_inserting(d, gamma)
    subsets = list(itertools.product([0, 1], repeat=3))
    for prior in ([d, d, d], [d / 7, d, d / 2], [d, 1.0, d / 3]):
        for view in subsets:
            weights = {}
            for real in subsets:
                p = math.prod(q if r else 1 - q for q, r in zip(prior, real, strict=True))
                for r, v in zip(real, view, strict=True):
                    seen = alpha + beta if r else beta
                    p *= seen if v else 1 - seen
                weights[real] = p
            total = sum(weights.values())
            if total == 0:
                continue
            for i, q in enumerate(prior):
                after = sum(p for real, p in weights.items() if real[i]) / total
                if q < 1:
                    assert after <= gamma + TOLERANCE
                    assert after / q >= d / gamma - TOLERANCE
                    assert after == pytest.approx(believed(q, alpha, beta, seen=bool(view[i])))


@pytest.mark.parametrize("columns", [2, 8])
def test_alpha_beta_keeps_and_inserts_as_often_as_it_says(columns: int):
    """Few possible records are gone through one by one; of many, those to insert are drawn."""
    domains = tuple(names(f"c{j}", 11) for j in range(columns))
    rng = np.random.default_rng(4)
    people = rng.integers(0, 11, (3000, columns)).astype(np.int32)
    d = 0.05 if columns == 2 else 1e-6
    model = fit_alpha_beta(people, domains, d, 0.3)
    made = model.draw(0, rng)
    index = np.ravel_multi_index(list(made.T), [11] * columns)
    assert len(np.unique(index)) == len(index)
    kept = np.isin(index, model.real).sum()
    n = len(model.real)
    share = model.alpha + model.beta
    assert abs(kept - n * share) <= 5 * math.sqrt(n * share * (1 - share)) + 1
    inserted, expected = len(index) - kept, (model.possible - n) * model.beta
    assert abs(inserted - expected) <= 5 * math.sqrt(expected) + 1

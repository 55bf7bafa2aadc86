"""What is learnt and drawn: nothing from fewer than k people, shares and relations kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.errors import TarnkappeError
from tarnkappe.job.synthetic import SyntheticColumn
from tarnkappe.kernels.synthetic.binning import bins_of_counts
from tarnkappe.synthetic.copula import fit_copula
from tarnkappe.synthetic.domains import OTHERS, Names, Numbers, declared, found
from tarnkappe.synthetic.model import copies, encoded
from tarnkappe.synthetic.private import without_negatives
from tarnkappe.synthetic.quality import nearest
from tarnkappe.synthetic.trees import fit_trees

SEEDS = range(6)


def people(seed: int, n: int = 400) -> pl.DataFrame:
    """A random table with rare values, gaps, ties and columns that depend on each other."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, n)
    job = np.where(rng.random(n) < 0.02, [f"rare {i}" for i in range(n)], np.where(age < 20, "pupil", "clerk"))
    pay = np.where(rng.random(n) < 0.5, 0.0, np.round(age * 10 + rng.normal(0, 20, n), 2))
    frame = pl.DataFrame({"age": age, "job": job, "pay": pay, "sex": rng.choice(["f", "m"], n)})
    gaps = pl.Series(rng.random(n) < 0.05)
    return frame.with_columns(pl.when(~gaps).then("pay").alias("pay"), pl.when(~gaps).then("sex").alias("sex"))


def domains_for(frame: pl.DataFrame, k: int) -> tuple:
    return tuple(
        found(c, frame[c], SyntheticColumn(type="numeric" if frame[c].dtype.is_numeric() else "categorical"), k, 20)
        for c in frame.columns
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [2, 7, 30])
def test_every_code_stands_for_k_people(seed: int, k: int):
    frame = people(seed)
    for domain in domains_for(frame, k):
        codes = domain.encode(frame[domain.name])
        counts = np.bincount(codes, minlength=domain.size)
        assert len(counts) == domain.size
        assert counts.min() >= k, domain.name
        again = domain.decode(codes, np.random.default_rng(seed))
        assert domain.strangers(again) == 0
        assert np.array_equal(domain.encode(again), codes)


def test_bins_hold_enough_and_common_values_stand_alone():
    rng = np.random.default_rng(0)
    for _ in range(200):
        counts = rng.integers(1, 12, rng.integers(1, 40)).astype(np.int64)
        counts[rng.integers(0, len(counts))] += 100
        least = int(rng.integers(1, 15))
        bins = bins_of_counts(counts, least, max(least, 30))
        assert np.all(np.diff(bins) >= 0)
        assert np.all(np.diff(bins) <= 1)
        assert np.bincount(bins, counts).min() >= min(least, counts.sum())


def test_rare_names_are_pooled_or_given_to_others():
    texts = pl.Series("x", ["a"] * 20 + ["b"] * 20 + ["c"] * 3 + ["d"] * 3)
    many = found("x", texts, SyntheticColumn(), 6, 10)
    assert isinstance(many, Names)
    assert many.texts == ("a", "b", OTHERS)
    few = found("x", texts, SyntheticColumn(), 7, 10)
    assert isinstance(few, Names)
    assert few.texts == ("a", "b")
    assert set(few.decode(few.encode(texts), np.random.default_rng(0))) == {"a", "b"}


def test_the_ends_of_numbers_are_those_of_k_people():
    numbers = pl.Series("x", [*range(100), 10_000_000])
    domain = found("x", numbers, SyntheticColumn(type="numeric"), 5, 10)
    assert isinstance(domain, Numbers)
    assert domain.bounds(0, len(domain.lo) - 1) == (4.0, 96.0)


def test_declared_values_do_not_follow_the_data():
    domain = declared("age", SyntheticColumn(low=0, high=9, width=5))
    odd = pl.Series("age", [-1e300, 0.0, 4.4, 4.6, 1e300, None])
    assert domain.encode(odd).tolist() == [0, 0, 0, 1, 1, 2]
    names = declared("sex", SyntheticColumn(values=("f", "m")))
    assert names.encode(pl.Series("sex", ["m", "x", None, "f"])).tolist() == [1, 2, 2, 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_leaf_has_fewer_than_k_people_and_nobody_is_copied(seed: int):
    frame = people(seed)
    domains = domains_for(frame, 8)
    codes = encoded(frame, domains)
    model = fit_trees(codes, domains, 8, 0.0)
    assert model.smallest_leaf(codes) >= 8
    made = model.draw_apart(500, codes, np.random.default_rng(seed))
    held = {tuple(row): n for *row, n in pl.DataFrame(codes).group_by(pl.all()).len().iter_rows()}
    rare = {row for row, n in held.items() if n < 8}
    assert not rare & set(map(tuple, made.tolist()))
    assert model.check(codes, made).ok


def test_a_leaf_that_is_too_small_is_noticed():
    frame = people(1)
    domains = domains_for(frame, 8)
    codes = encoded(frame, domains)
    model = fit_trees(codes, domains, 8, 0.0)
    assert not replace(model, k=9).check(codes, codes[:0]).ok or model.smallest_leaf(codes) >= 9
    careless = replace(fit_trees(codes, domains, 2, 0.0), k=8)
    assert not careless.check(codes, codes[:0]).ok
    foreign = replace(model.trees[3], pool=np.zeros_like(model.trees[3].pool))
    assert not replace(model, trees=(*model.trees[:3], foreign)).check(codes, codes[:0]).ok
    assert not model.check(codes, codes[:1]).ok or not copies(codes, codes[:1], 8).any()


def test_trees_learn_what_depends_on_what_and_pruning_cuts():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, 4000), rng.integers(0, 3, 4000)
    codes = np.column_stack([a, b, (a + b) % 3]).astype(np.int32)
    domains = tuple(Names(n, -1, tuple(map(str, range(m))), 0) for n, m in (("a", 4), ("b", 3), ("c", 3)))
    made = fit_trees(codes, domains, 5, 0.0).draw(2000, rng)
    assert np.mean((made[:, 0] + made[:, 1]) % 3 == made[:, 2]) == 1.0
    noise = np.column_stack([rng.integers(0, 9, (3000, 2))]).astype(np.int32)
    plain = tuple(Names(n, -1, tuple(map(str, range(9))), 0) for n in "ab")
    assert (
        len(fit_trees(noise, plain, 5, 0.0).trees[1].leaves)
        > len(fit_trees(noise, plain, 5, 0.01).trees[1].leaves)
        == 1
    )


def test_a_split_is_the_best_there_is():
    """The first split, against all cuts of ordered codes tried one by one."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        x = rng.integers(0, 6, (60, 2)).astype(np.int32)
        y = (x[:, 0] + rng.integers(0, 3, 60)).clip(0, 5).astype(np.int32)
        domains = tuple(Numbers(n, -1, np.arange(6), np.arange(6), 1.0, 0) for n in "abc")
        tree = fit_trees(np.column_stack([x, y]), domains, 5, 0.0).trees[2]

        def disorder(part: np.ndarray) -> float:
            return float(((part - part.mean()) ** 2).sum()) if len(part) else 0.0

        cuts = {(j, c): disorder(y[x[:, j] <= c]) + disorder(y[x[:, j] > c]) for j in range(2) for c in range(5)
                if 5 <= (x[:, j] <= c).sum() <= 55}  # fmt: skip
        left = tree.goes_left[0][x[:, tree.feature[0]]] == 1
        assert disorder(y[left]) + disorder(y[~left]) == pytest.approx(min(cuts.values()))


@pytest.mark.parametrize("rho", [-0.7, 0.0, 0.4, 0.9])
def test_the_copula_finds_what_correlates_behind_codes(rho: float):
    rng = np.random.default_rng(7)
    behind = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 40_000)
    codes = np.column_stack([behind[:, 0] > 0.8, np.searchsorted([-1.0, 0.2, 1.0], behind[:, 1])]).astype(np.int32)
    domains = (Names("a", -1, ("0", "1"), 0, None, True), Names("b", -1, tuple("0123"), 0, None, True))
    model = fit_copula(codes, domains, 2)
    assert model.correlation[0, 1] == pytest.approx(rho, abs=0.04)
    made = model.draw(40_000, rng)
    for j in range(2):
        assert np.bincount(made[:, j]) / 40_000 == pytest.approx(np.bincount(codes[:, j]) / 40_000, abs=0.01)
    pairs = [np.bincount(c[:, 0] * 4 + c[:, 1], minlength=8) / 40_000 for c in (codes, made)]
    assert pairs[0] == pytest.approx(pairs[1], abs=0.015)


def test_tables_without_negatives_are_the_nearest_ones():
    rng = np.random.default_rng(2)
    for _ in range(50):
        noisy = rng.normal(3, 5, 6)
        total = float(rng.uniform(1, 30))
        out = without_negatives(noisy, total)
        assert out.min() >= 0
        assert out.sum() == pytest.approx(total)
        for _ in range(20):
            other = rng.dirichlet(np.ones(6)) * total
            assert ((out - noisy) ** 2).sum() <= ((other - noisy) ** 2).sum() + 1e-9


def test_distances_are_those_of_plain_code():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 5, (30, 3)).astype(np.int32), rng.integers(0, 5, (20, 3)).astype(np.int32)
    scale = np.array([0.25, 0.0, 0.25])
    apart = np.abs(a[:, None] - b[None]) * 0.25
    apart[:, :, 1] = a[:, None, 1] != b[None, :, 1]
    assert nearest(a, b, scale) == pytest.approx(apart.sum(axis=2).min(axis=1))


def test_too_few_people_and_too_few_ways_to_be():
    with pytest.raises(TarnkappeError, match="E450"):
        tk.synthesize(pl.DataFrame({"x": ["a"] * 15}), k=10)
    with pytest.raises(TarnkappeError, match="E450"):
        tk.synthesize(pl.DataFrame({"x": [1.0] * 3 + [None] * 40}), k=10)
    apart = pl.DataFrame({"x": ["a", "b"] * 10, "y": ["c", "d", "d", "c"] * 5})
    with pytest.raises(TarnkappeError, match="E451"):
        tk.synthesize(apart, k=9, seed=1)

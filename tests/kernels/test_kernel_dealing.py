"""The kernels of dealing, and the words that prove what was dealt, against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.kernels.bucketization.anatomizing import join_groups
from tarnkappe.kernels.engines.dealing import gathered, occurrences, runs_in_order, shuffle_block
from tarnkappe.kernels.engines.words import add_digit, pair_words, sum_of_dealt_words, sum_of_words
from tarnkappe.kernels.histograms import run_histogram, run_sums, squares_in_runs

runs_of_codes = st.lists(st.lists(st.integers(0, 99), max_size=50), min_size=1, max_size=8)

WORD = 1 << 64


def flat(runs: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, runs)]), np.array([c for run in runs for c in run], np.int32)


def word(cell: int, group: int) -> int:
    x = ((cell % WORD) << 32) % WORD | (group + 1)
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


@given(runs_of_codes)
def test_codes_of_long_and_short_runs_are_counted_in_order(runs):
    starts, codes = flat(runs)
    indptr, found, counts = run_histogram(starts, codes, np.arange(1, len(codes) + 1), 100)
    at = 0
    for g, run in enumerate(runs):
        expected: Counter[int] = Counter()
        for code in run:
            at += 1
            expected[code] += at
        held = slice(indptr[g], indptr[g + 1])
        assert [*zip(found[held].tolist(), counts[held].tolist(), strict=True)] == sorted(expected.items())
    assert run_sums(starts, codes.astype(np.int64)).tolist() == [sum(run) for run in runs]


@given(st.lists(st.lists(st.tuples(st.integers(0, 63), st.integers(0, 3)), max_size=50), min_size=1, max_size=8))
def test_few_codes_are_counted_in_order_and_those_without_records_are_not_there(runs):
    starts, codes = flat([[code for code, _ in run] for run in runs])
    counts = np.array([n for run in runs for _, n in run], np.int64)
    indptr, found, held = run_histogram(starts, codes, counts, 64)
    for g, run in enumerate(runs):
        expected: Counter[int] = Counter()
        for code, n in run:
            expected[code] += n
        its = slice(indptr[g], indptr[g + 1])
        assert [*zip(found[its].tolist(), held[its].tolist(), strict=True)] == sorted((+expected).items())


@given(runs_of_codes)
def test_squares_of_how_often_each_code_occurs(runs):
    starts, cells = flat(runs)
    codes = (np.arange(100, dtype=np.int32) // 3).astype(np.int32)
    found = squares_in_runs(codes, cells, starts, 1, len(runs), 34)
    assert found.tolist() == [sum(n * n for n in Counter(c // 3 for c in run).values()) for run in runs[1:]]


def test_many_runs_change_their_order_some_at_a_time():
    rng = np.random.default_rng(0)
    size = rng.integers(0, 4, 1000)
    starts, values = np.append(0, np.cumsum(size)), np.arange(size.sum(), dtype=np.int32)
    order = rng.permutation(1000).astype(np.int32)
    out = np.full(len(values), -1, np.int32)
    runs_in_order(values, starts, order, out)
    assert out.tolist() == [i for g in order for i in range(starts[g], starts[g + 1])]


@given(runs_of_codes, st.randoms(use_true_random=False))
def test_runs_change_their_order(runs, chance):
    starts, codes = flat(runs)
    order = [*range(len(runs))]
    chance.shuffle(order)
    out = np.empty(len(codes), np.int32)
    runs_in_order(codes, starts, np.array(order, np.int32), out)
    assert out.tolist() == [c for g in order for c in runs[g]]
    assert occurrences(codes, 100).tolist() == np.bincount(codes, minlength=100).tolist()
    assert gathered(np.arange(100, dtype=np.int32)[::-1].copy(), codes).tolist() == [99 - c for c in codes]


def test_values_shuffled_in_blocks_come_in_every_order():
    rng = np.random.default_rng(1)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(6000):
        values = np.arange(3, dtype=np.int32)
        for first, after in ((1, 3), (0, 1)):
            shuffle_block(values, first, after, rng.random(after - first))
        seen[tuple(values.tolist())] += 1
    assert len(seen) == 6
    assert min(seen.values()) > 850


@given(st.integers(1, 5), st.integers(1, 4), st.lists(st.integers(0, 4), max_size=6))
def test_records_join_groups_behind_those_they_have(n_groups, size, joined):
    joined = sorted(g % n_groups for g in joined)
    groups = [[10 * g + i for i in range(size)] for g in range(n_groups)]
    dealt = np.array([*(c for group in groups for c in group), *[-1] * len(joined)], np.int32)
    join_groups(dealt, np.array(joined, np.int64), np.arange(100, 100 + len(joined), dtype=np.int32), size)
    for i, g in enumerate(joined):
        groups[g].append(100 + i)
    assert dealt.tolist() == [c for group in groups for c in group]


@given(st.lists(st.lists(st.tuples(st.integers(-1, 9), st.integers(0, 9)), min_size=1, max_size=5), max_size=5))
def test_sums_of_words(groups):
    starts = np.cumsum([0, *map(len, groups)])
    place = np.array([p for group in groups for p, _ in group], np.int32)
    count = np.array([n for group in groups for _, n in group], np.int64)
    numbers = np.arange(3, 3 + len(groups))
    pairs = [(p, g + 3, n) for g, group in enumerate(groups) for p, n in group]
    assert pair_words(place, np.array([g for _, g, _ in pairs], np.int32)).tolist() == [word(p, g) for p, g, _ in pairs]
    counted = sum(word(p, g) * n for p, g, n in pairs) % WORD
    assert int(sum_of_words(place, starts, numbers, count)) == counted
    once = sum(word(p, g) for p, g, _ in pairs) % WORD
    assert int(sum_of_words(place, starts, numbers, np.zeros(0, np.int64))) == once
    cells = np.arange(len(place), dtype=np.int32)
    dealt = sum(word(p, g - 2) for p, g, _ in pairs) % WORD
    assert int(sum_of_dealt_words(place, cells, starts, 0, len(groups))) == dealt


def test_digits_that_are_none_stay_none():
    numbers = np.zeros(4, np.int64)
    add_digit(numbers, np.array([1, 0, 5, -1], np.int32), 3)
    add_digit(numbers, np.array([2, 1, 0, 0], np.int32), 4)
    assert numbers.tolist() == [6, 1, -1, -1]

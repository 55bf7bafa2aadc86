"""Hashes of rows and of sets of rows against what they stand for."""

from __future__ import annotations

import numpy as np

from tarnkappe.kernels.multirelational.signatures import add_rows, mix_column, mix_hashes


def hashes_of(columns: list[np.ndarray], node: np.ndarray, start: int = 7) -> np.ndarray:
    out = np.full(len(columns[0]), start, np.uint64)
    for codes in columns:
        mix_column(out, node, codes.astype(np.int32))
    return out


def scramble(x: int) -> int:
    mask = (1 << 64) - 1
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def test_rows_have_the_same_hash_exactly_if_they_show_the_same():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 6, 2000) for _ in range(3)]
    node = np.array([10, 10, 11, 12, 12, 13], np.int32)
    found = hashes_of(columns, node)
    shown = list(zip(*(node[c] for c in columns), strict=True))
    assert len(set(found.tolist())) == len(set(shown)) == len(set(zip(shown, found.tolist(), strict=True)))
    assert not np.array_equal(found, hashes_of(columns[::-1], node)), "the order of columns matters"


def test_a_hash_by_hand():
    found = hashes_of([np.array([1])], np.array([4, 9], np.int32))
    assert int(found[0]) == scramble((7 + 0x9E3779B97F4A7C15 * 10) & ((1 << 64) - 1))


def test_sets_of_rows_do_not_depend_on_their_order_but_on_their_number():
    hashes = np.array([5, 6, 7, 6, 5, 6], np.uint64)
    owner = np.array([0, 0, 0, 1, 1, 2], np.int32)
    every = np.arange(6, dtype=np.int32)
    found = add_rows(hashes, owner, every, 4)
    assert np.array_equal(found, add_rows(hashes[::-1].copy(), owner[::-1].copy(), every, 4))
    assert found[3] == 0
    assert len({int(x) for x in found}) == 4
    twice = add_rows(np.array([6, 6], np.uint64), np.zeros(2, np.int32), every[:2], 1)
    assert twice[0] != found[2], "two rows are not one"
    assert add_rows(np.array([6, 6], np.uint64), np.zeros(2, np.int32), every[:1], 1)[0] == found[2]


def test_hashes_of_everybody_are_mixed_one_after_the_other():
    rng = np.random.default_rng(1)
    parts = [rng.integers(0, 5, 500).astype(np.uint64) for _ in range(2)]
    found = np.zeros(500, np.uint64)
    for part in parts:
        mix_hashes(found, part)
    pairs = list(zip(*parts, strict=True))
    assert len(set(found.tolist())) == len(set(pairs)) == len(set(zip(pairs, found.tolist(), strict=True)))

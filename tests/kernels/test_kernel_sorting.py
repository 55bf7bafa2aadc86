"""The sorting kernels against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.kernels.sorting import dense_ranks, pack, ranks_by_place, sorted_keys, unpack
from tarnkappe.threads import share_evenly, share_out

keys_of_bits = st.integers(0, 63).flatmap(
    lambda bits: st.tuples(st.just(bits), st.lists(st.integers(0, 2**bits - 1), max_size=60))
)


@given(keys_of_bits)
@settings(deadline=None)
def test_keys_are_sorted_stably(case):
    bits, values = case
    ordered, order = sorted_keys(np.array(values, np.uint64), bits)
    assert ordered.tolist() == sorted(values)
    assert order.tolist() == np.argsort(np.array(values, np.uint64), kind="stable").tolist()


@pytest.mark.parametrize("n", [1, 4_095, 4_096, 100_000])
@pytest.mark.parametrize("high", [2, 2000, 2**20, 2**40, 2**63])
@pytest.mark.parametrize("skewed", [False, True])
def test_many_keys_with_many_ties_are_sorted_stably(n: int, high: int, skewed: bool):
    rng = np.random.default_rng(0)
    keys = rng.integers(0, high, n, dtype=np.uint64)
    if skewed:  # nearly all of them are in one bucket
        keys[n // 50 :] &= np.uint64(0xFF)
    ordered, order = sorted_keys(keys.copy(), (high - 1).bit_length(), share_out)
    expected = np.argsort(keys, kind="stable")
    assert np.array_equal(order, expected)
    assert np.array_equal(ordered, keys[expected])
    rank, first, distinct = dense_ranks(keys.copy(), (high - 1).bit_length(), share_out)
    assert [x.tolist() for x in (distinct, first, rank)] == [
        x.tolist() for x in np.unique(keys, return_index=True, return_inverse=True)
    ]


@given(st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 3), max_size=60))
@settings(deadline=None)
def test_dense_ranks_number_the_distinct_keys_in_order(values):
    keys = np.array(values, np.uint64)
    rank, first, ranked = dense_ranks(keys.copy(), 63)
    distinct, inverse = np.unique(keys, return_inverse=True)
    assert rank.tolist() == inverse.tolist()
    assert keys[first].tolist() == ranked.tolist() == distinct.tolist()
    assert first.tolist() == [values.index(int(d)) for d in distinct]


@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 6)), max_size=30))
@settings(deadline=None)
def test_pack_appends_a_column(pairs):
    keys = np.array([k for k, _ in pairs], np.uint64)
    for dtype in (np.int32, np.int64, np.uint8):
        packed = keys.copy()
        pack(packed, np.array([c for _, c in pairs], dtype), 3)
        assert packed.tolist() == [k * 8 + c for k, c in pairs]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=4), st.lists(st.integers(0, 2**63 - 1), max_size=20))
@settings(deadline=None)
def test_unpack_reads_the_last_columns_off(bits, values):
    keys = np.array(values, np.uint64)
    out, before = np.empty((len(values), len(bits)), np.int32), np.empty((len(values), 1), np.int32)
    unpack(keys, [(bits, out), ([3], before)])
    assert keys.tolist() == values
    for j in range(len(bits)):
        below = sum(bits[j + 1 :])
        assert out[:, j].tolist() == [v >> below & (1 << bits[j]) - 1 for v in values]
    assert before[:, 0].tolist() == [v >> sum(bits) & 7 for v in values]


@given(st.lists(st.tuples(st.integers(0, 999), st.integers(0, 0), st.integers(0, 2**31 - 1)), max_size=30))
@settings(deadline=None)
def test_unpack_undoes_pack(table):
    bits = [10, 0, 31]
    keys = np.zeros(len(table), np.uint64)
    for j, width in enumerate(bits):
        pack(keys, np.array([row[j] for row in table], np.int64), width)
    out = np.empty((len(table), 3), np.int32)
    unpack(keys, [(bits, out)])
    assert [tuple(row) for row in out.tolist()] == table


def test_ranks_by_place_of_many_rows_are_those_of_sorted_rows():
    rng = np.random.default_rng(1)
    sizes = [5, 70, 13]
    columns = [rng.integers(0, size - 1, 100_000).astype(kind) for size, kind in zip(sizes, "hbi", strict=True)]
    rank, codes = ranks_by_place(columns, sizes, share_evenly)
    expected, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    assert np.array_equal(codes, expected)
    assert np.array_equal(rank, inverse.ravel())

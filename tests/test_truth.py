"""Tables are compared with plans the same way however many kinds of records there could be."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tarnkappe.recounting import as_words, numbered
from tarnkappe.truth import _as_many_of_each, _Rows


def test_groups_are_compared_by_kind_not_by_row():
    group, n_groups, sizes = np.array([0, 1, 0, -1], np.int32), 2, [3, 4]
    one = _Rows(group, [np.array([0, 2, 0, 1]), np.array([1, 3, 1, 1])], np.array([2, 1, 3, 9]))
    there = np.array([1, 0], np.int32)
    same = _Rows(there, [np.array([2, 0]), np.array([3, 1])], np.array([1, 5]))
    assert _as_many_of_each(one, same, n_groups, sizes)
    assert not _as_many_of_each(one, same._replace(codes=[np.array([2, 0]), np.array([3, 2])]), n_groups, sizes)
    assert not _as_many_of_each(one, same._replace(records=np.array([2, 4])), n_groups, sizes)
    assert not _as_many_of_each(one, same._replace(group=there[::-1]), n_groups, sizes)


@pytest.mark.parametrize("n_columns", [0, 1, 2, 3])
def test_groups_compare_equal_exactly_if_their_counts_are(n_columns: int):
    rng = np.random.default_rng(n_columns)
    n, n_groups, sizes = 200_000, 5_000, [3, 4, 2][:n_columns]
    group, count = rng.integers(-1, n_groups, n, np.int32), rng.integers(0, 3, n)
    columns = [rng.integers(0, size, n, np.int32) for size in sizes]
    one = _Rows(group, columns, count)
    mixed = rng.permutation(n)
    other = _Rows(group[mixed], [column[mixed] for column in columns], count[mixed])
    assert _as_many_of_each(one, other, n_groups, sizes)
    place = int(np.flatnonzero(other.group >= 0)[-1])
    for change in ("group", "records", *range(n_columns)):
        where = other.codes[change] if isinstance(change, int) else getattr(other, change)
        most = sizes[change] if isinstance(change, int) else n_groups
        before = where[place]
        where[place] = (before + 1) % most if change != "records" else before + 1
        really = change == "records" or other.records[place] > 0
        assert _as_many_of_each(one, other, n_groups, sizes) != really
        where[place] = before


def test_words_tell_rows_apart_however_wide_they_are():
    rng = np.random.default_rng(1)
    sizes = [1 << 30, 1, 1 << 30, 7, 1 << 31]
    columns = [rng.integers(0, min(n, 3), 500).astype(np.int64) for n in sizes]
    words = as_words(list(zip(columns, sizes, strict=True)))
    assert 1 < len(words) < len(sizes)
    assert len({*zip(*words, strict=True)}) == len({*zip(*columns, strict=True)})


def test_rows_that_look_alike_have_one_number_wherever_they_stand():
    rng = np.random.default_rng(2)
    codes = [np.repeat(rng.integers(0, 3, 400), 2).astype(np.int32) for _ in range(3)]
    columns = {f"c{j}": (pl.Series([f"{j}{v}" for v in range(3)]), code) for j, code in enumerate(codes)}
    labels, group = numbered(columns)
    rows = [*zip(*codes, strict=True)]
    assert [*dict.fromkeys(rows)] == [tuple(int(text[1]) for text in row) for row in labels.iter_rows()]
    assert group.tolist() == [[*dict.fromkeys(rows)].index(row) for row in rows]


def test_no_rows_have_no_numbers():
    labels, group = numbered({"a": (pl.Series(["x"]), np.zeros(0, np.int32))})
    assert (labels.height, len(group)) == (0, 0)

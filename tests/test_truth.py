"""Tables are compared with plans the same way however many kinds of records there could be."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.truth import _same_counts, as_words


@pytest.mark.parametrize("few", [0, 1 << 24])
def test_counts_are_compared_by_kind_not_by_row(few: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tarnkappe.truth._FEW", few)
    sizes = [3, 4]
    one = [np.array([0, 2, 0]), np.array([1, 3, 1])], np.array([2, 1, 3])
    same = [np.array([2, 0]), np.array([3, 1])], np.array([1, 5])
    moved = [np.array([2, 0]), np.array([3, 2])], np.array([1, 5])
    fewer = [np.array([2, 0]), np.array([3, 1])], np.array([2, 4])
    assert _same_counts(one, same, sizes)
    assert not _same_counts(one, moved, sizes)
    assert not _same_counts(one, fewer, sizes)


def test_words_tell_rows_apart_however_wide_they_are():
    rng = np.random.default_rng(1)
    sizes = [1 << 30, 1, 1 << 30, 7, 1 << 31]
    columns = [rng.integers(0, min(n, 3), 500).astype(np.int64) for n in sizes]
    words = as_words(list(zip(columns, sizes, strict=True)))
    assert 1 < len(words) < len(sizes)
    assert len({*zip(*words, strict=True)}) == len({*zip(*columns, strict=True)})

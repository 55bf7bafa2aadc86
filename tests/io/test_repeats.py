"""How often words are repeated, however many there are of each."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.io import repeats
from tarnkappe.io.repeats import repeats_of


def counted(words: list[int]) -> dict[int, int]:
    return dict(sorted(Counter(Counter(words).values()).items()))


@given(st.lists(st.lists(st.integers(0, 20), max_size=60), max_size=4), st.booleans())
def test_words_in_several_pieces(parts, many):
    words = pl.concat([pl.Series(part, dtype=pl.UInt64) for part in [[], *parts]], rechunk=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "_MANY", 0 if many else 1 << 18)
        assert repeats_of(words) == counted(words.to_list())


@pytest.mark.parametrize("few", [1 << 13, 16])
@pytest.mark.parametrize("often", [1 << 12, 4])
def test_many_words(few: int, often: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(repeats, "_MANY", 0)
    monkeypatch.setattr(repeats, "_FEW", few)
    monkeypatch.setattr(repeats, "_OFTEN", often)
    rng = np.random.default_rng(1)
    for words in (
        rng.integers(0, 5000, 20_000),
        rng.integers(0, 1 << 62, 20_000),
        np.zeros(10_000, np.int64),
        np.arange(20_000) << 40,
        np.repeat(np.arange(5), [1, 20, 5000, 9000, 1]),
    ):
        assert repeats_of(pl.Series(words.astype(np.uint64))) == counted(words.tolist())

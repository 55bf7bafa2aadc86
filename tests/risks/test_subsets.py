"""Special uniques, subsets of columns and keys equal brute force."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_risks import groups, minimal_sample_uniques, plain_keys, plain_scores, plain_separation

import tarnkappe as tk
from tarnkappe.errors import JobError
from tarnkappe.io import open_source
from tarnkappe.risks.quasi import quasi_analysis
from tarnkappe.risks.reading import combinations_of
from tarnkappe.risks.special import special_uniques
from tarnkappe.risks.subsets import largest_size

NAMES = ("a", "b", "c", "d")
TABLES = st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=25)


def cells(rows):
    table = pl.DataFrame(rows, list(NAMES), orient="row")
    return combinations_of(open_source(table), NAMES), table


@given(TABLES, st.integers(1, 4), st.floats(0.01, 0.9))
def test_special_uniques(rows, most: int, sampling: float):
    given_, table = cells(rows)
    found = special_uniques(given_, most, sampling)
    values = open_source(table).cells(NAMES).frame().rows()
    scores = dict(zip(rows, plain_scores(rows, most), strict=True))
    for at, score in zip(found.row, found.score, strict=True):
        assert score == scores[values[at]]
    msus = [m for row in minimal_sample_uniques(rows, most) for m in row]
    assert list(found.by_size) == [sum(len(m) == size for m in msus) for size in range(1, most + 1)]
    sizes = list(groups(rows, range(4)).values())
    uniques, paired = sizes.count(1), 2 * sizes.count(2)
    if not uniques:
        assert found.dis is None
        return
    of_file = uniques * sampling / (uniques * sampling + paired * (1 - sampling))
    assert found.file_dis == pytest.approx(of_file)
    power = 1 + (8 - 4) / 20
    spread = sum(s**-power for s in found.score if s > 0)
    for score, dis in zip(found.score, found.dis, strict=True):
        right = 1 / (1 + uniques * (1 / of_file - 1) / (score**power * spread)) if score else 0.0
        assert dis == pytest.approx(right)


def test_special_uniques_by_hand():
    """Only the last is unique: in b alone, which no smaller set does, so it scores (3 - 1)(3 - 2) = 2."""
    rows = [(1, 1, 1, 0), (1, 1, 1, 0), (1, 2, 1, 0)]
    found = special_uniques(combinations_of(open_source(pl.DataFrame(rows, list(NAMES), orient="row")), NAMES[:3]))
    assert found.score.tolist() == [2.0]
    assert found.contribution == {"a": 0.0, "b": 1.0, "c": 0.0}


@given(TABLES)
def test_every_subset(rows):
    given_, _ = cells(rows)
    found = quasi_analysis(given_)
    assert len(found.subsets) == 15
    for subset in found.subsets:
        columns = [NAMES.index(c) for c in subset.columns]
        sizes = list(groups(rows, columns).values())
        assert subset.unique == sizes.count(1) / len(rows)
        assert subset.distinction == len(sizes) / len(rows)
        assert subset.separation == pytest.approx(plain_separation(rows, columns))
    assert set(found.keys) == {tuple(NAMES[j] for j in key) for key in plain_keys(rows)}


def test_larger_subsets_are_left_out_and_it_is_said():
    rng = np.random.default_rng(1)
    table = pl.DataFrame({f"c{j:02}": rng.integers(0, 3, 400) for j in range(30)})
    found = tk.risk(table, table.columns, subsets=True, special=True, most=2)
    assert found.subsets is not None
    assert found.special is not None
    assert not found.subsets.is_complete
    assert {len(s.columns) for s in found.subsets.subsets} == {1, 2}
    assert largest_size(30, 400) < 30


def test_subset_by_name():
    found = quasi_analysis(cells([(0, 0, 0, 0), (1, 0, 0, 0)])[0])
    assert found.of("a").unique == 1.0
    assert found.keys == (("a",),)
    with pytest.raises(JobError):
        found.of("nothing")

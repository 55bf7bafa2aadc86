"""Cells are counted right, however many columns and values there are."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import domains, tallies
from tarnkappe.tally import Domain, Tally, count_cells, distinct_rows
from tarnkappe.taxonomy.tree import Taxonomy

rows = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        st.lists(st.integers(1, 6), min_size=width, max_size=width),
        st.lists(st.tuples(*[st.integers(0, 5)] * width), max_size=40),
    )
)


def check_ranks(table: list[tuple[int, ...]], sizes: list[int]) -> None:
    columns = [np.array([row[j] for row in table], np.int32) for j in range(len(sizes))]
    rank, first = distinct_rows(columns, sizes)
    distinct = sorted(set(table))
    assert rank.tolist() == [distinct.index(row) for row in table]
    assert [table[i] for i in first] == distinct


@given(rows)
@settings(deadline=None)
def test_distinct_rows_are_numbered_in_lexicographic_order(case):
    sizes, table = case
    check_ranks([tuple(v % s for v, s in zip(row, sizes, strict=True)) for row in table], sizes)


@given(st.integers(2, 9), st.lists(st.lists(st.integers(0, 2**31 - 2), min_size=9, max_size=9), max_size=30))
@settings(deadline=None)
def test_columns_that_do_not_fit_into_one_key_are_ranked_on_the_way(width, table):
    """Nine columns of two thousand million values each: the product of the sizes is 2**279."""
    check_ranks([tuple(row[:width]) for row in table], [2**31 - 1] * width)


@pytest.mark.parametrize(
    "sizes",
    [
        [2**21, 2**21, 2**21],  # exactly 63 bits: one key
        [2**21, 2**21, 2**21, 2],  # one bit too many
        [2**31 - 1, 2**31 - 1, 2],
        [2**31 - 1, 2**31 - 1, 3],
        [1, 2**31 - 1, 1, 2**31 - 1, 1, 2**31 - 1],
        [2] * 64,
        [3] * 60,
    ],
)
def test_keys_at_the_edge_of_63_bits(sizes):
    rng = np.random.default_rng(0)
    extremes = [tuple(int(rng.choice([0, s // 2, s - 1])) for s in sizes) for _ in range(200)]
    last = tuple(s - 1 for s in sizes)
    check_ranks([*extremes, last, tuple(0 for _ in sizes), (*last[:-1], max(0, last[-1] - 1))], sizes)


def test_no_rows():
    rank, first = distinct_rows([np.zeros(0, np.int32)] * 5, [2**31 - 1] * 5)
    assert rank.tolist() == first.tolist() == []


def scale(name: str, size: int) -> Domain:
    return Domain(name, Taxonomy.scale([f"{name}{i}" for i in range(size)]))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1)), max_size=60))
@settings(deadline=None)
def test_cells_are_the_distinct_records_with_their_number(records):
    a, b, s = (np.array([r[j] for r in records], np.int32) for j in range(3))
    tally, cell = count_cells([a, b], [s], [scale("a", 3), scale("b", 4)], [scale("s", 2)])
    expected = Counter(records)
    found = [(*q, *v) for q, v in zip(tally.quasi.tolist(), tally.sensitive.tolist(), strict=True)]
    assert found == sorted(expected)  # sorted by quasi-identifiers, then by sensitive values
    assert tally.count.tolist() == [expected[key] for key in found]
    assert [found[c] for c in cell] == records
    assert tally.n_records == len(records)
    assert tally.n_cells == len(expected)
    per_tuple = Counter(r[:2] for r in records)
    assert tally.n_tuples == len(per_tuple)
    assert tally.tuple_sizes.tolist() == [per_tuple[key] for key in sorted(per_tuple)]


def test_cells_of_columns_that_do_not_fit_into_one_key():
    """Eight columns of a thousand values: 80 bits."""
    rng = np.random.default_rng(0)
    domains = [scale(f"c{j}", 1000) for j in range(8)]
    columns = [rng.choice([0, 1, 511, 512, 999], 300) for _ in domains]
    again = [np.concatenate([c, c[:50]]) for c in columns]
    tally, cell = count_cells(again[:6], again[6:], domains[:6], domains[6:])
    records = list(zip(*(c.tolist() for c in again), strict=True))
    expected = Counter(records)
    found = [(*q, *v) for q, v in zip(tally.quasi.tolist(), tally.sensitive.tolist(), strict=True)]
    assert found == sorted(expected)
    assert tally.count.tolist() == [expected[key] for key in found]
    assert [found[c] for c in cell] == records


@pytest.mark.parametrize("size", [7, 20_000])
def test_cells_of_a_large_table_are_counted_in_threads(size: int):
    """With many records to a cell, and with few; threads share only so many records."""
    rng = np.random.default_rng(size)
    age, secret = rng.integers(0, size, 100_003), rng.integers(0, 3, 100_003)
    column = [Domain("age", Taxonomy.scale([str(i) for i in range(size)]))]
    tally, cell = count_cells([age], [secret], column, [Domain("secret", Taxonomy.scale(["0", "1", "2"]))])
    found = zip(tally.quasi[:, 0].tolist(), tally.sensitive[:, 0].tolist(), tally.count.tolist(), strict=True)
    assert {(a, s): n for a, s, n in found} == Counter(zip(age.tolist(), secret.tolist(), strict=True))
    assert np.array_equal(tally.quasi[cell, 0], age)
    assert np.array_equal(tally.sensitive[cell, 0], secret)


def test_an_empty_table():
    none = np.zeros(0, np.int32)
    tally, cell = count_cells([none], [none], [scale("a", 3)], [scale("s", 2)])
    assert (tally.n_cells, tally.n_records, tally.n_tuples, len(cell)) == (0, 0, 0, 0)
    assert tally.tuple_sizes.tolist() == []
    assert [part.tolist() for part in tally.joint] == [[], []]


def test_a_table_without_sensitive_columns():
    tally, _ = count_cells([np.array([0, 0, 1])], [], [scale("a", 2)], [])
    assert tally.sensitive.shape == (2, 0)
    codes, values = tally.joint
    assert codes.tolist() == [0, 0]
    assert values.shape == (1, 0)


def test_codes_cannot_be_changed_by_an_algorithm():
    tally, _ = count_cells([np.array([0, 1])], [np.array([1, 0])], [scale("a", 2)], [scale("s", 2)])
    with pytest.raises(ValueError, match="read-only"):
        tally.quasi[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        tally.sensitive[0, 0] = 0


@given(tallies(n_sensitive=3))
@settings(deadline=None)
def test_joint_codes_stand_for_the_combination_of_sensitive_values(tally: Tally):
    codes, values = tally.joint
    assert np.array_equal(values[codes], tally.sensitive)
    assert len(np.unique(values, axis=0)) == len(values)


def test_sensitive_columns_by_name():
    tally, _ = count_cells([np.array([0])], [np.array([0])] * 2, [scale("a", 1)], [scale("s", 1), scale("t", 1)])
    assert tally.sensitive_index("t") == 1


class TestDomain:
    numeric = Domain("age", Taxonomy.scale(["20", "25", "60"]), np.array([20.0, 25.0, 60.0]))
    ordered = Domain("grade", Taxonomy.scale(["a", "b", "c", "d", "e"]))
    tree = Domain("city", Taxonomy.from_nested({"North": ["n1", "n2", "n3"], "South": ["s1", "s2"]}))
    gaps = Domain(
        "age", Taxonomy.scale(["20", "25", "60"]).with_missing("?"), np.array([20.0, 25.0, 60.0, np.nan]), missing=3
    )

    def width(self, domain: Domain, lo: int, hi: int) -> float:
        low, high = np.array([lo], np.int32), np.array([hi], np.int32)
        return float(domain.widths(low, high, domain.nodes(low, high))[0])

    def test_a_numeric_range_covers_by_distance(self):
        assert self.width(self.numeric, 0, 1) == 5 / 40
        assert self.width(self.numeric, 1, 2) == 35 / 40
        assert self.width(self.numeric, 0, 2) == 1
        assert self.width(self.numeric, 1, 1) == 0
        assert self.numeric.is_integer
        assert self.numeric.extent == 40

    def test_an_ordered_range_covers_by_steps(self):
        assert self.width(self.ordered, 1, 3) == 2 / 4
        assert self.ordered.extent == 4
        assert not self.ordered.is_integer

    def test_a_node_covers_by_leaves(self):
        assert self.width(self.tree, 0, 2) == 2 / 4
        assert self.width(self.tree, 0, 1) == 2 / 4  # published is North
        assert self.width(self.tree, 3, 4) == 1 / 4
        assert self.width(self.tree, 2, 3) == 1

    def test_a_missing_value_is_not_on_the_scale(self):
        assert self.gaps.extent == 40
        assert self.width(self.gaps, 0, 1) == 5 / 40
        assert self.width(self.gaps, 2, 3) == 1  # only the root covers a number and a missing value
        assert self.width(self.gaps, 3, 3) == 0

    @given(domains(), st.data())
    @settings(deadline=None)
    def test_widths_grow_with_the_box_and_stay_between_0_and_1(self, domain, data):
        lo = data.draw(st.integers(0, domain.size - 1))
        hi = data.draw(st.integers(lo, domain.size - 1))
        width = self.width(domain, lo, hi)
        assert 0 <= width <= 1
        assert self.width(domain, lo, lo) == 0
        assert self.width(domain, 0, domain.size - 1) == (domain.size > 1)
        assert width <= self.width(domain, max(0, lo - 1), hi) + 1e-12

    def test_decimals_are_no_whole_numbers(self):
        decimals = Domain("x", Taxonomy.scale(["1.5", "2"]), np.array([1.5, 2.0]))
        assert not decimals.is_integer


def test_cells_are_the_same_whether_they_are_listed_or_sorted(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(5)
    sizes = [3, 1, 4, 2]
    named = [Domain(f"c{j}", Taxonomy.scale([str(v) for v in range(n)])) for j, n in enumerate(sizes)]
    columns = [rng.integers(0, n, 200).astype(np.int32) for n in sizes]
    for weights in (None, rng.integers(1, 9, 200)):
        found = []
        for places in (4, 0):
            monkeypatch.setattr("tarnkappe.tally._PLACES", places)
            found.append(count_cells(columns[:3], columns[3:], named[:3], named[3:], weights))
        (listed, cell), (sorted_, same) = found
        assert np.array_equal(cell, same)
        assert cell.dtype == same.dtype
        for name in ("quasi", "sensitive", "count"):
            one, other = getattr(listed, name), getattr(sorted_, name)
            assert np.array_equal(one, other)
            assert one.dtype == other.dtype

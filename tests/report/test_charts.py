import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.columns import ColumnSummary
from tarnkappe.report.charts import kept_bars, size_bins, size_histogram

SIZES = st.dictionaries(st.integers(1, 10**9), st.integers(1, 10**6), min_size=1, max_size=300).map(
    lambda d: tuple(sorted(d.items()))
)


@given(SIZES)
def test_every_group_and_record_is_in_exactly_one_bin(sizes):
    bins = size_bins(sizes)
    assert sum(b.groups for b in bins) == sum(groups for _, groups in sizes)
    assert sum(b.records for b in bins) == sum(size * groups for size, groups in sizes)
    for b in bins:
        assert b.groups == sum(groups for size, groups in sizes if b.low <= size <= b.high)


@given(SIZES)
def test_bins_are_few_adjacent_and_end_where_the_sizes_end(sizes):
    bins = size_bins(sizes)
    assert len(bins) <= 20
    assert bins[0].low == sizes[0][0]
    assert bins[-1].high == sizes[-1][0]
    for left, right in pairwise(bins):
        assert left.low <= left.high == right.low - 1


def test_few_sizes_get_a_bar_each():
    assert [b.label for b in size_bins([(5, 3), (8, 1)])] == ["5", "6", "7", "8"]


def test_a_narrow_range_is_cut_in_equal_round_steps():
    bins = size_bins([(97, 1), (600, 1)])
    assert [b.label for b in bins][:3] == ["97–99", "100–149", "150–199"]
    assert bins[-1].label == "600"


def test_a_wide_range_is_cut_in_growing_steps():
    bins = size_bins([(2, 5), (100_000, 1)])
    widths = [b.high - b.low + 1 for b in bins[:-1]]
    assert widths == sorted(widths)
    assert [b.low for b in bins][:6] == [2, 3, 5, 10, 20, 30]


def test_five_thousand_sizes_make_a_small_chart():
    sizes = [(2 + 20 * i, 200) for i in range(5000)]
    chart = size_histogram(sizes)
    assert len(chart) < 10_000
    cells = re.findall(r'<td class="num">([\d\s]+)</td><td class="num">[\d\s]+</td><td class="num">[^<]+%', chart)
    assert sum(int("".join(c.split())) for c in cells) == 1_000_000


def test_bars_are_as_tall_as_their_groups_and_rare_sizes_stay_visible():
    chart = size_histogram([(5, 1000), (6, 500), (7, 1)])
    heights = [float(h) for h in re.findall(r"<rect [^>]*height=\"([\d.]+)\"", chart)]
    assert heights[0] == pytest.approx(2 * heights[1], rel=0.01)
    assert heights[2] > 1


def test_charts_are_described_in_words():
    for chart in (size_histogram([(5, 9), (6, 1)]), kept_bars([ColumnSummary("age", "quasi", "", None, 0.25)])):
        assert 'role="img"' in chart
        assert re.search(r"<title id=[^>]+>[^<]+</title><desc id=[^>]+>[^<]+</desc>", chart)
        assert re.search(r"<details><summary>[^<]+</summary><div[^>]*><table>", chart)
    assert "the commonest size is 5 with 9 groups" in size_histogram([(5, 9), (6, 1)])


def test_colours_are_the_page_s_own_with_a_fallback():
    chart = size_histogram([(5, 9)])
    assert re.findall(r"(?:fill|stroke):(?!var\(--\w+,#[0-9a-f]{6}\))", chart) == []


def test_no_groups_no_chart():
    assert "<svg" not in size_histogram([])


def test_details_kept_are_sorted_labelled_and_drawn_to_scale():
    columns = [
        ColumnSummary("sex", "quasi", "", None, 0.0),
        ColumnSummary("zip", "quasi", "", None, 0.6),
        ColumnSummary("illness", "sensitive", ""),
    ]
    chart = kept_bars(columns)
    assert chart.index(">zip<") < chart.index(">sex<")
    assert "illness" not in chart
    assert 'width="40.00%"' in chart
    assert ">40.0\u00a0%<" in chart


def test_names_in_charts_are_escaped():
    chart = kept_bars([ColumnSummary("<script>alert(1)</script>", "quasi", "", None, 0.5)])
    assert "<script" not in chart
    assert "&lt;script&gt;" in chart


def test_many_columns_are_cut_in_the_chart_but_not_in_the_table():
    columns = [ColumnSummary(f"q{i}", "quasi", "", None, i / 200) for i in range(200)]
    chart = kept_bars(columns)
    assert chart.count("<rect") == 80
    assert "160 more columns" in chart
    assert chart.count("<tr>") == 201


def test_nothing_coarsened_nothing_drawn():
    assert "<svg" not in kept_bars([ColumnSummary("illness", "sensitive", "")])

"""Intervals, prefixes and dates: every value is covered, in order, by groups that say what is true."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from taxonomy_laws import assert_lawful

from tarnkappe.errors import JobError, TaxonomyError
from tarnkappe.taxonomy import builder_from, dates, intervals, prefix
from tarnkappe.taxonomy.calendar import Dates
from tarnkappe.taxonomy.computed import Intervals, Prefix


def labels_of(taxonomy, leaf):
    return next(path for path in taxonomy.paths() if path[0] == leaf)


# --- intervals


def test_intervals_with_bottom_and_top_coding_as_in_the_job_file():
    taxonomy = Intervals(widths=[5, 10, 20], start=15, bottom=20, top=80).build([17, 19, 23, 79, 80, 99], "age")
    assert taxonomy.paths() == [
        ("17", "<20", "<20", "<20", "*"),
        ("19", "<20", "<20", "<20", "*"),
        ("23", "20-24", "20-24", "20-34", "*"),
        ("79", "75-79", "75-79", "75-79", "*"),
        ("80", "≥80", "≥80", "≥80", "*"),
        ("99", "≥80", "≥80", "≥80", "*"),
    ]


def test_negative_numbers_have_readable_intervals():
    taxonomy = intervals(5).build(np.array([-7, -5, -1, 0, 4]), "t")
    assert [path[1] for path in taxonomy.paths()] == ["-10 to -6", "-5 to -1", "-5 to -1", "0-4", "0-4"]


def test_decimals_have_no_binary_artefacts():
    taxonomy = intervals(0.1, 0.2).build(np.array([0.1, 0.2, 0.3, 0.7, -0.1]), "x")
    assert taxonomy.paths() == [
        ("-0.1", "[-0.1, 0)", "[-0.2, 0)", "*"),
        ("0.1", "[0.1, 0.2)", "[0, 0.2)", "*"),
        ("0.2", "[0.2, 0.3)", "[0.2, 0.4)", "*"),
        ("0.3", "[0.3, 0.4)", "[0.2, 0.4)", "*"),
        ("0.7", "[0.7, 0.8)", "[0.6, 0.8)", "*"),
    ]


def test_open_ends_of_decimals():
    taxonomy = intervals(1, bottom=0.5, top=2.5).build(np.array([0.25, 0.5, 2.0, 2.5]), "x")
    assert [path[1] for path in taxonomy.paths()] == ["<0.5", "[0.5, 1)", "[2, 2.5)", "≥2.5"]


def test_texts_keep_their_spelling_and_sort_as_numbers():
    taxonomy = intervals(10).build(["9", "025", "25", "100"], "code")
    assert taxonomy.leaves == ("9", "025", "25", "100")
    assert labels_of(taxonomy, "025") == ("025", "20-29", "*")


def test_an_interval_of_one_whole_number_is_the_number():
    assert intervals(1, 10).build(np.array([3, 14]), "n").paths() == [
        ("3", "3", "0-9", "*"),
        ("14", "14", "10-19", "*"),
    ]


@given(
    st.lists(st.decimals(-10_000, 10_000, places=2), min_size=1, max_size=30, unique=True),
    st.sampled_from([(1,), (0.25, 1), (5, 10, 20), (0.1, 0.3)]),
    st.none() | st.integers(-50, 50),
    st.none() | st.integers(-100, -1),
    st.none() | st.integers(1, 100),
)
def test_every_number_lies_in_its_intervals(numbers, widths, start, bottom, top):
    taxonomy = Intervals(widths=widths, start=start, bottom=bottom, top=top).build([str(n) for n in numbers], "x")
    assert_lawful(taxonomy)
    assert [Decimal(leaf) for leaf in taxonomy.leaves] == sorted(numbers)
    assert taxonomy.height == len(widths) + 1
    for path in taxonomy.paths():
        number = Decimal(path[0])
        for width, label in zip(widths, path[1:], strict=False):
            lo, hi = bounds_of(label)
            assert lo <= number < hi
            assert hi - lo <= Decimal(str(width)) or label[0] in "<≥"


def bounds_of(label: str) -> tuple[Decimal, Decimal]:
    """What a label claims about a number, half-open."""
    if label[0] == "<":
        return Decimal("-Infinity"), Decimal(label[1:])
    if label[0] == "≥":
        return Decimal(label[1:]), Decimal("Infinity")
    if label[0] == "[":
        lo, hi = label[1:-1].split(", ")
        return Decimal(lo), Decimal(hi)
    lo, _, hi = label.partition(" to ") if " to " in label else label.rpartition("-")
    if not hi or not lo:  # one number
        return Decimal(label), Decimal(label) + 1
    return Decimal(lo), Decimal(hi) + 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"widths": []}, "at least one"),
        ({"widths": [5, 12]}, "12 is not a multiple"),
        ({"widths": [10, 5]}, "5 is not a multiple"),
        ({"widths": [5, 5]}, "5 is not a multiple"),
        ({"widths": [5], "bottom": 80, "top": 20}, "less than"),
    ],
)
def test_intervals_that_cannot_be(settings, message):
    with pytest.raises(TaxonomyError, match=message) as caught:
        Intervals(**settings)
    assert caught.value.code == "E203"
    assert caught.value.hint


def test_a_width_of_nothing_is_refused():
    with pytest.raises(JobError) as caught:
        Intervals(widths=[0])
    assert caught.value.code == "E110"


def test_intervals_say_which_values_are_no_numbers():
    with pytest.raises(TaxonomyError, match="1 of 3 values of column 'age'") as caught:
        intervals(5).build(["17", "n/a", "30"], "age", [5, 1200, 7])
    assert caught.value.code == "E204"
    assert caught.value.details == ('not covered: "n/a" (not a number, 1 200 rows)',)
    assert 'missing: ["n/a"]' in caught.value.hint


def test_no_values_no_taxonomy():
    with pytest.raises(TaxonomyError, match="no values") as caught:
        intervals(5).build([], "age")
    assert caught.value.code == "E202"


# --- prefixes


def test_prefixes_mask_the_rest_and_keep_leading_zeros():
    taxonomy = prefix(4, 2).build(["22765", "01234", "22760"], "zip")
    assert taxonomy.paths() == [
        ("01234", "0123*", "01***", "*"),
        ("22760", "2276*", "22***", "*"),
        ("22765", "2276*", "22***", "*"),
    ]


def test_short_codes_are_masked_to_the_width_of_the_longest():
    taxonomy = prefix(4, 2).build(["227", "22765", "2"], "zip")
    assert labels_of(taxonomy, "227") == ("227", "227**", "22***", "*")
    assert labels_of(taxonomy, "2") == ("2", "2****", "2****", "*")


@given(st.lists(st.text("0123ab", min_size=1, max_size=6), min_size=1, unique=True), st.sampled_from([(4, 2), (3, 1)]))
def test_every_code_starts_with_its_prefixes(codes, keep):
    taxonomy = Prefix(keep=keep).build(codes, "code")
    assert_lawful(taxonomy)
    assert sorted(taxonomy.leaves) == sorted(codes)
    width = max(map(len, codes))
    for code, *labels in taxonomy.paths():
        for n, label in zip(keep, labels, strict=False):
            assert label == code[:n] + "*" * (width - len(code[:n]))


@pytest.mark.parametrize(("keep", "why"), [([], "at least one"), ([2, 3], "decrease"), ([3, 3], "decrease")])
def test_prefixes_must_get_shorter(keep, why):
    with pytest.raises(TaxonomyError, match=why) as caught:
        Prefix(keep=keep)
    assert caught.value.code == "E203"


# --- dates


def test_the_whole_ladder_of_periods():
    taxonomy = dates().build(["2020-03-05", "1999-12-31"], "birth")
    assert taxonomy.paths() == [
        ("1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "*"),
        ("2020-03-05", "2020-03", "2020-Q1", "2020", "2020s", "*"),
    ]


def test_german_dates_are_read_without_a_format_and_sorted_by_time():
    taxonomy = dates("year").build(["31.01.2020", "01.02.2019", "15.06.2019"], "birth")
    assert taxonomy.leaves == ("01.02.2019", "15.06.2019", "31.01.2020")


def test_times_have_the_day_as_their_first_level():
    taxonomy = dates(format="%Y-%m-%d %H:%M").build(["2020-03-05 23:59", "2020-03-05 00:01"], "seen")
    assert taxonomy.leaves == ("2020-03-05 00:01", "2020-03-05 23:59")
    assert taxonomy.paths()[0][:3] == ("2020-03-05 00:01", "2020-03-05", "2020-03")


def test_the_day_of_a_date_is_the_date():
    assert dates("day", "year").build(["2020-03-05"], "d").paths() == [("2020-03-05", "2020", "*")]


def test_coarse_dates_are_not_made_precise():
    assert dates(format="%Y").build(["2020", "1987"], "y").paths() == [("1987", "1980s", "*"), ("2020", "2020s", "*")]
    assert dates(format="%m/%Y").build(["03/2020"], "m").paths()[0][1] == "2020-Q1"
    with pytest.raises(TaxonomyError, match="do not tell the month") as caught:
        Dates(levels=["month", "year"], format="%Y")
    assert caught.value.code == "E203"
    assert caught.value.hint == "levels: [year, decade]"


@given(
    st.lists(st.dates(datetime.date(1000, 1, 1)), min_size=1, max_size=30, unique=True),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"]),
)
def test_every_date_lies_in_its_periods_in_chronological_order(days, form):
    taxonomy = dates(format=form).build([day.strftime(form) for day in days], "birth")
    assert_lawful(taxonomy)
    assert list(taxonomy.leaves) == [day.strftime(form) for day in sorted(days)]
    for day, (_, month, quarter, year, decade, root) in zip(sorted(days), taxonomy.paths(), strict=True):
        assert day.isoformat().startswith(month)
        assert quarter == f"{year}-Q{(day.month - 1) // 3 + 1}"
        assert int(year) == day.year
        assert int(decade[:-1]) == day.year // 10 * 10
        assert root == "*"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"levels": ["year", "month"]}, "fine to coarse"),
        ({"levels": []}, "fine to coarse"),
        ({"format": "%d.%m."}, "no year"),
        ({"format": "%Q-%Y"}, "%Q"),
        ({"format": "%Y-%"}, "not supported"),
    ],
)
def test_dates_that_cannot_be(settings, message):
    with pytest.raises(TaxonomyError, match=message) as caught:
        Dates(**settings)
    assert caught.value.code == "E203"


def test_an_unknown_period_is_refused_with_the_close_one():
    with pytest.raises(JobError, match="did you mean 'month'"):
        Dates(levels=["months"])


def test_dates_propose_the_format():
    with pytest.raises(TaxonomyError, match="2 of 2 values") as caught:
        dates("year").build(["03/27/2020", "11/30/2019"], "seen")
    assert caught.value.code == "E204"
    assert 'format: "%m/%d/%Y"' in caught.value.hint
    proposed = dates("year", format="%m/%d/%Y").build(["03/27/2020", "11/30/2019"], "seen")
    assert proposed.leaves == ("11/30/2019", "03/27/2020")


#: A day in March and one in December, as people write them, with the format that reads both, or several.
WRITTEN = {
    ("27/03/2020", "01/12/2019"): ["%d/%m/%Y"],
    ("03/07/2020", "12/01/2019"): ["%d/%m/%Y", "%m/%d/%Y"],
    ("20200327", "20191201"): ["%Y%m%d"],
    ("27.03.20", "01.12.19"): ["%d.%m.%y"],
    ("200327", "191201"): ["%y%m%d", "%d%m%y"],
    ("27032020", "01122019"): ["%d%m%Y"],
    ("27 Mar 2020", "01 Dec 2019"): ["%d %b %Y"],
    ("March 27, 2020", "December 1, 2019"): ["%B %d, %Y"],
    ("27mar2020", "01dec2019"): ["%d%b%Y"],
    ("3/27/2020 1:05 PM", "12/1/2019 11:00 AM"): ["%m/%d/%Y %I:%M %p"],
    ("2020/03/27 13:05:00+01:00", "2019/12/01 11:00:00Z"): ["%Y/%m/%d %H:%M:%S%z"],
    ("03/2020", "12/2019"): ["%m/%Y"],
    ("2020", "2019"): ["%Y"],
}


@pytest.mark.parametrize("texts", WRITTEN, ids=str)
def test_a_proposed_format_works_when_pasted(texts: tuple[str, ...]):
    with pytest.raises(TaxonomyError) as caught:
        dates("month", "year").build(list(texts), "seen")
    for form in WRITTEN[texts]:
        assert f'"{form}"' in caught.value.hint
    assert caught.value.hint.count("%Y") + caught.value.hint.count("%y") == len(WRITTEN[texts])
    pasted = eval(re.search(r"dates\(.*?\)", caught.value.python_hint).group(), {"dates": dates})
    assert {path[-2] for path in pasted.build(list(texts), "seen").paths()} <= {"2020", "2019", "2020s", "2010s"}
    in_job = yaml.safe_load(re.search(r"taxonomy: \{.*?\}", caught.value.hint).group())
    assert builder_from(in_job["taxonomy"], "seen") == pasted


def test_dates_among_which_a_few_are_none():
    values = [*(f"2020-01-{i:02d}" for i in range(1, 29)), "in May"]
    with pytest.raises(TaxonomyError) as caught:
        dates().build(values, "seen")
    assert "missing: ['', \"in May\"]" in caught.value.hint
    with pytest.raises(TaxonomyError, match="29 of 29") as caught:
        dates(format="%d/%m/%Y").build(values, "seen")
    assert '28 of 29:  taxonomy: {kind: dates, format: "%Y-%m-%d"}' in caught.value.hint


def test_numbers_without_signs_between_them_have_all_their_digits():
    """strptime takes 210131 for the first of March of the year 2101, and November 2020 for the first of January."""
    with pytest.raises(TaxonomyError) as caught:
        dates().build(["210131", "210122", "210213"], "seen")
    assert "%Y" not in caught.value.hint
    assert Dates(format="%Y%m%d").unknown(["20210131", "210131", "202011", "2021131"], "seen") == [1, 2, 3]
    assert not Dates(format="%Y%m%d %H:%M").unknown(["20210131 7:05"], "seen")
    assert not Dates(format="%d%b%Y").unknown(["1Jan2021"], "seen")


def test_a_format_that_reads_fewer_than_half_of_the_values_is_not_proposed():
    days = [f"{i}. {month} 2020" for i in range(1, 29) for month in ("April", "Mai", "Juni", "Juli", "Oktober")]
    with pytest.raises(TaxonomyError) as caught:
        dates().build(days, "seen")
    assert "%" not in caught.value.hint


def test_years_of_two_digits_are_said_to_have_a_guessed_century():
    with pytest.raises(TaxonomyError) as caught:
        dates().build(["27.03.35", "01.12.87"], "birth")
    assert 'format: "%d.%m.%y"' in caught.value.hint
    assert "69 is read as 1969 and 68 as 2068" in caught.value.hint
    assert {path[-2] for path in dates("year", format="%d.%m.%y").build(["27.03.68", "01.12.69"], "birth").paths()} == {
        "2068",
        "1969",
    }


def test_what_is_no_date_at_all_is_not_given_a_format():
    with pytest.raises(TaxonomyError) as caught:
        dates().build(["red", "blue", "green", "grey", "black", "white"], "colour")
    assert "%" not in caught.value.hint
    assert "colour: {role: quasi, taxonomy: suppress}" in caught.value.hint


@pytest.mark.parametrize(
    "texts",
    [
        ("2020-03-05 23:59:59", "2020-03-05 00:01:00"),
        ("2020-03-05T23:59", "2020-03-05T00:01"),
        ("2020-03-05 23:59:59.123456789", "2020-03-05 00:01:00.000000000"),
        ("2020-03-05 23:59:59.5", "2020-03-05 00:01:00"),
        ("2020-03-05T23:59:59+02:00", "2020-03-05T00:01:00Z"),
        ("2020-03-05T23:59:59.000-0330", "2020-03-05T00:01:00.000+0000"),
    ],
)
def test_moments_are_read_without_a_format_by_the_clock_they_were_written_by(texts: tuple[str, ...]):
    taxonomy = dates("day", "month").build(list(texts), "seen")
    assert taxonomy.paths() == [(text, "2020-03-05", "2020-03", "*") for text in reversed(texts)]


def test_billionths_of_a_second_are_read_with_a_format():
    texts = ["2020-03-05 23:59:59.123456789"]
    assert dates("day", format="%Y-%m-%d %H:%M:%S.%f").build(texts, "seen").paths()[0][1] == "2020-03-05"


# --- size


@pytest.mark.parametrize(
    ("builder", "values"),
    [
        (prefix(5, 4, 3, 2, 1), [f"{i:06d}" for i in range(100_000)]),
        (intervals(0.5, 5, 50), np.arange(100_000) / 4),
        (dates(), [(datetime.date(1800, 1, 1) + datetime.timedelta(i)).isoformat() for i in range(80_000)]),
    ],
    ids=["prefix", "intervals", "dates"],
)
@pytest.mark.full
def test_large_domains_build(builder, values):
    """Work that grows with the square of the values would not come to an end here."""
    assert builder.build(values, "big").n_leaves == len(values)

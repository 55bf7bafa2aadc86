"""Levels that follow the distribution: balanced, readable, and silent about the extremes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy import quantiles
from tarnkappe.taxonomy.labels import as_decimal


def levels_of(numbers, *parts):
    values, counts = np.unique(np.asarray(numbers), return_counts=True)
    tree = quantiles(*parts).build(values, "x", counts)
    return tree, dict(zip(values.tolist(), counts.tolist(), strict=True))


def ages() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.clip(rng.normal(45, 17, 5000).round().astype(int), 17, 104)


def test_intervals_hold_about_as_many_records_each():
    tree, counts = levels_of(ages())
    for level, parts in enumerate((16, 8, 4, 2), 1):
        records: dict[str, int] = {}
        for path in tree.paths():
            records[path[level]] = records.get(path[level], 0) + counts[int(path[0])]
        assert len(records) == parts
        assert min(records.values()) > 5000 / parts / 2
        assert max(records.values()) < 5000 / parts * 2


def test_bounds_are_round_and_the_ends_are_open():
    tree, _ = levels_of(ages())
    names = [path[2] for path in tree.paths()]
    assert names[0].startswith("<")
    assert names[-1].startswith("≥")
    assert {path[4] for path in tree.paths()} == {"<45", "≥45"}


def test_skewed_numbers_have_useful_intervals():
    incomes = np.random.default_rng(2).lognormal(10, 1, 4000).round(-1)
    tree, _ = levels_of(incomes)
    assert len({path[1] for path in tree.paths()}) == 16
    assert "[" not in "".join(tree.labels)  # whole numbers are written as people write them


def test_a_common_value_stays_itself():
    gains = [0] * 900 + list(range(1000, 1100))
    tree, _ = levels_of(gains)
    paths = {path[0]: path for path in tree.paths()}
    assert paths["0"][-2] == "0"
    assert paths["1000"][-2].startswith("≥")


def test_two_values_need_no_levels():
    assert levels_of([0, 1] * 50)[0].paths() == [("0", "*"), ("1", "*")]


def test_parts_divide_each_other():
    for parts in ((8, 3), (4, 4), (2, 4)):
        with pytest.raises(TaxonomyError, match="must divide each other"):
            quantiles(*parts)


@given(
    st.lists(st.one_of(st.integers(-50, 50), st.decimals(-5, 5, places=2).map(float)), min_size=1, max_size=60),
    st.sampled_from([(16, 8, 4, 2), (4, 2), (3,), (10, 5)]),
)
def test_every_value_lies_in_its_interval(numbers, parts):
    values, counts = np.unique(np.array(numbers, float) + 0.0, return_counts=True)
    tree = quantiles(*parts).build(values, "x", counts)
    assert sorted(map(float, tree.leaves)) == sorted(values.tolist())
    for path in tree.paths():
        number = as_decimal(path[0])
        for label in path[1:-1]:
            if label.startswith("<"):
                assert number < as_decimal(label[1:])
            elif label.startswith("≥"):
                assert number >= as_decimal(label[1:])
            elif label.startswith("["):
                low, high = label[1:-1].split(", ")
                assert as_decimal(low) <= number < as_decimal(high)
            elif " to " in label or "-" in label[1:]:
                low, high = label.split(" to ") if " to " in label else label.split("-")
                assert as_decimal(low) <= number <= as_decimal(high)
            else:
                assert as_decimal(label) == number

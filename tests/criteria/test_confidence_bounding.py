from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_groups import named

import brute
from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.errors import JobError
from tarnkappe.job.files import job_from_text, job_json_schema

groups = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 9), min_size=1), min_size=1, max_size=5)
limits = st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.55, 0.123456789, 0.9])


@given(groups, st.dictionaries(st.sampled_from("abcd"), limits, max_size=4), limits)
def test_as_the_independent_checker_says(some, bounds, bound):
    criterion = ConfidenceBounding("s", bounds, bound)
    stats = named(some)
    expected = [brute.filled(g, bounds, bound) for g in some]
    assert criterion.level(stats).tolist() == pytest.approx([float(e) for e in expected], rel=1e-12)
    assert criterion.satisfied(stats).tolist() == [e <= 1 for e in expected]


@given(groups, st.integers(2, 6))
def test_one_bound_for_all_is_frequency_l_diversity(some, l):  # noqa: E741
    stats = named(some)
    frequency = FrequencyLDiversity("s", l).satisfied(stats).tolist()
    assert ConfidenceBounding("s", bound=1 / l).satisfied(stats).tolist() == frequency


def test_hiv_below_ten_percent():
    """The example of the thesis: nobody may infer HIV with more than 10 %, whatever the group; flu is free."""
    criterion = ConfidenceBounding("s", {"HIV": 0.1})
    stats = named([{"HIV": 1, "flu": 9}, {"HIV": 1, "flu": 8}, {"flu": 2}])
    assert criterion.satisfied(stats).tolist() == [True, False, True]
    assert criterion.level(stats).tolist() == pytest.approx([1.0, 10 / 9, 2.0 / 2])


def test_l_plus_diversity_with_an_own_l_for_each_value():
    """l = 3 for HIV, 2 for the others: shares of at most a third, and a half, exactly."""
    criterion = ConfidenceBounding("s", {"HIV": 1 / 3}, 1 / 2)
    stats = named([{"HIV": 1, "flu": 1, "gout": 1}, {"HIV": 2, "flu": 2, "gout": 1}, {"flu": 2, "gout": 2}])
    assert criterion.satisfied(stats).tolist() == [True, False, True]


@pytest.mark.parametrize("size", [10**3, 10**9, 10**15])
def test_no_overflow(size):
    bounds = {"a": 0.1234567890123, "b": 0.9876543210987}
    group = {"a": size, "b": 8 * size}
    stats = named([group])
    assert ConfidenceBounding("s", bounds).satisfied(stats).tolist() == [brute.filled(group, bounds, 1) <= 1]


@pytest.mark.parametrize(
    ("bounds", "bound", "smallest"),
    [
        ({"a": 0.1}, 1.0, 1),
        ({}, 0.3, 4),
        ({"a": 0.5, "b": 0.5}, 0.1, 2),
        ({"a": 0.5, "b": 0.3}, 0.1, 10),
        ({"a": 0.5, "b": 0.3, "c": 0.4}, 0.01, 4),  # two of a, one of b, one of c
        ({"a": 1.0}, 0.5, 1),
        ({}, 1e-9, 10_000),
    ],
)
def test_smallest_group(bounds, bound, smallest):
    assert ConfidenceBounding("s", bounds, bound).min_size == smallest


def test_values_that_do_not_occur_are_refused():
    domain = named([{"HIV": 1, "flu": 1}]).histograms["s"].domain
    ConfidenceBounding("s", {"HIV": 0.1}).require_values({"s": domain})
    with pytest.raises(JobError, match=r"E110 'bounds' of confidence-bounding names 'HVI'.*mean 'HIV'"):
        ConfidenceBounding("s", {"HVI": 0.1}).require_values({"s": domain})


def test_something_must_be_bounded():
    for bounds in ({}, {"a": 1.0}):
        with pytest.raises(JobError, match="E110 confidence-bounding bounds no value"):
            ConfidenceBounding("s", bounds)
    with pytest.raises(JobError, match=r"E110 'bounds\.a' must be a number of at most 1 above 0"):
        ConfidenceBounding("s", {"a": 0.0})
    with pytest.raises(JobError, match="E110 'bounds' must be a mapping"):
        ConfidenceBounding("s", 0.5)


def test_criteria_with_bounds_can_be_compared_and_collected():
    one, same = ConfidenceBounding("s", {"a": 0.1}), ConfidenceBounding("s", {"a": 0.1})
    assert one == same
    assert len({one, same, ConfidenceBounding("s", {"a": 0.2})}) == 2
    given: dict[str, float] = {"a": 0.1}
    kept = ConfidenceBounding("s", given)
    given["a"] = 1.0
    assert kept.bounds == {"a": 0.1}


JOB = """
columns:
  age: {role: quasi, type: numeric}
  label: {role: sensitive}
criteria:
  - confidence-bounding:
      column: label
      bounds: {column: 0.25, label: 0.5, 7: 0.1}
      bound: 0.9
"""


def test_in_a_job_file():
    """Values may be called like keys of a job file; their bounds are numbers all the same."""
    job = job_from_text(JOB)
    (criterion,) = job.goal.criteria
    assert criterion == ConfidenceBounding("label", {"column": 0.25, "label": 0.5, "7": 0.1}, 0.9)
    assert job_from_text(job.to_yaml()).goal == job.goal
    with pytest.raises(JobError, match=r"E110 'bounds\.label' must be a number .* \(job:8\)"):
        job_from_text(JOB.replace("label: 0.5", "label: half"))


def test_in_the_schema_of_job_files():
    known = job_json_schema()["properties"]["criteria"]["items"]["properties"]["confidence-bounding"]["properties"]
    assert known["bounds"]["type"] == "object"
    assert known["bounds"]["additionalProperties"] == {"type": "number", "exclusiveMinimum": 0, "maximum": 1}


def test_words():
    assert ConfidenceBounding("s", {"HIV": 0.1}).asked == "share over bound ≤ 1 (HIV 0.1)"
    assert ConfidenceBounding("s", {"HIV": 0.1}, 0.5).asked == "share over bound ≤ 1 (HIV 0.1, others 0.5)"
    assert ConfidenceBounding("s", bound=0.5).asked == "share over bound ≤ 1 (every value 0.5)"

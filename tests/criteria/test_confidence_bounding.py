from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_groups import named

import brute
import tarnkappe as tk
from tarnkappe.algorithms import Algorithm
from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.errors import InfeasibleError, JobError
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


TEMPLATES = """
columns:
  age: {role: quasi, type: numeric}
  town: {role: quasi, taxonomy: suppress}
  label: {role: sensitive}
criteria:
  - confidence-bounding: {column: label, bounds: {HIV: 0.1}, x: [age]}
  - confidence-bounding: {column: label, bounds: {flu: 0.5}, x: [age, town]}
algorithm: flash
"""


def test_templates_in_a_job_file():
    job = job_from_text(TEMPLATES)
    assert [c.x for c in job.goal.criteria] == [("age",), ("age", "town")]
    assert job_from_text(job.to_yaml()).goal == job.goal
    with pytest.raises(JobError, match=r"E105 confidence-bounding looks at 'twon', which is no quasi.*mean 'town'"):
        job_from_text(TEMPLATES.replace("[age, town]", "[age, twon]"))


def test_who_knows_a_part_does_not_know_the_other_secrets():
    with pytest.raises(JobError, match="E110 confidence-bounding cannot have an attacker who knows age only"):
        ConfidenceBounding("s", {"HIV": 0.1}, x=("age",), know_others=True)


def patients(seed: int, n: int = 60) -> pl.DataFrame:
    rng = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [rng.choice(["young", "grown", "old"]) for _ in range(n)],
            "town": [rng.choice(["Kiel", "Ulm", "Bonn", "Husum"]) for _ in range(n)],
            "sex": [rng.choice("fm") for _ in range(n)],
            "ill": [rng.choice(["HIV", "flu", "flu", "none", "none", "none"]) for _ in range(n)],
            "income": [rng.choice(["low", "high"]) for _ in range(n)],
        }
    )


def two_templates(algorithm: Algorithm) -> tk.Job:
    """HIV must not follow from age and town, flu not from the sex; all three together may tell more."""
    return tk.Job(
        quasi={"age": tk.suppress(), "town": tk.suppress(), "sex": tk.suppress()},
        sensitive=["ill", "income"],
        criteria=[
            ConfidenceBounding("ill", {"HIV": 0.35}, x=("age", "town")),
            ConfidenceBounding("ill", {"flu": 0.4, "HIV": 0.3}, x=("sex",)),
        ],
        algorithm=algorithm,
        max_suppressed=0.1,
    )


def highest(rows: list[dict[str, str]], known: tuple[str, ...], value: str) -> Fraction:
    """What an attacker who knows some columns is sure of at most, counted in the written file."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in known), []).append(row["ill"])
    return max(Fraction(group.count(value), len(group)) for group in groups.values())


@pytest.mark.parametrize("algorithm", [tk.Flash(), tk.TopDownDisclosure("income"), tk.Datafly()], ids=str)
def test_written_release_keeps_every_template(algorithm: Algorithm, tmp_path: Path):
    told_more = 0
    for seed in range(8):
        try:
            tk.run_job(two_templates(algorithm), patients(seed), tmp_path / str(seed), seed=1)
        except InfeasibleError:
            assert highest(patients(seed).to_dicts(), (), "HIV") > Fraction(3, 10)
            continue
        rows = pl.read_parquet(tmp_path / str(seed) / "public" / "*.parquet").to_dicts()
        assert len(rows) >= 54
        assert highest(rows, ("age", "town"), "HIV") <= Fraction(35, 100)
        assert highest(rows, ("sex",), "flu") <= Fraction(2, 5)
        assert highest(rows, ("sex",), "HIV") <= Fraction(3, 10)
        told_more += highest(rows, ("age", "town", "sex"), "HIV") > Fraction(35, 100)
    assert told_more, "templates are no weaker than bounds over all quasi-identifiers"


def test_words():
    assert ConfidenceBounding("s", {"HIV": 0.1}).asked == "share over bound ≤ 1 (HIV 0.1)"
    assert ConfidenceBounding("s", {"HIV": 0.1}, 0.5).asked == "share over bound ≤ 1 (HIV 0.1, others 0.5)"
    assert ConfidenceBounding("s", bound=0.5).asked == "share over bound ≤ 1 (every value 0.5)"

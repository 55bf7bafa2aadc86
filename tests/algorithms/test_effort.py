"""One effort for every algorithm that improves: in words or as a number, and counted in work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from tarnkappe import Job, KAnonymity, intervals, numeric
from tarnkappe.algorithms.effort import Effort, Improving, with_effort
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.algorithms.watch import Watch
from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.metrics import metric_named
from tarnkappe.params import bind, json_schema
from tarnkappe.pipeline import check
from tarnkappe.plan import Plan
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class Patient(Improving):
    """Everybody in one group, however much effort is made."""

    name: ClassVar = "patient"
    title: ClassVar = "Patient"
    scheme: ClassVar = "local"
    summary: ClassVar = "Waits."

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        for done in range(3):
            self.watch.tell(done, 3)
        return Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)


@pytest.mark.parametrize(("given", "times"), [("quick", 0.25), ("normal", 1.0), ("best", 8.0), (3, 3.0), (0.5, 0.5)])
def test_an_effort_is_a_word_or_a_multiple_of_the_usual_work(given, times):
    assert Patient(effort=given).work == Effort(times)
    assert bind(Patient, {"effort": given}, "x").work == Effort(times)


@pytest.mark.parametrize("given", ["fast", 0, -1, True, None, [1], float("nan")])
def test_anything_else_is_an_error_that_says_what_is_expected(given):
    with pytest.raises(JobError, match="one of quick, normal, best, or a number above 0"):
        Patient(effort=given)


def test_editors_know_both_ways():
    assert json_schema(Patient)["properties"]["effort"]["anyOf"] == [
        {"enum": ["quick", "normal", "best"]},
        {"type": "number", "exclusiveMinimum": 0},
    ]


def test_the_job_sets_the_effort_of_its_algorithm():
    job = Job(quasi={"age": numeric()}, criteria=[KAnonymity(2)], algorithm=Patient(), effort="best")
    assert job.algorithm == Patient(effort="best")


def test_an_effort_that_could_change_nothing_is_refused():
    with pytest.raises(JobError, match="mondrian does not search on") as refused:
        with_effort(Mondrian(), "best")
    assert "algorithm: {name:" in refused.value.hint
    with pytest.raises(JobError, match="effort best and its algorithm for quick"):
        with_effort(Patient(effort="quick"), "best")


def test_a_watch_hears_how_far_a_search_has_come_and_is_no_part_of_the_algorithm():
    heard = []
    watched = Patient().watched(Watch(lambda done, total: heard.append((done, total))))
    assert watched == Patient()
    assert repr(watched) == repr(Patient())
    tally = Tally(np.zeros((1, 1), np.int32), np.zeros((1, 0), np.int32), np.array([3]), (), ())
    watched.decide(tally, Goal([KAnonymity(2)]), rng=np.random.default_rng(1))
    assert heard == [(0, 3), (1, 3), (2, 3)]


def test_a_watch_ends_a_search_when_its_time_is_over():
    assert not Watch().over
    late = Watch(seconds=0.0)
    assert late.over
    assert late.stopped


COUNTED = {
    "genetic": ("generations", {"quick": 10, "normal": 40, "best": 320}),
    "iyengar": ("generations", {"quick": 12, "normal": 50, 0.1: 5}),
}


def decided(name: str, effort: str | float) -> Plan:
    """Groups of people by three numbers, which have levels only where an algorithm goes by levels."""
    rng = np.random.default_rng(5)
    people = pl.DataFrame({f"q{j}": rng.integers(0, 40, 240) for j in range(3)})
    by_levels = name in (*COUNTED, "best-first")
    quasi = {f"q{j}": intervals(5, 20) if by_levels else numeric() for j in range(3)}
    job = Job(quasi=quasi, criteria=[KAnonymity(4)], algorithm=name, effort=effort)
    tally = check(job, people).tally
    return Plan.of(tally, job.goal, job.algorithm.decide(tally, job.goal, rng=np.random.default_rng(1)))


@pytest.mark.parametrize("name", COUNTED)
def test_what_counts_generations_breeds_as_many_as_the_effort_says(name: str):
    note, expected = COUNTED[name]
    for effort, generations in expected.items():
        assert decided(name, effort).grouping.notes[note] == generations


@pytest.mark.parametrize(
    "name", [pytest.param("tarn", marks=pytest.mark.full), "kanonymeans", "kanonymeans-star", "best-first"]
)
def test_more_effort_never_loses_more(name: str):
    def loss(effort: str) -> float:
        return metric_named("gcp" if name == "best-first" else "sse").score(decided(name, effort))

    normal = loss("normal")
    assert loss("best") <= normal <= loss("quick") * 1.02
    assert normal == loss("normal"), "counted in work, so the same seed gives the same groups"


@pytest.mark.full
@pytest.mark.parametrize("name", ["tarn", "kanonymeans", "kanonymeans-star", "best-first"])
def test_the_best_effort_is_repeatable(name: str):
    first, second = (decided(name, "best").grouping.group for _ in range(2))
    assert np.array_equal(first, second)

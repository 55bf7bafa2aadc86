"""A time limit stops any search with the best valid result so far, and says so."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms.timed import decide_in_time
from tarnkappe.algorithms.watch import TimeOver, Watch
from tarnkappe.errors import JobError, LimitError
from tarnkappe.groups import Grouping
from tarnkappe.job.files import job_from_text
from tarnkappe.pipeline import check
from tarnkappe.plan import Plan

N, COLUMNS = 400, 7


def table() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    level = rng.integers(0, 6, N)
    columns = {f"q{j}": 4 * (level >> (j % 2)) + rng.integers(0, 3, N) * (j % 3 == 0) for j in range(COLUMNS)}
    return pl.DataFrame({**columns, "illness": rng.choice(["flu", "gout", "cold"], N)})


def job(algorithm: object, **more: object) -> tk.Job:
    given = {"criteria": [tk.KAnonymity(5), tk.LDiversity("illness", 2)], **more}
    quasi = {f"q{j}": tk.intervals(2, 4, 8) for j in range(COLUMNS)}
    return tk.Job(quasi=quasi, sensitive=["illness"], algorithm=algorithm, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "algorithm", ["flash", "ola", "genetic", {"name": "best-first", "checks": 10**6}, "k-optimize"]
)
def test_a_search_ends_with_a_valid_release_and_says_so(algorithm: object, tmp_path: Path):
    job(algorithm, time_limit=60).check(table())  # kernels are compiled
    limited = job(algorithm, time_limit=0.3)
    start = time.process_time()
    release = limited.anonymize(table(), seed=1)
    assert time.process_time() - start < 20
    assert all(v.ok for v in release.verdicts)
    if "stopped" in release.private_manifest["search"]:
        assert "depends on the machine" in release.private_manifest["search"]["stopped"]
        assert "W616" in [n.code for n in release.notices]


def test_the_manifest_does_not_claim_the_groups_of_an_algorithm_that_gave_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert "stopped" not in job("flash").anonymize(table(), seed=1).public_manifest
    monkeypatch.setattr(Watch, "over", property(lambda watch: watch.__dict__.update(stopped=True) or True))
    release = job("flash").anonymize(table(), seed=1).save(tmp_path / "release")
    public = json.loads((tmp_path / "release" / "public" / "manifest.json").read_text())
    assert public["algorithm"]["name"] == "flash"
    assert "these are groups of mondrian" in public["stopped"]
    assert public["stopped"] == release.private_manifest["search"]["stopped"]


class Asked(Watch):
    """A watch that counts how often it was asked, and ends the search after so many times."""

    def __init__(self, times: int) -> None:
        super().__init__(seconds=3600)
        self.left = times

    @property
    def over(self) -> bool:
        self.left -= 1
        self.stopped |= self.left < 0
        return self.stopped


def stopped_after(times: int, name: str) -> Grouping:
    asked = job(name)
    tally = check(asked, table()).tally
    grouping = decide_in_time(asked.algorithm, tally, asked.goal, np.random.default_rng(1), Asked(times))
    Plan.of(tally, asked.goal, grouping)  # an error unless every group satisfies the goal
    return grouping


@pytest.mark.parametrize("name", ["flash", "ola", "mingen", "best-first", "top-down"])
def test_what_has_found_something_ends_with_it(name: str):
    notes = stopped_after(200 if name == "mingen" else 30, name).notes
    if name != "mingen":  # which starts where nothing satisfies the goal
        assert f"groups of {name}" in str(notes["stopped"])


NAMES = [
    "datafly",
    "incognito",
    "samarati",
    "mondrian",
    "hilb",
    "k-member",
    "oka",
    "bottom-up-greedy",
    "iyengar",
    "mdav",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("times", [0, 7])
def test_whenever_it_is_stopped_the_result_is_valid(name: str, times: int):
    stopped_after(times, name)


@pytest.mark.parametrize("name", ["tarn", "kanonymeans", "kanonymeans-star"])
def test_what_improves_groups_that_it_has_ends_with_them(name: str):
    asked = tk.Job(quasi={f"q{j}": tk.numeric() for j in range(COLUMNS)}, criteria=[tk.KAnonymity(5)], algorithm=name)
    tally = check(asked, table().drop("illness")).tally
    grouping = decide_in_time(asked.algorithm, tally, asked.goal, np.random.default_rng(1), Asked(1))
    assert f"groups of {name}" in str(grouping.notes["stopped"])
    Plan.of(tally, asked.goal, grouping)


@pytest.mark.parametrize("algorithm", ["iyengar", {"name": "mdav", "refine": True}])
def test_what_asks_about_groups_until_the_end_keeps_those_that_it_has(algorithm: object):
    asked = job(algorithm)
    tally = check(asked, table()).tally

    def decided(watch: Asked) -> Grouping:
        return decide_in_time(asked.algorithm, tally, asked.goal, np.random.default_rng(1), watch)

    whole = Asked(10**6)
    decided(whole)
    asked_for = 10**6 - whole.left
    grouping = decided(Asked(asked_for * 3 // 4))
    assert f"groups of {asked.algorithm.name}" in str(grouping.notes["stopped"])
    Plan.of(tally, asked.goal, grouping)


def test_what_has_found_nothing_gives_way_to_what_is_quick():
    release = job("flash", time_limit="0.0001s").anonymize(table(), seed=1)
    assert "groups of mondrian" in release.private_manifest["search"]["stopped"]
    assert all(v.ok for v in release.verdicts)


def test_a_promise_that_nothing_quick_keeps_is_an_error():
    with pytest.raises(LimitError, match="E705") as caught:
        job("flash", time_limit="0.0001s", criteria=tk.AverageRisk(0.1)).anonymize(table(), seed=1)
    assert 'time_limit="1h"' in str(caught.value)


def test_without_a_limit_nothing_is_said():
    release = job("flash", time_limit="1h").anonymize(table(), seed=1)
    assert "stopped" not in release.private_manifest["search"]
    same = job("flash").anonymize(table(), seed=1)
    assert same.table.equals(release.table)


def test_the_limit_stands_in_job_files():
    given = job("mondrian", time_limit="10min", max_suppressed="2%")
    assert given.time_limit == 600
    assert "time: 600s" in given.to_yaml()
    assert job_from_text(given.to_yaml()) == given
    for wrong in ("soon", -1, "0", True, "10 parsecs"):
        with pytest.raises(JobError, match="E110 the time limit"):
            job("mondrian", time_limit=wrong)


def test_a_search_is_ended_once():
    watch = Watch(seconds=0.0)
    with pytest.raises(TimeOver):
        watch.pause()
    watch.pause()
    assert watch.stopped


@pytest.mark.parametrize("algorithm", [tk.Angel(), tk.Anatomize(alike=True)], ids=lambda a: a.name)
def test_a_search_for_people_who_are_alike_ends_in_time(algorithm, monkeypatch: pytest.MonkeyPatch):
    """The groups of numbered releases are found by Hilb, which has an end."""
    whole = job(algorithm, criteria=[tk.LDiversity("illness", 2)])
    assert "stopped" not in whole.anonymize(table(), seed=1).private_manifest["search"]
    monkeypatch.setattr(Watch, "over", property(lambda watch: watch.__dict__.update(stopped=True) or True))
    release = whole.anonymize(table(), seed=1)
    assert all(v.ok for v in release.verdicts)
    assert f"groups of {algorithm.name}" in release.private_manifest["search"]["stopped"]
    assert "W616" in [n.code for n in release.notices]

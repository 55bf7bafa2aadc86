"""What effort does for local recoding: lower loss for more work, and the same bytes for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe import Job, KAnonymity, LDiversity, TCloseness, numeric
from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.algorithms.local.k_member import KMember
from tarnkappe.algorithms.local.pool import Pool
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.algorithms.watch import Watch
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.tally import Tally

QUASI = ("age", "hours-per-week", "sex", "race", "marital-status", "education", "native-country", "workclass")
GOALS = {
    "k": Goal([KAnonymity(10)]),
    "k and l": Goal([KAnonymity(10), LDiversity("occupation", 5)]),
    "k below 2l": Goal([KAnonymity(8), LDiversity("occupation", 5)]),
    "t": Goal([KAnonymity(10), TCloseness("occupation", 0.5)]),
}
LOCAL = [cls for cls in all_algorithms().values() if issubclass(cls, (LocalRecoding, Hilb))]


def job(**settings: object) -> Job:
    trees = census_taxonomies()
    quasi = {name: trees.get(name, numeric()) for name in QUASI}
    given = {"criteria": GOALS["k and l"].criteria, "algorithm": Hilb(), **settings}
    return Job(quasi=quasi, sensitive={"occupation": trees["occupation"]}, drop="rest", **given)


def census_tally(n: int) -> Tally:
    source = open_source(census(n, seed=1))
    return MemoryEngine().count(source, job().schema(source.columns))


@pytest.fixture(scope="module")
def people() -> Tally:
    return census_tally(2000)


def loss(tally: Tally, goal: Goal, algorithm: object) -> float:
    pool, _ = Pool.whole(tally, goal)
    seen = pool.tally
    found = algorithm.decide(seen, goal, rng=np.random.default_rng(1))
    assert goal.satisfied(goal.stats(seen, found)).all()
    return pool.loss(found) / tally.n_records


@pytest.mark.parametrize("goal", [GOALS["k"], GOALS["k and l"]], ids=["k", "k and l"])
def test_more_effort_loses_less(people, goal):
    quick, normal, best = (loss(people, goal, Hilb(effort=effort)) for effort in ("quick", "normal", "best"))
    assert best < normal < quick


def test_at_best_effort_hilb_loses_less_than_clusters_grown_one_by_one(people):
    """Few groups thrown together find what many do not, so rounds change how many they throw together."""
    assert loss(people, GOALS["k"], Hilb(effort="best")) < 0.98 * loss(people, GOALS["k"], KMember())


@pytest.mark.parametrize("name", GOALS)
def test_hilb_never_loses_more_than_mondrian(people, name):
    assert loss(people, GOALS[name], Hilb(effort="quick")) <= loss(people, GOALS[name], Mondrian()) + 1e-9


@pytest.mark.parametrize("cls", LOCAL, ids=lambda cls: cls.name)
def test_every_local_recoding_takes_an_effort_and_gives_the_same_groups_again(people, cls):
    goal = GOALS["k and l"]
    one, same = (cls(effort="quick").decide(people, goal, rng=np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(one.cell, same.cell)
    assert np.array_equal(one.group, same.group)
    assert np.array_equal(one.quota, same.quota)


def test_the_effort_of_a_job_shows_in_what_is_published():
    table = census(600, seed=2)
    quick, best, again = (job(effort=e).anonymize(table, seed=7).table for e in ("quick", "best", "best"))
    assert not quick.equals(best)
    assert best.equals(again)


def test_a_search_tells_how_far_it_is_and_stops_in_time(people):
    heard: list[tuple[int, int]] = []
    goal = GOALS["k"]
    Hilb(effort="best").watched(Watch(lambda *far: heard.append(far))).decide(
        people, goal, rng=np.random.default_rng(1)
    )
    assert heard == sorted(heard)
    assert len(heard) > 1
    late = Watch(seconds=0.0)
    found = Hilb(effort="best").watched(late).decide(people, goal, rng=np.random.default_rng(1))
    assert late.stopped
    assert goal.satisfied(goal.stats(people, found)).all()

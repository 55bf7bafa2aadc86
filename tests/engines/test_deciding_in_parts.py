"""Groups decided in parts: what parts tell adds up to what the whole tells, and a judge of parts sees every mistake."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms.local.curve import hilbert_places
from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.algorithms.shards import Shard, joined, part_of
from tarnkappe.choice import Auto
from tarnkappe.columns import summarise_columns
from tarnkappe.criteria.k_map import KMap
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.engines.needs import BASE, memory_for
from tarnkappe.engines.parts import RECORDS, eligible_parts
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.engines.spark.part_tasks import packed, unpacked
from tarnkappe.errors import InfeasibleError, LimitError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.in_parts import PartDecider, PartJudge, why_not
from tarnkappe.job.model import replace_job
from tarnkappe.metrics import score_plan
from tarnkappe.parts import PartedPlan, outline
from tarnkappe.pipeline import counted, run_job
from tarnkappe.plan import Plan, size_distribution
from tarnkappe.schema import Column
from tarnkappe.tally import Domain, Tally
from tarnkappe.taxonomy.tree import Taxonomy

GOAL = Goal([tk.KAnonymity(4), tk.LDiversity("occupation", 2), tk.TCloseness("occupation", 0.6)])


def job(**changes: Any) -> tk.Job:
    given: dict[str, Any] = {
        "quasi": {
            "age": tk.numeric(),
            "hours-per-week": tk.numeric(),
            "race": tk.suppress(),
            "native-country": census_taxonomies()["native-country"],
        },
        "sensitive": ["occupation"],
        "drop": "rest",
        "criteria": GOAL.criteria,
        "seed": 3,
    }
    return tk.Job(**{**given, **changes})


def cut(tally: Tally, n_parts: int) -> list[Shard]:
    """Parts of the Hilbert curve, which know of the whole what Spark tells them."""
    place = hilbert_places(tally.quasi, tally.quasi_domains)[0]
    bounds = np.quantile(place, np.arange(1, n_parts) / n_parts)
    part = np.searchsorted(bounds, place, side="right")
    columns = [*tally.quasi.T, *tally.sensitive.T]
    domains = [*tally.quasi_domains, *tally.sensitive_domains]
    often = [np.bincount(c, tally.count, d.size).astype(np.int64) for c, d in zip(columns, domains, strict=True)]
    n = len(tally.quasi_domains)
    drawn = outline(often[:n], often[n:], domains[:n], domains[n:])
    shards = [part_of(tally, np.flatnonzero(part == i).astype(np.int32)) for i in range(n_parts)]
    return [Shard(replace(s.tally, whole=drawn), s.cells) for s in shards]


@pytest.mark.parametrize("algorithm", [Hilb(), tk.Mondrian(), tk.MRMondrian(), tk.RothkoT(), tk.RothkoS()])
def test_what_parts_tell_adds_up_to_what_the_whole_tells(algorithm: Any):
    checked = counted(job(), census(1500, seed=2))
    tally = checked.tally
    parts = cut(tally, 4)
    decider = pickle.loads(pickle.dumps(PartDecider(algorithm, GOAL, ("",), 5, None)))
    made = [decider(i, part.tally) for i, part in enumerate(parts)]
    whole = Plan.of(tally, GOAL, joined([plan.grouping for plan, _ in made], parts), ("",))
    told = pickle.loads(pickle.dumps([told for _, told in made]))
    parted = PartedPlan.of(parts[0].tally.whole, GOAL, told, size_distribution(whole.sizes))
    assert not parted.figures.untrue
    assert parted.n_groups == whole.n_groups <= sum(plan.n_groups for plan, _ in made)
    assert parted.sizes_before == whole.sizes_before
    scores = score_plan(whole)
    assert {"gcp", "lm", "iloss", "loss", "discernibility", "suppressed-share"} <= set(parted.scores)
    for name, value in parted.scores.items():
        assert value == pytest.approx(scores[name]), name
    for mine, other in zip(
        summarise_columns(parted, checked.schema), summarise_columns(whole, checked.schema), strict=True
    ):
        assert (mine.done, mine.labels_before, mine.labels_after) == (
            other.done,
            other.labels_before,
            other.labels_after,
        )
        assert mine.loss == pytest.approx(other.loss)
    assert score_plan(whole)["gcp"] < 1.5 * score_plan(Plan.of(tally, GOAL, decide(algorithm, tally)))["gcp"]


def decide(algorithm: Any, tally: Tally) -> Any:
    return algorithm.decide(tally, GOAL, rng=np.random.default_rng(5))


def test_parts_that_are_not_eligible_join_their_neighbours():
    part = np.array([0, 0, 1, 2, 2, 3], np.int32)
    illness = domain("illness", 2)
    stats = GroupStats.from_cells(
        part, np.array([2, 2, 9, 3, 3, 1]), {"illness": (np.array([0, 1, 0, 0, 1, 1]), illness)}
    )
    goal = Goal([tk.KAnonymity(2), tk.LDiversity("illness", 2)])
    assert eligible_parts(goal, stats).tolist() == [0, 1, 1, 1]
    assert eligible_parts(Goal([tk.KAnonymity(100)]), stats).tolist() == [0, 0, 0, 0]


def domain(name: str, size: int) -> Domain:
    return Domain(name, Taxonomy.from_nested([f"v{i}" for i in range(size)]))


@pytest.fixture
def judged() -> tuple[PartJudge, pl.DataFrame, pl.DataFrame]:
    """Two groups of a written table, and how they were planned."""
    illness = domain("illness", 3)
    column = Column("illness", "sensitive")
    goal = Goal([tk.KAnonymity(3), tk.LDiversity("illness", 2)])
    judge = PartJudge(goal, ("age",), (column,), {"illness": illness}, {}, ".", {"illness": np.array([3, 2, 1])})
    written = pl.DataFrame({"age": ["[1 2]", "[1 2]", "[3 4]", "[3 4]"], "illness": ["v0", "v1", "v0", "v2"]})
    planned = written.with_columns(pl.Series("illness", [0, 1, 0, 2]), pl.Series(RECORDS, [2, 1, 1, 2]))
    return judge, written, planned


def test_a_judge_finds_what_was_written(judged: tuple[PartJudge, pl.DataFrame, pl.DataFrame]):
    judge, written, planned = judged
    found = pickle.loads(pickle.dumps(judge))(written, np.array([2, 1, 1, 2]), planned)
    assert found.n_records == 6
    assert found.size_counts == {3: 2}
    assert all(v.ok for v in found.verdicts)
    assert not found.untrue


@pytest.mark.parametrize(
    ("records", "illness", "lies", "broken"),
    [
        ([2, 2, 1, 2], None, True, False),  # a record too many
        ([1, 1, 1, 2], None, True, True),  # a record too few, and a group of two
        ([2, 1, 1, 2], ["v0", "v2", "v0", "v1"], True, False),  # two people have each other's value
        ([2, 1, 1, 2], ["v0", "v0", "v0", "v2"], True, True),  # a group of one value
    ],
)
def test_a_judge_finds_what_is_wrong(
    judged: tuple[PartJudge, pl.DataFrame, pl.DataFrame], records: list[int], illness: Any, lies: bool, broken: bool
):
    judge, written, planned = judged
    if illness is not None:
        written = written.with_columns(pl.Series("illness", illness))
    found = judge(written, np.array(records), planned)
    assert bool(found.untrue) == lies
    assert any(not v.ok for v in found.verdicts) == broken


def test_an_error_on_a_worker_is_an_error_here():
    told = packed(InfeasibleError("E301", "no release satisfies it", details=["why"], hint="k: 2"))
    with pytest.raises(InfeasibleError, match="no release") as error:
        unpacked(told)
    assert (error.value.details, error.value.hint) == (("why",), "k: 2")


@pytest.mark.parametrize(
    ("algorithm", "goal", "why"),
    [
        (Hilb(), GOAL, None),
        (Auto(), GOAL, None),
        (tk.MRTDS("income"), GOAL, "all cells at once"),
        (tk.Datafly(), GOAL, "all cells at once"),
        (tk.MDAV(), GOAL, "all cells at once"),
        (Auto(publish="centres"), GOAL, "all cells at once"),
        (Hilb(), Goal([KMap(3)]), "single groups"),
        (Hilb(), Goal(GOAL.criteria, 0.1), "left out"),
        (Hilb(), Goal([tk.KAnonymity(3)], 0.1), None),
        (Hilb(), Goal([tk.DeltaPresence(0.5, 0.1)]), "pooling|single groups"),
    ],
)
def test_what_cannot_be_decided_in_parts_says_why(algorithm: Any, goal: Goal, why: str | None):
    found = why_not(algorithm, goal)
    assert found is None if why is None else found is not None and re.search(why, found)


def test_records_that_are_too_many_to_be_dealt_are_refused(tmp_path: Path):
    data = census(2000, seed=1)
    limit = memory_for(data.select(job().schema(data.columns, "census").published).n_unique(), 5, 1000)
    numbered = job(algorithm=tk.Anatomize(), criteria=[tk.LDiversity("occupation", 2)])
    asked = replace_job(numbered, engine=EngineSettings("streaming", memory=str(limit)))
    with pytest.raises(LimitError, match="E702") as error:
        run_job(asked, data, tmp_path / "release")
    assert "2 000 records are dealt" in str(error.value)
    assert "algorithm: {name: hilb}" in str(error.value.hint)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "helps"),
    [({}, True), ({"algorithm": tk.Datafly()}, False), ({"criteria": [XYAnonymity("id", 3)]}, False)],
)
def test_spark_is_proposed_where_it_helps(tmp_path: Path, changes: dict[str, Any], helps: bool):
    data = census(500, seed=1).with_row_index("id")
    asked = replace_job(job(**changes), engine=EngineSettings("streaming", memory=str(BASE + 10_000)))
    if not helps and "criteria" in changes:
        asked = replace_job(job(**changes, subject="id"), engine=asked.engine)
    with pytest.raises(LimitError, match="E702") as error:
        run_job(asked, data, tmp_path / "release")
    assert ("--engine spark" in str(error.value.hint)) == helps

"""Top-down specialisation and its relatives: valid, maximal, and steered by the target."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tarnkappe.algorithms.subtree.hdtds import HighDimensionalTds
from tarnkappe.algorithms.subtree.tds import TopDownSpecialization
from tarnkappe.algorithms.subtree.tds_cluster import TdsForClusters
from tarnkappe.algorithms.subtree.two_party import Holding, specialise_together
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.datasets import load_adult
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.job import Job
from tarnkappe.metrics import metric_named
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)
CITY = Taxonomy.from_nested({"North": ["n1", "n2"], "South": ["s1", "s2"]})
JOB = Taxonomy.from_nested({"Hand": ["cook", "smith"], "Head": ["judge", "clerk"]})
AGES = np.arange(20.0, 60.0)


def random_tally(seed: int, n: int = 300) -> Tally:
    """Cities, jobs and ages; the label follows the job and the age, the illness nothing."""
    rng = np.random.default_rng(seed)
    city, job, age = rng.integers(0, 4, n), rng.integers(0, 4, n), rng.integers(0, 40, n)
    label = ((job < 2) & (age < 15)).astype(np.int32)
    domains = [Domain("city", CITY), Domain("job", JOB), Domain("age", Taxonomy.scale([f"{a:g}" for a in AGES]), AGES)]
    secrets = [
        Domain("ill", Taxonomy.from_nested(["a", "b", "c"])),
        Domain("label", Taxonomy.from_nested(["no", "yes"]), aside=True),
    ]
    return count_cells([city, job, age], [rng.integers(0, 3, n), label], domains, secrets)[0]


@pytest.mark.parametrize("granularity", ["sibling", "subtree"])
@pytest.mark.parametrize("limit", [0.0, 0.05])
def test_the_target_decides_what_stays(granularity: str, limit: float):
    for seed in range(5):
        tally, goal = random_tally(seed), Goal([KAnonymity(12), LDiversity("ill", 2)], limit)
        grouping = TopDownSpecialization("label", granularity=granularity).decide(tally, goal, rng=RNG)
        check_grouping("tds", tally, goal, grouping)
        wrong = metric_named("classification", "label").score(Plan.of(tally, goal, grouping))
        label = tally.sensitive[:, tally.sensitive_index("label")]
        assert wrong < 0.7 * tally.count[label == 1].sum() / tally.n_records


def test_several_anonymity_sets():
    tally, goal = random_tally(2), Goal([KAnonymity(10)])
    sets = (("city", "job"), ("age",))
    grouping = TopDownSpecialization("label", anonymity_sets=sets).decide(tally, goal, rng=RNG)
    check_grouping("tds", tally, goal, grouping)
    with pytest.raises(JobError, match="name 'town'"):
        TopDownSpecialization("label", anonymity_sets=(("town",),)).decide(tally, goal, rng=RNG)


def test_two_parties_refuse_what_they_cannot_check():
    tally = random_tally(0)
    holding = Holding(tally.quasi, tally.quasi_domains)
    label = tally.sensitive[:, 1]
    with pytest.raises(JobError, match="cannot check l-diversity"):
        specialise_together([holding], (label, 2), tally.count, Goal([LDiversity("ill", 2)]))
    with pytest.raises(JobError, match="cannot form a group"):
        specialise_together([holding], (label, 2), tally.count, Goal([KAnonymity(10_000)]))


@pytest.mark.parametrize("score", ["gain-per-loss", "gain", "discernibility"])
def test_limited_knowledge_allows_more(score: str):
    tally = random_tally(3)
    known, goal = Goal([LKCPrivacy(1, 12, 0.9, "ill")]), Goal([KAnonymity(12)])
    losses = []
    for asked in (known, goal):
        grouping = HighDimensionalTds("label", score=score).decide(tally, asked, rng=RNG)
        check_grouping("hdtds", tally, asked, grouping)
        losses.append(metric_named("lm").score(Plan.of(tally, asked, grouping)))
    assert losses[0] < losses[1]


def test_clusters_are_told_apart():
    rng = np.random.default_rng(5)
    cluster = rng.integers(0, 2, 200)
    age = np.where(cluster == 0, rng.integers(0, 5, 200), rng.integers(35, 40, 200))
    domains = [Domain("age", Taxonomy.scale([f"{a:g}" for a in AGES]), AGES), Domain("city", CITY)]
    tally = count_cells([age, 2 * cluster + rng.integers(0, 2, 200)], [], domains, [])[0]
    goal = Goal([KAnonymity(40)])
    grouping = TdsForClusters(clusters=2).decide(tally, goal, rng=np.random.default_rng(1))
    check_grouping("tds-cluster", tally, goal, grouping)
    spans_both = (grouping.fixed.lo < [20, 2]) & (grouping.fixed.hi >= [20, 2])
    assert not spans_both.all(axis=1).any()


def test_what_cannot_be_done():
    for algorithm in (TopDownSpecialization("label"), HighDimensionalTds(), TdsForClusters()):
        with pytest.raises(InfeasibleError):
            algorithm.decide(random_tally(0), Goal([KAnonymity(1000)]), rng=np.random.default_rng(0))


def test_adult(shared: Path):
    frame, taxonomies = load_adult(shared / "data" / "adult")
    quasi = {name: tree for name, tree in taxonomies.items() if name != "salary-class"}
    job = Job(quasi=quasi, sensitive=["salary-class"], criteria=[KAnonymity(10)])
    source = open_source(frame)
    tally = MemoryEngine().count(source, job.schema(source.columns))
    grouping = TopDownSpecialization("salary-class").decide(tally, job.goal, rng=RNG)
    check_grouping("tds", tally, job.goal, grouping)
    classification = metric_named("classification", "salary-class")
    assert classification.score(Plan.of(tally, job.goal, grouping)) < 0.19

"""Hilb: eligible groups of the right sizes from any table, and less loss than Mondrian."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.algorithms.local.pool import Pool, merge_weak
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.datasets import load_adult
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.io import open_source
from tarnkappe.job import Job
from tarnkappe.metrics import metric_named
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")


def table(rng: np.random.Generator, n: int, secrets: np.ndarray, sizes: tuple[int, ...] = (9, 5, 2)) -> Tally:
    columns = [rng.integers(0, size, n).astype(np.int32) for size in sizes]
    domains = [Domain(f"q{j}", Taxonomy.scale([str(i) for i in range(size)])) for j, size in enumerate(sizes)]
    secret = Domain("s", Taxonomy.scale([str(i) for i in range(int(secrets.max()) + 1)]))
    return count_cells(columns, [secrets.astype(np.int32)], domains, [secret])[0]


def check(tally: Tally, goal: Goal, grouping: Grouping) -> None:
    """Everybody is in a group, and every group satisfies the goal."""
    per_cell = np.bincount(grouping.cell, grouping.quota, tally.n_cells)
    assert np.array_equal(per_cell, tally.count)
    assert grouping.group.min() >= 0
    assert goal.satisfied(goal.stats(tally, grouping, goal.table_distributions(tally))).all()


variants = st.builds(
    Hilb,
    st.sampled_from(["hilbert", "idistance"]),
    stretch=st.booleans(),
    lookahead=st.sampled_from([0, 1, 5]),
    swaps=st.sampled_from([0, 2]),
    refine=st.booleans(),
    partitions=st.sampled_from([1, 2, 7]),
)


@given(st.integers(0, 2**32), st.integers(1, 120), st.integers(2, 6), st.integers(2, 9), variants)
@settings(max_examples=examples(60), deadline=None)
def test_any_table_that_is_eligible(seed: int, n: int, diversity: int, values: int, algorithm: Hilb):
    rng = np.random.default_rng(seed)
    tally = table(rng, n, rng.zipf(1.6, n) % values)
    goal = Goal([FrequencyLDiversity("s", diversity)])
    eligible = int(np.bincount(tally.sensitive[:, 0], tally.count).max()) * diversity <= n
    if not eligible:
        with pytest.raises(InfeasibleError):
            algorithm.decide(tally, goal, rng=rng)
        return
    check(tally, goal, algorithm.decide(tally, goal, rng=rng))


@pytest.mark.parametrize("partitions", [1, 2, 5])
@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("diversity", [2, 3, 7])
def test_worst_skew(diversity: int, refine: bool, partitions: int):
    """One value has exactly one in l records; and, the other extreme, there are just l values, all as common."""
    rng = np.random.default_rng(diversity)
    n = 40 * diversity
    skewed = np.concatenate([np.zeros(40, int), rng.integers(1, 30, n - 40)])
    even = np.repeat(np.arange(diversity), 40)
    goal = Goal([FrequencyLDiversity("s", diversity)])
    for secrets in (skewed, even, np.sort(skewed)):
        tally = table(rng, n, rng.permutation(secrets))
        check(tally, goal, Hilb(refine=refine, partitions=partitions).decide(tally, goal, rng=rng))


def test_sorted_by_secret_no_partition_is_eligible():
    """Along the line the secrets come one after the other: every range is full of one value."""
    secrets = np.repeat(np.arange(4), 50)
    scale = Domain("q", Taxonomy.scale([str(i) for i in range(200)]))
    secret = Domain("s", Taxonomy.scale([str(i) for i in range(4)]))
    tally = count_cells([np.arange(200, dtype=np.int32)], [secrets.astype(np.int32)], [scale], [secret])[0]
    goal = Goal([FrequencyLDiversity("s", 4)])
    for partitions in (1, 4, 10):
        check(tally, goal, Hilb(partitions=partitions).decide(tally, goal, rng=np.random.default_rng(0)))


@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 3))
@settings(max_examples=examples(30), deadline=None)
def test_sizes(seed: int, k: int, partitions: int):
    """Groups of k to 2k - 1 records where all records differ."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 12 * k))
    scale = Domain("q", Taxonomy.scale([str(i) for i in range(n)]))
    tally = count_cells([rng.permutation(n).astype(np.int32)], [], [scale], [])[0]
    grouping = Hilb(swaps=0, partitions=partitions).decide(tally, Goal([KAnonymity(k)]), rng=rng)
    sizes = np.bincount(grouping.group, grouping.quota)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert sizes.sum() == n


@pytest.mark.parametrize("criterion", [EntropyLDiversity("s", 3), TCloseness("s", 0.4), FrequencyLDiversity("s", 2.5)])
def test_other_goals_by_pooling(criterion: FrequencyLDiversity):
    rng = np.random.default_rng(8)
    tally = table(rng, 400, rng.zipf(1.8, 400) % 8 + (rng.random(400) < 0.5) * 8)
    goal = Goal([KAnonymity(4), criterion])
    grouping = Hilb().decide(tally, goal, rng=rng)
    check(tally, goal, grouping)
    assert grouping.n_groups > 5


def test_records_are_not_what_takes_time():
    """A thousand times the records of each cell: the same groups, a thousand times as large."""
    rng = np.random.default_rng(3)
    tally = table(rng, 3000, rng.integers(0, 30, 3000))
    goal = Goal([FrequencyLDiversity("s", 5)])
    many = Tally(tally.quasi, tally.sensitive, tally.count * 1000, tally.quasi_domains, tally.sensitive_domains)
    grouping = Hilb().decide(many, goal, rng=rng)
    check(many, goal, grouping)
    assert len(grouping.cell) < 50 * tally.n_cells


@pytest.mark.parametrize("records", [500, 4000, 30_000])  # some, most and all combinations suffice by themselves
def test_combinations_that_suffice_cost_nothing(records: int):
    rng = np.random.default_rng(5)
    tally = table(rng, records, rng.integers(0, 30, records))
    goal = Goal([FrequencyLDiversity("s", 5)])
    grouping = Hilb().decide(tally, goal, rng=rng)
    check(tally, goal, grouping)
    row = np.unique(tally.quasi, axis=0, return_inverse=True)[1].reshape(-1)
    most = np.array([tally.count[row == t].max() for t in range(row.max() + 1)])
    suffices = most * 5 <= np.bincount(row, tally.count)
    pieces = row[grouping.cell]
    mixed = np.array([len(set(pieces[grouping.group == g])) > 1 for g in range(grouping.n_groups)])
    assert suffices.all() == (not mixed.any())


def adult(shared: Path, *sensitive: str) -> Tally:
    frame, taxonomies = load_adult(shared / "data" / "adult")
    quasi = [q for q in QUASI if q not in sensitive]
    job = Job(quasi={q: taxonomies[q] for q in quasi}, sensitive=list(sensitive), drop="rest", criteria=[KAnonymity(2)])
    source = open_source(frame)
    return MemoryEngine().count(source, job.schema(source.columns))


def loss(tally: Tally, goal: Goal, algorithm: Hilb | Mondrian) -> float:
    grouping = algorithm.decide(tally, goal, rng=np.random.default_rng(1))
    return float(metric_named("gcp").score(Plan.of(tally, goal, grouping)))


@pytest.mark.parametrize("k", [2, 10, 50])
def test_less_loss_than_mondrian_on_adult(shared: Path, k: int):
    tally, goal = adult(shared), Goal([KAnonymity(k)])
    assert loss(tally, goal, Hilb()) < loss(tally, goal, Mondrian())


@pytest.mark.parametrize("diversity", [2, 5])
def test_less_loss_than_mondrian_on_adult_with_a_secret(shared: Path, diversity: int):
    tally, goal = adult(shared, "occupation"), Goal([FrequencyLDiversity("occupation", diversity)])
    assert loss(tally, goal, Hilb()) < loss(tally, goal, Mondrian())


@pytest.mark.parametrize("goal", [Goal([KAnonymity(7)]), Goal([KAnonymity(3), TCloseness("s", 0.4)])], ids=str)
def test_while_weak_groups_are_merged_all_is_known_of_groups_that_did_not_grow(goal: Goal):
    """Every time partners are asked for, what is told about all groups is what measuring them anew tells."""
    rng = np.random.default_rng(3)
    tally = table(rng, 400, rng.integers(0, 6, 400))
    pool, _ = Pool.whole(tally, goal)
    asked = 0

    def partners(grouping, groups, wanted):
        nonlocal asked
        asked += 1
        for told, measured in zip(groups, pool.measured(grouping), strict=True):
            np.testing.assert_array_equal(told, measured)
        np.testing.assert_array_equal(wanted, np.flatnonzero(~pool.satisfied(grouping)))
        return np.where(wanted > 0, wanted - 1, 1), rng.random(len(wanted))

    alone = Grouping.of_cells(pool.tally, np.arange(pool.tally.n_cells, dtype=np.int32), pool.tally.n_cells)
    merged = merge_weak(pool, alone, partners)
    assert asked > 1, "groups are known from the second time on"
    check(pool.tally, goal, merged)

"""Sampling, levels fixed in advance, and suppression of rare records."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.fulldomain import sdgs
from tarnkappe.algorithms.fulldomain.datafly import Datafly
from tarnkappe.algorithms.fulldomain.sdgs import Sdgs, thin
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.criteria.differential_privacy import DifferentialPrivacy
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.sdgs_bound import sdgs_delta
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.job import Job, numeric
from tarnkappe.job.mechanism import independent
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain, Hidden, Tally, count_cells
from tarnkappe.taxonomy import dates, frequency, intervals, ordered, prefix, suppress, value_set
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

DP = DifferentialPrivacy(epsilon=1.0, delta=0.01, beta=0.4)
GOAL = Goal([DP], 1.0)


def tally_of(n: int, seed: int = 0) -> Tally:
    rng = np.random.default_rng(seed)
    tree = Taxonomy.from_nested({"a": ["a0", "a1", "a2"], "b": ["b0", "b1"]})
    quasi = [Domain("x", tree), Domain("y", Taxonomy.from_nested(["u", "v"]))]
    secret = [Domain("s", Taxonomy.from_nested(["p", "q", "r"]))]
    columns = [rng.choice(d.size, n) for d in (*quasi, *secret)]
    return count_cells(columns[:2], columns[2:], quasi, secret)[0]


def test_groups_are_at_their_levels_and_no_published_record_is_rare():
    tally = tally_of(2000)
    grouping = Sdgs(levels={"x": 1, "y": 0}).decide(tally, GOAL, rng=np.random.default_rng(1))
    check_grouping("sdgs", tally, GOAL, grouping)
    assert grouping.n_groups == 4
    assert grouping.fixed is not None
    assert {tally.quasi_domains[0].taxonomy.labels[v] for v in grouping.fixed.node[:, 0]} == {"a", "b"}
    kept = grouping.group >= 0
    copies: dict[tuple[int, int], int] = {}
    for group, secret, quota in zip(
        grouping.group[kept], tally.sensitive[grouping.cell[kept], 0], grouping.quota[kept], strict=True
    ):
        copies[group, secret] = copies.get((group, secret), 0) + int(quota)
    assert min(copies.values()) >= DP.k
    published = 2000 - grouping.suppressed
    assert abs(published - 800) < 5 * math.sqrt(2000 * 0.4 * 0.6)


def test_rare_records_disappear_also_inside_large_groups():
    """A secret that two people share is not published although their group is large."""
    common = np.zeros(500, np.int64)
    secret = np.r_[np.zeros(498, np.int64), 1, 1]
    quasi, hidden = Domain("x", Taxonomy.from_nested(["a", "b"])), Domain("s", Taxonomy.from_nested(["p", "q"]))
    tally, _ = count_cells([common], [secret], [quasi], [hidden])
    grouping = Sdgs(levels={"x": 0}).decide(tally, GOAL, rng=np.random.default_rng(0))
    assert set(tally.sensitive[grouping.cell[grouping.group >= 0], 0]) == {0}


def test_chance_decides_and_a_seed_repeats_it():
    tally = tally_of(500)
    one, two, other = (Sdgs().decide(tally, GOAL, rng=np.random.default_rng(s)) for s in (1, 1, 2))
    assert np.array_equal(one.quota, two.quota)
    assert not np.array_equal(one.quota, other.quota)


def test_thinning_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch):
    count = np.array([0, 3, 0, 5, 1, 0, 20, 0], np.int64)
    whole = thin(count, 0.4, np.random.default_rng(3))
    for block in (1, 2, 7, 8, 9):
        monkeypatch.setattr(sdgs, "_BLOCK", block)
        assert np.array_equal(thin(count, 0.4, np.random.default_rng(3)), whole)
    assert np.all(whole <= count)


def test_thinning_is_binomial():
    n, beta, cells = 12, 0.3, 40_000
    kept = thin(np.full(cells, n, np.int64), beta, np.random.default_rng(5))
    expected = np.array([math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1)]) * cells
    found = np.bincount(kept, minlength=n + 1)
    chi_square = float((((found - expected) ** 2) / expected)[expected > 5].sum())
    assert chi_square < 35  # 99.9 % of a chi-square of at most 12 degrees of freedom lie below 33


@pytest.mark.parametrize("n", [10, 12, 16])
def test_neighbouring_tables_cannot_be_told_apart(n: int):
    """Run the mechanism on two tables that differ in one record; no set of releases violates (epsilon, delta)."""
    criterion = DifferentialPrivacy(epsilon=0.8, delta=0.05, beta=0.5)
    goal, runs = Goal([criterion], 1.0), 20_000
    # Kinds of records do not influence each other, so one table with many kinds is as many runs.
    quasi = Domain("x", Taxonomy.from_nested({f"{i}": [f"{i}a", f"{i}b"] for i in range(runs)}))

    def copies(n_records: int, rng: np.random.Generator) -> np.ndarray:
        kind = np.repeat(np.arange(runs), n_records)
        tally, _ = count_cells([2 * kind + np.arange(len(kind)) % 2], [], [quasi], [])
        grouping = Sdgs(levels={"x": 1}).decide(tally, goal, rng=rng)
        kept = grouping.group >= 0
        sizes = np.bincount(grouping.group[kept], grouping.quota[kept]).astype(np.int64)
        found = np.bincount(sizes, minlength=n + 1)
        found[0] = runs - grouping.n_groups
        return found / runs

    rng = np.random.default_rng(n)
    more, fewer = copies(n, rng), copies(n - 1, rng)
    assert more[1 : criterion.k].sum() == fewer[1 : criterion.k].sum() == 0
    factor = math.exp(criterion.epsilon)
    for one, other in ((more, fewer), (fewer, more)):
        worst = one > factor * other  # the set of releases that tells most
        error = 4 * math.sqrt((1 + factor**2) * 0.25 / runs)
        assert one[worst].sum() <= factor * other[worst].sum() + criterion.delta + error
    assert sdgs_delta(0.8, 0.5, criterion.k) <= criterion.delta


@pytest.mark.parametrize("algorithm", [Mondrian(), Datafly()], ids=str)
def test_other_algorithms_refuse(algorithm):
    with pytest.raises(JobError, match="looking at the data") as caught:
        algorithm.decide(tally_of(200), GOAL, rng=np.random.default_rng(0))
    assert caught.value.code == "E111"
    assert "sdgs" in (caught.value.hint or "")


def test_no_other_algorithm_declares_to_be_a_mechanism():
    assert [name for name, cls in all_algorithms().items() if "mechanism" in cls.scopes] == ["sdgs"]


@pytest.mark.parametrize(
    ("algorithm", "goal", "code"),
    [
        (Sdgs(), Goal([KAnonymity(5)], 1.0), "E111"),
        (Sdgs(), Goal([DP, KAnonymity(5)], 1.0), "E111"),
        (Sdgs(), Goal([DP], 0.9), "E111"),
        (Sdgs(levels={"z": 1}), GOAL, "E105"),
        (Sdgs(levels={"x": 3}), GOAL, "E110"),
    ],
)
def test_what_it_cannot_do_is_refused(algorithm: Sdgs, goal: Goal, code: str):
    with pytest.raises(JobError) as caught:
        algorithm.decide(tally_of(200), goal, rng=np.random.default_rng(0))
    assert caught.value.code == code


@pytest.mark.parametrize("levels", [{"x": -1}, {"x": 1.5}, {"x": "half"}, {"x": True}, {1: 1}, 3])
def test_levels_are_checked(levels):
    with pytest.raises(JobError, match="levels"):
        Sdgs(levels=levels)


def test_too_few_records_are_infeasible():
    with pytest.raises(InfeasibleError):
        Sdgs().decide(tally_of(DP.k - 1), GOAL, rng=np.random.default_rng(0))
    with pytest.raises(InfeasibleError):
        Sdgs().decide(tally_of(0), GOAL, rng=np.random.default_rng(0))


def test_shares_of_the_height():
    domains = tally_of(10).quasi_domains  # heights 2 and 1
    for algorithm, expected in (
        (Sdgs(), [1, 1]),
        (Sdgs(share=0.0), [0, 0]),
        (Sdgs(share=1.0), [2, 1]),
        (Sdgs(levels={"x": 0.4, "y": 0}), [1, 0]),
        (Sdgs(levels={"x": 2}, share=0.0), [2, 0]),
    ):
        assert [algorithm._level(d) for d in domains] == expected
    limited = Domain("x", domains[0].taxonomy, max_level=1)
    assert [Sdgs(share=s)._level(limited) for s in (0.0, 1.0)] == [0, 1]
    # Levels are those of the column's own taxonomy, of which the domain begins at the floor.
    nothing = np.zeros(domains[0].size)
    floored = Domain("x", domains[0].taxonomy, hidden=Hidden(1, 0, nothing.astype(np.int64), nothing, nothing))
    assert [Sdgs(levels={"x": level})._level(floored) for level in (1, 2, 3)] == [0, 1, 2]
    with pytest.raises(JobError, match="has the levels 1 to 3, not 0"):
        Sdgs(levels={"x": 0})._level(floored)


def test_the_rarest_record_is_what_is_measured():
    group, count = np.array([0, 0, 1]), np.array([7, 30, 20])
    domain = Domain("s", Taxonomy.from_nested(["p", "q"]))
    codes = np.array([0, 1, 0], np.int32)
    stats = GroupStats.from_cells(
        group, count, {"s": (codes, domain)}, joint=((domain,), codes, np.array([[0], [1]], np.int32))
    )
    assert DP.level(stats).tolist() == [7, 20]


JOB = {
    "quasi": {
        "age": intervals(10, 20, 40, whole=True),
        "education": census_taxonomies()["education"],
        "sex": suppress(),
    },
    "sensitive": ["marital-status"],
    "drop": "rest",
    "criteria": [DifferentialPrivacy(epsilon=1.0, delta=1e-6)],
    "max_suppressed": 1.0,
}


def test_a_whole_release():
    people = census(6000, seed=3)
    job = Job(**JOB, algorithm=Sdgs(levels={"age": 2, "education": 1, "sex": 0}))
    release = job.anonymize(people, seed=1)
    table = release.table
    assert table.group_by(table.columns).len()["len"].min() >= 74
    assert release.verdicts[0].ok
    assert release.verdicts[0].reached >= 74
    assert 0 < table.height < 6000 * 0.67


def test_a_numeric_column_without_a_taxonomy_is_refused():
    people = pl.DataFrame({"age": np.arange(600) % 50, "sex": ["f", "m"] * 300})
    job = Job(quasi={"age": numeric(), "sex": suppress()}, criteria=[DP], max_suppressed=1.0, algorithm=Sdgs())
    with pytest.raises(JobError, match="depend on the data"):
        job.anonymize(people)


@pytest.mark.parametrize(
    "column",
    [
        Column("z", "keep"),
        Column("z", "quasi", taxonomy=frequency(0.1)),
        Column("z", "quasi", taxonomy=ordered(groups=(2,))),
        Column("z", "quasi", taxonomy=ordered("a", "b")),
        Column("z", "quasi", taxonomy=value_set("a", "b")),
        Column("z", "quasi", "numeric", intervals(5, 10)),
        Column("z", "quasi", taxonomy=prefix(2)),
        Column("z", "quasi", taxonomy=dates("year")),
        Column("z", "quasi", "numeric"),
        Column("z", "subject"),
    ],
    ids=lambda c: f"{c.role} {type(c.taxonomy).__name__}",
)
def test_columns_that_tell_of_other_records_are_refused(column: Column):
    schema = Schema([Column("x", "quasi", taxonomy=suppress()), column])
    with pytest.raises(JobError) as caught:
        independent(schema, GOAL, {})
    assert caught.value.code == "E111"


def test_a_missing_value_is_a_value_whether_one_occurs_or_not():
    schema = Schema([Column("z", "quasi", taxonomy=ordered("a", "b", groups=(2,)))])
    assert independent(schema, GOAL, {}).missing_rule == "own-value"

"""LSH-RC: what its hash functions promise, its parts, and what it loses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.local.k_member import KMember
from tarnkappe.algorithms.local.lsh_rc import LSHRC, MinHashes, similar_parts
from tarnkappe.algorithms.local.pool import Pool
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.algorithms.steps.units import ruler_of
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.widths import box_widths
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

TREE = Taxonomy.from_nested({"A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "C": {"C1": ["c1", "c2"], "C2": ["c3"]}})


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def pool_of(tally: Tally, goal: Goal) -> Pool:
    return Pool(tally, goal, goal.table_distributions(tally), ruler_of(tally.quasi_domains))


def clustered(n: int, seed: int = 0) -> Tally:
    """People around a few dozen places in four columns, and a secret."""
    chance = rng(seed)
    values = np.arange(60, dtype=float)
    quasi = [Domain(name, Taxonomy.scale([f"{v:g}" for v in values]), values) for name in "xyz"]
    quasi.append(Domain("t", TREE))
    centre = chance.integers(0, 60, (40, 3))
    own = chance.integers(0, 40, n)
    codes = [np.clip(centre[own, j] + chance.integers(-6, 7, n), 0, 59) for j in range(3)]
    codes.append((own + (chance.random(n) < 0.2)) % 8)
    secret = Domain("s", Taxonomy.scale([f"s{i}" for i in range(5)]))
    return count_cells(codes, [chance.integers(0, 5, n)], quasi, [secret])[0]


def test_similar_records_have_the_same_hash_more_often():
    """Pr[h(x) = h(y)] = (W - D) / (W + D), with the distance that k-member looks at."""
    heavy = Domain("t", TREE, weight=2.0)
    light = Domain("u", TREE)
    tally = count_cells([np.repeat(np.arange(8), 8), np.tile(np.arange(8), 8)], [], [heavy, light], [])[0]
    hashes, chance = MinHashes(tally.quasi_domains), rng(1)
    values = np.column_stack([hashes.of(tally, chance)[0] for _ in range(4000)])
    ruler = ruler_of(tally.quasi_domains)
    for a, b in rng(2).integers(0, 64, (30, 2)):
        lo, hi = np.minimum(tally.quasi[a], tally.quasi[b])[None], np.maximum(tally.quasi[a], tally.quasi[b])[None]
        distance = float(box_widths(ruler, lo, hi)[0])
        assert np.mean(values[a] == values[b]) == pytest.approx((3 - distance) / (3 + distance), abs=0.035)


def test_near_numbers_lie_on_the_same_side():
    positions = np.array([0.0, 1.0, 4.0, 10.0])
    x = Domain("x", Taxonomy.scale(["0", "1", "4", "10"]), positions)
    tally = count_cells([np.arange(4)], [], [x], [])[0]
    hashes, chance = MinHashes([x]), rng(3)
    values = np.column_stack([hashes.of(tally, chance)[0] for _ in range(4000)])
    for a in range(4):
        for b in range(4):
            expected = 1 - abs(positions[a] - positions[b]) / 10
            assert np.mean(values[a] == values[b]) == pytest.approx(expected, abs=0.035)


@pytest.mark.parametrize("goal", [Goal([KAnonymity(5)]), Goal([KAnonymity(5), LDiversity("s", 4)])], ids=["k", "k, l"])
def test_parts_are_small_and_can_satisfy_the_goal(goal: Goal):
    tally = clustered(4000)
    pool = pool_of(tally, goal)
    part, n_parts = similar_parts(pool, 300, rng())
    sizes = np.bincount(part, minlength=n_parts)
    assert sizes.max() <= 300
    assert sizes.min() >= 300 // 4
    assert pool.satisfied(Grouping.of_cells(tally, part, n_parts)).all()


def test_a_small_table_is_one_part():
    tally = clustered(100)
    assert similar_parts(pool_of(tally, Goal([KAnonymity(2)])), 1000, rng())[1] == 1


@settings(max_examples=examples(50))
@given(tallies(), goals(know_others=None), st.integers(1, 20), st.integers(0, 9))
def test_the_guarantee(tally: Tally, goal: Goal, part_cells: int, seed: int):
    try:
        found = LSHRC(part_cells=part_cells).decide(tally, goal, rng=rng(seed))
    except (InfeasibleError, JobError) as error:
        with pytest.raises(type(error)):
            KMember().decide(tally, goal, rng=rng())
        return
    check_grouping("lsh-rc", tally, goal, found)


def test_one_part_is_k_member():
    """But for the last comparison of all records with all groups."""
    tally, goal = clustered(300), Goal([KAnonymity(5)])
    loss = [LossMetric().score(Plan.of(tally, goal, a.decide(tally, goal, rng=rng()))) for a in (LSHRC(), KMember())]
    assert loss[0] == pytest.approx(loss[1], rel=0.02)


def test_between_k_member_and_mondrian():
    tally, goal = clustered(4000), Goal([KAnonymity(5)])

    def loss(algorithm: KMember | LSHRC | Mondrian) -> float:
        return LossMetric().score(Plan.of(tally, goal, algorithm.decide(tally, goal, rng=rng())))

    assert loss(LSHRC(part_cells=400)) < 1.25 * loss(KMember())
    assert loss(LSHRC(part_cells=400)) < 0.9 * loss(Mondrian())

"""Iterated local recoding: round by round, and what becomes of the last records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import brute_meets, goals, published_rows, tallies
from tarnkappe.algorithms.fulldomain.datafly import Datafly
from tarnkappe.algorithms.fulldomain.flash import Flash
from tarnkappe.algorithms.local.iterated_local_recoding import IteratedLocalRecoding
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import InfeasibleError, JobError, LimitError
from tarnkappe.goal import Goal
from tarnkappe.metrics.ncp import GlobalCertaintyPenalty
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

RNG = np.random.default_rng(0)
CITY = Domain("city", Taxonomy.from_nested({"North": ["n1", "n2"], "South": ["s1", "s2"], "East": ["e1", "e2"]}))


def towns(codes: list[int]) -> Tally:
    return count_cells([np.array(codes)], [], [CITY], [])[0]


def texts(algorithm: IteratedLocalRecoding, tally: Tally, goal: Goal) -> list[tuple[str | None, ...]]:
    plan = Plan.of(tally, goal, algorithm.decide(tally, goal, rng=RNG))
    return sorted((t for t, _ in published_rows(plan)), key=str)


#: Towns of one region are published in the first round, regions in the second.
MIXED = [0, 0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 5]


@pytest.mark.parametrize("inner", ["flash", "ola", "datafly"])
def test_every_round_has_levels_of_its_own(inner):
    """Six records keep their town; the others share it with fewer than three and go up to the region."""
    found = texts(IteratedLocalRecoding(inner, tradeoff=0.1), towns(MIXED), Goal([KAnonymity(3)]))
    assert found == [("East",)] * 3 + [("South",)] * 3 + [("n1",)] * 3 + [("n2",)] * 3


def test_one_round_is_the_full_domain_result():
    goal = Goal([KAnonymity(3)])
    one = Datafly().decide(towns(MIXED), goal, rng=RNG)
    found = texts(IteratedLocalRecoding("datafly", rounds=1), towns(MIXED), goal)
    assert found == sorted((t for t, _ in published_rows(Plan.of(towns(MIXED), goal, one))), key=str)


class TestLastRecords:
    def test_suppressed_within_the_limit(self):
        tally = towns([0, 0, 0, 1, 1, 1, 4])
        grouping = IteratedLocalRecoding().decide(tally, Goal([KAnonymity(3)], 0.2), rng=RNG)
        assert grouping.suppressed == 1

    def test_at_the_root_with_a_group_that_helps_them(self):
        """One record cannot be alone at the root: the smallest group of the last round joins it."""
        found = texts(IteratedLocalRecoding(), towns([0, 0, 0, 0, 1, 1, 1, 4]), Goal([KAnonymity(3)]))
        assert found == [("*",)] * 4 + [("n1",)] * 4

    def test_nobody_can_be_helped(self):
        with pytest.raises(InfeasibleError):
            IteratedLocalRecoding().decide(towns([0, 1]), Goal([KAnonymity(3)]), rng=RNG)


def test_other_algorithms_are_refused():
    with pytest.raises(JobError, match="inner"):
        IteratedLocalRecoding("mondrian")


@given(tallies(max_records=40, wildcards=False), goals(), st.sampled_from(["flash", "datafly"]), st.integers(1, 4))
@settings(deadline=None)
def test_what_is_published_keeps_the_promise(tally, goal, inner, rounds):
    algorithm = IteratedLocalRecoding(inner, rounds=rounds)
    try:
        grouping = algorithm.decide(tally, goal, rng=RNG)
    except InfeasibleError:
        return
    assert grouping.suppressed <= goal.budget(tally.n_records)
    boxes = grouping.boxes(tally)
    assert len(np.unique(boxes.node, axis=0)) == grouping.n_groups, "groups that publish the same are one"
    rows = published_rows(Plan.of(tally, goal, grouping))
    assert all(brute_meets(rows, criterion, tally) for criterion in goal.criteria)


def test_loses_less_than_one_full_domain_optimum():
    rng = np.random.default_rng(4)
    trees = [
        Domain(c, Taxonomy.from_nested({f"{c}{i}": [f"{c}{i}{j}" for j in range(4)] for i in range(4)})) for c in "xy"
    ]
    columns = [np.minimum(rng.geometric(0.3, 600) - 1, 15) for _ in trees]
    tally, _ = count_cells(columns, [], trees, [])
    goal = Goal([KAnonymity(5)])
    score = GlobalCertaintyPenalty().score
    once, again = (
        score(Plan.of(tally, goal, a.decide(tally, goal, rng=rng))) for a in (Flash(), IteratedLocalRecoding())
    )
    assert again < 0.7 * once


@pytest.mark.parametrize("inner", ["flash", "datafly"])
def test_seventy_quasi_identifiers_are_recoded_or_refused(inner):
    """More than bits in a word; a lattice that no memory holds is refused with the names of others."""
    codes = [RNG.integers(0, 6, 60) for _ in range(70)]
    tally = count_cells(codes, [], [CITY] * 70, [])[0]
    goal, algorithm = Goal([KAnonymity(5)]), IteratedLocalRecoding(inner=inner)
    if inner == "flash":
        with pytest.raises(LimitError, match="lattice") as caught:
            algorithm.decide(tally, goal, rng=RNG)
        assert caught.value.code == "E704"
    else:
        plan = Plan.of(tally, goal, algorithm.decide(tally, goal, rng=RNG))
        assert plan.sizes.min() >= 5

"""mu-Argus: by hand, and always safe in all columns together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import goals, published_rows, tallies
from tarnkappe.algorithms.subtree.mu_argus import MuArgus
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)


def column(name: str, n: int) -> Domain:
    return Domain(name, Taxonomy.from_nested([f"{name}{i}" for i in range(n)]))


def table(*codes: list[int]) -> Tally:
    domains = [column("abc"[j], max(c) + 1) for j, c in enumerate(codes)]
    return count_cells([np.array(c) for c in codes], [], domains, [])[0]


def texts(tally: Tally, goal: Goal, algorithm: MuArgus) -> list[tuple[str | None, ...]]:
    plan = Plan.of(tally, goal, algorithm.decide(tally, goal, rng=RNG))
    return sorted((t for t, _ in published_rows(plan)), key=str)


def test_a_safe_table_is_left_alone():
    tally = table([0, 0, 1, 1], [0, 0, 1, 1])
    assert texts(tally, Goal([KAnonymity(2)]), MuArgus()) == [("a0", "b0")] * 2 + [("a1", "b1")] * 2


def test_one_cell_of_a_rare_pair_is_given_up():
    """The pair (a0, b1) is unique, each of its values is not: the column of less weight is given up."""
    a, b = [0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1]
    for light, expected in ((0, ("*", "b1")), (1, ("a0", "*"))):
        domains = [Domain(n, column(n, 2).taxonomy, weight=0.5 if light == j else 1.0) for j, n in enumerate("ab")]
        tally = count_cells([np.array(a), np.array(b)], [], domains, [])[0]
        # With k = 1 the joint check asks for nothing more, so the work of the thresholds is seen.
        found = texts(tally, Goal([KAnonymity(1)]), MuArgus(thresholds=(2,), local=0.5))
        assert sorted(found) == sorted([("a0", "b0")] * 3 + [("a1", "b1")] * 3 + [expected])


def test_columns_are_recoded_while_too_many_records_would_lose_cells():
    zips = Domain("zip", Taxonomy.from_nested({"1*": ["11", "12"], "2*": ["21", "22"]}))
    tally = count_cells([np.array([0, 1, 1, 2, 2, 3])], [], [zips], [])[0]
    assert set(texts(tally, Goal([KAnonymity(2)]), MuArgus(local=0.1))) == {("1*",), ("2*",)}
    assert set(texts(tally, Goal([KAnonymity(2)]), MuArgus(local=0.5))) == {("*",), ("12",), ("21",)}


def test_thresholds_by_length():
    """A value needs three records, a pair only one."""
    tally = table([0, 0, 0, 1, 1], [0, 0, 1, 1, 1])
    found = texts(tally, Goal([KAnonymity(1)]), MuArgus(thresholds=(3, 1), local=1.0))
    assert sorted(found) == sorted([("*", "b1"), ("*", "b1"), ("a0", "*"), ("a0", "*"), ("a0", "b1")])


def unique_in_four() -> Tally:
    """Every triple of values occurs twice, every combination of four once."""
    rows = [[x, y, z, x ^ y ^ z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    both = np.array(rows + [[x, y, z, 1 - w] for x, y, z, w in rows])
    domains = [column(n, 2) for n in "abcd"]
    return count_cells(list(both.T), [], domains, [])[0]


def test_small_combinations_do_not_suffice():
    """The reason for the joint check: all triples are safe, and yet everybody is unique."""
    tally = unique_in_four()
    for chosen in combinations(range(4), 3):
        assert np.unique(tally.quasi[:, chosen], axis=0, return_counts=True)[1].min() == 2
    grouping = MuArgus().decide(tally, Goal([KAnonymity(2)]), rng=RNG)
    assert np.bincount(grouping.group).min() >= 2
    assert grouping.suppressed == 0
    lost = (grouping.fixed.node == 0).any(axis=0).sum()
    assert lost == 1, "one column is enough"


def test_what_has_nothing_left_is_suppressed_or_joined():
    tally = table([0, 0, 0, 0, 0, 1])
    goal = Goal([KAnonymity(2)])
    free = MuArgus(local=0.5).decide(tally, Goal([KAnonymity(2)], 0.2), rng=RNG)
    assert free.suppressed == 1
    assert set(texts(tally, goal, MuArgus(local=0.5))) == {("*",)}


THRESHOLDS = st.sampled_from([(), (1,), (3, 2)])


@given(tallies(wildcards=False), goals(), st.integers(1, 4), THRESHOLDS, st.sampled_from([0, 0.3, 1]))
@settings(deadline=None, max_examples=40)
def test_always_safe_in_all_columns_together(tally, goal, longest, thresholds, local):
    together = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
    try:
        grouping = MuArgus(longest, thresholds, local).decide(tally, goal, rng=RNG)
    except InfeasibleError:
        assert not goal.satisfied(goal.stats(tally, together)).all()
        return
    check_grouping("mu-argus", tally, goal, grouping)


@given(tallies(wildcards=False), st.integers(1, 3), st.integers(2, 5))
@settings(deadline=None, max_examples=30)
def test_no_unsafe_combination_is_published_whole(tally, longest, threshold):
    """Where nobody loses anything in the joint check, rare combinations of the recoded table are all broken."""
    grouping = MuArgus(longest, (threshold,), 1.0).decide(tally, Goal([KAnonymity(1)]), rng=RNG)
    own = np.column_stack([d.taxonomy.leaf_nodes[tally.quasi[:, j]] for j, d in enumerate(tally.quasi_domains)])
    published = grouping.fixed.node[grouping.group]
    for n in range(1, min(longest, own.shape[1]) + 1):
        for chosen in combinations(range(own.shape[1]), n):
            _, key = np.unique(own[:, chosen], axis=0, return_inverse=True)
            records = np.bincount(key.reshape(-1), weights=tally.count)[key.reshape(-1)]
            whole = (published[:, chosen] == own[:, chosen]).all(axis=1)
            alone = [d.taxonomy.n_nodes == 1 for d in (tally.quasi_domains[j] for j in chosen)]
            assert any(alone) or not (whole & (records < threshold)).any()


def test_infeasible_and_bad_parameters():
    with pytest.raises(InfeasibleError):
        MuArgus().decide(table([0, 1]), Goal([KAnonymity(3)]), rng=RNG)
    with pytest.raises(JobError, match="thresholds"):
        MuArgus(thresholds=(0,))
    secret = Domain("s", Taxonomy.from_nested(["x", "y"]))
    tally = count_cells([np.array([0, 1])], [np.array([0, 0])], [column("a", 2)], [secret])[0]
    with pytest.raises(InfeasibleError):
        MuArgus().decide(tally, Goal([LDiversity("s", 2)]), rng=RNG)

"""Hilb's steps as the thesis prints them, and numbers on the curve by value."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tarnkappe.algorithms.local.curve import hilbert_order, valued
from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.algorithms.steps.units import ruler_of
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.goal import Goal
from tarnkappe.kernels.local.hilb_forming import Queues
from tarnkappe.kernels.local.hilb_published import form_groups_as_published
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

PUBLISHED = Hilb(as_published=True, refine=False, lookahead=1, swaps=0)


def algorithm_1(values: list[int], l: int) -> tuple[list[list[int]], int]:  # noqa: E741
    """Algorithm 1, line by line: groups of records (numbered along the curve), and how often it fell back."""
    buckets = {v: [i for i, x in enumerate(values) if x == v] for v in sorted(set(values))}
    remaining, groups, fallen = len(values), [], 0

    def eligible(group: list[int]) -> bool:
        taken = Counter(values[i] for i in group)
        return max((len(b) - taken[v] for v, b in buckets.items()), default=0) * l <= remaining - len(group)

    while remaining > 0:
        frontier = sorted(b[0] for b in buckets.values() if b)
        sizes = range(l, len(frontier) + 1)
        group = next((frontier[:n] for n in sizes if eligible(frontier[:n])), None)
        if group is None:
            fallen += 1
            commonest = sorted(frontier, key=lambda i: (-len(buckets[values[i]]), i))
            group = next(commonest[:n] for n in sizes if eligible(commonest[:n]))
        groups.append(group)
        for i in group:
            buckets[values[i]].remove(i)
        remaining -= len(group)
    return groups, fallen


def test_groups_are_those_of_algorithm_1():
    rng = np.random.default_rng(1)
    fallen = extended = 0
    for _ in range(150):
        l, m = int(rng.integers(2, 5)), int(rng.integers(4, 8))  # noqa: E741
        n = int(rng.integers(2 * l, 60))
        values = rng.choice(m, n, p=rng.dirichlet(np.full(m, 1.5)))
        if Counter(values.tolist()).most_common(1)[0][1] * l > n:
            continue
        line = Domain("x", Taxonomy.scale([str(i) for i in range(n)]), np.arange(float(n)))
        order = np.argsort(values, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(values, minlength=m)))
        cells = order.astype(np.int32)
        queues = Queues(starts, cells, cells, np.ones(n, np.int64))
        rows = cells[:, None].copy()
        cell, group, quota, n_groups = form_groups_as_published(ruler_of([line]), rows, queues, l)
        expected, falls = algorithm_1(values.tolist(), l)
        assert {frozenset(cell[group == g].tolist()) for g in range(n_groups)} == set(map(frozenset, expected))
        assert quota.tolist() == [1] * n
        fallen += falls
        extended += sum(len(g) > l for g in expected)
    assert fallen > 0
    assert extended > 0


def table(seed: int, n: int = 300) -> Tally:
    rng = np.random.default_rng(seed)
    age = Domain("age", Taxonomy.scale([str(i) for i in range(40)]), np.arange(40.0) ** 2)
    town = Domain("town", Taxonomy.from_nested({"n": ["a", "b", "c"], "s": ["d", "e"]}))
    ill = Domain("ill", Taxonomy.from_nested(["flu", "gout", "cold", "asthma"]))
    codes = [rng.integers(0, 40, n), rng.integers(0, 5, n)]
    return count_cells(codes, [rng.choice(4, n, p=[0.27, 0.26, 0.25, 0.22])], [age, town], [ill])[0]


@pytest.mark.parametrize("algorithm", [PUBLISHED, Hilb(as_published=True), Hilb(by_value=True)], ids=str)
@pytest.mark.parametrize("l", [2, 3])
def test_the_goal_is_kept(algorithm, l):  # noqa: E741
    tally, goal = table(l), Goal([FrequencyLDiversity("ill", l)])
    found = algorithm.decide(tally, goal, rng=np.random.default_rng(0))
    check_grouping(algorithm.name, tally, goal, found)
    assert found.n_groups > tally.n_records / (4 * l)


def test_numbers_stand_on_the_curve_by_value():
    wage = Domain("wage", Taxonomy.scale(["1", "2", "3", "100", "?"]), np.array([1.0, 2, 3, 100, np.nan]), missing=4)
    bits, place = valued(wage)
    assert place.tolist()[:4] == [0, 1, 2, (1 << bits) - 1]
    tally = table(1)
    rows = np.unique(tally.quasi, axis=0)
    orders = [hilbert_order(rows, tally.quasi_domains, by_value=by_value) for by_value in (False, True)]
    assert all(sorted(order.tolist()) == list(range(len(rows))) for order in orders)
    assert not np.array_equal(*orders)  # the ages are squares
    lone = [hilbert_order(rows[:, :1], tally.quasi_domains[:1], by_value=True)]
    assert (np.diff(rows[lone[0], 0]) >= 0).all()

"""Criteria are exact for tables of a million million records: products of counts do not fit into 64 bits there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tarnkappe import (
    AlphaKAnonymity,
    BetaLikeness,
    ConfidenceBounding,
    DeltaDisclosure,
    EntropyLDiversity,
    FrequencyLDiversity,
    RecursiveCLDiversity,
    TCloseness,
    XYLinkability,
)
from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.weighted_k_map import WeightedKMap
from tarnkappe.groups import GroupStats
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

TREE = Taxonomy.from_nested({"*": {"heart": ["angina", "infarct"], "lungs": ["asthma", "flu"], "none": None}})
ILLNESS = Domain("illness", TREE)

#: About half a million million records.
HUGE = 10**11 + 3

SCALED = [
    TCloseness("illness", 0.3),
    TCloseness("illness", 0.3, "ordered"),
    TCloseness("illness", 0.3, "hierarchical"),
    BetaLikeness("illness", 1.5),
    BetaLikeness("illness", 1.5, "basic"),
    DeltaDisclosure("illness", 1),
    AlphaKAnonymity("illness", 0.5, 2),
    ConfidenceBounding("illness", {"flu": 0.3}, 0.6),
    EntropyLDiversity("illness", 2),
    FrequencyLDiversity("illness", 2),
    RecursiveCLDiversity("illness", 2, 2),
    XYLinkability("illness", 0.5),
]


def stats(counts: np.ndarray) -> GroupStats:
    """Groups (rows) with so many records of each value (columns)."""
    group, code = np.nonzero(counts)
    number = counts[group, code].astype(np.int64)
    return GroupStats.from_cells(group.astype(np.int32), number, {"illness": (code.astype(np.int32), ILLNESS)})


def tables(n: int = 40) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    found = [rng.integers(0, 6, (rng.integers(1, 6), ILLNESS.size)) for _ in range(n)]
    return [counts[counts.sum(axis=1) > 0] for counts in found if counts.sum()]


@pytest.mark.parametrize("criterion", SCALED, ids=lambda c: f"{c.name} {getattr(c, 'distance', '')}")
def test_what_holds_for_few_holds_for_many(criterion: Criterion):
    """All of these speak of shares: with every count so many times as large, nothing changes."""
    for counts in tables():
        small, large = stats(counts), stats(counts * HUGE)
        assert large.size.sum() > 3 * 10**9
        assert criterion.level(large) == pytest.approx(criterion.level(small), rel=1e-12, abs=1e-15)
        assert criterion.holds(large).tolist() == criterion.holds(small).tolist()


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_t_closeness_is_exact(distance: str):
    """Against fractions, with counts that have no common factor, up to the last digit."""
    rng = np.random.default_rng(5)
    for counts in tables():
        odd = np.where(counts > 0, counts * HUGE + rng.integers(0, 10**6, counts.shape), 0)
        table = odd.sum(axis=0)
        shares = [_differences(row, table) for row in odd]
        if distance == "equal":
            truth = [sum(max(d, Fraction(0)) for d in row) for row in shares]
        else:
            present = np.flatnonzero(table)
            gaps = max(len(present) - 1, 1)
            truth = [sum(abs(sum(row[v] for v in present[: i + 1])) for i in range(gaps)) / gaps for row in shares]
        assert TCloseness("illness", 0.3, distance).level(stats(odd)).tolist() == [float(x) for x in truth]


def _differences(row: np.ndarray, table: np.ndarray) -> list[Fraction]:
    """How much larger the share of each value is in a group than in the table."""
    n, total = int(row.sum()), int(table.sum())
    return [Fraction(int(c), n) - Fraction(int(q), total) for c, q in zip(row, table, strict=True)]


@pytest.mark.parametrize("form", ["basic", "enhanced"])
def test_one_record_too_many_is_noticed(form: str):
    """At the bound a group satisfies beta-likeness, and with one record more of a million million it does not."""
    half = 10**12
    fair = np.array(
        [[half, half, 0, 0, 0], [half // 2, half + half // 2, 0, 0, 0], [3 * half // 2, half // 2, 0, 0, 0]]
    )
    assert BetaLikeness("illness", 0.5, form).holds(stats(fair)).tolist() == [True, True, True]
    fair[1, 1] += 1
    fair[2, 0] += 1
    found = BetaLikeness("illness", 0.5, "basic").holds(stats(fair)).tolist()
    assert found == [True, *(_gain(fair, g) <= Fraction(1, 2) for g in (1, 2))]
    assert not all(found)


def _gain(counts: np.ndarray, group: int) -> Fraction:
    table = counts.sum(axis=0)
    shares = [
        Fraction(int(c), int(counts[group].sum())) / Fraction(int(q), int(table.sum())) - 1
        for c, q in zip(counts[group], table, strict=True)
        if q
    ]
    return max(shares)


@pytest.mark.parametrize("n", [1, 10**6, 5 * 10**6, 2 * 10**9])
def test_weights_of_many_records_add_up(n: int):
    """Weights with nine decimals are whole numbers of up to 53 digits; millions of them go beyond 64."""
    weights = ["1000.123456789", "1500.987654321"]
    domain = Domain("w", Taxonomy.scale(weights), np.array(weights, np.float64), aside=True)
    codes = np.array([0, 1, 1], np.int32)
    stats = GroupStats.from_cells(np.array([0, 0, 1]), np.array([n, n, 1]), {"w": (codes, domain)})
    people = n * (Fraction(weights[0]) + Fraction(weights[1]))
    assert WeightedKMap("w", 100).level(stats).tolist() == [float(people), 1500.987654321]
    assert WeightedKMap("w", 100).holds(stats).all()

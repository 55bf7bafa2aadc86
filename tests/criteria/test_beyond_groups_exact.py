"""Criteria about people, parts of the quasi-identifiers and whole tables, against the independent checker."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
from grids import examples
from tarnkappe.criteria.average_risk import AverageRisk
from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
from tarnkappe.criteria.delta_presence import DeltaPresence
from tarnkappe.criteria.k_map import KMap
from tarnkappe.criteria.key_anonymity import KeyAnonymity
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.criteria.xy_linkability import XYLinkability
from tarnkappe.criteria.xy_privacy import XYPrivacy
from tarnkappe.errors import JobError
from tarnkappe.groups import GroupStats
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

QUASI = ("a", "b", "c")
ILLNESS = Domain("illness", Taxonomy.scale(["v0", "v1", "v2"]))
PERSON = Domain("person", Taxonomy.scale([f"p{i}" for i in range(5)]), aside=True)


def stats_of(rows: list[brute.Row]) -> GroupStats:
    """Statistics of released rows of (a, b, c) labels, an illness and a person."""
    labels = list(dict.fromkeys(quasi for quasi, _ in rows))
    group = np.array([labels.index(quasi) for quasi, _ in rows])
    values = np.array([values for _, values in rows], np.int32)
    joint, code = np.unique(values, axis=0, return_inverse=True)
    return GroupStats.from_cells(
        group,
        np.ones(len(rows), np.int64),
        {"illness": (values[:, 0], ILLNESS), "person": (values[:, 1], PERSON)},
        joint=((ILLNESS, PERSON), code.reshape(-1).astype(np.int32), joint.astype(np.int32)),
        keys=np.array(labels, np.int32),
        quasi=QUASI,
    )


releases = st.lists(
    st.tuples(st.tuples(*[st.integers(0, 1)] * 3), st.tuples(st.integers(0, 2), st.integers(0, 4))),
    min_size=1,
    max_size=30,
)
parts = st.sampled_from([(), (0,), (1, 2), (0, 1, 2)])
shares = st.sampled_from([0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1])


def told(criterion: Criterion, rows: list[brute.Row]) -> tuple[bool, float]:
    verdict = criterion.verdict(stats_of(rows))
    return verdict.ok, verdict.reached


def simple(share: float) -> Fraction:
    return Fraction(share).limit_denominator(10)


@given(releases, parts, st.integers(1, 4))
@settings(deadline=None)
def test_xy_anonymity(rows, x, k):
    distinct = brute.distinct_y(rows, 1, x or None)
    assert told(XYAnonymity("person", k, tuple(QUASI[j] for j in x)), rows) == (distinct >= k, distinct)


@given(releases, parts, st.integers(1, 6))
@settings(deadline=None)
def test_key_anonymity(rows, x, k):
    fewest = min(map(len, brute.classes_by(rows, x or None).values()))
    assert told(KeyAnonymity(k, tuple(QUASI[j] for j in x)), rows) == (fewest >= k, fewest)


@given(releases, parts, shares, st.sampled_from([None, 0, 1]), st.booleans())
@settings(deadline=None, max_examples=examples(200))
def test_xy_linkability(rows, x, h, value, by_person):
    named = None if value is None else ILLNESS.taxonomy.leaves[value]
    criterion = XYLinkability("illness", h, named, tuple(QUASI[j] for j in x), "person" if by_person else None)
    truth = brute.confidence(rows, 0, value, x or None, 1 if by_person else None)
    assert told(criterion, rows) == (truth <= simple(h), pytest.approx(float(truth)))


@given(releases, parts, st.dictionaries(st.integers(0, 2), shares, max_size=3), shares.filter(lambda h: h < 1))
@settings(deadline=None, max_examples=examples(200))
def test_templates_of_confidence_bounding(rows, x, bounds, bound):
    named = {ILLNESS.taxonomy.leaves[v]: h for v, h in bounds.items()}
    criterion = ConfidenceBounding("illness", named, bound, tuple(QUASI[j] for j in x))
    classes = [Counter(illness for illness, _ in members) for members in brute.classes_by(rows, x or None).values()]
    truth = max(n / (simple(bounds.get(v, bound)) * sum(h.values())) for h in classes for v, n in h.items())
    assert told(criterion, rows) == (truth <= 1, pytest.approx(float(truth)))


@given(releases, parts, shares, st.integers(1, 3))
@settings(deadline=None)
def test_xy_privacy(rows, x, h, k):
    criterion = XYPrivacy("person", k, "illness", h, None, tuple(QUASI[j] for j in x))
    enough = brute.distinct_y(rows, 1, x or None) >= k
    sure = brute.confidence(rows, 0, None, x or None, 1)
    ok, reached = told(criterion, rows)
    assert ok == (enough and sure <= simple(h))
    assert reached == pytest.approx(float(sure)) if enough else reached > 1


@given(releases, st.integers(1, 4), st.integers(1, 4), shares)
@settings(deadline=None)
def test_lkc_privacy(rows, l, k, c):  # noqa: E741
    smallest, sure = brute.lkc(rows, l, 0)
    ok, reached = told(LKCPrivacy(l, k, c, "illness"), rows)
    assert ok == (smallest >= k and sure <= simple(c))
    assert reached == pytest.approx(float(sure)) if smallest >= k else reached > 1
    assert told(LKCPrivacy(l, k), rows)[0] == (smallest >= k)


@given(releases)
@settings(deadline=None)
def test_lkc_with_all_quasi_identifiers_is_k_anonymity(rows):
    assert told(LKCPrivacy(3, brute.k(rows)), rows)[0]
    assert not told(LKCPrivacy(3, brute.k(rows) + 1), rows)[0]


@given(releases, st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 1]))
@settings(deadline=None)
def test_average_risk_suppresses_as_few_records_as_possible(rows, risk):
    stats = stats_of(rows)
    criterion = AverageRisk(risk)
    truth = brute.average_risk(rows)
    assert told(criterion, rows)[1] == pytest.approx(float(truth))
    keep = criterion.holds(stats)
    assert keep.all() == (truth <= simple(risk))
    sizes = stats.size.tolist()

    def fine(chosen: int) -> bool:
        left = [s for i, s in enumerate(sizes) if chosen >> i & 1]
        return len(left) <= simple(risk) * sum(left)

    most = max(sum(s for i, s in enumerate(sizes) if m >> i & 1) for m in range(1 << len(sizes)) if fine(m))
    assert fine(sum(1 << i for i in np.flatnonzero(keep).tolist()))
    assert int(stats.size[keep].sum()) == most


people = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 40)), min_size=1, max_size=8)


@given(people, st.integers(1, 30))
@settings(deadline=None)
def test_k_map(groups, k):
    inhabited = [(records, persons) for records, persons in groups if records]
    if inhabited:
        stats = public(inhabited)
        assert KMap(k).holds(stats).tolist() == [persons >= k for _, persons in inhabited]


@given(people, st.sampled_from([(1, 0), (0.5, 0.25), (2 / 3, 0), (0.1, 0.1), (1, 1)]))
@settings(deadline=None)
def test_delta_presence(groups, bounds):
    criterion = DeltaPresence(*bounds)
    most, least = (simple(b) for b in bounds)
    shares = [Fraction(*pair) for pair in groups]
    stats = public(groups)
    assert criterion.holds(stats).tolist() == [least <= share <= most for share in shares]
    for share, level in zip(shares, criterion.level(stats).tolist(), strict=True):
        assert level == pytest.approx(float(share)) if share >= least else level > 1
    assert criterion.shares(stats) == (min(shares), max(shares))


def public(groups: list[tuple[int, int]]) -> GroupStats:
    records, persons = (np.array(column, np.int64) for column in zip(*groups, strict=True))
    return GroupStats.from_cells(np.arange(len(groups)), records, population=persons)


def test_two_thirds_is_two_thirds():
    """The float is a little less than the fraction, which must not tip the balance."""
    assert DeltaPresence(2 / 3).holds(public([(2, 3)])).all()
    assert not DeltaPresence(0.666666).holds(public([(2, 3)])).any()
    assert DeltaPresence(1, 1 / 3).holds(public([(1, 3)])).all()


def test_bounds_that_contradict_each_other():
    with pytest.raises(JobError, match="E110 'delta_min'"):
        DeltaPresence(0.2, 0.3)


def test_what_pooling_may_do():
    """Catalogue, section 1."""
    assert KMap(2).is_absorbing
    assert XYAnonymity("person", 2).is_absorbing
    for criterion in (DeltaPresence(0.5), XYLinkability("illness", 0.5), LKCPrivacy(2, 2, 0.5, "illness")):
        assert criterion.is_monotone
        assert not criterion.is_absorbing
    assert not XYLinkability("illness", 0.5, subject="person").is_monotone
    assert not XYPrivacy("person", 2, "illness", 0.5).is_monotone
    assert XYPrivacy("illness", 2, "illness", 0.5).is_monotone


def test_what_decides():
    assert XYAnonymity("person", 2).decided_on == "group"
    assert XYAnonymity("person", 2, ("a",)).decided_on == "projection"
    assert LKCPrivacy(1, 2).decided_on == "projection"
    assert AverageRisk(0.5).decided_on == "table"
    assert DeltaPresence(0.5, 0.1).judges_empty_groups
    assert not DeltaPresence(0.5).judges_empty_groups


def test_the_worked_example_of_the_catalogue():
    """Classes of 1, 2, 3 and 4 records: the average risk is 0.4."""
    stats = GroupStats.from_cells(np.arange(4), np.array([1, 2, 3, 4]))
    assert AverageRisk(0.4).verdict(stats).reached == 0.4
    assert AverageRisk(0.4).verdict(stats).ok

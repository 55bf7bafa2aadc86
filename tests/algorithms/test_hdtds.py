"""Specialisation under criteria about parts of the quasi-identifiers."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import published_rows, tallies
from tarnkappe.algorithms.subtree.hdtds import HighDimensionalTds
from tarnkappe.algorithms.subtree.tds import TopDownSpecialization
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)


def all_combinations(n_columns: int) -> Tally:
    """One person for each combination of binary facts."""
    codes = np.array(list(product([0, 1], repeat=n_columns)))
    domains = [Domain(f"q{j}", Taxonomy.from_nested({"any": ["no", "yes"]})) for j in range(n_columns)]
    return count_cells(list(codes.T), [], domains, [])[0]


def test_who_knows_few_facts_leaves_more_detail():
    """Two people agree in any two of three facts; nobody agrees with anybody in all three."""
    table = all_combinations(3)
    few = HighDimensionalTds().decide(table, Goal([LKCPrivacy(2, 2)]), rng=RNG)
    assert few.n_groups == 8
    everything = HighDimensionalTds().decide(table, Goal([KAnonymity(2)]), rng=RNG)
    assert everything.n_groups == 4


def test_other_algorithms_refuse():
    with pytest.raises(JobError, match="cannot guarantee"):
        TopDownSpecialization("s").decide(all_combinations(2), Goal([LKCPrivacy(1, 2)]), rng=RNG)


@settings(max_examples=examples(60))
@given(
    tallies(wildcards=False),
    st.integers(1, 3),
    st.integers(1, 4),
    st.sampled_from([0.5, 0.8, 1.0]),
    st.sampled_from(["gain-per-loss", "gain", "discernibility"]),
    st.sampled_from([0.0, 0.2]),
)
def test_lkc_holds_for_every_choice_of_columns(tally, length, k, confidence, score, limit):
    goal = Goal([LKCPrivacy(length, k, confidence, "s0" if confidence < 1 else None)], limit)
    algorithm = HighDimensionalTds("s0", score=score)
    try:
        grouping = algorithm.decide(tally, goal, rng=RNG)
    except InfeasibleError:
        return
    check_grouping("hdtds", tally, goal, grouping)
    rows = published_rows(Plan.of(tally, goal, grouping))
    n_columns = len(tally.quasi_domains)
    for columns in combinations(range(n_columns), min(length, n_columns)):
        seen = Counter(tuple(texts[j] for j in columns) for texts, _ in rows)
        assert min(seen.values()) >= k
        if confidence < 1:
            pairs = Counter((tuple(texts[j] for j in columns), secret[0]) for texts, secret in rows)
            assert all(n <= confidence * seen[known] + 1e-9 for (known, _), n in pairs.items())


def test_without_a_target_discernibility_decides():
    """Twelve people: halving them wins more than setting two apart."""
    even, uneven = Taxonomy.from_nested({"any": ["a", "b"]}), Taxonomy.from_nested({"any": ["c", "d"]})
    codes = [np.array([0, 1] * 6), np.array([0] * 10 + [1] * 2)]
    table = count_cells(codes, [], [Domain("uneven", uneven), Domain("even", even)][::-1], [])[0]
    grouping = HighDimensionalTds().decide(table, Goal([KAnonymity(6)]), rng=RNG)
    assert grouping.n_groups == 2
    assert set(grouping.fixed.node[:, 0]) == {1, 2}

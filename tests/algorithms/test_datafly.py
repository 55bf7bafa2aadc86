"""Datafly: by hand, and full-domain in every column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import published_rows, tallies
from tarnkappe.algorithms.fulldomain.datafly import Datafly
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

RNG = np.random.default_rng(0)
ZIP = Domain(
    "zip", Taxonomy.from_nested({"2****": {"2276*": ["22765", "22769"], "2252*": ["22529"], "2024*": ["20246"]}})
)
SEX = Domain("sex", Taxonomy.from_nested({"Person": ["f", "m"]}))


def table(*columns: tuple[Domain, list[int]], secret: list[int] | None = None) -> Tally:
    s = [] if secret is None else [np.array(secret)]
    domains = [] if secret is None else [Domain("s", Taxonomy.scale([f"s{i}" for i in range(max(secret) + 1)]))]
    return count_cells([np.array(codes) for _, codes in columns], s, [d for d, _ in columns], domains)[0]


def texts(tally: Tally, goal: Goal) -> list[tuple[str | None, ...]]:
    plan = Plan.of(tally, goal, Datafly().decide(tally, goal, rng=RNG))
    return sorted((t for t, _ in published_rows(plan)), key=str)


def test_the_column_with_most_values_is_generalised_first():
    tally = table((SEX, [0, 0, 1, 1]), (ZIP, [0, 1, 2, 3]))
    # Zip has four values, then three, then one; sex is never touched.
    assert set(texts(tally, Goal([KAnonymity(2)]))) == {("f", "2****"), ("m", "2****")}


def test_a_table_that_is_good_already_is_left_alone():
    tally = table((SEX, [0, 0, 1, 1]), (ZIP, [0, 0, 1, 1]))
    assert texts(tally, Goal([KAnonymity(2)])) == [("f", "22765")] * 2 + [("m", "22769")] * 2


def test_ties_go_to_the_first_column():
    other = Domain("other", SEX.taxonomy)
    tally = table((SEX, [0, 0, 1, 1]), (other, [0, 1, 0, 1]))
    assert set(texts(tally, Goal([KAnonymity(2)]))) == {("Person", "f"), ("Person", "m")}


def test_leftovers_are_suppressed_within_the_limit():
    tally = table((ZIP, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]))
    assert set(texts(tally, Goal([KAnonymity(3)]))) == {("2****",)}
    assert set(texts(tally, Goal([KAnonymity(3)], 0.1))) == {("22765",), ("22769",), ("22529",)}


def test_secrets_count_too():
    tally = table((ZIP, [0, 0, 1, 1]), secret=[0, 0, 1, 1])
    goal = Goal([LDiversity("s", 2)])
    assert set(texts(tally, goal)) == {("2276*",)}


def test_a_numeric_column_has_two_levels():
    age = Domain("age", Taxonomy.scale(["20", "30", "99"]), np.array([20.0, 30.0, 99.0]))
    assert set(texts(table((age, [0, 1])), Goal([KAnonymity(2)]))) == {("[20 99]",)}


def test_missing_values_join_at_the_top():
    age = Domain("age", Taxonomy.scale(["20", "30"]).with_missing("?"), np.array([20.0, 30.0, np.nan]), missing=2)
    assert set(texts(table((age, [0, 1, 2])), Goal([KAnonymity(3)]))) == {("*",)}
    assert set(texts(table((age, [0, 1, 2, 2])), Goal([KAnonymity(2)]))) == {("[20 30]",), (None,)}


def test_a_ragged_tree_keeps_short_branches_until_their_level():
    ragged = Domain("place", Taxonomy.from_nested({"Europe": {"France": ["Paris", "Lyon"]}, "Atlantis": None}))
    assert ragged.taxonomy.height == 3
    found = set(texts(table((ragged, [0, 1, 2, 2])), Goal([KAnonymity(2)])))
    assert found == {("France",), ("Atlantis",)}


def test_infeasible():
    with pytest.raises(InfeasibleError, match="k-anonymity ≥ 5") as caught:
        Datafly().decide(table((SEX, [0, 1])), Goal([KAnonymity(5)]), rng=RNG)
    assert "All 2 records in one group reach 2" in caught.value.details[0]
    none = np.zeros(0, np.int32)
    with pytest.raises(InfeasibleError):
        Datafly().decide(count_cells([none], [], [SEX], [])[0], Goal([KAnonymity(1)]), rng=RNG)


def test_wildcards_are_refused():
    domain = Domain("sex", SEX.taxonomy.with_missing("?"), missing=2, wildcard=True)
    with pytest.raises(JobError, match="wildcards") as caught:
        Datafly().decide(table((domain, [0, 1, 2])), Goal([KAnonymity(1)]), rng=RNG)
    assert caught.value.code == "E111"
    assert "mondrian" in caught.value.hint


@given(tallies(wildcards=False), st.integers(1, 8), st.sampled_from([0.0, 0.1, 0.4]))
@settings(deadline=None)
def test_every_value_of_a_column_has_the_same_level(tally, k, limit):
    goal = Goal([KAnonymity(k)], limit)
    if tally.n_records < k:
        return
    grouping = Datafly().decide(tally, goal, rng=RNG)
    kept = grouping.group >= 0
    for j, domain in enumerate(tally.quasi_domains):
        published = grouping.fixed.node[grouping.group[kept], j]
        codes = tally.quasi[grouping.cell[kept], j]
        levels = domain.taxonomy.ancestors
        assert any(np.array_equal(levels[level][codes], published) for level in range(domain.taxonomy.height + 1))

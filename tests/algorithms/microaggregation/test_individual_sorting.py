"""Individual sorting: single columns are protected, whole records are not, and it says so."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms.microaggregation.individual_sorting import IndividualSorting
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.errors import JobError
from tarnkappe.evaluate import joint_anonymity
from tarnkappe.goal import Goal
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy


def people(n: int = 200, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.permutation(n), "income": rng.permutation(n) * 10, "height": rng.permutation(n)})


def job(l: int, k: int, **given: object) -> tk.Job:  # noqa: E741
    quasi = dict.fromkeys(("age", "income", "height"), tk.numeric())
    return tk.Job(quasi=quasi, criteria=[LKCPrivacy(l, k)], algorithm=IndividualSorting(**given))


def test_every_column_has_groups_of_k_and_records_stand_alone():
    table = job(1, 5).anonymize(people(), seed=1).table
    for name in table.columns:
        assert set(table.group_by(name).len()["len"]) == {5}
        assert joint_anonymity(table, [name], 5).ok
    together = joint_anonymity(table, table.columns, 5)
    assert together.alone > 0.9
    assert together.below == 1
    assert together.smallest == 1
    assert not together.ok


def test_columns_publish_the_means_of_their_neighbours():
    table = job(1, 5).anonymize(people(), seed=1).table
    assert sorted(set(table["age"])) == [2 + 5 * i for i in range(40)]
    assert sorted(set(table["income"])) == [20 + 50 * i for i in range(40)]


def test_notes_say_how_many_records_are_alone():
    tally = numbers(np.arange(40), np.random.default_rng(2).permutation(40))
    grouping = IndividualSorting().decide(tally, Goal([LKCPrivacy(1, 4)]), rng=np.random.default_rng(0))
    assert grouping.notes["group size of single columns"] == 4
    alone = (np.bincount(grouping.group, grouping.quota) == 1).sum() / 40
    assert grouping.notes["share of records alone"] == alone > 0.5


def numbers(*columns: np.ndarray) -> Tally:
    values = np.arange(40.0)
    domains = [Domain(f"x{j}", Taxonomy.scale([f"{v:g}" for v in values]), values) for j in range(len(columns))]
    return count_cells(columns, [], domains, [])[0]


def test_groups_grow_until_a_stronger_goal_holds():
    table = job(2, 5).anonymize(people(), seed=1).table
    for a, b in (("age", "income"), ("age", "height"), ("income", "height")):
        assert joint_anonymity(table, [a, b], 5).ok
    assert table["age"].n_unique() < 40


def test_criteria_about_whole_records_are_refused():
    tally = numbers(np.arange(40), np.arange(40))
    with pytest.raises(JobError, match="single columns only") as error:
        IndividualSorting().decide(tally, Goal([KAnonymity(7)]), rng=np.random.default_rng(0))
    assert "lkc-privacy: {l: 1, k: 7}" in str(error.value.hint)


def test_refinement_is_refused():
    with pytest.raises(JobError, match="cannot refine"):
        IndividualSorting(refine=True)


def test_equal_columns_are_k_anonymous_together():
    tally = numbers(np.arange(40), np.arange(40))
    grouping = IndividualSorting().decide(tally, Goal([LKCPrivacy(2, 5)]), rng=np.random.default_rng(0))
    assert np.bincount(grouping.group, grouping.quota).tolist() == [5] * 8

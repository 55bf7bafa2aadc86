"""Taxonomies cover every value that can be generated, and every column has a role and a reason."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.datasets import (
    CENSUS_COLUMNS,
    CENSUS_ROLE_REASONS,
    CENSUS_ROLES,
    census,
    census_taxonomies,
    census_taxonomy_trees,
)
from tarnkappe.datasets.census_model import (
    occupation_given,
    occupation_information,
    occupation_shares,
    person_shares,
)
from tarnkappe.datasets.census_values import ROOTS, rows_of, values_of
from tarnkappe.taxonomy import Taxonomy

TAXONOMIES = census_taxonomies()


def test_every_text_column_has_a_taxonomy():
    text = [name for name, dtype in census(1).schema.items() if not dtype.is_numeric()]
    assert set(TAXONOMIES) == set(text) == set(ROOTS)


@pytest.mark.parametrize("column", ROOTS)
def test_leaves_are_the_values_in_the_same_order(column):
    assert TAXONOMIES[column].leaves == values_of(column)


def test_generated_values_are_leaves():
    people = census(200_000, seed=4)
    for column, taxonomy in TAXONOMIES.items():
        assert set(people[column].unique()) <= set(taxonomy.leaves)


@pytest.mark.parametrize("column", ROOTS)
def test_labels_are_unique_so_that_a_published_value_is_unambiguous(column):
    labels = TAXONOMIES[column].labels
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("column", ROOTS)
def test_inner_nodes_have_at_least_two_children(column):
    taxonomy = TAXONOMIES[column]
    children = np.bincount(taxonomy.parent[1:], minlength=taxonomy.n_nodes)
    assert not (children == 1).any()


@pytest.mark.parametrize(
    ("column", "height"), [("native-country", 4), ("occupation", 3), ("education", 3), ("sex", 1), ("race", 1)]
)
def test_heights(column, height):
    assert TAXONOMIES[column].height == height
    assert (TAXONOMIES[column].depth[TAXONOMIES[column].leaf_nodes] == height).all()


def test_trees_build_the_same_taxonomies():
    for column, tree in census_taxonomy_trees().items():
        assert Taxonomy.from_nested(tree) == TAXONOMIES[column]


def test_fifty_states_and_the_district_are_in_the_usa():
    usa = [path for path in TAXONOMIES["native-country"].paths() if path[1] == "USA"]
    assert len(usa) == 51
    assert {path[2:] for path in usa} == {("North-America", "America", "ANY COUNTRY")}


def test_every_column_has_a_role_and_a_reason():
    assert tuple(CENSUS_ROLES) == tuple(CENSUS_ROLE_REASONS) == CENSUS_COLUMNS
    assert set(CENSUS_ROLES.values()) <= {"identifier", "quasi", "sensitive", "keep", "drop"}
    assert [name for name, role in CENSUS_ROLES.items() if role == "sensitive"] == ["occupation"]


@pytest.mark.parametrize(
    ("file", "context"),
    [
        ("education_given.csv", ["born", "age"]),
        ("marital-status_given.csv", ["sex", "age"]),
        ("relationship_given.csv", ["sex", "marital-status", "age"]),
        ("workclass_given.csv", ["sector", "age"]),
        ("race_given.csv", ["place"]),
        ("sex_given.csv", ["age"]),
    ],
)
def test_tables_name_known_values_and_each_context_once(file, context):
    rows = rows_of(file)
    column = file.removesuffix("_given.csv")
    assert set(rows[0]) == {*context, *values_of(column)}
    contexts = [tuple(row[name] for name in context) for row in rows]
    assert len(set(contexts)) == len(contexts)


def test_every_occupation_belongs_to_a_known_group():
    groups = {(row["minor"], row["major"]) for row in rows_of("occupation_groups.csv")}
    assert {(row["minor"], row["major"]) for row in rows_of("occupation.csv")} == groups


def test_occupation_shares_are_the_marginal_of_the_model():
    np.testing.assert_allclose(person_shares() @ occupation_given(), occupation_shares(), rtol=1e-6)
    assert occupation_shares().max() < 0.025


def test_documented_measures_of_dependence():
    shares = occupation_shares()
    assert f"{shares.max():.1%}" == "1.9%"
    assert f"{-(shares * np.log2(shares)).sum():.2f}" == "8.39"
    assert f"{occupation_information():.2f}" == "1.18"

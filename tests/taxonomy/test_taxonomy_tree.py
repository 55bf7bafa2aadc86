"""The tree itself: numbering, levels, lowest common ancestors, and what is no tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from taxonomy_laws import assert_lawful, brute_lca, trees

from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy import Taxonomy


@given(trees())
def test_every_tree_is_lawful(taxonomy):
    assert_lawful(taxonomy)


@given(trees())
def test_lca_is_the_deepest_node_that_covers_both_leaves(taxonomy):
    lo, hi = np.triu_indices(taxonomy.n_leaves)
    found = taxonomy.lca(lo, hi)
    for a, b, node in zip(lo.tolist(), hi.tolist(), found.tolist(), strict=True):
        assert node == brute_lca(taxonomy, a, b)


@given(trees())
def test_nested_round_trip(taxonomy):
    assert Taxonomy.from_nested(taxonomy.nested()) == taxonomy


@given(trees())
def test_paths_round_trip(taxonomy):
    assert Taxonomy.from_paths(taxonomy.paths()) == taxonomy


@given(trees())
def test_a_missing_value_is_the_last_leaf_and_a_child_of_the_root(taxonomy):
    more = taxonomy.with_missing("missing!")
    assert_lawful(more)
    assert more.leaves == (*taxonomy.leaves, "missing!")
    assert more.parent[more.leaf_nodes[-1]] == 0


def test_a_missing_value_stands_beside_a_scale_and_beside_a_lone_value():
    scale = Taxonomy.scale(["low", "high"]).with_missing("?")
    assert scale.leaves == ("low", "high", "?")
    assert scale.ranges.tolist() == [False, True, False, False, False]
    assert Taxonomy.from_parents(["only"], [-1]).with_missing("?").leaves == ("only", "?")


def test_a_short_path_stays_itself_until_its_parent_is_reached():
    world = Taxonomy.from_nested({"ANY": {"America": {"USA": ["Utah", "Nevada"], "Canada": None}, "Europe": None}})
    assert world.paths() == [
        ("Utah", "USA", "America", "ANY"),
        ("Nevada", "USA", "America", "ANY"),
        ("Canada", "Canada", "America", "ANY"),
        ("Europe", "Europe", "Europe", "ANY"),
    ]
    assert Taxonomy.from_paths(world.paths()) == world


def test_padding_that_all_rows_share_is_a_level_of_its_own():
    rows = [("a", "a", "*"), ("b", "b", "*")]
    assert Taxonomy.from_paths(rows).paths() == rows


def test_a_group_may_bear_the_name_of_one_of_its_values():
    rows = [("Other", "Other", "*"), ("Unknown", "Other", "*"), ("A", "B", "*")]
    taxonomy = Taxonomy.from_paths(rows)
    assert_lawful(taxonomy)
    assert taxonomy.paths() == rows


def test_nested_takes_lists_of_mappings_single_values_and_numbers():
    assert Taxonomy.from_nested([{"A": ["a1", {"A2": "deep"}]}, "b"]).nested() == {
        "*": {"A": {"a1": None, "A2": ["deep"]}, "b": None}
    }
    assert Taxonomy.from_nested({"Any": 0}).labels == ("Any", "0")
    assert Taxonomy.from_nested({"kids": [0, 1.0, 2.5]}).leaves == ("0", "1", "2.5")


def test_deep_chains_need_no_recursion():
    nested: object = ["leaf"]
    for i in range(5_000):
        nested = {f"n{i}": nested}
    deep = Taxonomy.from_nested(nested)
    assert deep.height == 5_000
    assert deep.splits[0].tolist() == [0]
    assert deep.nested()["n4999"].keys() == {"n4998"}


def cyclic_tree() -> dict[str, object]:
    tree: dict[str, object] = {"A": {"a": None}, "B": ["b"]}
    tree["C"] = {"c": tree}
    return tree


SHARED = ["x", "y"]


@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        (lambda: Taxonomy.from_nested({}), "E202", "empty"),
        (lambda: Taxonomy.from_nested({"root": None}), "E202", "empty"),
        (lambda: Taxonomy.from_paths([]), "E202", "empty"),
        (lambda: Taxonomy.from_nested(["a", "b", "a"]), "E201", "stands twice"),
        (lambda: Taxonomy.from_nested({"A": ["x"], "B": ["x"]}), "E201", 'two parents: "A" and "B"'),
        (lambda: Taxonomy.from_nested([{"A": ["x"]}, {"A": ["y"]}]), "E201", "stands twice"),
        (lambda: Taxonomy.from_nested({"A": SHARED, "B": SHARED}), "E201", "stand twice"),
        (lambda: Taxonomy.from_nested(cyclic_tree()), "E201", "cycle"),
        (lambda: Taxonomy.from_nested({"A": {"Other": ["x"]}, "B": {"Other": ["y"]}}), "E201", "two parents"),
        (lambda: Taxonomy.from_nested({"A": [["x"], ["y"]]}), "E203", "list"),
        (lambda: Taxonomy.from_nested({"A": ["x", None]}), "E203", "empty"),
        (lambda: Taxonomy.from_nested([True, False]), "E203", "truth value"),
        (lambda: Taxonomy.from_paths([("a", "A", "*"), ("a", "B", "*")]), "E201", "two parents"),
        (lambda: Taxonomy.from_paths([("a", "A", "X", "*"), ("b", "A", "Y", "*")]), "E201", "two parents"),
        (lambda: Taxonomy.from_paths([("a", "*"), ("a", "*")]), "E201", "stands twice"),
        (lambda: Taxonomy.from_paths([("a", "A", "*"), ("b", "*")]), "E201", "length"),
        (lambda: Taxonomy.from_parents(["a", "b"], [-1, -1]), "E201", "one root"),
        (lambda: Taxonomy.from_parents(["r", "a", "b", "c"], [-1, 3, 1, 2]), "E201", "cycle"),
        (lambda: Taxonomy.from_nested(["?"]).with_missing("?"), "E201", "stands twice"),
    ],
)
def test_what_is_no_tree_is_refused(make, code, message):
    with pytest.raises(TaxonomyError, match=message) as caught:
        make()
    assert caught.value.code == code


def test_a_duplicate_among_many_leaves_is_found_fast():
    labels = [str(i) for i in range(100_000)]
    with pytest.raises(TaxonomyError, match="'99999' stands twice"):
        Taxonomy.scale([*labels, "99999"])


def test_arrays_are_read_only():
    taxonomy = Taxonomy.from_nested(["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        taxonomy.parent[0] = 1

"""What groups say: true, and nothing that no group publishes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import groupings, tallies
from tarnkappe.boxes import Boxes
from tarnkappe.publish.labels import Labels, labels_of, publish_boxes
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy


def labels(domain: Domain, *boxes: tuple[int, int], sets: list[int] | None = None) -> Labels:
    """The labels of groups given by their smallest and largest code, or by the bits of their values."""
    lo, hi = (np.array(side, np.int32).reshape(-1, 1) for side in zip(*boxes, strict=True))
    members = {} if sets is None else {0: np.array(sets, np.uint64)}
    node = domain.nodes(lo[:, 0], hi[:, 0]).reshape(-1, 1)
    return labels_of(Boxes(lo, hi, node, members), 0, domain)


def texts(domain: Domain, *boxes: tuple[int, int], sets: list[int] | None = None) -> list[str | None]:
    made = labels(domain, *boxes, sets=sets)
    series = made.at(np.arange(len(boxes), dtype=np.int32))
    assert series.to_list() == [(*made.texts, None)[c] for c in made.code]
    return series.to_list()


AGE = Domain("age", Taxonomy.scale(["20", "25", "60"]), np.array([20.0, 25.0, 60.0]))
CITY = Domain("city", Taxonomy.from_nested({"North": ["n1", "n2"], "South": ["s1", "s2"]}))


def test_a_value_publishes_itself():
    assert texts(AGE, (0, 0), (2, 2)) == ["20", "60"]
    assert texts(CITY, (1, 1)) == ["n2"]


def test_a_range_publishes_its_ends():
    assert texts(AGE, (0, 1), (1, 2), (0, 2)) == ["[20 25]", "[25 60]", "[20 60]"]


def test_a_subtree_publishes_its_node():
    assert texts(CITY, (0, 1), (2, 3), (1, 2)) == ["North", "South", "*"]


def test_missing_values_are_null():
    own = Domain("age", AGE.taxonomy.with_missing("?"), np.append(AGE.values, np.nan), missing=3)
    assert texts(own, (3, 3), (0, 1), (2, 3)) == [None, "[20 25]", "*"]
    wild = Domain("age", own.taxonomy, own.values, missing=3, wildcard=True)
    nothing = (np.iinfo(np.int32).max, -1)
    assert texts(wild, nothing, (0, 0)) == [None, "20"]


def test_a_column_of_nulls():
    domain = Domain("age", AGE.taxonomy.with_missing("?"), missing=3)
    made = labels(domain, (3, 3), (3, 3))
    assert made.texts == ()
    assert made.at(np.array([0, 1, 1], np.int32)).to_list() == [None, None, None]


def test_a_range_inside_a_tree():
    """Only the node that is a range publishes intervals."""
    tree = Taxonomy.from_parents(["*", "known", "1", "2", "3", "other"], [-1, 0, 1, 1, 1, 0], ranges=[1])
    domain = Domain("x", tree)
    assert texts(domain, (0, 1), (0, 2), (2, 3), (3, 3)) == ["[1 2]", "[1 3]", "*", "other"]


def test_a_set_publishes_its_values():
    colour = Domain("colour", Taxonomy.scale(["blue", "green", "red"]), sets=True)
    assert texts(colour, (0, 2), (0, 2), (1, 1), sets=[0b101, 0b111, 0b010]) == [
        "{blue | red}",
        "{blue | green | red}",
        "green",
    ]
    assert texts(colour, (0, 2)) == ["*"]  # an algorithm that fixed the node says no more than the node


def test_a_set_with_missing_values():
    tree = Taxonomy.scale(["blue", "green", "red"]).with_missing("?")
    colour = Domain("colour", tree, missing=3, sets=True)
    assert texts(colour, (0, 1), (1, 3), (3, 3), sets=[0b11, 0b1010, 0b1000]) == ["{blue | green}", "*", None]


def test_what_looks_the_same_is_the_same():
    """A leaf with the label of an ancestor cannot be told from it, so the two are one label."""
    tree = Taxonomy.from_nested({"Europe": ["Europe", "France"], "Asia": ["Japan"]})
    made = labels(Domain("region", tree), (0, 0), (0, 1), (1, 1))
    assert sorted(made.texts) == ["Europe", "France"]
    assert made.code[0] == made.code[1] != made.code[2]


def test_only_texts_that_are_published_are_listed():
    made = labels(CITY, (1, 1))
    assert made.texts == ("n2",)
    assert made.at(np.array([0], np.int32)).dtype == pl.Enum(["n2"])


@pytest.mark.parametrize("missing", [False, True])
def test_very_many_labels_are_plain_text(missing):
    n = (1 << 16) + 10
    tree = Taxonomy.scale([str(i) for i in range(n)])
    domain = Domain("id", tree.with_missing("?"), missing=n) if missing else Domain("id", tree)
    series = labels(domain, *((i, i) for i in range(domain.size))).at(np.array([5, n - 1, domain.size - 1], np.int32))
    assert series.dtype == pl.String
    assert series.to_list() == ["5", str(n - 1), None if missing else str(n - 1)]


def says(domain: Domain, text: str | None, code: int) -> bool:
    """Whether a published text is true of a record's code, read as a person would."""
    tree = domain.taxonomy
    if domain.wildcard and code == domain.missing:
        return True
    if text is None:
        return code == domain.missing
    own = tree.leaves[code]
    if text == "0/1":
        return set(tree.leaves) - {tree.leaves[domain.missing] if domain.missing >= 0 else None} == {"0", "1"}
    if text.startswith("{"):
        return own in text[1:-1].split(" | ") and code != domain.missing
    if text.startswith("["):
        first, last = (tree.leaves.index(end) for end in text[1:-1].split(" "))
        return first <= code <= last and code != domain.missing
    node = int(tree.leaf_nodes[code])
    while node >= 0:
        if tree.labels[node] == text:
            return True
        node = int(tree.parent[node])
    return own == text


@given(tallies().flatmap(lambda t: st.tuples(st.just(t), groupings(t))))
@settings(deadline=None)
def test_every_group_says_the_truth_about_its_records(case):
    tally, grouping = case
    if not grouping.n_groups:
        return
    made = publish_boxes(grouping.boxes(tally), tally.quasi_domains)
    assert len(made) == len(tally.quasi_domains)
    for j, domain in enumerate(tally.quasi_domains):
        published = made[j].at(np.arange(grouping.n_groups, dtype=np.int32)).to_list()
        for cell, group in zip(grouping.cell, grouping.group, strict=True):
            if group >= 0:
                assert says(domain, published[group], int(tally.quasi[cell, j]))
        assert set(made[j].texts) == {t for t in published if t is not None}

"""What groups say: true, and nothing that no group publishes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import groupings, tallies
from tarnkappe.publish.labels import labels_of, publish_boxes
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy


def texts(domain: Domain, *boxes: tuple[int, int]) -> list[str | None]:
    lo, hi = (np.array(side, np.int32) for side in zip(*boxes, strict=True))
    labels = labels_of(domain, lo, hi, domain.nodes(lo, hi))
    series = labels.at(np.arange(len(boxes), dtype=np.int32))
    assert series.to_list() == [(*labels.texts, None)[c] for c in labels.code]
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
    lo = np.array([3, 3], np.int32)
    labels = labels_of(domain, lo, lo, domain.nodes(lo, lo))
    assert labels.texts == ()
    assert labels.at(np.array([0, 1, 1], np.int32)).to_list() == [None, None, None]


def test_a_range_inside_a_tree():
    """Only the node that is a range publishes intervals."""
    tree = Taxonomy.from_parents(["*", "known", "1", "2", "3", "other"], [-1, 0, 1, 1, 1, 0], ranges=[1])
    domain = Domain("x", tree)
    assert texts(domain, (0, 1), (0, 2), (2, 3), (3, 3)) == ["[1 2]", "[1 3]", "*", "other"]


def test_what_looks_the_same_is_the_same():
    """A leaf with the label of an ancestor cannot be told from it, so the two are one label."""
    tree = Taxonomy.from_nested({"Europe": ["Europe", "France"], "Asia": ["Japan"]})
    lo, hi = np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32)
    domain = Domain("region", tree)
    labels = labels_of(domain, lo, hi, domain.nodes(lo, hi))
    assert labels.texts == ("Europe", "France")
    assert labels.code.tolist() == [0, 0, 1]


def test_only_texts_that_are_published_are_listed():
    lo = np.array([1], np.int32)
    labels = labels_of(CITY, lo, lo, CITY.nodes(lo, lo))
    assert labels.texts == ("n2",)
    assert labels.at(np.array([0], np.int32)).dtype == pl.Enum(["n2"])


@pytest.mark.parametrize("missing", [False, True])
def test_very_many_labels_are_plain_text(missing):
    n = (1 << 16) + 10
    tree = Taxonomy.scale([str(i) for i in range(n)])
    domain = Domain("id", tree.with_missing("?"), missing=n) if missing else Domain("id", tree)
    lo = np.arange(domain.size, dtype=np.int32)
    labels = labels_of(domain, lo, lo, domain.nodes(lo, lo))
    series = labels.at(np.array([5, n - 1, domain.size - 1], np.int32))
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
    labels = publish_boxes(grouping.boxes(tally), tally.quasi_domains)
    assert len(labels) == len(tally.quasi_domains)
    for j, domain in enumerate(tally.quasi_domains):
        published = labels[j].at(np.arange(grouping.n_groups, dtype=np.int32)).to_list()
        for cell, group in zip(grouping.cell, grouping.group, strict=True):
            if group >= 0:
                assert says(domain, published[group], int(tally.quasi[cell, j]))
        assert set(labels[j].texts) == {t for t in published if t is not None}

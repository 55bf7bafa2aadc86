"""Declared taxonomies: trees, orders, frequencies, suppression, and how a job file declares any of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from taxonomy_laws import assert_lawful, trees

from tarnkappe.errors import JobError, TaxonomyError
from tarnkappe.registry import registered
from tarnkappe.taxonomy import (
    TaxonomyBuilder,
    builder_from,
    dates,
    frequency,
    from_file,
    intervals,
    ordered,
    prefix,
    suppress,
    tree,
)

MARITAL = {"Married": ["civil", "church"], "Single": ["never", "widowed"]}
NUMBERS = st.lists(st.integers(0, 999), min_size=1, max_size=30, unique=True)


@pytest.mark.parametrize(
    "builder",
    [
        intervals(5, 10, bottom=100, top=900),
        prefix(2, 1),
        ordered(),
        ordered(groups=(3, 2)),
        suppress(),
        frequency(0.01, 0.1),
        frequency(top=(5, 2)),
        tree(["x"], on_unknown="top"),
    ],
    ids=lambda builder: f"{builder.name}-{len(str(builder))}",
)
@given(NUMBERS, st.booleans())
def test_every_builder_covers_its_values_whether_texts_or_numbers(builder, numbers, as_text):
    values = [str(n) for n in numbers] if as_text else np.array(numbers)
    counts = [1 + n % 7 for n in numbers]
    taxonomy = builder.build(values, "column", counts)
    assert_lawful(taxonomy)
    assert set(taxonomy.leaves) >= {str(n) for n in numbers}
    assert builder.published(values) == [str(n) for n in numbers]


@given(NUMBERS)
def test_orders_and_suppression_sort_numbers_as_numbers(numbers):
    texts = [str(n) for n in numbers]
    for builder in (ordered(), ordered(groups=(2,)), suppress()):
        assert [int(leaf) for leaf in builder.build(texts, "n").leaves] == sorted(numbers)


# --- trees


def test_a_tree_keeps_values_that_the_column_lacks():
    taxonomy = tree(MARITAL).build(["never"], "marital")
    assert taxonomy.leaves == ("civil", "church", "never", "widowed")


def test_scalars_of_a_tree_are_texts():
    assert tree({"few": [0, 1], "many": [2, 3.5]}).build(np.array([0, 3.5]), "children").leaves == (
        "0",
        "1",
        "2",
        "3.5",
    )


def test_an_unquoted_yes_is_refused_because_its_text_is_lost():
    with pytest.raises(TaxonomyError, match="truth value") as caught:
        tree([True, False]).build(["yes"], "smoker")
    assert caught.value.code == "E203"


def test_unknown_values_are_an_error_or_hang_below_the_root():
    with pytest.raises(TaxonomyError, match="1 of 2 values of column 'marital'") as caught:
        tree(MARITAL).build(["never", "unknown"], "marital")
    assert caught.value.code == "E204"
    assert "on_unknown: top" in caught.value.hint

    taxonomy = tree(MARITAL, on_unknown="top").build(["never", "unknown", "10", "9"], "marital")
    assert_lawful(taxonomy)
    assert taxonomy.leaves == ("civil", "church", "never", "widowed", "10", "9", "unknown")
    assert taxonomy.parent[taxonomy.leaf_nodes[-1]] == 0


def test_an_unknown_value_that_is_the_name_of_a_group_belongs_to_it():
    taxonomy = tree(MARITAL, on_unknown="top").build(["Married", "never"], "marital")
    assert_lawful(taxonomy)
    assert [path for path in taxonomy.paths() if path[0] == "Married"] == [("Married", "Married", "*")]


@given(trees("abc"), st.lists(st.text("abcxyz", min_size=1), unique=True))
def test_any_values_fit_below_the_root_of_any_tree(taxonomy, values):
    fitted = tree(taxonomy.nested(), on_unknown="top").build(values, "c")
    assert_lawful(fitted)
    assert set(fitted.leaves) == set(taxonomy.leaves) | set(values)


def test_trim_matches_without_blanks_and_publishes_the_trimmed_value():
    builder = tree({"A": [" civil"], "B": ["never"]}, trim=True)
    assert builder.build(["civil ", "\tnever"], "marital").leaves == ("civil", "never")
    assert builder.published(["civil ", "\tnever"]) == ["civil", "never"]
    with pytest.raises(TaxonomyError, match="would merge 2 values of column 'marital'") as caught:
        builder.build(["civil ", "civil", "never"], "marital")
    assert caught.value.code == "E203"


def test_a_tree_that_fits_another_column_is_noticed():
    with pytest.raises(TaxonomyError) as caught:
        tree(MARITAL).build(["clerk", "smith"], "occupation", others={"marital": ["civil", "never"], "sex": ["m"]})
    assert caught.value.details[0] == "it covers 0 of 2 values of 'occupation'; it fits column 'marital' 2/2"


# --- orders


def test_an_order_without_groups_publishes_ranges():
    taxonomy = ordered("low", "middle", "high").build(["high", "low"], "income")
    assert taxonomy.leaves == ("low", "middle", "high")
    assert taxonomy.ranges[0]


def test_groups_are_runs_of_values_then_runs_of_groups():
    taxonomy = ordered(*"abcde", groups=(2, 2)).build(["a"], "grade")
    assert taxonomy.paths() == [
        ("a", "a to b", "a to d", "*"),
        ("b", "a to b", "a to d", "*"),
        ("c", "c to d", "a to d", "*"),
        ("d", "c to d", "a to d", "*"),
        ("e", "e", "e", "*"),
    ]


def test_an_order_takes_numbers_and_says_which_values_it_lacks():
    assert ordered(1, 2, 10).build(np.array([10, 1]), "n").leaves == ("1", "2", "10")
    with pytest.raises(TaxonomyError, match="2 of 3 values of column 'income'") as caught:
        ordered("low", "high").build(["low", "high ", "huge"], "income", [3, 2, 1])
    assert caught.value.code == "E204"
    assert caught.value.details == (
        'not covered: "high " (trailing or leading space, 2 rows)',
        'not covered: "huge" (not in the order, 1 row)',
    )


def test_an_order_has_every_value_once():
    with pytest.raises(TaxonomyError, match="twice") as caught:
        ordered("a", "b", "a")
    assert caught.value.code == "E201"


# --- frequencies


def test_the_rare_values_become_other_level_by_level():
    taxonomy = frequency(0.1, 0.3).build(["rare", "common", "some", "rarer"], "job", [5, 70, 24, 1])
    assert taxonomy.paths() == [
        ("common", "common", "common", "*"),
        ("some", "some", "other (below 30%)", "*"),
        ("rare", "other (below 10%)", "other (below 30%)", "*"),
        ("rarer", "other (below 10%)", "other (below 30%)", "*"),
    ]


def test_a_share_is_compared_exactly():
    taxonomy = frequency(0.07).build(["a", "b"], "job", [7, 93])  # 0.07 * 100 is above 7 in binary
    assert taxonomy.paths() == [("b", "b", "*"), ("a", "a", "*")]
    assert frequency(0.07, 0.5)._labels() == ["other (below 7%)", "other (below 50%)"]


def test_the_most_frequent_values_stay_longest():
    taxonomy = frequency(top=(2, 1)).build(["a", "b", "c"], "job", [1, 5, 3])
    assert taxonomy.paths() == [
        ("b", "b", "b", "*"),
        ("c", "c", "other (not in the top 1)", "*"),
        ("a", "other (not in the top 2)", "other (not in the top 1)", "*"),
    ]


@pytest.mark.parametrize(
    "make",
    [
        frequency,
        lambda: frequency(0.1, top=(3,)),
        lambda: frequency(0.3, 0.1),
        lambda: frequency(top=(1, 2)),
        lambda: frequency(0.1).build(["a"], "job"),
        lambda: frequency(0.1).build(["a", "other"], "job", [5, 5]),
    ],
)
def test_frequencies_that_cannot_be(make):
    with pytest.raises(TaxonomyError) as caught:
        make()
    assert caught.value.code == "E203"
    assert caught.value.hint


def test_suppression_has_one_level():
    taxonomy = suppress().build(["m", "f"], "sex")
    assert taxonomy.paths() == [("f", "*"), ("m", "*")]
    assert suppress().build(["only"], "x").paths() == [("only", "*")]


# --- declarations in job files


class Placed(dict):
    """A mapping that remembers lines, as a job file's does."""

    def place_of(self, key):
        return "job.yaml:3" if key is None else f"job.yaml:{4 + list(self).index(key)}"


def test_all_kinds_are_known():
    known = registered("tarnkappe.taxonomy", TaxonomyBuilder)
    kinds = {"dates", "file", "frequency", "intervals", "order", "prefix", "quantiles", "set", "suppress", "tree"}
    assert set(known) == kinds | {"cuts"}
    assert all(cls.kind == name for name, cls in known.items())


@pytest.mark.parametrize(
    ("raw", "builder"),
    [
        ({"kind": "intervals", "widths": [5, 10], "top": 80}, intervals(5, 10, top=80)),
        ({"kind": "prefix", "keep": [4, 3]}, prefix(4, 3)),
        ({"kind": "dates", "levels": ["year"], "format": "%d.%m.%Y"}, dates("year", format="%d.%m.%Y")),
        ({"kind": "order", "values": [1, 2], "groups": [2]}, ordered("1", "2", groups=(2,))),
        ({"kind": "frequency", "keep": [0.1]}, frequency(0.1)),
        ({"kind": "suppress"}, suppress()),
        ({"kind": "tree", "tree": MARITAL, "trim": True}, tree(MARITAL, trim=True)),
        ({"kind": "file", "path": "a.csv", "delimiter": ","}, from_file("a.csv", delimiter=",")),
    ],
)
def test_a_declaration_becomes_its_builder(raw, builder):
    assert builder_from(raw, "name") == builder


def test_a_file_is_relative_to_the_folder_of_the_job(tmp_path):
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    builder = builder_from({"kind": "file", "path": "sex.csv"}, "sex", folder=tmp_path)
    assert builder.build(["m"], "sex").leaves == ("f", "m")


@pytest.mark.parametrize(
    ("raw", "code", "message", "where"),
    [
        (Placed(kind="interval", widths=[5]), "E105", "did you mean 'intervals'", "job.yaml:4"),
        (Placed(kind="intervals", width=[5]), "E102", "did you mean 'widths'", "job.yaml:5"),
        (Placed(kind="intervals"), "E103", "needs 'widths'", "job.yaml:3"),
        (Placed(kind="intervals", widths=["five"]), "E110", "must be a number above 0", "job.yaml:5"),
        (Placed(widths=[5]), "E103", "needs 'kind'", "job.yaml:3"),
        ("suppress", "E110", "mapping", "job.yaml:1"),
        ({"kind": "intervals", "wdths": [5]}, "E102", "taxonomy 'age'", "job.yaml:1"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_place(raw, code, message, where):
    with pytest.raises(JobError, match=message) as caught:
        builder_from(raw, "age", "job.yaml:1")
    assert caught.value.code == code
    assert caught.value.where == where
    assert caught.value.hint


def test_settings_that_contradict_each_other_have_their_place_too():
    with pytest.raises(TaxonomyError) as caught:
        builder_from(Placed(kind="intervals", widths=[5, 12]), "age", "job.yaml:1")
    assert (caught.value.code, caught.value.where) == ("E203", "job.yaml:3")


def test_a_broken_tree_in_a_job_file_has_its_place():
    with pytest.raises(TaxonomyError) as caught:
        tree(Placed(A=["x"], B=Placed(x=None))).build(["x"], "c")
    assert caught.value.code == "E201"
    assert caught.value.where == "job.yaml:4"


@pytest.mark.parametrize("said", ["illness.csv", {"path": "illness.csv"}])
def test_who_names_a_file_is_told_how_files_are_declared(said):
    with pytest.raises(JobError) as caught:
        builder_from(said, "illness")
    assert caught.value.hint == "illness: {kind: file, path: illness.csv}"

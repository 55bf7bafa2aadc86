"""Values that a taxonomy lacks: how many, which ones, why, and what to do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from taxonomy_laws import trees

from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy import Taxonomy, builder_from, check_coverage

EDUCATION = Taxonomy.from_nested({"Higher": ["Bachelors", "Masters"], "Lower": ["Preschool", "10th", " 9th"]})
WORK = Taxonomy.from_nested({"Public": ["State-gov", "Federal-gov"], "Private": ["Private firm", "Self-employed"]})


def refusal(taxonomy, values, counts=None, column="education", others=None, where=None, name=None) -> TaxonomyError:
    with pytest.raises(TaxonomyError) as caught:
        check_coverage(taxonomy, values, counts, column, others, where, name=name)
    assert caught.value.code == "E204"
    return caught.value


def test_the_message_of_the_guide():
    values = ["Bachelors", "Preschool ", "11th", "Masters"]
    error = refusal(EDUCATION, values, [5, 45, 1048, 7], where="taxonomies/education.csv", name="education")
    assert str(error).splitlines()[0] == (
        "E204 taxonomy 'education' does not cover 2 of 4 values of column 'education' (taxonomies/education.csv)"
    )
    assert error.details == (
        'not covered: "11th" (close to "10th", 1 048 rows)',
        'not covered: "Preschool " (trailing space, 45 rows)',
    )
    assert "on_unknown: top" in error.hint


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("Preschool ", "trailing space"),
        (" Preschool", "leading space"),
        ("9th", 'the taxonomy has " 9th" with a space'),
        ("BACHELORS", 'case differs from "Bachelors"'),
        ("Bachelor", 'close to "Bachelors"'),
        ("Higher", "a group in the taxonomy, not a value"),
    ],
)
def test_diagnosis(value, reason):
    assert refusal(EDUCATION, [value, "Masters"], [1, 9]).details == (f'not covered: "{value}" ({reason}, 1 row)',)


def test_a_value_without_likeness_has_no_diagnosis():
    assert refusal(EDUCATION, ["zzz"]).details == ('not covered: "zzz"',)


def test_the_hint_to_trim_works_when_pasted():
    values = ["Preschool ", "Masters"]
    assert "trim: true" in refusal(EDUCATION, values).hint
    raw = {"kind": "tree", "tree": EDUCATION.nested(), "trim": True}
    assert "Preschool" in builder_from(raw, "education").build(values, "education").leaves


def test_the_hint_on_unknown_values_works_when_pasted():
    values = ["11th", "Masters"]
    assert "on_unknown: top" in refusal(EDUCATION, values).hint
    raw = {"kind": "tree", "tree": EDUCATION.nested(), "on_unknown": "top"}
    assert "11th" in builder_from(raw, "education").build(values, "education").leaves


def test_a_taxonomy_given_to_the_wrong_column_is_recognised():
    others = {"sex": ["f", "m"], "workclass": list(WORK.leaves), "occupation": ["clerk", "smith", "cook"]}
    error = refusal(WORK, ["clerk", "smith", "cook"], column="occupation", others=others, name="work")
    assert error.details[0] == "it covers 0 of 3 values of 'occupation'; it fits column 'workclass' 4/4"
    assert "workclass: {role: quasi, taxonomy: work}" in error.hint


def test_a_shared_word_does_not_make_another_column_fit():
    error = refusal(WORK, ["State-gov", "x"], column="occupation", others={"flag": ["State-gov"], "empty": []})
    assert len(error.details) == 1


def test_a_mostly_fitting_taxonomy_is_not_sent_away():
    error = refusal(WORK, [*WORK.leaves, "x"], column="work", others={"work of father": list(WORK.leaves)})
    assert "it fits column 'work of father' 4/4" in error.details[0]
    assert "on_unknown: top" in error.hint


def test_at_most_five_examples_which_are_cut_and_cannot_steer_a_terminal():
    values = [f"person {i} \x1b[31m lives in a long street {i}" for i in range(40)]
    error = refusal(EDUCATION, values, list(range(40)))
    assert len(error.details) == 6
    assert error.details[-1] == "and 35 more"
    assert "person 39" in error.details[0]
    assert all(len(line) < 80 and line.isprintable() for line in error.details)


def test_numbers_are_compared_by_their_label():
    taxonomy = Taxonomy.from_nested(["1", "2.5"])
    check_coverage(taxonomy, np.array([1.0, 2.5]), None, "x")
    assert refusal(taxonomy, np.array([1.0, 3.0])).details == ('not covered: "3"',)


@given(trees("abc"), st.lists(st.text("abc", max_size=4), unique=True))
def test_the_error_counts_what_is_missing(taxonomy, values):
    missing = [v for v in values if v not in taxonomy.leaves]
    if not missing:
        check_coverage(taxonomy, values, None, "c")
    else:
        error = refusal(taxonomy, values, column="c")
        assert f"{len(missing)} of {len(values)} values" in error.message

"""Looking at a taxonomy: groups per level, and the drawn tree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from taxonomy_laws import trees

from tarnkappe.taxonomy import Taxonomy, draw, intervals, level_table


def test_groups_per_level():
    taxonomy = intervals(5, 10).build(list(range(20, 50)), "age")
    table = level_table(taxonomy)
    assert [(level, groups) for level, groups, _ in table] == [(0, 30), (1, 6), (2, 3), (3, 1)]
    assert table[2][2] == ["20-29", "30-39", "40-49"]
    assert level_table(taxonomy, max_examples=1)[1] == (1, 6, ["20-24"])


@given(trees())
def test_levels_never_gain_groups(taxonomy):
    groups = [n for _, n, _ in level_table(taxonomy)]
    assert groups[0] == taxonomy.n_leaves
    assert groups[-1] == 1
    assert groups == sorted(groups, reverse=True)


def test_drawing():
    world = Taxonomy.from_nested({"ANY": {"America": {"USA": ["Utah"]}, "Europe": None}})
    assert draw(world).splitlines() == [
        "ANY",
        "├── America",
        "│   └── USA",
        "│       └── Utah",
        "└── Europe",
    ]


def test_what_does_not_fit_is_counted_fairly():
    taxonomy = intervals(10, 50).build(list(range(100)), "n")
    lines = draw(taxonomy, max_nodes=12).splitlines()
    assert lines == [
        "*",
        "├── 0-49",
        "│   ├── 0-9",
        "│   │   ├── 0",
        "│   │   └── … 9 more",
        "│   └── … 4 more",
        "└── … 1 more",
    ]


def test_a_scale_says_that_it_is_one():
    assert "any interval may be published" in draw(Taxonomy.scale(["low", "high"]))


def test_labels_take_one_line_each():
    assert len(draw(Taxonomy.from_nested({"*": ["a\nb", ""]})).splitlines()) == 3


@given(trees(alphabet="abcdefgh"), st.integers(1, 30))
def test_no_more_nodes_than_asked_for(taxonomy, most):
    lines = draw(taxonomy, max_nodes=most).splitlines()
    hidden = [line for line in lines if "… " in line]
    assert len(lines) - len(hidden) <= most
    if taxonomy.n_nodes <= most:
        assert not hidden
        assert len(lines) == taxonomy.n_nodes

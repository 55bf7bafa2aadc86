"""Figures that the literature prints, or that follow from its definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from printed import at_levels, tally_of

from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.groups import GroupStats
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

DISEASE = Taxonomy.from_nested(
    {
        "disease": {
            "respiratory": {
                "infection": ["flu", "pneumonia", "bronchitis"],
                "vascular": ["pulmonary edema", "pulmonary embolism"],
            },
            "digestive": {
                "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
                "colon": ["colitis", "colon cancer"],
            },
        }
    }
)


def stats_of(tree: Taxonomy, group: dict[str, int], whole: dict[str, int] | None = None) -> GroupStats:
    """One group, compared with a table."""
    codes = np.array([tree.leaves.index(v) for v in group], np.int32)
    table = None
    if whole is not None:
        table = {"s": np.array([whole.get(leaf, 0) for leaf in tree.leaves], np.int64)}
    count = np.array(list(group.values()), np.int64)
    return GroupStats.from_cells(np.zeros(len(codes), np.int32), count, {"s": (codes, Domain("s", tree))}, tables=table)


class TestDiversity:
    values = Taxonomy.scale(["a", "b", "c"])

    def test_entropy_of_two_one_one(self):
        """Machanavajjhala et al.: 2.8-diverse."""
        stats = stats_of(self.values, {"a": 2, "b": 1, "c": 1})
        level = EntropyLDiversity("s", 1).level(stats)[0]
        assert level == pytest.approx(2 * 2**0.5, rel=1e-14)
        assert round(level, 4) == 2.8284
        assert EntropyLDiversity("s", 2.8).satisfied(stats).all()
        assert not EntropyLDiversity("s", 2.83).satisfied(stats).any()

    def test_recursive_on_three_two_one(self):
        stats = stats_of(self.values, {"a": 3, "b": 2, "c": 1})
        assert RecursiveCLDiversity("s", 2, 2).satisfied(stats).all()
        assert not RecursiveCLDiversity("s", 1, 2).satisfied(stats).any()
        assert RecursiveCLDiversity("s", 1, 2).level(stats).tolist() == [1.0]
        assert RecursiveCLDiversity("s", 1, 3).level(stats).tolist() == [3.0]
        assert RecursiveCLDiversity("s", 1, 4).level(stats).tolist() == [np.inf]


class TestCloseness:
    salaries = Taxonomy.scale([str(i) for i in range(3, 12)])

    @pytest.mark.parametrize(
        ("group", "distance"),
        [
            ((3, 4, 5), Fraction(27, 72)),
            ((6, 8, 11), Fraction(12, 72)),
            ((7, 9, 10), Fraction(17, 72)),
            ((3, 5, 9), Fraction(12, 72)),
            ((4, 7, 10), Fraction(6, 72)),
        ],
    )
    def test_salaries(self, group, distance):
        stats = stats_of(self.salaries, {str(i): 1 for i in group}, {str(i): 1 for i in range(3, 12)})
        assert TCloseness("s", 0.1, "ordered").level(stats).tolist() == [float(distance)]
        assert TCloseness("s", float(distance), "ordered").satisfied(stats).all()

    @pytest.mark.parametrize(
        ("one", "other", "distance"),
        [
            ("flu", "flu", Fraction(0)),
            ("flu", "bronchitis", Fraction(1, 3)),
            ("flu", "pulmonary embolism", Fraction(2, 3)),
            ("flu", "stomach cancer", Fraction(1)),
            ("gastritis", "colon cancer", Fraction(2, 3)),
        ],
    )
    def test_distances_of_diseases(self, one, other, distance):
        stats = stats_of(DISEASE, {one: 1}, {other: 1})
        assert TCloseness("s", 0.1, "hierarchical").level(stats).tolist() == [float(distance)]

    @pytest.mark.parametrize(
        ("group", "distance"),
        [
            (("gastric ulcer", "gastritis", "stomach cancer"), Fraction(4, 9)),
            (("gastritis", "flu", "bronchitis"), Fraction(8, 27)),
            (("gastric ulcer", "stomach cancer", "pneumonia"), Fraction(7, 27)),
            (("gastritis", "bronchitis", "stomach cancer"), Fraction(5, 27)),
        ],
    )
    def test_groups_of_diseases(self, group, distance):
        whole = {
            "gastric ulcer": 1,
            "gastritis": 2,
            "stomach cancer": 2,
            "flu": 1,
            "bronchitis": 2,
            "pneumonia": 1,
        }
        stats = stats_of(DISEASE, dict.fromkeys(group, 1), whole)
        assert TCloseness("s", 0.1, "hierarchical").level(stats).tolist() == [float(distance)]


class TestPatients:
    """The patients of LeFevre et al. (Incognito): birth date, sex and postcode."""

    rows = (
        ("1/21/76", "M", "53715"),
        ("4/13/86", "F", "53715"),
        ("2/28/76", "M", "53703"),
        ("1/21/76", "M", "53703"),
        ("4/13/86", "F", "53706"),
        ("2/28/76", "F", "53706"),
    )
    trees = (
        Taxonomy.from_nested({"*": ["1/21/76", "2/28/76", "4/13/86"]}),
        Taxonomy.from_nested({"Person": ["M", "F"]}),
        Taxonomy.from_nested({"537**": {"5371*": ["53715"], "5370*": ["53703", "53706"]}}),
    )

    def anonymous(self, columns: tuple[int, ...], k: int = 2) -> set[tuple[int, ...]]:
        tally = tally_of([[row[c] for c in columns] for row in self.rows], [self.trees[c] for c in columns])
        nodes = product(*(range(self.trees[c].height + 1) for c in columns))
        return {
            node for node in nodes if KAnonymity(k).satisfied(GroupStats.of(tally, at_levels(tally, node), [])).all()
        }

    def minimal(self, columns: tuple[int, ...]) -> set[tuple[int, ...]]:
        nodes = self.anonymous(columns)
        return {n for n in nodes if not any(o != n and all(a <= b for a, b in zip(o, n, strict=True)) for o in nodes)}

    def test_two_anonymous_nodes(self):
        assert self.anonymous((0, 1, 2)) == {(0, 1, 2), (1, 0, 2), (1, 1, 0), (1, 1, 1), (1, 1, 2)}
        assert self.minimal((0, 1, 2)) == {(0, 1, 2), (1, 0, 2), (1, 1, 0)}

    def test_pairs_of_columns(self):
        assert self.minimal((1, 2)) == {(0, 2), (1, 0)}
        assert self.minimal((0, 1)) == {(0, 1), (1, 0)}
        assert self.minimal((0, 2)) == {(0, 2), (1, 0)}

"""The worked examples of a master's thesis on anonymisation: tables 4.2 to 4.5, 4.14 and 4.15."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from printed import stats_of_printed

import brute
from strategies import parent_map, published_rows
from tarnkappe.boxes import Boxes
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.metrics import score_plan
from tarnkappe.metrics.iloss import ILoss
from tarnkappe.metrics.steps import generalisation_steps
from tarnkappe.plan import Plan
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

FINDINGS = ("Herzleiden", "Krebs", "Virusinfektion")
H, K, V = FINDINGS

TABLE_4_2 = [
    *[("130**", "< 30", "*", d) for d in (H, H, V, V)],
    *[("1485*", "≥ 40", "*", d) for d in (K, H, V, V)],
    *[("130**", "3*", "*", K)] * 4,
]
TABLE_4_3 = [
    *[("1305*", "≤ 40", "*", d) for d in (H, V, K, K)],
    *[("1485*", "> 40", "*", d) for d in (K, H, V, V)],
    *[("1306*", "≤ 40", "*", d) for d in (H, V, K, K)],
]

SALARIES = tuple(f"{i}K" for i in range(3, 12))

#: The taxonomy of Li et al. (2007): three levels of edges.
DISEASE = Taxonomy.from_nested(
    {
        "respiratory and digestive system diseases": {
            "respiratory system diseases": {
                "respiratory infection": ["flu", "pneumonia", "bronchitis"],
                "vascular lung diseases": ["pulmonary edema", "pulmonary embolism"],
            },
            "digestive system diseases": {
                "stomach diseases": ["gastric ulcer", "stomach cancer", "gastritis"],
                "colon diseases": ["colitis", "colon cancer"],
            },
        }
    }
)

PATIENTS = {
    "3K": "gastric ulcer",
    "4K": "gastritis",
    "5K": "stomach cancer",
    "6K": "gastritis",
    "11K": "flu",
    "8K": "bronchitis",
    "7K": "bronchitis",
    "9K": "pneumonia",
    "10K": "stomach cancer",
}

TABLE_4_4 = (
    ("476**", "2*", ("3K", "4K", "5K")),
    ("4790*", "≥ 40", ("6K", "11K", "8K")),
    ("476**", "3*", ("7K", "9K", "10K")),
)
TABLE_4_5 = (
    ("4767*", "≤ 40", ("3K", "5K", "9K")),
    ("4790*", "≥ 40", ("6K", "11K", "8K")),
    ("4760*", "≤ 40", ("4K", "7K", "10K")),
)


def rows_of(table: tuple[tuple[str, str, tuple[str, ...]], ...]) -> list[tuple[str, ...]]:
    return [(zip_code, age, pay, PATIENTS[pay]) for zip_code, age, group in table for pay in group]


def check(rows: list[tuple[str, ...]], k: int, l: int) -> None:  # noqa: E741
    stats = stats_of_printed(rows, FINDINGS)
    assert KAnonymity(1).worst_level(stats) == k
    assert LDiversity("s", 1).worst_level(stats) == l
    plain = [(row[:-1], row[-1:]) for row in rows]
    assert (brute.k(plain), brute.distinct_l(plain, 0)) == (k, l)


def test_table_4_2_is_4_anonymous_and_not_diverse():
    check(TABLE_4_2, k=4, l=1)


def test_table_4_3_is_3_diverse():
    check(TABLE_4_3, k=4, l=3)


class TestTables44And45:
    def levels(self, table, column: str, distance: str) -> list[float]:
        stats = stats_of_printed(rows_of(table), SALARIES, DISEASE)
        return TCloseness(column, 0.1, distance).level(stats).tolist()

    @pytest.mark.parametrize("table", [TABLE_4_4, TABLE_4_5])
    def test_both_are_3_diverse_in_both_columns(self, table):
        stats = stats_of_printed(rows_of(table), SALARIES, DISEASE)
        assert KAnonymity(1).worst_level(stats) == 3
        for column in ("s", "s2"):
            assert LDiversity(column, 3).satisfied(stats).all()

    def test_salaries_of_table_4_4(self):
        assert self.levels(TABLE_4_4, "s", "ordered") == [float(Fraction(n, 72)) for n in (27, 12, 17)]

    def test_salaries_of_table_4_5_are_0_167_close(self):
        found = self.levels(TABLE_4_5, "s", "ordered")
        assert found == [float(Fraction(n, 72)) for n in (12, 12, 6)]
        assert round(max(found), 3) == 0.167

    def test_diseases_of_table_4_4(self):
        found = self.levels(TABLE_4_4, "s2", "hierarchical")
        assert found[0] == float(Fraction(4, 9))  # three diseases of the stomach
        assert found[1] == float(Fraction(8, 27))

    def test_diseases_of_table_4_5(self):
        """Printed as 0.278, which is no multiple of 1/27 and so cannot come out of the definition: it is 8/27."""
        found = self.levels(TABLE_4_5, "s2", "hierarchical")
        assert found == [float(Fraction(n, 27)) for n in (7, 8, 5)]
        assert max(found) == pytest.approx(0.296, abs=5e-4)

    def test_no_other_grouping_reaches_0_278_either(self):
        """Of all ways to form three groups of three that are 0.167-close in salary, the closest has 8/27."""
        pays = list(PATIENTS)
        whole = {}
        for disease in PATIENTS.values():
            whole[disease] = whole.get(disease, 0) + 1
        up = parent_map(DISEASE)

        def salary(group: tuple[str, ...]) -> Fraction:
            return brute.emd_ordered(dict.fromkeys(group, 1), dict.fromkeys(pays, 1), SALARIES)

        def disease(group: tuple[str, ...]) -> Fraction:
            counts: dict[str, int] = {}
            for pay in group:
                counts[PATIENTS[pay]] = counts.get(PATIENTS[pay], 0) + 1
            return brute.emd_hierarchical(counts, whole, up)

        close = []
        for first in combinations(pays[1:], 2):
            rest = [p for p in pays[1:] if p not in first]
            for second in combinations(rest[1:], 2):
                groups = ((pays[0], *first), (rest[0], *second), tuple(p for p in rest[1:] if p not in second))
                if max(map(salary, groups)) <= Fraction(12, 72):
                    close.append(max(map(disease, groups)))
        assert min(close) == Fraction(8, 27)


class TestTable415:
    """Eight people, and what their generalisation costs by three metrics, cell by cell."""

    age = Taxonomy.from_nested(
        {
            "[30-40)": {
                "[30-35)": {"[30-33)": ["30", "31", "32"], "[33-35)": ["33", "34"]},
                "[35-40)": ["35", "36", "37", "38", "39"],
            }
        }
    )
    job = Taxonomy.from_nested({"ANY": {"Akademiker": ["Ingenieur", "Anwalt"], "Künstler": ["Sänger", "Maler"]}})
    people = (
        ("30", "Ingenieur"),
        ("32", "Anwalt"),
        ("35", "Maler"),
        ("31", "Ingenieur"),
        ("38", "Sänger"),
        ("39", "Maler"),
        ("34", "Anwalt"),
        ("32", "Anwalt"),
    )
    published = (("[30-33)", "Akademiker"), ("[30-40)", "ANY"), ("[35-40)", "Künstler"), ("[30-35)", "Anwalt"))
    distortion = ((1, 1), (1, 1), (2, 2), (3, 2), (1, 1), (1, 1), (2, 0), (2, 0))
    iloss = ((0.2, 0.25), (0.2, 0.25), (0.9, 0.75), (0.9, 0.75), (0.4, 0.25), (0.4, 0.25), (0.4, 0.0), (0.4, 0.0))

    def plan(self) -> Plan:
        trees = (self.age, self.job)
        codes = [np.array([t.leaves.index(p[j]) for p in self.people]) for j, t in enumerate(trees)]
        tally, cell = count_cells(codes, [], [Domain("Alter", self.age), Domain("Beruf", self.job)], [])
        assert tally.n_cells == 7  # persons 2 and 8 are alike, and go into different groups
        pieces = sorted((int(c), person // 2) for person, c in enumerate(cell))
        node = [[t.labels.index(text) for t, text in zip(trees, texts, strict=True)] for texts in self.published]
        grouping = Grouping(
            np.array([c for c, _ in pieces], np.int32),
            np.array([g for _, g in pieces], np.int32),
            np.ones(8, np.int64),
            4,
            FixedBoxes(Boxes.of_nodes(np.array(node, np.int32), tally.quasi_domains)),
        )
        assert grouping.splits_cells
        return Plan.of(tally, Goal([KAnonymity(2)]), grouping)

    def test_the_table_is_published_as_printed(self):
        assert sorted(texts for texts, _ in published_rows(self.plan())) == sorted(self.published * 2)

    def test_minimal_distortion(self):
        plan = self.plan()
        steps = {name: total for name, (total, _) in generalisation_steps(plan).items()}
        assert steps == {"Alter": 13, "Beruf": 8}
        assert steps["Alter"] == sum(a for a, _ in self.distortion)
        assert score_plan(plan)["minimal-distortion"] == 21

    def test_minimal_distortion_of_every_cell(self):
        for person, (texts, expected) in enumerate(
            zip([t for t in self.published for _ in range(2)], self.distortion, strict=True)
        ):
            for j, tree in enumerate((self.age, self.job)):
                node, steps = tree.labels.index(self.people[person][j]), 0
                while tree.labels[node] != texts[j]:
                    node, steps = int(tree.parent[node]), steps + 1
                assert steps == expected[j]

    def test_discernibility(self):
        assert score_plan(self.plan())["discernibility"] == 16

    def test_iloss_of_every_cell(self):
        for j, (tree, name) in enumerate(((self.age, "Alter"), (self.job, "Beruf"))):
            for texts, expected in zip(self.published, self.iloss[::2], strict=True):
                node = np.array([[tree.labels.index(texts[j])]], np.int32)
                loss = ILoss().cell_loss(Boxes(tree.lo[node], tree.hi[node], node), 0, Domain(name, tree))
                assert loss.tolist() == pytest.approx([expected[j]])

    def test_iloss_of_the_table(self):
        plan = self.plan()
        assert ILoss().score(plan) * 8 == pytest.approx(3.15)
        assert ILoss().score(plan) == pytest.approx(0.39375)
        per_record = [sum(cell) / 2 for cell in self.iloss]
        assert per_record == pytest.approx([0.225, 0.225, 0.825, 0.825, 0.325, 0.325, 0.2, 0.2])
        columns = ILoss().column_scores(plan)
        assert columns["Alter"] == pytest.approx(sum(a for a, _ in self.iloss) / 8)
        assert columns["Beruf"] == pytest.approx(sum(b for _, b in self.iloss) / 8)

    def test_ages_as_a_range_cost_the_same(self):
        """The thesis measures ages by their extent, 10 possible values: a range of whole numbers does the same."""
        ages = Domain("Alter", Taxonomy.scale([str(a) for a in range(30, 40)]), np.arange(30.0, 40.0))
        lo, hi = np.array([0, 0, 5, 0], np.int32), np.array([2, 9, 9, 4], np.int32)
        boxes = Boxes(lo[:, None], hi[:, None], ages.nodes(lo, hi)[:, None])
        loss = ILoss().cell_loss(boxes, 0, ages)
        assert loss.tolist() == pytest.approx([0.2, 0.9, 0.4, 0.4])


def test_a_tally_of_the_example_knows_its_people():
    plan = TestTable415().plan()
    tally: Tally = plan.tally
    assert tally.n_records == 8
    assert int(tally.count.max()) == 2

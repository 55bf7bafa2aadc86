"""The worked examples of a lecture on k-anonymity, l-diversity and t-closeness (University of Hamburg, 2016)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from printed import at_levels, stats_of_printed, tally_of

import brute
from strategies import published_rows
from tarnkappe.algorithms.fulldomain.datafly import Datafly
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally
from tarnkappe.taxonomy.tree import Taxonomy

DISEASES = ("Arthrose", "Demenz", "Diabetes", "Gicht", "Hepatitis")

TWO_ANONYMOUS = [
    ("w", "22***", "1944-45", "Hepatitis"),
    ("w", "22***", "1944-45", "Gicht"),
    ("*", "22***", "1949", "Arthrose"),
    ("w", "228**", "1985-92", "Diabetes"),
    ("w", "228**", "1985-92", "Demenz"),
    ("m", "22997", "1936-75", "Arthrose"),
    ("*", "22***", "1949", "Diabetes"),
    ("m", "22***", "1963-64", "Demenz"),
    ("m", "22***", "1963-64", "Demenz"),
    ("m", "22997", "1936-75", "Hepatitis"),
]

TWO_DIVERSE = [
    ("w", "22***", "1944-45", "Hepatitis"),
    ("w", "22***", "1944-45", "Gicht"),
    ("*", "22***", "1949", "Arthrose"),
    ("w", "228**", "1985-92", "Diabetes"),
    ("w", "228**", "1985-92", "Demenz"),
    ("m", "22***", "1936-75", "Arthrose"),
    ("*", "22***", "1949", "Diabetes"),
    ("m", "22***", "1936-75", "Demenz"),
    ("m", "22***", "1936-75", "Demenz"),
    ("m", "22***", "1936-75", "Hepatitis"),
]

HEPATITIS = ("Hepatitis X", "Hepatitis Y", "Hepatitis Z")
HOMOGENEOUS = [("1970", "21***", h) for h in HEPATITIS] + [("1975", "21***", "Hepatitis X")] * 3
SIMILAR = [("1970", "21***", d) for d in ("Diabetes", "Syphilis", "Gicht")] + [
    ("1975", "21***", d) for d in ("Tripper", "Syphilis", "Chlamydien")
]
BACKGROUND = [("1970", "21***", f"Hepatitis {x}") for x in "XYZY"] + [
    ("1975", "21***", f"Hepatitis {x}") for x in "XXYY"
]


def reached(rows: list[tuple[str, ...]], values: tuple[str, ...]) -> tuple[float, float]:
    """The k and the l of a printed table, by the package and by the independent checker."""
    stats = stats_of_printed(rows, values)
    found = KAnonymity(1).worst_level(stats), LDiversity("s", 1).worst_level(stats)
    plain = [(row[:-1], row[-1:]) for row in rows]
    assert found == (brute.k(plain), brute.distinct_l(plain, 0))
    return found


def test_the_two_anonymous_table():
    assert reached(TWO_ANONYMOUS, DISEASES) == (2, 1)


def test_the_two_diverse_table():
    assert reached(TWO_DIVERSE, DISEASES) == (2, 2)


def test_the_homogeneity_attack():
    assert reached(HOMOGENEOUS, HEPATITIS) == (3, 1)


def test_the_background_knowledge_attack():
    assert reached(BACKGROUND, HEPATITIS) == (4, 2)


def test_the_similarity_attack():
    assert reached(SIMILAR, ("Chlamydien", "Diabetes", "Gicht", "Syphilis", "Tripper")) == (3, 3)


def test_the_unsorted_matching_attack():
    """Two releases of the same people, each anonymous for itself."""
    years = [("1970-80", zip_code) for zip_code in ("21985", "21986", "21724", "21725")] * 3
    zips = [(year, z) for year in ("1970", "1975", "1980") for z in ("2198*", "2198*", "2172*", "2172*")]
    for rows, k in ((years, 3), (zips, 2)):
        stats = stats_of_printed(rows)
        assert KAnonymity(1).worst_level(stats) == k


def test_the_skewness_attack():
    """One in a hundred is ill, half of a 2-diverse block: that block is 0.49 away from the table."""
    domain = Domain("s", Taxonomy.scale(["krank", "gesund"]))
    stats = GroupStats.from_cells(
        np.zeros(2, np.int32),
        np.array([1, 1]),
        {"s": (np.array([0, 1], np.int32), domain)},
        tables={"s": np.array([1, 99])},
    )
    assert LDiversity("s", 2).satisfied(stats).all()
    assert TCloseness("s", 0.1).level(stats).tolist() == [0.49]


class TestMinimalGeneralisation:
    """Twelve people by sex and postcode, and the six generalisations of the two."""

    sex = Taxonomy.from_nested({"nicht_veröffentlicht": ["m", "w"]})
    postcode = Taxonomy.from_paths(
        [
            ("22765", "2276*", "2****"),
            ("22769", "2276*", "2****"),
            ("22529", "2252*", "2****"),
            ("20246", "2024*", "2****"),
        ]
    )
    rows = (
        *[("m", "22765")] * 2,
        ("m", "22769"),
        ("m", "22529"),
        ("m", "20246"),
        *[("w", "22765")] * 2,
        ("w", "22769"),
        *[("w", "22529")] * 3,
        ("w", "20246"),
    )

    @property
    def tally(self) -> Tally:
        return tally_of(self.rows, [self.sex, self.postcode])

    def k(self, levels: tuple[int, int]) -> float:
        grouping = at_levels(self.tally, levels)
        return KAnonymity(1).worst_level(GroupStats.of(self.tally, grouping, []))

    def anonymous(self, k: int) -> set[tuple[int, int]]:
        return {node for node in product(range(2), range(3)) if self.k(node) >= k}

    def minimal(self, k: int) -> set[tuple[int, int]]:
        """Those that generalise no other anonymous one."""
        nodes = self.anonymous(k)
        return {n for n in nodes if not any(o != n and o[0] <= n[0] and o[1] <= n[1] for o in nodes)}

    def test_the_domains(self):
        assert self.sex.height == 1
        assert self.postcode.height == 2
        assert {self.postcode.labels[v] for v in self.postcode.ancestors[1]} == {"2276*", "2252*", "2024*"}
        assert {self.postcode.labels[v] for v in self.postcode.ancestors[2]} == {"2****"}

    def test_the_k_of_every_node(self):
        found = {node: self.k(node) for node in product(range(2), range(3))}
        assert found == {(0, 0): 1, (1, 0): 2, (0, 1): 1, (1, 1): 2, (0, 2): 5, (1, 2): 12}

    @pytest.mark.parametrize(
        ("k", "anonymous", "minimal"),
        [
            (1, {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)}, {(0, 0)}),
            (2, {(1, 0), (0, 2), (1, 1), (1, 2)}, {(1, 0), (0, 2)}),
            (3, {(0, 2), (1, 2)}, {(0, 2)}),
            (5, {(0, 2), (1, 2)}, {(0, 2)}),
            (6, {(1, 2)}, {(1, 2)}),
            (12, {(1, 2)}, {(1, 2)}),
            (13, set(), set()),
        ],
    )
    def test_minimal_nodes(self, k, anonymous, minimal):
        assert self.anonymous(k) == anonymous
        assert self.minimal(k) == minimal

    @pytest.mark.parametrize(("k", "node"), [(1, (0, 0)), (2, (0, 2)), (5, (0, 2)), (6, (1, 2))])
    def test_datafly_takes_the_postcodes_first(self, k, node):
        """Postcodes have more values than sexes, so Datafly ends in the minimal node with the sexes kept."""
        grouping = Datafly().decide(self.tally, Goal([KAnonymity(k)]), rng=np.random.default_rng(0))
        expected = at_levels(self.tally, node)
        assert grouping.group.tolist() == expected.group.tolist()
        assert grouping.fixed.node.tolist() == expected.fixed.node.tolist()


class TestSuppressionAndGeneralisation:
    """Postcodes stand first: both columns have two values in the end, and a tie goes to the first."""

    rows = (("22765", "m"), ("22765", "w"), ("22769", "m"), ("22769", "w"), ("80043", "m"))
    trees = (
        Taxonomy.from_nested({"*": {"2276*": ["22765", "22769"], "8004*": ["80043"]}}),
        Taxonomy.from_nested({"nicht_veröffentlicht": ["m", "w"]}),
    )

    def published(self, limit: float) -> list[tuple[str, ...]]:
        tally = tally_of(self.rows, self.trees)
        goal = Goal([KAnonymity(2)], limit)
        plan = Plan.of(tally, goal, Datafly().decide(tally, goal, rng=np.random.default_rng(0)))
        return sorted(texts for texts, _ in published_rows(plan))

    def test_generalisation_alone_gives_up_the_postcodes(self):
        assert self.published(0.0) == [("*", "m")] * 3 + [("*", "w")] * 2

    def test_one_suppressed_record_saves_them(self):
        assert self.published(0.2) == [("2276*", "m")] * 2 + [("2276*", "w")] * 2


class TestEarthMoversDistance:
    incomes = tuple(f"{i}K" for i in range(3, 12))

    def distances(self, *groups: tuple[int, ...]) -> list[float]:
        rows = [(f"group {g}", f"{income}K") for g, group in enumerate(groups) for income in group]
        return TCloseness("s", 0.1, "ordered").level(stats_of_printed(rows, self.incomes)).tolist()

    def test_the_first_table(self):
        found = self.distances((3, 4, 5), (6, 8, 11), (7, 9, 10))
        assert found == [float(Fraction(n, 72)) for n in (27, 12, 17)]
        assert [round(d, 3) for d in found] == [0.375, 0.167, 0.236]

    def test_the_second_table(self):
        found = self.distances((3, 5, 9), (6, 8, 11), (4, 7, 10))
        assert found == [float(Fraction(n, 72)) for n in (12, 12, 6)]
        assert [round(d, 3) for d in found] == [0.167, 0.167, 0.083]

    def test_the_first_table_is_0_375_close_and_no_closer(self):
        rows = [(f"group {g}", f"{i}K") for g, group in enumerate([(3, 4, 5), (6, 8, 11), (7, 9, 10)]) for i in group]
        stats = stats_of_printed(rows, self.incomes)
        assert TCloseness("s", 0.375, "ordered").verdict(stats).ok
        assert not TCloseness("s", 0.3749999, "ordered").verdict(stats).ok

    def test_hierarchical_distances(self):
        tree = Taxonomy.from_nested({"Geschlechtsorgane": ["Impotenz", "Hodenkrebs"], "Stoffwechsel": ["Diabetes"]})
        domain = Domain("s", tree)

        def distance(a: str, b: str) -> float:
            whole = np.zeros(3, np.int64)
            whole[tree.leaves.index(b)] = 1
            code = np.array([tree.leaves.index(a)], np.int32)
            stats = GroupStats.from_cells(
                np.zeros(1, np.int32), np.ones(1, np.int64), {"s": (code, domain)}, tables={"s": whole}
            )
            return float(TCloseness("s", 0.1, "hierarchical").level(stats)[0])

        assert distance("Impotenz", "Hodenkrebs") == 1 / 2
        assert distance("Impotenz", "Diabetes") == 2 / 2
        assert distance("Impotenz", "Impotenz") == 0

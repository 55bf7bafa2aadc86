"""Every metric against its definition, added up record by record in plain Python."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from strategies import groupings, tallies
from tarnkappe.algorithms.fulldomain.datafly import Datafly
from tarnkappe.algorithms.microaggregation.centres import centres_of
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.metrics import all_metrics, metric_named, score_plan
from tarnkappe.metrics.base import CellLoss
from tarnkappe.metrics.steps import generalisation_steps
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

ANYTHING = Goal([KAnonymity(1)], 1.0)


def pieces(plan: Plan) -> list[tuple[int, int, int]]:
    """Cell, group and records of every piece."""
    g = plan.grouping
    return list(zip(g.cell.tolist(), g.group.tolist(), g.quota.tolist(), strict=True))


def cell_losses(domain: Domain, lo: int, hi: int, node: int, members: set[int]) -> dict[str, float]:
    """LM, NCP and ILoss of one published value, straight from the definitions."""
    tree = domain.taxonomy
    if domain.values is not None and tree.ranges[node]:
        known = [v for v in domain.values.tolist() if v == v]
        width, extent = domain.values[hi] - domain.values[lo], (max(known) - min(known)) or 1.0
        # Whole numbers are counted, decimals measured.
        counted = all(v == int(v) for v in known)
        return {"lm": width / extent, "gcp": width / extent, "iloss": width / (max(known) - min(known) + counted)}
    leaves = {i for i in range(tree.n_leaves) if tree.lo[node] <= i <= tree.hi[node]}
    if tree.ranges[node]:  # published are only the values between two, or exactly those that occur
        leaves = members if domain.sets else {i for i in leaves if lo <= i <= hi}
    c, m = len(leaves), tree.n_leaves
    if c == 1:
        return {"lm": 0.0, "gcp": 0.0, "iloss": 0.0}
    return {"lm": (c - 1) / (m - 1), "gcp": c / m, "iloss": (c - 1) / m}


def height_above(tree: Taxonomy, leaf: int) -> list[int]:
    """The nodes from a leaf up to the root."""
    way = [int(tree.leaf_nodes[leaf])]
    while tree.parent[way[-1]] >= 0:
        way.append(int(tree.parent[way[-1]]))
    return way


def lost_bits(plan: Plan, j: int, value: int, group: int, members: set[int]) -> float:
    """Minus the logarithm of how common a value is among those that its label stands for."""
    tally, tree = plan.tally, plan.tally.quasi_domains[j].taxonomy
    counts = [int(tally.count[tally.quasi[:, j] == leaf].sum()) for leaf in range(tree.n_leaves)]
    if group < 0:
        return math.log2(sum(counts) / counts[value])
    lo, hi, node = (int(part[group, j]) for part in (plan.boxes.lo, plan.boxes.hi, plan.boxes.node))
    leaves = set(range(int(tree.lo[node]), int(tree.hi[node]) + 1))
    if tree.ranges[node] and lo < hi:
        leaves = members if tally.quasi_domains[j].sets and plan.grouping.fixed is None else set(range(lo, hi + 1))
    return math.log2(sum(counts[leaf] for leaf in leaves) / counts[value])


def scores(plan: Plan) -> dict[str, float]:
    """All metrics of a plan, record by record."""
    tally, n = plan.tally, plan.tally.n_records
    d = len(tally.quasi_domains)
    weights = [q.weight for q in tally.quasi_domains]
    loss = {name: [0.0] * d for name in ("lm", "gcp", "iloss")}
    steps, shares, suppressed, bits = 0, [0.0] * d, 0, 0.0
    sizes: dict[int, int] = {}
    fixed = plan.grouping.fixed is not None  # then a node is published, and it stands for all its leaves
    members: dict[tuple[int, int], set[int]] = defaultdict(set)
    for cell, group, _ in pieces(plan):
        for j, domain in enumerate(tally.quasi_domains):
            members[group, j] |= (
                set(range(domain.size - (domain.missing >= 0))) if fixed else {int(tally.quasi[cell, j])}
            )
    for cell, group, records in pieces(plan):
        if group < 0:
            suppressed += records
        else:
            sizes[group] = sizes.get(group, 0) + records
        for j, domain in enumerate(tally.quasi_domains):
            way = height_above(domain.taxonomy, int(tally.quasi[cell, j]))
            raised = len(way) - 1 if group < 0 else way.index(int(plan.boxes.node[group, j]))
            steps += raised * records
            bits += domain.weight * records * lost_bits(plan, j, int(tally.quasi[cell, j]), group, members[group, j])
            shares[j] += records * raised / max(len(way) - 1, 1)
            here = dict.fromkeys(loss, 1.0)  # a suppressed record has lost everything
            if group >= 0:
                box = (int(part[group, j]) for part in (plan.boxes.lo, plan.boxes.hi, plan.boxes.node))
                here = cell_losses(domain, *box, members[group, j])
            for name, column in loss.items():
                column[j] += records * here[name]
    mean = {name: sum(w * x for w, x in zip(weights, column, strict=True)) for name, column in loss.items()}
    geometric = math.prod((1 + x / n) ** (w / sum(weights)) for w, x in zip(weights, loss["lm"], strict=True)) - 1
    return {
        **{name: total / sum(weights) / n for name, total in mean.items()},
        "loss": geometric,
        "nonuniform-entropy": bits,
        "aecs": n / (len(sizes) + (suppressed > 0)),
        "minimal-distortion": steps,
        "precision": 1 - sum(w * x for w, x in zip(weights, shares, strict=True)) / sum(weights) / n,
        "discernibility": sum(f * f for f in sizes.values()) + suppressed * n,
        "average-group-size": (n - suppressed) / len(sizes) / plan.goal.min_size,
        "suppressed-share": suppressed / n,
    }


def test_every_metric_is_checked():
    tally, _ = count_cells([np.array([0, 1])], [], [Domain("q", Taxonomy.scale(["1", "2"]))], [])
    plan = Plan.of(tally, ANYTHING, Grouping.of_cells(tally, np.zeros(2, np.int32), 1))
    assert scores(plan).keys() == all_metrics().keys() - {"classification", "sse", "reconstruction-error"}


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(-1, 3)), min_size=2, max_size=30),
    st.sampled_from([(1.0, 1.0), (1.0, 3.0)]),
)
@settings(deadline=None)
def test_variance_lost_is_a_sum_over_records(rows, weights):
    """Standardised by hand; a suppressed record (-1) is as far away as the mean."""
    used = sorted({g for _, _, g in rows if g >= 0})
    if not used:
        return
    table = np.array([r[:2] for r in rows], np.float64)
    group = np.array([used.index(g) if g >= 0 else -1 for *_, g in rows], np.int32)
    distinct = [np.unique(column) for column in table.T]
    domains = [
        Domain(n, Taxonomy.scale([f"{x:g}" for x in d]), d, weight=w)
        for n, d, w in zip("ab", distinct, weights, strict=True)
    ]
    codes = [np.searchsorted(d, column) for d, column in zip(distinct, table.T, strict=True)]
    tally, cell = count_cells(codes, [], domains, [])
    order = np.argsort(cell, kind="stable")
    pieces = Grouping(cell[order].astype(np.int32), group[order], np.ones(len(rows), np.int64), len(used))
    pieces = replace(pieces, form=centres_of(tally, pieces, ("mean", "mean")))
    score = metric_named("sse").score(Plan.of(tally, ANYTHING, pieces))
    lost = 0.0
    for column, weight in zip(table.T, weights, strict=True):
        published = [column[group == g].mean() if g >= 0 else column.mean() for g in group]
        total = ((column - column.mean()) ** 2).sum()
        lost += weight * (((column - published) ** 2).sum() / total if total else 0.0)
    assert score == pytest.approx(100 * lost / sum(weights), abs=1e-9)


@pytest.mark.parametrize("taxonomy", ["flat", "two levels"])
def test_variance_lost_in_many_nominal_values_is_exact(taxonomy: str):
    """Of 200 values, as by hand: half the mean squared distance of all pairs is the variance."""
    names = [f"v{i:03d}" for i in range(200)]
    tree = Taxonomy.from_nested(names if taxonomy == "flat" else {f"g{i}": names[i::20] for i in range(20)})
    rng = np.random.default_rng(1)
    share = 1 / np.arange(1, 201)
    code = rng.choice(200, 1000, p=share / share.sum())
    tally, _ = count_cells([code], [], [Domain("x", tree)], [])
    grouping = MDAV().decide(tally, Goal((KAnonymity(4),)), rng=rng)
    leaf = np.arange(200)
    common = tree.lca(np.minimum(leaf[:, None], leaf), np.maximum(leaf[:, None], leaf))
    apart = (tree.leaf_counts[common] - 1) / 199 * (leaf[:, None] != leaf)
    published = grouping.form.values[grouping.group, 0].astype(int)
    lost = grouping.quota @ apart[tally.quasi[grouping.cell, 0], published]
    total = apart[code][:, code].sum() / 2000
    assert lost > 0
    score = metric_named("sse").score(Plan.of(tally, Goal((KAnonymity(4),)), grouping))
    assert score == pytest.approx(100 * lost / total)


@given(tallies(wildcards=False).flatmap(lambda t: st.tuples(st.just(t), groupings(t))), st.data())
@settings(deadline=None)
def test_scores_are_sums_over_records(case, data):
    tally, grouping = case
    if not grouping.n_groups:
        return
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=3, max_size=3))
    weighted = tuple(replace(d, weight=w) for d, w in zip(tally.quasi_domains, weights, strict=False))
    plan = Plan.of(replace(tally, quasi_domains=weighted), ANYTHING, grouping)
    assert score_plan(plan) == pytest.approx(scores(plan), rel=1e-12, abs=1e-12)


@given(tallies(wildcards=False), st.integers(1, 6))
@settings(deadline=None, max_examples=examples(50))
def test_scores_of_full_domain_releases(tally, k):
    if tally.n_records < k:
        return
    goal = Goal([KAnonymity(k)], 0.2)
    plan = Plan.of(tally, goal, Datafly().decide(tally, goal, rng=np.random.default_rng(0)))
    assert score_plan(plan) == pytest.approx(scores(plan), rel=1e-12, abs=1e-12)


@given(tallies().flatmap(lambda t: st.tuples(st.just(t), groupings(t))))
@settings(deadline=None)
def test_shares_stay_between_0_and_1(case):
    tally, grouping = case
    if not grouping.n_groups:
        return
    plan = Plan.of(tally, ANYTHING, grouping)
    for name, value in score_plan(plan).items():
        if name not in {"minimal-distortion", "discernibility", "average-group-size", "aecs", "nonuniform-entropy"}:
            assert 0 <= value <= 1, name


def table(*columns: tuple[Domain, list[int]]) -> Tally:
    return count_cells([np.array(codes) for _, codes in columns], [], [d for d, _ in columns], [])[0]


def one_group(tally: Tally) -> Plan:
    return Plan.of(tally, ANYTHING, Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1))


class TestByHand:
    city = Domain("city", Taxonomy.from_nested({"North": ["n1", "n2", "n3"], "South": ["s1"]}))
    age = Domain("age", Taxonomy.scale(["20", "30", "70"]), np.array([20.0, 30.0, 70.0]))

    def test_three_formulas_for_one_value(self):
        """North covers three of four cities: the formulas of like name differ."""
        found = score_plan(one_group(table((self.city, [0, 1, 2, 2]))))
        assert found["lm"] == 2 / 3
        assert found["gcp"] == 3 / 4
        assert found["iloss"] == 2 / 4
        assert found["minimal-distortion"] == 4
        assert found["precision"] == 0.5

    def test_a_range_of_whole_numbers(self):
        tally = table((self.age, [0, 1, 2]))
        plan = Plan.of(tally, ANYTHING, Grouping.of_cells(tally, np.array([0, 0, 1]), 2))
        found = score_plan(plan)
        assert found["lm"] == found["gcp"] == pytest.approx(2 / 3 * 10 / 50)
        assert found["iloss"] == pytest.approx(2 / 3 * 10 / 51)
        assert found["discernibility"] == 5
        assert found["average-group-size"] == 1.5

    def test_a_suppressed_record_has_lost_everything(self):
        tally = table((self.city, [0, 3]), (self.age, [0, 2]))
        plan = Plan.of(tally, ANYTHING, Grouping.of_cells(tally, np.array([0, -1]), 1))
        found = score_plan(plan)
        assert found["lm"] == found["gcp"] == found["iloss"] == 0.5
        assert found["precision"] == 0.5
        assert found["suppressed-share"] == 0.5
        assert found["minimal-distortion"] == 3  # s1 to South to *, 70 to its range
        assert found["discernibility"] == 1 + 2

    def test_columns_are_scored_one_by_one(self):
        plan = one_group(table((self.city, [0, 1]), (self.age, [1, 1])))
        metric = all_metrics()["lm"]
        assert isinstance(metric, CellLoss)
        assert metric.column_scores(plan) == {"city": pytest.approx(2 / 3), "age": 0.0}
        assert generalisation_steps(plan) == {"city": (2, 0.5), "age": (0, 0.0)}

    def test_sentences(self):
        for metric in all_metrics().values():
            assert metric.say(0.25).endswith(".")
            whole = {"minimal-distortion", "discernibility", "nonuniform-entropy", "aecs"}
            assert "25" in metric.say(0.25) or metric.name in whole
            assert metric.goal in {"minimise", "maximise"}
            assert metric.title

    def test_a_constant_column_loses_nothing(self):
        constant = Domain("x", Taxonomy.scale(["7"]), np.array([7.0]))
        found = score_plan(one_group(table((constant, [0, 0]))))
        assert (found["lm"], found["gcp"], found["iloss"], found["precision"]) == (0, 0, 0, 1)


@pytest.mark.parametrize("wildcard", [False, True])
def test_a_missing_value_published_as_missing_has_lost_nothing(wildcard):
    """Nothing was known and nothing is said: whichever rule matches missing cells, this costs nothing."""
    tree = Taxonomy.from_nested(["a", "b", "c"]).with_missing("?")
    domain = Domain("x", tree, missing=3, wildcard=wildcard)
    plan = one_group(table((domain, [3, 3])))
    assert plan.labels[0].at(np.array([0], np.int32)).to_list() == [None]
    found = score_plan(plan)
    assert (found["lm"], found["gcp"], found["iloss"]) == (0, 0, 0)
    assert (found["minimal-distortion"], found["precision"]) == (0, 1)


class TestClassification:
    def test_minorities_and_suppressed_records_are_errors(self):
        city = Domain("city", Taxonomy.from_nested(["a", "b", "c"]))
        label = Domain("label", Taxonomy.from_nested(["yes", "no"]), aside=True)
        values, labels = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 0]
        tally = count_cells([np.array(values)], [np.array(labels)], [city], [label])[0]
        plan = Plan.of(tally, ANYTHING, Grouping.of_cells(tally, np.array([0, 0, 1, -1]), 2))
        assert metric_named("classification", "label").score(plan) == pytest.approx(2 / 6)
        assert "classification" not in score_plan(plan)
        assert score_plan(plan, "label")["classification"] == pytest.approx(2 / 6)


def test_a_label_that_only_people_of_the_public_table_have_costs_those_without_a_value_nothing():
    """The logarithm of no records at all was a warning of numpy's on the terminal."""
    people = pl.DataFrame({"age": [5, 5, 5, 9, 9, 9], "town": [1, 1, 1, 2, 2, 2]})
    data = pl.DataFrame({"age": [None, None, None, 9, 9, 9], "town": [1, 1, 1, 2, 2, 2]})
    job = tk.Job(
        quasi={"age": tk.numeric(), "town": tk.numeric()},
        criteria=[tk.KMap(2)],
        missing_rule="wildcard",
        population=people,
    )
    release = job.anonymize(data, seed=1)
    assert sorted(release.table.rows()) == [("5", "1")] * 3 + [("9", "2")] * 3
    assert release.score("nonuniform-entropy") == 0

"""Two-phase specialisation: parts, merged cuts, and the guarantee when the first phase promised too much."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.algorithms.subtree import mr_tds
from tarnkappe.algorithms.subtree.mr_tds import MRTDS, dealt_out, generalised, merged
from tarnkappe.algorithms.subtree.tds import TopDownSpecialization
from tarnkappe.arrays import Codes
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.datasets import load_adult
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.io import open_source
from tarnkappe.job import Job, numeric
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

CITY = Domain("city", Taxonomy.from_nested({"any": {"North": ["n1", "n2"], "South": ["s1", "s2"]}}))
ANY, NORTH, N1, N2, SOUTH, S1, S2 = range(7)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def regions(n: int, seed: int) -> Tally:
    """Three columns of 5 regions with 6 cities, and a label that depends on the first region."""
    chance = rng(seed)
    tree = Taxonomy.from_nested({f"r{r}": [f"c{r}.{c}" for c in range(6)] for r in range(5)})
    quasi = [Domain(name, tree) for name in ("home", "work", "birth")]
    codes = [chance.choice(30, n, p=chance.dirichlet(np.full(30, 3.0))) for _ in quasi]
    label = np.where(chance.random(n) < 0.8, codes[0] // 6 % 2, chance.integers(0, 2, n))
    return count_cells(codes, [label], quasi, [Domain("label", Taxonomy.from_nested(["yes", "no"]))])[0]


class TestMerging:
    def test_the_more_general_node_counts(self):
        node = np.array([[NORTH, NORTH, S1, S2], [N1, N2, S1, S2]], np.int32)
        assert merged(CITY, node, np.ones((2, 4), bool), antichain=True).tolist() == [NORTH, NORTH, S1, S2]

    def test_who_has_no_such_value_has_no_say(self):
        node = np.array([[N1, ANY, ANY, ANY], [N1, N2, SOUTH, SOUTH]], np.int32)
        present = np.array([[True, False, False, False], [True, True, True, True]])
        assert merged(CITY, node, present, antichain=True).tolist() == [N1, N2, SOUTH, SOUTH]

    def test_no_node_above_another_unless_siblings_may_stay(self):
        node = np.array([[N1, NORTH, S1, S2], [N1, N2, S1, S2]], np.int32)
        everywhere = np.ones((2, 4), bool)
        assert merged(CITY, node, everywhere, antichain=True).tolist() == [NORTH, NORTH, S1, S2]
        assert merged(CITY, node, everywhere, antichain=False).tolist() == [N1, NORTH, S1, S2]


@given(tallies(), st.integers(1, 5))
def test_every_record_is_dealt_to_one_part(tally: Tally, n_parts: int):
    parts = dealt_out(tally, n_parts, rng())
    total = np.zeros(tally.n_cells, np.int64)
    for part in parts:
        assert part.tally.count.min() > 0
        total[part.cells] += part.tally.count
    assert np.array_equal(total, tally.count)


def test_an_invalid_cut_goes_up():
    tally = count_cells([np.array([0, 0, 1, 2, 2, 3])], [], [CITY], [])[0]
    leaves = [CITY.taxonomy.leaf_nodes]
    assert generalised(tally, Goal([KAnonymity(1)]), leaves)[0].tolist() == leaves[0].tolist()
    assert generalised(tally, Goal([KAnonymity(2)]), leaves)[0].tolist() == [NORTH, NORTH, SOUTH, SOUTH]
    assert generalised(tally, Goal([KAnonymity(4)]), leaves)[0].tolist() == [ANY] * 4
    with pytest.raises(InfeasibleError):
        generalised(tally, Goal([KAnonymity(7)]), leaves)


@settings(max_examples=examples(60))
@given(
    tallies(n_sensitive=2, wildcards=False),
    goals(know_others=None),
    st.integers(1, 4),
    st.sampled_from(["subtree", "sibling"]),
    st.integers(0, 9),
)
def test_the_guarantee(tally: Tally, goal: Goal, partitions: int, granularity: str, seed: int):
    """With groups in the parts no larger than asked for, the first phase does as much as it can."""
    algorithm = MRTDS("s1", partitions=partitions, intermediate=1, granularity=granularity, attempts=2)
    try:
        found = algorithm.decide(tally, goal, rng=rng(seed))
    except (InfeasibleError, JobError) as error:
        with pytest.raises(type(error)):
            TopDownSpecialization("s1").decide(tally, goal, rng=rng())
        return
    check_grouping("mrtds", tally, goal, found)


@pytest.mark.parametrize("granularity", ["subtree", "sibling"])
def test_the_merged_cut_holds_by_itself(granularity: str, monkeypatch: pytest.MonkeyPatch):
    """Groups of the whole are unions of groups that satisfied a monotone goal in the parts."""
    starts: list[list[Codes]] = []
    monkeypatch.setattr(
        mr_tds, "generalised", lambda tally, goal, nodes: starts.append(nodes) or generalised(tally, goal, nodes)
    )
    tally = regions(6000, 1)
    goal = Goal([KAnonymity(5), LDiversity("label", 2)])
    for seed in range(3):
        MRTDS("label", intermediate=4, granularity=granularity).decide(tally, goal, rng=rng(seed))
        cuts = [Cut.of_nodes(d, node) for d, node in zip(tally.quasi_domains, starts[-1], strict=True)]
        groups = recode(tally, cuts)
        assert groups.n_groups > 1, "the first phase did something"
        assert goal.satisfied(goal.stats(tally, groups, goal.table_distributions(tally))).all()


def information(grouping: Grouping, tally: Tally) -> float:
    """Conditional entropy of the label that is saved, in bits per record."""
    table = np.zeros((grouping.n_groups, 2))
    np.add.at(table, (grouping.group, tally.sensitive[grouping.cell, 0]), grouping.quota)

    def bits(counts: np.ndarray) -> float:
        total = counts.sum(axis=-1, keepdims=True)
        share = np.where(counts > 0, counts / total, 1.0)
        return float(-(counts * np.log2(share)).sum())

    return (bits(table.sum(axis=0)) - bits(table)) / tally.n_records


def test_hardly_worse_than_in_one_phase():
    tally, goal = regions(6000, 2), Goal([KAnonymity(10)])
    one = information(TopDownSpecialization("label").decide(tally, goal, rng=rng()), tally)
    for partitions in (1, 4, 10):
        two = information(MRTDS("label", partitions=partitions).decide(tally, goal, rng=rng()), tally)
        assert two > 0.9 * one


def test_an_unknown_target():
    with pytest.raises(JobError, match="lable"):
        MRTDS("lable").decide(regions(100, 0), Goal([KAnonymity(2)]), rng=rng())


def test_adult(shared: Path):
    frame, taxonomies = load_adult(shared / "data" / "adult")
    quasi = {name: numeric() if name == "age" else taxonomies[name] for name in frame.columns[:-2]}
    job = Job(quasi=quasi, sensitive=["salary-class"], drop="rest", criteria=[KAnonymity(10)])
    source = open_source(frame)
    tally, goal = MemoryEngine().count(source, job.schema(source.columns)), Goal([KAnonymity(10)])
    found = MRTDS("salary-class").decide(tally, goal, rng=rng())
    check_grouping("mrtds", tally, goal, found)
    one = TopDownSpecialization("salary-class").decide(tally, goal, rng=rng())
    loss = [LossMetric().score(Plan.of(tally, goal, g)) for g in (found, one)]
    assert loss[0] < 1.05 * loss[1]

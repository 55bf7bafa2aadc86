"""Bottom-up generalization keeps what tells about the target, and takes back what was in vain."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.subtree.bug import Ascent, BottomUpGeneralization
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)
CITY = Taxonomy.from_nested({"any": {"North": ["n1", "n2"], "South": ["s1", "s2"]}})
JOB = Taxonomy.from_nested({"any": {"Hand": ["cook", "smith"], "Head": ["judge", "clerk"]}})


def tally(cities: list[int], jobs: list[int], label: list[int]) -> Tally:
    domains = [Domain("city", CITY), Domain("job", JOB)]
    target = Domain("label", Taxonomy.from_nested(["yes", "no"]), aside=True)
    return count_cells([np.array(cities), np.array(jobs)], [np.array(label)], domains, [target])[0]


def published(table: Tally, k: int, granularity: str = "subtree", limit: float = 0.0) -> list[set[str]]:
    goal = Goal([KAnonymity(k)], limit)
    grouping = BottomUpGeneralization("label", granularity=granularity).decide(table, goal, rng=RNG)
    check_grouping("bug", table, goal, grouping)
    trees = (CITY, JOB)
    return [{trees[j].labels[v] for v in grouping.fixed.node[:, j]} for j in range(2)]


def test_what_predicts_the_target_is_kept():
    """Every combination occurs once; only the job decides about the label, so the cities go up."""
    cities = [c for c in range(4) for _ in range(4)]
    jobs = list(range(4)) * 4
    assert published(tally(cities, jobs, [j % 2 for j in jobs]), 4) == [{"any"}, {"cook", "smith", "judge", "clerk"}]


def test_siblings_may_stay():
    """There are few cooks and bakers, so they become Hand; the smiths need no company."""
    tree = Taxonomy.from_nested({"any": {"Hand": ["cook", "smith", "baker"], "Head": ["judge", "clerk"]}})
    jobs = [0] * 2 + [1] * 5 + [2] * 3 + [3] * 5
    target = Domain("label", Taxonomy.from_nested(["yes", "no"]), aside=True)
    table = count_cells([np.array(jobs)], [np.array(jobs) % 2], [Domain("job", tree)], [target])[0]
    for granularity, labels in (("subtree", {"Hand", "judge"}), ("sibling", {"Hand", "smith", "judge"})):
        algorithm = BottomUpGeneralization("label", granularity=granularity)
        grouping = algorithm.decide(table, Goal([KAnonymity(4)]), rng=RNG)
        assert {tree.labels[v] for v in grouping.fixed.node[:, 0]} == labels


def test_many_siblings():
    """A numeric column of hundreds of values goes up in one step, or value by value, and is cut again."""
    rng = np.random.default_rng(5)
    values = np.sort(rng.integers(0, 500, 2000))
    domains = [Domain("income", Taxonomy.scale([str(v) for v in range(500)]), np.arange(500.0)), Domain("city", CITY)]
    target = Domain("label", Taxonomy.from_nested(["yes", "no"]), aside=True)
    table = count_cells([values, rng.integers(0, 4, 2000)], [(values > 250).astype(int)], domains, [target])[0]
    goal = Goal([KAnonymity(10)])
    for granularity in ("subtree", "sibling"):
        grouping = BottomUpGeneralization("label", granularity=granularity).decide(table, goal, rng=RNG)
        check_grouping("bug", table, goal, grouping)
        assert grouping.n_groups > 10


def test_deeper_siblings_come_up_first():
    """The rare value waits under the root until the nodes beside it have come up; nothing is told apart better."""
    tree = Taxonomy.from_nested({"any": {"North": ["n1", "n2"], "South": ["s1", "s2"], "abroad": None}})
    target = Domain("label", Taxonomy.from_nested(["yes", "no"]), aside=True)
    cities = np.array([0, 1, 2, 3] * 4 + [4])
    table = count_cells([cities], [cities % 2], [Domain("city", tree)], [target])[0]
    grouping = BottomUpGeneralization("label").decide(table, Goal([KAnonymity(4)]), rng=RNG)
    assert {tree.labels[v] for v in grouping.fixed.node[:, 0]} == {"any"}


def test_steps_in_vain_are_taken_back():
    """No column stays more general than it must: undoing any one parent would violate the goal."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = tally(*(rng.integers(0, 4, 60).tolist() for _ in range(2)), rng.integers(0, 2, 60).tolist())
        goal = Goal([KAnonymity(4)])
        grouping = BottomUpGeneralization("label").decide(table, goal, rng=RNG)
        for j, tree in enumerate((CITY, JOB)):
            for node in np.unique(grouping.fixed.node[:, j]):
                children = np.flatnonzero(tree.parent == node)
                if len(children) == 0:
                    continue
                boxes = grouping.fixed.node[:, j] == node
                at = np.flatnonzero(np.isin(grouping.group, np.flatnonzero(boxes)))
                child = np.searchsorted(tree.lo[children], table.quasi[grouping.cell[at], j], side="right") - 1
                parts = np.bincount(grouping.group[at] * 9 + child, weights=grouping.quota[at])
                assert parts[parts > 0].min() < 4


def test_suppression_saves_steps():
    cities, jobs = [0] * 8 + [3], [0] * 8 + [3]
    assert published(tally(cities, jobs, [0] * 9), 4, limit=0.2) == [{"n1"}, {"cook"}]


def test_other_goals():
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, 4, 80) for _ in range(2)]
    secret = Domain("ill", Taxonomy.from_nested(["a", "b", "c"]))
    target = Domain("label", Taxonomy.from_nested(["yes", "no"]), aside=True)
    columns = [rng.integers(0, 3, 80), rng.integers(0, 2, 80)]
    table = count_cells(codes, columns, [Domain("city", CITY), Domain("job", JOB)], [secret, target])[0]
    goal = Goal([KAnonymity(3), LDiversity("ill", 3)], 0.05)
    for granularity in ("subtree", "sibling"):
        grouping = BottomUpGeneralization("label", granularity=granularity).decide(table, goal, rng=RNG)
        check_grouping("bug", table, goal, grouping)
        assert grouping.n_groups > 1


def test_what_cannot_be_done():
    table = tally([0, 1], [0, 1], [0, 1])
    with pytest.raises(InfeasibleError):
        BottomUpGeneralization("label").decide(table, Goal([KAnonymity(3)]), rng=RNG)
    with pytest.raises(JobError, match="needs the target 'lable'"):
        BottomUpGeneralization("lable").decide(table, Goal([KAnonymity(2)]), rng=RNG)


@pytest.mark.parametrize("name", ["bug", "mrbug"])
def test_many_siblings_do_not_go_up_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch):
    """Two flat columns of 400 values took 800 steps, each of which looks at all values and all groups."""
    steps = []
    once = Ascent.generalise
    monkeypatch.setattr(Ascent, "generalise", lambda self: steps.append(1) or once(self))
    rng = np.random.default_rng(0)
    values = [f"v{i}" for i in range(400)]
    domains = [Domain(n, Taxonomy.from_nested(values)) for n in "ab"]
    secret = Domain("y", Taxonomy.from_nested(["0", "1"]))
    codes = [rng.integers(0, 400, 500) for _ in domains]
    tally, _ = count_cells(codes, [rng.integers(0, 2, 500)], domains, [secret])
    goal = Goal([KAnonymity(5)])
    grouping = algorithm_class(name)(target="y", granularity="sibling").decide(tally, goal, rng=rng)
    assert Plan.of(tally, goal, grouping).n_published == 500
    assert len(steps) < 300

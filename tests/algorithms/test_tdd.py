"""Top-down disclosure publishes single values by name, and only those that the goal allows."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.algorithms.subtree.tdd import TopDownDisclosure
from tarnkappe.criteria.confidence_bounding import ConfidenceBounding
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.xy_linkability import XYLinkability
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)
JOB = Taxonomy.from_nested({"any job": {"Hand": ["cook", "smith"], "Head": ["judge", "clerk"]}})
CITY = Taxonomy.from_nested({"any city": ["Bonn", "Ulm"]})
ILL = Domain("ill", Taxonomy.from_nested(["flu", "hiv"]))
TARGET = Domain("label", Taxonomy.from_nested(["yes", "no"]), aside=True)


def tally(jobs: list[int], cities: list[int], ill: list[int], label: list[int]) -> Tally:
    columns = [np.array(jobs), np.array(cities)], [np.array(ill), np.array(label)]
    return count_cells(*columns, [Domain("job", JOB), Domain("city", CITY)], [ILL, TARGET])[0]


def labels(grouping: Grouping, j: int, tree: Taxonomy) -> set[str]:
    return {tree.labels[v] for v in grouping.fixed.node[:, j]}


def test_a_rare_value_is_suppressed_everywhere():
    """Six cooks, six judges and one smith: the smith hides, but with whom? Nobody else may say so either."""
    table = tally([0] * 6 + [2] * 6 + [1], [0] * 13, [0] * 13, [0] * 6 + [1] * 7)
    goal = Goal([KAnonymity(5)], 0.1)
    grouping = TopDownDisclosure("label").decide(table, goal, rng=RNG)
    check_grouping("tdd", table, goal, grouping)
    assert labels(grouping, 0, JOB) == {"cook", "judge"}
    assert grouping.suppressed == 1
    strict = TopDownDisclosure("label").decide(table, Goal([KAnonymity(5)]), rng=RNG)
    assert labels(strict, 0, JOB) in ({"cook", "any job"}, {"judge", "any job"})


def test_no_taxonomy_is_used():
    table = tally([0, 1] * 4 + [2, 3] * 4, [0] * 16, [0] * 16, [0] * 8 + [1] * 8)
    grouping = TopDownDisclosure("label").decide(table, Goal([KAnonymity(8)]), rng=RNG)
    assert labels(grouping, 0, JOB) & {"Hand", "Head"} == set()


def test_a_template():
    """Nobody may be more than half sure of HIV: the city that gives it away is not disclosed, the job is."""
    jobs, cities = [0, 2] * 8, [0] * 8 + [1] * 8
    ill = [1] * 6 + [0] * 10
    goal = Goal([ConfidenceBounding("ill", {"hiv": 0.5})])
    table = tally(jobs, cities, ill, [j // 2 for j in jobs])
    grouping = TopDownDisclosure("label").decide(table, goal, rng=RNG)
    check_grouping("tdd", table, goal, grouping)
    assert labels(grouping, 1, CITY) == {"any city"}
    assert labels(grouping, 0, JOB) == {"cook", "judge"}


def test_a_template_over_some_columns():
    """The city alone must not give HIV away; together with the job it may."""
    jobs, cities = [0, 0, 2, 2] * 4, [0, 1] * 8
    ill = [1 if job == 0 and city == 0 else 0 for job, city in zip(jobs, cities, strict=True)]
    label = [j // 2 for j in jobs]
    table = tally(jobs, cities, ill, label)
    loose = Goal([XYLinkability("ill", 0.5, "hiv", ("city",))])
    grouping = TopDownDisclosure("label").decide(table, loose, rng=RNG)
    assert labels(grouping, 0, JOB) == {"cook", "judge"}
    assert labels(grouping, 1, CITY) == {"Bonn", "Ulm"}
    strict = Goal([XYLinkability("ill", 0.5, "hiv", ("city", "job"))])
    grouping = TopDownDisclosure("label").decide(table, strict, rng=RNG)
    assert labels(grouping, 0, JOB) | labels(grouping, 1, CITY) > {"cook"} or labels(grouping, 0, JOB) == {"any job"}
    check_grouping("tdd", table, strict, grouping)


def test_what_cannot_be_done():
    with pytest.raises(InfeasibleError):
        TopDownDisclosure("label").decide(tally([0], [0], [0], [0]), Goal([KAnonymity(2)]), rng=RNG)

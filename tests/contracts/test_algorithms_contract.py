"""Every registered algorithm obeys the laws of `tarnkappe.testing` for every kind of goal."""

from __future__ import annotations

import pytest
import representatives

from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.goal import Goal
from tarnkappe.testing import check_algorithm

ALGORITHMS = representatives.algorithms()

GOALS = {
    "k=1": Goal([KAnonymity(1)]),
    "k=2": Goal([KAnonymity(2)]),
    "k=5": Goal([KAnonymity(5)]),
    "k=5, 10 % suppressed": Goal([KAnonymity(5)], 0.1),
    "k=5, all may be suppressed": Goal([KAnonymity(5)], 1.0),
    "k=40": Goal([KAnonymity(40)]),
    "two k": Goal([KAnonymity(3), KAnonymity(7)]),
    "l=3": Goal([LDiversity("disease", 3)]),
    "k=4, l=3": Goal([KAnonymity(4), LDiversity("disease", 3)], 0.02),
    "entropy l=2.2": Goal([KAnonymity(4), EntropyLDiversity("disease", 2.2)], 0.05),
    "recursive (2, 2)": Goal([KAnonymity(4), RecursiveCLDiversity("disease", 2.0, 2)]),
    "recursive (3, 3)": Goal([RecursiveCLDiversity("disease", 3.0, 3)], 0.1),
    "frequency l=2": Goal([FrequencyLDiversity("disease", 2)]),
    "frequency l=2.5": Goal([KAnonymity(3), FrequencyLDiversity("disease", 2.5)], 0.1),
    "equal t=0.3": Goal([TCloseness("disease", 0.3)]),
    "k=3, equal t=0.2": Goal([KAnonymity(3), TCloseness("disease", 0.2)], 0.3),
    "k=5, ordered t=0.15": Goal([KAnonymity(5), TCloseness("disease", 0.15, "ordered")]),
    "k=5, hierarchical t=0.25": Goal([KAnonymity(5), TCloseness("disease", 0.25, "hierarchical")], 0.05),
    "k, l and t": Goal([KAnonymity(5), LDiversity("disease", 3), TCloseness("disease", 0.3)], 0.01),
    "two columns": Goal([KAnonymity(4), LDiversity("disease", 3), FrequencyLDiversity("income", 2)]),
    "two columns, t": Goal([TCloseness("disease", 0.3), TCloseness("income", 0.2, "ordered")], 0.1),
    "l, others known": Goal([KAnonymity(4), LDiversity("disease", 2, know_others=True)], 0.2),
    "both, others known": Goal(
        [FrequencyLDiversity("disease", 1.5, know_others=True), EntropyLDiversity("income", 1.5, know_others=True)]
    ),
    "t, others known": Goal([TCloseness("disease", 0.6, know_others=True)], 0.1),
}


def test_every_registered_algorithm_is_checked():
    assert {a.name for a in ALGORITHMS} == set(all_algorithms())
    assert len(all_algorithms()) >= 2


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_laws(algorithm: Algorithm, goal: Goal):
    check_algorithm(algorithm, goal)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 600, 100))
@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_laws_on_many_tables(algorithm: Algorithm, goal: Goal, seed: int):
    check_algorithm(algorithm, goal, seed=seed, tables=50)


@pytest.mark.parametrize("cls", all_algorithms().values(), ids=str)
def test_explains_itself(cls: type[Algorithm]):
    assert cls.__doc__
    assert "References" in cls.__doc__
    assert cls.title
    assert cls.summary.endswith(".")
    assert cls.__module__.startswith("tarnkappe.algorithms." + cls.scheme.replace("-", ""))

"""Every registered algorithm obeys the laws of `tarnkappe.testing` for every kind of goal."""

from __future__ import annotations

import pytest
import representatives
from goals import GOALS, SOME_GOALS

from grids import fewer, grid, in_turn
from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.goal import Goal
from tarnkappe.testing import check_algorithm

#: Every algorithm with its defaults, and with one parameter changed at a time.
USUAL, CHANGED = representatives.algorithms()


def recoding(algorithms: list[Algorithm]) -> list[Algorithm]:
    """Those that `test_microaggregation_contract` does not check, which runs beside this file."""
    return [a for a in algorithms if a.scheme != "microaggregation"]


def test_every_registered_algorithm_is_checked():
    assert {a.name for a in USUAL} == set(all_algorithms())
    assert len(all_algorithms()) >= 2


@pytest.mark.parametrize(("algorithm", "goal"), grid(recoding(USUAL), GOALS.values(), list(GOALS)))
def test_laws(algorithm: Algorithm, goal: Goal):
    check_algorithm(algorithm, goal, tables=2)


@pytest.mark.parametrize(("algorithm", "goal"), fewer(grid(recoding(CHANGED), SOME_GOALS), every=4))
def test_laws_with_other_parameters(algorithm: Algorithm, goal: str):
    check_algorithm(algorithm, GOALS[goal], tables=2)


@pytest.mark.full
@pytest.mark.parametrize(
    ("algorithm", "goal", "seed"), in_turn([*USUAL, *CHANGED, *USUAL], GOALS, range(100, 600, 100))
)
def test_laws_on_many_tables(algorithm: Algorithm, goal: str, seed: int):
    check_algorithm(algorithm, GOALS[goal], seed=seed, tables=20)


@pytest.mark.parametrize("cls", all_algorithms().values(), ids=str)
def test_explains_itself(cls: type[Algorithm]):
    assert cls.__doc__
    assert "References" in cls.__doc__
    assert cls.title
    assert cls.summary.endswith(".")
    assert cls.__module__.startswith("tarnkappe.algorithms." + cls.scheme.replace("-", ""))

"""Microaggregation obeys the laws of `tarnkappe.testing`.

What happens beyond the size of groups is the same for all methods, so most of them are checked with few goals here, and
with all of them in the full suite.
"""

from __future__ import annotations

import pytest
import representatives
from goals import GOALS, SOME_GOALS

from grids import fewer, grid
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.testing import check_algorithm

USUAL, CHANGED = ([a for a in found if a.scheme == "microaggregation"] for found in representatives.algorithms())

#: Methods that go their own way, or the default, and so are checked with all goals.
WITH_ALL_GOALS = {"tarn", "mdav", "individual-sorting", "secure-k-ward"}
FEW_GOALS = (*SOME_GOALS, "k=1", "k=40", "two columns", "t, others known", "LKC")


@pytest.mark.parametrize(
    ("algorithm", "goal"),
    [
        *grid([a for a in USUAL if a.name in WITH_ALL_GOALS], GOALS),
        *grid([a for a in USUAL if a.name not in WITH_ALL_GOALS], FEW_GOALS, every=4),
    ],
)
def test_laws(algorithm: Algorithm, goal: str):
    check_algorithm(algorithm, GOALS[goal], tables=2)


@pytest.mark.parametrize(("algorithm", "goal"), fewer(grid(CHANGED, SOME_GOALS), every=4))
def test_laws_with_other_parameters(algorithm: Algorithm, goal: str):
    check_algorithm(algorithm, GOALS[goal], tables=2)

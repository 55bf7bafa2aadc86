"""Criteria that single groups decide: what is written keeps each of them, and who cannot keep one says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checker import run_and_check
from whole_jobs import GROUP_CRITERIA, algorithm_variants, guarded_hospital, usual_algorithms

from grids import grid, in_turn
from tarnkappe import KAnonymity, LDiversity, Mondrian, run_job
from tarnkappe.algorithms import Algorithm
from tarnkappe.criteria.base import Criterion
from tarnkappe.errors import JobError

ALGORITHMS = algorithm_variants(target="note")
USUAL = usual_algorithms(target="note")

NON_MONOTONE = {name: c for name, c in GROUP_CRITERIA.items() if not c.is_monotone}


@pytest.mark.parametrize(("algorithm", "name"), grid(USUAL, GROUP_CRITERIA))
def test_written_release_keeps_it(algorithm: Algorithm, name: str):
    """Or the algorithm refuses it: `run_and_check` expects that of those that cannot do it."""
    case = guarded_hospital((GROUP_CRITERIA[name],), algorithm, limit=0.1)
    written = run_and_check(case)
    assert (written is None) == case.refused


@pytest.mark.full
@pytest.mark.parametrize(("algorithm", "name"), in_turn(ALGORITHMS * 3, GROUP_CRITERIA))
def test_together_with_the_classics(algorithm: Algorithm, name: str):
    goal = (KAnonymity(3), LDiversity("illness", 2), GROUP_CRITERIA[name])
    case = guarded_hospital(goal, algorithm, limit=0.2, seed=5, n=200)
    written = run_and_check(case)
    assert (written is None) == case.refused


def test_some_are_not_monotone():
    assert {c.name for c in NON_MONOTONE.values()} == {
        "epsilon-m-anonymity",
        "delta-disclosure",
        "personalized-privacy",
    }


@pytest.mark.parametrize("name", NON_MONOTONE)
def test_mondrian_refuses_what_pooling_can_break(name: str, tmp_path: Path):
    criterion: Criterion = NON_MONOTONE[name]
    case = guarded_hospital((KAnonymity(2), criterion), Mondrian())
    with pytest.raises(
        JobError, match=rf"E111 mondrian cannot guarantee {re.escape(criterion.name)}: pooling"
    ) as error:
        run_job(case.job(), case.write(tmp_path), tmp_path / "release")
    assert error.value.hint
    assert not (tmp_path / "release").exists()

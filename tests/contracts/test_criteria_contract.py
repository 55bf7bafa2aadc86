"""Every registered criterion obeys the laws of `tarnkappe.testing`."""

from __future__ import annotations

import pytest
import representatives

from grids import in_turn, one_of_each
from tarnkappe.criteria import all_criteria
from tarnkappe.criteria.base import Criterion
from tarnkappe.testing import check_criterion

USUAL, COMBINED = representatives.criteria()


def test_every_registered_criterion_is_checked():
    assert {c.name for c in USUAL} == set(all_criteria())
    assert len(all_criteria()) >= 6


@pytest.mark.parametrize("criterion", one_of_each(USUAL))
def test_laws(criterion: Criterion):
    check_criterion(criterion)


@pytest.mark.full
@pytest.mark.parametrize("criterion", COMBINED, ids=str)
def test_laws_of_all_combinations(criterion: Criterion):
    check_criterion(criterion)


@pytest.mark.full
@pytest.mark.parametrize(("criterion", "seed"), in_turn([*USUAL, *COMBINED], range(1, 6)))
def test_laws_on_many_tables(criterion: Criterion, seed: int):
    check_criterion(criterion, seed=seed, merges=20_000)


@pytest.mark.parametrize("cls", all_criteria().values(), ids=str)
def test_explains_itself(cls: type[Criterion]):
    assert cls.__doc__
    assert "References" in cls.__doc__
    assert cls.title
    card = cls.card
    for sentence in (card.protects_from, card.does_not, card.typical, card.cost):
        assert sentence.endswith(".")

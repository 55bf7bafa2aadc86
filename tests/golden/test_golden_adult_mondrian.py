"""Mondrian on Adult reaches the loss of a well-made implementation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.goal import Goal
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

EDUCATION = [
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"),
    *("HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
]
QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")

#: Mean width of strict cuts per k, measured with independent code.
STRICT = {2: 0.0136, 5: 0.0420, 10: 0.0734, 25: 0.1341, 50: 0.2116, 100: 0.3071}


@pytest.fixture(scope="session")
def ordered_codes(adult) -> Tally:
    """All columns as ordered codes: ages by value, education by years, the others as they first appear."""
    codes, domains = [], []
    for column in QUASI:
        series = adult.frame[column]
        order = list(series.unique(maintain_order=True))
        values = None
        if column == "age":
            order = sorted(order, key=int)
            values = np.array(order, np.float64)
        elif column == "education":
            order = EDUCATION
        number = {value: code for code, value in enumerate(order)}
        codes.append(series.replace_strict(number, return_dtype=pl.Int32).to_numpy())
        domains.append(Domain(column, Taxonomy.scale(order), values))
    return count_cells(codes, [], domains, [])[0]


def loss(tally: Tally, k: int, cut: str) -> float:
    """The mean share of its column that a cell covers."""
    goal = Goal([KAnonymity(k)])
    grouping = Mondrian(cut).decide(tally, goal, rng=np.random.default_rng(0))
    boxes = grouping.boxes(tally)
    size = np.bincount(grouping.group, weights=grouping.quota)
    assert size.min() >= k
    assert size.sum() == tally.n_records == 30_162
    widths = [
        d.widths(boxes.lo[:, j], boxes.hi[:, j], boxes.node[:, j]) @ size / tally.n_records
        for j, d in enumerate(tally.quasi_domains)
    ]
    mean = float(np.mean(widths))
    assert LossMetric().score(Plan.of(tally, goal, grouping)) == pytest.approx(mean, rel=1e-9)
    return mean


@pytest.mark.parametrize("k", STRICT)
def test_strict_cuts_lose_no_more_than_they_should(k, ordered_codes):
    assert loss(ordered_codes, k, "strict") <= 1.02 * STRICT[k]


@pytest.mark.parametrize("k", STRICT)
def test_relaxed_cuts_lose_more(k, ordered_codes):
    """They go through ties, and both halves keep the value."""
    assert loss(ordered_codes, k, "relaxed") > loss(ordered_codes, k, "strict")


def test_loss_grows_with_k(ordered_codes):
    losses = [loss(ordered_codes, k, "strict") for k in STRICT]
    assert losses == sorted(losses)

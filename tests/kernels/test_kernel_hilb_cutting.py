"""Cuts of a line against all ways to cut it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import tallies
from tarnkappe.algorithms.local import line as line_module
from tarnkappe.algorithms.local.line import _places
from tarnkappe.algorithms.steps.units import ruler_of
from tarnkappe.kernels.local.hilb_cutting import cut_line
from tarnkappe.kernels.widths import box_widths
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy


def cost(ruler, lo, hi, starts, begins) -> float:
    """Records times width over all groups."""
    total = 0.0
    for a, b in zip(begins, [*begins[1:], int(starts[-1])], strict=True):
        first, last = np.searchsorted(starts, [a, b - 1], side="right") - 1
        box = lo[first : last + 1].min(axis=0, keepdims=True), hi[first : last + 1].max(axis=0, keepdims=True)
        total += (b - a) * float(box_widths(ruler, *box)[0])
    return total


def cheapest(ruler, lo, hi, starts, smallest) -> float:
    """The least cost of all ways to cut the line into groups of at least the smallest size."""
    n = int(starts[-1])
    best = np.inf
    for cuts in range(n // smallest):
        for inner in combinations(range(1, n), cuts):
            begins = [0, *inner]
            if min(np.diff([*begins, n])) >= smallest:
                best = min(best, cost(ruler, lo, hi, starts, begins))
    return best


@given(tallies(max_records=11, wildcards=False), st.integers(1, 4))
@settings(max_examples=examples(80))
def test_no_cuts_are_cheaper(tally, smallest):
    if tally.n_records < smallest:
        return
    ruler, rows = ruler_of(tally.quasi_domains), tally.quasi.copy()
    starts = np.concatenate([[0], np.cumsum(tally.count)])
    begins = cut_line(ruler, rows, rows, starts, np.arange(tally.n_records + 1), smallest)
    sizes = np.diff([*begins, tally.n_records])
    assert begins[0] == 0
    assert sizes.min() >= smallest
    first, last = (np.searchsorted(starts, at, side="right") for at in (begins, begins + sizes - 1))
    assert np.all((sizes < 2 * smallest) | (first == last))  # only equal records may be a larger group
    found = cost(ruler, rows, rows, starts, begins.tolist())
    assert found == pytest.approx(cheapest(ruler, rows, rows, starts, smallest), abs=1e-9)


@given(tallies(max_records=300, wildcards=False), st.integers(1, 6))
@settings(max_examples=examples(60))
def test_the_middle_of_long_runs_need_not_be_tried(tally, smallest):
    if tally.n_records < smallest:
        return
    ruler, rows = ruler_of(tally.quasi_domains), tally.quasi.copy()
    starts = np.concatenate([[0], np.cumsum(tally.count)])
    everywhere = cut_line(ruler, rows, rows, starts, np.arange(tally.n_records + 1), smallest)
    places = _places(starts, smallest)
    near = cut_line(ruler, rows, rows, starts, places, smallest)
    assert np.all(np.diff(places) > 0)
    assert (places[0], places[-1]) == (0, tally.n_records)
    assert cost(ruler, rows, rows, starts, near) == pytest.approx(cost(ruler, rows, rows, starts, everywhere), abs=1e-9)


@given(tallies(max_records=300), st.integers(1, 40))
@settings(max_examples=examples(60))
def test_the_likeliest_places_always_suffice(tally, smallest):
    """Where there is no time for all places, groups are still large enough and not far from twice that."""
    if tally.n_records < smallest:
        return
    ruler, rows = ruler_of(tally.quasi_domains), tally.quasi.copy()
    starts = np.concatenate([[0], np.cumsum(tally.count)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_module, "_EXACT_PAIRS", 0)
        begins = cut_line(ruler, rows, rows, starts, _places(starts, smallest), smallest)
    assert np.diff([*begins, tally.n_records]).min() >= smallest


def test_items_that_cannot_be_divided():
    """Groups of 3, 3 and 5 records for a smallest size of 4: the first two are pooled."""
    boxes = np.array([[0], [1], [9]], np.int32)
    ruler = ruler_of([Domain("x", Taxonomy.scale([str(i) for i in range(10)]))])
    starts = np.array([0, 3, 6, 11])
    assert cut_line(ruler, boxes, boxes, starts, starts, 4).tolist() == [0, 6]

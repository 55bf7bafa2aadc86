"""Groups dissolved into others of the kind: no value becomes too frequent, and the loss falls; and centres."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import tallies
from tarnkappe.algorithms.steps.units import ruler_of
from tarnkappe.kernels.boxes import group_boxes
from tarnkappe.kernels.local.dissolving import dissolve_groups
from tarnkappe.kernels.local.hilb_centres import farthest_first, nearest_centre
from tarnkappe.kernels.local.neighbours import Groups, Near, Pieces
from tarnkappe.kernels.widths import box_widths
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

SCALE = Domain("x", Taxonomy.scale([str(i) for i in range(11)]))


def measured(ruler, rows, group, n, quota):
    lo, hi = group_boxes(rows, np.arange(len(rows), dtype=np.int32), group.astype(np.int32), n, ruler.wild)
    return lo, hi, np.bincount(group, quota, n).astype(np.int64), box_widths(ruler, lo, hi)


def dissolve_eligible(ruler, rows, value, quota, group, lo, hi, size, total, order, least) -> None:
    line = np.arange(len(rows), dtype=np.int32)[None]
    pieces = Pieces(rows, quota, value[:, None], np.array([least]), 1)
    dissolve_groups(ruler, Near(line, line, len(rows)), pieces, Groups(group, lo, hi, size, total), order, 1 << 40)


@given(tallies(max_records=60), st.integers(1, 3), st.integers(1, 8), st.integers(0, 99))
@settings(max_examples=examples(150))
def test_no_value_becomes_too_frequent(tally, least, n, seed):
    ruler, rows, value = ruler_of(tally.quasi_domains), tally.quasi.copy(), tally.sensitive[:, 0].copy()
    group = np.random.default_rng(seed).integers(0, n, len(rows))
    lo, hi, size, total = measured(ruler, rows, group, n, tally.count)
    before = size @ total
    was_eligible = {g for g in range(n) if eligible(value, tally.count, group == g, least)}
    after = group.copy()
    order = np.argsort(-size * total, kind="stable")
    dissolve_eligible(ruler, rows, value, tally.count, after, lo, hi, size, total, order[size[order] > 0], least)
    again = measured(ruler, rows, after, n, tally.count)
    assert np.array_equal(size, again[2])
    assert np.allclose(total[size > 0], again[3][size > 0])
    assert np.array_equal(lo[size > 0], again[0][size > 0])
    assert size @ total <= before + 1e-9
    assert all(eligible(value, tally.count, after == g, least) for g in was_eligible)


def eligible(value, count, chosen, least) -> bool:
    counts = np.bincount(value[chosen], count[chosen], 1)
    return bool(counts.max() * least <= counts.sum())


def test_a_record_goes_to_the_nearest_group_that_lacks_its_value():
    """0 1 | 9 10 | 2 8: of the last group, 2 has the value of 1, so both go where they fit."""
    rows = np.array([[0], [1], [9], [10], [2], [8]], np.int32)
    value = np.array([0, 1, 0, 1, 2, 3], np.int32)
    ruler, quota = ruler_of([SCALE]), np.ones(6, np.int64)
    group = np.array([0, 0, 1, 1, 2, 2])
    given_groups = measured(ruler, rows, group, 3, quota)
    dissolve_eligible(ruler, rows, value, quota, group, *given_groups, np.array([2]), 2)
    assert group.tolist() == [0, 0, 1, 1, 0, 1]
    value[4] = 1  # now the lower group has its value already, and the other is too far away
    group = np.array([0, 0, 1, 1, 2, 2])
    dissolve_eligible(ruler, rows, value, quota, group, *measured(ruler, rows, group, 3, quota), np.array([2]), 2)
    assert group.tolist() == [0, 0, 1, 1, 2, 2]


@given(tallies(max_records=40), st.integers(1, 9))
@settings(max_examples=examples(60))
def test_centres_are_spread_and_the_nearest_is_found(tally, n_centres):
    ruler, rows = ruler_of(tally.quasi_domains), tally.quasi.copy()

    def distance(a: np.ndarray, b: np.ndarray) -> float:
        known = (a != ruler.wild) & (b != ruler.wild)
        lo, hi = np.where(known, np.minimum(a, b), 0), np.where(known, np.maximum(a, b), 0)
        return float(box_widths(ruler, lo[None].astype(np.int32), hi[None].astype(np.int32))[0])

    chosen = farthest_first(ruler, rows, n_centres)
    assert chosen[0] == 0
    for c in range(1, len(chosen)):
        near = [min(distance(row, rows[x]) for x in chosen[:c]) for row in rows]
        assert near[chosen[c]] == max(near) > 0
    nearest, away = np.empty(len(rows), np.int64), np.empty(len(rows))
    nearest_centre(ruler, rows, rows[chosen], nearest, away, 0, len(rows))
    for i, row in enumerate(rows):
        distances = [distance(row, rows[x]) for x in chosen]
        assert away[i] == min(distances)
        assert nearest[i] == distances.index(min(distances))

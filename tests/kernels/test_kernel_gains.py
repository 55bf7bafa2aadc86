"""The gains of cuts against plain Python."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.kernels.multidimensional.gains import find_gains
from tarnkappe.kernels.multidimensional.segments import scratch

WILD = 5
NO_TREE = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)


def information(labels: list[int]) -> float:
    """Records times entropy in bits."""
    n = len(labels)
    return -sum(c * math.log2(c / n) for c in Counter(labels).values())


def deviation(labels: list[int]) -> float:
    """Sum of squared deviations from the mean; missing ones (label 0) do not count."""
    y = [float(v * v) for v in labels if v]
    return sum((v - sum(y) / len(y)) ** 2 for v in y) if y else 0.0


@st.composite
def segments(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes, labels and records of some pieces."""
    n = draw(st.integers(1, 12))
    arrays = [draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)) for _ in range(2)]
    quota = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return np.array(arrays[0], np.int32), np.array(arrays[1], np.int32) % 4, np.array(quota, np.int64)


@given(segments(), st.sampled_from([-1, WILD]), st.booleans())
@settings(deadline=None)
def test_all_cuts_and_their_gains(piece, wild, regression):
    code, target, quota = piece
    known = code[code != wild]
    if not len(known):
        return
    y = np.array([0.0, 1.0, 4.0, 9.0])
    moments = np.column_stack([y > 0, y, y * y]).astype(np.float64) if regression else np.zeros((4, 0))
    lo, hi = known.min(keepdims=True)[None].astype(np.int32), known.max(keepdims=True)[None].astype(np.int32)
    room = 12
    found, left = np.empty(room, np.int32), np.zeros(room, np.int64)
    gain, torn = np.zeros(room), np.zeros(room, np.bool_)
    starts, bounds = np.array([0, len(code)]), np.array([0, room])
    given_arrays = (code[:, None], quota, starts, np.array([0]), 0, lo, hi, *NO_TREE, -1, wild, target, moments)
    segment = scratch(starts, np.array([0]))
    find_gains(*given_arrays, bounds, found, left, gain, torn, *segment, 0, 1)
    cuts = sorted(set(known.tolist()))[1:]
    assert found[: len(cuts)].tolist() == cuts
    assert np.all(found[len(cuts) :] == -1)
    measure = deviation if regression else information
    for at, cut in enumerate(cuts):
        sides: list[list[int]] = [[], []]
        for c, t, records in zip(code.tolist(), target.tolist(), quota.tolist(), strict=True):
            sides[c != wild and c >= cut] += [t] * records
        assert left[at] == len(sides[0])
        expected = measure(sides[0] + sides[1]) - measure(sides[0]) - measure(sides[1])
        assert gain[at] == pytest.approx(expected, abs=1e-9)
        assert not torn[at]

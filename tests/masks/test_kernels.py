"""The kernels of masks against plain code, and against what must be so."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.kernels.masks.spelling import write_tokens
from tarnkappe.kernels.masks.swapping import swap_at_distance, swap_between, swap_in_window


def plain_window(n: int, window: int, lot: np.ndarray) -> list[int]:
    partner, taken = list(range(n)), set()
    for i in range(n):
        free = [j for j in range(i + 1, min(i + window, n - 1) + 1) if j not in taken]
        if i in taken or not free:
            continue
        j = free[int(lot[i] * len(free))]
        partner[i], partner[j] = j, i
        taken |= {i, j}
    return partner


def plain_distance(n: int, distance: np.ndarray) -> list[int]:
    partner, gone = list(range(n)), set()
    for i in range(n):
        if i in gone:
            continue
        place = min(i + distance[i], n - 1)
        up = next((j for j in range(place, n) if j not in gone), None)
        down = next((j for j in range(place, i, -1) if j not in gone), None)
        j = up
        if down is not None and (up is None or place - down < up - place):
            j = down
        gone.add(i)
        if j is None or j <= i:
            continue
        partner[i], partner[j] = j, i
        gone.add(j)
    return partner


@pytest.mark.parametrize("seed", range(30))
def test_ranks_are_exchanged_as_plain_code_does(seed: int):
    rng = np.random.default_rng(seed)
    n, window = int(rng.integers(1, 60)), int(rng.integers(1, 20))
    lot = rng.random(n)
    bounded = swap_in_window(n, window, lot)
    assert bounded.tolist() == plain_window(n, window, lot)
    assert (bounded[bounded] == np.arange(n)).all()
    assert np.abs(bounded - np.arange(n)).max(initial=0) <= window
    far = rng.geometric(2 / (window + 1), n)
    light = swap_at_distance(n, far)
    assert light.tolist() == plain_distance(n, far)
    assert (light[light] == np.arange(n)).all()


@pytest.mark.parametrize("seed", range(10))
def test_regions_are_exchanged_in_pairs_of_one_class(seed: int):
    rng = np.random.default_rng(seed)
    n = 200
    kind, region = np.sort(rng.integers(0, 8, n)), rng.integers(0, 3, n).astype(np.int32)
    order = np.lexsort((rng.random(n), kind))
    starts = np.searchsorted(kind, np.arange(9)).astype(np.int64)
    pairs = rng.integers(0, 8, 8)
    partner = swap_between(order, starts, region, pairs, 1000)
    moved = np.flatnonzero(partner != np.arange(n))
    assert (partner[partner] == np.arange(n)).all()
    assert (kind[partner] == kind).all()
    assert (region[partner[moved]] != region[moved]).all()
    assert (np.bincount(kind[moved], minlength=8) <= 2 * pairs).all()
    assert len(moved) > 0


def test_tokens_are_written_from_the_lowest_bits_on():
    letters = np.frombuffer(b"0123456789abcdefghjkmnpqrstvwxyz", np.uint8)
    words = np.random.default_rng(3).integers(0, 1 << 32, (50, 8), dtype=np.uint32)
    made = np.empty((50, 16), np.uint8)
    write_tokens(words, letters, made)
    for row, found in zip(words.tolist(), made, strict=True):
        halves = [(row[0] << 32) | row[1], (row[2] << 32) | row[3]]
        assert found.tolist() == [letters[(half >> (5 * k)) & 31] for half in halves for k in range(8)]

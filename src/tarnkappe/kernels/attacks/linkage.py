"""Who could be behind which rows: points in boxes, by brute force."""

from __future__ import annotations

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import helper, kernel


@helper
def _covers(lo: Codes, hi: Codes, box: int, codes: Codes, point: int) -> bool:
    """Whether a point lies in a box; given up at the first side that does not fit."""
    for j in range(lo.shape[1]):
        c = codes[point, j]
        if c < lo[box, j] or c > hi[box, j]:
            return False
    return True


@kernel
def count_covering(lo: Codes, hi: Codes, weight: Counts, codes: Codes, begin: int, end: int, out: Counts) -> None:
    """For the points ``begin .. end``, the weight of all boxes that they lie in."""
    n_boxes = lo.shape[0]
    for i in range(begin, end):
        total = 0
        for b in range(n_boxes):
            if _covers(lo, hi, b, codes, i):
                total += weight[b]
        out[i] = total


@kernel
def list_covering(lo: Codes, hi: Codes, codes: Codes, begin: int, end: int, start: Counts, out: Counts) -> None:
    """For the points ``begin .. end``, the boxes that they lie in: those of point i from ``out[start[i]]`` on."""
    n_boxes = lo.shape[0]
    for i in range(begin, end):
        at = start[i]
        for b in range(n_boxes):
            if _covers(lo, hi, b, codes, i):
                out[at] = b
                at += 1


@kernel
def count_inside(lo: Codes, hi: Codes, codes: Codes, weight: Counts, begin: int, end: int, out: Counts) -> None:
    """For the boxes ``begin .. end``, the weight of all points that lie in them."""
    n_points = codes.shape[0]
    for b in range(begin, end):
        total = 0
        for i in range(n_points):
            if _covers(lo, hi, b, codes, i):
                total += weight[i]
        out[b] = total


@kernel
def overlapping_pairs(
    lo: Codes,
    hi: Codes,
    start: Counts,
    other_lo: Codes,
    other_hi: Codes,
    other_start: Counts,
    weight: Counts,
    begin: int,
    end: int,
    out: Counts,
) -> None:
    """For the things ``begin .. end``, each of the boxes from ``start[i]`` on, the weight of others that they meet."""
    n_others, n_columns = weight.size, lo.shape[1]
    for i in range(begin, end):
        total = 0
        for o in range(n_others):
            met = False
            for a in range(start[i], start[i + 1]):
                for b in range(other_start[o], other_start[o + 1]):
                    meets = True
                    for j in range(n_columns):
                        if lo[a, j] > other_hi[b, j] or other_lo[b, j] > hi[a, j]:
                            meets = False
                            break
                    if meets:
                        met = True
                        break
                if met:
                    break
            if met:
                total += weight[o]
        out[i] = total

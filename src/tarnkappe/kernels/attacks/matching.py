"""Which record is most like a person: all records are compared with the one that is the person's own."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Bytes, Codes, Counts, Flags, Floats
from tarnkappe.kernels import kernel

# How a pair agrees is written out in each loop: as a function of its own it takes three times as long.

#: Scores closer than this are the same: their sums are rounded.
_TIE = 1e-9


@kernel
def rank_by_distance(
    tables: Floats,
    offset: Counts,
    width: Counts,
    codes: Codes,
    labels: Codes,
    count: Counts,
    own: Counts,
    begin: int,
    end: int,
    beaten: Flags,
    ties: Counts,
) -> None:
    """For the people ``begin .. end``, whether a record is nearer than their own, and how many are as near.

    The squared distance of person i from record b in column j is ``tables[offset[j] + codes[i, j] * width[j] +
    labels[b, j]]``; `count` records have the labels b, and those of the person's own record are ``own[i]``.
    """
    n_looks, n_columns = labels.shape
    for i in range(begin, end):
        mine = 0.0
        for j in range(n_columns):
            mine += tables[offset[j] + codes[i, j] * width[j] + labels[own[i], j]]
        limit = mine * (1 + _TIE) + _TIE
        alike = 0
        for b in range(n_looks):
            d = 0.0
            for j in range(n_columns):
                d += tables[offset[j] + codes[i, j] * width[j] + labels[b, j]]
                if d > limit:
                    break
            if d > limit:
                continue
            if d < mine * (1 - _TIE) - _TIE:
                beaten[i] = True
                break
            alike += count[b]
        ties[i] = alike


@kernel
def nearest_squares(points: Floats, records: Floats, begin: int, end: int, out: Floats) -> None:
    """For the points ``begin .. end``, the squared distance of the nearest record."""
    n_records, n_columns = records.shape
    for i in range(begin, end):
        best = np.inf
        for r in range(n_records):
            d = 0.0
            for j in range(n_columns):
                d += (points[i, j] - records[r, j]) * (points[i, j] - records[r, j])
                if d >= best:
                    break
            best = min(best, d)
        out[i] = best


@kernel
def count_patterns(
    agree: Bytes, offset: Counts, width: Counts, codes: Codes, labels: Codes, count: Counts, out: Counts
) -> None:
    """How many pairs of a person and a record agree in which columns: column j is bit j of a pattern."""
    n_looks, n_columns = labels.shape
    for i in range(codes.shape[0]):
        for b in range(n_looks):
            pattern = 0
            for j in range(n_columns):
                pattern |= int(agree[offset[j] + codes[i, j] * width[j] + labels[b, j]]) << j
            out[pattern] += count[b]


@kernel
def rank_by_pattern(
    agree: Bytes,
    offset: Counts,
    width: Counts,
    score: Floats,
    codes: Codes,
    labels: Codes,
    count: Counts,
    own: Counts,
    begin: int,
    end: int,
    beaten: Flags,
    ties: Counts,
) -> None:
    """For the people ``begin .. end``, whether a record scores higher than their own, and how many score the same."""
    n_looks, n_columns = labels.shape
    for i in range(begin, end):
        pattern = 0
        for j in range(n_columns):
            pattern |= int(agree[offset[j] + codes[i, j] * width[j] + labels[own[i], j]]) << j
        mine = score[pattern]
        alike = 0
        for b in range(n_looks):
            pattern = 0
            for j in range(n_columns):
                pattern |= int(agree[offset[j] + codes[i, j] * width[j] + labels[b, j]]) << j
            if score[pattern] > mine + _TIE:
                beaten[i] = True
                break
            if score[pattern] > mine - _TIE:
                alike += count[b]
        ties[i] = alike

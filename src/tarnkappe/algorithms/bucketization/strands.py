"""Strands: which columns are so closely related that they stay together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.tally import Domain, Tally, distinct_rows

#: Into how many pieces of equal frequency a column of numbers is cut before it is compared with others.
_PIECES = 10


def attributes_of(tally: Tally) -> list[tuple[Domain, Codes]]:
    """The quasi-identifiers and then the published sensitive columns, with the code of every cell."""
    quasi = [(domain, tally.quasi[:, j]) for j, domain in enumerate(tally.quasi_domains)]
    secret = [(domain, tally.sensitive[:, s]) for s, domain in enumerate(tally.sensitive_domains) if not domain.aside]
    return quasi + secret


def contingency(tally: Tally) -> Floats:
    r"""The mean-square contingency of every pair of columns: 0 if they are independent, 1 if one tells the other.

    .. math:: \phi^2(A, B) = \frac{1}{\min(d_A, d_B) - 1} \Bigl(\sum_{ij} \frac{f_{ij}^2}{f_i f_j} - 1\Bigr)

    Numbers are cut into pieces of equal frequency first.
    """
    codes = [_pieces(domain, code, tally) for domain, code in attributes_of(tally)]
    counts = [np.bincount(code, tally.count) for code in codes]
    n = len(codes)
    out = np.eye(n)
    for a in range(n):
        for b in range(a):
            pair, first = distinct_rows([codes[a], codes[b]], [len(counts[a]), len(counts[b])])
            together = np.bincount(pair, tally.count)
            apart = counts[a][codes[a][first]] * counts[b][codes[b][first]]
            spread = float((together / apart * together).sum()) - 1.0
            values = min(int((counts[a] > 0).sum()), int((counts[b] > 0).sum()))
            out[a, b] = out[b, a] = min(max(spread / (values - 1), 0.0), 1.0) if values > 1 else 0.0
    return out


def _pieces(domain: Domain, codes: Codes, tally: Tally) -> Codes:
    """The codes of a column; of numbers, the piece that each lies in."""
    if not domain.is_line or domain.size <= _PIECES:
        return codes
    counts = np.bincount(codes, tally.count, minlength=domain.size)
    before = np.cumsum(counts) - counts / 2
    piece = np.minimum(before * _PIECES // max(tally.n_records, 1), _PIECES - 1).astype(np.int32)
    if domain.missing >= 0:
        piece[domain.missing] = _PIECES
    return piece[codes]


def k_medoids(distance: Floats, fixed: Sequence[int], n: int) -> Codes:
    """The medoid of every thing: `n` of them, the `fixed` ones among them, such that all are near to theirs.

    Medoids are added one by one and then exchanged as long as that brings things nearer (PAM).

    >>> k_medoids(np.array([[0, 0.1, 0.9, 0.8], [0.1, 0, 1, 1], [0.9, 1, 0, 0.2], [0.8, 1, 0.2, 0]]), [3], 2).tolist()
    [0, 0, 3, 3]
    """

    def cost(medoids: list[int]) -> float:
        return float(distance[:, medoids].min(axis=1).sum())

    every = range(len(distance))
    free: list[int] = []
    while len(fixed) + len(free) < min(n, len(distance)):
        rest = [i for i in every if i not in free and i not in fixed]
        free.append(min(rest, key=lambda i: (cost([*free, *fixed, i]), i)))
    best = cost([*free, *fixed])
    while free:
        rest = [i for i in every if i not in free and i not in fixed]
        swaps = [[*(m for m in free if m != out), into] for out in free for into in rest]
        better = min(swaps, key=lambda some: cost([*some, *fixed]), default=free)
        if cost([*better, *fixed]) >= best - 1e-12:
            break
        free, best = better, cost([*better, *fixed])
    medoids = np.array([*sorted(free), *fixed])
    nearest: Codes = medoids[distance[:, medoids].argmin(axis=1)].astype(np.int32)
    nearest[medoids] = medoids
    return nearest

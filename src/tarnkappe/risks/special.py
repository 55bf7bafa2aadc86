"""Special uniques: records that very few columns single out (SUDA2), and what that says about finding them (DIS)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tarnkappe.arrays import Bytes, Counts, Floats
from tarnkappe.kernels.risks.subsets import add_scores, alone_in
from tarnkappe.risks.subsets import Combinations, all_subsets, largest_size
from tarnkappe.wording import count, percent


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """How few columns single out each record that is unique.

    `row` says which of the distinct records are unique, `score` how special each of them is, and `dis` how likely a
    match with it is right, if the sampling share is known. `by_size` counts minimal sample uniques by their number of
    columns; `contribution` is the share of all scores that comes from combinations with each column. Combinations of
    more than `largest` columns were not looked at.
    """

    columns: tuple[str, ...]
    n_records: int
    row: Counts
    score: Floats
    dis: Floats | None
    file_dis: float | None
    by_size: tuple[int, ...]
    contribution: dict[str, float]
    largest: int

    @property
    def is_complete(self) -> bool:
        """Whether combinations of all sizes were looked at."""
        return self.largest >= len(self.columns)

    @property
    def n_special(self) -> int:
        """Records that are unique in at most two columns."""
        return int((self.score >= self._score_of(2)).sum()) if len(self.score) else 0

    def _score_of(self, size: int) -> float:
        return _scores(len(self.columns), self.largest)[min(size, self.largest) - 1]

    def __str__(self) -> str:
        shown = f"{count(sum(self.by_size))} combinations of columns single somebody out"
        small = self.by_size[0] + (self.by_size[1] if len(self.by_size) > 1 else 0)
        most = max(self.contribution, key=lambda c: self.contribution[c], default="")
        worst = f", most of all by '{most}' ({percent(self.contribution[most])})" if most and sum(self.by_size) else ""
        return f"{shown}, {count(small)} of them with one or two columns{worst}"

    def as_dict(self) -> dict[str, Any]:
        """The figures about the file as plain data; those about records are in `score` and `dis`."""
        return {
            "columns": list(self.columns),
            "largest": self.largest,
            "minimal_sample_uniques": list(self.by_size),
            "records_with_score": int((self.score > 0).sum()),
            "highest_score": float(self.score.max(initial=0.0)),
            "dis_of_file": self.file_dis,
            "highest_dis": None if self.dis is None else float(self.dis.max(initial=0.0)),
            "contribution": self.contribution,
        }


def _scores(n_columns: int, largest: int) -> list[float]:
    """The score of a minimal sample unique of each size: the product of (columns - i) from it to the largest."""
    top = min(largest, n_columns - 1)
    return [float(np.prod([n_columns - i for i in range(size, top + 1)])) for size in range(1, largest + 1)]


def special_uniques(given: Combinations, most: int | None = None, sampling: float | None = None) -> SpecialUniques:
    r"""All minimal sample uniques, at most so many columns at once, and the scores that follow from them.

    A record is unique in some columns if no other has the same values there; minimal if leaving out any of these
    columns ends that. One of k columns of d scores :math:`\prod_{i=k}^{\min(M, d-1)} (d - i)`, where M is the largest
    number of columns looked at. With the share :math:`\pi` of the population that was drawn,

    .. math:: \mathrm{DIS} = \frac{U \pi}{U \pi + 2 P (1 - \pi)}, \quad
              \mathrm{DIS}_r = \Bigl(1 + \frac{U / \mathrm{DIS} - U}{s_r^q \sum_t s_t^{-q}}\Bigr)^{-1}, \quad
              q = 1 + \frac{8 - d}{20}

    for U uniques, P pairs and scores s: the chance that a unique match is right, for the file and for each record.

    Differs from the paper in: SUDA2 recurses over values and prunes by their support. Here every subset of columns is
    grouped once by a hash, which finds the same and needs no more than 2^columns passes.

    References
    ----------
    .. [MaHK08] Manning, Haglin, Keane. "A recursive search algorithm for statistical disclosure assessment." DMKD 2008.
    .. [EMMG05] Elliot, Manning, Mayes, Gurd, Bane. "SUDA: a program for detecting special uniques." UNECE 2005.
    .. [SkEl02] Skinner, Elliot. "A measure of disclosure risk for microdata." JRSS B 64(4), 2002.
    """
    n_columns = len(given.names)
    row = np.flatnonzero(given.records == 1).astype(np.int64)
    limit = largest_size(n_columns, len(given.records) + len(row))
    largest = min(limit if most is None else most, n_columns)
    weight = _scores(n_columns, largest)
    score, by_size = np.zeros(len(row)), [0] * largest
    parts = np.zeros(n_columns)
    alone: dict[int, Bytes] = {}  # as bits: there are as many of them as subsets
    for found in all_subsets(given, largest):
        here = np.empty(len(row), np.bool_)
        alone_in(found.group, found.size, row, here)
        places = found.places
        smaller = [alone[b] for b in (found.columns & ~(1 << j) for j in places) if b in alone]
        before = np.bitwise_or.reduce(smaller) if smaller else np.zeros((len(row) + 7) // 8, np.uint8)
        known = np.unpackbits(before, count=len(row)).view(np.bool_)
        n_new = int(add_scores(here, known, weight[len(places) - 1], score))
        by_size[len(places) - 1] += n_new
        parts[list(places)] += n_new * weight[len(places) - 1]
        if len(places) < largest and here.any():
            alone[found.columns] = np.packbits(here)
    total = float(score.sum())
    contribution = {name: float(p / total) if total else 0.0 for name, p in zip(given.names, parts, strict=True)}
    file_dis, dis = _dis(given, score, sampling)
    return SpecialUniques(
        given.names, given.n_records, row, score, dis, file_dis, tuple(by_size), contribution, largest
    )


def _dis(given: Combinations, score: Floats, sampling: float | None) -> tuple[float | None, Floats | None]:
    """How likely a unique match is right: for the file, and by the scores of records."""
    uniques, paired = int((given.records == 1).sum()), 2 * int((given.records == 2).sum())
    if sampling is None or not uniques:
        return None, None
    of_file = uniques * sampling / (uniques * sampling + paired * (1 - sampling))
    power = 1 + (8 - len(given.names)) / 20
    some = score > 0
    raised = np.where(some, score, 1.0) ** power
    spread = float((1.0 / raised[some]).sum())
    out = np.zeros(len(score))
    if spread:
        out[some] = 1.0 / (1.0 + (uniques / of_file - uniques) / (raised[some] * spread))
    return of_file, out

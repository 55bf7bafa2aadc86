"""Mondrian."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.local.swaps import swap_refine
from tarnkappe.algorithms.multidimensional.front import Front, weighted_widths
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.mondrian import find_cuts, find_halves
from tarnkappe.params import param
from tarnkappe.tally import Codes, Counts, Tally
from tarnkappe.threads import share_out


@dataclass(frozen=True)
class Mondrian(Algorithm):
    r"""Halve the widest quasi-identifier of a group at its median as long as both halves satisfy the goal.

    Groups are cut breadth-first, all groups of a round at once, so that criteria are asked about a whole frontier and
    never about a single group. Per group, attributes are tried by decreasing normalised width times weight.

    *Strict* cuts keep equal values together: ``x <= median`` and ``x < median`` are tried, first the one that leaves
    the tighter halves. On a taxonomy cuts fall between children of the lowest common ancestor; only where no attribute
    has such a cut may one go through a subtree. *Relaxed* cuts halve the records and divide those that have the median
    value.

    Published are tight boxes: ``[min max]``, or the lowest node covering the values. O(d · n · log n).

    With a public table the boxes are tight round its people, so that each of them belongs to one group; together with
    delta-presence this is MPALM. Relaxed cuts are then refused: they would divide people who are alike.

    Differs from the paper in: the second try at ``x < median``, without which low-cardinality columns are given up too
    early; cuts of taxonomies by consecutive children instead of all children at once; tight boxes instead of cut cells.

    References
    ----------
    .. [LeDR06] LeFevre, DeWitt, Ramakrishnan. "Mondrian multidimensional k-anonymity." ICDE 2006.
    .. [NeAC07] Nergiz, Atzori, Clifton. "Hiding the presence of individuals from shared databases." SIGMOD 2007.
    """

    name: ClassVar = "mondrian"
    title: ClassVar = "Mondrian"
    scheme: ClassVar = "multidimensional"
    summary: ClassVar = "Cuts the table into ever smaller boxes at medians; low loss, fast, any size."
    handles_wildcards: ClassVar = True
    handles_population: ClassVar = True

    cut: str = param(
        "strict",
        doc="Keep equal values together (strict) or divide them to halve the records (relaxed).",
        choices=("strict", "relaxed"),
    )
    swaps: int = param(
        0, doc="Passes of swap refinement: records with equal secrets change groups.", ge=0, kw_only=True
    )

    @property
    def takes_population(self) -> bool:
        """Relaxed cuts and swaps part people who are alike, and it would be unclear to which group each belongs."""
        return self.cut == "strict" and self.swaps == 0

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cut until no cut is allowed."""
        self.require_supported(tally, goal)
        if tally.n_records == 0 or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)
        cut = _MedianFront(tally, goal, relaxed=self.cut == "relaxed").exhaust()
        return swap_refine(tally, cut, goal, self.swaps)


class _MedianFront(Front):
    """Cuts at medians."""

    def __init__(self, tally: Tally, goal: Goal, *, relaxed: bool) -> None:
        super().__init__(tally, goal)
        self.relaxed = relaxed

    def choose(self, lo: Codes, hi: Codes, size: Counts) -> tuple[Counts, Codes, Counts]:
        """The first allowed median cut, attributes by decreasing weighted width."""
        width = weighted_widths(self.tally, lo, hi)
        ranking = np.argsort(-width, axis=1, kind="stable")
        breadth = (width > 0).sum(axis=1)
        attribute = np.full(self.n_segments, -1, np.int64)
        code = np.zeros(self.n_segments, np.int32)
        ties = np.zeros(self.n_segments, np.int64)
        pending = np.flatnonzero(size >= 2 * self.goal.min_size)
        for torn in (False,) if self.relaxed else (False, True):
            for rank in range(ranking.shape[1]):
                pending = pending[attribute[pending] < 0]
                ranked = pending[breadth[pending] > rank]
                for j in np.unique(ranking[ranked, rank]):
                    if torn and not self.can_tear[j]:
                        continue
                    here = ranked[ranking[ranked, rank] == j]
                    for cut_code, cut_ties, left in self._cuts(here, int(j), lo, hi, torn):
                        smaller = np.minimum(left, size[here] - left)
                        good = (attribute[here] < 0) & (cut_code >= 0) & (smaller >= self.goal.min_size)
                        tried = np.flatnonzero(good)
                        same = np.full(len(tried), j, np.int64)
                        tried = tried[self.allowed(here[tried], same, cut_code[tried], cut_ties[tried])]
                        attribute[here[tried]] = j
                        code[here[tried]] = cut_code[tried]
                        ties[here[tried]] = cut_ties[tried]
        return attribute, code, ties

    def _cuts(
        self, segments: Counts, j: int, lo: Codes, hi: Codes, torn: bool
    ) -> Iterator[tuple[Codes, Counts, Counts]]:
        """The cuts of attribute `j` worth trying, each as code, tie share and records on the left per segment."""
        given = (self.rows, self.quota, self.starts, segments, j, lo, hi)
        n, work = len(segments), self.work(segments)
        ties = np.zeros(n, np.int64)
        if self.relaxed:
            code, left = np.empty(n, np.int32), np.empty(n, np.int64)
            wild = int(self.wild[j])
            share_out(lambda a, b: find_halves(*given, wild, code, ties, left, a, b), work)
            yield code, ties, left
            return
        codes, lefts = np.empty((n, 2), np.int32), np.zeros((n, 2), np.int64)
        shape = self.shape(j)
        share_out(lambda a, b: find_cuts(*given, *shape, torn, codes, lefts, a, b), work)
        for attempt in range(2):
            yield codes[:, attempt], ties, lefts[:, attempt]

"""Median cuts: which of them is taken, and the front of groups that are cut so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.steps.front import Front, weighted_widths
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.goal import Goal
from tarnkappe.kernels.multidimensional.mondrian import find_cuts, find_halves
from tarnkappe.kernels.multidimensional.segments import scratch
from tarnkappe.tally import Tally
from tarnkappe.threads import share_out

#: The cuts of some segments and an attribute that are worth trying, one after another, whether or not subtrees may be
#: torn: per segment the code, the tie share, and the records on the left.
Cuts = Callable[[Counts, int, bool], Iterator[tuple[Codes, Counts, Counts]]]

#: Whether both halves of a cut (segment, attribute, code, tie share) satisfy the goal.
Allowed = Callable[[Counts, Counts, Codes, Counts], NDArray[np.bool_]]


def first_allowed(
    width: Floats, size: Counts, smallest: int, cuts: Cuts, allowed: Allowed, tearable: Sequence[bool] | None
) -> tuple[Counts, Codes, Counts]:
    """The first allowed cut of every segment, attributes by decreasing width: attribute (-1: none), code, tie share.

    Both halves must have `smallest` records. Where no attribute has an allowed cut, those that are `tearable` may be
    cut through a subtree (None: never).
    """
    n_segments = len(size)
    ranking = np.argsort(-width, axis=1, kind="stable")
    breadth = (width > 0).sum(axis=1)
    attribute = np.full(n_segments, -1, np.int64)
    code = np.zeros(n_segments, np.int32)
    ties = np.zeros(n_segments, np.int64)
    pending = np.flatnonzero(size >= 2 * smallest)
    for torn in (False,) if tearable is None else (False, True):
        for rank in range(ranking.shape[1]):
            pending = pending[attribute[pending] < 0]
            ranked = pending[breadth[pending] > rank]
            for j in np.unique(ranking[ranked, rank]):
                if torn and tearable is not None and not tearable[j]:
                    continue
                here = ranked[ranking[ranked, rank] == j]
                for cut_code, cut_ties, left in cuts(here, int(j), torn):
                    smaller = np.minimum(left, size[here] - left)
                    good = (attribute[here] < 0) & (cut_code >= 0) & (smaller >= smallest)
                    tried = np.flatnonzero(good)
                    same = np.full(len(tried), j, np.int64)
                    tried = tried[allowed(here[tried], same, cut_code[tried], cut_ties[tried])]
                    attribute[here[tried]] = j
                    code[here[tried]] = cut_code[tried]
                    ties[here[tried]] = cut_ties[tried]
    return attribute, code, ties


class MedianFront(Front):
    """Groups that are cut at medians."""

    def __init__(
        self,
        tally: Tally,
        goal: Goal,
        *,
        relaxed: bool = False,
        part: Codes | None = None,
        tables: Mapping[str, Counts] | None = None,
        settled: NDArray[np.bool_] | None = None,
    ) -> None:
        super().__init__(tally, goal, part=part, tables=tables, settled=settled, whole=not relaxed)
        self.relaxed = relaxed

    def choose(self, lo: Codes, hi: Codes, size: Counts) -> tuple[Counts, Codes, Counts]:
        """The first allowed median cut, attributes by decreasing weighted width."""

        def cuts(segments: Counts, j: int, torn: bool) -> Iterator[tuple[Codes, Counts, Counts]]:
            return self._cuts(segments, j, lo, hi, torn)

        width = weighted_widths(self.tally.quasi_domains, lo, hi)
        tearable = None if self.relaxed else self.can_tear
        return first_allowed(width, size, self.goal.min_size, cuts, self.allowed, tearable)

    def _cuts(
        self, segments: Counts, j: int, lo: Codes, hi: Codes, torn: bool
    ) -> Iterator[tuple[Codes, Counts, Counts]]:
        """The cuts of attribute `j` worth trying, each as code, tie share and records on the left per segment."""
        given = (self.rows, self.quota, self.starts, segments, j, lo, hi)
        n, work = len(segments), self.work(segments)

        def room(first: int, end: int) -> tuple[Codes, Counts, Counts]:
            return scratch(self.starts, segments[first:end])

        ties = np.zeros(n, np.int64)
        if self.relaxed:
            code, left = np.empty(n, np.int32), np.empty(n, np.int64)
            wild = int(self.wild[j])
            share_out(lambda a, b: find_halves(*given, wild, code, ties, left, *room(a, b), a, b), work)
            yield code, ties, left
            return
        codes, lefts = np.empty((n, 2), np.int32), np.zeros((n, 2), np.int64)
        shape = self.shape(j)
        share_out(lambda a, b: find_cuts(*given, *shape, torn, codes, lefts, *room(a, b), a, b), work)
        for attempt in range(2):
            yield codes[:, attempt], ties, lefts[:, attempt]

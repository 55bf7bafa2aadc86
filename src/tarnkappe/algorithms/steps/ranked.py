"""Groups that are cut at the first allowed one of many ranked cuts."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from tarnkappe.algorithms.steps.front import Front
from tarnkappe.arrays import Codes, Counts


class RankedFront(Front):
    """A front whose subclass ranks all cuts of every segment."""

    def choose(self, lo: Codes, hi: Codes, size: Counts) -> tuple[Counts, Codes, Counts]:
        """The first allowed cut of every segment."""
        attribute = np.full(self.n_segments, -1, np.int64)
        code = np.zeros(self.n_segments, np.int32)
        segment, tried_attribute, tried_code = self.candidates(lo, hi, size)
        first = np.searchsorted(segment, np.arange(self.n_segments))
        end = np.searchsorted(segment, np.arange(self.n_segments), side="right")
        pending = np.flatnonzero(first < end)
        step = 1  # most segments take their first candidate; the others ask about more and more at once
        while len(pending):
            lengths = np.minimum(end[pending] - first[pending], step)
            at = np.repeat(first[pending] + lengths - np.cumsum(lengths), lengths) + np.arange(lengths.sum())
            ok = self.allowed(segment[at], tried_attribute[at], tried_code[at], np.zeros(len(at), np.int64))
            best = at[ok][np.unique(segment[at[ok]], return_index=True)[1]]
            attribute[segment[best]] = tried_attribute[best]
            code[segment[best]] = tried_code[best]
            first[pending] += lengths
            pending = pending[(attribute[pending] < 0) & (first[pending] < end[pending])]
            step *= 2
        return attribute, code, np.zeros(self.n_segments, np.int64)

    @abstractmethod
    def candidates(self, lo: Codes, hi: Codes, size: Counts) -> tuple[Counts, Counts, Codes]:
        """All cuts that leave enough records on both sides: segment, attribute and code, best first per segment."""

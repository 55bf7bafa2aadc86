"""MPALM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.steps.front import weighted_widths
from tarnkappe.algorithms.steps.ranked import RankedFront
from tarnkappe.arrays import Codes, Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.tally import Tally, distinct_rows

#: Shares that differ by less are equal: their difference is rounding.
_PLACES = 10


@dataclass(frozen=True)
class Mpalm(Algorithm):
    r"""Cut the public table where both halves have about the same share of people in the data.

    Made for delta-presence. A group :math:`G` of the public table P is cut into :math:`L` and :math:`R` so that

    .. math:: \left| \frac{|T \cap L|}{|P \cap L|} - \frac{|T \cap R|}{|P \cap R|} \right|

    is least, as long as both halves satisfy the goal: then both keep their distance from the bounds, and can be cut
    again. All thresholds of all quasi-identifiers are candidates; on a taxonomy they lie between children of the lowest
    common ancestor, and only where no such cut is allowed may one go through a subtree. Among equal shares the wider
    quasi-identifier wins, then the more even cut. Without a public table all shares are equal, and what is left is
    Mondrian with its widest cut. Published are tight boxes round the people of the public table.
    O(d · n · log n) for each round of cuts.

    Differs from the paper in: cuts of taxonomies by consecutive children instead of all children at once; how equal
    shares are decided; tight boxes instead of cut cells. The paper's text, known to us from descriptions only, balances
    the shares of both halves; how it weighs that against the width of a column is not told there.

    References
    ----------
    .. [NeAC07] Nergiz, Atzori, Clifton. "Hiding the presence of individuals from shared databases." SIGMOD 2007.
    """

    name: ClassVar = "mpalm"
    title: ClassVar = "MPALM"
    scheme: ClassVar = "multidimensional"
    summary: ClassVar = "Cuts the public table into boxes with like shares of people in the data; for delta-presence."
    handles_population: ClassVar = True

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cut until no cut is allowed."""
        self.require_supported(tally, goal)
        if tally.n_records == 0 or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)
        return _ShareFront(tally, goal).exhaust()


class _ShareFront(RankedFront):
    """Cuts where both halves have about the same share of people in the data."""

    def candidates(self, lo: Codes, hi: Codes, size: Counts) -> tuple[Counts, Counts, Codes]:
        """All cuts, those of like shares first."""
        width = weighted_widths(self.tally.quasi_domains, lo, hi)
        of_piece = np.repeat(np.arange(self.n_segments), np.diff(self.starts))
        people = self.quota if self.tally.population is None else self.tally.population[self.cell]
        found = []
        for j, domain in enumerate(self.tally.quasi_domains):
            value, first = distinct_rows([of_piece, self.rows[:, j]], [self.n_segments, domain.size])
            segment, code = of_piece[first], self.rows[first, j]
            counted = [np.bincount(value, x, len(first)).astype(np.int64) for x in (self.quota, people)]
            below, persons = (np.cumsum(n) - n for n in counted)
            begin = np.searchsorted(segment, segment)
            below, persons = below - below[begin], persons - persons[begin]
            total = np.bincount(segment, counted[1], self.n_segments)[segment]
            smaller = np.minimum(below, size[segment] - below)
            cut = np.flatnonzero((begin < np.arange(len(first))) & (smaller >= max(self.goal.min_size, 1)))
            at, above = segment[cut], total[cut] - persons[cut]
            shares = below[cut] / np.maximum(persons[cut], 1), (size[at] - below[cut]) / np.maximum(above, 1)
            unlike = np.round(np.abs(shares[0] - shares[1]), _PLACES)
            tree = domain.taxonomy
            torn = np.zeros(len(cut), np.bool_)
            if not tree.ranges.any() and len(cut):
                torn = tree.lca(code[cut - 1], code[cut]) != tree.lca(lo[at, j], hi[at, j])
            attribute = np.full(len(cut), j, np.int64)
            found.append((at, torn, unlike, -width[at, j], -smaller[cut], attribute, code[cut]))
        segment, torn, unlike, narrow, uneven, attribute, code = (np.concatenate(a) for a in zip(*found, strict=True))
        order = np.lexsort((code, attribute, uneven, narrow, unlike, torn, segment))
        return segment[order], attribute[order], code[order]

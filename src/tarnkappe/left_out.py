"""Who was left out: whether the suppressed records are like the others, or a kind of people disappears."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.plan import AnyPlan, DealtPlan
from tarnkappe.tally import Domain

#: Into how many parts a scale of numbers is divided, each with about as many records.
_PARTS = 4

#: What is said: parts that are so many times as frequent among the records left out, with so many of them.
_TIMES, _RECORDS, _MOST = 1.5, 10, 8


@dataclass(frozen=True)
class Bias:
    """A part of a column that is more frequent among the records left out than among all."""

    column: str
    part: str
    #: Records left out that belong to it.
    records: int
    #: Its share of all records, and of those left out.
    share: float
    share_left_out: float

    @property
    def times(self) -> float:
        """How many times as frequent it is among the records left out."""
        return self.share_left_out / self.share


def bias_of(plan: AnyPlan) -> tuple[Bias, ...]:
    """The parts of quasi-identifiers that suppression hits hardest, the worst first; none if it hits all alike.

    A part is a branch of the taxonomy, or a quarter of a scale of numbers. O(cells x quasi-identifiers).
    """
    tally, lost = plan.tally, _lost(plan)
    everybody, gone = int(tally.count.sum()), int(lost.sum())
    found: list[Bias] = []
    if not gone:
        return ()
    at = np.flatnonzero(lost)
    for j, domain in enumerate(tally.quasi_domains):
        part, names = _parts(domain, tally.value_counts[j])
        among_all = np.bincount(part, tally.value_counts[j], len(names))
        among_lost = np.bincount(part[tally.quasi[at, j]], lost[at], len(names))
        for p in np.flatnonzero(among_lost >= _RECORDS):
            bias = Bias(domain.name, names[p], int(among_lost[p]), among_all[p] / everybody, among_lost[p] / gone)
            if bias.times >= _TIMES:
                found.append(bias)
    return tuple(sorted(found, key=lambda bias: -bias.times)[:_MOST])


def _lost(plan: AnyPlan) -> Counts:
    """Per cell, how many of its records are not published."""
    if isinstance(plan, DealtPlan):
        lost: Counts = plan.tally.count - plan.published
        return lost
    grouping = plan.grouping
    gone = grouping.group < 0
    return np.bincount(grouping.cell[gone], grouping.quota[gone], plan.tally.n_cells).astype(np.int64)


def _parts(domain: Domain, records: Counts) -> tuple[Codes, list[str]]:
    """The part that each code belongs to, and what the parts are called."""
    tree = domain.taxonomy
    if domain.is_line:
        known = records.copy()
        if domain.missing >= 0:
            known[domain.missing] = 0
        middle = np.cumsum(known) - known / 2
        quarter = np.minimum(middle * _PARTS / max(known.sum(), 1), _PARTS - 1).astype(np.int64)
        part = np.unique(quarter, return_inverse=True)[1].astype(np.int32)
        if domain.missing >= 0:
            part[domain.missing] = part.max() + 1
    else:  # the branches below the root, or the values themselves where there are none
        top = np.flatnonzero(tree.parent == 0)
        part = (np.searchsorted(tree.lo[top], np.arange(domain.size), side="right") - 1).astype(np.int32)
    part = np.unique(part, return_inverse=True)[1].astype(np.int32)  # no number without a code
    names = []
    for p in range(int(part.max(initial=-1)) + 1):
        codes = np.flatnonzero(part == p)
        first, last = tree.leaves[codes[0]], tree.leaves[codes[-1]]
        node = int(tree.lca(codes[0], codes[-1]))
        within = first if first == last else f"{first} to {last}"
        names.append(within if domain.is_line else tree.labels[node])
    return part, names

"""(k, e)-permutation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.arrays import Codes, Counts
from tarnkappe.criteria.base import as_fraction
from tarnkappe.deals import Deal, shuffle_runs
from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm, role, say
from tarnkappe.goal import Goal
from tarnkappe.kernels.bucketization.cutting import cut_sorted, last_of_runs
from tarnkappe.params import param
from tarnkappe.publish.permuted import Permuted
from tarnkappe.tally import Domain, Tally

#: More than any difference of whole numbers that a domain can hold.
_FAR = 1 << 60


@dataclass(frozen=True)
class KEPermutation(Bucketization):
    r"""Cut the records, sorted by a sensitive number, into groups; within each the numbers are shuffled.

    Every group has at least k different numbers over a range of at least e, and the ranges are as small as can be:
    quasi-identifiers and numbers of a group can be combined in any way, so its range is how wrong a guess may be.

    .. math:: \min \sum_G \bigl(\max_{s \in G} s - \min_{s \in G} s\bigr) \quad\text{or}\quad
              \min \max_G \bigl(\max_{s \in G} s - \min_{s \in G} s\bigr)

    The sum is the whole range less the gaps between groups. So the best groups of the numbers up to one end follow from
    the best beginning of the last group: dynamic programming over the different numbers, O(m) for m of them after
    sorting. For the maximum the smallest limit for which there is a way is found by halving, some sixty times O(m); of
    the ways within that limit the one with the least sum is taken. Of equal ways the one with the most groups.

    A cut may go through records with the same number: if there are at least two, half of them, drawn by lot, go to
    either side. The sum is the least that any groups have, in whatever order; the maximum is the least of groups that
    follow each other along the numbers (groups that overlap may be narrower where e is large).

    Differs from the paper in: it is about numbers of which no two are equal, here each counts once towards k, and is
    gone through once however many records have it. Records whose number is missing are spread over all groups by lot;
    they count neither towards k nor towards e. Distinct l-diversity is accepted too, with k = l and e = 0.

    References
    ----------
    .. [ZKSY07] Zhang, Koudas, Srivastava, Yu. "Aggregate query answering on anonymized tables." ICDE 2007.
    """

    name: ClassVar = "k-e-permutation"
    title: ClassVar = "(k, e)-permutation"
    summary: ClassVar = "Exact quasi-identifiers beside a sensitive number that is shuffled within narrow groups."
    publishes: ClassVar = Permuted

    minimise: str = param(
        "sum", doc="Which is made small: the sum of the groups' ranges, or the widest.", choices=("sum", "max")
    )

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        """Groups along the numbers."""
        self.require_supported(tally, goal)
        k, e = self._asked(goal)
        s = tally.sensitive_index(self.one_column(goal))
        domain, secret = tally.sensitive_domains[s], tally.sensitive[:, s]
        if domain.values is None and domain.known.any():
            raise JobError(
                "E111",
                f"{self.name} cuts along the numbers of '{domain.name}', which is not declared to hold any",
                hint=role(domain.name, "sensitive", "numeric"),
            )
        if not tally.n_cells or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)  # what all records together do not satisfy, none of them do
        count = np.bincount(secret, tally.count, minlength=domain.size).astype(np.int64)
        if domain.missing >= 0:
            count[domain.missing] = 0
        present = np.flatnonzero(count)
        numbers, apart = _scale(domain, e)
        position = numbers[present]
        ends = _ends(position, count[present], k, apart, self.minimise)
        cells = np.argsort(secret, kind="stable").astype(np.int32)
        pool = np.repeat(cells, tally.count[cells])  # numbers come first, the missing value last
        n_known = int(count.sum())
        shuffle_runs(pool, np.append(0, np.cumsum(count[present])), rng)
        if not len(ends):  # the missing value is one of the different ones that are asked for
            return Deal(pool, np.array([len(pool)]), Permuted())
        size = np.diff(ends, prepend=0)
        return _with_missing(pool[:n_known], size, pool[n_known:], rng)

    def _asked(self, goal: Goal) -> tuple[int, float]:
        """How many different numbers, and how wide a range, a group needs so that every criterion holds."""
        asked = [c.enough_apart for c in goal.criteria if not c.others_known]
        known = [x for x in asked if x is not None]
        if len(known) < len(goal.criteria):
            vague = next(c.name for c in goal.criteria if c.enough_apart is None or c.others_known)
            raise JobError(
                "E111",
                f"{self.name} forms groups of different numbers that lie apart, which does not decide about {vague}",
                hint=say("Choose another algorithm:  {}", algorithm("mondrian")),
            )
        return max(k for k, _ in known), max(e for _, e in known)


def _scale(domain: Domain, e: float) -> tuple[NDArray[Any], Any]:
    """Where every code stands and how far apart is enough: in whole numbers if they are decimals, which is exact."""
    if domain.decimals is None:
        return np.nan_to_num(domain.positions), np.float64(e)
    whole, power = domain.decimals
    return whole, np.int64(min(math.ceil(as_fraction(e) * power), _FAR))


def _ends(position: NDArray[Any], count: Counts, k: int, apart: Any, minimise: str) -> Counts:
    """Where each group ends among the records sorted by their numbers; nothing if there is no way."""
    start, shared = np.zeros(len(position), np.int32), np.zeros(len(position), np.bool_)

    def possible(most: Any) -> bool:
        shared[:] = False
        return bool(len(position)) and bool(cut_sorted(position, count, k, apart, most, start, shared))

    widest = position[-1] - position[0] if len(position) else apart
    if not possible(widest):
        return np.zeros(0, np.int64)
    if minimise == "max":
        low, high = _bits(apart), _bits(widest)
        while low < high:  # the limit is at least low; high is one
            middle = low + (high - low) // 2
            if possible(_number(middle, position.dtype)):
                high = middle
            else:
                low = middle + 1
        assert possible(_number(high, position.dtype)), "this limit was found possible"
    return _cuts(start, shared, count)


def _bits(number: Any) -> int:
    """A number that is not negative as a whole number in the same order: its bits, if it is none itself."""
    return int(np.asarray(number).view(np.int64))


def _number(bits: int, dtype: np.dtype[Any]) -> Any:
    return np.array(bits, np.int64).view(dtype)[()]


def _cuts(start: Codes, shared: NDArray[np.bool_], count: Counts) -> Counts:
    """Where each group ends, going back from the last: half of a number that is shared goes to either side."""
    ends = np.cumsum(count)
    last = last_of_runs(start, shared)
    out = ends[last]
    cut = np.append(start[last[1:]] == last[:-1], False)  # the next group begins with the same number
    out[cut] -= count[last[cut]] // 2
    return out


def _with_missing(cell: Codes, size: Counts, missing: Codes, rng: np.random.Generator) -> Deal:
    """Groups with the records that have no number spread over them, as evenly as can be."""
    if not len(missing):
        return Deal(cell, size, Permuted())
    group = np.repeat(np.arange(len(size)), size)
    joined = rng.permutation(len(size))[np.arange(len(missing)) % len(size)]
    order = np.argsort(np.append(group, joined), kind="stable")
    return Deal(np.append(cell, missing)[order], size + np.bincount(joined, minlength=len(size)), Permuted())

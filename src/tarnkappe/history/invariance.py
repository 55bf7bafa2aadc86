"""m-invariance: everybody stays among the same secrets, release after release.

All in whole columns: records come as arrays, values and signatures as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.errors import InfeasibleError
from tarnkappe.wording import plural

#: The signature of somebody who was in no release yet.
NEW = -1

Signature = tuple[int, ...]

_GOLDEN = (np.sqrt(5.0) - 1) / 2


@dataclass(frozen=True, eq=False)
class Republished:
    """Groups of one release: record ``i`` is in group ``group[i]``, and group ``g`` has ``signatures[of_group[g]]``.

    A group publishes every value of its signature once. What none of its records has is a counterfeit.
    """

    group: Counts
    of_group: Codes
    signatures: tuple[Signature, ...]

    @property
    def n_groups(self) -> int:
        """Groups."""
        return len(self.of_group)

    @property
    def sizes(self) -> Counts:
        """Values that each group publishes."""
        lengths = np.array([len(s) for s in self.signatures], np.int64)
        return lengths[self.of_group]

    @property
    def counterfeits(self) -> Counts:
        """Counterfeits of each group."""
        left: Counts = self.sizes - np.bincount(self.group, minlength=self.n_groups)
        return left


def republish(
    value: Codes, signature: Codes, rank: Counts, known: Sequence[Signature], m: int, n_values: int
) -> Republished:
    """Form the groups of a release whose records have a value, and perhaps a signature of an earlier release.

    `rank` is where a record lies among all: records with close ranks are pooled where there is a choice. Those who
    were published before stay with their signature (`known`). A signature lacks a value where somebody left: somebody
    new who has it takes the place, as long as those who remain can still be told from nobody; else a counterfeit does.
    The others are dealt like cards to groups of at least `m` different values.

    >>> made = republish(*(np.array(x, np.int32) for x in ([0, 1, 0, 1], [NEW] * 4, [0, 1, 2, 3])), [], 2, 2)
    >>> made.group.tolist(), made.signatures, made.counterfeits.tolist()
    ([0, 0, 1, 1], ((0, 1),), [0, 0])
    """
    everything = _Signatures.of(known, n_values)
    owner = signature.astype(np.int64)
    new = np.flatnonzero(owner == NEW)
    new = new[_scattered(value[new], rank[new])]
    filled = _fill(value, owner, new, everything, m)
    owner[new[filled >= 0]] = filled[filled >= 0]
    rest = new[filled < 0]
    if len(rest):
        owner[rest], everything = _dealt(value[rest], everything, m)
    return _split(value, owner, rank, everything)


@dataclass(frozen=True, eq=False)
class _Signatures:
    """All signatures as one sorted list of keys ``signature * n_values + value``."""

    sets: tuple[Signature, ...]
    n_values: int
    owner: Counts
    value: Counts

    @classmethod
    def of(cls, sets: Sequence[Signature], n_values: int) -> _Signatures:
        lengths = [len(s) for s in sets]
        owner = np.repeat(np.arange(len(sets), dtype=np.int64), lengths)
        value = np.array([v for s in sets for v in s], np.int64)
        return cls(tuple(sets), n_values, owner, value)

    def entry(self, owner: Counts, value: Codes) -> Counts:
        """Where a value stands in the list of a signature."""
        return np.searchsorted(self.owner * self.n_values + self.value, owner * self.n_values + value)

    def counts(self, owner: Counts, value: Codes) -> Counts:
        """How many of these records have each value of each signature."""
        return np.bincount(self.entry(owner, value), minlength=len(self.owner)).astype(np.int64)

    def most(self, counts: Counts) -> Counts:
        """The largest count of each signature."""
        out = np.zeros(len(self.sets), np.int64)
        np.maximum.at(out, self.owner, counts)
        return out


def _scattered(value: Codes, rank: Counts) -> Counts:
    """Records by value, and those of a value so that any run of them lies evenly among all.

    Runs of records become buckets, in which those with similar ranks are pooled. So every bucket should have records
    of all ranks, of each of its values. Multiples of the golden ratio, taken modulo 1, do that.
    """
    order = np.lexsort((rank, value))
    ordered = value[order]
    at = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return order[np.lexsort(((at * _GOLDEN) % 1.0, ordered))]


def _fill(value: Codes, owner: Counts, new: Counts, known: _Signatures, m: int) -> Counts:
    """The signature in which each new record takes the place of somebody who left; -1 for none.

    `new` is sorted by value.
    """
    out = np.full(len(new), NEW, np.int64)
    old = np.flatnonzero(owner >= 0)
    if not len(new) or not len(old):
        return out
    counts = known.counts(owner[old], value[old])
    lacking = known.most(counts)[known.owner] - counts
    supply = np.bincount(value[new], minlength=known.n_values).astype(np.int64)
    demand = np.bincount(known.value, lacking, known.n_values).astype(np.int64)
    use = supply - _remaining(supply, supply - np.minimum(demand, supply), m)
    begin = np.append(0, np.cumsum(supply))[:-1]
    chosen = np.arange(len(new)) - begin[value[new]] < use[value[new]]
    # Where to: wherever the value lacks, signature by signature.
    order = np.argsort(known.value, kind="stable")
    slots = np.repeat(known.owner[order], lacking[order])
    of_value = np.repeat(known.value[order], lacking[order])
    first = np.append(0, np.cumsum(demand))[:-1]
    taken = np.arange(len(slots)) - first[of_value] < use[of_value]
    out[chosen] = slots[taken]
    return out


def _remaining(supply: Counts, least: Counts, m: int) -> Counts:
    """How many new records of each value are kept for new groups: as few as possible, none too common among them.

    No value may be that of more than one in m of those who remain. The most common one decides how many others stay;
    of common values first, because they are the easiest to deal.
    """
    top = int(least.max(initial=0))
    short = m * top - int(least.sum())
    if short <= 0:
        return least
    spare = np.maximum(np.minimum(supply, top) - least, 0)
    order = np.argsort(-supply, kind="stable")
    before = np.append(0, np.cumsum(spare[order]))[:-1]
    more = least.copy()
    more[order] += np.clip(short - before, 0, spare[order])
    return more


def _dealt(value: Codes, known: _Signatures, m: int) -> tuple[Counts, _Signatures]:
    """Deal new records, sorted by value, to groups of different values; their signatures, and all there are now.

    With as many groups as the most common value has records, or fewer than one for each m of them, every group gets a
    value at most once. If the most common one is too common, counterfeits of others make up for it.
    """
    have = np.bincount(value, minlength=known.n_values).astype(np.int64)
    top, n = int(have.max()), len(value)
    groups = max(top, n // m)
    false = _counterfeits(have, groups, m * groups - n, m)
    both = have + false
    start = np.append(0, np.cumsum(both))
    within = np.arange(n) - (np.cumsum(have) - have)[value]
    group = (start[value] + within) % groups
    # Groups with the same values are runs: they change only where some value begins, or the last one ends.
    cuts = np.unique(np.append(start % groups, 0))
    steps = np.arange(0, int(start[-1]) + groups, groups)
    place = {s: i for i, s in enumerate(known.sets)}
    sets = list(known.sets)
    of_run = np.empty(len(cuts), np.int64)
    for i, first in enumerate(cuts.tolist()):
        dealt = first + steps
        inside = dealt[dealt < start[-1]]
        found = tuple(sorted(set((np.searchsorted(start, inside, "right") - 1).tolist())))
        if found not in place:
            place[found] = len(sets)
            sets.append(found)
        of_run[i] = place[found]
    owner = of_run[np.searchsorted(cuts, group, "right") - 1]
    return owner, _Signatures.of(sets, known.n_values)


def _counterfeits(have: Counts, groups: int, lacking: int, m: int) -> Counts:
    """So many counterfeits, of common values first, none more often than there are groups."""
    out = np.zeros(len(have), np.int64)
    if lacking <= 0:
        return out
    order = np.argsort(-have, kind="stable")
    room = groups - have[order]
    before = np.append(0, np.cumsum(room))[:-1]
    out[order] = np.clip(lacking - before, 0, room)
    if int(out.sum()) < lacking:
        raise InfeasibleError(
            "E301",
            f"the data have {plural(len(have), 'different secret')}, and m = {m} asks for {m} in every group",
            hint=f"series: {{m: {len(have)}}}"
            if len(have) > 1
            else "Wait for people with other secrets, or drop the column.",
        )
    return out


def _split(value: Codes, owner: Counts, rank: Counts, known: _Signatures) -> Republished:
    """Groups of one record for each value of a signature, of records with similar ranks."""
    counts = known.counts(owner, value)
    most = known.most(counts)
    begin = np.append(0, np.cumsum(most))
    entry = known.entry(owner, value)
    order = np.lexsort((rank, entry))
    first = np.append(0, np.cumsum(counts))[:-1]
    at = np.arange(len(order)) - first[entry[order]]
    # Fewer records than groups are spread over them: counterfeits are where nobody is.
    spread = (2 * at + 1) * most[owner[order]] // (2 * counts[entry[order]])
    group = np.empty(len(value), np.int64)
    group[order] = begin[owner[order]] + spread
    of_group = np.repeat(np.arange(len(known.sets), dtype=np.int32), most)
    return Republished(group, of_group, known.sets)

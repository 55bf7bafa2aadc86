"""Global recoding: every value of a column is published in the same way in all records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tarnkappe.arrays import Codes
from tarnkappe.boxes import Boxes
from tarnkappe.groups import Grouping
from tarnkappe.tally import Domain, Tally, distinct_rows


@dataclass(frozen=True, eq=False)
class Cut:
    """How one column is recoded: leaf ``i`` belongs to part ``part[i]``, which publishes ``lo .. hi`` inside `node`."""

    part: Codes
    lo: Codes
    hi: Codes
    node: Codes

    @property
    def n_parts(self) -> int:
        """Number of different labels."""
        return len(self.node)

    @classmethod
    def of_nodes(cls, domain: Domain, node: Codes) -> Cut:
        """Leaf ``i`` is published as ``node[i]``, one of its ancestors or itself."""
        used, part = np.unique(node, return_inverse=True)
        tree = domain.taxonomy
        return cls(part.astype(np.int32), tree.lo[used], tree.hi[used], used.astype(np.int32))

    @classmethod
    def at_level(cls, domain: Domain, level: int) -> Cut:
        """Every leaf goes up the same number of levels (full-domain generalisation)."""
        return cls.of_nodes(domain, domain.taxonomy.ancestors[level])

    @classmethod
    def of_intervals(cls, domain: Domain, starts: Codes) -> Cut:
        """Parts are runs of neighbouring leaves; `starts` are their first leaves in ascending order, 0 among them."""
        starts = np.asarray(starts, np.int32)
        hi = np.append(starts[1:], domain.size).astype(np.int32) - np.int32(1)
        part = np.repeat(np.arange(len(starts), dtype=np.int32), hi - starts + 1)
        return cls(part, starts, hi, domain.nodes(starts, hi).astype(np.int32))

    def has_intervals(self, domain: Domain) -> bool:
        """Whether some part is an interval of a range, and not the whole of it."""
        tree = domain.taxonomy
        inside = (self.lo > tree.lo[self.node]) | (self.hi < tree.hi[self.node])
        return bool(np.any(inside & domain.is_range[self.node]))


def recode(tally: Tally, cuts: Sequence[Cut]) -> Grouping:
    """Group the cells that look the same once every column is recoded by its cut."""
    parts = [cut.part[tally.quasi[:, j]] for j, cut in enumerate(cuts)]
    group, first = distinct_rows(parts, [cut.n_parts for cut in cuts])

    def published(values: str) -> Codes:
        columns = [getattr(cut, values)[p[first]] for cut, p in zip(cuts, parts, strict=True)]
        return np.column_stack(columns).astype(np.int32)

    members = {}
    for j, (domain, cut) in enumerate(zip(tally.quasi_domains, cuts, strict=True)):
        if domain.sets and cut.has_intervals(domain):
            bits = [((1 << int(hi - lo + 1)) - 1) << int(lo) for lo, hi in zip(cut.lo, cut.hi, strict=True)]
            members[j] = np.array(bits, np.uint64)[parts[j][first]]
    boxes = Boxes(published("lo"), published("hi"), published("node"), members)
    return Grouping.of_cells(tally, group, len(first), boxes)

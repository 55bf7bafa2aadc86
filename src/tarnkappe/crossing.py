"""What became of the values of each column: records by value, and by what their groups publish for it.

Thousands of groups publish the same few labels in a column. What is measured about columns is measured on these pairs,
which are few, and the cells are gone through once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.boxes import Boxes
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.kernels.crossing import count_crossed
from tarnkappe.publish.labels import Labels
from tarnkappe.tally import Tally, distinct_rows
from tarnkappe.threads import map_threads

#: So many pairs of a column have a counter each, whether they occur or not, beside those that the cells pay for.
_FEW = 1 << 20


class Crossed(NamedTuple):
    """A column's pairs of a value and what is published for it, in the order of values."""

    #: The value.
    code: Codes
    #: A group that publishes what all groups of this pair publish; those who are suppressed have none.
    group: Codes
    records: Counts


def cross(tally: Tally, grouping: Grouping, boxes: Boxes, labels: tuple[Labels, ...]) -> tuple[Crossed, ...]:
    """Cross the values of every quasi-identifier with what is published for them. O(cells x quasi-identifiers)."""
    pieces = grouping.cell, grouping.group, grouping.quota

    def crossed(j: int) -> Crossed:
        size = tally.quasi_domains[j].size
        way, first = _ways(tally, boxes, labels[j], j)
        way, first = np.append(way, len(first)).astype(np.int32), np.append(first, SUPPRESSED).astype(np.int32)
        if size * len(first) <= _FEW + tally.n_cells:
            records = np.zeros((size, len(first)), np.int64)
            count_crossed(tally.quasi, j, *pieces, way, records)
            code, of_way = np.nonzero(records)
            return Crossed(code.astype(np.int32), first[of_way], records[code, of_way])
        codes, ways = tally.quasi[grouping.cell, j], way[grouping.group]
        pair, one = distinct_rows([codes, ways], [size, len(first)])
        return Crossed(codes[one], first[ways[one]], np.bincount(pair, grouping.quota, len(one)).astype(np.int64))

    return tuple(map_threads(crossed, range(tally.quasi.shape[1])))


def _ways(tally: Tally, boxes: Boxes, labels: Labels, j: int) -> tuple[Codes, Codes]:
    """The number of what each group publishes in a column, and one group that publishes each."""
    domain = tally.quasi_domains[j]
    columns = [labels.code + 1, boxes.node[:, j], boxes.lo[:, j], boxes.hi[:, j] + 1]
    sizes = [len(labels.texts) + 1, domain.taxonomy.n_nodes, domain.size + 1, domain.size + 1]
    if j in boxes.members:
        sets, number = np.unique(boxes.members[j], return_inverse=True)
        columns, sizes = [*columns, number.astype(np.int32)], [*sizes, len(sets)]
    return distinct_rows(columns, sizes)

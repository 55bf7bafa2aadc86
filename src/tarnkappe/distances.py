"""How far records are from the centres that stand for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.tally import Tally

if TYPE_CHECKING:
    from tarnkappe.groups import Draft


@dataclass(frozen=True, eq=False)
class Distances:
    """How far records are from what their groups publish in one column: `records` of `group` are ``off`` away."""

    group: Codes
    off: Floats
    records: Counts

    def kept(self, keep: NDArray[np.bool_]) -> Distances:
        """Those of some of the groups, renumbered."""
        new = (np.cumsum(keep) - 1).astype(np.int32)
        shown = keep[self.group]
        return Distances(new[self.group[shown]], self.off[shown], self.records[shown])


def distances_of(tally: Tally, grouping: Draft, columns: Iterable[str]) -> dict[str, Distances]:
    """How far records are from the centres of their groups in some columns of numbers; nothing without centres."""
    centres = grouping.form.centres
    out = {}
    for j, domain in enumerate(tally.quasi_domains):
        if centres is None or domain.name not in columns or domain.values is None:
            continue
        code = tally.quasi[grouping.cell, j]
        shown = (grouping.group >= 0) & domain.known[code]
        group = grouping.group[shown]
        out[domain.name] = Distances(
            group, np.abs(domain.positions[code[shown]] - centres[group, j]), grouping.quota[shown]
        )
    return out

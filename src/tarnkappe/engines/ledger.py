"""The ledger: what engines enter about every record that they rewrite, so that the written table can be held to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.groups import SUPPRESSED
from tarnkappe.io.kept import MODULUS, restored, together, words
from tarnkappe.kernels.engines.words import pair_words
from tarnkappe.plan import Plan


@dataclass(frozen=True, eq=False)
class Ledger:
    """The records of the input as they must be found in the release: under which labels, with which values.

    `carried` are the columns that pass through, with the types they have in the input, as the engine calls them. `rows`
    is the fingerprint (see `tarnkappe.io.kept`) of all published records: the labels of their groups, and what they
    carry.
    """

    carried: Mapping[str, Any]
    rows: int
    #: Whether as many records of every cell were dealt to every group as planned.
    as_planned: bool


class LedgerKeeper:
    """Enters records batch by batch, in the order of the input and before they are written."""

    def __init__(self, plan: Plan, carried: Mapping[str, pl.DataType]) -> None:
        """Look up what each group publishes."""
        self._plan = plan
        self._carried = dict(carried)
        groups = np.arange(plan.n_groups, dtype=np.int32)
        shown = pl.DataFrame({f"q{j}": labels.at(groups) for j, labels in enumerate(plan.labels)})
        self._labels = shown.select(words({n: restored(n, t, t) for n, t in shown.schema.items()})).to_series()
        self._rows = 0
        self._pairs = np.uint64(0)

    @property
    def columns(self) -> list[str]:
        """The columns that records carry."""
        return list(self._carried)

    def enter(self, cell: Codes, group: Codes, carried: pl.DataFrame) -> None:
        """Records of the input: their cells, the groups they go to, and what they carry."""
        self._pairs += pair_words(cell, group).sum(dtype=np.uint64)
        kept = np.flatnonzero(group != SUPPRESSED)
        if len(kept) < len(group):
            group, carried = group[kept], carried[kept]
        values = {name: restored(name, carried.schema[name], wanted) for name, wanted in self._carried.items()}
        labels = self._labels.gather(group).alias("labels of the group")
        word = carried.select(together(pl.lit(labels), words(values))).to_series()
        self._rows = (self._rows + int(word.sum())) % MODULUS

    def closed(self) -> Ledger:
        """What was entered."""
        grouping = self._plan.grouping
        planned = pair_words(grouping.cell, grouping.group) * grouping.quota.astype(np.uint64)
        return Ledger(self._carried, self._rows, bool(self._pairs == planned.sum(dtype=np.uint64)))

"""Cells in boxes: what records publish in some columns where these are coarsened apart from the numbered groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.boxes import Boxes
from tarnkappe.publish.boxes import TIGHT
from tarnkappe.publish.form import Meaning
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.reading import covers
from tarnkappe.schema import Column
from tarnkappe.tally import Domain, Tally, distinct_rows


@dataclass(frozen=True, eq=False)
class Recoding:
    """The box of every cell in some quasi-identifiers (-1: no record of the cell is published).

    Records of a cell are alike, so they share a box.
    """

    domains: tuple[Domain, ...]
    box: Codes
    boxes: Boxes

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are coarsened."""
        return tuple(domain.name for domain in self.domains)

    def labels(self, missing: Collection[str] = ()) -> tuple[Labels, ...]:
        """What each box publishes in each column; `missing` are texts that read like a missing value."""
        return TIGHT.labels(self.boxes, self.domains, missing)

    def look(self, missing: Collection[str] = ()) -> Codes:
        """What each cell looks like: the same number where all labels are the same."""
        labels = self.labels(missing)
        look, _ = distinct_rows([x.code + 1 for x in labels], [len(x.texts) + 1 for x in labels])
        return np.append(look, np.int32(-1))[self.box].astype(np.int32)

    def done(self, column: Column) -> str:
        """How a column was coarsened, in words."""
        j = self.names.index(column.name)
        return TIGHT.done(j, column, self.domains[j], self.boxes, self.labels()[j])

    def meanings(self, column: Column) -> Iterator[Meaning]:
        """What each label of a column means."""
        j = self.names.index(column.name)
        return TIGHT.meanings(j, column, self.domains[j], self.boxes, self.labels()[j])

    def untrue(self, tally: Tally, published: Counts, missing: Collection[str] = ()) -> list[str]:
        """What labels, read from their texts, say that is not true of the records that have them, in words."""
        cells = np.flatnonzero(published)
        places = {domain.name: j for j, domain in enumerate(tally.quasi_domains)}
        problems = []
        for domain, labels in zip(self.domains, self.labels(missing), strict=True):
            leaf = tally.quasi[cells, places[domain.name]]
            wrong = int((~covers(labels, domain, self.box[cells], leaf, missing)).sum())
            if wrong:
                problems.append(f"labels of '{domain.name}' do not cover the values of {wrong} cells that have them")
        return problems

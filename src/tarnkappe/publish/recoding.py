"""Cells in boxes: what records publish in some columns where these are coarsened apart from the numbered groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.boxes import Boxes
from tarnkappe.publish.boxes import TIGHT, BoxForm
from tarnkappe.publish.form import Meaning
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.reading import covers
from tarnkappe.publish.sheets import Reading
from tarnkappe.schema import Column
from tarnkappe.tally import Domain, Tally, distinct_rows

if TYPE_CHECKING:
    from tarnkappe.criteria.base import Verdict
    from tarnkappe.plan import DealtPlan


@dataclass(frozen=True, eq=False)
class Recoding:
    """The box of every cell in some quasi-identifiers (-1: no record of the cell is published).

    Records of a cell are alike, so they share a box. `form` tells tight boxes from those that an algorithm fixed.
    """

    domains: tuple[Domain, ...]
    box: Codes
    boxes: Boxes
    form: BoxForm = TIGHT

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are coarsened."""
        return tuple(domain.name for domain in self.domains)

    def labels(self, missing: Collection[str] = ()) -> tuple[Labels, ...]:
        """What each box publishes in each column; `missing` are texts that read like a missing value."""
        return self.form.labels(self.boxes, self.domains, missing)

    def look(self, missing: Collection[str] = ()) -> Codes:
        """What each cell looks like: the same number where all labels are the same."""
        labels = self.labels(missing)
        look, _ = distinct_rows([x.code + 1 for x in labels], [len(x.texts) + 1 for x in labels])
        return np.append(look, np.int32(-1))[self.box].astype(np.int32)

    def done(self, column: Column) -> str:
        """How a column was coarsened, in words."""
        j = self.names.index(column.name)
        return self.form.done(j, column, self.domains[j], self.boxes, self.labels()[j])

    def meanings(self, column: Column) -> Iterator[Meaning]:
        """What each label of a column means."""
        j = self.names.index(column.name)
        return self.form.meanings(j, column, self.domains[j], self.boxes, self.labels()[j])

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


def judged_by_looks(
    plan: DealtPlan, people: Recoding, tables: Mapping[str, Counts] | None = None
) -> tuple[Verdict, ...]:
    """What every criterion of the goal finds: people are found among those who look alike, secrets by the numbers."""
    reading = Reading("", alike=people.names)
    alike = [c for c in plan.goal.criteria if reading.finds_alike(c)]
    others = [c for c in plan.goal.criteria if c not in alike]
    found: dict[int, Verdict] = {}
    if alike:
        verdicts = plan.goal.about(alike).verdicts(plan.stats_alike(people.look()))
        found |= zip(map(id, alike), verdicts, strict=True)
    if others:
        found |= zip(map(id, others), plan.verdicts(plan.goal.about(others), tables), strict=True)
    return tuple(found[id(c)] for c in plan.goal.criteria)

"""Groups publish boxes, and every person a sensitive value that is as coarse as the group needs it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.arrays import Codes
from tarnkappe.boxes import Boxes
from tarnkappe.publish.boxes import TIGHT
from tarnkappe.publish.by_looks import ByLooks
from tarnkappe.publish.form import Meaning
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.reading import covers
from tarnkappe.publish.sheets import Reading, Strand, Values
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.plan import DealtPlan


@dataclass(frozen=True, eq=False)
class Personal(ByLooks):
    """One table: coarse quasi-identifiers, and a sensitive value that is coarsened person by person.

    The taxonomy of the sensitive column has the labels. Which node a record publishes is part of the deal
    (`Deal.raised`).
    """

    name: ClassVar = "personal labels"
    truth: ClassVar = "labels true of every record"
    loses: ClassVar = (
        "Every row is still one person's. Quasi-identifiers are coarsened, and sensitive values where guarding nodes "
        "ask for it."
    )
    caution: ClassVar = (
        "A category in the sensitive column stands for any value below it. Of two people with the same value one may "
        "have the value and the other a category, so whoever counts a value must take the categories above it into "
        "account."
    )

    row: ClassVar = (
        "One row for every person: coarse quasi-identifiers, the sensitive value or a category that it belongs to, "
        "and the number of all who look alike."
    )
    done_to_secret: ClassVar = "coarsened person by person, as far as the guarding nodes of the group ask for it"

    @property
    def raises(self) -> Domain:
        """The guarded column."""
        return self.secret

    def secrets(self, plan: DealtPlan, values: Values) -> Callable[[slice], pl.Series]:
        """The labels of the nodes that records were raised to."""
        nodes, shown = self._labels(plan, values.missing)
        return lambda run: shown.at(nodes[run])

    def witness(self, plan: DealtPlan, rng: np.random.Generator) -> pl.DataFrame | None:
        """What criteria look at beside the sensitive column, row by row; people under numbers drawn by lot."""
        import polars as pl

        columns = []
        for name in plan.goal.columns:
            s = plan.tally.sensitive_index(name)
            domain, codes = plan.tally.sensitive_domains[s], plan.tally.sensitive[plan.deal.cell, s]
            if name == self.secret.name:
                continue
            if any(name == c.person_column for c in plan.goal.criteria):
                columns.append(pl.Series(name, rng.permutation(domain.size)[codes]))
                continue
            texts = pl.Series(name, [*domain.taxonomy.leaves, None], dtype=pl.String)
            columns.append(texts.gather(np.where(domain.known[codes], codes, len(texts) - 1)))
        return pl.DataFrame(columns) if columns else None

    def _labels(self, plan: DealtPlan, missing: Collection[str]) -> tuple[Codes, Labels]:
        """The label of every record in the sensitive column: which of those in use it is, and these."""
        assert plan.deal.raised is not None, "every record has a node"
        used, place = np.unique(plan.deal.raised, return_inverse=True)
        boxes = Boxes.of_nodes(used.astype(np.int32)[:, None], [self.secret])
        (labels,) = TIGHT.labels(boxes, [self.secret], missing)
        return place.astype(np.int32), labels

    def untrue(self, plan: DealtPlan, missing: Collection[str] = ()) -> list[str]:
        """Those of all such forms, and sensitive labels that do not cover the values of those who have them."""
        problems = super().untrue(plan, missing)
        nodes, labels = self._labels(plan, missing)
        leaf = plan.tally.sensitive[plan.deal.cell, plan.tally.sensitive_index(self.secret.name)]
        wrong = int((~covers(labels, self.secret, nodes, leaf, missing)).sum())
        if wrong:
            problems.append(f"labels of '{self.secret.name}' do not cover the values of {wrong} records that have them")
        return problems

    def reading(self, schema: Schema) -> Reading:
        """All stands in one table; those who look alike have one number."""
        return Reading(self.number(schema), alike=self.people.names, raised=self.secret.name)

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """All records of a group have the same labels, so that the sensitive ones may be looked at by themselves."""
        return Strand(self.people.names, recoded=self.people), Strand((self.secret.name,), raised=self.secret)

    def meanings(self, column: Column) -> Iterator[Meaning]:
        """What the labels mean; of the sensitive column, every node that may stand there."""
        if column.role == "quasi":
            yield from super().meanings(column)
            return
        tree = self.secret.taxonomy
        nodes = np.arange(tree.n_nodes, dtype=np.int32)[:, None]
        boxes = Boxes.of_nodes(nodes, [self.secret])
        (labels,) = TIGHT.labels(boxes, [self.secret])
        if column.taxonomy is None or column.taxonomy.follows_data:
            yield "", "The value, or a category of its taxonomy."
            return
        for label, words in TIGHT.meanings(0, column, self.secret, boxes, labels):
            if label is not None:
                yield label, words

"""Groups publish boxes, and every person a sensitive value that is as coarse as the group needs it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.boxes import Boxes
from tarnkappe.publish.boxes import TIGHT
from tarnkappe.publish.form import Meaning
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.numbered import Numbered, numbers_of
from tarnkappe.publish.reading import covers
from tarnkappe.publish.recoding import Recoding, judged_by_looks
from tarnkappe.publish.sheets import MAIN, Reading, Sheet, Strand, Values, free_name
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.criteria.base import Verdict
    from tarnkappe.plan import DealtPlan


@dataclass(frozen=True, eq=False)
class Personal(Numbered):
    """One table: coarse quasi-identifiers, and a sensitive value that is coarsened person by person.

    `people` are the boxes of the groups, `secret` the sensitive column whose taxonomy has the labels. Which node a
    record publishes is part of the deal (`Deal.raised`). Everybody who looks alike has the same number.
    """

    people: Recoding
    secret: Domain

    name: ClassVar = "personal labels"
    hides: ClassVar = frozenset({"identity", "presence", "secret"})
    changes: ClassVar = "coarsened where needed"
    coarsens: ClassVar = True
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

    @property
    def raises(self) -> Domain:
        """The guarded column."""
        return self.secret

    def number(self, schema: Schema) -> str:
        """A name that no column of the data has, published or not: what is not stands beside it where it is checked."""
        return free_name(self.numbers, [c.name for c in schema.columns])

    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """The people with their labels, those of the sensitive column among them."""
        import polars as pl

        deal, number = plan.deal, self.number(schema)
        labels = dict(zip(self.people.names, self.people.labels(values.missing), strict=True))
        names = [c.name for c in schema.columns if c.name in labels or c.name == self.secret.name]
        nodes, shown = self._labels(plan, values.missing)

        def batches() -> Iterator[pl.DataFrame]:
            for first, after in deal.chunks():
                run = slice(deal.starts[first], deal.starts[after])
                columns = [
                    (labels[n].at(self.people.box[deal.cell[run]]) if n in labels else shown.at(nodes[run])).alias(n)
                    for n in names
                ]
                yield pl.DataFrame([*columns, pl.Series(number, numbers_of(deal, first, after))])

        about = (
            "One row for every person: coarse quasi-identifiers, the sensitive value or a category that it belongs to, "
            "and the number of all who look alike."
        )
        return (Sheet(MAIN, (*names, number), batches, about),)

    def witness(self, plan: DealtPlan, rng: np.random.Generator) -> pl.DataFrame | None:
        """What criteria look at beside the sensitive column, row by row; people under numbers drawn by lot."""
        import polars as pl

        columns = []
        for name in plan.goal.columns:
            s = plan.tally.sensitive_index(name)
            domain, codes = plan.tally.sensitive_domains[s], plan.tally.sensitive[plan.deal.cell, s]
            if name == self.secret.name:
                continue
            if any(name == getattr(c, "subject", None) for c in plan.goal.criteria):
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

    def verdicts(self, plan: DealtPlan, tables: Mapping[str, Counts] | None = None) -> tuple[Verdict, ...]:
        """Secrets are judged in the groups, people among those who look alike, who are the same."""
        return judged_by_looks(plan, self.people, tables)

    def untrue(self, plan: DealtPlan, missing: Collection[str] = ()) -> list[str]:
        """Labels that do not cover the values of those who have them; people who look alike under several numbers."""
        problems = self.people.untrue(plan.tally, plan.published, missing)
        deal = plan.deal
        nodes, labels = self._labels(plan, missing)
        leaf = plan.tally.sensitive[deal.cell, plan.tally.sensitive_index(self.secret.name)]
        wrong = int((~covers(labels, self.secret, nodes, leaf, missing)).sum())
        if wrong:
            problems.append(f"labels of '{self.secret.name}' do not cover the values of {wrong} records that have them")
        look = self.people.look(missing)[deal.cell]
        of_group = look[deal.starts[:-1]]
        if not np.array_equal(look, np.repeat(of_group, deal.size)) or len(np.unique(of_group)) < deal.n_groups:
            problems.append("numbers of groups do not tell those apart who look different, and only those")
        return problems

    def reading(self, schema: Schema) -> Reading:
        """All stands in one table; those who look alike have one number."""
        return Reading(self.number(schema), alike=self.people.names, raised=self.secret.name)

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """All records of a group have the same labels, so that the sensitive ones may be looked at by themselves."""
        return Strand(self.people.names, recoded=self.people), Strand((self.secret.name,), raised=self.secret)

    def done(self, column: Column) -> str:
        """How far a column was coarsened."""
        if column.role == "quasi":
            return self.people.done(column)
        return "coarsened person by person, as far as the guarding nodes of the group ask for it"

    def meanings(self, column: Column) -> Iterator[Meaning]:
        """What the labels mean; of the sensitive column, every node that may stand there."""
        if column.role == "quasi":
            yield from self.people.meanings(column)
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

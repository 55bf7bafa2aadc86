"""Groups publish batches: how often each sensitive value, beside boxes that were formed without looking at them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.arrays import Counts
from tarnkappe.publish.boxes import one_meaning
from tarnkappe.publish.form import Meaning
from tarnkappe.publish.numbered import COUNT, Numbered, counted_sheet, numbers_of, shuffled
from tarnkappe.publish.recoding import Recoding, judged_by_looks
from tarnkappe.publish.sheets import MAIN, Reading, Sheet, Strand, Values, free_name
from tarnkappe.schema import Column, Schema

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.criteria.base import Verdict
    from tarnkappe.deals import Deal
    from tarnkappe.plan import DealtPlan

#: The table of the sensitive values.
BATCHES = "batches"


@dataclass(frozen=True, eq=False)
class Batches(Numbered):
    """A table of coarse quasi-identifiers with the number of a batch, and how often each batch has each secret.

    The boxes of the first table are formed without the batches, so they can be far smaller. Each of the `marginals` is
    one more table, of some of the quasi-identifiers only and therefore less coarse, with the same numbers.
    """

    people: Recoding
    marginals: tuple[Recoding, ...] = ()

    name: ClassVar = "batches"
    hides: ClassVar = frozenset({"identity", "secret"})
    changes: ClassVar = "coarsened where needed, torn from the sensitive ones"
    truth: ClassVar = "labels true of every record, and every batch has the sensitive values of its people"
    coarsens: ClassVar = True
    loses: ClassVar = "What is lost is which values of a group belong together. Quasi-identifiers are coarsened too."
    numbers: ClassVar = "batch"
    caution: ClassVar = (
        "A batch of the first table has the values of the same batch in the second, but nobody knows who has which: "
        "do not join the tables row by row."
    )

    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """The people with their labels and the number of their batch, the secrets of every batch, the marginals."""
        number = self.number(schema)
        labelled = [*self._labelled()]
        tables = [
            labelled_sheet(name, plan.deal, number, recoding, values.missing, about, stream)
            for (name, recoding, about), stream in zip(labelled, rng.spawn(len(labelled)), strict=True)
        ]
        secrets = counted_sheet(
            BATCHES,
            plan,
            schema,
            number,
            values,
            "One row for every batch and sensitive value: how many people of the batch have it.",
        )
        return tables[0], secrets, *tables[1:]

    def verdicts(self, plan: DealtPlan, tables: Mapping[str, Counts] | None = None) -> tuple[Verdict, ...]:
        """Secrets are judged in the batches, people among those who look alike."""
        return judged_by_looks(plan, self.people, tables)

    def untrue(self, plan: DealtPlan, missing: Collection[str] = ()) -> list[str]:
        """Labels that do not cover the values of those who have them."""
        return [
            words
            for _, recoding, _ in self._labelled()
            for words in recoding.untrue(plan.tally, plan.published, missing)
        ]

    def reading(self, schema: Schema) -> Reading:
        """Sensitive values stand in the table of the batches, with their counts."""
        number = self.number(schema)
        count = free_name(COUNT, [*(c.name for c in schema.sensitive), number])
        return Reading(number, BATCHES, count, self.people.names)

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """The labels of every table, and the sensitive values."""
        secret = tuple(c.name for c in schema.sensitive)
        labelled = [Strand(recoding.names, name, recoded=recoding) for name, recoding, _ in self._labelled()]
        return *labelled, Strand(secret, BATCHES, self.reading(schema).count)

    def done(self, column: Column) -> str:
        """How far a column was coarsened, or where it stands."""
        if column.role == "quasi":
            return self.people.done(column)
        return "published in a table of its own, counted by batch"

    def meanings(self, column: Column) -> Iterator[Meaning]:
        """What the labels of all tables mean."""
        if column.role != "quasi":
            yield from super().meanings(column)
            return
        said: dict[str | None, list[str]] = {}
        for _, recoding, _ in self._labelled():
            if column.name in recoding.names:
                for label, words in recoding.meanings(column):
                    said.setdefault(label, []).append(words)
        yield from ((label, one_meaning(words)) for label, words in said.items())

    def _labelled(self) -> Iterator[tuple[str, Recoding, str]]:
        """The tables of labels: name, labels, and what a row is."""
        yield MAIN, self.people, "One row for every person: coarse quasi-identifiers, and the number of a batch."
        for i, recoding in enumerate(self.marginals, 1):
            names = " and ".join(recoding.names)
            yield f"marginal-{i}", recoding, f"One row for every person: {names} only, and the same number."


def labelled_sheet(
    name: str,
    deal: Deal,
    number: str,
    recoding: Recoding,
    missing: Collection[str],
    about: str,
    stream: np.random.Generator,
) -> Sheet:
    """A table that has a row for every person: labels, and the number of the group.

    Rows of a group are in an order of their own, or those of two tables could be put beside each other.
    """
    import polars as pl

    labels = recoding.labels(missing)

    def batches() -> Iterator[pl.DataFrame]:
        for first, after, cells in shuffled(deal, stream):
            boxes = recoding.box[cells]
            shown = [x.at(boxes).alias(column) for column, x in zip(recoding.names, labels, strict=True)]
            yield pl.DataFrame([*shown, pl.Series(number, numbers_of(deal, first, after))])

    return Sheet(name, (*recoding.names, number), batches, about)

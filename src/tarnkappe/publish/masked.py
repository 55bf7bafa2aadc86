"""Groups publish boxes, and sensitive values some of which were falsified."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.arrays import Counts
from tarnkappe.publish.form import Meaning
from tarnkappe.publish.numbered import Numbered, numbers_of
from tarnkappe.publish.recoding import Recoding, judged_by_looks
from tarnkappe.publish.sheets import MAIN, Reading, Sheet, Strand, Values, free_name
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.criteria.base import Verdict
    from tarnkappe.plan import DealtPlan


@dataclass(frozen=True, eq=False)
class Masked(Numbered):
    """One table: coarse quasi-identifiers, and a sensitive value that is mostly the person's own.

    `people` are the boxes of the groups, `secret` the sensitive column. Which value a record publishes is part of the
    deal (`Deal.told`). Everybody who looks alike has the same number.
    """

    people: Recoding
    secret: Domain

    name: ClassVar = "masked values"
    hides: ClassVar = frozenset({"identity", "presence", "secret"})
    changes: ClassVar = "coarsened where needed"
    coarsens: ClassVar = True
    truth: ClassVar = "labels true of every record; sensitive values as drawn, some perhaps falsified"
    loses: ClassVar = (
        "Every row is still one person's. Quasi-identifiers are coarsened; if a group had too many guarded values, "
        "some of them were replaced by others."
    )
    caution: ClassVar = (
        "Some sensitive values may be falsified, and nobody can tell which: a guarded value may have been replaced by "
        "another one. Counts of guarded values may therefore be too low."
    )

    @property
    def falsifies(self) -> Domain:
        """The guarded column."""
        return self.secret

    def number(self, schema: Schema) -> str:
        """A name that no column of the data has."""
        return free_name(self.numbers, [c.name for c in schema.columns])

    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """The people with their labels, and the sensitive values that they were dealt to tell."""
        import polars as pl

        deal, number = plan.deal, self.number(schema)
        assert deal.told is not None, "every record has a value to tell"
        told = deal.told
        labels = dict(zip(self.people.names, self.people.labels(values.missing), strict=True))
        names = [c.name for c in schema.columns if c.name in labels or c.name == self.secret.name]

        def batches() -> Iterator[pl.DataFrame]:
            for first, after in deal.chunks():
                run = slice(deal.starts[first], deal.starts[after])
                columns = [
                    (labels[n].at(self.people.box[deal.cell[run]]) if n in labels else values.at(n, told[run])).alias(n)
                    for n in names
                ]
                yield pl.DataFrame([*columns, pl.Series(number, numbers_of(deal, first, after))])

        about = (
            "One row for every person: coarse quasi-identifiers, a sensitive value that may be falsified, and the "
            "number of all who look alike."
        )
        return (Sheet(MAIN, (*names, number), batches, about),)

    def verdicts(self, plan: DealtPlan, tables: Mapping[str, Counts] | None = None) -> tuple[Verdict, ...]:
        """Secrets are judged in the groups, as they are told; people among those who look alike, who are the same."""
        return judged_by_looks(plan, self.people, tables)

    def untrue(self, plan: DealtPlan, missing: Collection[str] = ()) -> list[str]:
        """Labels that do not cover the values of those who have them; people who look alike under several numbers."""
        problems = self.people.untrue(plan.tally, plan.published, missing)
        deal = plan.deal
        look = self.people.look(missing)[deal.cell]
        of_group = look[deal.starts[:-1]]
        if not np.array_equal(look, np.repeat(of_group, deal.size)) or len(np.unique(of_group)) < deal.n_groups:
            problems.append("numbers of groups do not tell those apart who look different, and only those")
        return problems

    def reading(self, schema: Schema) -> Reading:
        """All stands in one table; those who look alike have one number."""
        return Reading(self.number(schema), alike=self.people.names)

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """All records of a group have the same labels, so that the sensitive values may be looked at by themselves."""
        return Strand(self.people.names, recoded=self.people), Strand((self.secret.name,), falsified=True)

    def done(self, column: Column) -> str:
        """How far a column was coarsened, or that it is not quite true."""
        if column.role == "quasi":
            return self.people.done(column)
        return "published unchanged but for guarded values, some of which were replaced by others"

    def meanings(self, column: Column) -> Iterator[Meaning]:
        """What the labels mean."""
        if column.role == "quasi":
            yield from self.people.meanings(column)
            return
        yield from super().meanings(column)

"""Groups publish boxes, and every person a sensitive value of their own: what such forms share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.arrays import Counts
from tarnkappe.publish.form import Meaning
from tarnkappe.publish.numbered import Numbered, numbers_of
from tarnkappe.publish.recoding import Recoding, judged_by_looks
from tarnkappe.publish.sheets import MAIN, Sheet, Values, free_name
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.criteria.base import Verdict
    from tarnkappe.plan import DealtPlan


@dataclass(frozen=True, eq=False)
class ByLooks(Numbered):
    """One table: coarse quasi-identifiers, and a sensitive value that is not always the person's own.

    `people` are the boxes of the groups, `secret` the sensitive column. Everybody who looks alike has the same number.
    """

    people: Recoding
    secret: Domain

    hides: ClassVar = frozenset({"identity", "presence", "secret"})
    changes: ClassVar = "coarsened where needed"
    coarsens: ClassVar = True
    #: What a row holds, and what was done to the sensitive column, in words.
    row: ClassVar[str]
    done_to_secret: ClassVar[str]

    def number(self, schema: Schema) -> str:
        """A name that no column of the data has, published or not: what is not stands beside it where it is checked."""
        return free_name(self.numbers, [c.name for c in schema.columns])

    @abstractmethod
    def secrets(self, plan: DealtPlan, values: Values) -> Callable[[slice], pl.Series]:
        """What records publish in the sensitive column, a run of them at a time."""

    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """The people with their labels and sensitive values."""
        import polars as pl

        deal, number = plan.deal, self.number(schema)
        labels = dict(zip(self.people.names, self.people.labels(values.missing), strict=True))
        names = [c.name for c in schema.columns if c.name in labels or c.name == self.secret.name]
        secrets = self.secrets(plan, values)

        def batches() -> Iterator[pl.DataFrame]:
            for first, after in deal.chunks():
                run = slice(deal.starts[first], deal.starts[after])
                columns = [
                    (labels[n].at(self.people.box[deal.cell[run]]) if n in labels else secrets(run)).alias(n)
                    for n in names
                ]
                yield pl.DataFrame([*columns, pl.Series(number, numbers_of(deal, first, after))])

        return (Sheet(MAIN, (*names, number), batches, self.row),)

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

    def done(self, column: Column) -> str:
        """How far a quasi-identifier was coarsened, or what became of the sensitive column."""
        return self.people.done(column) if column.role == "quasi" else self.done_to_secret

    def meanings(self, column: Column) -> Iterator[Meaning]:
        """What the labels mean."""
        yield from self.people.meanings(column) if column.role == "quasi" else super().meanings(column)

"""Groups publish permuted columns: everything as it is in one table, but who has which value was shuffled by lot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.publish.numbered import COUNT, Numbered, as_it_is, numbers_of
from tarnkappe.publish.sheets import MAIN, STATISTICS, Figure, Reading, Sheet, Strand, Summary, Values, free_name
from tarnkappe.publish.totals import totals
from tarnkappe.schema import Column, Schema

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.plan import DealtPlan

#: The table that sums up every group.
GROUPS = "groups"

#: What each figure of a group is, in words.
_WORDS = {
    "min": "smallest known value",
    "max": "largest known value",
    "sum": "sum of the known values",
    "mean": "mean of the known values",
}


@dataclass(frozen=True)
class Permuted(Numbered):
    """One table in which the sensitive values of each group are in an order of their own, and one that sums up groups.

    Whoever finds a person in the table knows the group, and that the person has one of its sensitive values. Sensitive
    values of several columns stay together. Of numbers, the second table says the smallest, the largest, the sum and
    the mean of every group, so that sums over whole groups are exact.
    """

    name: ClassVar = "permuted columns"
    hides: ClassVar = frozenset({"secret"})
    changes: ClassVar = "published as they are, torn from the sensitive ones"
    truth: ClassVar = "every group has the values of its people, and no others; figures are those of its values"
    caution: ClassVar = (
        "Within a group the sensitive values were shuffled by lot: those in a person's row need not be that person's. "
        "Only all rows of a group together have the values of its people."
    )

    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """The people beside sensitive values of their groups, and the figures of every group."""
        return _people(plan, schema, self.number(schema), values, rng), _figures(plan, schema, self.reading(schema))

    def reading(self, schema: Schema) -> Reading:
        """All stands in the first table; the second can be computed from it."""
        number = self.number(schema)
        taken = [*schema.published, number]
        records = free_name(COUNT, taken)
        taken.append(records)
        figures = []
        for column in _measured(schema):
            for what in STATISTICS:
                shown = free_name(f"{column.name} {what}", taken)
                taken.append(shown)
                figures.append(Figure(shown, what, column.name))
        return Reading(number, summaries=(Summary(GROUPS, records, tuple(figures)),))

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """The quasi-identifiers, and the sensitive values, which were moved together."""
        return tuple(Strand(tuple(c.name for c in columns)) for columns in (schema.quasi, schema.sensitive))

    def done(self, column: Column) -> str:
        """Whether the column stands still."""
        if column.role == "quasi":
            return f"{as_it_is(column)}, beside sensitive values of other people of the group"
        return "published unchanged, but shuffled within each group"

    def further(self, schema: Schema) -> dict[str, str]:
        """Also the figures of groups."""
        (summary,) = self.reading(schema).summaries
        said = {summary.records: "How many people the group has."}
        for figure in summary.figures:
            said[figure.column] = f"The {_WORDS[figure.what]} of '{figure.of}' in the group."
        return super().further(schema) | said


def _measured(schema: Schema) -> list[Column]:
    """The sensitive columns that hold numbers."""
    return [c for c in schema.sensitive if c.kind == "numeric" and c.taxonomy is None]


def _people(plan: DealtPlan, schema: Schema, number: str, values: Values, rng: np.random.Generator) -> Sheet:
    """Every person beside sensitive values of the group, whoever has them."""
    import polars as pl

    deal = plan.deal
    quasi, secret = ([c.name for c in columns] for columns in (schema.quasi, schema.sensitive))
    names = [c.name for c in schema.columns if c.name in quasi or c.name in secret]
    other = deal.torn(rng)  # whose sensitive values stand in the row of each record

    def batches() -> Iterator[pl.DataFrame]:
        for first, after in deal.chunks():
            run = slice(deal.starts[first], deal.starts[after])
            shown = [values.at(name, (other if name in secret else deal.cell)[run]).alias(name) for name in names]
            yield pl.DataFrame([*shown, pl.Series(number, numbers_of(deal, first, after))])

    about = (
        "One row for every person: what others may know, as it is in the data, and the number of a group. The "
        "sensitive values were shuffled within the group."
    )
    return Sheet(MAIN, (*names, number), batches, about)


def _figures(plan: DealtPlan, schema: Schema, reading: Reading) -> Sheet:
    """What can be said about every group as a whole."""
    import polars as pl

    deal, tally = plan.deal, plan.tally
    (summary,) = reading.summaries
    columns = (reading.number, summary.records, *(figure.column for figure in summary.figures))

    def batches() -> Iterator[pl.DataFrame]:
        for first, after in deal.chunks():
            cells = deal.cell[deal.starts[first] : deal.starts[after]]
            starts = deal.starts[first : after + 1] - deal.starts[first]
            shown = [
                pl.Series(reading.number, np.arange(first + 1, after + 1, dtype=np.int32)),
                pl.Series(summary.records, deal.size[first:after]),
            ]
            for column in _measured(schema):
                s = tally.sensitive_index(column.name)
                found = totals(tally.sensitive[cells, s], tally.sensitive_domains[s], starts)
                shown += [found[f.what].alias(f.column) for f in summary.figures if f.of == column.name]
            yield pl.DataFrame(shown)

    about = "One row for every group: how many people it has, and figures about their sensitive numbers."
    return Sheet(summary.sheet, columns, batches, about)

"""Groups publish slices: columns that belong together stay together, all else is torn apart within a bucket."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.publish.numbered import Numbered, as_it_is, numbers_of, shuffled
from tarnkappe.publish.sheets import MAIN, Reading, Sheet, Strand, Values, free_name
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Tally, distinct_rows

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.criteria.base import Verdict
    from tarnkappe.plan import DealtPlan


@dataclass(frozen=True)
class Sliced(Numbered):
    """One table in which the columns of a strand stay together, and strands are mixed within every bucket.

    Whoever knows a person finds rows of a bucket that have what is known. The secret stands in one strand; what else
    stands there narrows the rows down, what stands in other strands does not.
    """

    parts: tuple[tuple[str, ...], ...]

    name: ClassVar = "slices"
    hides: ClassVar = frozenset({"secret"})
    changes: ClassVar = "published as they are, in strands that are mixed within every bucket"
    truth: ClassVar = "every bucket has in each strand the values of its people, and no others"
    numbers: ClassVar = "bucket"
    caution: ClassVar = (
        "A row is not a person: columns of different strands were mixed within a bucket, so only columns of the same "
        "strand belong together."
    )

    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """One table; each strand is in an order of its own, the same whenever the table is asked for."""
        import polars as pl

        deal, number = plan.deal, self.number(schema)
        strands = self.strands(schema)
        streams = rng.spawn(len(strands))

        def batches() -> Iterator[pl.DataFrame]:
            for runs in zip(*(shuffled(deal, stream) for stream in streams), strict=True):
                shown = [
                    values.at(name, cells).alias(column)
                    for strand, (_, _, cells) in zip(strands, runs, strict=True)
                    for column, name in zip(strand.columns, strand.of_data, strict=True)
                ]
                first, after, _ = runs[0]
                yield pl.DataFrame([*shown, pl.Series(number, numbers_of(deal, first, after))])

        columns = [column for strand in strands for column in strand.columns]
        listed = "; ".join(", ".join(strand.columns) for strand in strands)
        about = f"One row for every person, but mixed within a bucket. Only these belong together: {listed}."
        return (Sheet(MAIN, (*columns, number), batches, about),)

    def verdicts(self, plan: DealtPlan, tables: Mapping[str, Counts] | None = None) -> tuple[Verdict, ...]:
        """Secrets are judged among those rows of a bucket that have the same quasi-identifiers in their strand."""
        found: dict[int, Verdict] = {}
        for part in self.parts:
            criteria = [c for c in plan.goal.criteria if c.sensitive_column in part]
            if criteria:
                verdicts = plan.verdicts(plan.goal.about(criteria), tables, beside(plan.tally, part))
                found |= zip(map(id, criteria), verdicts, strict=True)
        return tuple(found[id(c)] for c in plan.goal.criteria)

    def reading(self, schema: Schema) -> Reading:
        """Whoever knows the quasi-identifiers in the strand of a secret narrows its rows down."""
        known: dict[str, tuple[str, ...]] = {}
        for strand in self.strands(schema):
            pairs = [*zip(strand.columns, strand.of_data, strict=True)]
            quasi = tuple(column for column, name in pairs if schema[name].role == "quasi")
            known |= {name: quasi for _, name in pairs if schema[name].role == "sensitive"}
        return Reading(self.number(schema), beside=known)

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """The strands; a column that stands in several has another name in all but the first."""
        given, taken = {*schema.published, self.number(schema)}, set[str]()
        out = []
        for part in self.parts:
            columns = []
            for name in part:
                columns.append(name if name not in taken else free_name(name, given | taken))
                taken.add(columns[-1])
            out.append(Strand(tuple(columns), names=part))
        return tuple(out)

    def done(self, column: Column) -> str:
        """With which others a column stayed together."""
        others = [name for part in self.parts if column.name in part for name in part if name != column.name]
        if not others:
            return f"{as_it_is(column)}, torn from all other columns within its bucket"
        return f"{as_it_is(column)}, together with {' and '.join(dict.fromkeys(others))}; torn from the rest"


def beside(tally: Tally, part: Collection[str]) -> Codes:
    """What each cell has in the quasi-identifiers of a strand, as one number."""
    places = [j for j, domain in enumerate(tally.quasi_domains) if domain.name in part]
    if not places:
        return np.zeros(tally.n_cells, np.int32)
    sizes = [tally.quasi_domains[j].size for j in places]
    return distinct_rows([tally.quasi[:, j] for j in places], sizes)[0]

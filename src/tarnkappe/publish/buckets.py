"""Groups publish buckets: quasi-identifiers as they are in one table, how often each sensitive value in another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.publish.numbered import COUNT, Numbered, as_it_is, counted_sheet, people_sheet
from tarnkappe.publish.sheets import Reading, Sheet, Strand, Values, free_name
from tarnkappe.schema import Column, Schema

if TYPE_CHECKING:
    from tarnkappe.plan import DealtPlan

#: The table of the sensitive values.
SECRETS = "secrets"


@dataclass(frozen=True)
class Buckets(Numbered):
    """Two tables joined by the number of the group, as anatomy publishes them.

    Whoever finds a person in the first table knows the group, and that the person has one of its sensitive values.
    """

    name: ClassVar = "buckets"
    hides: ClassVar = frozenset({"secret"})
    changes: ClassVar = "published as they are, torn from the sensitive ones"
    caution: ClassVar = (
        "A group of the first table has the values of the same group in the second, but nobody knows who has which: "
        "do not join the tables row by row."
    )

    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """The people with the number of their group, and the sensitive values of every group."""
        number = self.number(schema)
        people = people_sheet(
            plan.deal,
            number,
            [c.name for c in schema.columns if c.role == "quasi"],
            values,
            "One row for every person: what others may know, as it is in the data, and the number of a group.",
        )
        secrets = counted_sheet(
            SECRETS,
            plan,
            schema,
            number,
            values,
            "One row for every group and sensitive value: how many people of the group have it.",
        )
        return people, secrets

    def reading(self, schema: Schema) -> Reading:
        """Sensitive values stand in the second table, with their counts."""
        number = self.number(schema)
        count = free_name(COUNT, [*(c.name for c in schema.sensitive), number])
        return Reading(number, SECRETS, count)

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """The quasi-identifiers here, the sensitive values there."""
        quasi, secret = (tuple(c.name for c in columns) for columns in (schema.quasi, schema.sensitive))
        return Strand(quasi), Strand(secret, SECRETS, self.reading(schema).count)

    def done(self, column: Column) -> str:
        """Where the column stands."""
        if column.role == "quasi":
            return f"{as_it_is(column)}, apart from the sensitive values"
        return "published in a table of its own, counted by group"

    def further(self, schema: Schema) -> dict[str, str]:
        """Also the counts."""
        count = self.reading(schema).count
        assert count is not None, "sensitive values are counted"
        return super().further(schema) | {count: "How many people of the group have these sensitive values."}

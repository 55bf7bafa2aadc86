"""Groups publish boxes, and sensitive values some of which were falsified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tarnkappe.publish.by_looks import ByLooks
from tarnkappe.publish.sheets import Reading, Strand, Values
from tarnkappe.schema import Schema
from tarnkappe.tally import Domain

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.plan import DealtPlan


@dataclass(frozen=True, eq=False)
class Masked(ByLooks):
    """One table: coarse quasi-identifiers, and a sensitive value that is mostly the person's own.

    Which value a record publishes is part of the deal (`Deal.told`).
    """

    name: ClassVar = "masked values"
    truth: ClassVar = "labels true of every record; sensitive values as drawn, some perhaps falsified"
    loses: ClassVar = (
        "Every row is still one person's. Quasi-identifiers are coarsened; if a group had too many guarded values, "
        "some of them were replaced by others."
    )
    caution: ClassVar = (
        "Some sensitive values may be falsified, and nobody can tell which: a guarded value may have been replaced by "
        "another one. Counts of guarded values may therefore be too low."
    )
    row: ClassVar = (
        "One row for every person: coarse quasi-identifiers, a sensitive value that may be falsified, and the "
        "number of all who look alike."
    )
    done_to_secret: ClassVar = "published unchanged but for guarded values, some of which were replaced by others"

    @property
    def falsifies(self) -> Domain:
        """The guarded column."""
        return self.secret

    def secrets(self, plan: DealtPlan, values: Values) -> Callable[[slice], pl.Series]:
        """The values that records were dealt to tell."""
        told = plan.deal.told
        assert told is not None, "every record has a value to tell"
        return lambda run: values.at(self.secret.name, told[run])

    def reading(self, schema: Schema) -> Reading:
        """All stands in one table; those who look alike have one number."""
        return Reading(self.number(schema), alike=self.people.names)

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """All records of a group have the same labels, so that the sensitive values may be looked at by themselves."""
        return Strand(self.people.names, recoded=self.people), Strand((self.secret.name,), falsified=True)

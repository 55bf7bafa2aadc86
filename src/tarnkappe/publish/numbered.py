"""Groups that publish a number: under it go on the tables that say the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels.engines.dealing import gathered, shuffle_within
from tarnkappe.kernels.histograms import run_histogram
from tarnkappe.publish.form import Form, Meaning
from tarnkappe.publish.sheets import MAIN, Reading, Sheet, Strand, Values, free_name
from tarnkappe.schema import Column, Schema
from tarnkappe.threads import map_threads

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.criteria.base import Verdict
    from tarnkappe.deals import Deal
    from tarnkappe.plan import DealtPlan
    from tarnkappe.tally import Domain

#: What the column is called that counts records.
COUNT = "records"


class Numbered(Form):
    """Groups are told apart by a number; quasi-identifiers may stand as they are, torn from the sensitive values.

    The tables follow from the deal alone: no record of the input is read again, so every engine writes the same.
    Tables are sorted by number, and numbers are drawn by lot.
    """

    coarsens: ClassVar = False
    truth: ClassVar = "every group has the values of its people, and no others"
    #: What the column with the numbers is called, unless the data have a column of that name.
    numbers: ClassVar[str] = "group"
    grouped: ClassVar = "of records with the same number"
    alike: ClassVar = "with the same number"
    loses: ClassVar = "What is lost is which values of a group belong together. No value was coarsened to form them."
    #: What may not be concluded from the tables, in one sentence for the reader.
    caution: ClassVar[str]

    @property
    def raises(self) -> Domain | None:
        """The sensitive column whose values are coarsened record by record, if there is one."""
        return None

    @property
    def falsifies(self) -> Domain | None:
        """The sensitive column some of whose values are not those of the people in their rows, if there is one."""
        return None

    def number(self, schema: Schema) -> str:
        """What the column with the numbers is called beside those of the data."""
        return free_name(self.numbers, schema.published)

    @abstractmethod
    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """The tables that will be written."""

    def witness(self, plan: DealtPlan, rng: np.random.Generator) -> pl.DataFrame | None:
        """What criteria look at but is not published, row by row as in the first table; None if there is nothing.

        `rng` is as new as the one that the tables are made with.
        """
        return None

    def verdicts(self, plan: DealtPlan, tables: Mapping[str, Counts] | None = None) -> tuple[Verdict, ...]:
        """What every criterion of the goal finds: groups are what has the same number."""
        return plan.verdicts(plan.goal, tables)

    @abstractmethod
    def reading(self, schema: Schema) -> Reading:
        """How a stranger regroups those tables."""

    @abstractmethod
    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """Which columns stay together on a record, in which table."""

    def written_as(self, schema: Schema, name: str) -> list[str]:
        """What a column of the data is called in the tables: one that stands in several strands has several names."""
        named = (pair for strand in self.strands(schema) for pair in zip(strand.columns, strand.of_data, strict=True))
        return list(dict.fromkeys(written for written, of_data in named if of_data == name)) or [name]

    def untrue(self, plan: DealtPlan, missing: Collection[str] = ()) -> list[str]:
        """What the groups say that is not true of their records, in words; values as they are cannot be untrue."""
        return []

    @abstractmethod
    def done(self, column: Column) -> str:
        """What was done to a column that is published, in words."""

    def meanings(self, column: Column) -> Iterator[Meaning]:
        """What each label of a column means; an entry about all of them has the empty label."""
        words = self.done(column)
        yield "", f"{words[:1].upper()}{words[1:]}."

    def further(self, schema: Schema) -> dict[str, str]:
        """What the columns mean that are not of the data, in sentences."""
        return {self.number(schema): f"The number of a group, drawn by lot. {self.caution}"}


def as_it_is(column: Column) -> str:
    """How a column is published whose values no group changes: those of its lowest level, if it has one."""
    return f"published at level {column.min_level} of its taxonomy" if column.min_level else "published unchanged"


def numbers_of(deal: Deal, first: int, after: int) -> Codes:
    """The number of every record of a run of groups, from 1."""
    return deal.groups_in(first, after) + np.int32(1)


def shuffled(deal: Deal, stream: np.random.Generator) -> Iterator[tuple[int, int, Codes]]:
    """Runs of groups with the cells of their records, in an order within each group that the stream alone decides.

    Tables whose rows must not be put beside each other are written in such orders. The stream itself does not move on,
    so the order is the same again.
    """
    stream = deepcopy(stream)
    for first, after in deal.chunks():
        begin, end = int(deal.starts[first]), int(deal.starts[after])
        cells = deal.cell[begin:end].copy()
        shuffle_within(cells, deal.starts[first : after + 1] - begin, stream.random(end - begin))
        yield first, after, cells


def people_sheet(deal: Deal, number: str, names: Sequence[str], values: Values, about: str) -> Sheet:
    """The table that has a row for every person: some columns as they are, and the number of the group."""
    import polars as pl

    def batches() -> Iterator[pl.DataFrame]:
        for first, after in deal.chunks():
            cells = deal.cell[deal.starts[first] : deal.starts[after]]
            shown = map_threads(partial(values.at, cells=cells), names)
            yield pl.DataFrame([*shown, pl.Series(number, numbers_of(deal, first, after))])

    return Sheet(MAIN, (*names, number), batches, about)


def counted_sheet(name: str, plan: DealtPlan, schema: Schema, number: str, values: Values, about: str) -> Sheet:
    """How many records of each group have each combination of sensitive values, in the order of the values."""
    import polars as pl

    deal = plan.deal
    names = [c.name for c in schema.sensitive]
    count = free_name(COUNT, [*names, number])
    combination, first_cell = plan.combinations(names)
    n = len(first_cell)

    def batches() -> Iterator[pl.DataFrame]:
        for first, after in deal.chunks():
            cells = deal.cell[deal.starts[first] : deal.starts[after]]
            starts = deal.starts[first : after + 1] - deal.starts[first]
            indptr, found, records = counted_in_runs(starts, gathered(combination, cells), n)
            shown = [values.at(c, gathered(first_cell, found)).alias(c) for c in names]
            numbers = np.repeat(np.arange(first + 1, after + 1, dtype=np.int32), np.diff(indptr))
            yield pl.DataFrame([pl.Series(number, numbers), *shown, pl.Series(count, records)])

    return Sheet(name, (number, *names, count), batches, about)


def counted_in_runs(starts: Counts, codes: Codes, n_codes: int) -> tuple[Counts, Codes, Counts]:
    """The codes of every run in ascending order and how often each occurs: where runs begin, codes, counts."""
    return run_histogram(starts, codes, np.ones(len(codes), np.int64), n_codes)

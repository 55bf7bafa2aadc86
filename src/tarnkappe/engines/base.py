"""What every engine does: open a table, count its cells, rewrite its records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts
from tarnkappe.engines.ledger import Ledger
from tarnkappe.engines.parts import Parts
from tarnkappe.io import Format, Source, TableWriter, open_source
from tarnkappe.io.cells import Step
from tarnkappe.io.dialect import CsvDialect
from tarnkappe.plan import Plan
from tarnkappe.publish.sheets import Sheet
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Tally
from tarnkappe.threads import Aside


class Writer(Protocol):
    """Takes the published records batch by batch."""

    #: How a CSV file is written, for whoever reads it back.
    dialect: CsvDialect

    def write(self, batch: pl.DataFrame) -> None:
        """Append records."""


@runtime_checkable
class RunsWriter(Writer, Protocol):
    """A writer that can write equal records one after the other if it is told how many there are."""

    def write_runs(self, runs: Iterable[tuple[pl.DataFrame, Counts]]) -> None:
        """Write a whole table: rows, and how many records each stands for."""


class KeptBatches:
    """A writer that keeps what it is given."""

    dialect = CsvDialect()

    def __init__(self) -> None:
        """Nothing is written yet."""
        self.written: list[pl.DataFrame] = []

    def write(self, batch: pl.DataFrame) -> None:
        """Append records."""
        self.written.append(batch)


@dataclass(frozen=True, eq=False)
class Rewritten:
    """What an engine knows beside what it wrote.

    `witness` is what criteria look at but is not published, row by row in the order of the records. People appear in it
    under numbers drawn by lot, not under their keys. There is a `ledger` if some column passes through unchanged.
    """

    witness: pl.DataFrame
    ledger: Ledger | None = None


class Engine(ABC):
    """Where records are counted and rewritten; deciding never sees them.

    An engine serves one job: `rewrite` goes over the records that `count` counted.
    """

    name: ClassVar[str]
    #: Whether the rows of a table stay in the order in which they are written.
    keeps_order: ClassVar[bool] = True
    #: Told how far a pass over the records has come.
    step: Step | None = None
    #: The cells that `count` counted, if they are too many for this machine; then it returned their outline.
    parts: Parts | None = None

    def open(self, data: Any, dialect: CsvDialect | None = None, missing: tuple[str, ...] = ("",)) -> Source:
        """Open a table that this engine can read."""
        return open_source(data, dialect, missing)

    def writer(
        self, path: str | Path, format_: Format, dialect: CsvDialect | None, missing: str
    ) -> AbstractContextManager[Writer]:
        """Open a file, or whatever this engine writes, for the published records."""
        return TableWriter(path, format_, dialect, missing)

    @abstractmethod
    def count(
        self, source: Source, schema: Schema, aside: Sequence[Column] = (), population: Source | None = None
    ) -> Tally:
        """Encode the quasi-identifiers and the sensitive columns and count their cells.

        Columns `aside` are counted after the sensitive ones. The values of a public table join the domains of the
        quasi-identifiers, and its people are counted beside the records.
        """

    @abstractmethod
    def rewrite(self, plan: Plan, schema: Schema, writer: Writer, rng: np.random.Generator) -> Rewritten:
        """Give every record its group's labels and write the records in an order that tells nothing."""

    def forget(self) -> None:
        """Let go of what only another `rewrite` would need."""
        return

    def write(self, sheets: Sequence[tuple[Sheet, Writer]]) -> None:
        """Write tables that follow from the plan alone: one of them beside the others."""
        with Aside() as aside:
            for sheet, writer in sheets[1:]:
                aside(partial(write_sheet, sheet, writer))
            for sheet, writer in sheets[:1]:
                write_sheet(sheet, writer)

    def _told(self, done: int, total: int) -> None:
        if self.step is not None:
            self.step(done, total)


def write_sheet(sheet: Sheet, writer: Writer) -> None:
    """Write a table batch by batch, each while the next one is made."""
    with Aside() as aside:
        for batch in sheet.batches():
            aside(partial(writer.write, batch))

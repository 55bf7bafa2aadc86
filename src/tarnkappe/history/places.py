"""Who is in which group of a release: the one thing about a release that only its publisher can know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tarnkappe.engines.cells import tally_of_cells
from tarnkappe.errors import DataError, JobError, did_you_mean
from tarnkappe.fixes import setting
from tarnkappe.groups import SUPPRESSED, Draft
from tarnkappe.history.ledger import Ledger
from tarnkappe.io import Source
from tarnkappe.io.texts import plain_texts
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Tally

#: Columns of the frames of this room.
PERSON, PLACE, CELL, RECORDS = "person", "place", "cell", "records"

#: The place of somebody who is not in a release.
ABSENT = -1


@dataclass(frozen=True, eq=False)
class Residents:
    """The records of people: `frame` has a row for each person and cell, with the number of records."""

    tally: Tally
    frame: pl.DataFrame

    @classmethod
    def of(
        cls,
        source: Source,
        schema: Schema,
        subject: str,
        ledger: Ledger,
        aside: Sequence[Column] = (),
        population: Source | None = None,
    ) -> Residents:
        """Count once more, with the key of persons beside the cells."""
        require_subject(source, subject)
        names = [c.name for c in (*schema.quasi, *schema.sensitive, *aside)]
        cells = source.cells(list(dict.fromkeys([*names, subject])))
        public = None if population is None else population.cells([c.name for c in schema.quasi])
        tally, cell = tally_of_cells(cells, source, schema, aside, public, population)
        j = cells.names.index(subject)
        codes, texts = cells.codes[:, j], plain_texts(cells.values[j])
        used = np.unique(codes)
        if texts.gather(used).null_count():
            raise DataError(
                "E446",
                f"some records have no '{subject}', so nobody can tell whose they are",
                where=source.name,
                hint="Remove them from the data, or give them a key.",
            )
        hashed = np.zeros(len(texts), np.int64)
        hashed[used] = np.arange(len(used))
        people = ledger.people(texts.gather(used).to_list())[hashed[codes]]
        frame = pl.DataFrame({PERSON: people, CELL: cell.astype(np.int32), RECORDS: cells.count})
        # By cell, because nothing that follows may depend on the key.
        return cls(tally, frame.group_by(PERSON, CELL).agg(pl.col(RECORDS).sum()).sort(CELL, PERSON))

    def placed(self, grouping: Draft) -> pl.DataFrame:
        """The place of every person who is published: the groups that the person's records may be in.

        Where a cell is divided among groups chance decides who goes where, so the place is all of them. People have
        the same place if nobody who knows their values could tell which of the groups are theirs.
        """
        pieces = pl.DataFrame({CELL: grouping.cell.astype(np.int32), "group": grouping.group.astype(np.int32)})
        at = self.frame.select(PERSON, CELL).join(pieces.unique(), on=CELL).select(PERSON, "group").unique()
        per_person = at.group_by(PERSON).agg(pl.col("group").sort(), pl.col("group").max().alias("last"))
        per_person = per_person.filter(pl.col("last") != SUPPRESSED)
        words = pl.col("group").cast(pl.List(pl.String)).list.join(" ")
        placed = per_person.select(PERSON, words.rank("dense").cast(pl.Int32).alias(PLACE))
        return placed.sort(PERSON)

    def secrets(self, ledger: Ledger) -> pl.DataFrame:
        """What every person has in the sensitive columns, as keyed hashes: one text per column and person."""
        out = self.frame.select(PERSON, CELL)
        shown = [(s, d) for s, d in enumerate(self.tally.sensitive_domains) if not d.aside]
        for s, domain in shown:
            hashes = [ledger.hash(f"secret {domain.name}", text)[:16] for text in domain.taxonomy.leaves]
            codes = self.tally.sensitive[out[CELL].to_numpy(), s]
            out = out.with_columns(pl.Series(secret_name(domain.name), hashes).gather(codes))
        names = [secret_name(d.name) for _, d in shown]
        texts = (pl.col(n).unique().sort().str.join(" ") for n in names)
        return out.group_by(PERSON).agg(*texts)


def secret_name(column: str) -> str:
    """How the hashes of a sensitive column are called, whatever else is called so."""
    return f"secret {column}"


def require_subject(source: Source, subject: str) -> None:
    """Refuse a key of persons that the data do not have."""
    if subject not in source.columns:
        raise JobError(
            "E103",
            f"the history follows people by '{subject}', which the data do not have"
            f"{did_you_mean(subject, source.columns)}",
            where=source.name,
            hint=setting("subject: COLUMN   (under 'history', or 'series')", "subject", "COLUMN"),
        )

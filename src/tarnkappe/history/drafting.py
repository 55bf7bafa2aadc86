"""One release of a series that was decided: its tables, how they are checked, and what is said about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.bundle import Bundle, Found, Story
from tarnkappe.bundling import BundleDraft, Place, public_facts
from tarnkappe.codebook import Entry
from tarnkappe.columns import DONE, ColumnSummary
from tarnkappe.companions import file_name, sheet_file
from tarnkappe.groups import Grouping
from tarnkappe.history.invariance import Republished
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import ABSENT, CELL, PERSON, PLACE, secret_name
from tarnkappe.history.unique import (
    CARD,
    COUNT,
    FALSE,
    GROUP,
    NAME,
    SIGNATURE,
    TITLE,
    check_tables,
    signature_text,
    signatures_in,
)
from tarnkappe.io import CsvDialect, Source
from tarnkappe.job.model import replace_job
from tarnkappe.job.series import KEY, SeriesJob
from tarnkappe.publish.boxes import TIGHT
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.reading import covers
from tarnkappe.publish.sheets import MAIN
from tarnkappe.schema import Schema
from tarnkappe.tally import Tally
from tarnkappe.wording import count, plural


@dataclass(frozen=True, eq=False, repr=False)
class SeriesRelease(Bundle):
    """One release of a series; it exists only if it was checked. Its `tables` are the rows and the counterfeits."""


@dataclass(frozen=True, eq=False)
class SeriesDraft(BundleDraft[SeriesRelease]):
    """One release that was decided: who is in which group, and what it says."""

    job: SeriesJob
    data: Any
    source: Source
    schema: Schema
    tally: Tally
    ledger: Ledger
    #: Who is published: person, cell and group, under the numbers that are published.
    now: pl.DataFrame
    #: What is known of earlier releases: person, secret and signature.
    before: pl.DataFrame | None
    made: Republished
    #: The secrets by their numbers, also those that only somebody in an earlier release has.
    texts: pl.Series
    #: The labels of the groups, and the number that each group has in print.
    labels: tuple[Labels, ...]
    number: Counts
    seed: int

    @property
    def secret(self) -> str:
        """The sensitive column."""
        return self.job.job.goal.columns[0]

    @property
    def names(self) -> tuple[str, str]:
        """How the columns with the number of a group and with counts are called."""
        taken = set(self.schema.published)
        return (GROUP if GROUP not in taken else f"{GROUP} number"), COUNT

    def tables(self) -> dict[str, pl.DataFrame]:
        """A row for every value of every group, in the order of their numbers; and how many of them are false."""
        made = self.made
        order = np.argsort(self.number)
        lengths = np.array([len(s) for s in made.signatures], np.int64)
        flat = np.array([v for s in made.signatures for v in s], np.int64)
        begin = np.append(0, np.cumsum(lengths))
        owner = made.of_group[order]
        group = np.repeat(order, lengths[owner])
        within = np.arange(len(group)) - np.repeat(np.append(0, np.cumsum(lengths[owner]))[:-1], lengths[owner])
        code = flat[begin[made.of_group[group]] + within]
        columns: dict[str, pl.Series] = {self.names[0]: pl.Series(self.number[group] + 1)}
        for j, d in enumerate(self.tally.quasi_domains):
            columns[d.name] = self.labels[j].at(group.astype(np.int64)).cast(pl.String)
        columns[self.secret] = self.texts.gather(code)
        false = made.counterfeits[order]
        counted = pl.DataFrame({self.names[0]: pl.Series(np.arange(1, made.n_groups + 1)), COUNT: pl.Series(false)})
        return {MAIN: pl.DataFrame(columns), FALSE: counted}

    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Count anew, and hold what was written to the people and to their earlier releases."""
        found = check_tables(tables, self.job.series.m, self.names[0], self.secret, self._quasi)
        if found.problems:
            return found
        return Found(found.verdicts, tuple(self._untrue(tables)))

    @property
    def _quasi(self) -> list[str]:
        return [d.name for d in self.tally.quasi_domains]

    def _untrue(self, tables: Mapping[str, pl.DataFrame]) -> Iterable[str]:
        group, table = self.names[0], tables[MAIN]
        written = signatures_in(table, group, self.secret)
        people = self._placed().join(written, left_on=PLACE, right_on=group, how="left")
        stands = table.select(pl.col(group).cast(pl.Int64), pl.col(self.secret).cast(pl.String))
        own = people.select(pl.col(PLACE), self.texts.gather(self._values()).alias(self.secret))
        own = own.with_columns(pl.col(PLACE).alias(group)).drop(PLACE)
        lost = own.join(stands, on=[group, self.secret], how="anti", nulls_equal=True).height
        if lost:
            yield f"{plural(lost, 'person has a', 'people have a')} secret that does not stand in their group"
        if self.before is not None:
            earlier = self.before.select(PERSON, pl.col(SIGNATURE).cast(pl.String).alias("earlier"))
            moved = people.join(earlier, on=PERSON).filter(pl.col(SIGNATURE) != pl.col("earlier")).height
            if moved:
                yield f"{plural(moved, 'person is', 'people are')} among other secrets than in earlier releases"
        real = people.group_by(PLACE).len()
        false = tables[FALSE].select(pl.col(group).cast(pl.Int64), pl.col(COUNT).cast(pl.Int64))
        rows = table.group_by(pl.col(group).cast(pl.Int64)).agg(pl.len().alias("rows"))
        rows = rows.join(real, left_on=group, right_on=PLACE, how="left").join(false, on=group, how="left").fill_null(0)
        wrong = rows.filter(pl.col("rows") != pl.col("len") + pl.col(COUNT)).height
        if wrong:
            yield f"{plural(wrong, 'group has')} another number of counterfeits than is said"
        first = table.unique(group, keep="any").with_columns(pl.col(group).cast(pl.Int64)).sort(group)
        at = first[group].search_sorted(people[PLACE]).to_numpy()
        cells = people[CELL].to_numpy()
        missing = self.job.job.data.missing or ("",)
        for j, domain in enumerate(self.tally.quasi_domains):
            column = first[domain.name].cast(pl.String)
            texts = column.drop_nulls().unique(maintain_order=True)
            codes = dict(zip(texts.to_list(), range(len(texts)), strict=True))
            code = column.replace_strict(codes, default=-1, return_dtype=pl.Int32).to_numpy()
            held = covers(Labels(tuple(texts.to_list()), code), domain, at, self.tally.quasi[cells, j], missing)
            if not held.all():
                yield f"'{domain.name}' is not true of {plural(int((~held).sum()), 'person', 'people')}"

    def _values(self) -> Codes:
        """The secret of everybody who is published."""
        codes: Codes = self.tally.sensitive[self.now[CELL].to_numpy(), 0]
        return codes

    def _placed(self) -> pl.DataFrame:
        """Who is in which group, under its number in print."""
        return self.now.select(PERSON, CELL, pl.Series(PLACE, self.number[self.now["group"].to_numpy()] + 1))

    def state(self) -> pl.DataFrame:
        """What has to be known for the next release: also about those who left, who may come back."""
        texts = [signature_text(self.texts[v] for v in s) for s in self.made.signatures]
        owner = self.made.of_group[self.now["group"].to_numpy()]
        now = self._placed().select(
            PERSON,
            pl.col(PLACE).cast(pl.Int32),
            hashed_secrets(self.ledger, self.secret, self.texts).gather(self._values()).alias(secret_name(self.secret)),
            pl.Series(SIGNATURE, texts, pl.String).gather(owner),
        )
        if self.before is not None:
            gone = self.before.join(now, on=PERSON, how="anti").with_columns(pl.lit(ABSENT, pl.Int32).alias(PLACE))
            now = pl.concat([now, gone.select(now.columns)])
        return now.sort(PERSON)

    def codebook(self) -> tuple[Entry, ...]:
        """What the labels mean."""
        boxes = grouping_of(self.tally, self.now, self.made).boxes(self.tally)
        out = [Entry(self.names[0], "", "", "The number of a group, drawn by lot for this release.")]
        for j, domain in enumerate(self.tally.quasi_domains):
            column = self.schema[domain.name]
            says = TIGHT.meanings(j, column, domain, boxes, self.labels[j])
            out += [Entry(domain.name, column.role, label or "", words) for label, words in says]
        meaning = "Every value stands once in a group; see the table of counterfeits for how many of them are nobody's."
        return (*out, Entry(self.secret, "sensitive", "", meaning))

    def bundle(self, tables: Mapping[str, pl.DataFrame], found: Found, codebook: tuple[Entry, ...]) -> SeriesRelease:
        """What is known about a release that was checked."""
        series, source = self.job.series, self.source
        rows, false = tables[MAIN].height, int(self.made.counterfeits.sum())
        asked = {KEY: {"m": series.m, "column": self.secret, "group": self.names[0], "quasi": self._quasi}}
        abouts = {
            MAIN: "One row for every secret of a group: of a person, or a counterfeit.",
            FALSE: "One row for every group: how many of its rows are counterfeits.",
        }
        caution = (
            "Rows may be counterfeits. How many stands beside the table, for each group; which of them is not told."
        )
        told = public_facts(
            self.job.job.title or "Release of a series", self.job.job.purpose, asked, found, caution, tables, abouts
        )
        private = {
            "seed": self.seed,
            "input": {"name": source.name, "sha256": source.sha256, "description": source.description},
            "people": self.now.height,
            "people_before": 0 if self.before is None else self.before.join(self.now, on=PERSON, how="semi").height,
        }
        words = {**DONE, "quasi": "intervals or categories per group", "sensitive": "every value once in each group"}
        done = tuple(ColumnSummary(c.name, c.role, words[c.role], c.because, None) for c in self.schema.columns)
        return SeriesRelease(
            found.verdicts,
            {**told, "counterfeits": false},
            private,
            self._story(rows, false),
            done,
            self.job.notices(),
            codebook,
        )

    def _story(self, rows: int, false: int) -> Story:
        m = self.job.series.m
        return Story(
            promise=f"whoever has all releases of the series finds everybody among the same at least {m} secrets.",
            attacker="somebody who has all releases, knows everybody's quasi-identifiers, and who is in which release.",
            cards={NAME: (TITLE, CARD)},
            assumptions=(
                ("A secret does not change.", "A person whose secret changes is refused, not republished."),
                ("All releases are in one ledger.", "What was published elsewhere about the same people is not known."),
                ("One row is one person.", "Persons with several records are refused."),
            ),
            costs=(
                f"{count(false)} of {plural(rows, 'row')} {'is a counterfeit' if false == 1 else 'are counterfeits'}.",
                "The quasi-identifiers of everybody are coarsened to what their group has in common.",
            ),
            combined="Other releases of the series tell no more about anybody; what is published about the same people "
            "without its ledger can be combined with this one.",
            joined=f"Both tables have '{self.names[0]}'.",
            figures=(("Rows", rows, "published"), ("Counterfeits", false, "among them")),
            secret_figures=(("People", count(self.now.height), "in this release"),),
        )

    def place(self, table: str) -> Place:
        """A file for each table, called and written like the input."""
        name, format_ = file_name(self.job.job.output, self.data)
        dialect = getattr(self.source, "dialect", None) or CsvDialect()
        return Place(sheet_file(name, table), format_, replace(dialect, spreadsheet_safe=self.spreadsheet_safe))

    def job_text(self, folder: Path) -> str:
        """The job as it was carried out."""
        path = str(self.data) if isinstance(self.data, (str, Path)) else None
        job = replace_job(self.job.job, data=replace(self.job.job.data, path=path))
        return replace(self.job, job=job).to_yaml(folder)

    @property
    def spreadsheet_safe(self) -> bool:
        """As the job asks for."""
        return self.job.job.output.spreadsheet_safe


def grouping_of(tally: Tally, now: pl.DataFrame, made: Republished) -> Grouping:
    """The people of a release as pieces of cells."""
    pieces = now.group_by(CELL, "group").len().sort(CELL, "group")
    cell, group, quota = (pieces[name].to_numpy() for name in (CELL, "group", "len"))
    return Grouping(cell.astype(np.int32), group.astype(np.int32), quota.astype(np.int64), made.n_groups)


def hashed_secrets(ledger: Ledger, column: str, texts: Iterable[str | None]) -> pl.Series:
    """The keyed hash of every secret."""
    return pl.Series("hash", [ledger.hash(f"secret {column}", text or "")[:16] for text in texts], pl.String)

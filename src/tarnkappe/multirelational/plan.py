"""From joined tables to levels: read, encode, search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import polars as pl

from tarnkappe.algorithms.recoding import Cut
from tarnkappe.arrays import Codes, Counts, Flags
from tarnkappe.boxes import Boxes
from tarnkappe.codebook import Entry
from tarnkappe.engines.encode import encode_quasi, encode_sensitive, read_kind
from tarnkappe.errors import InfeasibleError
from tarnkappe.fixes import Fix, assignment, say, setting
from tarnkappe.guards import refuse_identifiers
from tarnkappe.io import Source
from tarnkappe.multirelational.model import MultiJob, Relation
from tarnkappe.multirelational.search import EncodedTable, Found, Levels, Search, Secret, View
from tarnkappe.multirelational.verify import keys_of_persons, open_table, owners
from tarnkappe.phases import Phases
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.publish.form import Held
from tarnkappe.publish.labels import Labels
from tarnkappe.schema import Column
from tarnkappe.tally import Domain


@dataclass(frozen=True, eq=False)
class ReadTable:
    """One table as it was read."""

    relation: Relation
    source: Source
    frame: pl.DataFrame
    encoded: EncodedTable


@dataclass(frozen=True, eq=False)
class Labelling:
    """What one quasi-identifier publishes: every value at one level, alike for everybody."""

    column: Column
    codes: Codes
    domain: Domain
    part: Codes
    boxes: Boxes
    labels: Labels

    @classmethod
    def of(cls, column: Column, codes: Codes, domain: Domain, level: int, missing: tuple[str, ...]) -> Self:
        """The labels of a level."""
        cut = Cut.at_level(domain, level)
        boxes = Boxes(cut.lo[:, None], cut.hi[:, None], cut.node[:, None])
        (labels,) = FixedBoxes(boxes).labels(boxes, [domain], missing)
        return cls(column, codes, domain, cut.part, boxes, labels)

    def at(self, rows: Counts) -> pl.Series:
        """What some rows publish."""
        return self.labels.at(self.part[self.codes[rows]])

    def untrue(self, missing: tuple[str, ...]) -> int:
        """How many labels do not cover a value that they stand for; labels are read from their texts."""
        values, records = np.unique(self.codes, return_counts=True)
        held = Held(self.part[values], values, records)
        return FixedBoxes(self.boxes).untrue(0, self.domain, self.boxes, self.labels, held, missing)

    def meanings(self, table: str, rows: Counts) -> Iterator[Entry]:
        """What the labels of some rows mean."""
        shown = np.unique(self.part[self.codes[rows]])
        boxes = Boxes(self.boxes.lo[shown], self.boxes.hi[shown], self.boxes.node[shown])
        labels = Labels(self.labels.texts, self.labels.code[shown])
        for label, words in FixedBoxes(boxes).meanings(0, self.column, self.domain, boxes, labels):
            yield Entry(f"{table}.{self.column.name}", "quasi", label or "", words)


@dataclass(frozen=True, eq=False)
class TablesPlan:
    """Levels that were found, and who is published at them."""

    job: MultiJob
    tables: tuple[ReadTable, ...]
    search: Search
    levels: Levels
    view: View

    @property
    def sizes(self) -> Counts:
        """Persons per published group."""
        return self.view.sizes[~self.view.bad]

    @property
    def kept(self) -> Flags:
        """Which persons are published."""
        kept: Flags = ~self.view.bad[self.view.group]
        return kept

    @property
    def published(self) -> list[str]:
        """All published columns with their tables."""
        return [f"{t.relation.name}.{c}" for t in self.tables for c in self.in_order(t)]

    def in_order(self, table: ReadTable) -> list[str]:
        """The published columns of a table as they stand in it."""
        return table.relation.in_order(table.source.columns, self.job.key)

    def labelled(self) -> Iterator[tuple[ReadTable, list[Labelling]]]:
        """Every table, and what each of its quasi-identifiers publishes."""
        for table, levels in zip(self.tables, self.search.by_table(self.levels), strict=True):
            coded = zip(table.relation.columns(), table.encoded.codes, table.encoded.domains, levels, strict=True)
            yield table, [Labelling.of(*of, table.source.missing) for of in coded]


def decide_levels(job: MultiJob, tables: Mapping[str, Any], clock: Phases | None = None) -> TablesPlan:
    """Read and encode all tables, and find levels."""
    clock = clock or Phases(None)
    clock.begin("read")
    sources = {r.name: open_table(tables, r) for r in job.relations}
    everybody = keys_of_persons(sources[job.person.name], job.person.name, job.key)
    read, secrets = [], []
    for relation in job.relations:
        source = sources[relation.name]
        relation.in_order(source.columns, job.key)
        columns = relation.columns()
        refuse_identifiers(source, relation.published_columns())
        frame = source.read([job.key, *relation.published])
        owner = owners(frame[job.key], everybody, relation.name).astype(np.int32)
        coded = [
            encode_quasi(
                read_kind(frame[c.name], c, source), c, job.missing_rule, {}, source.name, decimal=source.decimal
            )
            for c in columns
        ]
        encoded = EncodedTable(
            tuple(codes.astype(np.int32) for codes, _ in coded), tuple(d for _, d in coded), owner, relation.rows
        )
        read.append(ReadTable(relation, source, frame, encoded))
        for name, l in relation.diversity.items():  # noqa: E741
            column = Column(name, "sensitive")
            codes, domain = encode_sensitive(read_kind(frame[name], column, source), column)
            secrets.append(Secret.of(owner, codes.astype(np.int32), domain.size, len(everybody), l))
    clock.begin("decide")
    n = len(everybody)
    search = Search([t.encoded for t in read], secrets, n, job.k, job.goal.budget(n))
    found = search.run()
    if found.answer is None:
        raise _infeasible(job, search, found)
    return TablesPlan(job, tuple(read), search, *found.answer)


def _infeasible(job: MultiJob, search: Search, found: Found) -> InfeasibleError:
    """What would have to be given up so that there is a release."""
    details: list[str] = []
    ways: list[Fix] = []
    if found.fewest is None:
        view = search.view(search.top)
        kept = ~view.bad[view.group]
        lost = [r.name for r, t in zip(job.relations, search.tables, strict=True) if not kept[t.owner].any()]
        details.append(
            f"Within the limit, nothing of table '{lost[0]}' would be left: who has rows in it is suppressed."
        )
    else:
        details.append(
            f"The best levels tried suppress {found.fewest} of {search.n_persons} persons, allowed are {search.budget}."
        )
        share = math.ceil(Fraction(found.fewest * 1000, search.n_persons)) / 1000
        ways.append(setting(f"limits: {{suppressed_rows: {share:g}}}", "max_suppressed", share))
    details.append("Persons then differ only in how many rows they have, or share a sensitive value too often.")
    if any(r.rows == "multiset" for r in job.satellites):
        ways.append(
            say("{} for satellites of which nobody knows how many rows a person has", assignment("rows", "set"))
        )
    if any(r.diversity for r in job.relations):
        ways.append(say("a smaller l for a sensitive column"))
    ways.append(say(f"k below {job.k}"))
    what = f"lets every person look like {job.k - 1} others in all tables"
    return InfeasibleError(
        "E301",
        f"no release {what}" if found.exhaustive else f"no release was found that {what}, among the levels tried",
        details=details,
        hint=say(f"What may help: {', or '.join(['{}'] * len(ways))}.", *ways),
    )

"""Joined tables as they are published: new keys, coarse labels, and how a stranger checks them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts, Flags
from tarnkappe.bundle import Found, Story
from tarnkappe.bundling import (
    BundleAudit,
    BundleDraft,
    Place,
    audit_tables,
    changed_by_hand,
    manifest_with,
    public_facts,
)
from tarnkappe.codebook import Entry
from tarnkappe.columns import ColumnSummary
from tarnkappe.criteria.base import Card
from tarnkappe.errors import JobError, Notice
from tarnkappe.guards import notices_about_reasons, refuse_identifiers
from tarnkappe.io import CsvDialect, open_source
from tarnkappe.multirelational.files import TablesJob
from tarnkappe.multirelational.model import MultiJob, MultiRelease, Relation
from tarnkappe.multirelational.plan import Labelling, ReadTable, TablesPlan
from tarnkappe.multirelational.verify import K_NAME, L_NAME, verify_multirelational
from tarnkappe.verification import unplanned
from tarnkappe.wording import count, percent, plural

#: The key of a manifest that says how joined tables belong together.
KEY = "joined"

_CARDS = {
    K_NAME: (
        "Multirelational k-anonymity",
        Card(
            protects_from="being found by what is known of a person in all tables together.",
            does_not="hide a sensitive value that all persons who look the same share.",
            typical="5 to 10 persons who look the same.",
            cost="high where persons have many rows: each row is one more thing to be known by.",
        ),
    ),
    L_NAME: (
        "Multirelational l-diversity",
        Card(
            protects_from="a confident guess which sensitive value a person has.",
            does_not="hide a value from somebody who knows the values of the others.",
            typical="2 to 5: no value belongs to more than one l-th of the persons who look the same.",
            cost="grows with the share of the commonest value.",
        ),
    ),
}


@dataclass(frozen=True, eq=False)
class Chance:
    """What chance decides: the new keys of persons, and then the order of rows."""

    rng: np.random.Generator
    pseudonym: Counts

    @classmethod
    def drawn(cls, rng: np.random.Generator, kept: Flags) -> Self:
        """A new key for everybody who is published."""
        pseudonym = np.zeros(len(kept), np.int64)
        pseudonym[kept] = rng.permutation(int(kept.sum())) + 1
        return cls(rng, pseudonym)


@dataclass(frozen=True, eq=False)
class TablesDraft(BundleDraft[MultiRelease]):
    """Joined tables whose levels are decided."""

    plan: TablesPlan
    given: TablesJob
    data: Mapping[str, Any]
    seed: int
    chance: Chance

    @cached_property
    def _labelled(self) -> tuple[tuple[ReadTable, list[Labelling]], ...]:
        return tuple(self.plan.labelled())

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables to be published: new keys, coarse labels, rows in random order."""
        out = {}
        for table, labellings in self._labelled:
            rows = self.chance.rng.permutation(self._rows(table))
            out[table.relation.name] = self._made(table, labellings, rows)
        return out

    def _rows(self, table: ReadTable) -> Counts:
        """The rows of persons who are published."""
        return np.flatnonzero(self.plan.kept[table.encoded.owner])

    def _made(self, table: ReadTable, labellings: list[Labelling], rows: Counts) -> pl.DataFrame:
        """Some rows of a table as they are published."""
        columns = {self.plan.job.key: pl.Series(self.chance.pseudonym[table.encoded.owner[rows]])}
        columns |= {shown.column.name: shown.at(rows) for shown in labellings}
        columns |= {name: table.frame[name].gather(rows) for name in table.relation.sensitive}
        frame = pl.DataFrame({name: columns[name] for name in self.plan.in_order(table)})
        return frame.unique(maintain_order=True) if table.relation.rows == "set" else frame

    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Count anew in tables that were written, and compare them with the input."""
        job = self.plan.job
        opened = {name: open_source(frame, missing=()) for name, frame in tables.items()}
        found = verify_multirelational(job.person, job.satellites, opened, job.key, job.k)
        for relation in job.relations:  # once more: in random order any sample shows all of it
            refuse_identifiers(opened[relation.name], relation.published_columns(), labelled=True)
        wrong = unplanned(found, self.plan.published, self.plan.sizes)
        return Found(found.verdicts, (*wrong, *self._untrue(tables)))

    def _untrue(self, tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
        """Every label must cover its value, and every row must be that of the person under whose new key it stands."""
        for table, labellings in self._labelled:
            name = table.relation.name
            for shown in labellings:
                wrong = shown.untrue(table.source.missing)
                if wrong:
                    yield f"{plural(wrong, 'label')} of '{name}.{shown.column.name}' are not true of their values"
            expected = _counted(self._made(table, labellings, self._rows(table)))
            if not _counted(tables[name]).equals(expected):
                yield f"rows of '{name}' are not those of the input"

    def place(self, table: str) -> Place:
        """A file called like its table, written like its input."""
        data, output = self.data[table], self.given.output
        text = isinstance(data, (str, Path)) and Path(data).suffix.lower() not in (".parquet", ".pq")
        format_: Any = output.format or ("csv" if text else "parquet")
        source = next(t.source for t in self.plan.tables if t.relation.name == table)
        dialect = getattr(source, "dialect", None) or CsvDialect()
        return Place(f"{table}.{format_}", format_, replace(dialect, spreadsheet_safe=output.spreadsheet_safe))

    @property
    def spreadsheet_safe(self) -> bool:
        """As the job asks for."""
        return self.given.output.spreadsheet_safe

    def codebook(self) -> tuple[Entry, ...]:
        """What the labels of all tables mean."""
        return tuple(
            entry
            for table, labellings in self._labelled
            for shown in labellings
            for entry in shown.meanings(table.relation.name, self._rows(table))
        )

    def job_text(self, folder: Path) -> str:
        """The job as it was carried out, with the files that were read."""
        paths = {name: str(data) for name, data in self.data.items() if isinstance(data, (str, Path))}
        output = replace(self.given.output, folder=str(folder.parent))
        return replace(self.given, paths=paths, output=output).to_yaml(folder)

    def bundle(self, tables: Mapping[str, pl.DataFrame], found: Found, codebook: tuple[Entry, ...]) -> MultiRelease:
        """What is known about tables that were checked."""
        plan, given = self.plan, self.given
        search, job = plan.search, plan.job
        n_persons, published = search.n_persons, int(plan.sizes.sum())
        losses, cost = search.by_table(tuple(range(len(plan.levels)))), search.losses(plan.levels)
        named = [(t.relation.name, list(t.relation.quasi)) for t in plan.tables]
        levels = {
            name: dict(zip(columns, at, strict=True))
            for (name, columns), at in zip(named, search.by_table(plan.levels), strict=True)
        }
        loss = {
            name: {c: cost[j] for c, j in zip(columns, at, strict=True)}
            for (name, columns), at in zip(named, losses, strict=True)
        }
        public = public_facts(
            given.title or "Anonymised tables",
            given.purpose,
            {KEY: _told(job), "persons": published, "suppressed": n_persons - published},
            found,
            "Which of the persons who look the same somebody is, and so whose the rows and sensitive values are.",
            tables,
            {r.name: _about(r, job) for r in job.relations},
        )
        read = [{"table": t.relation.name, "name": t.source.name, "sha256": t.source.sha256} for t in plan.tables]
        return MultiRelease(
            verdicts=found.verdicts,
            public_manifest=public,
            private_manifest={"seed": self.seed, "input": read, "levels": levels, "loss": loss},
            story=_story(job, published, n_persons, len(plan.sizes), loss),
            columns=tuple(_columns(plan, loss)),
            notices=(*job.notices(), *_reasons(job, tables)),
            codebook=codebook,
            levels=levels,
            loss=loss,
            n_persons=n_persons,
            n_suppressed=n_persons - published,
            n_groups=len(plan.sizes),
        )


def _reasons(job: MultiJob, tables: Mapping[str, pl.DataFrame]) -> Iterator[Notice]:
    """Alerts about columns that point at people and are published for a reason that the job states."""
    for relation in job.relations:
        yield from notices_about_reasons(open_source(tables[relation.name], missing=()), relation.published_columns())


def _counted(frame: pl.DataFrame) -> pl.DataFrame:
    """How often each row occurs, as texts; an empty text is a gap."""
    texts = frame.select(pl.all().cast(pl.String).fill_null(""))
    return texts.group_by(texts.columns).len("how often").sort(pl.all())


def _told(job: MultiJob) -> dict[str, Any]:
    """How tables belong together and what is promised about them, for the manifest."""
    return {
        "key": job.key,
        "persons": job.person.name,
        "k": job.k,
        "relations": [
            {"name": r.name, "quasi": list(r.quasi), "sensitive": dict(r.sensitive), "rows": r.rows}
            for r in job.relations
        ],
    }


def _about(relation: Relation, job: MultiJob) -> str:
    """What a row of a table is."""
    if relation is job.person:
        return "One person, under a number drawn by lot."
    return f"One of any number of rows about the person whose number stands in {job.key}."


def _columns(plan: TablesPlan, loss: Mapping[str, Mapping[str, float]]) -> Iterator[ColumnSummary]:
    """What was done to the columns of all tables, in words that follow from the job."""
    for table in plan.tables:
        relation, name = table.relation, table.relation.name
        for column in plan.in_order(table):
            if column == plan.job.key:
                yield ColumnSummary(f"{name}.{column}", "key", "replaced by a number drawn by lot")
            elif column in relation.quasi:
                done = "generalised as far as needed, alike for everybody"
                yield ColumnSummary(f"{name}.{column}", "quasi", done, loss=loss[name][column])
            else:
                yield ColumnSummary(f"{name}.{column}", "sensitive", "published unchanged")


def _story(
    job: MultiJob, published: int, n_persons: int, n_groups: int, loss: Mapping[str, Mapping[str, float]]
) -> Story:
    known = [f"{r.name}.{c}" for r in job.relations for c in r.quasi]
    sets = [r.name for r in job.satellites if r.rows == "set"]
    knows_rows = f", but not how many rows of a kind a person has in {', '.join(sets)}" if sets else ""
    others = "other person" if job.k == 2 else "other persons"
    names = [K_NAME, *([L_NAME] if any(r.diversity for r in job.relations) else [])]
    lost = [x for by_column in loss.values() for x in by_column.values()]
    suppressed = n_persons - published
    return Story(
        promise=f"every person looks like at least {job.k - 1} {others} in all tables together.",
        attacker="somebody who knows of a person, in every row of every table, no other columns than these: "
        f"{', '.join(known)}{knows_rows}.",
        cards={name: _CARDS[name] for name in names},
        assumptions=(
            ("A key is a person.", f"Whoever has two values of {job.key} in the data counts as two persons."),
            ("Suppression.", "Persons who look like too few others are left out of all tables."),
            ("The roles are right.", "The promise covers what others may know in the quasi-identifiers named above."),
        ),
        joined=f"Rows with the same number in {job.key}, in all tables, are about one person; numbers were drawn.",
        figures=(
            ("Persons published", published, f"of {count(n_persons)}"),
            ("Suppressed", suppressed, f"{percent(suppressed / n_persons)} of the persons"),
            ("Groups", n_groups, "of persons who look the same"),
        ),
        secret_figures=(("Detail kept", percent(1 - sum(lost) / len(lost)), "of an average column"),) if lost else (),
    )


def audit_joined(path: str | Path) -> BundleAudit:
    """Check the folder of a release of joined tables, or its person table with the manifest beside it."""
    known = manifest_with(path, KEY)
    if known is None:
        raise JobError("E107", f"'{path}' is no release of joined tables", hint="tarnkappe verify FOLDER")
    table, manifest = known
    try:
        told = manifest[KEY]
        relations = {str(r["name"]): Relation(**r) for r in told["relations"]}
        person = relations.pop(told["persons"])
        key, k = str(told["key"]), int(told["k"])
    except (KeyError, TypeError, ValueError, JobError) as error:
        raise changed_by_hand(table) from error

    def check(tables: Mapping[str, pl.DataFrame]) -> Found:
        opened = {name: open_source(frame, missing=()) for name, frame in tables.items()}
        return Found(verify_multirelational(person, tuple(relations.values()), opened, key, k).verdicts)

    return audit_tables(table, manifest, check, (person.name, *relations))

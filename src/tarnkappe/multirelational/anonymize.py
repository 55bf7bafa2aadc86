"""Publish tables that are joined by a key, so that nobody stands out in all of them together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe._version import __version__
from tarnkappe.algorithms.recoding import Cut
from tarnkappe.arrays import Codes
from tarnkappe.boxes import Boxes
from tarnkappe.engines.encode import encode_quasi, encode_sensitive, read_kind
from tarnkappe.errors import DataError, InfeasibleError
from tarnkappe.guards import refuse_identifiers
from tarnkappe.io import Format, Source, Staging, TableWriter, like, open_source
from tarnkappe.io.folders import MANIFEST, PUBLIC
from tarnkappe.multirelational.model import MultiJob, MultiRelease, Relation
from tarnkappe.multirelational.search import EncodedTable, Found, Levels, Search, Secret, View
from tarnkappe.multirelational.verify import keys_of_persons, open_table, owners, verify_multirelational
from tarnkappe.plain_json import to_json
from tarnkappe.publish.labels import labels_of
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.builders import File
from tarnkappe.verification import Verification, require_release, unreadable


@dataclass(frozen=True, eq=False)
class _Read:
    """One table as it was read."""

    relation: Relation
    source: Source
    frame: pl.DataFrame
    encoded: EncodedTable


@dataclass(frozen=True, eq=False)
class _Plan:
    """Levels that were found, and who is published at them."""

    job: MultiJob
    tables: tuple[_Read, ...]
    search: Search
    levels: Levels
    view: View

    @property
    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Persons per published group."""
        return self.view.sizes[~self.view.bad]

    @property
    def published(self) -> list[str]:
        """All published columns with their tables."""
        return [f"{t.relation.name}.{c}" for t in self.tables for c in self.in_order(t)]

    def in_order(self, table: _Read) -> list[str]:
        return table.relation.in_order(table.source.columns, self.job.key)

    def frames(self, rng: np.random.Generator) -> Iterable[tuple[_Read, pl.DataFrame]]:
        """The tables to be published: new keys, coarse labels, rows in random order."""
        kept = ~self.view.bad[self.view.group]
        pseudonym = np.zeros(self.search.n_persons, np.int64)
        pseudonym[kept] = rng.permutation(int(kept.sum())) + 1
        for table, levels in zip(self.tables, self.search.by_table(self.levels), strict=True):
            owner = table.encoded.owner
            rows = rng.permutation(np.flatnonzero(kept[owner]))
            columns: dict[str, pl.Series] = {self.job.key: pl.Series(pseudonym[owner[rows]])}
            for (name, codes, domain), level in zip(_coded(table), levels, strict=True):
                columns[name] = _labels(domain, level, codes[rows], table.source.missing)
            for name in table.relation.sensitive:
                columns[name] = table.frame[name].gather(rows)
            frame = pl.DataFrame({name: columns[name] for name in self.in_order(table)})
            yield table, frame.unique(maintain_order=True) if table.relation.rows == "set" else frame

    def verify(self, tables: Mapping[str, Source], where: str) -> Verification:
        """Check tables that were made, by a way of their own; an exception unless they are what was promised."""
        job = self.job
        found = verify_multirelational(job.person, job.satellites, tables, job.key, job.k)
        require_release(found, self.published, self.sizes, where)
        return found

    def release(self, found: Verification, tables: Mapping[str, Any], folder: Path | None = None) -> MultiRelease:
        """What is known in the end."""
        losses = self.search.by_table(tuple(range(len(self.levels))))
        loss = self.search.losses(self.levels)
        names = [(t.relation.name, list(t.relation.quasi)) for t in self.tables]
        return MultiRelease(
            tables=tables,
            verdicts=found.verdicts,
            levels={
                name: dict(zip(columns, levels, strict=True))
                for (name, columns), levels in zip(names, self.search.by_table(self.levels), strict=True)
            },
            loss={
                name: {c: loss[j] for c, j in zip(columns, at, strict=True)}
                for (name, columns), at in zip(names, losses, strict=True)
            },
            n_persons=self.search.n_persons,
            n_suppressed=self.search.n_persons - found.n_records,
            n_groups=len(self.sizes),
            folder=folder,
        )


def anonymize_multirelational(job: MultiJob, tables: Mapping[str, Any], *, seed: int | None = None) -> MultiRelease:
    """Anonymise joined tables in memory; `tables` are files or frames by name, and frames of the same kind come back.

    All quasi-identifiers of all tables are generalised, each to one level, until all but a few persons share what is
    seen of them with ``k - 1`` others; those few are suppressed in all tables. The key becomes a random number that
    still joins the tables.

    Differs from the paper in: the paper clusters persons and generalises each cluster by itself (MiRaCle); here every
    column has one level for everybody. Multisets are compared as well as sets.

    References
    ----------
    .. [NeCN07] Nergiz, Clifton, Nergiz. "Multirelational k-anonymity." ICDE 2007.
    """
    plan = _decide(job, tables)
    made = {t.relation.name: frame for t, frame in plan.frames(_generator(seed))}
    found = plan.verify({name: open_source(frame, missing=()) for name, frame in made.items()}, "the release")
    return plan.release(found, {name: like(tables[name], frame) for name, frame in made.items()})


def run_multirelational(
    job: MultiJob, tables: Mapping[str, Any], folder: str | Path, *, seed: int | None = None, overwrite: bool = False
) -> MultiRelease:
    """Anonymise joined tables into a folder: nothing appears there unless all written files were checked together."""
    inputs = [data for data in tables.values() if isinstance(data, (str, Path))]
    inputs += [
        c.taxonomy.path for r in job.relations for c in r.columns() if c.taxonomy and isinstance(c.taxonomy, File)
    ]
    with Staging(folder, overwrite=overwrite, inputs=inputs) as stage:
        plan = _decide(job, tables)
        written: dict[str, Source] = {}
        files: list[dict[str, Any]] = []
        for table, frame in plan.frames(_generator(seed)):
            name = table.relation.name
            format_ = _format(tables[name])
            file = f"{name}.{format_}"
            path = stage.path(f"{PUBLIC}/{file}")
            with TableWriter(path, format_, getattr(table.source, "dialect", None)) as writer:
                writer.write(frame)
            try:
                written[name] = open_source(path, writer.dialect)
            except DataError as error:
                raise unreadable(str(Path(folder) / file), error) from error
            files.append({"table": name, "file": file, "rows": frame.height, "columns": frame.columns})
        found = plan.verify(written, str(folder))
        release = plan.release(found, {}, Path(folder))
        for entry in files:
            entry["sha256"] = written[entry["table"]].sha256
        facts = {
            "tarnkappe": __version__,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "key": job.key,
            "tables": files,
            "verdicts": [asdict(v) for v in release.verdicts],
            "levels": release.levels,
            "loss": release.loss,
            "persons": found.n_records,
            "suppressed": release.n_suppressed,
        }
        text = to_json(facts) + "\n"
        stage.path(f"{PUBLIC}/{MANIFEST}").write_text(text, encoding="utf-8")
        for source in written.values():
            source.close()
    return replace(release, folder=Path(folder))


def _format(data: Any) -> Format:
    """The format of a file; a frame is written as Parquet."""
    text = isinstance(data, (str, Path)) and Path(data).suffix.lower() not in (".parquet", ".pq")
    return "csv" if text else "parquet"


def _generator(seed: int | None) -> np.random.Generator:
    """Chance that nobody can repeat, unless a seed is given."""
    return np.random.Generator(np.random.Philox(seed))


def _decide(job: MultiJob, tables: Mapping[str, Any]) -> _Plan:
    """Read and encode all tables, and find levels."""
    sources = {r.name: open_table(tables, r) for r in job.relations}
    everybody = keys_of_persons(sources[job.person.name], job.person.name, job.key)
    read, secrets = [], []
    for relation in job.relations:
        source = sources[relation.name]
        relation.in_order(source.columns, job.key)
        columns = relation.columns()
        if columns:
            refuse_identifiers(source, Schema(columns))
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
        read.append(_Read(relation, source, frame, encoded))
        for name, l in relation.diversity.items():  # noqa: E741
            column = Column(name, "sensitive")
            codes, domain = encode_sensitive(read_kind(frame[name], column, source), column)
            secrets.append(Secret.of(owner, codes.astype(np.int32), domain.size, len(everybody), l))
    n = len(everybody)
    search = Search([t.encoded for t in read], secrets, n, job.k, job.goal.budget(n))
    found = search.run()
    if found.answer is None:
        raise _infeasible(job, search, found)
    return _Plan(job, tuple(read), search, *found.answer)


def _infeasible(job: MultiJob, search: Search, found: Found) -> InfeasibleError:
    """What would have to be given up so that there is a release."""
    details, ways = [], []
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
        ways.append(f"max_suppressed={math.ceil(Fraction(found.fewest * 1000, search.n_persons)) / 1000:g}")
    details.append("Persons then differ only in how many rows they have, or share a sensitive value too often.")
    if any(r.rows == "multiset" for r in job.satellites):
        ways.append('rows="set" for satellites of which nobody knows how many rows a person has')
    if any(r.diversity for r in job.relations):
        ways.append("a smaller l for a sensitive column")
    what = f"lets every person look like {job.k - 1} others in all tables"
    return InfeasibleError(
        "E301",
        f"no release {what}" if found.exhaustive else f"no release was found that {what}, among the levels tried",
        details=details,
        hint=f"What may help: {', or '.join([*ways, f'k below {job.k}'])}.",
    )


def _coded(table: _Read) -> list[tuple[str, Codes, Domain]]:
    return list(zip(table.relation.quasi, table.encoded.codes, table.encoded.domains, strict=True))


def _labels(domain: Domain, level: int, codes: Codes, missing: tuple[str, ...]) -> pl.Series:
    """What each row publishes in one column."""
    cut = Cut.at_level(domain, level)
    boxes = Boxes(cut.lo[:, None], cut.hi[:, None], cut.node[:, None])
    return labels_of(boxes, 0, domain, missing).at(cut.part[codes])

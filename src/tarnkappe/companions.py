"""Where a release goes, what its table is called, and what is written beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tarnkappe.alternatives import Alternatives
from tarnkappe.arrays import Codes
from tarnkappe.codebook import as_table
from tarnkappe.errors import JobError, RefusedError
from tarnkappe.fixes import setting
from tarnkappe.groups import SUPPRESSED
from tarnkappe.io import CsvDialect, Format, Staging, TableWriter
from tarnkappe.io.databases import Address, is_database
from tarnkappe.io.folders import (
    GROUPS,
    JOB,
    MANIFEST,
    ORIGINALS,
    POPULATION,
    PRIVATE,
    PUBLIC,
    RECODING,
    REPORT,
    SOLUTIONS,
    WITNESS,
)
from tarnkappe.io.formats import release_format, unpacked_name
from tarnkappe.io.partitions import table_name
from tarnkappe.job import Job
from tarnkappe.job.places import OutputSettings
from tarnkappe.parts import PartedPlan
from tarnkappe.plain_json import to_json
from tarnkappe.plan import AnyPlan, Plan
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.sheets import free_name
from tarnkappe.recoding import recoding_table
from tarnkappe.release import Release
from tarnkappe.report import render_report
from tarnkappe.solution_frames import solution_frames
from tarnkappe.verification import Evidence, original_name

if TYPE_CHECKING:
    from tarnkappe.engines.spark.staging import RemoteStaging


def file_name(output: OutputSettings, data: Any) -> tuple[str, Format]:
    """Name and format of the released table: those of the input unless the job says otherwise."""
    if output.database is not None:  # a table has no format; what is said about files does not concern it
        return Address.of(output.database).name, "parquet"
    if is_database(data):
        given = Path(f"{Address.of(str(data)).name.replace('/', '_')}.parquet")
    else:
        given = table_name(data) if isinstance(data, (str, Path)) else Path("release.parquet")
    format_: Format = output.format or release_format(given)  # type: ignore[assignment]
    return f"{unpacked_name(given).stem}.{format_}", format_


def sheet_file(name: str, sheet: str) -> str:
    """What the file of a further table of a release is called.

    >>> sheet_file("patients.csv", ""), sheet_file("patients.csv", "secrets")
    ('patients.csv', 'patients-secrets.csv')
    """
    path = Path(name)
    return name if not sheet else f"{path.stem}-{sheet}{path.suffix}"


def staging(job: Job, target: str | Path, overwrite: bool, inputs: Iterable[str | Path]) -> Staging | RemoteStaging:
    """Where a release is prepared before it gets its name: beside its folder, on whatever file system that is."""
    if job.output.database is not None:
        if job.data.path == job.output.database:
            table = Address.of(job.output.database)
            what = f"the release would take the place of its own data, the table '{table.name}'"
            raise RefusedError("E602", what, where=table.shown, hint=f"table: {table.name}_released")
        return database_staging(job.output.database, target, overwrite, inputs)
    if not is_address(target):
        return Staging(target, overwrite=overwrite, inputs=inputs)
    if job.engine.name != "spark":
        raise JobError("E110", f"only Spark can write to '{target}'", hint=setting("engine: spark", "engine", "spark"))
    from tarnkappe.engines.spark.staging import RemoteStaging

    return RemoteStaging(str(target), master=job.engine.master, overwrite=overwrite)


def database_staging(address: str, target: str | Path, overwrite: bool, inputs: Iterable[str | Path]) -> Staging:
    """Where a release is prepared whose table goes to a database."""
    from tarnkappe.io.databases.staging import DatabaseStaging

    if is_address(target):
        raise JobError("E110", "what goes with a table in a database goes to a local folder", hint="folder: release")
    return DatabaseStaging(Address.of(address), target, overwrite=overwrite, inputs=inputs)


def is_address(target: str | Path) -> bool:
    """Whether a folder lies somewhere else, such as ``hdfs://host/folder``."""
    return isinstance(target, str) and "://" in target


def write_companions(
    stage: Staging | RemoteStaging,
    release: Release,
    plan: AnyPlan | PartedPlan,
    evidence: Evidence,
    target: Path | None,
) -> None:
    """Write what goes with a table: manifest, codebook and report to share, and what the publisher keeps."""
    write_json(stage.path(f"{PUBLIC}/{MANIFEST}"), release.public_manifest)
    book = stage.path(f"{PUBLIC}/{release.public_manifest['codebook']}")
    with TableWriter(book, "csv", CsvDialect(spreadsheet_safe=release.job.output.spreadsheet_safe)) as writer:
        writer.write(as_table(release.codebook))
    if release.has_public_report:
        stage.path(f"{PUBLIC}/{REPORT}").write_text(render_report(release), encoding="utf-8")
    others = _write_solutions(stage, release, plan)
    internal = render_report(replace(release, alternatives=others), audience="internal")
    stage.path(f"{PRIVATE}/{REPORT}", private=True).write_text(internal, encoding="utf-8")
    job = release.job.to_yaml(None if target is None else target / PRIVATE)
    stage.path(f"{PRIVATE}/{JOB}", private=True).write_text(job, encoding="utf-8")
    groups = groups_table(plan) if isinstance(plan, Plan) else None  # numbered groups stand in the release
    if release.job.output.recoding and isinstance(plan, Plan):
        with TableWriter(stage.path(f"{PRIVATE}/{RECODING}", private=True), "csv") as writer:
            numeric = {c.name for c in release.job.columns if c.kind == "numeric"}
            writer.write(recoding_table(plan, numeric))
    tables = {
        GROUPS: groups,
        WITNESS: evidence.witness,
        POPULATION: evidence.population,
        ORIGINALS: evidence.originals,
    }
    for name, table in tables.items():
        if table is not None:
            with TableWriter(stage.path(f"{PRIVATE}/{name}", private=True), "parquet") as writer:
                writer.write(table)


def _write_solutions(
    stage: Staging | RemoteStaging, release: Release, plan: AnyPlan | PartedPlan
) -> Alternatives | None:
    """Write the nodes of the lattice with their figures, if the job asks for them; and tell the best of them."""
    which = release.job.output.solutions
    if which is None:
        return None
    best = Alternatives()
    with TableWriter(stage.path(f"{PRIVATE}/{SOLUTIONS}", private=True), "parquet") as writer:
        for frame in solution_frames(plan.tally, plan.goal, which):  # type: ignore[arg-type]
            writer.write(frame)
            best = best.with_more(frame)
    return best


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write plain data as a JSON file."""
    path.write_text(to_json(data) + "\n", encoding="utf-8")


def groups_table(plan: Plan) -> pl.DataFrame:
    """One row per group: its size and what it publishes. Private: it tells which boxes were formed."""
    labels = _label_columns(plan, plan.labels, np.arange(plan.n_groups, dtype=np.int32))
    remarks = {free_name(name, labels): values for name, values in plan.remarks.items()}
    return pl.DataFrame({free_name("records", labels): plan.sizes, **labels, **remarks}, strict=False)


def population_table(plan: Plan) -> pl.DataFrame | None:
    """The public table as generalised by the plan: how many people (first column) have which labels.

    People whose group is suppressed are left out. None without a public table.
    """
    if plan.tally.population is None:
        return None
    group = np.full(plan.tally.n_cells, SUPPRESSED, np.int32)
    group[plan.everybody.cell] = plan.everybody.group
    shown = np.flatnonzero((plan.tally.population > 0) & (group >= 0))
    labels = _label_columns(plan, plan.everybody_labels, group[shown])
    return pl.DataFrame({free_name("people", labels): plan.tally.population[shown], **labels}, strict=False)


def originals_table(plan: Plan) -> pl.DataFrame | None:
    """The numbers that centres stand for: how many records (first column) with which labels have which of them.

    Only of columns that a criterion compares with what is published; None if there are none.
    """
    wanted = plan.goal.centre_columns
    if not wanted:
        return None
    kept = plan.grouping.group != SUPPRESSED
    cell, group = plan.grouping.cell[kept], plan.grouping.group[kept]
    labels = _label_columns(plan, plan.labels, group)
    values = {
        original_name(domain.name): pl.Series(domain.positions[plan.tally.quasi[cell, j]]).fill_nan(None)
        for j, domain in enumerate(plan.tally.quasi_domains)
        if domain.name in wanted
    }
    records = pl.Series(plan.grouping.quota[kept])
    return pl.DataFrame({free_name("records", [*labels, *values]): records, **labels, **values}, strict=False)


def _label_columns(plan: Plan, labels: tuple[Labels, ...], groups: Codes) -> dict[str, pl.Series]:
    return {d.name: x.at(groups) for d, x in zip(plan.tally.quasi_domains, labels, strict=True)}

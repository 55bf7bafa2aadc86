"""From a decided job to a release: all tables written, read back, and described."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tarnkappe.algorithms.last_resort import LAST_RESORT
from tarnkappe.algorithms.timed import STOPPED
from tarnkappe.codebook import further_lines, parquet_lines, reading_lines
from tarnkappe.companions import (
    file_name,
    is_address,
    sheet_file,
    write_companions,
    write_json,
)
from tarnkappe.engines.base import KeptBatches, Writer
from tarnkappe.errors import DataError, Notice
from tarnkappe.gate import withstood
from tarnkappe.guards import (
    said_aloud,
)
from tarnkappe.io import CsvDialect, Format, Source, Staging, like
from tarnkappe.io.databases.staging import DatabaseStaging
from tarnkappe.io.folders import CODEBOOK, MANIFEST, PRIVATE, PUBLIC, told_dialect
from tarnkappe.io.formulas import each, neutralised
from tarnkappe.job import Job
from tarnkappe.job.model import replace_job
from tarnkappe.parts import PartedPlan
from tarnkappe.plan import AnyPlan, Plan
from tarnkappe.publish.sheets import MAIN
from tarnkappe.release import Release, describe
from tarnkappe.runs import Run, Table, WriteTo
from tarnkappe.threads import in_background
from tarnkappe.verification import Evidence, Verification, unreadable

if TYPE_CHECKING:
    from tarnkappe.engines.spark.staging import RemoteStaging


@dataclass(frozen=True, eq=False)
class Draft:
    """A release that is in memory only, with what it takes to write and to check it."""

    run: Run
    job: Job
    data: Any
    tables: Mapping[str, pl.DataFrame]
    described: tuple[Table, ...]
    evidence: Evidence

    def verify(self, tables: Mapping[str, Any]) -> Verification:
        """Recount tables that should be these, as they are now."""
        opened = {name: self.run.engine.open(table, missing=()) for name, table in tables.items()}
        return self.run.recount(opened, self.evidence)


def publish_in_memory(run: Run, job: Job, data: Any) -> Release:
    """Write a decided release to frames, and check them."""
    batches: dict[str, KeptBatches] = {}

    def write_to(name: str) -> AbstractContextManager[Writer]:
        batches[name] = KeptBatches()
        return nullcontext(batches[name])

    described, evidence = run.rewrite(write_to)
    tables = {name: pl.concat(kept.written) for name, kept in batches.items()}
    written = {name: run.engine.open(table, missing=()) for name, table in tables.items()}
    found = run.verify(written, described, "the release", evidence)
    attacks = withstood(job, run, written, "the release")
    draft = Draft(run, job, data, tables, described, evidence)
    run.clock.begin(None)
    return describe(
        _as_carried_out(job, run),
        run.plan,
        run.checked.schema,
        found.verdicts,
        _notices(run, job, written[MAIN]),
        public={"records": run.plan.n_published, **_told(run, described)},
        private=_private(run),
        proved=found.proved,
        attacks=attacks,
        tables={name: like(data, table) for name, table in tables.items()},
        draft=draft,
    )


def publish_to(
    stage: Staging | RemoteStaging,
    run: Run,
    job: Job,
    data: Any,
    target: str | Path,
    rewrite: Callable[[WriteTo], tuple[tuple[Table, ...], Evidence]],
    told: Callable[[Release], Release] | None = None,
) -> Release:
    """Write a decided release and all that goes with it, and check what was written.

    `told` decides what the papers say about a release that was checked.
    """
    name, format_ = file_name(job.output, data)
    # The release is written like its input, so that its numbers and gaps are read back as what they were.
    missing = job.data.missing or ("",)
    marker = "" if "" in missing else missing[0]
    dialect = getattr(run.checked.source, "dialect", None) or CsvDialect()
    dialect = replace(dialect, spreadsheet_safe=job.output.spreadsheet_safe)
    paths: dict[str, Path | str] = {}
    place = stage if isinstance(stage, DatabaseStaging) else run.engine

    def write_to(sheet: str) -> AbstractContextManager[Writer]:
        paths[sheet] = stage.table(f"{PUBLIC}/{sheet_file(name, sheet)}")
        return place.writer(paths[sheet], format_, dialect, marker)

    described, evidence = rewrite(write_to)
    dialect = dialect.released()
    if isinstance(stage, DatabaseStaging):  # numbered groups come in runs, and a witness stands beside the rows
        stage.ordered = not isinstance(run.plan, Plan) or evidence.witness is not None
    shown = f"{str(target).rstrip('/')}/{PUBLIC}/{name}"
    if isinstance(stage, DatabaseStaging):
        shown = f"table {name} in {stage.address.shown}"
    try:
        with ExitStack() as opened:
            written = {sheet: opened.enter_context(place.open(path, dialect, missing)) for sheet, path in paths.items()}
            for source in written.values():
                source.decimal = run.checked.source.decimal
            hashing = in_background(lambda: {sheet: source.sha256 for sheet, source in written.items()})
            found = run.verify(written, described, shown, evidence)
            attacks = withstood(job, run, written, shown)
            notices = _notices(run, job, written[MAIN], format_, found)
            dialect = _as_it_shows(job, written[MAIN], dialect)
            digests = hashing.result()
            rows = {sheet: source.n_rows for sheet, source in written.items()}
    except DataError as error:
        raise unreadable(shown, error) from error
    run.clock.begin("report")
    files = {t.name: sheet_file(name, t.name) for t in described}
    lines = {
        t.name: _reading(run, files[t.name], t.columns, format_, dialect, missing)
        if Path(paths[t.name]).is_file()
        else None
        for t in described
    }
    facts = {t: {"file": files[t], "sha256": digests[t], "rows": rows[t], "read": lines[t]} for t in files}
    release = describe(
        _as_carried_out(job, run),
        run.plan,
        run.checked.schema,
        found.verdicts,
        notices,
        public={
            "file": name,
            "sha256": digests[MAIN],
            "records": run.plan.n_published,
            "codebook": CODEBOOK if name != CODEBOOK else f"labels-{CODEBOOK}",
            **({"csv": told_dialect(dialect, missing)} if format_ == "csv" else {}),
            "read": lines[MAIN],
            **_told(run, described, facts),
            **(stage.told if isinstance(stage, DatabaseStaging) else {}),
        },
        private=_private(run),
        proved=found.proved,
        attacks=attacks,
        missing_text=marker,
        folder=Path(target),
    )
    release = release if told is None else told(release)
    write_companions(stage, release, run.plan, evidence, None if is_address(target) else Path(target))
    run.clock.begin(None)
    write_json(stage.path(f"{PRIVATE}/{MANIFEST}", private=True), release.private_manifest)
    return release


def _told(run: Run, tables: Sequence[Table], facts: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """What a manifest tells about the tables of a release, and about how their groups are found."""
    return {
        "form": run.plan.form.name,
        "tables": [
            {"name": t.name, "columns": list(t.columns), "about": t.about, **(facts or {}).get(t.name, {})}
            for t in tables
        ],
        **({STOPPED: run.plan.notes[STOPPED]} if STOPPED in run.plan.notes else {}),
        **run.told(),
    }


def _private(run: Run) -> dict[str, Any]:
    """What only the data steward may know."""
    run.digest.result()
    return {
        "seed": run.seed,
        "input": about(run.checked.source),
        **({} if run.checked.population is None else {"population": about(run.checked.population)}),
        "seconds": run.clock.seconds,
        "search": {**({} if run.why is None else {"chosen": run.why}), **run.plan.notes},
    }


def _notices(
    run: Run, job: Job, written: Source, format_: Format | None = None, found: Verification | None = None
) -> tuple[Notice, ...]:
    """All warnings about a release."""
    schema, source, in_parts = run.checked.schema, run.checked.source, None if found is None else found.in_parts
    told = run.checked.notices + said_aloud(job, schema, run.plan, source, written, format_, in_parts)
    if STOPPED in run.plan.notes:
        told += (Notice("W616", f"the search was stopped {run.plan.notes[STOPPED]}"),)
    if LAST_RESORT in run.plan.notes:
        hint = f"Another algorithm may find more:  algorithm: {run.algorithm.for_groups}"
        told += (Notice("W622", str(run.plan.notes[LAST_RESORT]), hint=hint),)
    elif _tells_nobody_apart(run.plan):
        hint = "Ask for less, or let more records be left out, such as  --set limits.suppressed_rows=5%"
        told += (Notice("W622", "all records that are published are in one group", hint=hint),)
    return told


def _tells_nobody_apart(plan: AnyPlan | PartedPlan) -> bool:
    """Whether there is but one group although the data have several combinations; a mechanism is not asked."""
    one = isinstance(plan, Plan) and plan.n_groups == 1 and not plan.goal.is_mechanism
    return one and bool((plan.tally.quasi != plan.tally.quasi[:1]).any())


def about(source: Source) -> dict[str, str]:
    """What the publisher keeps about data that were read."""
    return {"name": source.name, "sha256": source.sha256, "description": source.description}


def _as_carried_out(job: Job, run: Run) -> Job:
    """The job with every column by name, also what was only "the rest", all that was promised, and no choice left."""
    schema = run.checked.schema
    return replace_job(job, columns=schema.columns, rest=None, goal=run.plan.goal, algorithm=run.algorithm)


def _as_it_shows(job: Job, written: Source, dialect: CsvDialect) -> CsvDialect:
    """How the released file is written, as far as it shows or the job says it.

    That numbers of the data have a decimal comma may be known from one record that is not in the release.
    """
    if dialect.decimal != "," or job.data.dialect.decimal == ",":
        return dialect
    return dialect if written.with_texts(written.columns, ",[0-9]") else replace(dialect, decimal=".")


def _reading(
    run: Run, file: str, columns: Sequence[str], format_: Format, dialect: CsvDialect, missing: Sequence[str]
) -> dict[str, str]:
    """Lines of other languages that read a released table."""
    if format_ == "parquet":
        return parquet_lines(file)
    if format_ != "csv":
        return further_lines(file, format_)
    schema = run.checked.schema
    numbers = {c.name for c in schema.with_role("sensitive", "keep") if c.kind == "numeric"}
    numbers |= run.numbers_among(columns)
    signs = {"delimiter": dialect.delimiter or ",", "quote": dialect.quote or '"', "decimal": dialect.decimal or "."}
    texts = [n for n in columns if n not in numbers]
    if dialect.spreadsheet_safe:  # the header has apostrophes, too
        texts = each(texts, neutralised)
    return reading_lines(file, **signs, missing=missing, texts=texts)

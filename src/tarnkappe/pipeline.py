"""The whole flow: count the cells, decide the groups, rewrite the records, recount what was written.

This is the only module that knows the order of things.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.ceilings import lost_to_ceilings
from tarnkappe.algorithms.last_resort import planned
from tarnkappe.algorithms.timed import STOPPED, decide_in_time
from tarnkappe.algorithms.watch import Watch
from tarnkappe.codebook import parquet_lines, reading_lines
from tarnkappe.companions import (
    file_name,
    is_address,
    population_table,
    sheet_file,
    staging,
    write_companions,
    write_json,
)
from tarnkappe.engines import engine_for
from tarnkappe.engines.base import Engine, Writer
from tarnkappe.engines.measures import measured
from tarnkappe.engines.values import CellValues
from tarnkappe.errors import DataError, JobError, Notice
from tarnkappe.estimate import Estimate, estimate
from tarnkappe.fixes import Fix, setting
from tarnkappe.goal import Goal
from tarnkappe.guards import (
    admitted,
    foreseen,
    notices_about_reasons,
    refuse_identifiers,
    require_everybody,
    said_aloud,
)
from tarnkappe.io import CsvDialect, Format, Source, Staging, like
from tarnkappe.io.dialect import stated_dialect
from tarnkappe.io.folders import CODEBOOK, MANIFEST, PRIVATE, PUBLIC, told_dialect
from tarnkappe.io.source import is_csv
from tarnkappe.job import Job
from tarnkappe.job.given import number_of, one_of
from tarnkappe.job.mechanism import independent
from tarnkappe.job.model import replace_job
from tarnkappe.phases import Phases, Progress
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.publish.sheets import MAIN, Sheet
from tarnkappe.regrouping import untrue_sheets, verify_sheets
from tarnkappe.release import Release, describe
from tarnkappe.schema import Schema
from tarnkappe.spellings import notices_about_spellings
from tarnkappe.tally import Tally
from tarnkappe.taxonomy.builders import File
from tarnkappe.threads import Pending, in_background
from tarnkappe.truth import untrue_labels, untrue_records
from tarnkappe.verification import Evidence, Verification, require_release, unreadable, verify_table

if TYPE_CHECKING:
    from tarnkappe.engines.spark.staging import RemoteStaging

_SEED_BITS = 128


@dataclass(frozen=True, eq=False)
class Checked:
    """What is known before anything is decided."""

    source: Source
    schema: Schema
    tally: Tally
    notices: tuple[Notice, ...]
    population: Source | None = None


class _Batches:
    """A writer that keeps what it is given."""

    dialect = CsvDialect()

    def __init__(self) -> None:
        self.written: list[pl.DataFrame] = []

    def write(self, batch: pl.DataFrame) -> None:
        self.written.append(batch)


@dataclass(frozen=True)
class Table:
    """One table of a release: its name (the first has none), its columns, and what a row of it is."""

    name: str
    columns: tuple[str, ...]
    about: str


#: Opens a table of a release, by its name, for writing.
WriteTo = Callable[[str], AbstractContextManager[Writer]]


@dataclass(frozen=True, eq=False)
class _Run:
    """A decided job, ready to be rewritten."""

    checked: Checked
    engine: Engine
    #: The algorithm that decided: the job's, or the one that it chose.
    algorithm: Algorithm
    why: str | None
    plan: AnyPlan
    rng: np.random.Generator
    seed: int
    clock: Phases
    #: The texts that stand for a missing value.
    missing: tuple[str, ...]
    #: The digest of the input, which takes a core of its own while groups are formed and written.
    digest: Pending[str]

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """The tables that follow from the plan alone; none if records are rewritten one by one."""
        plan = self.plan
        if isinstance(plan, Plan):
            return ()
        source, schema = self.checked.source, self.checked.schema
        values = CellValues(plan.tally, schema, source.types(schema.published), self.missing)
        return plan.form.sheets(plan, schema, values, self.rng)

    def rewrite(self, write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        """Write all tables; what verification needs besides them is handed over."""
        self.clock.begin("write")
        if isinstance(self.plan, Plan):
            with write_to(MAIN) as writer:
                done = self.engine.rewrite(self.plan, self.checked.schema, writer, self.rng)
            witness = done.witness if done.witness.width else None
            table = Table(MAIN, self.checked.schema.published, "One row for every person.")
            return (table,), Evidence(witness, population_table(self.plan), done.ledger)
        tables = []
        for sheet in self.sheets:
            with write_to(sheet.name) as writer:
                self.engine.write(sheet, writer)
            tables.append(Table(sheet.name, sheet.columns, sheet.about))
        return tuple(tables), Evidence()

    def verify(self, written: Mapping[str, Source], where: str, evidence: Evidence) -> Verification:
        """Read back what was written; an exception unless it is what was promised."""
        self.clock.begin("verify")
        found = self.recount(written, evidence)
        columns = self.checked.schema.published
        if isinstance(self.plan, DealtPlan):
            columns = tuple(column for sheet in self.sheets for column in sheet.columns)
        require_release(found, columns, self.plan.sizes, where, self.checked.population)
        for source in written.values():
            # Once more: in random order any sample shows all of it.
            refuse_identifiers(source, self.checked.schema, coarsened=self.plan.form.coarsens)
        return found

    def recount(self, written: Mapping[str, Source], evidence: Evidence) -> Verification:
        """What tables hold that should be those that were planned."""
        schema, plan, goal = self.checked.schema, self.plan, self.plan.goal
        domains = {d.name: d for d in plan.tally.sensitive_domains}
        columns = [c for c in schema.columns if c.name in domains]
        types = self.checked.source.types([c.name for c in schema.sensitive])
        if isinstance(plan, DealtPlan):
            found = verify_sheets(written, plan.form.reading(schema), columns, goal, domains, types)
            lies = untrue_sheets(plan, schema, written, self.missing)
            found = replace(found, untrue=(*found.untrue, *lies))
            return replace(found, proved=tuple(_proved(found, schema, evidence)))
        names = [c.name for c in schema.quasi]
        step = self.clock.step
        table = written[MAIN]
        found = verify_table(table, names, columns, goal, domains, evidence, step, plan=plan, types=types)
        if found.columns == schema.published:
            lies = untrue_labels(plan, self.missing) + untrue_records(plan, table, evidence.ledger)
            found = replace(found, untrue=(*found.untrue, *lies))
        return replace(found, proved=tuple(_proved(found, schema, evidence)))


def _proved(found: Verification, schema: Schema, evidence: Evidence) -> Iterator[str]:
    """What a table was found to be beside keeping its criteria: said only if it was looked at."""
    identifiers = {c.name for c in schema.columns if c.role in ("identifier", "subject")}
    if identifiers and not identifiers & set(found.columns):
        yield "no identifier columns"
    if not found.untrue:
        kept = "" if evidence.ledger is None else " and kept values"
        yield f"labels{kept} true of every record"


@dataclass(frozen=True, eq=False)
class Draft:
    """A release that is in memory only, with what it takes to write and to check it."""

    run: _Run
    job: Job
    data: Any
    tables: Mapping[str, pl.DataFrame]
    described: tuple[Table, ...]
    evidence: Evidence

    def verify(self, tables: Mapping[str, Any]) -> Verification:
        """Recount tables that should be these, as they are now."""
        opened = {name: self.run.engine.open(table, missing=()) for name, table in tables.items()}
        return self.run.recount(opened, self.evidence)


def check(job: Job, data: Any) -> Checked:
    """Everything `anonymize` does before it decides: read, classify, encode, count, and test that a solution exists."""
    checked, _ = _count(job, data, Phases(None))
    goal = job.algorithm.promised(job.goal, len(checked.tally.quasi_domains))
    job.algorithm.require_supported(checked.tally, goal)
    _require_feasible(goal, checked.tally)
    return replace(checked, notices=checked.notices + foreseen(checked.source, checked.schema, goal))


def foresee(job: Job, checked: Checked) -> Estimate:
    """About what it will take to decide a job that was checked: the size of the search, processor time and memory."""
    return estimate(job.algorithm, checked.tally, job.goal, np.random.Generator(np.random.Philox(0)))


def anonymize(job: Job, data: Any, *, seed: int | None = None, progress: Progress | None = None) -> Release:
    """Anonymise in memory: the release's `table` is of the kind of frame that was given."""
    run = _decide(job, data, seed, Phases(progress))
    batches: dict[str, _Batches] = {}

    def write_to(name: str) -> AbstractContextManager[Writer]:
        batches[name] = _Batches()
        return nullcontext(batches[name])

    described, evidence = run.rewrite(write_to)
    tables = {name: pl.concat(kept.written) for name, kept in batches.items()}
    written = {name: run.engine.open(table, missing=()) for name, table in tables.items()}
    found = run.verify(written, "the release", evidence)
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
        tables={name: like(data, table) for name, table in tables.items()},
        draft=draft,
    )


def run_job(
    job: Job,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> Release:
    """Anonymise into a folder: nothing appears there unless the written table was read back and satisfies the goal.

    The folder is refused if it holds the data, a taxonomy of the job, or one of the further `inputs`.
    """
    one_of(job, "job", Job, Fix("tarnkappe run job.yaml", 'run_job(Job.from_yaml("job.yaml"))'))
    data = job.data.path if data is None else data
    target = job.output.folder if folder is None else folder
    if data is None or target is None:
        what = "data file" if data is None else "output folder"
        hint = "data: {path: DATA.csv}" if data is None else "output: {folder: release}"
        raise JobError("E103", f"the job names no {what}", hint=hint)
    with staging(job, target, overwrite, [*_read(job, data), *inputs]) as stage:
        run = _decide(job, data, seed, Phases(progress))
        return _publish(stage, run, job, data, target, run.rewrite)


def save(draft: Draft, folder: str | Path, *, overwrite: bool = False) -> Release:
    """Write a release that was made in memory to a folder; what was written is read back and checked like any other."""

    def rewrite(write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        draft.run.clock.begin("write")
        for name, table in draft.tables.items():
            with write_to(name) as writer:
                writer.write(table)
        return draft.described, draft.evidence

    with staging(draft.job, folder, overwrite, _read(draft.job, draft.data)) as stage:
        return _publish(stage, draft.run, draft.job, draft.data, folder, rewrite)


def _read(job: Job, data: Any) -> list[str | Path]:
    """The files that a job reads."""
    files = [c.taxonomy.path for c in job.columns if isinstance(c.taxonomy, File)]
    tables = [data, None if job.population is None else job.population.given]
    return [*files, *(table for table in tables if isinstance(table, (str, Path)))]


def _publish(
    stage: Staging | RemoteStaging,
    run: _Run,
    job: Job,
    data: Any,
    target: str | Path,
    rewrite: Callable[[WriteTo], tuple[tuple[Table, ...], Evidence]],
) -> Release:
    """Write a decided release and all that goes with it, and check what was written."""
    name, format_ = file_name(job, data)
    # The release is written like its input, so that its numbers and gaps are read back as what they were.
    missing = job.data.missing or ("",)
    marker = "" if "" in missing else missing[0]
    dialect = getattr(run.checked.source, "dialect", None) or CsvDialect()
    dialect = replace(dialect, spreadsheet_safe=job.output.spreadsheet_safe)
    paths: dict[str, Path | str] = {}

    def write_to(sheet: str) -> AbstractContextManager[Writer]:
        paths[sheet] = stage.table(f"{PUBLIC}/{sheet_file(name, sheet)}")
        return run.engine.writer(paths[sheet], format_, dialect, marker)

    described, evidence = rewrite(write_to)
    dialect = dialect.released()
    shown = f"{str(target).rstrip('/')}/{PUBLIC}/{name}"
    try:
        with ExitStack() as opened:
            written = {
                sheet: opened.enter_context(run.engine.open(path, dialect, missing)) for sheet, path in paths.items()
            }
            for source in written.values():
                source.decimal = run.checked.source.decimal
            hashing = in_background(lambda: {sheet: source.sha256 for sheet, source in written.items()})
            found = run.verify(written, shown, evidence)
            notices = _notices(run, job, written[MAIN], format_)
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
        },
        private=_private(run),
        proved=found.proved,
        missing_text=marker,
        folder=Path(target),
    )
    write_companions(stage, release, run.plan, evidence, None if is_address(target) else Path(target))
    run.clock.begin(None)
    write_json(stage.path(f"{PRIVATE}/{MANIFEST}", private=True), release.private_manifest)
    return release


def _count(job: Job, data: Any, clock: Phases) -> tuple[Checked, Engine]:
    clock.begin("read")
    job.algorithm.require_kept(job.goal)
    engine = engine_for(job.engine, data)
    engine.step = clock.step
    dialect = job.data.dialect
    if job.goal.is_mechanism:
        file = Path(data).expanduser() if isinstance(data, (str, Path)) else None
        dialect = stated_dialect(dialect, file if file is not None and is_csv(file) else None)
    source = data if isinstance(data, Source) else engine.open(data, dialect, job.data.missing)
    schema = admitted(job, source)
    if job.goal.is_mechanism:
        schema = independent(schema, job.goal)
    schema = Schema(measured(schema.columns, job.goal, source), schema.missing_rule)
    population = _open_population(job, engine)
    tally = engine.count(source, schema, job.aside(schema), population)
    if tally.n_records != source.n_rows:  # what an engine counted, against what the reader of the file found
        raise source.unreadable()
    if population is not None and any(c.needs_everybody for c in job.goal.criteria):
        require_everybody(tally, source, population)
    domains = {d.name: d for d in tally.sensitive_domains}
    for criterion in job.goal.criteria:
        criterion.require_values(domains)
    notices = job.notices()
    if not job.goal.is_mechanism:  # whatever is said may depend on one record
        coarsened = job.algorithm.publishes.coarsens
        notices += notices_about_reasons(source, schema, coarsened=coarsened) + notices_about_spellings(tally)
    return Checked(source, schema, tally, notices, population), engine


def _open_population(job: Job, engine: Engine) -> Source | None:
    """The public table of a job, if a criterion asks about it."""
    asking = [c.name for c in job.goal.criteria if c.needs_population]
    if not asking:
        return None
    table = job.population
    if table is None or table.given is None:
        raise JobError(
            "E103",
            f"{asking[0]} compares the data with a public table, but the job names none",
            hint=setting("population: {path: REGISTER.csv}", "population", "REGISTER.csv"),
        )
    return engine.open(table.given, table.dialect, table.missing)


def _require_feasible(goal: Goal, tally: Tally) -> None:
    """Refuse a goal that all records in one group do not reach, unless leaving some of them out may help.

    It never helps with an absorbing criterion: if some of the records satisfied it, all of them would. One group says
    nothing about a criterion that pooling can break. Nor does leaving out help those whom a ceiling keeps from others.
    """
    stats = goal.together(tally)
    telling = [c for c in goal.criteria if c.is_absorbing or (c.is_monotone and goal.max_suppressed == 0)]
    if not all(c.satisfied(stats).all() for c in telling):
        raise goal.infeasible(tally)
    lost = lost_to_ceilings(tally, goal)
    if lost > goal.budget(tally.n_records):
        raise goal.infeasible(tally, lost)


def _decide(job: Job, data: Any, seed: int | None, clock: Phases) -> _Run:
    checked, engine = _count(job, data, clock)
    digest = in_background(lambda: checked.source.sha256)
    clock.begin("decide")
    seed = next(s for s in (number_of(seed, "seed"), job.seed, secrets.randbits(_SEED_BITS)) if s is not None)
    rng = np.random.Generator(np.random.Philox(seed))
    watch = Watch(clock.step, job.time_limit)
    tally = checked.tally
    algorithm, why = job.algorithm.chosen_for(tally, job.goal), job.algorithm.why(tally, job.goal)
    goal = algorithm.promised(job.goal, len(tally.quasi_domains))
    plan: AnyPlan
    if isinstance(algorithm, Bucketization):
        plan = DealtPlan.of(tally, goal, algorithm.watched(watch).deal(tally, goal, rng=rng).mixed(rng))
    else:
        decide = partial(decide_in_time, algorithm, tally, goal, rng, watch)
        plan = planned(algorithm, tally, goal, decide, job.data.missing)
    return _Run(checked, engine, algorithm, why, plan, rng, seed, clock, job.data.missing, digest)


def _told(run: _Run, tables: Sequence[Table], facts: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """What a manifest tells about the tables of a release, and about how their groups are found."""
    out: dict[str, Any] = {
        "form": run.plan.form.name,
        "tables": [
            {"name": t.name, "columns": list(t.columns), "about": t.about, **(facts or {}).get(t.name, {})}
            for t in tables
        ],
    }
    if isinstance(run.plan, DealtPlan):
        reading = run.plan.form.reading(run.checked.schema)
        out |= {"reading": reading.as_dict(), "caution": run.plan.form.caution}
    return out


def _private(run: _Run) -> dict[str, Any]:
    """What only the data steward may know."""
    run.digest.result()
    return {
        "seed": run.seed,
        "input": _about(run.checked.source),
        **({} if run.checked.population is None else {"population": _about(run.checked.population)}),
        "seconds": run.clock.seconds,
        "search": {**({} if run.why is None else {"chosen": run.why}), **run.plan.notes},
    }


def _notices(run: _Run, job: Job, written: Source, format_: Format | None = None) -> tuple[Notice, ...]:
    """All warnings about a release."""
    schema, source = run.checked.schema, run.checked.source
    told = run.checked.notices + said_aloud(job, schema, run.plan, source, written, format_)
    if STOPPED in run.plan.notes:
        told += (Notice("W616", f"the search was stopped {run.plan.notes[STOPPED]}"),)
    return told


def _about(source: Source) -> dict[str, str]:
    return {"name": source.name, "sha256": source.sha256, "description": source.description}


def _as_carried_out(job: Job, run: _Run) -> Job:
    """The job with every column by name, also what was only "the rest", all that was promised, and no choice left."""
    schema = run.checked.schema
    return replace_job(job, columns=schema.columns, rest=None, goal=run.plan.goal, algorithm=run.algorithm)


def _reading(
    run: _Run, file: str, columns: Sequence[str], format_: Format, dialect: CsvDialect, missing: Sequence[str]
) -> dict[str, str]:
    """Lines of other languages that read a released table."""
    if format_ == "parquet":
        return parquet_lines(file)
    schema = run.checked.schema
    numbers = {c.name for c in schema.with_role("sensitive", "keep") if c.kind == "numeric"}
    if isinstance(run.plan, Plan):
        labels = zip((c.name for c in schema.quasi), run.plan.labels, strict=True)
        numbers |= {name for name, label in labels if label.numbers is not None}
    else:  # what is not of the data are numbers of groups and counts
        strands = run.plan.form.strands(schema)
        told = {column: name for s in strands for column, name in zip(s.columns, s.of_data, strict=True)}
        numbers |= {*columns} - {*told}
        if not run.plan.form.coarsens:
            numbers |= {column for column, name in told.items() if schema[name].kind == "numeric"}
    signs = {"delimiter": dialect.delimiter or ",", "quote": dialect.quote or '"', "decimal": dialect.decimal or "."}
    return reading_lines(file, **signs, missing=missing, texts=[n for n in columns if n not in numbers])

"""The whole flow: count the cells, decide the groups, rewrite the records, recount what was written.

This is the only module that knows the order of things.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.watch import Watch
from tarnkappe.attacks.base import SequelAttack
from tarnkappe.companions import (
    staging,
)
from tarnkappe.criteria import Criterion
from tarnkappe.deciding import decide_in_parts, decide_or_tell, require_feasible, require_here, why_not_in_parts
from tarnkappe.engines import engine_for
from tarnkappe.engines.base import Engine
from tarnkappe.engines.measures import measured
from tarnkappe.errors import JobError, LimitError
from tarnkappe.estimate import Estimate, estimate
from tarnkappe.fixes import Fix, setting
from tarnkappe.guards import (
    admitted,
    foreseen,
    refuse_unmasked,
    require_everybody,
)
from tarnkappe.history.keeping import remembering
from tarnkappe.io import Source
from tarnkappe.io.databases import is_database
from tarnkappe.io.databases.address import file_of
from tarnkappe.io.dialect import stated_dialect
from tarnkappe.io.reading import is_selective
from tarnkappe.io.source import is_csv
from tarnkappe.job import Job
from tarnkappe.job.given import data_and_folder, one_of, seed_of
from tarnkappe.job.mechanism import independent
from tarnkappe.job.model import replace_job
from tarnkappe.masks.masked import Masked
from tarnkappe.params import SEED_BITS
from tarnkappe.parts import PartedPlan
from tarnkappe.phases import Phases, Progress
from tarnkappe.plan import AnyPlan
from tarnkappe.publication import Draft, publish_in_memory, publish_to
from tarnkappe.release import Release
from tarnkappe.runs import Checked, Run, Table, WriteTo
from tarnkappe.schema import Schema
from tarnkappe.solution_frames import Which, solution_frames
from tarnkappe.taxonomy.builders import File
from tarnkappe.threads import in_background
from tarnkappe.verification import Evidence


def check(job: Job, data: Any) -> Checked:
    """Everything `anonymize` does before it decides: read, classify, encode, count, and test that a solution exists."""
    engine, source = _open(job, data, Phases(None))
    checked = _count(job, data, engine, source, job.seed or 0)
    require_here(engine)
    goal = job.algorithm.promised(job.goal, len(checked.tally.quasi_domains))
    job.algorithm.require_supported(checked.tally, goal)
    require_feasible(goal, checked.tally)
    changed = {name for mask in job.masks for name in mask.changes}  # nobody knows these values of a person
    unchanged = Schema((c for c in checked.schema.columns if c.name not in changed), checked.schema.missing_rule)
    return replace(checked, notices=checked.notices + foreseen(job, checked.source, unchanged, goal, checked.tally))


def counted(job: Job, data: Any = None) -> Checked:
    """Read, classify, encode and count the data of a job, whatever its algorithm can make of them."""
    one_of(job, "job", Job, Fix("tarnkappe run job.yaml", 'Job.from_yaml("job.yaml")'))
    given = job.data.path if data is None else data
    if given is None:
        raise JobError("E103", "the job names no data file", hint="data: {path: DATA.csv}")
    engine, source = _open(job, given, Phases(None))
    checked = _count(job, given, engine, source, job.seed or 0)
    require_here(engine)
    return checked


def solutions(job: Job, data: Any = None, which: Which = "satisfying", *, batch: int = 1000) -> Iterator[pl.DataFrame]:
    """All nodes of the generalisation lattice that satisfy a job, or all there are, frame by frame with their figures.

    A node is one level for every quasi-identifier, and so one release that full-domain generalisation could make; the
    job's algorithm does not matter. Of every node it is told: its levels, whether it satisfies the goal (``ok``), how
    many records it suppresses, how many groups it has, the size of the smallest one, with and without suppression, and
    every loss metric. Nothing grows with the number of nodes but the time.

    >>> import polars as pl
    >>> from tarnkappe import Job, KAnonymity, intervals, suppress
    >>> table = pl.DataFrame({"age": [31, 34, 47, 48], "sex": ["f", "f", "m", "m"]})
    >>> job = Job(quasi={"age": intervals(10), "sex": suppress()}, criteria=[KAnonymity(2)])
    >>> found = pl.concat(solutions(job, table))
    >>> found.select("level of age", "level of sex", "smallest", "precision").rows()
    [(2, 1, 4, 0.0), (1, 1, 2, 0.25), (1, 0, 2, 0.75), (2, 0, 2, 0.5)]
    """
    return solution_frames(counted(job, data).tally, job.goal, which, batch)


def foresee(job: Job, checked: Checked) -> Estimate:
    """About what it will take to decide a job that was checked: the size of the search, processor time and memory."""
    return estimate(job.algorithm, checked.tally, job.goal, np.random.Generator(np.random.Philox(0)))


def anonymize(job: Job, data: Any, *, seed: int | None = None, progress: Progress | None = None) -> Release:
    """Anonymise in memory: the release's `table` is of the kind of frame that was given."""
    return decide(job, data, seed=seed, progress=progress).publish()


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
    data, target = data_and_folder(data, folder, job.data, job.output)
    with remembering(job, target) as memory, staging(job, target, overwrite, [*_read(job, data), *inputs]) as stage:
        run = _decide(job, data, seed, Phases(progress), in_parts=True).prepared()

        def rewrite(write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
            done = run.rewrite(write_to)
            run.engine.forget()  # what follows needs the memory
            return done

        try:
            return publish_to(stage, run, job, data, target, rewrite, memory.told(job, run))
        finally:
            if run.engine.parts is not None:
                run.engine.parts.release()


@dataclass(frozen=True, eq=False)
class Decided:
    """Groups that were decided, and not published yet: any number of releases can be made of them.

    Releases of the same decision have the same groups. Each `copy` has an order, and numbers of groups, of its own.
    """

    job: Job
    data: Any
    _run: Run

    @property
    def plan(self) -> AnyPlan:
        """The groups, checked."""
        return self._run.plan_here

    @property
    def run(self) -> Run:
        """The decided job, ready to be rewritten."""
        return self._run

    @property
    def schema(self) -> Schema:
        """The columns and their roles."""
        return self._run.checked.schema

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.plan.n_groups

    @property
    def digest(self) -> str:
        """The digest of the data."""
        self._run.digest.result()
        return self._run.checked.source.sha256

    def regrouped(self, plan: AnyPlan, algorithm: Algorithm | None = None) -> Decided:
        """The same with other groups of the same records; what is made of it is checked like any release."""
        return replace(self, _run=replace(self._run, plan=plan, algorithm=algorithm or self._run.algorithm))

    def publish(
        self,
        folder: str | Path | None = None,
        *,
        copy: int = 0,
        overwrite: bool = False,
        told: Callable[[Release], Release] | None = None,
        inputs: Iterable[str | Path] = (),
    ) -> Release:
        """Write a release and check it: into a folder, or in memory if none is given.

        `told` decides what the papers of a release say about it, once it was checked. The folder is refused if it holds
        the data or one of the further `inputs`.
        """
        run = self._run.prepared(copy)
        if folder is None:
            with remembering(self.job, None) as memory:
                return memory.told(self.job, run, told)(publish_in_memory(run, self.job, self.data))
        read = [*_read(self.job, self.data), *inputs]
        with remembering(self.job, folder) as memory, staging(self.job, folder, overwrite, read) as stage:
            told = memory.told(self.job, run, told)
            return publish_to(stage, run, self.job, self.data, folder, run.rewrite, told)


def decide(
    job: Job,
    data: Any,
    *,
    seed: int | None = None,
    progress: Progress | None = None,
    further: Sequence[Criterion] = (),
) -> Decided:
    """Count the cells and decide the groups; nothing is published yet.

    Cells are counted such that `further` criteria can be asked about them too.

    >>> import polars as pl
    >>> from tarnkappe import Job, KAnonymity, numeric
    >>> decided = decide(Job(quasi={"age": numeric()}, criteria=[KAnonymity(2)]), pl.DataFrame({"age": [1, 2, 8, 9]}))
    >>> decided.n_groups, decided.publish().n_published, decided.publish(copy=1).n_published
    (2, 4, 4)
    """
    return Decided(job, data, _decide(job, data, seed, Phases(progress), further=further))


def save(draft: Draft, folder: str | Path, *, overwrite: bool = False) -> Release:
    """Write a release that was made in memory to a folder; what was written is read back and checked like any other."""

    def rewrite(write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        draft.run.clock.begin("write")
        for name, table in draft.tables.items():
            with write_to(name) as writer:
                writer.write(table)
        return draft.described, draft.evidence

    job, read = draft.job, _read(draft.job, draft.data)
    with remembering(job, folder) as memory, staging(job, folder, overwrite, read) as stage:
        return publish_to(stage, draft.run, job, draft.data, folder, rewrite, memory.told(job, draft.run))


def _read(job: Job, data: Any) -> list[str | Path]:
    """The files that a job reads."""
    files = [c.taxonomy.path for c in job.columns if isinstance(c.taxonomy, File)]
    files += [one.earlier for one in job.attacks if isinstance(one, SequelAttack) and one.earlier is not None]
    files += [] if job.history is None else [job.history.ledger, *job.history.earlier]
    tables = [data, None if job.population is None else job.population.given]
    return [*files, *(file for table in tables if (file := file_of(table)) is not None)]


def _open(job: Job, data: Any, clock: Phases) -> tuple[Engine, Source]:
    clock.begin("read")
    job.algorithm.require_kept(job.goal)
    engine = engine_for(job.engine, data)
    engine.step = clock.step
    dialect = job.data.dialect
    if job.goal.is_mechanism:
        file = Path(data).expanduser() if isinstance(data, (str, Path)) else None
        dialect = stated_dialect(dialect, file if file is not None and is_csv(file) else None)
    return engine, data if isinstance(data, Source) else engine.open(data, dialect, job.data.missing)


def _count(
    job: Job, data: Any, engine: Engine, source: Source, seed: int, further: Sequence[Criterion] = ()
) -> Checked:
    notices, masked = job.notices(), None
    if further:  # other criteria than the job's will be asked about the cells
        job = replace_job(job, goal=replace(job.goal, criteria=(*job.goal.criteria, *further)))
    if job.masks:
        job.schema(source.columns, source.name)  # says what is wrong with the roles before anything is changed
        masked = Masked.of(source, job.masks, seed)
        source = masked.view
    schema = admitted(job, source)
    if masked is not None:
        refuse_unmasked(source, schema.columns, job.columns, masked.untouched)
    if job.goal.is_mechanism:
        schema = independent(schema, job.goal, source.types([c.name for c in schema.sensitive]))
    schema = Schema(measured(schema.columns, job.goal, source), schema.missing_rule)
    population = _open_population(job, engine)
    try:
        tally = engine.count(source, schema, job.aside(schema), population)
    except LimitError as error:
        on_spark = engine.name == "streaming" and not is_database(data) and not is_selective(job.data.dialect)
        if on_spark and error.code == "E702" and why_not_in_parts(job, schema) is None:
            hint = f"{error.hint}\nOr let the executors of Spark decide, part by part:  --engine spark"
            raise LimitError(error.code, error.message, details=error.details, hint=hint) from None
        raise
    if tally.n_records != source.n_rows:  # what an engine counted, against what the reader of the file found
        raise source.unreadable()
    if population is not None and any(c.needs_everybody for c in job.goal.criteria):
        require_everybody(tally, source, population)
    domains = {d.name: d for d in tally.sensitive_domains}
    for criterion in job.goal.criteria:
        criterion.require_values(domains)
    return Checked(source, schema, tally, notices, population, masked)


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


def _decide(
    job: Job,
    data: Any,
    seed: int | None,
    clock: Phases,
    *,
    in_parts: bool = False,
    further: Sequence[Criterion] = (),
) -> Run:
    seed = next(s for s in (seed_of(seed), job.seed, secrets.randbits(SEED_BITS)) if s is not None)
    engine, source = _open(job, data, clock)
    digest = in_background(lambda: source.sha256, giving_way=True) if source.hashed_aside else None
    checked = _count(job, data, engine, source, seed, further)
    digest = digest or in_background(lambda: checked.source.sha256)
    if not in_parts:
        require_here(engine)
    clock.begin("decide")
    algorithm: Algorithm
    plan: AnyPlan | PartedPlan
    if engine.parts is not None:
        try:
            algorithm, why, plan = decide_in_parts(job, checked, engine.parts, seed)
        except BaseException:
            engine.parts.release()
            raise
    else:
        watch = Watch(clock.step, job.time_limit, clock.hurried)
        algorithm, why, plan = decide_or_tell(job, checked.tally, seed, watch)
    return Run(checked, engine, algorithm, why, plan, seed, clock, job.data.missing, digest)

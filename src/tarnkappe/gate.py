"""The gate: a written release is attacked before it appears, and does not if an attack succeeds too often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from tarnkappe.attacks.base import NEEDS, Attack, Finding, Remedy, SequelAttack
from tarnkappe.attacks.opening import open_published
from tarnkappe.attacks.scene import Scene, Table
from tarnkappe.criteria import criterion_class
from tarnkappe.engines.encode import read_kind
from tarnkappe.errors import DataError, JobError, VerificationError
from tarnkappe.fixes import Fix, criterion, say
from tarnkappe.io import Source
from tarnkappe.job import Job
from tarnkappe.job.attacks import earlier_fix
from tarnkappe.plan import DealtPlan
from tarnkappe.publish.sheets import MAIN
from tarnkappe.runs import Run
from tarnkappe.schema import Column
from tarnkappe.wording import percent


def withstood(job: Job, run: Run, written: Mapping[str, Source], where: str) -> tuple[Finding, ...]:
    """Carry out the attacks of a job on what was written; an exception if one beats its baseline by too much."""
    if not job.attacks:
        return ()
    run.clock.begin("attack")
    scene = _scene(run, written)
    findings: list[Finding] = []
    for one in job.attacks:
        whole = _with_earlier(scene, one)
        _require(one, whole)
        findings += one.findings(whole)
    broken = [found for found in findings if found.beats_baseline]
    if broken:
        raise VerificationError(
            "E503",
            "the release does not withstand an attack that the job names: it was NOT written",
            where=where,
            details=[
                f"{found.attack}: reached {percent(found.rate)}, baseline {percent(found.baseline)}, "
                f"allowed are {percent(found.margin)} more. {found.sentence}"
                for found in broken
            ],
            hint=_fix(job, broken[0]),
        )
    return tuple(findings)


def _require(one: Attack, scene: Scene) -> None:
    """Refuse an attack that this kind of release leaves nothing to try for: that it fails would prove nothing."""
    lacking = one.lacks(scene)
    if lacking is not None:
        raise JobError(
            "E111",
            f"the attack '{one.name}' needs {NEEDS[lacking][0]}, which this release does not have",
            hint=say("Remove  {}", Fix(f"- {one.name}  from  attacks:", f"{type(one).__name__}()  from  attacks=")),
        )


def _with_earlier(scene: Scene, one: Attack) -> Scene:
    """The scene with the earlier release that an attack names."""
    if not isinstance(one, SequelAttack) or one.earlier is None:
        return scene
    try:
        table = open_published(one.earlier)[0]
    except DataError as error:  # it is not the release that cannot be read
        raise JobError(
            "E111",
            f"the earlier release that '{one.name}' names cannot be read: {error.message}",
            where=error.where,
            hint=say("{}   (a release that is there)", earlier_fix(one)),
        ) from error
    held = tuple(name for name in scene.names if name in table.frame.columns)
    return replace(scene, others=(replace(table, quasi=held),))


def _fix(job: Job, found: Finding) -> Fix:
    """What protects from an attack, ready to be pasted."""
    remedy = next(one.card.remedy for one in job.attacks if one.name == found.attack)
    if isinstance(remedy, Remedy):
        asked = criterion(remedy.name, criterion_class(remedy.name).__name__, **remedy.about(found.column))
        return Fix(f"Add under 'criteria':  {asked.in_job}", f"Add to 'criteria':  {asked.in_python}")
    told = remedy[:1].upper() + remedy[1:]
    return Fix(told, told)


def _scene(run: Run, written: Mapping[str, Source]) -> Scene:
    """The written tables, and the data as the attacker's knowledge."""
    schema, source = run.checked.schema, run.checked.original
    quasi, secret = schema.quasi, schema.sensitive
    known = _read(source, [*quasi, *secret], [*quasi, *secret])
    if schema.missing_rule == "wildcard":  # what is missing may be anything, so these people fit no label for sure
        known = known.drop_nulls([c.name for c in quasi])
    people = None if run.checked.population is None else _read(run.checked.population, quasi, quasi)
    return Scene(
        _table(run, written),
        quasi,
        secret,
        run.chance_of_attacks,
        None if known.is_empty() else known,
        population=people,
        in_order=source.in_order,
    )


def _table(run: Run, written: Mapping[str, Source]) -> Table:
    """The written tables as their reader has them."""
    schema = run.checked.schema
    names = tuple(c.name for c in schema.quasi)
    frames = {}
    for sheet, source in written.items():
        numeric = [c for c in schema.sensitive if c.name in source.columns]
        frames[sheet] = _read(source, [Column(name, "keep") for name in source.columns], numeric)
    decimal = written[MAIN].decimal
    if not isinstance(run.plan, DealtPlan):
        return Table("the release", frames[MAIN], names, decimal)
    reading = run.plan.form.reading(schema)
    strands = run.plan.form.strands(schema)
    return Table(
        "the release",
        frames[MAIN],
        tuple(name for name in names if name in frames[MAIN].columns),
        decimal,
        reading.number,
        None if reading.secrets == MAIN else frames[reading.secrets],
        reading.count,
        reading.beside,
        tuple(held for s in strands if (held := tuple(c for c in s.columns if c in names))),
    )


def _read(source: Source, columns: Sequence[Column], typed: Sequence[Column]) -> pl.DataFrame:
    """Columns of a table; numbers as numbers where that is what they are."""
    frame = source.read([c.name for c in columns])
    return frame.with_columns(read_kind(frame[c.name], c, source).alias(c.name) for c in typed if c.kind == "numeric")

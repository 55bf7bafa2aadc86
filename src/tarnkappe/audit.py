"""Check any table, ours or not: who promised what about it, what it reaches, and which groups break the promise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.audited import Audit, Reading, belonging, open_audited
from tarnkappe.criteria import Criterion, criterion_class
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.engines.measures import measured
from tarnkappe.errors import DataError, JobError
from tarnkappe.fixes import known_columns, say
from tarnkappe.goal import Goal
from tarnkappe.io import Source, open_source
from tarnkappe.io.databases import Address, is_database
from tarnkappe.io.folders import (
    MANIFEST,
    ORIGINALS,
    POPULATION,
    PUBLIC,
    WITNESS,
    ReleaseFolder,
    dialect_told,
    lies_beside,
    manifest_of,
)
from tarnkappe.job import Job
from tarnkappe.job.files import load_job
from tarnkappe.job.given import criteria_of, names_of
from tarnkappe.job.text import PlacedDict, declared_from
from tarnkappe.params import bind
from tarnkappe.publish.sheets import MAIN, free_name
from tarnkappe.publish.sheets import Reading as Numbers
from tarnkappe.regrouping import verify_sheets
from tarnkappe.schema import Column
from tarnkappe.taxonomy import suppress
from tarnkappe.verification import Evidence, Verification, original_name, verify_table
from tarnkappe.wording import command_to_verify


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is to be checked, and who said so."""

    source: Source
    goal: Goal
    quasi: list[str]
    columns: list[Column]
    origin: str | None
    #: Criteria that nobody but the publisher can check, and what that would need.
    lacking: tuple[tuple[Criterion, str], ...] = ()

    @classmethod
    def by(cls, job: Job, source: Source, origin: str | None) -> _Asked:
        """What a job asks for; it knows the columns that criteria look at."""
        needed = {c.name: c for c in job.columns if c.role == "sensitive" or c.name in job.goal.columns}
        needed |= {name: Column(name, "drop") for name in job.goal.columns if name not in needed}
        quasi = [c.name for c in job.columns if c.role == "quasi"]
        return cls(source, job.algorithm.promised(job.goal, len(quasi)), quasi, [*needed.values()], origin)


def audit(
    file: str | Path,
    *,
    job: str | Path | None = None,
    quasi: Sequence[str] = (),
    criteria: Sequence[Criterion] = (),
    sensitive: Sequence[str] = (),
    settings: Iterable[str] = (),
    reading: Reading | None = None,
    witness: str | Path | None = None,
) -> Audit:
    """Check a file or a release folder.

    What it must satisfy is said by `job` (a job file), by `criteria`, or by the manifest beside the file. If only
    `quasi` is given, nothing is asked: the verdicts say which k the file reaches, and which l and t for each column of
    `sensitive`. If there is a manifest, the file must also be the one it describes. `witness` is a file with columns
    that are not published, or as they were before, row by row as in the file.
    """
    reading = reading or Reading()
    path, kept = _table_of(file)
    address = str(file) if is_database(file) else None
    job = kept if job is None and not criteria and not quasi else job
    manifest = manifest_of(path)
    if manifest is not None and "reading" in manifest and not quasi:
        return _audit_of_sheets(path, manifest, job, list(criteria), settings, reading)
    asked = _asked(path, job, list(quasi), list(criteria), list(sensitive), settings, manifest, reading, address)
    with asked.source as source:
        evidence = _evidence(path) if witness is None else _witnessed(witness, source, asked.quasi, asked.goal)
        secret = [c.name for c in asked.columns if c.role == "sensitive"]  # these are published, or it is an error
        goal, unchecked = _checkable(asked.goal, [*source.columns, *secret], evidence, source.name)
        with belonging(path):
            found = verify_table(
                source,
                asked.quasi,
                asked.columns,
                goal,
                evidence=evidence,
                wildcard=reading.missing_rule == "wildcard",
                suppressed=reading.suppressed,
            )
        digest = source.sha256 if manifest else None
    stated = None if manifest is None else manifest.get("sha256")
    return Audit(
        file=address or str(path),
        description=source.description,
        quasi=tuple(asked.quasi),
        origin=asked.origin,
        goal=goal,
        found=found,
        reading=reading,
        unchecked=(*unchecked, *asked.lacking),
        sha256=digest,
        same_as_manifest=None if stated is None else stated == digest,
    )


def _audit_of_sheets(
    path: Path,
    manifest: dict[str, Any],
    job_file: str | Path | None,
    criteria: list[Criterion],
    settings: Iterable[str],
    reading: Reading,
) -> Audit:
    """Check a release whose groups have numbers: all its tables together, as its manifest says they belong."""
    belongs, files = _sheets_told(manifest, path)
    origin = MANIFEST
    if job_file is not None:
        asked, origin = load_job(job_file, settings), str(job_file)
        goal = asked.algorithm.promised(asked.goal, sum(c.role == "quasi" for c in asked.columns))
        columns = [c for c in asked.columns if c.role == "sensitive" or c.name in goal.columns]
    else:
        origin = "the command line" if criteria else MANIFEST
        goal = Goal(criteria or _stated(manifest, path, [])[1])
        columns = [Column(name, "sensitive") for name in goal.columns]
    with ExitStack() as stack:
        told = dialect_told(manifest, reading.dialect)
        tables = {
            name: stack.enter_context(open_audited(path.with_name(file), *told)) for name, (file, _) in files.items()
        }
        evidence = _evidence(path)
        shown = [column for table in tables.values() for column in table.columns]
        unread = belongs.raised if job_file is None else None  # only the job declares what its labels stand for
        goal, unchecked = _checkable(goal, shown, evidence, path.name, unread)
        needed = [c for c in columns if c.role == "sensitive" or c.name in goal.columns]
        with belonging(path):
            found = verify_sheets(tables, belongs, needed, goal, evidence=evidence)
        same = all(tables[name].sha256 == digest for name, (_, digest) in files.items())
        main = tables[MAIN]
        digest = main.sha256
    return Audit(
        file=str(path),
        description=main.description,
        quasi=(belongs.number,),
        origin=origin,
        goal=goal,
        found=found,
        reading=reading,
        unchecked=tuple(unchecked),
        sha256=digest,
        same_as_manifest=same,
    )


def _sheets_told(manifest: dict[str, Any], file: Path) -> tuple[Numbers, dict[str, tuple[str, str]]]:
    """How a manifest says that its tables belong together; file and checksum of each. It may have been changed."""
    try:
        belongs = Numbers.told(manifest["reading"])
        files = {str(t["name"]): (str(t["file"]), str(t["sha256"])) for t in manifest["tables"]}
        outside = [name for name, _ in files.values() if not lies_beside(name)]
        needed = {MAIN, belongs.secrets, *(summary.sheet for summary in belongs.summaries)}
        if needed <= files.keys() and not outside:
            return belongs, files
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    raise JobError(
        "E110",
        "the manifest does not say how its tables belong together: 'reading' or 'tables' is not as it was written",
        where=str(file.with_name(MANIFEST)),
        hint="Take the manifest that came with the release.",
    )


def columns_of(file: str | Path, reading: Reading) -> tuple[str, ...]:
    """The columns of a file, or of the table of a release folder."""
    path, _ = _table_of(file)
    told = dialect_told(manifest_of(path), reading.dialect)
    with open_audited(path, *told, str(file) if is_database(file) else None) as source:
        return source.columns


def _table_of(file: str | Path) -> tuple[Path, Path | None]:
    """The table to check: the file itself, or that of a release folder; then also the job that the publisher keeps."""
    if is_database(file):
        return Path(Address.of(str(file)).name), None
    path = Path(file)
    if not path.is_dir() or any(path.glob("part-*")):
        return path, None
    folder = ReleaseFolder(path)
    table = folder.table
    if table is None:
        reason = f"'{folder.path}' is no release folder: it has no {PUBLIC}/{MANIFEST} that names a file"
        raise JobError("E108", reason, hint=command_to_verify(folder.path / "FILE.csv", ["age", "sex"]))
    return table, folder.job


def _evidence(file: Path) -> Evidence:
    """What the private folder of a release holds for its verification, if it is there."""
    folder = ReleaseFolder.around(file)
    if folder is None:
        return Evidence()
    return Evidence(folder.kept(WITNESS), folder.kept(POPULATION), originals=folder.kept(ORIGINALS))


def _witnessed(witness: Any, source: Source, quasi: Sequence[str], goal: Goal) -> Evidence:
    """What columns say that are not published, or as they were before, row by row as in the table."""
    with open_source(witness) as opened:
        if opened.n_rows != source.n_rows:
            raise DataError(
                "E413",
                f"'{source.name}' has {source.n_rows} rows, and what is to witness for them {opened.n_rows}",
                where=opened.name,
                hint="Give a table with the same rows in the same order.",
            )
        rows = opened.read(opened.columns)
        before = {c: opened.numeric(rows[c], c) for c in goal.centre_columns if c in rows.columns}
    originals = None
    if before and len(before) == len(goal.centre_columns):
        shown = source.read(list(quasi))
        named = [numbers.cast(pl.Float64).alias(original_name(c)) for c, numbers in before.items()]
        records = pl.Series(free_name("records", [*quasi, *(x.name for x in named)]), np.ones(shown.height, np.int64))
        originals = pl.DataFrame([records, *shown, *named])
    return Evidence(rows.drop([c for c in rows.columns if c in source.columns]), originals=originals)


def _checkable(
    asked: Goal, published: Sequence[str], evidence: Evidence, where: str, unread: str | None = None
) -> tuple[Goal, list[tuple[Criterion, str]]]:
    """The criteria that can be checked, and the others with what that would need.

    A column whose labels nobody can read (`unread`) needs its taxonomy.
    """
    lacks = {c: evidence.lacks(c, published) for c in asked.criteria}
    if unread is not None:
        tree = f"the taxonomy of '{unread}', which the job declares"
        lacks = {c: what or (tree if c.sensitive_column == unread else None) for c, what in lacks.items()}
    lacking = [(c, what) for c, what in lacks.items() if what is not None]
    if len(lacking) == len(lacks):
        raise JobError(
            "E108",
            f"{lacking[0][0].name} cannot be checked without {lacking[0][1]}",
            where=where,
            hint="Check the release folder, with its private folder:  tarnkappe verify FOLDER",
        )
    return Goal([c for c, what in lacks.items() if what is None]), lacking


def _asked(
    file: Path,
    job_file: str | Path | None,
    quasi: list[str],
    criteria: list[Criterion],
    sensitive: list[str],
    settings: Iterable[str],
    manifest: dict[str, Any] | None,
    reading: Reading,
    address: str | None,
) -> _Asked:
    if job_file is not None:
        job = load_job(job_file, settings)
        # The release is written like the data of the job, but may have been converted since.
        missing = (*job.data.missing, "") if "" not in job.data.missing else job.data.missing
        dialect = dialect_told(manifest, reading.dialect)[0]
        source = open_audited(
            file, replace(dialect, decimal=dialect.decimal or job.data.dialect.decimal), missing, address
        )
        return _Asked.by(job, source, str(job_file))
    source = open_audited(file, *dialect_told(manifest, reading.dialect), address)
    if criteria:
        if not quasi:
            raise JobError(
                "E108",
                "a criterion needs --quasi: the columns that form the groups",
                hint=say("{}   (the columns that others may know)", known_columns(source.columns)),
            )
        return _Asked.by(_job(source, quasi, criteria), source, "the command line")
    if manifest is None and quasi:
        return _Asked.by(_job(source, quasi, _measuring(source, sensitive)), source, None)
    if manifest is None:
        raise JobError(
            "E108",
            "nothing says what to check: no --job, no --quasi, and no manifest.json beside the file",
            hint=command_to_verify(file, source.columns),
        )
    stated, promised = _stated(manifest, file, source.columns)
    known = [c for c in promised if c.measured_by == "names" or _can_be_measured(source, c)]
    if not known:
        known = promised  # whose error says what is missing
    asked = _Asked.by(_job(source, quasi or stated, known), source, MANIFEST)
    unknown = ((c, f"the {c.measured_by} of '{c.sensitive_column}'") for c in promised if c not in known)
    return replace(asked, lacking=tuple(unknown))


def _measuring(source: Source, sensitive: Iterable[str]) -> list[Criterion]:
    """Criteria that any table satisfies: what they reach is what was to be known."""
    out: list[Criterion] = [KAnonymity(1)]
    for name in sensitive:
        out += [LDiversity(name, l=1), TCloseness(name, t=1.0)]
        ordered = TCloseness(name, t=1.0, distance="ordered")
        if _can_be_measured(source, ordered):
            out.append(ordered)
    return out


def _can_be_measured(source: Source, criterion: Criterion) -> bool:
    """Whether a criterion can measure by what the values of its column are, without a taxonomy or a stated order."""
    try:
        measured([Column(str(criterion.sensitive_column), "sensitive")], Goal([criterion]), source)
    except JobError:
        return False
    return True


def _job(source: Source, quasi: list[str], criteria: list[Criterion]) -> Job:
    """A job that only says what to check, so that criteria are checked against columns as everywhere else."""
    sensitive = list(dict.fromkeys(c.sensitive_column for c in criteria if c.sensitive_column))
    return Job(
        quasi={name: suppress() for name in quasi},
        columns=measured([Column(name, "sensitive") for name in sensitive], Goal(criteria), source),
        keep="rest",
        criteria=criteria,
    )


def criterion_from(text: str, where: str = "--criterion") -> Criterion:
    """A criterion written as ``name:key=value,key=value``.

    ``key.name=value`` is an entry of a mapping, and a list is one ``key=value`` for each of its values.

    >>> criterion_from("l-diversity:column=illness,l=2").asked
    'l-diversity ≥ 2'
    """
    return declared_from(text, criterion_class, "criterion", where, "l-diversity:column=illness,l=2")


def _stated(manifest: dict[str, Any], file: Path, columns: Sequence[str]) -> tuple[list[str], list[Criterion]]:
    """The quasi-identifiers and criteria that the manifest promises; it may have been changed by hand."""
    where = str(file.with_name(MANIFEST))
    quasi: Any = manifest.get("quasi_identifiers")
    promised: Any = manifest.get("criteria")
    if not (_is_list_of(quasi, str) and _is_list_of(promised, dict)):
        raise JobError(
            "E110",
            "the manifest does not say what the file promises: quasi_identifiers and criteria are not lists of them",
            where=where,
            hint=command_to_verify(file, columns),
        )
    criteria = []
    for given in promised:
        name = str(given.get("name"))
        settings = PlacedDict(where)
        settings.update({key: value for key, value in given.items() if key != "name"})
        criteria.append(bind(criterion_class(name, where), settings, f"criterion '{name}'"))
    return quasi, criteria


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, kind) for item in value)


def verify(
    data: Any,
    criteria: Iterable[Criterion] | Criterion,
    quasi: Iterable[str],
    sensitive: Iterable[Column | str] = (),
    *,
    witness: Any = None,
    population: Any = None,
) -> Verification:
    """Check any table, ours or not, against criteria: groups are rows with the same texts in `quasi`.

    `witness` is a table of columns that criteria look at but that are not published, row by row as in `data`.
    If it has a quasi-identifier, these are its numbers before centres took their place. `population` is a public table
    generalised in the same way, one row per person.

    >>> from tarnkappe.criteria.k_anonymity import KAnonymity
    >>> found = verify(pl.DataFrame({"age": ["3*", "3*", "4*"]}), [KAnonymity(2)], ["age"])
    >>> found.ok, found.verdicts[0].reached
    (False, 1.0)
    """
    goal, names = Goal(criteria_of(criteria)), names_of(quasi, "quasi")
    secret = names_of(sensitive, "sensitive") if isinstance(sensitive, str) else sensitive
    columns = [c if isinstance(c, Column) else Column(c, "sensitive") for c in secret]
    known = {c.name for c in columns}
    columns += [Column(name, "drop") for name in goal.columns if name not in known]
    source = data if isinstance(data, Source) else open_source(data)
    evidence = Evidence() if witness is None else _witnessed(witness, source, names, goal)
    people = None
    if population is not None:
        with open_source(population) as opened:
            public = opened.read(names)
            people = public.select(pl.lit(1, pl.Int64).alias(free_name("people", names)), *names)
    return verify_table(source, names, columns, goal, evidence=replace(evidence, population=people))

"""``tarnkappe verify``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Quasi, Settings, complete_criteria, split_names
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.criteria import Criterion
    from tarnkappe.goal import Goal
    from tarnkappe.io import Source
    from tarnkappe.job import Job
    from tarnkappe.schema import Column
    from tarnkappe.verification import Evidence

MANIFEST = "manifest.json"


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            help="The file to check, ours or not, or a release folder.",
            metavar="FILE",
            readable=False,
            show_default=False,
        ),
    ],
    job: Annotated[
        Path | None,
        typer.Option("--job", help="Take criteria and roles from this job file.", readable=False, show_default=False),
    ] = None,
    quasi: Quasi = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            metavar="NAME:KEY=VALUE,…",
            help="What every group must satisfy, such as k-anonymity:k=5 or l-diversity:column=illness,l=2.",
            autocompletion=complete_criteria,
            show_default=False,
        ),
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Check independently whether a file keeps a promise: exit code 0 if it does, 5 if not.

    Criteria come from a job file, from the command line, or from the manifest.json beside the file. If there is a
    manifest, the file must also be the one it describes. Criteria about people, or about a public table, can only be
    checked with the internal folder of the release; of a folder it is used.

    [bold]Example:[/bold]  tarnkappe verify release/public/census.csv --quasi age,sex --criterion k-anonymity:k=5
    """
    from tarnkappe.cli.progress import Working
    from tarnkappe.verification import verify_table

    if file.is_dir() and not any(file.glob("part-*")):
        file, kept_job = _released(file)
        job = kept_job if job is None and not criterion and not quasi else job
    manifest = _manifest(file)
    with Working("verify") as progress:
        progress("verify")
        asked = _asked(file, job, quasi, criterion, settings, manifest)
        with asked.source as source:
            evidence = _evidence(file)
            goal, lacking = _checkable(asked, evidence)
            found = verify_table(source, asked.quasi, asked.columns, goal, evidence=evidence)
            digest = source.sha256 if manifest else None
    stated = None if manifest is None else manifest.get("sha256")
    same = None if stated is None else stated == digest
    ok = found.ok and same is not False and not lacking
    if as_json:
        screen.print_json(
            {
                "ok": ok,
                "file": str(file),
                "criteria_from": asked.origin,
                "quasi_identifiers": asked.quasi,
                "records": found.n_records,
                "groups": len(found.sizes),
                "smallest_group": int(found.sizes.min()),
                "verdicts": [asdict(v) for v in found.verdicts],
                "unchecked": [{"criterion": c.name, "asked": c.asked, "needs": what} for c, what in lacking],
                "sha256": digest,
                "sha256_matches_manifest": same,
            }
        )
    else:
        console = screen.stdout()
        rows = [
            ("File", source.description),
            ("Grouped by", ", ".join(asked.quasi)),
            (
                "Groups",
                f"{screen.plural(len(found.sizes), 'group')} · smallest {screen.count(int(found.sizes.min()))}",
            ),
            ("Criteria", f"from {asked.origin}"),
        ]
        for v in found.verdicts:
            on = f" ({v.column})" if v.column else ""
            broken = "" if v.ok else f" · {screen.plural(v.violating_groups, 'group')} violate it"
            rows.append(("", f"{'✓' if v.ok else '✗'} {v.asked}{on} · reached {screen.figure(v.reached)}{broken}"))
        rows += [("", f"? {c.asked} · cannot be checked without {what}") for c, what in lacking]
        if same is not None:
            says = "✓ is that of manifest.json" if same else "✗ is not that of manifest.json: the file was changed"
            rows.append(("SHA-256", says))
        is_broken = not found.ok or same is False
        unclear = "? the promise is only checked in part: check the release folder, with its internal folder"
        verdict = "✓ the file keeps the promise" if ok else "✗ the file does NOT keep the promise"
        rows.append(("Verdict", verdict if ok or is_broken else unclear))
        screen.rows(console, rows)
    raise typer.Exit(0 if ok else 5)


@dataclass
class _Asked:
    """What is to be checked, and who said so."""

    source: Source
    goal: Goal
    quasi: list[str]
    columns: list[Column]
    origin: str

    @classmethod
    def by(cls, job: Job, source: Source, origin: str) -> _Asked:
        """What a job asks for; it knows the columns that criteria look at."""
        from tarnkappe.schema import Column

        needed = [c for c in job.columns if c.role == "sensitive" or c.name in job.goal.columns]
        known = [c.name for c in needed]
        needed += [Column(name, "drop") for name in job.goal.columns if name not in known]
        return cls(source, job.goal, [c.name for c in job.columns if c.role == "quasi"], needed, origin)


def _released(folder: Path) -> tuple[Path, Path | None]:
    """The table of a release folder, and the job that the publisher keeps beside it."""
    from tarnkappe.pipeline import INTERNAL, PUBLIC

    try:
        name = str(json.loads((folder / PUBLIC / MANIFEST).read_text("utf-8"))["file"])
    except (OSError, ValueError, KeyError, TypeError):
        raise JobError(
            "E108",
            f"'{folder}' is no release folder: it has no {PUBLIC}/{MANIFEST} that names a file",
            hint=f"tarnkappe verify {folder}/FILE.csv --quasi age,sex --criterion k-anonymity:k=5",
        ) from None
    job = folder / INTERNAL / "job.yaml"
    return folder / PUBLIC / name, job if job.is_file() else None


def _evidence(file: Path) -> Evidence:
    """What the internal folder of a release holds for its verification, if it is there."""
    import polars as pl

    from tarnkappe.pipeline import INTERNAL, POPULATION, PUBLIC, WITNESS
    from tarnkappe.verification import Evidence

    folder = file.parent.parent / INTERNAL
    if file.parent.name != PUBLIC or not folder.is_dir():
        return Evidence()

    def table(name: str) -> pl.DataFrame | None:
        return pl.read_parquet(folder / name) if (folder / name).is_file() else None

    return Evidence(table(WITNESS), table(POPULATION))


def _checkable(asked: _Asked, evidence: Evidence) -> tuple[Goal, list[tuple[Criterion, str]]]:
    """The criteria that can be checked, and the others with what that would need."""
    from tarnkappe.goal import Goal

    secret = [c.name for c in asked.columns if c.role == "sensitive"]  # these are published, or it is an error
    lacks = {c: evidence.lacks(c, [*asked.source.columns, *secret]) for c in asked.goal.criteria}
    lacking = [(c, what) for c, what in lacks.items() if what is not None]
    if len(lacking) == len(lacks):
        raise JobError(
            "E108",
            f"{lacking[0][0].name} cannot be checked without {lacking[0][1]}",
            where=asked.source.name,
            hint="Check the release folder, with its internal folder:  tarnkappe verify FOLDER",
        )
    return Goal([c for c, what in lacks.items() if what is None]), lacking


def _asked(
    file: Path,
    job_file: Path | None,
    quasi: list[str] | None,
    criterion: list[str] | None,
    settings: list[str] | None,
    manifest: dict[str, Any] | None,
) -> _Asked:
    from tarnkappe.io import CsvDialect, open_source
    from tarnkappe.job.files import load_job

    if job_file is not None and (quasi or criterion):
        raise JobError(
            "E108", "--job says what to check; it excludes --quasi and --criterion", hint="tarnkappe verify --help"
        )
    if settings and job_file is None:
        raise JobError("E108", "--set changes a setting of a job, so it needs --job", hint="tarnkappe verify --help")
    if job_file is not None:
        job = load_job(job_file, settings or ())
        # The release is written like the data of the job, but may have been converted since.
        missing = (*job.data.missing, "") if "" not in job.data.missing else job.data.missing
        source = open_source(file, CsvDialect(decimal=job.data.dialect.decimal), missing)
        return _Asked.by(job, source, str(job_file))
    source = open_source(file)
    if criterion:
        names = split_names(quasi, source.columns)
        if not names:
            raise JobError(
                "E108", "--criterion needs --quasi", hint="--quasi age,sex   (the columns that form the groups)"
            )
        return _Asked.by(_job(source, names, [_criterion(text) for text in criterion]), source, "the command line")
    if manifest is None:
        raise JobError(
            "E108",
            "nothing says what to check: no --job, no --criterion, and no manifest.json beside the file",
            hint=f"tarnkappe verify {file} --quasi age,sex --criterion k-anonymity:k=5",
        )
    stated, criteria = _stated(manifest, file)
    names = split_names(quasi, source.columns) or stated
    return _Asked.by(_job(source, names, criteria), source, MANIFEST)


def _job(source: Source, quasi: list[str], criteria: list[Criterion]) -> Job:
    """A job that only says what to check, so that criteria are checked against columns as everywhere else."""
    from tarnkappe.engines.measures import measured
    from tarnkappe.goal import Goal
    from tarnkappe.job import Job
    from tarnkappe.schema import Column
    from tarnkappe.taxonomy import suppress

    sensitive = list(dict.fromkeys(c.sensitive_column for c in criteria if c.sensitive_column))
    return Job(
        quasi={name: suppress() for name in quasi},
        columns=measured([Column(name, "sensitive") for name in sensitive], Goal(criteria), source),
        keep="rest",
        criteria=criteria,
    )


def _criterion(text: str) -> Criterion:
    """A criterion written as ``name:key=value,key=value``.

    ``key.name=value`` is an entry of a mapping, and a list is one ``key=value`` for each of its values.
    """
    from tarnkappe.criteria import criterion_class
    from tarnkappe.job.text import PlacedDict, scalar
    from tarnkappe.params import bind, parameters

    name, _, rest = text.partition(":")
    cls = criterion_class(name.strip(), "--criterion")
    words = {p.name for p in parameters(cls) if p.type in (str, str | None)}
    lists = {p.name for p in parameters(cls) if get_origin(p.type) is tuple}
    given = PlacedDict("--criterion")
    for part in filter(None, rest.split(",")):
        path, equals, value = part.partition("=")
        key, _, entry = path.strip().partition(".")
        if not equals:
            raise JobError(
                "E108",
                f"'{part}' is not of the form key=value",
                where="--criterion",
                hint="--criterion l-diversity:column=illness,l=2",
            )
        if entry:
            given.setdefault(key, {})[entry] = scalar(value)
        elif key in lists:
            given.setdefault(key, []).append(value)
        else:
            given[key] = value if key in words else scalar(value)
    return bind(cls, given, f"criterion '{name}'")


def _manifest(file: Path) -> dict[str, Any] | None:
    """What the manifest beside the file says about it, if there is one and it is about this file."""
    try:
        manifest = json.loads(file.with_name(MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    ours = isinstance(manifest, dict) and "tarnkappe" in manifest and manifest.get("file") == file.name
    return manifest if ours else None


def _stated(manifest: dict[str, Any], file: Path) -> tuple[list[str], list[Criterion]]:
    """The quasi-identifiers and criteria that the manifest promises; it may have been changed by hand."""
    from tarnkappe.criteria import criterion_class
    from tarnkappe.job.text import PlacedDict
    from tarnkappe.params import bind

    where = str(file.with_name(MANIFEST))
    quasi: Any = manifest.get("quasi_identifiers")
    promised: Any = manifest.get("criteria")
    if not (_is_list_of(quasi, str) and _is_list_of(promised, dict)):
        raise JobError(
            "E110",
            "the manifest does not say what the file promises: quasi_identifiers and criteria are not lists of them",
            where=where,
            hint=f"tarnkappe verify {file} --quasi age,sex --criterion k-anonymity:k=5",
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

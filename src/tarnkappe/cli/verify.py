"""``tarnkappe verify``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Quasi, Settings, complete_criteria, split_names
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.criteria import Criterion
    from tarnkappe.io import Source
    from tarnkappe.job import Job

MANIFEST = "manifest.json"


def verify(
    file: Annotated[
        Path,
        typer.Argument(help="The file to check, ours or not.", metavar="FILE", readable=False, show_default=False),
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
    manifest, the file must also be the one it describes.

    [bold]Example:[/bold]  tarnkappe verify release/public/census.csv --quasi age,sex --criterion k-anonymity:k=5
    """
    from tarnkappe.cli.progress import Working
    from tarnkappe.verification import verify_table

    manifest = _manifest(file)
    with Working("verify") as progress:
        progress("verify")
        asked = _asked(file, job, quasi, criterion, settings, manifest)
        with asked.source as source:
            schema = asked.job.schema(source.columns, source.name)
            found = verify_table(source, asked.quasi, schema.sensitive, asked.job.goal)
            digest = source.sha256 if manifest else None
    stated = None if manifest is None else manifest.get("sha256")
    same = None if stated is None else stated == digest
    ok = found.ok and same is not False
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
        if same is not None:
            says = "✓ is that of manifest.json" if same else "✗ is not that of manifest.json: the file was changed"
            rows.append(("SHA-256", says))
        rows.append(("Verdict", "✓ the file keeps the promise" if ok else "✗ the file does NOT keep the promise"))
        screen.rows(console, rows)
    raise typer.Exit(0 if ok else 5)


@dataclass
class _Asked:
    """What is to be checked, and who said so."""

    source: Source
    job: Job
    quasi: list[str]
    origin: str


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
        return _Asked(source, _for_release(job), [c.name for c in job.columns if c.role == "quasi"], str(job_file))
    source = open_source(file)
    if criterion:
        names = split_names(quasi, source.columns)
        if not names:
            raise JobError(
                "E108", "--criterion needs --quasi", hint="--quasi age,sex   (the columns that form the groups)"
            )
        return _Asked(source, _job(source, names, [_criterion(text) for text in criterion]), names, "the command line")
    if manifest is None:
        raise JobError(
            "E108",
            "nothing says what to check: no --job, no --criterion, and no manifest.json beside the file",
            hint=f"tarnkappe verify {file} --quasi age,sex --criterion k-anonymity:k=5",
        )
    stated, criteria = _stated(manifest, file)
    names = split_names(quasi, source.columns) or stated
    return _Asked(source, _job(source, names, criteria), names, MANIFEST)


def _for_release(job: Job) -> Job:
    """The job with the columns that criteria look at; a release lacks some of the others, and may have more."""
    from tarnkappe.job.model import replace_job

    needed = tuple(c for c in job.columns if c.role in ("quasi", "sensitive"))
    return replace_job(job, columns=needed, rest="keep")


def _job(source: Source, quasi: list[str], criteria: list[Criterion]) -> Job:
    """A job that only says what to check, so that criteria are checked against columns as everywhere else."""
    from tarnkappe.job import Job
    from tarnkappe.schema import Column
    from tarnkappe.taxonomy import suppress

    sensitive = list(dict.fromkeys(c.sensitive_column for c in criteria if c.sensitive_column))
    ordered = {c.sensitive_column for c in criteria if getattr(c, "distance", None) == "ordered"}
    columns = [
        Column(name, "sensitive", _kind(source, name) if name in ordered else "categorical") for name in sensitive
    ]
    return Job(
        quasi={name: suppress() for name in quasi},
        columns=columns,
        keep="rest",
        criteria=criteria,
    )


def _kind(source: Source, column: str) -> Any:
    """Numbers are compared as numbers where all values are some."""
    from tarnkappe.errors import DataError

    try:
        source.numeric(source.read([column])[column])
    except DataError:
        return "categorical"
    return "numeric"


def _criterion(text: str) -> Criterion:
    """A criterion written as ``name:key=value,key=value``."""
    from tarnkappe.criteria import criterion_class
    from tarnkappe.job.text import PlacedDict, scalar
    from tarnkappe.params import bind, parameters

    name, _, rest = text.partition(":")
    cls = criterion_class(name.strip(), "--criterion")
    words = {p.name for p in parameters(cls) if p.type in (str, str | None)}
    given = PlacedDict("--criterion")
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals:
            raise JobError(
                "E108",
                f"'{part}' is not of the form key=value",
                where="--criterion",
                hint="--criterion l-diversity:column=illness,l=2",
            )
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

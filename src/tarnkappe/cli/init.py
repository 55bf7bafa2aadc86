"""``tarnkappe init``."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import Debug, Overwrite, name_of, path_or_address

if TYPE_CHECKING:
    from tarnkappe.job import DataSettings
    from tarnkappe.job.suggest import Suggestion


def init(
    data: Annotated[
        Any,
        typer.Argument(
            help="A table (CSV, Parquet, Excel, SPSS …), DATABASE#TABLE, or the config.xml of an earlier tool.",
            metavar="DATA",
            parser=path_or_address,
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The job file to write; DATA.yaml if not given.", show_default=False),
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option("--update", help="Add the columns that this job file lacks.", show_default=False),
    ] = None,
    taxonomies: Annotated[
        Path | None,
        typer.Option(
            "--taxonomies",
            help="The taxonomies of a config.xml; taxonomies.xml beside it if not given.",
            show_default=False,
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option("--sheet", help="Which sheet of a workbook; needed if it has several.", show_default=False),
    ] = None,
    overwrite: Overwrite = False,
    debug: Debug = False,
) -> None:
    """Look at a file and write a commented job file with suggested roles.

    Every suggestion comes with its reason. Review them all: a column the rules know nothing about is undecided, and
    the job does not run until you have chosen its role.

    [bold]Example:[/bold]  tarnkappe init census.csv -o census.yaml
    """
    from tarnkappe.errors import JobError

    is_config = isinstance(data, Path) and _is_config(data)
    if update is not None and (output is not None or overwrite or is_config):
        raise JobError(
            "E108",
            "--update changes a job file in place; it takes a data file and no --output",
            hint=f"tarnkappe init DATA.csv --update {update}",
        )
    if is_config:
        _from_xml(data, taxonomies, output or Path(f"{data.stem}.yaml"), overwrite)
    elif update is not None:
        _update(data, update)
    else:
        _from_data(data, output, overwrite, sheet)


def _is_config(file: Path) -> bool:
    """Whether a file is a configuration, not a table; both may be XML."""
    if file.suffix.lower() != ".xml":
        return False
    try:
        with file.open("rb") as opened:
            start = opened.read(1 << 16)
    except OSError:
        return True  # whoever reads it says why it cannot be read
    elements = re.findall(rb"<([A-Za-z_][\w.-]*)", start)
    return not elements or elements[0] == b"config" or b"<!DOCTYPE" in start


def _from_data(data: Path | str, given: Path | None, overwrite: bool, sheet: str | None) -> None:
    from tarnkappe.cli.progress import Working
    from tarnkappe.io import open_source
    from tarnkappe.io.databases.address import is_database
    from tarnkappe.io.reading import Reading
    from tarnkappe.io.source import unpacked_name
    from tarnkappe.job.suggest import suggest, suggested_job_text

    named = name_of(data)
    stem = named.replace("/", "_") if is_database(data) else unpacked_name(Path(named)).stem
    output = given or Path(f"{stem}.yaml")
    with Working("look") as progress:
        progress(f"looking at {named}")
        with open_source(data, None if sheet is None else Reading(sheet=sheet)) as source:
            suggestions = suggest(source)
            path = _from(data, output)
            text = suggested_job_text(source, suggestions, path, folder=f"{stem}-release", sheet=sheet)
            described = source.description
    _write(output, text, overwrite)
    console = screen.stdout()
    screen.rows(console, [("Data", described), *_suggested(suggestions)])
    screen.rows(console, [("Wrote", screen.shown_path(output)), *_next(output, _undecided(suggestions))])


def _suggested(suggestions: Sequence[Suggestion]) -> list[tuple[str, str]]:
    out = []
    for role in ("identifier", "subject", "quasi", "sensitive", "keep", "drop"):
        names = [s.column for s in suggestions if s.role == role]
        if names:
            out.append((role, screen.listed(names)))
    if not any(s.role == "sensitive" for s in suggestions):
        out.append(("sensitive", "none recognised; give the role to what nobody may learn about a person"))
    return out


def _undecided(suggestions: Sequence[Suggestion]) -> tuple[str, ...]:
    return tuple(s.column for s in suggestions if not s.is_decided)


def _next(job: Path, undecided: Sequence[str]) -> list[tuple[str, str]]:
    name = screen.shown_path(job)
    command = shlex.join(["tarnkappe", "run", name])
    if undecided:
        return [
            ("Decide", f"{screen.plural(len(undecided), 'column')} without a role: {screen.listed(undecided)}"),
            ("Next", f"edit {name}, then  {command}"),
        ]
    return [("Next", f"review the roles in {name}, then  {command}")]


def _update(data: Path | str, job: Path) -> None:
    from tarnkappe.cli.progress import Working
    from tarnkappe.io import open_source, staged
    from tarnkappe.job.suggest import suggest
    from tarnkappe.job.text import read_job_file
    from tarnkappe.job.update import read_text, updated_job_text

    read_job_file(job)  # says at once what is wrong with it
    text = read_text(job)
    reading = _reading(job)
    with Working("look") as progress:
        progress(f"looking at {name_of(data)}")
        with open_source(data, reading.dialect, reading.missing) as source:
            update = updated_job_text(text, suggest(source), str(job))
    console = screen.stdout()
    if update.text != text:
        with staged(job, overwrite=True) as unfinished:
            unfinished.write_bytes(update.text.encode("utf-8"))
            unfinished.chmod(job.stat().st_mode & 0o777)
    added = screen.listed(update.added) or "nothing: every column that can be guessed is there"
    screen.rows(console, [("Added", added), *_next(job, update.undecided)])


def _reading(job: Path) -> DataSettings:
    """How a job says its data are to be read; a job that lacks columns may not be complete enough to say it."""
    from tarnkappe.errors import TarnkappeError
    from tarnkappe.job import DataSettings
    from tarnkappe.job.files import load_job

    try:
        return load_job(job).data
    except TarnkappeError:
        return DataSettings()


def _from_xml(config: Path, taxonomies: Path | None, output: Path, overwrite: bool) -> None:
    from tarnkappe.job.xml import import_xml
    from tarnkappe.summary import roles

    beside = config.with_name("taxonomies.xml")
    if taxonomies is None and beside.is_file():
        taxonomies = beside
    found = import_xml(config, taxonomies)
    head = f"# Imported from {config.name}. Review every role before you run this.\n"
    _write(output, head + found.job.to_yaml(output.parent), overwrite)
    console = screen.stdout()
    screen.rows(
        console,
        [
            ("Read", ", ".join(screen.shown_path(p) for p in (config, taxonomies) if p is not None)),
            ("Roles", roles(c.role for c in found.job.columns)),
            ("Goal", found.job.goal.asked),
            ("Wrote", screen.shown_path(output)),
            *_next(output, ()),
        ],
    )
    screen.notices(console, found.notices)


def _write(path: Path, text: str, overwrite: bool) -> None:
    from tarnkappe.io import staged

    with staged(path, overwrite=overwrite) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _from(data: Path | str, job: Path) -> str:
    """The path of the data as seen from the folder of the job file."""
    if isinstance(data, str):
        from tarnkappe.io.databases.address import Address, is_database

        if not is_database(data):
            return data
        return Address.of(data).beside(Path.cwd()).relative_to(job.parent.resolve()).text
    try:
        return Path(os.path.relpath(data, job.parent)).as_posix()
    except ValueError:  # on another drive
        return str(data.resolve())

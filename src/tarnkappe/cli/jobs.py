"""Loading a job for a command, with hints that name the files the user gave."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.errors import JobError, TarnkappeError

if TYPE_CHECKING:
    from tarnkappe.job import Job


#: What job files may be about beside records: the key that only such files have, and the module here that takes them.
_OTHERS = ("append_to", "editions", "histogram", "items", "series", "synthetic", "tables")


def command_for(verb: str, path: Path) -> Callable[..., None] | None:
    """What carries out a command for a job file that is not about records; None if it is, or there is no such thing."""
    about = subject_of(path)
    if about == "records":
        return None
    found: Callable[..., None] | None = getattr(import_module(f"tarnkappe.cli.{about}"), f"{verb}_about_{about}", None)
    return found


def subject_of(path: Path) -> str:
    """What a job file is about: the key that only such files have, or ``records``.

    Whatever is wrong with the file is said by who reads it.
    """
    from tarnkappe.io.source import is_table
    from tarnkappe.job.masking import is_masking
    from tarnkappe.job.text import read_job_file

    try:
        raw = {} if is_table(path) else read_job_file(path)
    except TarnkappeError:
        raw = {}
    if is_masking(raw):
        return "masks"
    return next((key for key in _OTHERS if key in raw), "records")


def job_for(path: Path, data: str | None, settings: Iterable[str] | None) -> Job:
    """The job in a file, with settings changed and perhaps another data file."""
    from tarnkappe.io.source import is_table, unpacked_name
    from tarnkappe.job.files import load_job
    from tarnkappe.job.model import replace_job

    if is_table(path):
        name = shlex.quote(f"{unpacked_name(path).stem}.yaml")
        raise JobError(
            "E100",
            f"'{path.name}' is data, and a job file is expected",
            where=str(path),
            hint=f"{shlex.join(['tarnkappe', 'init', str(path)])}   writes one; review it, then  tarnkappe run {name}",
        )
    job = load_job(path, settings or ())
    if data is not None:
        job = replace_job(job, data=dataclasses.replace(job.data, path=data))
    if job.data.path is None:
        raise JobError(
            "E103",
            "the job names no data file",
            where=str(path),
            hint=f"Add  data: {{path: DATA.csv}}  or give the file:  tarnkappe check {shlex.quote(str(path))} DATA.csv",
        )
    return job


@contextmanager
def fixes_for(path: Path, job: Job) -> Iterator[None]:
    """Let errors that know no place name the job file, and those about columns without a role what to do about them."""
    from tarnkappe.schema import UndecidedError

    try:
        yield
    except TarnkappeError as error:
        error.where = error.where or str(path)
        if isinstance(error, UndecidedError) and job.data.path:
            error.where = str(path)
            if any(column.role == "undecided" for column in job.columns):
                error.hint = f"Choose a role for every column that is undecided in {path}."
            elif not error.misspelt:
                command = shlex.join(["tarnkappe", "init", job.data.path, "--update", str(path)])
                error.hint = f"{command}   adds them with suggestions"
        raise

"""``tarnkappe schema``."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import Debug
from tarnkappe.errors import JobError, did_you_mean

#: Where the schema of each kind of job file is made.
_KINDS = {
    "records": ("tarnkappe.job.files", "job_json_schema"),
    "items": ("tarnkappe.job.items", "items_json_schema"),
    "histogram": ("tarnkappe.job.histogram", "histogram_json_schema"),
    "synthetic": ("tarnkappe.job.synthetic", "synthetic_json_schema"),
    "masks": ("tarnkappe.job.masking", "masking_json_schema"),
}


def schema(
    kind: Annotated[
        str, typer.Argument(metavar="[KIND]", help=f"What the job files are about: {', '.join(_KINDS)}.")
    ] = "records",
    debug: Debug = False,
) -> None:
    """Print the JSON schema of job files, so that an editor can complete and check them.

    Begin a job file with  # yaml-language-server: $schema=tarnkappe.schema.json

    [bold]Example:[/bold]  tarnkappe schema > tarnkappe.schema.json
    """
    if kind not in _KINDS:
        raise JobError(
            "E108", f"no job files are about '{kind}'{did_you_mean(kind, _KINDS)}", hint=f"Known: {', '.join(_KINDS)}."
        )
    home, name = _KINDS[kind]
    screen.print_json(getattr(import_module(home), name)())

"""``tarnkappe schema``."""

from __future__ import annotations

from tarnkappe.cli import screen
from tarnkappe.cli.options import Debug


def schema(debug: Debug = False) -> None:
    """Print the JSON schema of job files, so that an editor can complete and check them.

    Begin a job file with  # yaml-language-server: $schema=tarnkappe.schema.json

    [bold]Example:[/bold]  tarnkappe schema > tarnkappe.schema.json
    """
    from tarnkappe.job.files import job_json_schema

    screen.print_json(job_json_schema())

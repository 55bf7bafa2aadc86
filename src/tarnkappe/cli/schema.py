"""``tarnkappe schema``."""

from __future__ import annotations

from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import Debug


def schema(
    items: Annotated[
        bool, typer.Option("--items", metavar="", help="The schema of job files about sets of items instead.")
    ] = False,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", metavar="", help="The schema of job files about made-up people instead.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Print the JSON schema of job files, so that an editor can complete and check them.

    Begin a job file with  # yaml-language-server: $schema=tarnkappe.schema.json

    [bold]Example:[/bold]  tarnkappe schema > tarnkappe.schema.json
    """
    from tarnkappe.job.files import job_json_schema
    from tarnkappe.job.items import items_json_schema
    from tarnkappe.job.synthetic import synthetic_json_schema

    screen.print_json(items_json_schema() if items else synthetic_json_schema() if synthetic else job_json_schema())

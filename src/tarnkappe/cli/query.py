"""``tarnkappe query``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug


def query(
    release: Annotated[
        Path,
        typer.Argument(
            help="A release folder, or a published file with its manifest and codebook.",
            metavar="RELEASE",
            readable=False,
            show_default=False,
        ),
    ],
    question: Annotated[
        str,
        typer.Argument(help='What to ask, such as "count where age in 20..29".', metavar="QUERY", show_default=False),
    ],
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Ask a release: an estimate, and the bounds between which the truth about its records lies.

    count, sum(x), avg(x), min(x) or max(x), then conditions joined by "and", then the columns to group by. A condition
    is = != < <= > >=, in lo..hi, or in (a, b). Names and values with blanks stand in quotes.

    [bold]Example:[/bold]  tarnkappe query release "count where age in 20..29 and sex = F group by region"
    """
    from tarnkappe.query import open_release, parse

    parse(question)  # what cannot be understood need not wait for the tables
    answer = open_release(release).ask(question)
    if as_json:
        screen.print_json(answer.as_dict())
        return
    rows = [(" · ".join("(missing)" if x is None else x for x in row.group), str(row)) for row in answer.rows]
    shown = rows if answer.by else [("Answer", text) for _, text in rows]
    if not shown:
        shown = [("Answer", "no record can match")]
    screen.rows(screen.stdout(), [*shown, *(("Note", note) for note in answer.notes)])

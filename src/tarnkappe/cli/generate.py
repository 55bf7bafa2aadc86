"""``tarnkappe generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Overwrite, Quiet, Seed


def generate(
    source: Annotated[
        str,
        typer.Argument(
            help="A CSV or Parquet file to take the values from, or one of: census, sim-u, sim-c.",
            metavar="DATA",
            show_default=False,
        ),
    ],
    records: Annotated[
        int, typer.Option("--records", "-n", metavar="N", min=1, help="How many records.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where they go: a .csv or .parquet file.", show_default=False
        ),
    ],
    columns: Annotated[int, typer.Option("--columns", metavar="N", min=1, help="Columns of sim-u and sim-c.")] = 10,
    seed: Seed = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make test data of any length: a census without real people, or records with the value shares of a file.

    From a file, every column is drawn by itself from its own values. That is for measuring speed. It protects nobody,
    and says nothing about how columns depend on each other.

    [bold]Example:[/bold]  tarnkappe generate census.csv --records 1000000 --output big.csv
    """
    from tarnkappe.cli.progress import Working
    from tarnkappe.datasets.generate import generate_table
    from tarnkappe.errors import Notice

    with Working("write", quiet=quiet) as progress:
        progress("write")
        done = generate_table(source, records, output, columns=columns, seed=seed or 0, overwrite=overwrite)
    if as_json:
        screen.print_json({"file": str(output), "records": records, "columns": list(done), "seed": seed or 0})
        return
    if quiet:
        return
    console = screen.stdout()
    wrote = f"{screen.shown_path(output)}: {screen.plural(records, 'record')} · {screen.plural(len(done), 'column')}"
    screen.rows(console, [("From", source), ("Wrote", wrote)])
    if source not in ("census", "sim-u", "sim-c"):
        what = "every value in the test data is one of a person in the data"
        screen.notices(
            console, (Notice("W658", what, hint="tarnkappe run JOB.yaml   with  synthetic:  protects them"),)
        )

"""``tarnkappe import-arx``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import Debug

if TYPE_CHECKING:
    from tarnkappe.job.arx import ArxImport
    from tarnkappe.job.arx_figures import Figures


def import_arx(
    project: Annotated[
        Path, typer.Argument(help="A project of ARX.", metavar="PROJECT.deid", readable=False, show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder to write; that of the project's name if not given."),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", metavar="", help="Carry the job out, and show the result beside that of ARX.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Make a job, its data and its taxonomies of an ARX project.

    What has no counterpart here is listed. Review the job before you run it.

    [bold]Example:[/bold]  tarnkappe import-arx hospital.deid --run
    """
    from tarnkappe.io.new_folder import new_folder
    from tarnkappe.job.arx import import_arx as read_project
    from tarnkappe.summary import roles

    folder = output or Path(f"{project.stem}-arx")
    with new_folder(folder) as unfinished:
        found = read_project(project, unfinished)
        head = f"# Imported from {project.name}. Review every role before you run this.\n"
        (unfinished / "job.yaml").write_text(head + found.job.to_yaml(unfinished), encoding="utf-8")
        columns = _beside(found) if run else ()
    console = screen.stdout()
    job = folder / "job.yaml"
    screen.rows(
        console,
        [
            ("Read", f"{screen.shown_path(project)}, written by ARX {found.version}"),
            ("Roles", roles(c.role for c in found.job.columns)),
            ("Goal", found.job.goal.asked),
            ("Wrote", screen.shown_path(job)),
            ("Next", f"review the roles in {screen.shown_path(job)}, then  tarnkappe run {screen.shown_path(job)}"),
        ],
    )
    if columns:
        screen.rows(console, [("Result", f"{name}: {_said(figures)}") for name, figures in columns])
    elif run and found.output is None:
        screen.rows(console, [("Result", "the project holds none of ARX")])
    screen.notices(console, found.notices)


def _beside(found: ArxImport) -> tuple[tuple[str, Figures], ...]:
    """The figures of our result and of theirs, found in the same way."""
    from tarnkappe.io import CsvDialect, open_source
    from tarnkappe.job.arx_figures import figures_of
    from tarnkappe.pipeline import anonymize
    from tarnkappe.taxonomy import read_taxonomy
    from tarnkappe.taxonomy.builders import File

    release = anonymize(found.job, found.data)
    trees = {
        c.name: read_taxonomy(c.taxonomy.path, delimiter=found.delimiter) if isinstance(c.taxonomy, File) else None
        for c in found.job.columns
        if c.role == "quasi"
    }
    n = release.n_input
    shown = [("Tarnkappe", figures_of(release.table, n, trees))]
    if found.output is not None:
        with open_source(found.output, CsvDialect(delimiter=found.delimiter, header=True), ()) as theirs:
            shown.append(("ARX", figures_of(theirs.read(list(trees)), n, trees, found.suppressed)))
    return tuple(shown)


def _said(figures: Figures) -> str:
    lost = "" if figures.lost is None else f", {screen.percent(figures.lost)} of the detail lost"
    return (
        f"{screen.plural(figures.records, 'record')}, {screen.count(figures.suppressed)} left out, "
        f"{screen.plural(figures.groups, 'group')}, the smallest of {screen.count(figures.smallest)}{lost}"
    )

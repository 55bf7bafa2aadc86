"""``tarnkappe utility``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Quasi, QuasiFromJob, names_in
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from rich.console import Console

    from tarnkappe.usefulness import Utility

#: Pairs of columns that the screen shows; --json has them all.
_MOST_PAIRS = 5


def utility(
    original: Annotated[
        Path, typer.Argument(help="The original table.", metavar="ORIGINAL", readable=False, show_default=False)
    ],
    release: Annotated[
        Path,
        typer.Argument(
            help="What was released of it, by us or not; or a release folder.",
            metavar="RELEASE",
            readable=False,
            show_default=False,
        ),
    ],
    job: QuasiFromJob = None,
    quasi: Quasi = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="COLUMN", help="The sensitive column, for ULoss, PLoss and queries."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COLUMN", help="The column to predict: classification metric, regression."),
    ] = None,
    learn: Annotated[
        bool,
        typer.Option("--learn", metavar="", help="Train a model for the target on the release, test on the original."),
    ] = False,
    support: Annotated[
        float, typer.Option("--support", metavar="SHARE", help="How large a population is at least, for ULoss.")
    ] = 0.01,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Decides about queries and models.")] = 0,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say what a release keeps of its original. Nothing is written.

    The figures are for the publisher: they say more about the original than the release does. Values of the data are
    never printed. Without --job and --quasi the quasi-identifiers are those of the release folder or its manifest, or
    the columns that differ.

    [bold]Example:[/bold]  tarnkappe utility census.csv release --column illness --target illness --learn
    """
    from tarnkappe.cli.progress import Working
    from tarnkappe.usefulness import utility as assess

    if learn and target is None:
        raise JobError("E108", "--learn needs a column to predict", hint="--target illness --learn")
    with Working("compare") as progress:
        progress(f"comparing {release.name} with {original.name}")
        found = assess(
            original,
            release,
            names_in(original, quasi),
            job=job,
            column=column,
            target=target,
            learn=learn,
            support=support,
            seed=seed,
        )
    if as_json:
        screen.print_json(found.as_dict())
        return
    console = screen.stdout()
    lacks = found.n_original - found.n_published
    rows = [
        ("Original", f"{found.original} · {screen.plural(found.n_original, 'record')}"),
        (
            "Release",
            f"{found.release} · {screen.plural(found.n_published, 'record')} in {screen.count(found.n_groups)} groups",
        ),
        ("Coarsened", ", ".join(found.quasi)),
    ]
    screen.rows(console, [*rows, *([("Left out", screen.plural(lacks, "record"))] if lacks > 0 else [])])
    _metrics(console, found)
    _columns(console, found)
    screen.rows(console, _rows(found))


def _metrics(console: Console, found: Utility) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column("", width=0)  # the margin, also of titles that take two lines
    table.add_column("metric", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("definition")
    for f in found.figures:
        words = f"{f.definition} · {f.remark}" if f.remark else f.definition
        table.add_row("", f.title, _figure(f.value), words + (" (larger is better)" if f.better == "larger" else ""))
    console.print()
    console.print(table)


def _figure(value: float) -> str:
    return screen.count(round(value)) if abs(value) >= 1000 else f"{value:.4f}"


def _columns(console: Console, found: Utility) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column("  column", overflow="fold", max_width=30)
    for head in ("detail lost", "distribution off", "mean off", "spread off"):
        table.add_column(head, justify="right", no_wrap=True)
    for c in found.columns:
        lost = "" if c.loss is None else screen.percent(c.loss)
        moments = ("" if x is None else f"{x:+.3f}" for x in (c.mean_off, c.deviation_off))
        table.add_row(f"  {screen.clean(c.column)}", lost, screen.percent(c.distance), *moments)
    console.print()
    console.print(table)


def _rows(found: Utility) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for a in found.associations[:_MOST_PAIRS]:
        told = f"{a.first} and {a.second}: {a.original:.2f} → {a.release:.2f} (Cramér's V)"
        rows.append(("" if rows else "Pairs", told))
    if found.query_error is not None:
        median, mean = found.query_error
        rows.append(("Queries", f"counts are off by {screen.percent(median)} (median) · {screen.percent(mean)} (mean)"))
    p = found.propensity
    unsure = "" if p.converged else " (the fit did not settle)"
    rows.append(("pMSE", f"{p.pmse:.4f}, {p.ratio:.1f} times that of two random samples{unsure}"))
    if found.populations is not None:
        y = found.populations
        more = ", and there are more" if y.is_cut else ""
        told = f"over {screen.count(y.n_populations)} populations of at least {screen.percent(y.support)}{more}"
        rows.append(("ULoss", f"{y.uloss:.4f}, and {y.trivial:.4f} if nothing but '{y.column}' were published; {told}"))
        rows.append(("PLoss", f"{y.ploss:.4f}: what the release tells about '{y.column}' of the most exposed person"))
    if found.regression is not None:
        r = found.regression
        told = f"R² {r.explained[0]:.3f} → {r.explained[1]:.3f}"
        rows.append(("Regression", f"intervals of '{r.target}' overlap by {r.overlap:.2f} (1: the same) · {told}"))
    if found.eigenvalues is not None:
        before, after = (" ".join(f"{x:.2f}" for x in side[:4]) for side in found.eigenvalues)
        rows.append(("Eigenvalues", f"{before} → {after}"))
    if found.learning is not None:
        m = found.learning
        guess = f"{screen.percent(m.original)} if trained on the original, {screen.percent(m.guess)} by guessing"
        rows.append(("Learning", f"{screen.percent(m.release)} of '{m.target}' predicted right ({guess})"))
    return [*rows, *(("Note", note) for note in found.notes)]

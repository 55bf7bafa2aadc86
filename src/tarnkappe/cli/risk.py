"""``tarnkappe risk``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Quasi, QuasiFromJob, names_in
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from rich.console import Console

    from tarnkappe.risks import Risk

#: Subsets of columns that the screen shows; --json has them all.
_MOST_SUBSETS = 10


def risk(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table, raw or released, ours or not; or a release folder.",
            metavar="FILE",
            readable=False,
            show_default=False,
        ),
    ],
    job: QuasiFromJob = None,
    quasi: Quasi = None,
    population: Annotated[
        str | None,
        typer.Option("--population", metavar="N|FILE", help="How many people records were drawn from, or their table."),
    ] = None,
    weight: Annotated[
        str | None, typer.Option("--weight", metavar="COLUMN", help="How many people each record stands for.")
    ] = None,
    household: Annotated[
        str | None, typer.Option("--household", metavar="COLUMN", help="Who lives together: the key of a household.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="SHARE", help="Count records whose risk is above this.")
    ] = 0.2,
    special: Annotated[
        bool, typer.Option("--special", metavar="", help="Find special uniques: few columns that single people out.")
    ] = False,
    subsets: Annotated[
        bool, typer.Option("--subsets", metavar="", help="Look at every subset of the columns, and find minimal keys.")
    ] = False,
    most: Annotated[
        int | None, typer.Option("--most", min=1, metavar="N", help="Look at no more than N columns at once.")
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option("--grid", metavar="A,B", help="Share of unique people over the levels of two columns of the job."),
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", metavar="FILE", help="The original: how near published numbers are to it."),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="COLUMN", help="With --original: the column that both are joined by.")
    ] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", metavar="", help="With --original: both have the same rows in the same order.")
    ] = False,
    tolerance: Annotated[
        float,
        typer.Option(
            "--tolerance", metavar="X", help="With --original: nearer than X standard deviations is disclosed."
        ),
    ] = 0.01,
    perturbed: Annotated[
        bool, typer.Option("--perturbed", metavar="", help="Values were changed, so frequencies mean nothing.")
    ] = False,
    show: Annotated[
        int, typer.Option("--show", min=0, metavar="N", help="Show the N most exposed records with their values.")
    ] = 0,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say how likely people are found in a table by those who know its quasi-identifiers. Nothing is written.

    Values of the data are printed only with --show. Without --quasi and --job the quasi-identifiers are those of the
    manifest beside the file, or guessed.

    [bold]Example:[/bold]  tarnkappe risk survey.csv --quasi age,sex,zip --population 82000000 --special
    """
    from tarnkappe.cli.progress import Working
    from tarnkappe.risks import risk as assess
    from tarnkappe.risks.reading import table_of

    with Working("count") as progress:
        progress(f"counting {file.name}")
        found = assess(
            file,
            names_in(table_of(file), quasi),
            job=job,
            population=_population(population),
            weight=weight,
            household=household,
            original=original,
            key=key,
            in_order=in_order,
            tolerance=tolerance,
            threshold=threshold,
            special=special,
            subsets=subsets,
            grid=_pair(grid),
            most=most,
            perturbed=perturbed,
            show=show,
        )
    if as_json:
        screen.print_json(found.as_dict())
        return
    console = screen.stdout()
    screen.rows(console, _rows(found))
    _tables(console, found)


def _population(given: str | None) -> int | Path | None:
    """A number, or a file."""
    if given is None:
        return None
    digits = given.replace("_", "").replace(" ", "")
    return int(digits) if digits.isdigit() else Path(given)


def _pair(given: str | None) -> tuple[str, str] | None:
    """Two names."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",") if name.strip()]
    if len(names) != 2:
        raise JobError("E108", "--grid takes two columns", hint="--grid zip,birth")
    return names[0], names[1]


def _rows(found: Risk) -> list[tuple[str, str]]:
    rows = [("Data", f"{found.table_name} · {screen.plural(found.n_records, 'record')}")]
    rows.append(("Known", f"{', '.join(found.quasi)}   ({found.origin})"))
    if found.refused is not None:
        rows.append(("Refused", f"frequencies were not counted: {found.refused}"))
    if found.n_groups is not None and found.smallest_group is not None and found.sample_uniques is not None:
        groups = f"{screen.plural(found.n_groups, 'group')} · smallest {screen.count(found.smallest_group)}"
        share = screen.percent(found.sample_uniques / found.n_records)
        rows.append(("Groups", f"{groups} · {screen.count(found.sample_uniques)} records ({share}) are unique"))
    for m in found.matching:
        rows.append((m.attacker.capitalize(), str(m)))
        rows.append(("", f"({m.wants})"))
    if found.population is not None:
        rows.append(("Population", str(found.population)))
        for e in found.population.estimates:
            told = e.remark if e.uniques is None else f"{screen.count(round(e.uniques))} people unique"
            rows.append(("", f"{e.model}: {told}"))
    if found.log_linear is not None:
        rows.append(("Model", str(found.log_linear)))
    if found.weighted is not None:
        rows.append(("Weighted", str(found.weighted)))
        if found.weighted.of_households is not None:
            rows.append(("Household", f"{screen.percent(found.weighted.of_households)} have a member who is found"))
    if found.special is not None:
        rows.append(("Special", str(found.special)))
        if found.special.file_dis is not None:
            rows.append(("DIS", f"a unique match is right with a chance of {screen.percent(found.special.file_dis)}"))
        rows += _limit(found.special.largest, found.special.is_complete)
    for i in found.intervals:
        rows.append((i.column, str(i)))
    for at, values in enumerate(found.worst):
        shown = " · ".join(f"{name}: {'(empty)' if text is None else text}" for name, text in values.items())
        rows.append(("Exposed" if at == 0 else "", shown))
    rows += [("Note", note) for note in found.notes]
    return rows


def _limit(largest: int, is_complete: bool) -> list[tuple[str, str]]:
    if is_complete:
        return []
    return [("", f"only combinations of up to {largest} columns were looked at   (--most N  looks at more)")]


def _tables(console: Console, found: Risk) -> None:
    from rich.table import Table

    if found.subsets is not None:
        shown = found.subsets.table.head(_MOST_SUBSETS)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
        table.add_column("  columns", overflow="fold")
        for head in ("unique", "distinction", "separation"):
            table.add_column(head, justify="right", no_wrap=True)
        for columns, _, *figures in shown.iter_rows():
            table.add_row(f"  {screen.clean(columns)}", *(screen.percent(x) for x in figures))
        console.print()
        console.print(table)
        keys = found.subsets.keys
        least = " · ".join("+".join(key) for key in keys[:3]) if keys else "none"
        rows = [("Keys", f"{least}   (tell apart whoever all columns together tell apart; none can be left out)")]
        screen.rows(console, rows + _limit(found.subsets.largest, found.subsets.is_complete))
    if found.grid is not None:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
        for at, head in enumerate(found.grid.table.columns):
            table.add_column(f"  {screen.clean(head)}" if at == 0 else screen.clean(head), justify="right")
        for level, row in enumerate(found.grid.shares):
            table.add_row(str(level), *(screen.percent(x) for x in row))
        console.print()
        console.print(table)
        beside = ", ".join(found.grid.beside) or "nothing"
        screen.rows(
            console, [("Grid", f"share of records that are unique; besides these two columns {beside} is known")]
        )

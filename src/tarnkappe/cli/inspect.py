"""``tarnkappe inspect``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, DataFile, Debug, Quasi, name_of, split_names

if TYPE_CHECKING:
    from rich.console import Console

    from tarnkappe.job.suggest import Suggestion
    from tarnkappe.looks.facts import Uniqueness


def inspect(data: DataFile, quasi: Quasi = None, as_json: AsJson = False, debug: Debug = False) -> None:
    """Profile the columns of a file and count the people who are unique. Nothing is written.

    Values of the data are never printed. Without --quasi the suggested quasi-identifiers are used.

    [bold]Example:[/bold]  tarnkappe inspect census.csv --quasi age,sex,zip
    """
    from tarnkappe.cli.progress import Working
    from tarnkappe.io import open_source
    from tarnkappe.job.suggest import suggest
    from tarnkappe.looks.facts import uniqueness

    with Working("look", "count") as progress:
        progress(f"looking at {name_of(data)}")
        with open_source(data) as source:
            suggestions = suggest(source)
            chosen = split_names(quasi, source.columns)
            columns = chosen or [s.column for s in suggestions if s.role == "quasi"]
            progress("counting people who are unique")
            found = uniqueness(source, columns) if columns else None
            described = source.description
    if as_json:
        screen.print_json(_as_data(described, suggestions, found))
        return
    console = screen.stdout()
    screen.rows(console, [("Data", described)])
    _table(console, suggestions)
    screen.rows(console, _unique_rows(found, suggested=not chosen))


def _as_data(described: str, suggestions: Sequence[Suggestion], found: Uniqueness | None) -> dict[str, Any]:
    return {
        "data": described,
        "columns": [
            {
                "name": s.column,
                "kind": s.facts.kind,
                "distinct": s.facts.distinct,
                "missing": s.facts.missing,
                "distinct_share": s.facts.differs,
                "role": s.role,
                "reason": s.reason,
                "taxonomy": s.taxonomy,
            }
            for s in suggestions
        ],
        "unique": None if found is None else {**asdict(found), "share": found.share},
    }


#: How wide the table is where no terminal limits it.
_WIDTH = 120


def _table(console: Console, suggestions: Sequence[Suggestion]) -> None:
    from rich.table import Table
    from rich.text import Text

    gaps = any(s.facts.missing for s in suggestions)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column("  column", overflow="fold", max_width=24)
    table.add_column("kind", no_wrap=True)
    for figure in ("distinct", "missing", "of rows") if gaps else ("distinct", "of rows"):
        table.add_column(figure, justify="right", no_wrap=True)
    table.add_column("suggestion")
    for s in suggestions:
        role = Text(f"{s.role if s.is_decided else 'you decide'}: ", style="bold" if s.is_decided else "bold yellow")
        missing = [screen.count(s.facts.missing)] if gaps else []
        table.add_row(
            Text(f"  {screen.clean(s.column)}"),
            s.facts.kind,
            screen.count(s.facts.distinct),
            *missing,
            screen.percent(s.facts.differs),
            role + Text(screen.clean(s.reason)),
        )
    console.print(table, width=None if console.is_terminal else _WIDTH)


def _unique_rows(found: Uniqueness | None, *, suggested: bool) -> list[tuple[str, str]]:
    if found is None:
        return [("Unique", "no quasi-identifier is suggested; name some with  --quasi a,b,c")]
    which = "suggested" if suggested else "chosen"
    names = f"{which} quasi-identifiers: {', '.join(found.columns)}"
    people = "1 person is" if found.unique == 1 else f"{screen.count(found.unique)} people are"
    return [
        ("Unique", f"{people} unique ({screen.percent(found.share)}) on the {names}"),
        (
            "",
            f"{screen.count(found.in_small_groups)} people ({screen.percent(found.in_small_groups / found.n_rows)}) "
            f"are like fewer than 4 others; {screen.plural(found.combinations, 'combination')} occur",
        ),
    ]

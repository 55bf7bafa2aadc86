"""``tarnkappe history``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug

if TYPE_CHECKING:
    from tarnkappe.history.asking import Holding
    from tarnkappe.history.ledger import Ledger, Line


def history(
    ledger: Annotated[
        Path, typer.Argument(help="The ledger that jobs name.", metavar="LEDGER", readable=False, show_default=False)
    ],
    person: Annotated[
        str | None,
        typer.Option(
            "--person", metavar="VALUE", help="Say which releases hold the person with this key.", show_default=False
        ),
    ] = None,
    withdraw: Annotated[
        str | None,
        typer.Option(
            "--withdraw",
            metavar="VALUE",
            help="Note that this person withdrew, and say which releases must be issued anew.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List the releases in a ledger, find a person in them, or note a withdrawal.

    People stand in a ledger under keyed hashes, so it answers about one person only to who knows the person's key.

    [bold]Example:[/bold]  tarnkappe history private/ledger.jsonl --person 4711
    """
    from tarnkappe.errors import JobError
    from tarnkappe.history.asking import releases_with
    from tarnkappe.history.asking import withdraw as note_withdrawal
    from tarnkappe.history.ledger import Ledger

    if person is not None and withdraw is not None:
        raise JobError("E108", "one question at a time", hint="--person VALUE   or  --withdraw VALUE")
    book = Ledger.read(ledger)
    if person is None and withdraw is None:
        _list(book, as_json)
        return
    holdings = releases_with(book, person) if person is not None else note_withdrawal(ledger, withdraw or "")
    if as_json:
        key = "releases" if person is not None else "reissue"
        screen.print_json({key: [holding.as_dict() for holding in holdings]})
        return
    title = "In" if person is not None else "Reissue"
    rows = [(title if i == 0 else "", _told(h, leaving=person is None)) for i, h in enumerate(holdings)]
    if not holdings:
        rows = [(title, "no release holds this person")]
    if withdraw is not None:
        rows.append(("Noted", "releases with this ledger are refused if they hold this person"))
    screen.rows(screen.stdout(), rows)


def _list(book: Ledger, as_json: bool) -> None:
    from tarnkappe.history.ledger import plain

    if as_json:
        screen.print_json({"lines": [plain(line) for line in book.lines], "head": book.head})
        return
    rows = [(f"{line.number}", _line(line)) for line in book.lines]
    screen.rows(screen.stdout(), [*rows, ("Head", f"{book.head}   (keep a copy elsewhere)")])


def _line(line: Line) -> str:
    if line.kind == "withdrawal":
        return f"{line.made} · a person withdrew"
    accepted = f" · below the goal together with others, because: {line.because}" if line.because else ""
    people = screen.plural(line.people, "person", "people")
    return f"{line.made} · {people} · {line.asked}{accepted} · {screen.shown_path(Path(line.folder))}"


def _told(holding: Holding, *, leaving: bool) -> str:
    alike = screen.plural(holding.alike, "person is", "people are")
    told = f"release {holding.line.number} · {alike} in the same place · {screen.shown_path(Path(holding.line.folder))}"
    if not leaving:
        return told
    if not holding.enough_without:
        return f"{told} · without this person fewer than {holding.line.least}: form groups anew"
    if holding.only_one_in:
        columns = ", ".join(f"'{name}'" for name in holding.only_one_in)
        return f"{told} · nobody else there has the same {columns}: form groups anew if a criterion is about it"
    return f"{told} · enough without this person: removing the record will do, unless a criterion is about shares"

"""``tarnkappe explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, complete_topics


def explain(
    word: Annotated[
        list[str] | None,
        typer.Argument(
            help="A criterion, mask, attack, role, algorithm, metric, missing rule, kind of taxonomy or error code.",
            metavar="WORD",
            autocompletion=complete_topics,
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say in plain words what a criterion, attack, role, algorithm, metric or error code means.

    [bold]Example:[/bold]  tarnkappe explain l-diversity
    """
    from tarnkappe.topics import GROUPS, all_topics, topic

    console = screen.stdout()
    if not word:
        listed = {group: sorted(t.name for t in all_topics().values() if t.group == group) for group in GROUPS}
        if as_json:
            screen.print_json(listed)
            return
        for group, names in listed.items():
            screen.rows(console, [(group if len(group) <= 10 else "missing", ", ".join(names))])
        screen.rows(console, [("", "tarnkappe explain WORD  says more about one of them")])
        return
    found = topic(" ".join(word))
    if as_json:
        facts = [{"label": label, "text": text} for label, text in found.lines]
        screen.print_json({"name": found.name, "group": found.group, "title": found.title, "facts": facts})
        return
    console.print(found.title, style="bold")
    screen.rows(console, found.lines)

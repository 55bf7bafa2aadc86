"""What goes to the screen, and how: plain words, no markup from data, no colours when piped."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tarnkappe.wording import count, figure, percent, plural, shown_path

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from tarnkappe.errors import Notice, TarnkappeError

__all__ = [
    "clean",
    "count",
    "failure",
    "figure",
    "fill",
    "notices",
    "percent",
    "plural",
    "print_json",
    "rows",
    "shown_path",
    "stderr",
    "stdout",
]

#: Least width of the labels on the left.
_LABEL = 10

#: How many warnings of one kind are printed.
_MOST_ALIKE = 3

#: Longer messages are cut: a file that is no table may have a "column name" of a megabyte.
_LONGEST = 1000

#: What is to be pasted looks like this, or stands apart from other text by two spaces and looks like that.
_COMMAND = re.compile(r"^tarnkappe |\{.*:.*\}")
_SNIPPET = re.compile(r"[{}\[\]=<>/\"']|--|: ")

#: Spaces at which no line is broken: inside figures and before percentages, after a tick, before a dot or an arrow.
_GLUE = re.compile(r"(?<=\d) (?=\d{3}\b|%)| (?=[<>]? ?\d+(\.\d)? %)|(?<=[<>✓✗]) | (?=[·→])")
_GLUED = "\0"


def stdout() -> Console:
    """Where results go; whoever reads them may stop at any time, as ``head`` does, and that is no failure."""
    from rich.console import Console

    return _patient(Console)(highlight=False, markup=False, emoji=False)


def stderr() -> Console:
    """Where progress, warnings and errors go; that nobody reads them is no reason to stop, as for results."""
    from rich.console import Console

    return _patient(Console)(stderr=True, highlight=False, markup=False, emoji=False)


def _patient(console: type[Console]) -> type[Console]:
    """A console whose reader may go away."""

    class Patient(console):  # type: ignore[valid-type, misc]
        def on_broken_pipe(self) -> None:
            self.quiet = True
            stream = sys.stderr if self.stderr else sys.stdout
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

    return Patient


def clean(text: str) -> str:
    """A text with nothing in it that a terminal would act on; names of columns and files may hold anything.

    >>> clean("a" + chr(27) + "[31mb") == "a" + chr(92) + "x1b[31mb"
    True
    """
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


#: Names that one line can hold.
_MOST_LISTED = 20


def listed(names: Sequence[str]) -> str:
    """Names in a row; of very many only the first.

    >>> listed(["age", "sex"]), listed([f"q{i}" for i in range(300)])[-21:]
    ('age, sex', 'q18, q19 and 280 more')
    """
    more = f" and {count(len(names) - _MOST_LISTED)} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def fill(text: str, width: int | None) -> list[str]:
    """The lines of a text for a screen of a width; what is to be pasted stays in one piece.

    Pieces are separated by two or more spaces. Without a width nothing is broken.

    >>> fill("Set  missing_rule: own-value  in the job file.", 26)
    ['Set', 'missing_rule: own-value', 'in the job file.']
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if width is None or len(paragraph) <= width:
            lines.append(paragraph)
            continue
        start = " " * (len(paragraph) - len(paragraph.lstrip(" ")))
        line = start
        pieces = re.split(r" {2,}", paragraph.strip())
        for piece in pieces:
            gap = "  " if line.strip() else ""
            whole = _COMMAND.search(piece) or (len(pieces) > 1 and _SNIPPET.search(piece))
            for word in [piece] if whole else _GLUE.sub(_GLUED, piece).split(" "):
                if line.strip() and len(line) + len(gap) + len(word) > width:
                    lines.append(line)
                    line, gap = start, ""
                line += gap + word.replace(_GLUED, " ")
                gap = " "
        lines.append(line)
    return lines


def _width(console: Console, used: int) -> int | None:
    return max(20, console.width - used) if console.is_terminal else None


def _styled(line: str, style: str = "") -> Text:
    from rich.text import Text

    text = Text(line, style=style)
    text.highlight_regex("✓", "green")
    text.highlight_regex("✗", "bold red")
    return text


def rows(console: Console, lines: Iterable[tuple[str, str]]) -> None:
    """Print labels and what belongs to them; an empty label continues the one above."""
    from rich.text import Text

    given = list(lines)
    widest = max([_LABEL, *(len(label) for label, _ in given)])
    for label, text in given:
        left = Text("  ").append(f"{label:<{widest}}", style="bold cyan").append(" ")
        for at, line in enumerate(fill(clean(text), _width(console, len(left)))):
            before = left if at == 0 else Text(" " * len(left))
            console.print(before + _styled(line), soft_wrap=True)


def notices(console: Console, given: Iterable[Notice]) -> None:
    """Print warnings with what to do about them; of many alike the first few."""
    by_code: dict[str, list[Notice]] = {}
    for notice in given:
        by_code.setdefault(notice.code, []).append(notice)
    for code, alike in by_code.items():
        for notice in alike[:_MOST_ALIKE]:
            _coded(console, code, notice.message, "yellow", [], notice.hint, "Hint:")
        if len(alike) > _MOST_ALIKE:
            more = f"and {count(len(alike) - _MOST_ALIKE)} more like this; --json lists them all"
            _coded(console, code, more, "yellow", [], None, "")


def failure(console: Console, error: TarnkappeError) -> None:
    """Print an error: its code, what happened, where, and how to fix it."""
    above = [error.where] if error.where else []
    _coded(console, error.code, error.message, "bold red", [*above, *error.details], error.hint, "Fix:", above=above)


def _coded(
    console: Console,
    code: str,
    message: str,
    style: str,
    details: list[str],
    hint: str | None,
    word: str,
    above: Iterable[str] = (),
) -> None:
    from rich.text import Text

    indent = " " * (len(code) + 2)
    width = _width(console, len(indent))
    for at, line in enumerate(fill(_short(message), width)):
        start = Text(code, style=style) + Text("  ") if at == 0 else Text(indent)
        console.print(start + _styled(line, "bold"), soft_wrap=True)
    dim = set(above)
    for detail in details:
        for line in fill(_short(detail), width):
            console.print(Text(indent) + _styled(line, "dim" if detail in dim else ""), soft_wrap=True)
    if hint:
        lead = f"{word}  "
        inner = _width(console, len(indent) + len(lead))
        for at, line in enumerate(fill(_short(hint), inner)):
            start = Text(indent) + (Text(lead, style="green") if at == 0 else Text(" " * len(lead)))
            console.print(start + _styled(line), soft_wrap=True)


def _short(text: str) -> str:
    return clean(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def print_json(data: Any) -> None:
    """Print one JSON document."""
    import typer

    from tarnkappe.plain_json import to_json

    typer.echo(to_json(data, ascii_only=True))  # whatever the encoding of the terminal

"""Adds columns to a job file that somebody has already worked on, and changes nothing else in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.job.suggest import Suggestion, column_lines
from tarnkappe.job.text import read_job_text
from tarnkappe.small_files import read_small

_INDENT = "  "


@dataclass(frozen=True)
class Update:
    """The new text of a job file, and what was added to it."""

    text: str
    #: Columns that now have a suggested role.
    added: tuple[str, ...]
    #: Columns that the steward still has to decide about.
    undecided: tuple[str, ...]


def updated_job_text(text: str, suggestions: Sequence[Suggestion], path: str) -> Update:
    """The job file with a line for every column it lacks; all that stood in it before stands there unchanged.

    `path` is the name of the file for messages. A column that nothing tells a role for is added as undecided.
    """
    data = read_job_text(text, path)
    if "columns" not in data:
        raise JobError("E103", "the job file needs 'columns'", where=path, hint="Add a line  columns:")
    known = data["columns"] or {}
    if not isinstance(known, dict):
        raise JobError("E110", "'columns' must be a mapping of keys to values", where=data.place_of("columns"))
    lacking = [s for s in suggestions if s.column not in known]
    new = [line.removeprefix(_INDENT) for line in column_lines(lacking)]
    if new:
        at, indent = _end_of_columns(text, path)
        newline = "\r\n" if "\r\n" in text else "\n"
        before = text[:at] if at == 0 or text[:at].endswith("\n") else text[:at] + newline
        text = before + "".join(indent + line + newline for line in new) + text[at:]
    open_before = tuple(name for name, body in known.items() if _role(body) == "undecided")
    open_now = tuple(s.column for s in lacking if not s.is_decided)
    return Update(text, tuple(s.column for s in lacking if s.is_decided), open_before + open_now)


def _role(body: Any) -> Any:
    """The role in an entry of a job file, which is the role itself or a mapping."""
    return body.get("role") if isinstance(body, dict) else body


def _end_of_columns(text: str, path: str) -> tuple[int, str]:
    """Where a further column can be inserted, and how far its line is indented."""
    import yaml

    root: Any = yaml.compose(text.removeprefix("\ufeff"), Loader=yaml.SafeLoader)
    shift = int(text.startswith("\ufeff"))
    key, section = next((k, v) for k, v in root.value if k.value == "columns")
    if isinstance(section, yaml.MappingNode) and section.value:
        if section.flow_style:
            raise JobError(
                "E110",
                "'columns' is written in braces, so no line can be added to it",
                where=f"{path}:{section.start_mark.line + 1}",
                hint="Write one column per line:\n  columns:\n    age: {role: quasi, type: numeric}",
            )
        # A reference to an earlier node ends where that one does, but no earlier than its own key.
        end = max(_last_leaf(section).end_mark.index, section.value[-1][0].end_mark.index)
        return _next_line(text, end + shift), " " * section.start_mark.column
    if section.value != "":
        raise JobError(
            "E110",
            "'columns' is said to be empty, so no line can be added to it",
            where=f"{path}:{section.start_mark.line + 1}",
            hint="Write only  columns:  there.",
        )
    return _next_line(text, key.end_mark.index + shift), " " * key.start_mark.column + _INDENT


def _last_leaf(node: Any) -> Any:
    """The last node inside a node whose end is known exactly: a scalar or something in brackets."""
    while not isinstance(node.value, str) and node.value and not node.flow_style:
        node = node.value[-1]
        node = node[1] if isinstance(node, tuple) else node
    return node


def _next_line(text: str, index: int) -> int:
    """Where the line after the one at `index` begins; a block scalar ends at the beginning of a line already."""
    if index and text[index - 1] == "\n":
        return index
    end = text.find("\n", index)
    return len(text) if end < 0 else end + 1


def read_text(path: Path) -> str:
    """The text of a job file with its own line ends and byte order mark."""
    try:
        return read_small(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise JobError("E100", "the job file is not UTF-8 text", where=str(path), hint="Save it as UTF-8.") from error
    except OSError as error:
        raise JobError(
            "E107",
            f"the job file cannot be opened: {error.strerror}",
            where=str(path),
            hint=f"Write one:  tarnkappe init DATA.csv -o {path}",
        ) from error

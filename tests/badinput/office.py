"""A folder with data and a job, and the command line as its user sees it.

Whatever belongs to a person can be recognised: texts begin with ``canary``, ages lie above 70 000.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from tarnkappe.cli.app import app
from tarnkappe.errors import CODES

#: The documented exit code of every family of errors, by the first digit of its codes.
EXIT_CODES = {"1": 2, "2": 3, "3": 4, "4": 3, "5": 5, "6": 6, "7": 7}

#: A message longer than a screen is no message.
MOST_LINES = 25

HEADER = ["name", "age", "sex", "zip", "illness"]

JOB = """\
title: Clinic
data: {path: people.csv}
columns:
  name: {role: identifier}
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  zip: {role: quasi, taxonomy: {kind: prefix, keep: [8, 7]}}
  illness: {role: sensitive}
criteria:
  - k-anonymity: {k: 5}
  - l-diversity: {column: illness, l: 2}
output: {folder: release}
"""

_VALUE_OF_A_PERSON = re.compile(r"canary[\w-]*|\b70\d\d\d\b")
_PROGRESS = re.compile(r"^ {2}[a-z].* …$")


def records() -> list[list[str]]:
    """Sixty invented patients."""
    illnesses = ["canary-flu", "canary-gout", "canary-cough", "canary-burn"]
    return [
        [
            f"canary-{i}",
            f"{70_000 + i * 7 % 60}",
            ("canary-f", "canary-m")[i * 11 % 60 // 30],
            f"canary{i * 13 % 60 // 4:03d}",
            illnesses[i % 4],
        ]
        for i in range(60)
    ]


def table(rows: list[list[str]] | None = None, header: list[str] | None = None, end: str = "\n") -> str:
    """Records as the text of a CSV file."""
    lines = [header or HEADER, *(records() if rows is None else rows)]
    return "".join(",".join(line) + end for line in lines)


def with_cell(row: int, column: str, value: str) -> str:
    """The table with one cell changed; rows are counted from 1, so row 41 is line 42 of the file."""
    rows = records()
    rows[row - 1][HEADER.index(column)] = value
    return table(rows)


def with_column(column: str, value: str) -> str:
    """The table with one value in all cells of a column."""
    at = HEADER.index(column)
    return table([[*row[:at], value, *row[at + 1 :]] for row in records()])


def job(*changes: tuple[str, str], more: str = "") -> str:
    """The job with some of its text replaced."""
    text = JOB
    for old, new in changes:
        assert old in text, f"{old!r} is not in the job"
        text = text.replace(old, new)
    return text + more


@dataclass(frozen=True)
class Case:
    """Something that is wrong, and what the user is told about it."""

    title: str
    code: str
    #: The place that is named, as in ``job.yaml:7``; ``HERE`` stands for the folder. None if the message names it.
    where: str | None
    #: What else the screen says.
    says: tuple[str, ...]
    data: str | bytes | None = field(default_factory=table)
    job: str | bytes | None = JOB
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    words: tuple[str, ...] = ("run", "job.yaml")
    #: How many values of people may be shown as examples.
    examples: int = 0

    @property
    def plain(self) -> bool:
        """Whether the data, the job or a taxonomy is wrong, rather than the command or the output."""
        return self.words == ("run", "job.yaml") and self.code[1] != "6"


@dataclass(frozen=True)
class Seen:
    """What a command left on the screen."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def message(self) -> list[str]:
        """The lines on stderr without those that tell what is going on."""
        return [line for line in self.stderr.splitlines() if not _PROGRESS.match(line)]


class Office:
    """A folder in which a user works."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, content: str | bytes) -> Path:
        """Put a file there."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def prepare(self, case: Case) -> None:
        """Put the files of a case there."""
        given = {"people.csv": case.data, "job.yaml": case.job, **case.files}
        for name, content in given.items():
            if content is not None:
                self.write(name, content)

    def earlier_release(self, folder: str = "release") -> None:
        """Put something there that counts as an earlier release."""
        self.write(f"{folder}/public/manifest.json", '{"tarnkappe": "0", "file": "people.csv"}')
        self.write(f"{folder}/public/people.csv", "age\n[1 2]\n")

    def tarnkappe(self, *words: object) -> Seen:
        """Run a command in this process."""
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="tarnkappe")
        return Seen(result.exit_code, result.stdout, result.stderr)

    def start(self, *words: object, **settings: Any) -> subprocess.Popen[str]:
        """Start a command in a process of its own."""
        command = [sys.executable, "-m", "tarnkappe", *(str(word) for word in words)]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=self.folder, text=True, **{**pipes, **settings})

    def run(self, *words: object, **settings: Any) -> Seen:
        """Run a command in a process of its own."""
        with self.start(*words, **settings) as process:
            stdout, stderr = process.communicate(timeout=60)
        return Seen(process.returncode, stdout or "", stderr or "")

    def everything(self) -> dict[str, bytes | None]:
        """All files with their content and all folders, also the hidden ones."""
        found = sorted(self.folder.rglob("*"))
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes() if path.is_file() else None for path in found
        }


def assert_clear(seen: Seen, code: str, where: str | None, says: tuple[str, ...] = (), examples: int = 0) -> None:
    """One message, short, with what, where and a fix, and with no more of people than is allowed."""
    lines = seen.message
    text = "\n".join(lines)
    assert code in CODES
    assert seen.exit_code == EXIT_CODES[code[1]], text
    assert seen.stdout == ""
    assert lines[0].startswith(f"{code}  "), text
    assert [line[:4] for line in lines if re.match(r"[A-Z]\d{3}  ", line)] == [code]
    assert len(lines) <= MOST_LINES
    assert "Traceback" not in seen.stderr
    assert "internal error" not in seen.stderr
    if where is not None:
        assert lines[1].strip() == where
    fixes = [line.strip() for line in lines if line.strip().startswith("Fix:  ")]
    assert len(fixes) == 1, text
    assert len(fixes[0]) > len("Fix:  ")
    for words in says:
        assert words in text
    assert len(_VALUE_OF_A_PERSON.findall(text)) <= examples, text


def lay_down_power() -> None:
    """Make a child of root respect the rights of files as everybody else must, as far as that is possible.

    It keeps its user, who owns the interpreter and the packages, and loses the power to override permissions.
    """
    if sys.platform.startswith("linux") and os.geteuid() == 0:
        drop_from_bounding_set, override, read_search = 24, 1, 2
        for capability in (override, read_search):
            ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)

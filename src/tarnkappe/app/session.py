"""What the app knows between two clicks: the job and its history, the run, and the figures beside it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tarnkappe.app.commands import Command
from tarnkappe.app.editing import files_named
from tarnkappe.app.picker import Picker
from tarnkappe.app.running import Running
from tarnkappe.app.worker import AnswerError, Worker
from tarnkappe.errors import DataError, TarnkappeError
from tarnkappe.io import staged
from tarnkappe.io.source import unpacked_name
from tarnkappe.job.text import read_job_file, read_job_text
from tarnkappe.small_files import read_small

#: The folder of the made-up census, and how many people it has: enough to see something, few enough to be quick.
_EXAMPLE, _PEOPLE = "census-example", "5000"


@dataclass
class Session:
    """One user, one folder, one job at a time. Everything that matters lies in files, so nothing is lost with it."""

    picker: Picker
    looks: Worker = field(default_factory=Worker)
    counts: Worker = field(default_factory=Worker)
    #: The table that was looked at last, before there is a job for it.
    looked: dict[str, Any] | None = None
    path: Path | None = None
    history: list[str] = field(default_factory=list)
    at: int = 0
    #: What is known about the columns of the job's data.
    columns: list[dict[str, Any]] = field(default_factory=list)
    #: The roles that somebody said they have checked, and whether what is asked for was chosen.
    confirmed: dict[str, Any] | None = None
    chosen: bool = False
    figures: dict[str, Any] | None = None
    figures_of: str | None = None
    running: Running = field(init=False)
    _counting: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        """Nothing runs yet."""
        self.running = Running(self)

    @property
    def text(self) -> str:
        """The job file."""
        if self.path is None:
            raise DataError("E482", "there is no job yet", hint="Open data or a job file first.")
        return self.history[self.at]

    @property
    def data(self) -> dict[str, Any]:
        """The job file as plain data."""
        return read_job_text(self.text, "job")

    @property
    def folder(self) -> Path:
        """Where the job file lies."""
        return self.picker.root if self.path is None else self.path.parent

    @property
    def roles(self) -> dict[str, Any]:
        """The role of every column that the job names."""
        columns = self.data.get("columns") or {}
        return {name: body.get("role") if isinstance(body, dict) else body for name, body in columns.items()}

    async def warm(self) -> None:
        """Load what looks at data before anybody asks."""
        with contextlib.suppress(AnswerError):
            await self.looks.ask("ready")
            await self.counts.ask("ready")

    # Opening

    async def look(self, given: str, dialect: dict[str, Any]) -> dict[str, Any]:
        """Look at a table before anything is done with it."""
        path = self.picker.inside(given)
        stem = unpacked_name(path).stem
        folder = _unused(path.parent / f"{stem}-release")
        known = {k: v for k, v in dialect.items() if k in ("delimiter", "encoding", "decimal", "header") and v != ""}
        found = await self.looks.ask("look", path=str(path), data_path=path.name, folder=folder.name, dialect=known)
        self.looked = {**found, "path": given, "dialect": known}
        return {k: v for k, v in self.looked.items() if k != "text"}

    async def start(self) -> None:
        """Write a job file for the table that was looked at."""
        if self.looked is None:
            raise DataError("E482", "no table was looked at", hint="Choose a table first.")
        data = self.picker.inside(self.looked["path"])
        path = _unused(data.with_name(f"{unpacked_name(data).stem}.yaml"))
        text = self.looked["text"]
        if self.looked["dialect"]:
            from tarnkappe.app.editing import with_value

            for key, value in self.looked["dialect"].items():
                text = with_value(text, ["data", key], value)
        await self.running.cancel()
        self.columns = self.looked["columns"]
        self._begin(path, text)
        self._save()

    async def open(self, given: str) -> None:
        """Go on with a job file."""
        path = self.picker.inside(given)
        read_job_file(path)  # says at once what is wrong with it
        await self.running.cancel()
        self._begin(path, read_small(path).decode("utf-8-sig"))
        self.columns = []
        with contextlib.suppress(AnswerError):
            self.columns = await self.looks.ask("suggestions", text=self.text, folder=str(self.folder))
        await self.running.recall()

    async def example(self) -> None:
        """Open the job about a made-up census; it is written into a folder of its own when it is first asked for."""
        folder = self.picker.inside(_EXAMPLE)
        if not (folder / "job.yaml").is_file():
            words = ["demo", "--no-run", "--rows", _PEOPLE, "--folder", folder.name, "--json"]
            await Command(words, self.picker.root).run()
        await self.open(f"{_EXAMPLE}/job.yaml")

    def _begin(self, path: Path, text: str) -> None:
        self._require_inside(text, path.parent)
        self.path, self.history, self.at = path, [text], 0
        self.figures, self.figures_of = None, None
        self.confirmed, self.chosen = None, False
        self.running = Running(self)
        self._count()

    # Changing

    def change(self, text: str) -> None:
        """Make the job say something else; what comes before can be had back."""
        self._require_inside(text, self.folder)
        if text != self.text:
            self.history = [*self.history[: self.at + 1], text]
            self.at += 1
            self._save()
            self._count()

    def _require_inside(self, text: str, folder: Path) -> None:
        """Refuse a job that reads or writes outside the folder of the app."""
        for given in files_named(read_job_text(text, "job")):
            self.picker.inside(os.path.relpath(folder / given, self.picker.root))

    def move(self, steps: int) -> None:
        """Undo or redo."""
        at = min(max(self.at + steps, 0), len(self.history) - 1)
        if at != self.at:
            self.at = at
            self._save()
            self._count()

    def _save(self) -> None:
        assert self.path is not None
        with staged(self.path, overwrite=True) as unfinished:
            unfinished.write_bytes(self.text.encode("utf-8"))

    # Counting beside

    def _count(self) -> None:
        if self._counting is None or self._counting.done():
            self._counting = asyncio.create_task(self._keep_counting())

    async def _keep_counting(self) -> None:
        """Follow the job with its figures, as often as it has changed meanwhile."""
        while self.path is not None and self.figures_of != (asked := self.text):
            try:
                found = await self.counts.ask("figures", text=asked, folder=str(self.folder))
            except AnswerError as error:
                found = {"error": error.told}
            self.figures, self.figures_of = found, asked

    # Telling

    def state(self) -> dict[str, Any]:
        """All that a page shows around its middle; no value of the data is in it, but what the job file says."""
        told: dict[str, Any] = {"folder": self.picker.root.name, "job": None}
        if self.path is None:
            return told
        problem = None
        try:
            data = self.data
        except TarnkappeError as error:  # cannot happen: only what can be read becomes part of the history
            problem, data = error.as_dict(), {}
        figures = self.figures if self.figures_of is not None else None
        run = self.running.state()
        told |= {
            "job": {"name": self.path.name, "path": self.picker.name_of(self.path), "text": self.text, "data": data},
            "problem": problem,
            "columns": self.columns,
            "undo": self.at,
            "redo": len(self.history) - 1 - self.at,
            "confirmed": self.confirmed == self.roles,
            "figures": figures,
            "counting": self.figures_of != self.text,
            "run": run,
        }
        told["steps"] = self._steps(run)
        return told

    def _steps(self, run: dict[str, Any]) -> dict[str, str]:
        roles = self.roles
        open_ones = [c["name"] for c in self.columns if roles.get(c["name"], "undecided") == "undecided"]
        if self.data.get("rest"):
            open_ones = [name for name in open_ones if name in roles]
        confirmed = self.confirmed == roles and not open_ones
        failing = bool((self.figures or {}).get("error"))
        code = str(((self.figures or {}).get("error") or {}).get("code"))
        fresh = run["state"] == "done" and not run["stale"]
        return {
            "data": "done",
            "columns": "warn" if open_ones else "done" if confirmed else "now",
            "taxonomies": "warn" if failing and code.startswith("E2") else "done" if confirmed else "open",
            "protection": "warn" if failing and code.startswith("E3") else "done" if self.chosen else "open",
            "run": {"done": "done", "running": "now", "failed": "warn"}.get(run["state"], "open"),
            "result": "done" if fresh else "open",
            "release": "done" if run["written"] else "open",
        }

    async def close(self) -> None:
        """End what runs; what it was about to write never appears."""
        await self.running.cancel()
        if self._counting is not None:
            self._counting.cancel()
        await self.looks.close()
        await self.counts.close()


def _unused(path: Path) -> Path:
    """A name that nothing has yet."""
    candidate, n = path, 1
    while os.path.lexists(candidate):
        n += 1
        candidate = path.with_name(f"{path.stem}-{n}{path.suffix}")
    return candidate

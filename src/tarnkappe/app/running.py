"""A run of the job, from its start to the release.

The command writes a verified release into a hidden folder beside its later place. Publishing it is one rename, after
it was verified once more. So whatever is killed, there is a whole release or none; and a release that nobody has
published yet is found again when the job is opened.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarnkappe.app.commands import Command
from tarnkappe.app.worker import AnswerError
from tarnkappe.errors import DataError, RefusedError
from tarnkappe.io.folders import MANIFEST, PUBLIC
from tarnkappe.io.staging import exchange

if TYPE_CHECKING:
    from tarnkappe.app.session import Session


class Running:
    """What became of the last run of a job."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.status = "idle"
        self.progress: dict[str, Any] = {}
        self.result: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.of_text: str | None = None
        self.written: str | None = None
        self._command: Command | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def target(self) -> Path:
        """The folder that the release will have."""
        output = self.session.data.get("output") or {}
        given = str(output.get("folder") or "release") if isinstance(output, dict) else "release"
        path = Path(os.path.abspath(self.session.folder / given))  # noqa: PTH100 - links are looked at by the picker
        return self.session.picker.inside(os.path.relpath(path, self.session.picker.root))

    @property
    def prepared(self) -> Path:
        """The hidden folder beside it."""
        target = self.target
        return target.with_name(f".{target.name}.prepared")

    def state(self) -> dict[str, Any]:
        """All of it, for the page."""
        known = self.status == "done"
        return {
            "state": self.status,
            "progress": self.progress,
            "can_keep": self._can_keep(),
            "error": self.error,
            "result": self.result,
            "stale": known and self.of_text != self.session.text,
            "written": self.written,
        }

    def start(self, seed: int | None) -> None:
        """Start the command; the page hears about it by asking."""
        if self.status == "running":
            raise DataError("E483", "a run is going on", hint="Wait for it, or cancel it.")
        session, text = self.session, self.session.text  # which says if there is no job
        assert session.path is not None
        words = ["run", session.path.name, "--json", "--progress", "json", "--overwrite"]
        words += ["--output", str(self.prepared), *([] if seed is None else ["--seed", str(seed)])]
        self.status, self.progress, self.error, self.result, self.written = "running", {}, None, None, None
        self.of_text = text
        self._command = Command(words, session.folder, self._heard)
        self._task = asyncio.create_task(self._follow(self._command))

    async def _follow(self, command: Command) -> None:
        try:
            self.result = await command.run()
            self.status = "done"
        except AnswerError as error:
            self.status = "cancelled" if command.cancelled else "failed"
            self.error = None if command.cancelled else error.told

    def _heard(self, told: dict[str, Any]) -> None:
        if told["event"] == "phase":
            self.progress = told
        else:
            self.progress = {**self.progress, **{k: v for k, v in told.items() if k != "event"}}

    async def cancel(self) -> None:
        """End the run; nothing of it stays."""
        if self._command is not None and self.status == "running":
            await self._command.cancel()
        if self._task is not None:
            await self._task

    def keep_best(self) -> None:
        """End the search with the best groups so far; they are written and verified like any others."""
        if self._command is None or not self._can_keep():
            raise DataError("E483", "nothing is being searched now", hint="Wait for the run, or cancel it.")
        self._command.hurry()

    def _can_keep(self) -> bool:
        """Whether a search goes on that listens; on Windows none does."""
        return hasattr(signal, "SIGUSR1") and self.status == "running" and self.progress.get("phase") == "decide"

    async def recall(self) -> None:
        """Find a release that was made earlier and not published yet."""
        session = self.session
        try:
            prepared = self.prepared
            given = {"text": session.text, "folder": str(session.folder), "release": str(prepared)}
            found = await session.looks.ask("prepared", **given) if prepared.is_dir() else None
        except (AnswerError, DataError):
            return
        if found is not None:
            self.status, self.result = "done", found["result"]
            self.of_text = session.text if found["same"] else None

    def release(self) -> Path:
        """Where the release lies that a page may look into: published, or still hidden."""
        prepared = self.prepared
        return prepared if self.written is None and prepared.is_dir() else self.target

    async def publish(self, *, overwrite: bool) -> None:
        """Verify what was written once more, and give it its name."""
        prepared, target = self.prepared, self.target
        if self.status != "done" or self.of_text != self.session.text or not prepared.is_dir():
            raise DataError("E484", "the job has changed since it ran", hint="Run it again, then write the release.")
        exists = target.is_dir() and any(target.iterdir())
        ours = (target / PUBLIC / MANIFEST).is_file()
        if (target.exists() and not target.is_dir()) or (exists and not (ours and overwrite)):
            way = "Replace it, or name another folder on this page." if ours else "Name another folder on this page."
            raise RefusedError("E601", f"'{target.name}' exists already", where=target.name, hint=way)
        found = await Command(["verify", str(prepared), "--json"], self.session.folder).run()
        if found.get("ok") is not True:
            raise DataError("E485", "the release does not verify any more: it was changed", hint="Run the job again.")
        if exists and exchange(prepared, target):
            shutil.rmtree(prepared, ignore_errors=True)
        elif exists:
            old = target.with_name(f".{target.name}.replaced")
            target.rename(old)
            prepared.rename(target)
            shutil.rmtree(old, ignore_errors=True)
        else:
            prepared.rename(target)
        self.written = self.session.picker.name_of(target)

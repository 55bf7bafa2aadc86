"""Questions of the page that change nothing: files, columns, reasons, and the commands that only look."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tarnkappe.app.commands import Command
from tarnkappe.app.drops import Drops
from tarnkappe.app.editing import with_comments
from tarnkappe.app.session import Session
from tarnkappe.errors import DataError

Question = Callable[[dict[str, Any]], Awaitable[Any]]


class Asking:
    """Answers from the workers and from commands of the command line."""

    def __init__(self, session: Session, drops: Drops) -> None:
        self.session, self.drops = session, drops
        self._commands: set[Command] = set()
        self.questions: dict[str, Question] = {
            "files": self._files,
            "recent": self._recent,
            "look": self._look,
            "column": self._column,
            "combinations": self._combinations,
            "covers": self._covers,
            "export": self._export,
            "beside": self._beside,
            "why": self._why,
            "solutions": self._solutions,
            "advise": self._advise,
            "compare": self._compare,
            "choose": self._choose,
            "risk": self._risk,
            "utility": self._utility,
            "verify": self._verify,
            "attack": self._attack,
            "trace": self._trace,
            "stop": self._stop,
        }

    async def _files(self, given: dict[str, Any]) -> Any:
        return await asyncio.to_thread(self.session.picker.listed, str(given.get("in", "")))

    async def _recent(self, given: dict[str, Any]) -> Any:
        return await asyncio.to_thread(self.session.picker.recent)

    async def _look(self, given: dict[str, Any]) -> Any:
        return await self.session.look(str(given["path"]), dict(given.get("dialect") or {}))

    def _job(self) -> dict[str, str]:
        return {"text": self.session.text, "folder": str(self.session.folder)}

    async def _column(self, given: dict[str, Any]) -> Any:
        return await self.session.counts.ask("column", **self._job(), name=str(given["name"]))

    async def _combinations(self, given: dict[str, Any]) -> Any:
        return await self.session.counts.ask("combinations", **self._job())

    async def _covers(self, given: dict[str, Any]) -> Any:
        path = self.session.picker.inside(str(given["path"]))
        return await self.session.counts.ask("covers", **self._job(), name=str(given["name"]), path=str(path))

    async def _export(self, given: dict[str, Any]) -> Any:
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in str(given["name"])) or "column"
        path = self.session.picker.inside(
            self.session.picker.name_of(self.session.folder / "taxonomies" / f"{stem}.csv")
        )
        told = await self.session.counts.ask("export", **self._job(), name=str(given["name"]), path=str(path))
        return {**told, "path": self.session.picker.name_of(path)}

    async def _beside(self, given: dict[str, Any]) -> Any:
        return await self.session.looks.ask("beside", release=str(self.session.running.release()))

    async def _why(self, given: dict[str, Any]) -> Any:
        asked = {"group": int(given["group"]), "name": str(given["name"])}
        return await self.session.looks.ask("why", release=str(self.session.running.release()), **asked)

    async def _solutions(self, given: dict[str, Any]) -> Any:
        return await self.session.counts.ask("solutions", **self._job())

    # Commands

    async def _command(self, *words: str) -> Any:
        """Run a command that only looks."""
        command = Command([*words, "--json"], self.session.folder)
        self._commands.add(command)
        try:
            return await command.run()
        finally:
            self._commands.discard(command)

    async def _stop(self, given: dict[str, Any]) -> Any:
        """End all commands that only look."""
        for command in list(self._commands):
            await command.cancel()
        return {}

    async def close(self) -> None:
        """Nobody waits for an answer any more."""
        await self._stop({})

    def _job_file(self) -> str:
        if self.session.path is None:
            raise DataError("E482", "there is no job yet", hint="Open data or a job file first.")
        return self.session.path.name

    async def _advise(self, given: dict[str, Any]) -> Any:
        return await self._command("advise", self._job_file(), "--no-levels", "--quiet")

    def _compared(self, given: dict[str, Any]) -> list[str]:
        words = ["compare", self._job_file(), "--quiet"]
        if given.get("algorithms"):
            words += ["--algorithms", ",".join(str(a) for a in given["algorithms"])]
        for key, values in (given.get("vary") or {}).items():
            words += ["--vary", f"{key}={','.join(str(v) for v in values)}"]
        return words

    async def _compare(self, given: dict[str, Any]) -> Any:
        return await self._command(*self._compared(given), "--processes", "2", "--overwrite")

    async def _choose(self, given: dict[str, Any]) -> Any:
        """The point of a comparison becomes the job."""
        point = str(int(given["point"]))
        found = await self._command(*self._compared(given), "--choose", point, "--overwrite")
        chosen = self.session.folder / Path(found["job"]).name
        self.session.change(with_comments(chosen.read_text("utf-8"), self.session.text))
        chosen.unlink()
        return self.session.state()

    async def _risk(self, given: dict[str, Any]) -> Any:
        """The risk of the original, and that of the release."""
        release = str(self.session.running.release())
        data = str((self.session.data.get("data") or {}).get("path"))
        job = ["--job", self._job_file()]
        before = await self._command("risk", data, *job)
        return {"before": before, "after": await self._command("risk", release)}

    async def _utility(self, given: dict[str, Any]) -> Any:
        data = str((self.session.data.get("data") or {}).get("path"))
        return await self._command("utility", data, str(self.session.running.release()))

    # Files of others

    def _chosen(self, given: dict[str, Any]) -> str:
        word = given.get("dropped")
        path = self.drops.path(str(word)) if word else self.session.picker.inside(str(given["path"]))
        if path is None:
            raise DataError("E481", "the dropped file is gone", hint="Drop it again.")
        return str(path)

    async def _verify(self, given: dict[str, Any]) -> Any:
        words = ["verify", self._chosen(given)]
        for option in ("quasi", "sensitive"):
            words += [f"--{option}={name}" for name in given.get(option) or ()]
        for option in ("k", "l", "t"):
            if given.get(option) not in (None, ""):
                words.append(f"--{option}={float(given[option]):g}")
        try:
            return await self._command(*words)
        finally:
            if given.get("dropped"):
                self.drops.forget(str(given["dropped"]))

    async def _attack(self, given: dict[str, Any]) -> Any:
        return await self._command("attack", "all", self._chosen(given))

    async def _trace(self, given: dict[str, Any]) -> Any:
        inside = self.session.picker.inside
        words = ["--plan", str(inside(str(given["plan"]))), "--key", str(inside(str(given["key"])))]
        return await self._command("fingerprint", "trace", self._chosen(given), *words)

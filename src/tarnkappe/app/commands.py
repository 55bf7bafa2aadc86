"""Commands of the command line, run as it would run them, each in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tarnkappe.app.worker import AnswerError

#: So long a process may take to end in order before it is killed; either way no release is left half written.
_PATIENCE = 10.0


@dataclass(eq=False)
class Command:
    """A command that runs, or has run; `told` is the last line of its progress."""

    words: Sequence[str]
    folder: Path
    heard: Callable[[dict[str, Any]], None] | None = None
    cancelled: bool = False
    exit_code: int | None = None
    _process: asyncio.subprocess.Process | None = field(default=None, repr=False)

    async def run(self) -> Any:
        """Run it to its end: the JSON document that it printed, also if it said no (as ``verify`` does)."""
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tarnkappe",
            *self.words,
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=1 << 20,
            start_new_session=True,  # an interruption of the app is not one of the command; the app ends it in order
        )
        assert process.stdout is not None
        assert process.stderr is not None
        if self.cancelled:
            await self.cancel()
        said, _ = await asyncio.gather(process.stdout.read(), self._follow(process.stderr))
        self.exit_code = await process.wait()
        return self._answer(said.decode("utf-8", "replace"))

    async def cancel(self) -> None:
        """Ask the process to end, and end it if it does not listen."""
        self.cancelled = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()

    def hurry(self) -> None:
        """Ask a run to end its search with the best so far, and go on; only one that has told of a phase listens."""
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGUSR1)

    async def _follow(self, lines: asyncio.StreamReader) -> None:
        """Hear what is said about progress; anything else is read and forgotten, it may be about data."""
        async for line in lines:
            with contextlib.suppress(ValueError):
                told = json.loads(line)
                if isinstance(told, dict) and "event" in told and self.heard is not None:
                    self.heard(told)

    def _answer(self, said: str) -> Any:
        try:
            answer = json.loads(said)
        except ValueError:
            code = "cancelled" if self.cancelled else "killed"
            raise AnswerError({"code": code, "message": f"the command ended without a result: {code}"}) from None
        if isinstance(answer, dict) and "error" in answer:
            error = answer["error"]
            if isinstance(error, dict):
                raise AnswerError(error)
        return answer

"""The process that looks at data for the app: one question per line comes in, one answer per line goes out.

The process that serves the page never holds a record. This one can be ended, or run out of memory, without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import Any

from tarnkappe.errors import LimitError, TarnkappeError

#: An answer is one line, and no line is longer than this.
_LONGEST_LINE = 64 << 20


class AnswerError(Exception):
    """What a command or a worker says went wrong, as plain data."""

    def __init__(self, told: dict[str, Any]) -> None:
        """Keep what was told."""
        super().__init__(str(told.get("code")))
        self.told = told


class Worker:
    """A process that answers one question after the other; started with the first, and again if it has ended."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, what: str, **given: Any) -> Any:
        """The answer to a question."""
        async with self._turn:
            process = await self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            line = ""
            with contextlib.suppress(ConnectionError, BrokenPipeError):
                process.stdin.write((json.dumps({"do": what, "given": given}) + "\n").encode())
                await process.stdin.drain()
                line = (await process.stdout.readline()).decode()
            if not line:
                await self._forget()
                gone = LimitError("E702", "the process that looks at the data has ended, probably for lack of memory")
                raise AnswerError(gone.as_dict())
        told = json.loads(line)
        if "error" in told:
            raise AnswerError(told["error"])
        return told["answer"]

    async def close(self) -> None:
        """End the process."""
        await self._forget()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tarnkappe.app.worker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,  # nothing about data is ever logged
                limit=_LONGEST_LINE,
                start_new_session=True,
            )
        return self._process

    async def _forget(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _answer(line: str) -> dict[str, Any]:
    """What one question is answered with; whatever goes wrong is an answer too."""
    from tarnkappe.app.questions import QUESTIONS

    asked = json.loads(line)
    try:
        return {"answer": QUESTIONS[asked["do"]](**asked["given"])}
    except TarnkappeError as error:
        return {"error": error.as_dict()}
    except MemoryError:
        return {"error": LimitError("E702", "not enough memory").as_dict()}
    except Exception as error:  # its words may quote data
        return {"error": {"code": "internal", "message": f"{type(error).__name__} in {asked['do']}: a bug"}}


def main() -> None:
    """Answer until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no answer
    for line in sys.stdin:
        answers.write(json.dumps(_answer(line), default=str) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

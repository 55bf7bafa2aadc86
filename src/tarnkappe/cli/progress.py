"""Tells what is going on: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import json
import signal
import threading
import time
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tarnkappe.cli import screen
from tarnkappe.cli.root import Stopped
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: The phases of a run in words.
PHASES = {
    "read": "reading and counting",
    "decide": "forming groups",
    "write": "rewriting the records",
    "verify": "reading back and verifying",
    "attack": "attacking the release",
    "report": "writing the reports",
}

#: Phases of other commands.
_FURTHER = {"compare": "trying jobs", "advise": "trying changes"}

#: Phases that do not go through records.
_BESIDE_RECORDS = ("decide", *_FURTHER)

#: How often a bar, or a line, says how far a phase has come.
_BAR_SECONDS, _LINE_SECONDS = 0.5, 10.0

#: How progress may be told: to people, or as one JSON line per step to a program.
STYLES = ("text", "json")

PREPARING = "preparing kernels (first run only)"


class Working:
    """Shows the phases of a piece of work on stderr; call it with the name of each phase as it begins."""

    def __init__(self, *phases: str, quiet: bool = False, style: str = "text") -> None:
        """The `phases` to come; `style` is text, or json for one JSON line per step instead."""
        if style not in STYLES:
            raise JobError("E108", f"progress is told as {' or '.join(STYLES)}", hint="--progress json")
        self.phases = phases or tuple(PHASES)
        self.quiet = quiet
        self.as_json = style == "json"
        self.console = screen.stderr()
        self._stack = ExitStack()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._begun = 0
        self._phase, self._counts_records = "", True
        self._told = 0.0
        self._counting: tuple[float, int] | None = None
        self._prepared = False
        self._hurried = False

    def __enter__(self) -> Self:
        if hasattr(signal, "SIGUSR1") and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGUSR1, self._hurry)
            self._stack.callback(signal.signal, signal.SIGUSR1, signal.SIG_IGN)  # who asks too late ends nothing
        if self.quiet:
            return self
        self._stack.enter_context(_compilations(self))
        if self.console.is_terminal and not self.as_json:
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), BarColumn(24), TimeElapsedColumn(), TextColumn("{task.description}"))
            self._bar = self._stack.enter_context(Progress(*columns, console=self.console, transient=True))
            self._task = self._bar.add_task("", total=len(self.phases))
        return self

    def hurried(self) -> bool:
        """Whether somebody has asked by SIGUSR1 to end the search with the best so far."""
        return self._hurried

    def _hurry(self, *_: object) -> None:
        self._hurried = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def __call__(self, phase: str) -> None:
        """A phase begins, unless somebody asked to stop and was not heard."""
        if Stopped.asked is not None:
            raise Stopped.asked
        self._phase = {**PHASES, **_FURTHER}.get(phase, phase)
        self._counts_records = phase not in _BESIDE_RECORDS
        self._told, self._counting = time.monotonic(), None
        self._tell(event="phase", phase=phase, words=self._phase, number=self._begun + 1, of=len(self.phases))
        self._say(self._phase, self._begun)
        self._begun += 1

    def step(self, done: int, total: int) -> None:
        """A long phase has come so far: says at what rate it goes and how long it will still take."""
        if Stopped.asked is not None:
            raise Stopped.asked
        now = time.monotonic()
        if self._counting is None:  # what came before, such as compiling kernels, says nothing about the rate
            self._counting = now, done
        since, before = self._counting
        patience = _BAR_SECONDS if self._bar is not None or self.as_json else _LINE_SECONDS
        if now - self._told < patience or done == before:
            return
        self._told = now
        rate = (done - before) / (now - since)
        left = (total - done) / rate
        self._tell(event="step", done=done, total=total, seconds_left=round(left, 1))
        speed = f", {rate / 1e6:.1f} million records/s" if self._counts_records else ""
        words = f"{self._phase}: {done / total:.0%}{speed}, {_duration(left)} left"
        self._say(words, max(self._begun - 1, 0))

    def preparing(self) -> None:
        """Kernels are being compiled, which takes a while and happens once; a bar says so as long as it lasts."""
        if self._bar is not None or not self._prepared:
            self._prepared = True
            self._tell(event="preparing", words=PREPARING)
            self._say(PREPARING, max(self._begun - 1, 0))

    def prepared(self) -> None:
        """A kernel is ready."""
        if self._bar is not None:
            self._say(self._phase, max(self._begun - 1, 0))

    def _tell(self, **facts: object) -> None:
        """One line for a program that watches."""
        if self.as_json and not self.quiet:
            self.console.print(json.dumps(facts), soft_wrap=True, markup=False, highlight=False)

    def _say(self, words: str, done: int) -> None:
        if self.quiet or self.as_json:
            return
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=screen.clean(words), completed=done)
        else:
            self.console.print(f"  {screen.clean(words)} …", soft_wrap=True)


def _duration(seconds: float) -> str:
    """A time to wait in words.

    >>> _duration(75)
    '1 min 15 s'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _compilations(working: Working) -> ExitStack:
    """Listens for kernels that are compiled because no earlier run has left them in the cache."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:
            working.preparing()

        def on_end(self, event: object) -> None:
            working.prepared()

    stack = ExitStack()
    stack.enter_context(event.install_listener("numba:compile", Listener()))
    return stack

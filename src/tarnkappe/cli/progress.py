"""Tells what is going on: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tarnkappe.cli import screen
from tarnkappe.cli.root import Stopped

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: The phases of a run in words.
PHASES = {
    "read": "reading and counting",
    "decide": "forming groups",
    "write": "rewriting the records",
    "verify": "reading back and verifying",
    "report": "writing the reports",
}

PREPARING = "preparing kernels (first run only)"


class Working:
    """Shows the phases of a piece of work on stderr; call it with the name of each phase as it begins."""

    def __init__(self, *phases: str, quiet: bool = False) -> None:
        self.phases = phases or tuple(PHASES)
        self.quiet = quiet
        self.console = screen.stderr()
        self._stack = ExitStack()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._begun = 0
        self._phase = ""
        self._prepared = False

    def __enter__(self) -> Self:
        if self.quiet:
            return self
        self._stack.enter_context(_compilations(self))
        if self.console.is_terminal:
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), BarColumn(24), TimeElapsedColumn(), TextColumn("{task.description}"))
            self._bar = self._stack.enter_context(Progress(*columns, console=self.console, transient=True))
            self._task = self._bar.add_task("", total=len(self.phases))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def __call__(self, phase: str) -> None:
        """A phase begins, unless somebody asked to stop and was not heard."""
        if Stopped.asked is not None:
            raise Stopped.asked
        self._phase = PHASES.get(phase, phase)
        self._say(self._phase, self._begun)
        self._begun += 1

    def preparing(self) -> None:
        """Kernels are being compiled, which takes a while and happens once; a bar says so as long as it lasts."""
        if self._bar is not None or not self._prepared:
            self._prepared = True
            self._say(PREPARING, max(self._begun - 1, 0))

    def prepared(self) -> None:
        """A kernel is ready."""
        if self._bar is not None:
            self._say(self._phase, max(self._begun - 1, 0))

    def _say(self, words: str, done: int) -> None:
        if self.quiet:
            return
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=screen.clean(words), completed=done)
        else:
            self.console.print(f"  {screen.clean(words)} …", soft_wrap=True)


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

"""The phases of a run: who is told about them, and how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tarnkappe.io.cells import Step

#: Called with the name of each phase as it begins; if it has a method `step`, that hears how far a phase has come.
Progress = Callable[[str], None]


@dataclass
class Phases:
    """Tells the caller about each phase and remembers how long it took."""

    progress: Progress | None
    seconds: dict[str, float] = field(default_factory=dict)
    _phase: str | None = None
    _since: float = 0.0

    @property
    def step(self) -> Step | None:
        """What is told how far a phase has come, if the caller wants to know."""
        return getattr(self.progress, "step", None)

    @property
    def hurried(self) -> Callable[[], bool] | None:
        """Whether the caller wants the best so far instead of the end of a search, if it can say so."""
        return getattr(self.progress, "hurried", None)

    def begin(self, phase: str | None) -> None:
        """A phase begins, and the one before it is over; None ends the last one."""
        now = time.perf_counter()
        if self._phase is not None:
            self.seconds[self._phase] = round(now - self._since, 3)
        self._phase, self._since = phase, now
        if phase is not None and self.progress is not None:
            self.progress(phase)

"""Who looks after a search while it goes on: how far it has come, and whether its time is over."""

from __future__ import annotations

import time
from collections.abc import Callable


class TimeOver(Exception):  # noqa: N818  # no error: whoever has a result goes on with it
    """The time for a search is over while it had no result to end with."""


class Watch:
    """Hears how far a search has come and, if it was given a time, says when that is over.

    A search asks `over` wherever it has a valid result and could go on; whoever ends because of it returns the best so
    far. Then `stopped` is true, and the result depends on the machine. A search that has nothing to end with is ended
    by `pause`, once: whoever catches that may still ask about groups.

    >>> watch = Watch(seconds=0.0)
    >>> watch.over, watch.stopped
    (True, True)
    """

    def __init__(
        self,
        step: Callable[[int, int], None] | None = None,
        seconds: float | None = None,
        hurried: Callable[[], bool] | None = None,
    ) -> None:
        """`hurried` says whether somebody wants the best so far, whatever time is left."""
        self._step = step
        self._end = None if seconds is None else time.monotonic() + seconds
        self._hurried = hurried
        self.stopped = False

    def tell(self, done: int, total: int) -> None:
        """So much of the work is done."""
        if self._step is not None:
            self._step(done, total)

    @property
    def over(self) -> bool:
        """Whether the search must end now with what it has."""
        if (self._end is not None and time.monotonic() >= self._end) or self.hurried:
            self.stopped = True
        return self.stopped

    @property
    def hurried(self) -> bool:
        """Whether somebody wants the best so far."""
        return self._hurried is not None and self._hurried()

    def pause(self) -> None:
        """A piece of work is done; ends the search by `TimeOver` if the time is over and nobody was told yet."""
        if not self.stopped and self.over:
            raise TimeOver


#: Nobody looks: no time limit, and nobody to tell.
NOBODY = Watch()

"""Runs a kernel over a range of work in several threads; kernels release the interpreter lock.

Whoever waits for a thread may be stopped at any moment, by a signal whose handler raises, and the process must be able
to end nevertheless. So nothing passes between threads but through queues that no interruption leaves locked, and no
thread keeps the process from ending.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import islice, pairwise
from queue import Empty, SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, Generic, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")

#: Below this much work (pieces, rows) a second thread costs more than it gains.
_SMALL = 1 << 15

_NAME = "tarnkappe"

#: How much nicer a thread is that gives way: it gets about a third of what others get of a busy processor, so that on a
#: busy machine nobody waits for it long after the rest is done.
_GIVING_WAY = 5


class Pending(Generic[R]):
    """What another thread does, and what comes of it."""

    def __init__(self, task: Callable[[], R]) -> None:
        """Nothing is done yet."""
        self._task: Callable[[], R] | None = task
        self._outcome: Callable[[], R] | None = None
        self._done: SimpleQueue[None] = SimpleQueue()

    def work(self) -> None:
        """Do it, unless nobody wants it any more; in the other thread."""
        task, self._task = self._task, None
        if task is None:
            return
        try:
            result = task()
            self._outcome = lambda: result
        except BaseException as error:
            self._outcome = partial(_fail, error)
        self._done.put(None)

    def work_aside(self) -> None:
        """Do it at a lower priority, which on Linux is that of this thread alone."""
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.nice(0) + _GIVING_WAY)
        self.work()

    def forget(self) -> None:
        """Do not begin, if it is not begun."""
        self._task = None

    def wait(self) -> None:
        """Come back when it is done, well or not."""
        if self._outcome is None:
            self._done.get()

    def result(self) -> R:
        """What came of it, or the error that it ended in."""
        self.wait()
        assert self._outcome is not None
        return self._outcome()


def _fail(error: BaseException) -> NoReturn:
    raise error


class _Pool:
    """As many threads as there are processors; they wait for tasks until the process ends."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Pending[Any] | None] = SimpleQueue()
        self._threads: list[Thread] = []
        atexit.register(self._close)
        for i in range(os.cpu_count() or 1):
            thread = Thread(target=self._serve, name=f"{_NAME}_{i}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def each(self, task: Callable[[T], R], items: Iterable[T], most: int | None = None) -> Iterator[R]:
        """Begin a task for every item, and no more than so many before a result is taken; their results, in order."""
        left = (Pending(partial(task, item)) for item in items)
        begun = deque(islice(left, most))
        for pending in begun:
            self._tasks.put(pending)
        return self._results(begun, left)

    def _results(self, begun: deque[Pending[R]], left: Iterator[Pending[R]]) -> Iterator[R]:
        try:
            while begun:
                result = begun.popleft().result()
                for pending in islice(left, 1):
                    begun.append(pending)
                    self._tasks.put(pending)
                yield result
                del result  # and what it holds, while the next one is not there
        finally:
            for pending in begun:
                pending.forget()

    def _serve(self) -> None:
        while (pending := self._tasks.get()) is not None:
            pending.work()
            del pending  # and what it holds, while there is nothing to do

    def _close(self) -> None:
        """Let the threads finish what they are at; code they run must not vanish under them."""
        with contextlib.suppress(Empty):
            while True:
                self._tasks.get_nowait()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join()


@cache
def _pool() -> _Pool:
    return _Pool()


if hasattr(os, "register_at_fork"):  # threads do not go along into a forked process, which would wait for them for ever
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _in_pool() -> bool:
    """Whether this is a thread of the pool: it must not wait for others, which may all be waiting too."""
    return threading.current_thread().name.startswith(f"{_NAME}_")


def share_out(task: Callable[[int, int], None], work: NDArray[np.int64]) -> None:
    """Call ``task(begin, end)`` for ranges that cover all items and hold about equal work each.

    `work` is the cumulated work: item ``i`` costs ``work[i + 1] - work[i]``.
    """
    n, total = len(work) - 1, int(work[-1] - work[0])
    workers = os.cpu_count() or 1
    if n < 2 or total < _SMALL or workers == 1 or _in_pool():
        task(0, n)
        return
    shares = work[0] + np.arange(1, 2 * workers) * (total / (2 * workers))
    bounds = np.unique(np.concatenate([[0], np.searchsorted(work, shares), [n]]))
    map_threads(lambda ends: task(*ends), pairwise(bounds.tolist()))


def share_evenly(task: Callable[[int, int], None], n: int) -> None:
    """The same for `n` items that cost the same each."""
    workers = os.cpu_count() or 1
    if n < _SMALL or workers == 1 or _in_pool():
        task(0, n)
        return
    bounds = [n * i // (2 * workers) for i in range(2 * workers + 1)]
    map_threads(lambda ends: task(*ends), pairwise(bounds))


def map_threads(task: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Apply a function that spends its time outside the interpreter lock to all items; results in their order."""
    return list(each_in_threads(task, items))


def each_in_threads(task: Callable[[T], R], items: Iterable[T], most: int | None = None) -> Iterator[R]:
    """The same, each result as soon as it and those before it are there; no more than so many wait to be taken."""
    return map(task, items) if _in_pool() else _pool().each(task, items, most)


def in_background(task: Callable[[], R], *, giving_way: bool = False) -> Pending[R]:
    """Do something beside the work at hand; it does not keep the process from ending.

    What is `giving_way` gets less of a processor that others want, too. Threads that it starts would do so for ever.
    """
    pending = Pending(task)
    Thread(target=pending.work_aside if giving_way else pending.work, daemon=True).start()
    return pending


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The items; each is made ready while the one before it is used."""
    left = iter(items)
    nothing: Any = object()
    coming = in_background(partial(next, left, nothing))
    while (item := coming.result()) is not nothing:
        coming = in_background(partial(next, left, nothing))
        yield item


class Aside:
    """Does one thing after another beside the work at hand, in their order; all are done when it is left."""

    def __init__(self) -> None:
        """Nothing is begun yet."""
        self._begun: Pending[object] | None = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, task: Callable[[], object]) -> None:
        """Begin it as soon as the one before is done, and done well."""
        if self._begun is not None:
            self._begun.result()
        self._begun = in_background(task)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._begun is None:
            return
        self._begun.wait()
        if kind is None:
            self._begun.result()

"""Runs a kernel over a range of work in several threads; kernels release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from threading import Thread
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")

#: Below this much work (pieces, rows) a second thread costs more than it gains.
_SMALL = 1 << 15

_NAME = "tarnkappe"


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix=_NAME)


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
    futures = [_pool().submit(task, int(a), int(b)) for a, b in pairwise(bounds)]
    for future in futures:
        future.result()


def map_threads(task: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Apply a function that spends its time outside the interpreter lock to all items; results in their order."""
    return list(each_in_threads(task, items))


def each_in_threads(task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The same, each result as soon as it and those before it are there."""
    return map(task, items) if _in_pool() else _pool().map(task, items)


def in_background(task: Callable[[], R]) -> Future[R]:
    """Do something beside the work at hand; it does not keep the process from ending."""
    future: Future[R] = Future()

    def work() -> None:
        try:
            future.set_result(task())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=work, daemon=True).start()
    return future

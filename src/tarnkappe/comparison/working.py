"""Processes that measure points side by side. Nothing heavy is imported before a process knows how it may work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tarnkappe.comparison.grid import Point
    from tarnkappe.comparison.measuring import Measured, Measurer

#: Libraries that would otherwise take all cores in every process.
_THREADS = ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")

#: What this process measures with, once it has begun.
_MEASURERS: list[Measurer] = []


def side_by_side(points: Sequence[tuple[str, Point]], data: Any, n_processes: int) -> Iterator[Measured]:
    """Measure points in several processes, whichever is done first; if nobody wants more, no further one is begun."""
    pool = ProcessPoolExecutor(n_processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(data,))
    try:
        waiting = [pool.submit(_measure, key, point) for key, point in points]
        for done in as_completed(waiting):
            yield done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(data: Any) -> None:
    """One thread for everything: there are as many processes as cores."""
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    from tarnkappe.comparison.measuring import Measurer

    _MEASURERS[:] = [Measurer(data)]


def _measure(key: str, point: Point) -> Measured:
    (measurer,) = _MEASURERS
    return measurer.measure(point, key)

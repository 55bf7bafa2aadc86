"""Processes that measure points side by side. Nothing heavy is imported before a process knows how it may work."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING, Any

from tarnkappe.errors import LimitError

if TYPE_CHECKING:
    from tarnkappe.comparison.grid import Point
    from tarnkappe.comparison.measuring import Measured, Measurer

#: Libraries that would otherwise take all cores in every process.
_THREADS = ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")

#: What this process measures with, once it has begun.
_MEASURERS: list[Measurer] = []


def side_by_side(points: Sequence[tuple[str, Point]], data: Any, n_processes: int) -> Generator[Measured]:
    """Measure points in several processes, whichever is done first; if nobody wants more, no further one is begun."""
    others = {child.pid for child in active_children()}
    pool = ProcessPoolExecutor(n_processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(data,))
    try:
        waiting = [pool.submit(_measure, key, point) for key, point in points]
        for done in as_completed(waiting):
            yield done.result()
    except BrokenProcessPool as error:
        raise LimitError(
            "E702",
            "a process that measured was ended from outside, perhaps because memory was short",
            hint="--processes 1   (what is measured is kept; start again to go on)",
        ) from error
    except BaseException:  # nobody wants what is being measured
        pool.shutdown(wait=False, cancel_futures=True)
        for child in active_children():
            if child.pid not in others:
                child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(data: Any) -> None:
    """One thread for everything: there are as many processes as cores."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it is asked to stop, and stops it
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    from tarnkappe.comparison.measuring import Measurer

    _MEASURERS[:] = [Measurer(data)]


def _measure(key: str, point: Point) -> Measured:
    (measurer,) = _MEASURERS
    return measurer.measure(point, key)

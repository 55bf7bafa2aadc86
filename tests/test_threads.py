"""Work shared out to threads, also from inside a thread of the same pool."""

from __future__ import annotations

import os

import numpy as np

from tarnkappe.threads import map_threads, share_out


def squares(n: int) -> list[int]:
    out = np.zeros(n, np.int64)

    def task(begin: int, end: int) -> None:
        out[begin:end] = np.arange(begin, end) ** 2

    share_out(task, np.arange(n + 1, dtype=np.int64))
    return out.tolist()


def test_all_ranges_are_covered():
    n = 100_000
    assert squares(n) == [i * i for i in range(n)]


def test_results_come_in_order():
    assert map_threads(lambda x: -x, range(100)) == [-x for x in range(100)]


def test_tasks_may_share_out_work_themselves():
    """Were all threads to wait for others of the same pool, nobody would ever work."""
    tasks = 4 * (os.cpu_count() or 1)
    assert map_threads(lambda _: len(squares(100_000)), range(tasks)) == [100_000] * tasks
    assert map_threads(lambda x: map_threads(lambda y: x * y, range(3)), range(tasks)) == [
        [0, x, 2 * x] for x in range(tasks)
    ]

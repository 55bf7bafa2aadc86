"""Work shared out to threads, also from inside a thread of the same pool."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from tarnkappe.threads import Aside, ahead, in_background, map_threads, share_evenly, share_out


def squares(n: int) -> list[int]:
    out = np.zeros(n, np.int64)

    def task(begin: int, end: int) -> None:
        out[begin:end] = np.arange(begin, end) ** 2

    share_out(task, np.arange(n + 1, dtype=np.int64))
    return out.tolist()


def test_all_ranges_are_covered():
    n = 100_000
    assert squares(n) == [i * i for i in range(n)]


@pytest.mark.parametrize("n", [0, 1, 10, 100_003])
def test_items_that_cost_the_same_are_shared_evenly(n: int):
    times = np.zeros(n, np.int64)

    def task(begin: int, end: int) -> None:
        times[begin:end] += 1

    share_evenly(task, n)
    assert (times == 1).all()


def test_results_come_in_order():
    assert map_threads(lambda x: -x, range(100)) == [-x for x in range(100)]


def test_tasks_may_share_out_work_themselves():
    """Were all threads to wait for others of the same pool, nobody would ever work."""
    tasks = 4 * (os.cpu_count() or 1)
    assert map_threads(lambda _: len(squares(100_000)), range(tasks)) == [100_000] * tasks
    assert map_threads(lambda x: map_threads(lambda y: x * y, range(3)), range(tasks)) == [
        [0, x, 2 * x] for x in range(tasks)
    ]


def test_what_goes_wrong_in_a_thread_goes_wrong_for_whoever_waits():
    def task(x: int) -> int:
        if x == 3:
            raise LookupError(str(x))
        return x

    with pytest.raises(LookupError, match="3"):
        map_threads(task, range(10))
    with pytest.raises(LookupError, match="3"):
        in_background(lambda: task(3)).result()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a thread a priority of its own")
def test_what_gives_way_has_a_lower_priority_than_whoever_waits_for_it():
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert in_background(lambda: os.getpriority(os.PRIO_PROCESS, 0), giving_way=True).result() == min(own + 5, 19)
    assert in_background(lambda: os.getpriority(os.PRIO_PROCESS, 0)).result() == own
    assert os.getpriority(os.PRIO_PROCESS, 0) == own
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 // 0, giving_way=True).result()


def test_things_aside_are_done_in_order_and_to_the_end():
    done: list[int] = []
    with Aside() as aside:
        for i in range(20):
            aside(partial(done.append, i))
    assert done == list(range(20))
    with pytest.raises(ZeroDivisionError), Aside() as aside:
        aside(lambda: 1 // 0)


def test_what_went_wrong_first_is_told():
    def both(aside: Aside) -> None:
        aside(lambda: 1 // 0)
        raise LookupError

    with pytest.raises(LookupError), Aside() as aside:
        both(aside)


#: Raises before every instruction of the module in turn, as the handler of a signal may; then the threads must work.
STOPPED_ANYWHERE = """
import sys
from tarnkappe import threads

class Stop(BaseException): ...

def stopped_at(nth, fresh):
    if fresh:
        threads._pool.cache_clear()
    left = nth
    def trace(frame, event, arg):
        nonlocal left
        if frame.f_code.co_filename != threads.__file__:
            return None
        frame.f_trace_opcodes = True
        left -= event == "opcode"
        if left == 0:
            raise Stop
        return trace
    sys.settrace(trace)
    try:
        threads.map_threads(abs, range(-3, 0))
        threads.in_background(int).result()
    except Stop:
        return True
    finally:
        sys.settrace(None)
    return False

for fresh in (True, False):
    nth = 1
    while stopped_at(nth, fresh):
        assert threads.map_threads(abs, range(-3, 0)) == [3, 2, 1]
        nth += 1
    assert nth > 100
print("all done")
"""


def test_whoever_is_stopped_at_any_moment_leaves_the_threads_working_and_the_process_ends():
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_ANYWHERE], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "all done\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own():
    """Those of its parent are not there: it would wait for them for ever."""
    script = """
import os
from tarnkappe.threads import map_threads
map_threads(str, range(9))
child = os.fork()
if child == 0:
    os._exit(len(map_threads(str, range(9))))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["9"]


def test_items_are_made_ahead_and_errors_come_in_their_place():
    def items() -> Iterator[int]:
        yield from (1, 2)
        raise ValueError("three")

    made = ahead(items())
    assert [next(made), next(made)] == [1, 2]
    with pytest.raises(ValueError, match="three"):
        next(made)
    assert list(ahead([])) == []

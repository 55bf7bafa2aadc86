"""Runs a measurement in a process of its own and reads its wall time, CPU time and peak memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
_GIVEN = Path(os.environ.get("TARNKAPPE_DATA", ROOT.parents[1] / "shared"))
#: Where reference data are: the folder that is named, or its ``data``.
DATA = _GIVEN / "data" if (_GIVEN / "data").is_dir() else _GIVEN
SCRATCH = ROOT / "data"


#: The peers pin exact versions of numpy and pandas, so they live in an environment of their own.
PEERS = os.environ.get("TARNKAPPE_PEERS", str(ROOT.parent / ".venv-peers" / "bin" / "python"))


class FailedError(Exception):
    """A measurement that came to nothing, and why."""


def printed(script: str, *arguments: str, python: str = sys.executable, timeout: float = 3600) -> list[str]:
    """Run ``bench/<script>`` and return the lines it prints."""
    if not Path(python).exists():
        raise FailedError("not installed")
    try:
        done = subprocess.run(
            [python, str(ROOT / script), *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"stopped after {timeout:.0f} s") from None
    if done.returncode:
        raise FailedError((done.stderr.strip().splitlines() or ["no output"])[-1][:60])
    return done.stdout.strip().splitlines()


def in_process(script: str, *arguments: str, python: str = sys.executable, timeout: float = 1800) -> dict[str, Any]:
    """Run ``bench/<script>`` and return the JSON object it prints last; an error becomes a row that says so."""
    try:
        return dict(json.loads(printed(script, *arguments, python=python, timeout=timeout)[-1]))
    except FailedError as failed:
        return {"error": str(failed)}


def command(*arguments: str, repeat: int = 3) -> dict[str, Any]:
    """The fastest of several runs of a command, from process start to its end, with the peak memory of the process."""
    best: dict[str, Any] = {}
    for _ in range(repeat):
        start = time.perf_counter()
        pid = os.posix_spawn(
            arguments[0],
            list(arguments),
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter() - start
        if os.waitstatus_to_exitcode(status):
            return {"error": f"exit code {os.waitstatus_to_exitcode(status)}"}
        if not best or wall < best["seconds"]:
            best = {
                "seconds": wall,
                "cpu": usage.ru_utime + usage.ru_stime,
                "peak_mb": usage.ru_maxrss / 1024,
            }
    return best


def timed(work: Callable[[], Any], repeat: int = 1) -> tuple[Any, float, float]:
    """The result of the last run, and the shortest wall and CPU time of all."""
    wall = cpu = float("inf")
    result = None
    for _ in range(repeat):
        w, c = time.perf_counter(), time.process_time()
        result = work()
        wall, cpu = min(wall, time.perf_counter() - w), min(cpu, time.process_time() - c)
    return result, wall, cpu


def peak_mb() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(**facts: Any) -> None:
    """Print the facts of a measurement as the last line."""
    print(json.dumps({**facts, "peak_mb": round(peak_mb())}, default=float))

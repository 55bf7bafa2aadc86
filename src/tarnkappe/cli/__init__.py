"""The command line: thin, it only asks, calls and shows."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run ``tarnkappe`` with the words of the command line and exit."""
    from tarnkappe.cli.app import app
    from tarnkappe.cli.root import Stopped

    def terminate(number: int, frame: object) -> None:
        raise Stopped("Terminated", 143)

    signal.signal(signal.SIGTERM, terminate)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # else run by nohup
        signal.signal(signal.SIGHUP, terminate)  # the terminal was closed
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a sign shows another one; that is no reason to fail.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app(prog_name="tarnkappe")
    finally:
        _flush()
    sys.exit(0)


def _flush() -> None:
    """Hand over what is still waiting; a reader who has gone away, or never was there, is no error."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

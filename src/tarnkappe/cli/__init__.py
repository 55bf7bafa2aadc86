"""The command line: thin, it only asks, calls and shows."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from typing import NoReturn

__all__ = ["main", "start_lightly"]

#: So many seconds after a request to end got lost it is made once more.
_SOON = 0.05


def main() -> NoReturn:
    """Run ``tarnkappe`` with the words of the command line and exit."""
    start_lightly()
    for number in _asking():
        signal.signal(number, _leave)
    from tarnkappe.cli.app import app
    from tarnkappe.cli.root import Stopped, report_stop

    _listen()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a sign shows another one; that is no reason to fail.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app(prog_name="tarnkappe")
    except Stopped as stop:  # while the command itself was being put together
        sys.exit(report_stop(stop, sys.argv[1:]))
    finally:
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.SIG_IGN)  # what has ended is not to be asked again
        _flush()
        if "duckdb" not in sys.modules:  # it counts what is left of it when the process ends, and complains
            gc.freeze()  # to look for garbage once more would take half a second
    sys.exit(0)


def start_lightly() -> None:
    """Spare a short-lived process what long-lived ones need; to be called before anything heavy is imported.

    Start-up makes many objects that all stay, and looking for garbage among them takes some of its time. Linear algebra
    is not what the time goes into, so its threads are not worth starting.
    """
    gc.set_threshold(50_000)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _asking() -> list[signal.Signals]:
    """The signals that ask to end; what was to be ignored, as by nohup, still is."""
    known = [s for s in signal.Signals if s.name in ("SIGINT", "SIGTERM", "SIGHUP")]  # not every system has all of them
    return [s for s in known if signal.getsignal(s) in (signal.SIG_DFL, signal.default_int_handler, _leave)]


def _leave(number: int, frame: object) -> None:
    """End at once, while nothing has begun."""
    word, code = ("Interrupted", 130) if number == signal.SIGINT else ("Terminated", 143)
    with contextlib.suppress(OSError):
        os.write(2, f"{word}, nothing was written.\n".encode())
    os._exit(code)


def _listen() -> None:
    """End in order when asked to."""
    from tarnkappe.cli.root import Stopped

    def interrupt(number: int, frame: object) -> None:
        Stopped.ask("Interrupted", 130)

    def terminate(number: int, frame: object) -> None:
        Stopped.ask("Terminated", 143)

    def again(number: int, frame: object) -> None:
        if Stopped.asked is not None:
            raise Stopped.asked

    def lost(what: sys.UnraisableHookArgs) -> None:
        if not isinstance(what.exc_value, Stopped):
            sys.__unraisablehook__(what)
        elif hasattr(signal, "setitimer"):  # raised while an object was finalised: ask once more when that is over
            signal.setitimer(signal.ITIMER_REAL, _SOON)

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, again)
    for number in _asking():
        signal.signal(number, interrupt if number == signal.SIGINT else terminate)
    sys.unraisablehook = lost


def _flush() -> None:
    """Hand over what is still waiting; a reader who has gone away, or never was there, is no error."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

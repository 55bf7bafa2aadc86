"""Compiled functions on arrays: arrays in, arrays out, no objects, no I/O, no randomness of their own."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event

from tarnkappe.kernels.stale import forget_stale

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

F = TypeVar("F", bound=Callable[..., object])

#: Zero as a number that changes: for the constant 0 helpers would be compiled once more.
ZERO = cast("int", np.int64(0))


def _probe() -> None:
    """Nothing; only to see whether its machine code could be kept."""


def _keep_in_private_folder() -> None:
    """Give Numba a folder for the machine code that ends with the process; code in a shared one could be anybody's."""
    folder, owner = tempfile.mkdtemp(prefix="tarnkappe-kernels-"), os.getpid()

    @atexit.register
    def remove() -> None:
        if os.getpid() == owner:  # a forked child does not own its parent's folder
            shutil.rmtree(folder, ignore_errors=True)

    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]


try:
    numba.njit(cache=True)(_probe)
except RuntimeError:  # nothing can be written beside the package or at home, and Numba would refuse every kernel
    _keep_in_private_folder()
if not numba.config.CACHE_DIR:  # type: ignore[attr-defined]
    forget_stale(Path(__file__).parent)


class _Uncollected(event.Listener):
    """Keeps Python's collector from running while Numba compiles, which leaves many objects and hardly any garbage.

    Numba compiles one kernel at a time, whatever the thread, and those it calls as parts of it.
    """

    def __init__(self) -> None:
        """Nothing is being compiled."""
        self._depth, self._was_on = 0, False

    def on_start(self, event: event.Event) -> None:
        """A kernel is compiled from now on."""
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """It is done, or has failed."""
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


event.register("numba:compile", _Uncollected())  # type: ignore[no-untyped-call]


#: Alike for kernels and their parts, so that what Numba makes for the ones serves the others. No wrapper is made for
#: callers in C, of which there are none: that saves a tenth of the time.
_OPTIONS = {"nogil": True, "no_cfunc_wrapper": True}

#: What a function is compiled with that only kernels call. Other versions of Numba than those that were tried compile
#: it like a kernel.
PART: dict[str, Any] = {}
if numba.version_info.short in {(0, 68)}:
    from tarnkappe.kernels.parts import PartCompiler

    PART["pipeline_class"] = PartCompiler


def kernel(function: F) -> Dispatcher[F]:
    """Compile a function that Python calls; it is kept for later runs, and lets go of the interpreter lock."""
    compiled: Dispatcher[F] = numba.njit(cache=True, **_OPTIONS)(function)  # type: ignore[call-overload]
    return compiled


def helper(function: F) -> Dispatcher[F]:
    """Compile a function that only kernels call, as a part of them; Python that calls it gets a SystemError."""
    compiled: Dispatcher[F] = numba.njit(**PART, **_OPTIONS)(function)  # type: ignore[call-overload]
    return compiled

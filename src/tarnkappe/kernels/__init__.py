"""Compiled functions on arrays: arrays in, arrays out, no objects, no I/O, no randomness of their own."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import numba


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

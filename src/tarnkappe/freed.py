"""Memory that nobody holds on to any more."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Give memory that was let go of back to the system; the C library of Linux keeps much of it otherwise."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)

"""Parts of kernels as Python can call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def from_python(part: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that calls a part and does nothing else."""
    return numba.njit(lambda *given: part(*given))  # noqa: PLW0108  (Python cannot call the part itself)

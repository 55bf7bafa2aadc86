"""Grids of two things that are tested together: all of them in the full suite, a part of them in the usual one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

#: One in so many combinations is in the usual suite.
EVERY = 8


def grid(
    first: Iterable[Any], second: Iterable[Any], ids: Sequence[str] | None = None, every: int = EVERY
) -> list[Any]:
    """All pairs as parameters, most of them marked `full`; every thing of either kind is in the usual suite.

    `ids` are names of the second things.
    """
    ones, others = list(first), list(second)
    names = [str(b) for b in others] if ids is None else list(ids)
    every = min(every, len(ones), len(others))  # or some of them would be left out
    return [
        pytest.param(a, b, id=f"{a}-{name}", marks=[] if (i + j) % every == 0 else [pytest.mark.full])
        for i, a in enumerate(ones)
        for j, (b, name) in enumerate(zip(others, names, strict=True))
    ]

"""How much is tried: all of it in the full suite, a part of it in the usual one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Any

import pytest

#: Whether tests marked `full` will run; if not, they are not even made: there are nine of them for each other one.
everything = True

#: One in so many combinations is in the usual suite.
EVERY = 24

#: One in so many random examples, where a test asks for many.
_EXAMPLES_IN = 6


def examples(n: int) -> int:
    """How many random examples a test tries that asks for `n`."""
    return n if os.environ.get("HYPOTHESIS_PROFILE") == "explore" else max(n // _EXAMPLES_IN, 10)


def fewer(params: Iterable[Any], every: int) -> list[Any]:
    """Parameters of which one in `every` stays in the usual suite; the others are marked `full`."""
    ones = list(params)
    usual = {id(a) for a in [a for a in ones if not a.marks][::every]}
    return [
        a if id(a) in usual or a.marks else pytest.param(*a.values, id=a.id, marks=[pytest.mark.full])
        for a in ones
        if everything or id(a) in usual
    ]


def one_of_each(variants: Iterable[Any]) -> list[Any]:
    """Variants of algorithms or criteria: the first one of each is in the usual suite, others are marked `full`."""
    first: dict[str, Any] = {}
    return [
        pytest.param(a, id=str(a), marks=[] if usual else [pytest.mark.full])
        for a in variants
        if (usual := first.setdefault(a.name, a) is a) or everything
    ]


def in_turn(first: Iterable[Any], *others: Iterable[Any]) -> list[Any]:
    """Each of the first things with the next one of every other kind, for what does not depend on each pair."""
    together = zip(first, *(cycle(list(kind)) for kind in others), strict=False)
    return [pytest.param(*things, id="-".join(map(str, things))) for things in together]


def some(things: Iterable[Any], every: int = EVERY, ids: Sequence[str] | None = None) -> list[Any]:
    """All things as parameters, one in `every` of them in the usual suite, the others marked `full`."""
    ones = list(things)
    names = [str(a) for a in ones] if ids is None else ids
    return [
        pytest.param(a, id=name, marks=[] if i % every == 0 else [pytest.mark.full])
        for i, (a, name) in enumerate(zip(ones, names, strict=True))
        if everything or i % every == 0
    ]


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
        if everything or (i + j) % every == 0
    ]

"""Instances of every registered class, made from its declared parameters: a new class needs no entry here."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product
from typing import Any, TypeVar

from strategies import QUICK, quick_values
from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.criteria import all_criteria
from tarnkappe.criteria.base import Criterion
from tarnkappe.errors import JobError
from tarnkappe.params import Parameter, parameters

T = TypeVar("T")

#: What else a text may be.
TEXTS = {"metric": "precision", "by": "age"}

#: What a parameter names in the data.
NAMES = {"sensitive": "disease", "person": "person", "predicted": "person", "counted": "person", "value": "value 1"}

#: Parameters of microaggregation that change what groups publish, not the groups, and one that watches the clock.
OTHER_TESTS = {"aggregate", "aggregates", "whole", "decimals", "seconds"}


def values(p: Parameter) -> tuple[Any, ...]:
    """A few values of a parameter that are neither trivial nor extreme."""
    if p.name in OTHER_TESTS:
        return ()
    if p.samples:
        return p.samples
    if p.name in QUICK:  # a search that is even shorter promises nothing
        return (QUICK[p.name], 2 * QUICK[p.name])
    if p.choices:
        return p.choices
    if typing.get_origin(p.type) is Mapping:
        return ({"value 0": 0.3, "value 4": 0.6},)
    if p.type is bool:
        return (False, True)
    low = p.ge if p.ge is not None else p.gt or 0
    if p.type is int:
        return (int(low) + 1, int(low) + 4)
    if p.type in (float, float | None):
        return (low + 0.05, low + 0.2, low + 0.6) if p.le == 1 else (low + 0.5, low + 2.0)
    if typing.get_origin(p.type) is tuple:
        return ((), ("age", "grade")) if p.refers_to == "quasi" else ((),)
    named = NAMES.get(p.refers_to) or TEXTS.get(p.name, "disease")
    return (None, named) if p.type == str | None else (named,)


def variants(cls: type[T]) -> Iterator[T]:
    """The class with what it must be given and its defaults, then with one parameter changed at a time.

    What the class refuses is left out.
    """
    declared = parameters(cls)
    usual = {p.name: values(p)[0] for p in declared if p.required}
    usual.update(quick_values(declared))
    yield cls(**usual)
    for p in declared:
        for value in values(p):
            if value != usual.get(p.name, p.default):
                with suppress(JobError):
                    yield cls(**{**usual, p.name: value})


def instances(cls: type[T]) -> Iterator[T]:
    """All combinations of these values, but for those that the class refuses."""
    declared = parameters(cls)
    for chosen in product(*(values(p) for p in declared)):
        with suppress(JobError):
            yield cls(**dict(zip((p.name for p in declared), chosen, strict=True)))


def criteria() -> tuple[list[Criterion], list[Criterion]]:
    """Every registered criterion with one parameter changed at a time, and all other combinations of parameters."""
    usual: list[Criterion] = []
    combined: list[Criterion] = []
    for cls in all_criteria().values():
        names = [p.name for p in parameters(cls)]
        first, *others = instances(cls)
        usual.append(first)
        for other in others:
            changed = sum(getattr(first, name) != getattr(other, name) for name in names)
            (usual if changed == 1 else combined).append(other)
    return usual, combined


def algorithms() -> tuple[list[Algorithm], list[Algorithm]]:
    """Every registered algorithm with its defaults, and with every choice of each of its parameters."""
    usual: list[Algorithm] = []
    changed: list[Algorithm] = []
    for cls in all_algorithms().values():
        first, *others = variants(cls)
        usual.append(first)
        changed.extend(others)
    return usual, changed

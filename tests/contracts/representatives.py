"""Instances of every registered class, made from its declared parameters: a new class needs no entry here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, TypeVar

from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.criteria import all_criteria
from tarnkappe.criteria.base import Criterion
from tarnkappe.params import Parameter, parameters

T = TypeVar("T")


def values(p: Parameter) -> tuple[Any, ...]:
    """A few values of a parameter that are neither trivial nor extreme."""
    if p.choices:
        return p.choices
    if p.type is bool:
        return (False, True)
    low = p.ge if p.ge is not None else p.gt or 0
    if p.type is int:
        return (int(low) + 1, int(low) + 4)
    if p.type is float:
        return (low + 0.05, low + 0.2, low + 0.6) if p.le == 1 else (low + 0.5, low + 2.0)
    return ("disease",)


def variants(cls: type[T]) -> Iterator[T]:
    """The class with what it must be given and its defaults, then with one parameter changed at a time."""
    declared = parameters(cls)
    usual = {p.name: values(p)[0] for p in declared if p.required}
    yield cls(**usual)
    for p in declared:
        for value in values(p):
            if value != (usual[p.name] if p.required else p.default):
                yield cls(**{**usual, p.name: value})


def instances(cls: type[T]) -> Iterator[T]:
    """All combinations of these values."""
    declared = parameters(cls)
    for chosen in product(*(values(p) for p in declared)):
        yield cls(**dict(zip((p.name for p in declared), chosen, strict=True)))


def criteria() -> list[Criterion]:
    """Every registered criterion with several parameters."""
    return [c for cls in all_criteria().values() for c in instances(cls)]


def algorithms() -> list[Algorithm]:
    """Every registered algorithm with every choice of each of its parameters."""
    return [a for cls in all_algorithms().values() for a in variants(cls)]

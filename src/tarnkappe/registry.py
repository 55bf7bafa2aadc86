"""Finds the classes of a room by their declaration: put a file there and it is known everywhere.

A *room* is a package such as `tarnkappe.criteria`. Every concrete subclass of the room's base class that is defined in
one of its modules and has a ``name`` is registered under that name. Nothing is registered by hand.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from functools import cache
from typing import TypeVar

from tarnkappe.errors import JobError, did_you_mean

T = TypeVar("T")


@cache
def _room(package: str, base: type) -> dict[str, type]:
    found: dict[str, type] = {}
    root = importlib.import_module(package)
    for info in pkgutil.walk_packages(root.__path__, prefix=f"{package}."):
        found |= _declared(info.name, base)
    return dict(sorted(found.items()))


def _declared(module: str, base: type) -> dict[str, type]:
    """The classes that one module registers, by name."""
    return {
        cls.name: cls  # type: ignore[attr-defined]
        for cls in vars(importlib.import_module(module)).values()
        if inspect.isclass(cls)
        and issubclass(cls, base)
        and cls.__module__ == module
        and not inspect.isabstract(cls)
        and isinstance(getattr(cls, "name", None), str)
    }


def registered(package: str, base: type[T]) -> dict[str, type[T]]:
    """All classes of a room by name, sorted."""
    return dict(_room(package, base))  # type: ignore[arg-type]


def lookup(package: str, base: type[T], name: str, kind: str, where: str | None = None) -> type[T]:
    """The class registered under `name`, or a `JobError` with the closest name."""
    module = f"{package}.{name.replace('-', '_')}"
    if name.replace("-", "_").isidentifier() and importlib.util.find_spec(module):  # spares loading the whole room
        at_once = _declared(module, base)
        if name in at_once:
            return at_once[name]
    known = registered(package, base)
    if name not in known:
        raise JobError(
            "E105",
            f"unknown {kind} '{name}'{did_you_mean(name, known)}",
            where=where,
            hint=f"Known: {', '.join(known)}.",
        )
    return known[name]

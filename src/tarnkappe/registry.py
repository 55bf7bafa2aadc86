"""Finds the classes of a room by their declaration: put a file there and it is known everywhere.

A *room* is a package such as `tarnkappe.criteria`. Every concrete subclass of the room's base class that is defined in
one of its modules and has a ``name`` is registered under that name. Nothing is registered by hand.

Classes of other packages join a room through an entry point whose group is the name of the room::

    [project.entry-points."tarnkappe.criteria"]
    alpha-cap = "my_package.alpha_cap:AlphaCap"

They work in job files, on the command line and in `tarnkappe explain` like our own, whose names they cannot take.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar

from tarnkappe.errors import JobError, did_you_mean

T = TypeVar("T")


@cache
def _room(package: str, base: type) -> dict[str, type]:
    found: dict[str, type] = {}
    root = importlib.import_module(package)
    for info in pkgutil.walk_packages(root.__path__, prefix=f"{package}."):
        found |= _declared(info.name, base)
    return dict(sorted({**_guests(package, base), **found}.items()))


def _guests(package: str, base: type) -> dict[str, type]:
    """The classes of other packages that joined a room, by name."""
    found: dict[str, type] = {}
    for entry in entry_points(group=package):
        try:
            cls = entry.load()
        except Exception as error:
            raise JobError(
                "E114",
                f"'{entry.value}', which another package offers to {package}, cannot be loaded ({error})",
                hint=f"Repair or uninstall the package  {entry.dist.name if entry.dist else entry.module}.",
            ) from error
        if not (inspect.isclass(cls) and issubclass(cls, base) and getattr(cls, "name", None) == entry.name):
            raise JobError(
                "E114",
                f"'{entry.value}' is no {base.__name__} with the name '{entry.name}', so it cannot join {package}",
                hint=f"Repair or uninstall the package  {entry.dist.name if entry.dist else entry.module}.",
            )
        found[entry.name] = cls
    return found


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
    for module in _namesakes(package, name.replace("-", "_")):
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


def _namesakes(package: str, stem: str) -> list[str]:
    """The modules of a room and of the rooms within it that are called so: they spare loading the whole room."""
    if not stem.isidentifier():
        return []
    within = [info.name for info in pkgutil.iter_modules(importlib.import_module(package).__path__) if info.ispkg]
    named = [".".join(part for part in (package, room, stem) if part) for room in ("", *within)]
    return [module for module in named if importlib.util.find_spec(module)]


#: A class that has a name of its own, as it stands in a file.
_NAMED_CLASS = re.compile(r"^class (\w+)\b.*?^    name: ClassVar(?:\[str\])? = ", re.MULTILINE | re.DOTALL)


def class_homes(*rooms: str) -> dict[str, str]:
    """The module of every class that some rooms of this package register, read from their files: nothing is imported.

    >>> class_homes("criteria")["KAnonymity"]
    'criteria.k_anonymity'
    """
    here = Path(__file__).parent
    found: dict[str, str] = {}
    for room in rooms:
        for file in sorted((here / room).rglob("*.py")):
            module = ".".join(file.relative_to(here).with_suffix("").parts)
            for block in re.split(r"^(?=class )", file.read_text("utf-8"), flags=re.MULTILINE):
                named = _NAMED_CLASS.match(block)
                if named:
                    found[named[1]] = module
    return found

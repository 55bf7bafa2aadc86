"""Examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import re
from functools import cached_property
from pathlib import Path
from types import ModuleType

import pytest

import tarnkappe

PACKAGE = Path(tarnkappe.__file__).parent

EXAMPLE = re.compile(r"^ *>>> ", re.MULTILINE)


def examples() -> list[tuple[str, int]]:
    """The name of every module with examples in it, and how many there are."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        if n := len(EXAMPLE.findall(file.read_text("utf-8"))):
            parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
            found.append((".".join(parts).removesuffix(".__init__"), n))
    return found


def docstrings(module: ModuleType) -> list[doctest.DocTest]:
    """All docstrings with examples; Python itself overlooks those of cached properties."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    classes = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
    cached = [p.func for c in classes for p in vars(c).values() if isinstance(p, cached_property)]
    return [found for thing in (module, *cached) for found in finder.find(thing, globs=dict(vars(module)))]


@pytest.mark.parametrize(("name", "n"), examples())
def test_examples(name: str, n: int):
    runner = doctest.DocTestRunner()
    for docstring in docstrings(importlib.import_module(name)):
        runner.run(docstring)  # prints what differs
    assert runner.summarize(verbose=False) == (0, n)

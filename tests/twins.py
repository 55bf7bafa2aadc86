"""What the test file of a criterion offers to the other suites, found by its name: nothing needs an entry elsewhere.

``tests/criteria/test_NAME.py`` of a criterion that single groups decide may hold

``WRITTEN``
    criteria, by a word for each, that a release of the patients in `whole_jobs.guarded_hospital` can keep;
``DEMANDING``
    one of them that a release breaks if nobody asks for it;
``plain_level(h, whole, **asked)``
    the level of a class, from the counts of its values and those of all released records, in plain Python;
``plain_holds(h, whole, **asked)``
    whether a class keeps the promise, in exact arithmetic.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from types import ModuleType

import brute
from tarnkappe.criteria import all_criteria
from tarnkappe.criteria.base import Criterion


@cache
def own_tests(name: str) -> ModuleType | None:
    """The test file of a criterion, if it offers a twin."""
    file = Path(__file__).parent / "criteria" / f"test_{name.replace('-', '_')}.py"
    if not file.exists() or "def plain_holds" not in file.read_text("utf-8"):
        return None
    spec = importlib.util.spec_from_file_location(f"twin_of_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_twins() -> dict[str, ModuleType]:
    """The test files that offer a twin, by the name of their criterion."""
    return {name: found for name in all_criteria() if (found := own_tests(name)) is not None}


def written() -> dict[str, Criterion]:
    """Criteria that releases of the patients keep."""
    return {f"{name}, {word}": c for name, own in with_twins().items() for word, c in own.WRITTEN.items()}


def demanding() -> dict[str, Criterion]:
    """Criteria that releases of the patients break unless they are asked for."""
    return {name: own.DEMANDING for name, own in with_twins().items()}


def _classes(criterion: Criterion, rows: list[brute.Row], column: int) -> list[Counter[Hashable]]:
    return brute.histograms(rows, column, criterion.others_known)


def keeps(criterion: Criterion, rows: list[brute.Row], column: int) -> bool:
    """Whether rows keep a promise, by its twin."""
    own = own_tests(criterion.name)
    assert own is not None, f"no twin of {criterion.name}: write plain_holds and plain_level into its test file"
    asked, whole = criterion.get_params(), brute.table(rows, column)
    return all(own.plain_holds(h, whole, **asked) for h in _classes(criterion, rows, column))


def reached(criterion: Criterion, rows: list[brute.Row], column: int) -> float:
    """The level of the most exposed class, by its twin."""
    own = own_tests(criterion.name)
    assert own is not None
    asked, whole = criterion.get_params(), brute.table(rows, column)
    levels = [float(own.plain_level(h, whole, **asked)) for h in _classes(criterion, rows, column)]
    return min(levels) if criterion.compared == "at least" else max(levels)

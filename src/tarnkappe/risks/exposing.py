"""Which few columns of the original data, known together, point at the most people."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tarnkappe.risks.subsets import WORK, Combinations, all_subsets, largest_size
from tarnkappe.tally import Tally, begins_run

#: So many columns are looked at together, and so many combinations of each size are told.
_TOGETHER, _TOLD = 3, 3

#: So many combinations of values are looked at in passing, and by somebody who asked and waits.
_WORK, PATIENT = 50_000_000, WORK

#: What was found, as long as its tally is there: copies of one decision are described many times.
_FOUND: WeakKeyDictionary[Tally, dict[int, tuple[Exposing, ...]]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Exposing:
    """Columns, and how many records are the only ones with their values in them."""

    columns: tuple[str, ...]
    unique: int
    share: float


def exposing(tally: Tally, work: int = _WORK) -> tuple[Exposing, ...]:
    """The worst combinations of one, two and three quasi-identifiers, by records that are unique in them.

    Combinations that leave nobody alone are not told. O(subsets x combinations of values), within a limit beyond which
    only fewer columns are looked at `together`.
    """
    known = _FOUND.setdefault(tally, {})
    if work not in known:
        known[work] = _exposing(tally, together(tally, work))
    return known[work]


def together(tally: Tally, work: int = _WORK) -> int:
    """How many quasi-identifiers are looked at together, at most."""
    n_quasi = len(tally.quasi_domains)
    return min(_TOGETHER, n_quasi, largest_size(n_quasi, tally.n_tuples, work)) if n_quasi else 0


def _exposing(tally: Tally, most: int) -> tuple[Exposing, ...]:
    if not most:
        return ()
    names = [d.name for d in tally.quasi_domains]
    given = Combinations(tuple(names), tally.quasi[begins_run(tally.quasi)], tally.tuple_sizes)
    found: dict[int, list[Exposing]] = {}
    for subset in all_subsets(given, most):
        unique = int((subset.size == 1).sum())
        if unique:
            columns = tuple(names[j] for j in subset.places)
            found.setdefault(len(columns), []).append(Exposing(columns, unique, unique / given.n_records))
    return tuple(one for size in sorted(found) for one in sorted(found[size], key=lambda e: -e.unique)[:_TOLD])

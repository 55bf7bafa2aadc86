"""Which few columns of the original data, known together, point at the most people."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tarnkappe.risks.subsets import Combinations, all_subsets, largest_size
from tarnkappe.tally import Tally

#: So many columns are looked at together, so many combinations of each size are told, and so many cells looked at.
_TOGETHER, _TOLD, _WORK = 3, 3, 50_000_000

#: What was found, as long as its tally is there: copies of one decision are described many times.
_FOUND: WeakKeyDictionary[Tally, tuple[Exposing, ...]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Exposing:
    """Columns, and how many records are the only ones with their values in them."""

    columns: tuple[str, ...]
    unique: int
    share: float


def exposing(tally: Tally) -> tuple[Exposing, ...]:
    """The worst combinations of one, two and three quasi-identifiers, by records that are unique in them.

    Combinations that leave nobody alone are not told. O(subsets x cells), within a limit beyond which only smaller
    combinations are looked at.
    """
    if tally not in _FOUND:
        _FOUND[tally] = _exposing(tally)
    return _FOUND[tally]


def _exposing(tally: Tally) -> tuple[Exposing, ...]:
    names = [d.name for d in tally.quasi_domains]
    given = Combinations(tuple(names), tally.quasi, tally.count)
    most = min(_TOGETHER, largest_size(len(names), tally.n_cells, _WORK)) if names else 0
    found: dict[int, list[Exposing]] = {}
    if not most:
        return ()
    for subset in all_subsets(given, most):
        unique = int((subset.size == 1).sum())
        if unique:
            columns = tuple(names[j] for j in subset.places)
            found.setdefault(len(columns), []).append(Exposing(columns, unique, unique / given.n_records))
    return tuple(one for size in sorted(found) for one in sorted(found[size], key=lambda e: -e.unique)[:_TOLD])

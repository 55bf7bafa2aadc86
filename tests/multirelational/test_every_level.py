"""Whether joined tables can be released at all: against every combination of levels, by hand, on tiny tables."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from grids import some
from tarnkappe.errors import InfeasibleError
from tarnkappe.multirelational import MultiJob, Relation, anonymize_multirelational
from tarnkappe.multirelational import search as module
from tarnkappe.taxonomy import tree

NESTED = {"x": ["a", "b"], "y": ["c", "d"]}
#: What each value is published as, by level.
LEVELS = [{v: v for v in "abcd"}, {"a": "x", "b": "x", "c": "y", "d": "y"}, dict.fromkeys("abcd", "*")]


@dataclass(frozen=True)
class Case:
    people: pl.DataFrame
    visits: pl.DataFrame
    k: int
    limit: float
    l: float | None  # noqa: E741
    rows: str

    @classmethod
    def of(cls, seed: int) -> Case:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 9))
        owner = np.repeat(np.arange(n), rng.integers(0, 3, n))
        owner = owner if len(owner) else np.array([0])
        return cls(
            pl.DataFrame({"key": np.arange(n), "town": rng.choice(list("abcd"), n)}),
            pl.DataFrame(
                {
                    "key": owner,
                    "ward": rng.choice(list("abcd"), len(owner)),
                    "illness": rng.choice(["flu", "cold", "gout"], len(owner)),
                }
            ),
            k=int(rng.integers(2, 4)),
            limit=float(rng.choice([0, 0.3, 0.6, 0.9, 1])),
            l=(None, 1.5, 2, 3)[rng.integers(4)],
            rows=("multiset", "set")[rng.integers(2)],
        )

    def release(self) -> Any:
        visits = Relation("visits", {"ward": tree(NESTED)}, {"illness": self.l}, rows=self.rows)  # type: ignore[arg-type]
        job = MultiJob("key", Relation("people", {"town": tree(NESTED)}), [visits], self.k, self.limit)
        return anonymize_multirelational(job, {"people": self.people, "visits": self.visits}, seed=1)

    def losses(self) -> Iterator[int]:
        """Persons lost at every combination of levels that leaves something of both tables."""
        rows, ill = defaultdict(list), defaultdict(set)
        for key, ward, illness in self.visits.iter_rows():
            rows[key].append(ward)
            ill[key].add(illness)
        for town_level, ward_level in product(LEVELS, repeat=2):
            groups = defaultdict(list)
            for key, town in self.people.iter_rows():
                wards = [ward_level[w] for w in rows[key]]
                groups[town_level[town], *sorted(set(wards) if self.rows == "set" else wards)].append(key)
            kept = [p for persons in groups.values() if self._holds(persons, ill) for p in persons]
            if any(rows[p] for p in kept):
                yield self.people.height - len(kept)

    def _holds(self, persons: list[int], ill: dict[int, set[str]]) -> bool:
        most = max(Counter(i for p in persons for i in ill[p]).values(), default=0)
        return len(persons) >= self.k and (self.l is None or most * Fraction(self.l) <= len(persons))

    @property
    def possible(self) -> bool:
        return any(lost <= Fraction(str(self.limit)) * self.people.height for lost in self.losses())


@pytest.mark.parametrize("start", some(range(0, 300, 50), every=3))
def test_there_is_a_release_where_any_levels_are_one(start: int):
    wrong = []
    for case in (Case.of(seed) for seed in range(start, start + 50)):
        try:
            found = case.release()
            assert 0 < case.people.height - found.n_suppressed == found.tables["people"].height
        except InfeasibleError:
            found = None
        if (found is not None) != case.possible:
            wrong.append(case)
    assert not wrong


def test_what_is_proposed_helps():
    """A limit that an error names is one at which there is a release."""
    tried = 0
    for case in map(Case.of, range(120)):
        try:
            case.release()
        except InfeasibleError as error:
            limit = re.search(r"max_suppressed=([\d.]*\d)", error.python_hint or "")
            assert limit is not None or case.l is not None or not list(case.losses())
            if limit is not None:
                assert replace(case, limit=float(limit[1])).release().n_groups > 0
                tried += 1
    assert tried


def spoilt_at_the_top() -> Case:
    """Who lives in c has the flu: the others are diverse without them, nobody is with them."""
    towns, illness = list("aabbcccc"), ["flu", "cold", "gout", "cold", *["flu"] * 4]
    return Case(
        pl.DataFrame({"key": range(8), "town": towns}),
        pl.DataFrame({"key": range(8), "ward": ["a", "b", "a", "b", *"dddd"], "illness": illness}),
        k=4,
        limit=0.5,
        l=2,
        rows="multiset",
    )


def test_a_release_below_the_top_is_found():
    case = spoilt_at_the_top()
    assert list(case.losses()) == [4, 4, 4], "not at the top, nor where nothing is coarsened"
    assert case.release().n_suppressed == 4


def test_a_search_that_was_cut_short_says_so(monkeypatch: pytest.MonkeyPatch):
    case = replace(spoilt_at_the_top(), limit=0.0, k=2)
    with pytest.raises(InfeasibleError, match="no release lets every"):
        case.release()
    monkeypatch.setattr(module, "_PATIENCE", 0)
    with pytest.raises(InfeasibleError, match="no release was found"):
        case.release()

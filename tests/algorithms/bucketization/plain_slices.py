"""What an attacker concludes from a sliced table: plain Python over rows, in fractions, over all matching buckets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Rows = list[dict[str, Any]]
#: A strand: for each of its columns in the table, what the data call it.
Strand = Sequence[tuple[str, str]]


def buckets_of(rows: Rows, number: str = "bucket") -> dict[Any, Rows]:
    """The rows of every bucket."""
    out: dict[Any, Rows] = defaultdict(list)
    for row in rows:
        out[row[number]].append(row)
    return out


def guesses(
    person: dict[str, Any], buckets: dict[Any, Rows], strands: Sequence[Strand], secret: str
) -> dict[Any, Fraction]:
    """How likely each value of a secret is for somebody whose quasi-identifiers are known: p(t, s) of the paper."""
    likely: dict[Any, Fraction] = defaultdict(Fraction)
    total = Fraction(0)
    for rows in buckets.values():
        weight = Fraction(1)
        values: Counter[Any] = Counter()
        for strand in strands:
            known = [(column, name) for column, name in strand if name in person]
            fitting = [row for row in rows if all(row[column] == person[name] for column, name in known)]
            weight *= Fraction(len(fitting), len(rows))
            values.update(row[column] for row in fitting for column, name in strand if name == secret)
        if weight:
            total += weight
            for value, n in values.items():
                likely[value] += weight * Fraction(n, sum(values.values()))
    return {value: p / total for value, p in likely.items()}


def could_be(buckets: dict[Any, Rows], strands: Sequence[Strand], quasi: Iterable[str]) -> Rows:
    """Everybody whom some bucket matches, whether in the data or not."""
    quasi = list(quasi)
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for rows in buckets.values():
        parts = []
        for strand in strands:
            known = [(column, name) for column, name in strand if name in quasi]
            parts.append({tuple((name, row[column]) for column, name in known) for row in rows})
        for combined in product(*parts):
            person: dict[str, Any] = {}
            fits = all(person.setdefault(name, value) == value for part in combined for name, value in part)
            if fits:
                found[tuple(person[name] for name in quasi)] = person
    return list(found.values())

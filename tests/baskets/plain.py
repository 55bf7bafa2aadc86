"""Sets of items in plain Python, sharing nothing with the package."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

#: A small taxonomy: what each item may be published as, from the item up.
UP = {
    "a1": ("a1", "A", "*"),
    "a2": ("a2", "A", "*"),
    "b1": ("b1", "B", "*"),
    "b2": ("b2", "B", "*"),
    "c1": ("c1", "C1", "C", "*"),
    "c2": ("c2", "C1", "C", "*"),
    "c3": ("c3", "C2", "C", "*"),
    "c4": ("c4", "C2", "C", "*"),
}
TREE = {"A": ["a1", "a2"], "B": ["b1", "b2"], "C": {"C1": ["c1", "c2"], "C2": ["c3", "c4"]}}
TREE_FILE = "".join(f"{p[0]};{p[1]};{p[-2]};*\n" for p in UP.values())


def support(sets: Iterable[Iterable[str]], size: int) -> Counter[tuple[str, ...]]:
    """How many sets hold each set of so many items."""
    return Counter(c for s in sets for c in combinations(sorted(set(s)), size))


def keeps(sets: list[set[str]], k: int, m: int) -> bool:
    """Whether any at most m items that one has, at least k have."""
    return all(n >= k for size in range(1, m + 1) for n in support(sets, size).values())


def read_sets(file: Path, column: str = "basket", separator: str = ";") -> list[set[str]]:
    """The sets of a CSV file, one per row."""
    with file.open(encoding="utf-8", newline="") as f:
        return [set(filter(None, row[column].split(separator))) for row in csv.DictReader(f)]


def read_rows(file: Path, key: str, column: str) -> list[set[str]]:
    """The sets of a CSV file with a row per item."""
    out: dict[str, set[str]] = {}
    with file.open(encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            out.setdefault(row[key], set()).add(row[column])
    return list(out.values())


def is_recoding(before: list[set[str]], after: list[set[str]], labels: Iterable[str]) -> bool:
    """Whether each set after is one before with every item as the one label that covers it, or gone."""
    shown = set(labels)
    of = {item: next((up for up in path if up in shown), None) for item, path in UP.items()}
    expected = Counter(frozenset(of[i] for i in s if of[i] is not None) for s in before)
    return expected == Counter(map(frozenset, after))


def chunks_keep(folder: Path, name: str, before: list[set[str]], k: int, m: int) -> bool:
    """Whether a disassociated release keeps its promise: see docs/theory/disassociation.md."""

    def rows(part: str) -> list[dict[str, str]]:
        file = folder / "public" / f"{name}{part}.csv"
        if not file.exists():
            return []
        with file.open(encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    size = {r["cluster"]: int(r["records"]) for r in rows("-clusters")}
    terms: dict[str, set[str]] = {c: set() for c in size}
    chunks: dict[str, dict[str, list[set[str]]]] = {c: {} for c in size}
    for r in rows("-terms"):
        terms[r["cluster"]].add(r["basket"])
    for r in rows(""):
        chunks[r["cluster"]].setdefault(r["chunk"], []).append(set(r["basket"].split(";")))
    if sum(size.values()) != sum(map(bool, before)):
        return False
    for c, n in size.items():
        domains = [*(set().union(*part) for part in chunks[c].values()), terms[c]]
        apart = sum(map(len, domains)) == len(set().union(*domains))
        enough = terms[c] or sum(map(len, chunks[c].values())) >= n + k * (min(m, len(chunks[c])) - 1)
        safe = all(keeps(part, k, m) and len(part) <= n for part in chunks[c].values())
        if n < k or not apart or not enough or not safe:
            return False
    return True

"""Releases of several tables as a stranger reads them: plain Python over rows, nothing of the package."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Rows = list[dict[str, Any]]


def read(path: Path) -> Rows:
    """The rows of a file, every value as a text; None if it is empty."""
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
        return [{k: None if v is None else str(v) for k, v in row.items()} for row in rows]
    with path.open(encoding="utf-8", newline="") as file:
        return [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]


def texts(rows: Rows) -> Rows:
    """The same with every value as a text."""
    return [{k: None if v is None else str(v) for k, v in row.items()} for row in rows]


def secrets_of(rows: Rows, number: str, column: str, count: str | None = None) -> dict[str, Counter[Any]]:
    """How often each group has each value."""
    out: dict[str, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        out[row[number]][row[column]] += 1 if count is None else int(row[count])
    return out


def commonest_share(values: Counter[Any]) -> Fraction:
    """The share of the commonest value."""
    return Fraction(max(values.values()), sum(values.values()))


def distance(values: Counter[Any], whole: Counter[Any]) -> Fraction:
    """Half the sum of the differences between two distributions."""
    n, m = sum(values.values()), sum(whole.values())
    return sum((abs(Fraction(values[v], n) - Fraction(whole[v], m)) for v in whole), Fraction(0)) / 2


def covers(label: str | None, value: Any) -> bool:
    """Whether a label is true of a value: the value itself, an interval of numbers, or nothing said."""
    if label is None or value is None:
        return label == "*" or (label is None and value is None)
    if label in ("*", str(value)):
        return True
    if not label.startswith("["):
        return False
    low, high = label.strip("[]").split()
    return float(low) <= float(value) <= float(high)

"""Groups of points as tests see them, and the reference tables as points."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from tarnkappe.arrays import Codes, Floats


def reference_points(shared: Path, name: str) -> Floats:
    """The standardised records of census, tarragona or eia."""
    with (shared / f"data/microaggregation/{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    oracle = json.loads((shared / "oracles/microaggregation.json").read_text(encoding="utf-8"))
    columns = oracle["eia_columns"] if name == "eia" else list(rows[0])
    table = np.array([[float(row[c]) for c in columns] for row in rows])
    return np.ascontiguousarray((table - table.mean(axis=0)) / table.std(axis=0))


def squared_error(points: Floats, group: Codes) -> float:
    """The squared distances of points from the means of their groups."""
    return sum(float(((own - own.mean(axis=0)) ** 2).sum()) for own in (points[group == g] for g in np.unique(group)))


def loss(points: Floats, group: Codes) -> float:
    """The squared error in percent of that of one big group."""
    return 100 * squared_error(points, group) / squared_error(points, np.zeros_like(group))


def members(group: Codes) -> set[frozenset[int]]:
    """The groups as sets of points, whatever their numbers."""
    return {frozenset(np.flatnonzero(group == g).tolist()) for g in np.unique(group)}


def check_sizes(group: Codes, k: int, most: int | None = None) -> None:
    """Groups are numbered without gaps and have at least k points, and at most as many as promised."""
    size = np.bincount(group)
    assert group.dtype == np.int32
    assert size.min() >= k
    assert most is None or size.max() <= most

"""The cells of Adult with its hierarchies."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl

from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

NINE = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
EIGHT = NINE[:8]


def adult_tally(folder: Path, quasi: tuple[str, ...]) -> Tally:
    """The cells of Adult."""
    frame = pl.read_csv(folder / "adult.csv", separator=";", infer_schema=False)
    codes, domains = [], []
    for column in quasi:
        with (folder / f"adult_hierarchy_{column}.csv").open(encoding="utf-8", newline="") as lines:
            tree = Taxonomy.from_paths([tuple(row) for row in csv.reader(lines, delimiter=";")])
        number = {leaf: code for code, leaf in enumerate(tree.leaves)}
        codes.append(frame[column].replace_strict(number, return_dtype=pl.Int32).to_numpy())
        domains.append(Domain(column, tree))
    return count_cells(codes, [np.zeros(len(frame), np.int32)][:0], domains, [])[0]

"""Adult, 30 162 records, with its generalisation hierarchies."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy


class Adult:
    """The table and, for each column, the taxonomy of its hierarchy file."""

    def __init__(self, folder: Path) -> None:
        self.frame = pl.read_csv(folder / "adult.csv", separator=";", infer_schema=False)
        self.paths: dict[str, list[tuple[str, ...]]] = {}
        self.trees: dict[str, Taxonomy] = {}
        for column in self.frame.columns:
            with (folder / f"adult_hierarchy_{column}.csv").open(encoding="utf-8", newline="") as lines:
                self.paths[column] = [tuple(row) for row in csv.reader(lines, delimiter=";")]
            self.trees[column] = Taxonomy.from_paths(self.paths[column])

    def tally(self, quasi: list[str], sensitive: list[str]) -> Tally:
        """The cells of some columns, with the taxonomies of their files."""

        def encoded(columns: list[str]) -> tuple[list[np.ndarray], list[Domain]]:
            codes = []
            for column in columns:
                number = {leaf: code for code, leaf in enumerate(self.trees[column].leaves)}
                codes.append(self.frame[column].replace_strict(number, return_dtype=pl.Int32).to_numpy())
            return codes, [Domain(column, self.trees[column]) for column in columns]

        (q, q_domains), (s, s_domains) = encoded(quasi), encoded(sensitive)
        return count_cells(q, s, q_domains, s_domains)[0]


@pytest.fixture(scope="session")
def adult(shared: Path) -> Adult:
    return Adult(shared / "data" / "adult")

"""The poster's two figures: its genetic algorithm over generations, beside the exact optimum.

    python bench/fingerprint_poster.py [PAGE.html]

The page has the plots of loss, cv and size over generations, with the exact optimum as a dashed line.

Nine columns of Adult, k = 3, at most 10 % suppressed: the 1 197 patterns of the poster (if the oracle file is at hand,
else all 9 703) and the 100 best of them; a reduced weight of the size of the set, and equal weights.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
from fingerprint_acceptance import EIGHT, data_folder

from tarnkappe import KAnonymity, Taxonomy
from tarnkappe.fingerprint import Candidates, Objective, best_window, evolve
from tarnkappe.fingerprint.page import evolution_page
from tarnkappe.goal import Goal
from tarnkappe.tally import Domain, count_cells

#: The weight of the size of the set where the poster reduces it; it does not say how far.
REDUCED = 0.1


def search_space() -> Candidates:
    folder = data_folder()
    frame = pl.read_csv(folder / "adult.csv", separator=";", infer_schema=False)
    codes, domains = [], []
    for column in (*EIGHT, "salary-class"):
        with (folder / f"adult_hierarchy_{column}.csv").open(encoding="utf-8", newline="") as lines:
            tree = Taxonomy.from_paths([tuple(row) for row in csv.reader(lines, delimiter=";")])
        number = {leaf: code for code, leaf in enumerate(tree.leaves)}
        codes.append(frame[column].replace_strict(number, return_dtype=pl.Int32).to_numpy())
        domains.append(Domain(column, tree))
    found = Candidates.of(count_cells(codes, [], domains, [])[0], Goal([KAnonymity(3)], 0.1))
    oracle = folder.parents[1] / "oracles" / "adult_fulldomain.json"
    if not oracle.is_file():
        return found
    return found.only(json.loads(oracle.read_text())["poster"]["level_vectors"])


def main() -> None:
    space = search_space()
    runs = []
    for losses, which in ((space.loss, f"{len(space)} patterns"), (space.best(100).loss, "best 100 patterns")):
        for weight, how in ((REDUCED, "reduced weight of size"), (1.0, "equal weights")):
            objective = Objective(2, len(losses), size_weight=weight)
            found = evolve(losses, objective, rng=np.random.default_rng(1))
            exact = best_window(losses, objective)
            runs.append((f"{which}, {how}", found, exact))
            got = found.selection
            print(
                f"{runs[-1][0]:45} GA {got.value:.4f} (n = {len(got.members)}, gap {got.gap:.1%})  "
                f"exact {exact.value:.4f} (n = {len(exact.members)})"
            )
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(evolution_page(runs), encoding="utf-8")


if __name__ == "__main__":
    main()

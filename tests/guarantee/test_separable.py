"""Protection that needs no loss costs none: groups that are there already are found and published as they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from checker import read_release
from whole_jobs import algorithm_variants

import tarnkappe as tk
from grids import grid, one_of_each
from tarnkappe.algorithms import Algorithm
from tarnkappe.criteria import Criterion

#: All but those that publish centres: these have tests of their own.
ALGORITHMS = [a for a in algorithm_variants() if a.scheme != "microaggregation"]

#: Eight towns: whoever halves records three times finds them even if ties are divided.
TOWNS = {"North": ["Kiel", "Husum"], "South": ["Ulm", "Passau"], "East": ["Jena", "Gera"], "Abroad": ["Basel", "Wien"]}

#: What halves the records exactly cannot follow clusters of unequal sizes.
KEEPS_TIES = [a for a in ALGORITHMS if getattr(a, "cut", "") != "relaxed"]


def clusters(sizes: list[int]) -> pl.DataFrame:
    """Well separated groups: own ages, own town, and the same illnesses everywhere."""
    towns = [town for below in TOWNS.values() for town in below]
    rows = []
    for i, size in enumerate(sizes):
        rows += [(20 + 10 * i, towns[i % len(towns)], ("flu", "gout")[j % 2]) for j in range(size)]
    return pl.DataFrame(rows, schema=["age", "town", "illness"], orient="row")


def released(
    frame: pl.DataFrame, algorithm: Algorithm, folder: Path, *criteria: Criterion, **settings: Any
) -> tuple[tk.Release, Counter[tuple[str | None, ...]]]:
    """The release, and the records per published combination of quasi-identifiers."""
    job = tk.Job(
        quasi={"age": tk.numeric(), "town": tk.tree(TOWNS)},
        sensitive=["illness"],
        criteria=criteria,
        algorithm=algorithm,
        **settings,
    )
    release = tk.run_job(job, frame, folder / "release", seed=1)
    return release, Counter(row[:2] for row in read_release(folder / "release").rows)


def as_they_were(frame: pl.DataFrame) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(str, row)) for row in frame.select("age", "town").rows())


@pytest.mark.parametrize(("algorithm", "k"), grid(ALGORITHMS, [1, 2, 10]))
def test_equal_records_stay_as_they_are(algorithm: Algorithm, k: int, tmp_path: Path):
    """Where every combination has k records, nothing is coarsened."""
    frame = clusters([10] * 8)
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(k))
    assert release.n_suppressed == 0
    assert groups == as_they_were(frame)
    assert release.score("gcp") == 0


@pytest.mark.parametrize("algorithm", one_of_each(KEEPS_TIES))
def test_clusters_of_unequal_sizes_stay_as_they_are(algorithm: Algorithm, tmp_path: Path):
    frame = clusters([10, 50, 14, 16, 18, 11, 90, 10])
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(10))
    assert groups == as_they_were(frame)
    assert release.score("gcp") == 0


@pytest.mark.parametrize("algorithm", one_of_each(ALGORITHMS))
def test_diverse_clusters_stay_as_they_are(algorithm: Algorithm, tmp_path: Path):
    """Criteria about the secret that every cluster satisfies cost nothing either."""
    frame = clusters([10] * 8)
    criteria = (tk.KAnonymity(4), tk.LDiversity("illness", 2), tk.TCloseness("illness", 0.1))
    release, groups = released(frame, algorithm, tmp_path, *criteria)
    assert groups == as_they_were(frame)
    assert release.score("gcp") == 0


#: Who gives up single cells says a value or nothing, whatever lies between.
GIVES_UP_CELLS = {"local-suppression", "suppression-forest", "diameter-cover"}

#: Who goes by levels knows two of a number without a taxonomy: itself, and everything.
LEVELS_ONLY = {"iterated-local-recoding", "mu-argus", "bug", "tdd"} | GIVES_UP_CELLS
CUTS_RANGES = [a for a in ALGORITHMS if a.scheme != "full-domain" and a.name not in LEVELS_ONLY]


@pytest.mark.parametrize("algorithm", one_of_each(CUTS_RANGES))
def test_clusters_with_spread_are_told_apart(algorithm: Algorithm, tmp_path: Path):
    """Eight clusters of several ages each: no town need be given up."""
    towns = [town for below in TOWNS.values() for town in below]
    rows = [(20 + 10 * i + j % 4, towns[i], ("flu", "gout")[j // 4 % 2]) for i in range(8) for j in range(16)]
    frame = pl.DataFrame(rows, schema=["age", "town", "illness"], orient="row")
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(8))
    assert len(groups) >= 8
    assert release.score("gcp") < 0.05
    assert {town for _, town in groups} == set(towns)


@pytest.mark.parametrize("algorithm", one_of_each(a for a in ALGORITHMS if a.name not in GIVES_UP_CELLS))
def test_levels_are_found(algorithm: Algorithm, tmp_path: Path):
    """Two towns per region of five records each, k of ten: the region is enough, nobody need say less."""
    rows = [(40, town, ("flu", "gout")[j % 2]) for below in TOWNS.values() for town in below for j in range(5)]
    frame = pl.DataFrame(rows, schema=["age", "town", "illness"], orient="row")
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(10))
    assert release.n_suppressed == 0
    assert groups == {("40", region): 10 for region in TOWNS}


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a.scheme == "full-domain"], ids=str)
def test_few_outliers_are_suppressed_rather_than_everybody_coarsened(algorithm: Algorithm, tmp_path: Path):
    """Three odd records among many are left out when that is allowed, and everybody else keeps all detail."""
    odd = pl.DataFrame({"age": [91, 92, 93], "town": ["Kiel"] * 3, "illness": ["flu"] * 3})
    frame = pl.concat([clusters([20] * 6), odd])
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(10), max_suppressed=0.05)
    assert release.n_suppressed == 3
    assert len(groups) == 6
    assert set(groups.values()) == {20}

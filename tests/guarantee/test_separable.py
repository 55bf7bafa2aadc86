"""Protection that needs no loss costs none: groups that are there already are found and published as they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from checker import read_release
from whole_jobs import algorithm_variants

import tarnkappe as tk
from tarnkappe.algorithms import Algorithm

ALGORITHMS = algorithm_variants()

TOWNS = {"North": ["Kiel", "Husum"], "South": ["Ulm", "Passau"], "Abroad": ["Basel", "Wien"]}


def clusters(sizes: list[int]) -> pl.DataFrame:
    """Well separated groups: own ages, own town, and the same illnesses everywhere."""
    towns = [town for below in TOWNS.values() for town in below]
    rows = []
    for i, size in enumerate(sizes):
        rows += [(20 + 10 * i, towns[i % len(towns)], ("flu", "gout")[j % 2]) for j in range(size)]
    return pl.DataFrame(rows, schema=["age", "town", "illness"], orient="row")


def released(frame: pl.DataFrame, algorithm: Algorithm, folder: Path, *criteria: tk.KAnonymity, **settings: float):
    job = tk.Job(
        quasi={"age": tk.numeric(), "town": tk.tree(TOWNS)},
        sensitive=["illness"],
        criteria=criteria,
        algorithm=algorithm,
        **settings,  # type: ignore[arg-type]
    )
    release = tk.run_job(job, frame, folder / "release", seed=1)
    return release, Counter(row[:2] for row in read_release(folder / "release").rows)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
@pytest.mark.parametrize("k", [1, 2, 10])
def test_equal_records_stay_as_they_are(algorithm: Algorithm, k: int, tmp_path: Path):
    """Where every combination has k records, nothing is coarsened."""
    frame = clusters([10, 12, 14, 16, 18, 20])
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(k))
    assert release.n_suppressed == 0
    # Relaxed cuts may divide equal records, but only into groups that look the same, which are one again.
    assert sorted(groups.items()) == sorted(
        (tuple(map(str, key)), n) for key, n in Counter(frame.select("age", "town").rows()).items()
    )
    assert release.score("gcp") == 0
    assert release.score("suppressed-share") == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_diverse_clusters_stay_as_they_are(algorithm: Algorithm, tmp_path: Path):
    """Criteria about the secret that every cluster satisfies cost nothing either."""
    criteria = (tk.KAnonymity(4), tk.LDiversity("illness", 2), tk.TCloseness("illness", 0.1))
    release, groups = released(clusters([10] * 6), algorithm, tmp_path, *criteria)  # type: ignore[arg-type]
    if getattr(algorithm, "cut", "") == "relaxed":
        assert len(groups) >= 3  # halving six equal clusters cuts through one of them
    else:
        assert len(groups) == 6
        assert release.score("gcp") == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_clusters_with_spread_are_told_apart(algorithm: Algorithm, tmp_path: Path):
    """Six clusters of several ages each: whoever pools towns of different regions has not understood."""
    if algorithm.scheme == "full-domain":
        pytest.skip("the same level for everybody cannot follow clusters; see the test with levels")
    towns = [town for below in TOWNS.values() for town in below]
    rows = [(20 + 10 * i + j % 4, towns[i], ("flu", "gout")[j // 4 % 2]) for i in range(6) for j in range(16)]
    frame = pl.DataFrame(rows, schema=["age", "town", "illness"], orient="row")
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(8))
    assert len(groups) >= 6
    assert release.score("gcp") < 0.1
    assert not {town for _, town in groups} & {"*", *TOWNS}


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_levels_are_found(algorithm: Algorithm, tmp_path: Path):
    """Two towns per region of five records each, k of ten: the region is enough, nobody need say less."""
    rows = [(40, town, ("flu", "gout")[j % 2]) for below in TOWNS.values() for town in below for j in range(5)]
    frame = pl.DataFrame(rows, schema=["age", "town", "illness"], orient="row")
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(10))
    assert release.n_suppressed == 0
    if getattr(algorithm, "cut", "") == "relaxed":
        assert len(groups) >= 2
    else:
        assert groups == {("40", region): 10 for region in TOWNS}


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a.scheme == "full-domain"], ids=str)
def test_few_outliers_are_suppressed_rather_than_everybody_coarsened(algorithm: Algorithm, tmp_path: Path):
    """Three odd records among many are left out when that is allowed, and everybody else keeps all detail."""
    frame = pl.concat([clusters([20] * 6), pl.DataFrame({"age": [91, 92, 93], "town": ["Kiel"] * 3, "illness": ["flu"] * 3})])
    release, groups = released(frame, algorithm, tmp_path, tk.KAnonymity(10), max_suppressed=0.05)
    assert release.n_suppressed == 3
    assert len(groups) == 6
    assert set(groups.values()) == {20}

"""Records drawn anew: what is written keeps the moments of every group, counted from outside; lies are found."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.algorithms.microaggregation.regenerated import RegeneratedCondensation
from tarnkappe.audit import audit
from tarnkappe.criteria.k_indistinguishability import KIndistinguishability
from tarnkappe.errors import DataError, JobError, VerificationError
from tarnkappe.job.places import OutputSettings
from tarnkappe.publish import regenerated
from tarnkappe.publish.regenerated import Regenerated, redrawn, wrong_moments
from tarnkappe.testing import check_criterion

NAMES = ["age", "height", "income"]


def people(seed: int = 0, n: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    return pl.DataFrame(
        {
            "age": age,
            "height": np.round(rng.normal(170, 9, n), 1),
            "income": np.round(1000 + 30.0 * age + rng.gamma(2, 500, n)),
            "illness": rng.choice(["flu", "cold", "gout", "angina"], n),
        }
    )


def job(k: int = 12, decimals: int = 6, criteria: tuple[Any, ...] = (), **settings: Any) -> tk.Job:
    return tk.Job(
        quasi={name: tk.numeric() for name in NAMES},
        sensitive=["illness"],
        criteria=[KIndistinguishability(k), *criteria],
        algorithm=RegeneratedCondensation(decimals),
        output=OutputSettings(format="csv"),
        **settings,
    )


def written(folder: Path) -> tuple[np.ndarray, list[str], np.ndarray]:
    """The numbers, the illnesses and the hidden groups of a release folder."""
    file = next(p for p in (folder / "public").glob("*.csv") if p.name != "codebook.csv")
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    numbers = np.array([[float(row[name]) for name in NAMES] for row in rows])
    group = pl.read_parquet(folder / "do-not-share/witness.parquet")["group"].to_numpy()
    return numbers, [row["illness"] for row in rows], group


# --- drawing ----------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(1, 5), st.lists(st.integers(0, 9), min_size=1, max_size=6))
@settings(max_examples=examples(40))
def test_mean_and_covariances_are_those_of_every_group(seed: int, d: int, extra: list[int]):
    rng = np.random.default_rng(seed)
    sizes = np.array([d + 2 + e for e in extra])
    starts = np.append(0, np.cumsum(sizes))
    points = rng.normal(size=(starts[-1], d)) @ rng.normal(size=(d, d)) * 10.0 ** rng.integers(-2, 4) + 1000
    if seed % 3 == 0:
        points[:, 0] = 7.0  # nobody differs
    new = redrawn(points, starts, rng)
    for a, b in pairwise(starts):
        scale = np.abs(points[a:b] - points[a:b].mean(axis=0)).max() + 1e-9
        np.testing.assert_allclose(new[a:b].mean(axis=0), points[a:b].mean(axis=0), atol=1e-9 * scale + 1e-9)
        was, now = (np.cov(x[a:b].T, bias=True) for x in (points, new))
        np.testing.assert_allclose(now, was, atol=1e-8 * scale**2)
        if seed % 3:
            assert not np.isclose(new[a:b, None], points[None, a:b], rtol=0, atol=1e-9 * scale).all(axis=2).any()


def test_draws_are_uniform_along_the_axes_of_a_large_group():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(4000, 2)) * [10.0, 1.0]
    new = redrawn(points, np.array([0, 4000]), rng)
    off = (new - new.mean(axis=0)) / new.std(axis=0)
    assert np.abs(off).max() < 1.9  # a uniform variable of variance 1 lies within the root of 3
    assert abs(np.mean(np.abs(off) < np.sqrt(3) / 2) - 0.5) < 0.05


def test_two_records_would_be_drawn_as_they_were():
    """Why groups must be larger: mean and variance of two numbers say which they are."""
    new = redrawn(np.array([[3.0], [8.0]]), np.array([0, 2]), np.random.default_rng(1))
    np.testing.assert_allclose(np.sort(new.ravel()), [3.0, 8.0])


def test_wrong_moments_are_told():
    rng = np.random.default_rng(2)
    before, group = rng.normal(size=(40, 2)), np.repeat(np.arange(2, dtype=np.int32), 20)
    after = redrawn(before, np.array([0, 20, 40]), rng)
    assert wrong_moments(before, np.round(after, 3), group, 3) == []
    moved, wider = after.copy(), after.copy()
    moved[3, 0] += 0.2
    wider[:20] = (after[:20] - before[:20].mean(axis=0)) * 1.01 + before[:20].mean(axis=0)
    assert wrong_moments(before, moved, group, 3)[0] == "means of groups are not kept"
    assert wrong_moments(before, wider, group, 3) == ["covariances of groups are not kept"]


# --- whole jobs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decimals", [0, 2, 6])
@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_written_records_keep_the_moments_of_groups(decimals: int, engine: str, tmp_path: Path):
    """Everybody is assigned to the group of condensation again, by means alone: no other way gives these."""
    table = people(1)
    tk.run_job(job(12, decimals, (tk.LDiversity("illness", 2),), engine=engine), table, tmp_path / "out", seed=3)
    numbers, illness, group = written(tmp_path / "out")
    sizes = np.bincount(group)[1:]
    assert sizes.min() >= 12
    original = table.select(NAMES).to_numpy().astype(float)
    half = 0.5 * 10.0**-decimals
    # Groups keep their means and covariances, so the whole table does, up to what is written.
    np.testing.assert_allclose(numbers.mean(axis=0), original.mean(axis=0), atol=half + 1e-9)
    was, now = np.cov(original.T, bias=True), np.cov(numbers.T, bias=True)
    scale = original.std(axis=0)
    assert np.all(np.abs(now - was) <= half * (scale[:, None] + scale[None, :] + half) + 1e-6)
    # Columns of whole numbers add up to whole numbers in every group.
    sums = np.bincount(group, numbers[:, 0])[1:]
    assert np.all(np.abs(sums - np.round(sums)) <= sizes * half + 1e-6)
    assert sorted(illness) == sorted(table["illness"])
    assert all(len({i for i, g in zip(illness, group, strict=True) if g == n}) >= 2 for n in np.unique(group))
    if decimals == 6:
        assert not (set(map(tuple, numbers)) & set(map(tuple, original)))
    assert audit(str(tmp_path / "out")).ok


def test_groups_are_large_enough_to_be_drawn_from(tmp_path: Path):
    release = job(2).anonymize(people(2), seed=1)
    assert release.smallest_group >= len(NAMES) + 2
    assert [v.asked for v in release.verdicts] == ["k-indistinguishability ≥ 2", "k-indistinguishability ≥ 5"]


def test_numbers_of_groups_and_order_are_not_published(tmp_path: Path):
    tk.run_job(job(), people(3), tmp_path / "out", seed=1)
    numbers, _, group = written(tmp_path / "out")
    assert np.abs(np.diff(group)).mean() > 1  # rows of a group do not stand together
    assert numbers.shape == (200, 3)
    report = (tmp_path / "out/public/report.html").read_text()
    assert "No row is a person" in report
    assert "shares its" not in report
    (tmp_path / "out/public").rename(tmp_path / "shared")
    file = next(p for p in (tmp_path / "shared").glob("*.csv") if p.name != "codebook.csv")
    with pytest.raises(DataError, match="E410"):
        audit(str(file))


def test_columns_may_be_called_as_ours_are(tmp_path: Path):
    asked = tk.Job(
        quasi={"age": tk.numeric(), "height": tk.numeric()},
        sensitive=["group"],
        drop=["income"],
        criteria=[KIndistinguishability(10)],
        algorithm=RegeneratedCondensation(),
    )
    tk.run_job(asked, people(8).rename({"illness": "group"}), tmp_path / "out", seed=1)
    assert audit(str(tmp_path / "out")).ok


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path):
    found = []
    for folder, engine in (("a", "memory"), ("b", "memory"), ("c", "streaming")):
        tk.run_job(job(engine=engine), people(4), tmp_path / folder, seed=9)
        found.append(next((tmp_path / folder / "public").glob("r*.csv")).read_bytes())
    assert found[0] == found[1] == found[2]


def test_an_edited_table_is_found_out(tmp_path: Path):
    """Not by strangers, who cannot; nor by its groups: by its checksum."""
    tk.run_job(job(), people(5), tmp_path / "out", seed=1)
    file = next((tmp_path / "out/public").glob("r*.csv"))
    file.write_text(file.read_text().replace("flu", "gout", 1))
    assert audit(str(tmp_path / "out")).same_as_manifest is False


def test_what_it_cannot_do():
    table = people(6)
    for criterion in (tk.KAnonymity(5), tk.MaxRisk(0.1)):
        asked = tk.Job(
            quasi={name: tk.numeric() for name in NAMES},
            sensitive=["illness"],
            criteria=[criterion],
            algorithm=RegeneratedCondensation(),
        )
        with pytest.raises(JobError, match=r"E111 .*no two of them look alike"):
            asked.anonymize(table)
    texts = tk.Job(
        quasi={"age": tk.numeric(), "illness": tk.suppress()},
        drop=["height", "income"],
        criteria=[KIndistinguishability(10)],
        algorithm=RegeneratedCondensation(),
    )
    with pytest.raises(JobError, match=r"E111 .*cannot draw 'illness': it does not hold numbers"):
        texts.anonymize(table)


# --- broken on purpose ------------------------------------------------------------------------------------------------


def as_they_were(points: np.ndarray, starts: np.ndarray, rng: Any) -> np.ndarray:
    """Records of the next group: all values are real, and all moments wrong."""
    return np.roll(points, 1, axis=0)


def on_average(points: np.ndarray, starts: np.ndarray, rng: Any) -> np.ndarray:
    """Means are kept, covariances on average only."""
    out = np.empty_like(points)
    for a, b in pairwise(starts):
        drawn = (rng.random((b - a, points.shape[1])) - 0.5) * np.sqrt(12) * points[a:b].std(axis=0)
        out[a:b] = points[a:b].mean(axis=0) + drawn - drawn.mean(axis=0)
    return out


def another_order(self: Regenerated, plan: Any, rng: Any) -> pl.DataFrame:
    return pl.DataFrame({"group": plan.deal.groups_in(0, plan.n_groups) + 1})


@pytest.mark.parametrize(
    ("place", "name", "broken"),
    [
        (regenerated, "redrawn", as_they_were),
        (regenerated, "redrawn", on_average),
        (Regenerated, "witness", another_order),
    ],
)
def test_a_lie_is_found_and_nothing_is_left(
    place: Any, name: str, broken: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(place, name, broken)
    with pytest.raises(VerificationError, match="E501"):
        tk.run_job(job(), people(7), tmp_path / "out", seed=1)
    assert list(tmp_path.iterdir()) == []


def test_the_criterion_obeys_the_laws():
    check_criterion(KIndistinguishability(5))

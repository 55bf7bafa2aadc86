"""Worked figures: what the papers say a mask leaves as it was, on written tables."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from conftest import patients
from tarnkappe.errors import DataError
from tarnkappe.masks import Mask

WHY = "reviewed by the board, and nobody outside knows it"


def normal(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    cov = np.array([[4.0, 3.0, -1.0], [3.0, 9.0, 0.5], [-1.0, 0.5, 1.0]])
    return pl.DataFrame(rng.multivariate_normal([10, -5, 0], cov, n), schema=["a", "b", "c"], orient="row")


def release(frame: pl.DataFrame, mask: Mask, seed: int = 1) -> pl.DataFrame:
    """What stands in the written file."""
    columns = [tk.Column(name, "keep", because=WHY) for name in frame.columns]
    with TemporaryDirectory() as place:
        tk.mask(frame, mask, columns=columns, folder=Path(place) / "release", seed=seed)
        return pl.read_parquet(Path(place) / "release" / "public" / "release.parquet")


def test_kims_correction_restores_mean_and_covariance():
    frame = normal(20_000, 1)
    mask = tk.AdditiveNoise(["a", "b", "c"], variance_share=0.5, correlated=True, corrected=True)
    x, z = frame.to_numpy(), release(frame, mask).to_numpy()
    assert np.abs(x.mean(axis=0) - z.mean(axis=0)).max() < 0.1
    assert np.abs(np.cov(x, rowvar=False) / np.cov(z, rowvar=False) - 1)[:2, :2].max() < 0.06
    assert np.abs(np.corrcoef(x, rowvar=False) - np.corrcoef(z, rowvar=False)).max() < 0.03


def test_without_it_the_covariance_grows_by_the_share():
    frame = normal(20_000, 2)
    z = release(frame, tk.AdditiveNoise(["a", "b"], variance_share=0.5, correlated=True)).to_numpy()
    grown = np.cov(z[:, :2], rowvar=False) / np.cov(frame.to_numpy()[:, :2], rowvar=False)
    assert np.abs(grown - 1.5).max() < 0.06


def test_uncorrelated_noise_keeps_covariances_and_weakens_correlations():
    frame = normal(20_000, 3)
    x, z = frame.to_numpy(), release(frame, tk.AdditiveNoise(["a", "b"], variance_share=1.0)).to_numpy()
    assert abs(np.cov(x[:, 0], x[:, 1])[0, 1] - np.cov(z[:, 0], z[:, 1])[0, 1]) < 0.3
    assert np.corrcoef(z[:, 0], z[:, 1])[0, 1] == pytest.approx(np.corrcoef(x[:, 0], x[:, 1])[0, 1] / 2, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("t", [2, 3])
def test_data_swapping_keeps_every_table_exactly(seed: int, t: int):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({name: rng.integers(0, k, 1500) for name, k in zip("abcds", (2, 3, 2, 3, 3), strict=True)})
    table = release(frame, tk.DataSwapping("s", beside=list("abcd"), t=t, attempts=60), seed)
    for size in range(1, t + 1):
        for names in combinations("abcds", size):
            assert _counts(frame, names).equals(_counts(table, names)), names
    assert not _counts(frame, "abcds").equals(_counts(table, "abcds")), "and yet something moved"


def _counts(frame: pl.DataFrame, names: object) -> pl.DataFrame:
    return frame.group_by(list(names)).len().sort(list(names))


def test_frequencies_after_pram_are_those_expected():
    frame = patients(3000, 4).select("sex", "illness")
    mean = {}
    for seed in range(20):
        table = release(frame, tk.Pram("illness", stay_share=0.5, by=["sex"]), seed)
        for row in _counts(table, ["sex", "illness"]).iter_rows():
            mean[row[:2]] = mean.get(row[:2], 0) + row[2] / 20
    for *group, n in _counts(frame, ["sex", "illness"]).iter_rows():
        assert mean[tuple(group)] == pytest.approx(n, abs=5 * np.sqrt(n / 20)), group


def test_about_as_many_change_as_draw_another_value():
    frame = patients(4000, 5).select("illness").with_row_index("row")
    table = release(frame, tk.Pram("illness", stay_share=0.6)).sort("row")
    p = frame["illness"].value_counts(normalize=True)["proportion"].to_numpy()
    expected = 0.4 * (1 - (p**2).sum())
    assert (table["illness"] != frame["illness"]).mean() == pytest.approx(expected, abs=0.03)


def test_rank_swapping_moves_nobody_beyond_the_window_and_light_tails_do():
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"x": rng.permutation(5000).astype(float)}).with_row_index("row")
    bounded = release(frame, tk.RankSwapping(["x"], window_percent=4, tails="bounded")).sort("row")
    light = release(frame, tk.RankSwapping(["x"], window_percent=4)).sort("row")
    moved = np.abs(bounded["x"].to_numpy() - frame["x"].to_numpy())
    assert 0 < moved.max() <= 200
    assert (moved > 0).mean() > 0.98
    far = np.abs(light["x"].to_numpy() - frame["x"].to_numpy())
    assert far.max() > 200, "no window excludes anybody"
    assert (far <= 200).mean() > 0.8


def test_shuffling_keeps_rank_correlations_and_cuts_the_tie_to_the_own_value():
    frame = normal(10_000, 7).with_row_index("row")
    table = release(frame, tk.Shuffling(["a", "b"], beside=["c"])).sort("row")
    x, z = frame.drop("row"), table.drop("row")
    assert np.abs(x.corr().to_numpy() - z.corr().to_numpy()).max() < 0.05
    given = np.corrcoef(x["a"], x["c"])[0, 1] ** 2  # what the column beside tells, and nothing more
    assert np.corrcoef(x["a"], z["a"])[0, 1] == pytest.approx(given, abs=0.05)


def test_shuffling_leaves_nobody_their_number_for_lack_of_another():
    frame = normal(4000, 8).with_row_index("row")
    gaps = frame.with_columns(pl.when(pl.col("row") % 5 > 0).then("c"), pl.when(pl.col("row") % 7 > 0).then("b"))
    table = release(gaps, tk.Shuffling(["a", "b"], beside=["c"])).sort("row")
    for name in ("a", "b"):
        assert (table[name] == gaps[name]).sum() < 10
        assert table[name].sort().equals(gaps[name].sort())
        assert table[name].is_null().equals(gaps[name].is_null())
    whole = pl.all_horizontal(pl.col("a", "b", "c").is_not_null())
    x, z = (t.filter(whole).drop("row").corr().to_numpy() for t in (gaps, table))
    assert np.abs(x - z).max() < 0.07


def test_dates_without_a_person_do_not_move_together():
    frame = patients(600, 8).select("person", "visit", "discharge").with_row_index("row")
    frame = frame.with_columns(pl.when(pl.col("row") % 3 > 0).then("person"))
    dates = tk.DateShift(["visit", "discharge"], person="person", max_days=300)
    columns = [tk.Column("person", "drop"), *(tk.Column(name, "keep", because=WHY) for name in frame.columns[:1])]
    table = tk.mask(frame, dates, columns=columns, seed=4).table.sort("row")
    days = [(table[name] - frame[name]).dt.total_days() for name in ("visit", "discharge")]
    assert days[0].equals(days[1], check_names=False)
    nobody = days[0].filter(frame["person"].is_null())
    assert nobody.n_unique() > 100, "one known date would tell those of 200 people"


def test_record_swapping_changes_about_the_share_and_rare_ones_first():
    frame = patients(4000, 8).select("age", "sex", "region", "illness").with_row_index("row")
    mask = tk.RecordSwapping("region", share=0.1, match=["sex"], rare=["age", "sex", "illness"])
    table = release(frame, mask).sort("row")
    changed = (table["region"] != frame["region"]).to_numpy()
    assert changed.mean() == pytest.approx(0.1, abs=0.02)
    alone = frame.select(pl.len().over("age", "sex", "illness") == 1).to_series().to_numpy()
    assert changed[alone].mean() > 0.9
    assert _counts(frame, ["region", "sex"]).equals(_counts(table, ["region", "sex"]))


@pytest.mark.parametrize(
    ("numbers", "base"),
    [([1e10, 1e10 + 0.006, 3.0], 0.01), ([123456789012.34, -5e11, 0.004], 0.01), ([1e19, -7.5], 3e5)],
)
def test_large_numbers_are_rounded(numbers: list[float], base: float):
    made = tk.mask(pl.DataFrame({"x": numbers}), tk.Rounding("x", base=base), seed=1).table["x"]
    for x, z in zip(sorted(numbers), made.sort(), strict=True):
        assert abs(x - z) <= base / 2 * (1 + 1e-6) + 1e-15 * abs(x)


def test_a_base_that_large_numbers_cannot_show_is_refused():
    with pytest.raises(DataError, match="cannot be told apart") as refused:
        tk.mask(pl.DataFrame({"x": [-1e100, 0.0]}), tk.Rounding("x", base=0.1), seed=1)
    assert refused.value.code == "E421"


@pytest.mark.parametrize("day", ["0001-04-30", "9999-12-31"])
@pytest.mark.parametrize("typed", [True, False])
def test_dates_that_cannot_be_moved_are_refused(day: str, typed: bool):
    """The last day of 9999 stands for no date in many tables: moved, it would be none that others can read."""
    table = pl.DataFrame({"day": [day, "2020-02-29"], "person": ["a", "b"]})
    table = table.with_columns(pl.col("day").str.to_date()) if typed else table
    with pytest.raises(DataError, match="cannot be moved") as refused:
        tk.mask(
            table, tk.DateShift(["day"], person="person", max_days=400), columns=[tk.Column("person", "identifier")]
        )
    assert ("missing: [" in str(refused.value)) != typed

"""max-linkage: the kernels against plain code, and what it says about strong and weak masks."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.cli.app import app as main
from tarnkappe.errors import JobError, VerificationError
from tarnkappe.io import open_source
from tarnkappe.masking.linking import linked
from tarnkappe.masks import Mask

WHY = "reviewed by the board, and nobody outside knows it"


def numbers(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n).round(1), "s": rng.choice(["x", "y"], n)})


def plain_distance(x: pl.DataFrame, z: pl.DataFrame) -> float:
    right = 0.0
    for i, row in enumerate(x.iter_rows()):
        far = [
            sum((p - q) ** 2 / x[c].std(ddof=0) ** 2 for c, p, q in zip("ab", row, other, strict=False))
            + (row[2] != other[2])
            for other in z.iter_rows()
        ]
        if far[i] <= min(far) + 1e-12:
            right += 1 / sum(f <= far[i] + 1e-12 for f in far)
    return right / x.height


def plain_ranks(x: pl.DataFrame, z: pl.DataFrame, percent: float) -> float:
    right, half = 0.0, max(percent / 100 * x.height, 1)
    ranks = {c: [sum(v < w for v in z[c]) for w in z[c]] for c in "ab"}
    for i, row in enumerate(x.iter_rows(named=True)):
        fits = [
            z["s"][r] == row["s"]
            and all(
                sum(v < row[c] for v in z[c]) - half <= ranks[c][r] <= sum(v <= row[c] for v in z[c]) + half
                for c in "ab"
            )
            for r in range(z.height)
        ]
        right += fits[i] / max(sum(fits), 1)
    return right / x.height


@pytest.mark.parametrize("seed", range(4))
def test_links_are_those_of_plain_code(seed: int):
    rng = np.random.default_rng(seed)
    x = numbers(60, seed)
    z = x.with_columns(
        pl.col("a", "b") + pl.Series(rng.normal(0, 0.3, 60)), s=pl.Series(rng.permutation(x["s"].to_numpy()))
    )
    asked = tk.MaxLinkage(1.0, windows_percent=[10])
    found = linked(open_source(x), open_source(z), ["a", "b", "s"], asked, rng)
    assert found["distance"] == pytest.approx(plain_distance(x, z))
    assert found["rank-interval"] == pytest.approx(plain_ranks(x, z, 10))
    assert 0 <= found["probabilistic"] <= 1


def test_an_unchanged_table_is_linked_by_everybody():
    x = pl.DataFrame({"a": np.arange(200.0), "b": np.arange(200.0)[::-1]})
    found = linked(open_source(x), open_source(x), ["a", "b"], tk.MaxLinkage(1.0), np.random.default_rng(0))
    assert found["distance"] == 1
    assert max(found.values()) == 1
    chance = x.select(pl.all().shuffle(seed=1))
    lost = linked(open_source(x), open_source(chance), ["a", "b"], tk.MaxLinkage(1.0), np.random.default_rng(0))
    assert max(lost.values()) < 0.05


def released(frame: pl.DataFrame, mask: Mask, share: float, folder: Path) -> object:
    columns = [tk.Column(name, "keep", because=WHY) for name in frame.columns]
    return tk.mask(frame, mask, columns=columns, linkage=tk.MaxLinkage(share), folder=folder, seed=1)


def test_weak_masks_are_refused_and_strong_ones_are_not(tmp_path: Path):
    frame = numbers(500, 1).select("a", "b")
    weak = tk.AdditiveNoise(["a", "b"], variance_share=1e-6)
    with pytest.raises(VerificationError) as error:
        released(frame, weak, 0.05, tmp_path / "weak")
    assert error.value.code == "E503"
    assert not (tmp_path / "weak").exists()
    strong = released(frame, tk.AdditiveNoise(["a", "b"], variance_share=4), 0.05, tmp_path / "strong")
    assert strong.verdicts[-1].criterion == "max-linkage"
    assert 0 < max(strong.private_manifest["linkage"].values()) <= 0.05
    told = (tmp_path / "strong" / "public" / "manifest.json").read_text()
    assert "linkage" in told
    assert str(strong.verdicts[-1].reached) not in told, "how many links are right is not for readers"


def test_light_tails_withstand_the_intersection_of_ranks_better_than_a_bounded_window():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({f"c{j}": rng.normal(size=1000) for j in range(6)})
    names, share = frame.columns, {}
    for tails in ("bounded", "light"):
        table = tk.mask(
            frame.with_row_index("row"),
            tk.RankSwapping(names, window_percent=8, tails=tails),
            columns=[tk.Column("row", "keep", because=WHY)],
            seed=2,
        ).table.sort("row")
        asked = tk.MaxLinkage(1.0, attacks=["rank-interval"], windows_percent=[8])
        share[tails] = linked(open_source(frame), open_source(table.select(names)), names, asked, rng)["rank-interval"]
    assert share["bounded"] > 0.9, "who knows the window finds everybody"
    assert share["light"] < 0.8 * share["bounded"]


def test_the_window_that_the_manifest_tells_is_tried(tmp_path: Path):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({f"c{j}": rng.normal(size=600) for j in range(6)})
    with pytest.raises(VerificationError, match="E503"):
        tk.mask(
            frame,
            tk.RankSwapping(frame.columns, window_percent=8, tails="bounded"),
            linkage=tk.MaxLinkage(0.5, attacks=["rank-interval"], windows_percent=[1]),
            folder=tmp_path / "out",
        )
    assert not (tmp_path / "out").exists()


def test_max_linkage_needs_a_way_to_link():
    with pytest.raises(JobError, match="E110"):
        tk.MaxLinkage(0.1, attacks=[])
    with pytest.raises(JobError, match="E110"):
        tk.MaxLinkage(0.1, attacks=["magic"])


def plain_likelihood(x: pl.DataFrame, z: pl.DataFrame, near: float) -> float:
    """Fellegi and Sunter as they write it: pairs agree in columns, weights by expectation maximisation."""
    spread = {c: x[c].std(ddof=0) for c in "ab"}
    pairs = [
        [(*(abs(p[c] - q[c]) / spread[c] <= near for c in "ab"), p["s"] == q["s"]) for q in z.to_dicts()]
        for p in x.to_dicts()
    ]
    seen = Counter(pattern for row in pairs for pattern in row)
    total, share = sum(seen.values()), 1 / z.height
    m = [0.9] * 3
    u = [sum(n for pattern, n in seen.items() if pattern[j]) / total for j in range(3)]

    def chance(pattern: tuple[bool, ...], of: list[float]) -> float:
        return math.prod(o if agrees else 1 - o for agrees, o in zip(pattern, of, strict=True))

    for _ in range(100):
        right = {
            pattern: n * share * chance(pattern, m) / (share * chance(pattern, m) + (1 - share) * chance(pattern, u))
            for pattern, n in seen.items()
        }
        wrong = {pattern: n - right[pattern] for pattern, n in seen.items()}
        for j in range(3):
            m[j] = (sum(w for p, w in right.items() if p[j]) + 1) / (sum(right.values()) + 2)
            u[j] = sum(w for p, w in wrong.items() if p[j]) / sum(wrong.values())
            m[j] = max(m[j], u[j] + 0.01 * (1 - u[j]))
    weight = [(math.log(p / q), math.log((1 - p) / (1 - q))) for p, q in zip(m, u, strict=True)]
    found = 0.0
    for i, row in enumerate(pairs):
        score = [sum(w[not agrees] for agrees, w in zip(p, weight, strict=True)) for p in row]
        if score[i] >= max(score) - 1e-9:
            found += 1 / sum(s >= score[i] - 1e-9 for s in score)
    return found / x.height


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_written_release_is_linked_as_often_as_plain_code_links_it(tmp_path: Path, share: float):
    """From the files alone: a number that the attacker does not know says whose a record is."""
    people = numbers(150, 7).with_columns(pl.col("a").round(4)).with_row_index("row")
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "job.yaml").write_text(
        f"""
data: {{path: people.csv}}
columns:
  row: {{role: keep, because: "{WHY}"}}
  a: {{role: keep, type: numeric, because: "{WHY}"}}
  b: {{role: keep, type: numeric}}
  s: keep
masks:
  - additive-noise: {{columns: [a, b], variance_share: {share}}}
  - pram: {{column: s, stay_share: 0.8}}
criteria:
  - max-linkage: {{share: 1, columns: [a, b, s], windows_percent: [4]}}
output: {{folder: out}}
seed: 3
"""
    )
    with pytest.raises(SystemExit) as end:
        main(["run", str(tmp_path / "job.yaml")])
    assert end.value.code == 0
    found = json.loads((tmp_path / "out/do-not-share/manifest.json").read_text())["linkage"]
    z = pl.read_csv(tmp_path / "out/public/people.csv").sort("row").select("a", "b", "s")
    x = pl.read_csv(tmp_path / "people.csv").sort("row").select("a", "b", "s")
    assert found["distance"] == pytest.approx(plain_distance(x, z))
    assert found["rank-interval"] == pytest.approx(plain_ranks(x, z, 4))
    assert found["probabilistic"] == pytest.approx(plain_likelihood(x, z, 0.1))
    assert 0 < found["probabilistic"] < 1

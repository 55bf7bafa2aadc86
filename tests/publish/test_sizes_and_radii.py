"""Releases of r-gather tell the size and the radius of every group; plain Python counts and measures them anew."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.audit import audit
from tarnkappe.errors import VerificationError
from tarnkappe.pipeline import run_job
from tarnkappe.publish.centres import Centres


def job(k: int = 3, **more: object) -> tk.Job:
    return tk.Job(
        quasi={"x": tk.numeric(), "y": tk.numeric()},
        sensitive=["ill"],
        criteria=[tk.KAnonymity(k)],
        algorithm="r-gather",
        **more,
    )


def table(n: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    # The sensitive value tells each record, so that the test knows who was put where.
    return pl.DataFrame(
        {
            "x": rng.integers(0, 30, n),
            "y": rng.normal(0, 5, n).round(1),
            "ill": [f"i{i // 2}" for i in range(n)],
        }
    )


def deviation(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)) or 1.0


@given(st.integers(3, 60), st.integers(2, 5), st.integers(0, 1000), st.sampled_from(["csv", "parquet"]))
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sizes_are_counts_and_radii_cover(
    tmp_path_factory: pytest.TempPathFactory, n: int, k: int, seed: int, kind: str
):
    if n < k:
        return
    folder = tmp_path_factory.mktemp("r-gather")
    rng = np.random.default_rng(seed)
    xs = rng.integers(0, 12, n).tolist()
    # One quasi-identifier, and every record known by its sensitive column: an independent look at the distances.
    data = pl.DataFrame({"x": xs, "ill": [f"i{i}" for i in range(n)]})
    path = folder / f"data.{kind}"
    data.write_csv(path) if kind == "csv" else data.write_parquet(path)
    asked = tk.Job(
        quasi={"x": tk.numeric()},
        sensitive=["ill"],
        criteria=[tk.KAnonymity(k)],
        algorithm="r-gather",
        because={"ill": "made up for a test, nobody is in it"},
    )
    run_job(asked, path, folder / "out", seed=seed)
    written = folder / "out" / "public" / f"data.{kind}"
    rows = (pl.read_csv(written) if kind == "csv" else pl.read_parquet(written)).to_dicts()
    unit, true = deviation([float(x) for x in xs]), dict(zip(data["ill"], xs, strict=True))
    sizes = Counter(row["x"] for row in rows)
    far: dict[float, float] = defaultdict(float)
    for row in rows:
        far[row["x"]] = max(far[row["x"]], abs(true[row["ill"]] - row["x"]) / unit)
    assert min(sizes.values()) >= k
    for row in rows:
        assert row["group size"] == sizes[row["x"]]
        assert far[row["x"]] - 1e-6 <= row["radius"] <= far[row["x"]] + 0.01 + 1e-6
    # Whoever groups by the further columns, too, finds the same groups.
    assert len({(row["x"], row["group size"], row["radius"]) for row in rows}) == len(sizes)
    assert audit(folder / "out").ok


def test_memory_and_streaming_tell_the_same(tmp_path: Path):
    table(400).write_csv(tmp_path / "data.csv")
    found = []
    for engine in ("memory", "streaming"):
        run_job(job(engine=engine), tmp_path / "data.csv", tmp_path / engine, seed=1)
        found.append(sorted((tmp_path / engine / "public" / "data.csv").read_text().splitlines()))
    assert found[0] == found[1]
    assert "x,y,ill,group size,radius" in found[0]


def test_kept_columns_and_names_that_are_taken():
    data = table(40).with_columns(pl.Series("radius", ["r"] * 40), pl.Series("group size", ["s"] * 40))
    asked = tk.Job(
        quasi={"x": tk.numeric(), "y": tk.numeric()},
        sensitive=["ill", "radius"],
        keep=["group size"],
        criteria=[tk.KAnonymity(3)],
        algorithm="r-gather",
    )
    release = asked.anonymize(data, seed=1)
    assert release.table.columns == ["x", "y", "ill", "radius", "group size", "_group size", "_radius"]
    assert release.verify().ok


def test_they_can_be_left_out():
    release = tk.Job(
        quasi={"x": tk.numeric(), "y": tk.numeric()},
        sensitive=["ill"],
        criteria=[tk.KAnonymity(3)],
        algorithm={"name": "r-gather", "radii": False},
    ).anonymize(table(40), seed=1)
    assert release.table.columns == ["x", "y", "ill"]


def test_the_codebook_and_the_report_say_what_they_are(tmp_path: Path):
    run_job(job(), table(60), tmp_path / "out", seed=1)
    told = {
        row["column"]: row["meaning"] for row in pl.read_csv(tmp_path / "out" / "public" / "codebook.csv").to_dicts()
    }
    assert told["group size"] == "How many records have this centre."
    assert "rounded up" in told["radius"]
    assert "How many records have this centre." in (tmp_path / "out" / "public" / "report.html").read_text()


def test_a_marker_of_missing_values_that_a_size_happens_to_be(tmp_path: Path):
    table(60).with_columns(pl.col("x", "y") + 100).write_csv(tmp_path / "data.csv")
    (tmp_path / "job.yaml").write_text(
        f"""
data: {{path: {tmp_path / "data.csv"}, missing: ["3", ""]}}
columns: {{x: {{role: quasi, type: numeric}}, y: {{role: quasi, type: numeric}}, ill: {{role: sensitive}}}}
criteria:
  - k-anonymity: {{k: 3}}
algorithm: r-gather
"""
    )
    run_job(tk.Job.from_yaml(tmp_path / "job.yaml"), folder=tmp_path / "out", seed=1)


SABOTAGE: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "a size too large": lambda t: t.with_columns(pl.col("group size") + (pl.col("x") == t["x"][0]).cast(pl.Int64)),
    "one record's size": lambda t: t.with_columns(
        pl.Series("group size", [t["group size"][0] + 1, *t["group size"][1:]])
    ),
    "a radius too small": lambda t: t.with_columns(pl.max_horizontal(pl.col("radius") - 0.02, 0.0).alias("radius")),
    "radii too large": lambda t: t.with_columns(pl.col("radius") + 0.02),
    "no radii": lambda t: t.with_columns(pl.lit(None, pl.Float64).alias("radius")),
    "column away": lambda t: t.drop("radius"),
}


@pytest.mark.parametrize("change", SABOTAGE.values(), ids=SABOTAGE)
def test_what_is_changed_is_found(change: Callable, tmp_path: Path):
    from dataclasses import replace

    release = job().anonymize(table(60), seed=3)
    draft = release.draft
    assert draft is not None
    assert draft.verify({"": release.table}).untrue == ()
    with pytest.raises(VerificationError, match="E501"):
        replace(release, draft=replace(draft, tables={"": change(release.table)})).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_radius_that_was_found_wrongly_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    honest = Centres.figures

    def halved(self: Centres, *given: object) -> dict:
        from dataclasses import replace

        return {n: replace(f, values=np.floor(f.values / 2)) for n, f in honest(self, *given).items()}

    monkeypatch.setattr(Centres, "figures", halved)
    with pytest.raises(VerificationError, match="E501"):
        run_job(job(), table(60), tmp_path / "out", seed=1)

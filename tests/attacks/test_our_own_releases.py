"""On our own releases, whatever labels they publish: everybody in them fits at least k records, and nobody just one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.attacks import all_attacks
from tarnkappe.errors import TarnkappeError

N, K = 240, 4


def people(seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 20_000, N)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "height": (rng.integers(1500, 2000, N) / 10).tolist(),
            "zip": [f"{z:05d}" for z in rng.integers(0, 3000, N)],
            "birth": pl.Series(days).cast(pl.Int32).cast(pl.Date).cast(pl.String),
            "grade": rng.choice(["very good", "good", "so so", "bad"], N),
            "city": rng.choice(["Kiel", "Ulm", "Passau", "Bremen"], N),
            "illness": rng.choice(["flu", "cold", "gout", "burn"], N),
        }
    )


CITIES = {"north": ["Kiel", "Bremen"], "south": ["Ulm", "Passau"]}
QUASI: dict[str, dict[str, Any]] = {
    "ranges": {"age": tk.numeric(), "height": tk.numeric()},
    "intervals": {"age": tk.intervals(5, 10, 20, top=80), "height": tk.intervals(10, 20)},
    "quantiles": {"age": tk.quantiles(), "city": tk.suppress()},
    "codes": {"zip": tk.prefix(4, 3, 2, 1), "age": tk.numeric()},
    "dates": {"birth": tk.dates("month", "year", "decade"), "city": tk.tree(CITIES)},
    "orders": {"grade": tk.ordered("very good", "good", "so so", "bad"), "age": tk.numeric()},
    "runs": {"grade": tk.ordered("very good", "good", "so so", "bad", groups=(2,)), "city": tk.tree(CITIES)},
    "sets": {"city": tk.value_set("Kiel", "Ulm", "Passau", "Bremen"), "age": tk.numeric()},
    "rare": {"city": tk.frequency(0.2, 0.5), "age": tk.intervals(10)},
}


def released(quasi: dict[str, Any], data: Any, **more: Any) -> tk.Release:
    table = pl.DataFrame(data)
    job = tk.Job(quasi=quasi, sensitive=["illness"], drop="rest", criteria=[tk.KAnonymity(K)], seed=1, **more)
    return job.anonymize(table)


@pytest.mark.parametrize("kind", QUASI)
@pytest.mark.parametrize("algorithm", ["mondrian", "hilb", "datafly"])
def test_everybody_fits_k_records(kind: str, algorithm: str):
    data = people()
    release = released(QUASI[kind], data, algorithm=algorithm, max_suppressed=0.1)
    found = tk.attack("record-linkage", release, known=data)[0]
    assert found.rate == 0
    assert found.figures["fewest records that fit somebody"] >= K
    assert found.figures["fit no record"] <= release.n_suppressed


@pytest.mark.parametrize("kind", ["ranges", "codes", "sets", "dates"])
def test_gaps_are_values_of_their_own(kind: str):
    data = people().with_columns(pl.when(pl.int_range(N) % 9 != 0).then(pl.col(c)).alias(c) for c in QUASI[kind])
    release = released(QUASI[kind], data, missing_rule="own-value", max_suppressed=0.2)
    found = tk.attack("record-linkage", release, known=data)[0]
    assert found.rate == 0
    assert found.figures["fit no record"] <= release.n_suppressed


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_written_like_a_german_file(engine: str, tmp_path: Path):
    """Semicolons and decimal commas: the gate reads both files as they are written."""
    data = people().with_columns(pl.col("height").cast(pl.String).str.replace(".", ",", literal=True))
    data.write_csv(tmp_path / "leute.csv", separator=";")
    job = tk.Job(
        quasi={"height": tk.numeric(), "age": tk.numeric()},
        sensitive=["illness"],
        drop="rest",
        criteria=[tk.KAnonymity(K)],
        attacks=["record-linkage", tk.Homogeneity(margin=1.0), tk.AttributeLinkage(margin=1.0), "unsorted-matching"],
        engine=engine,
        seed=1,
    )
    release = tk.run_job(job, tmp_path / "leute.csv", tmp_path / "release")
    linked = release.attacks[0]
    assert (linked.rate, linked.figures["fit no record"], linked.trials) == (0, 0, N)
    again = tk.attack("record-linkage", tmp_path / "release", known=tmp_path / "leute.csv")[0]
    assert again.figures["fit no record"] == 0


def test_a_column_that_is_not_there_is_no_smaller_group():
    with pytest.raises(TarnkappeError) as caught:
        tk.attack("homogeneity", people(), quasi=["aeg"], sensitive=["illness"])
    assert "aeg" in str(caught.value)


def test_people_without_a_column_are_told_which():
    with pytest.raises(TarnkappeError, match="height"):
        tk.attack("record-linkage", people(), quasi=["age", "height"], known=people().drop("height"))


FORMS = ["anatomize", "slicing", "angel", "k-e-permutation", "mondrian", "mdav", "individual-sorting"]


@pytest.mark.parametrize("algorithm", FORMS)
def test_all_attacks_take_all_forms(algorithm: str):
    """Whatever a release consists of, an attack is carried out or says why not."""
    data = people().with_columns((pl.int_range(N) * 37 % 60).alias("income"))
    numbers = {"age": tk.numeric(), "height": tk.numeric()}
    secret, criteria = "illness", [tk.LDiversity("illness", 2)]
    if algorithm == "k-e-permutation":
        secret, criteria = "income", [tk.KEAnonymity("income", k=3, e=10)]
    if algorithm in ("mondrian", "mdav"):
        criteria = [tk.KAnonymity(K)]
    if algorithm == "individual-sorting":
        criteria = [tk.LKCPrivacy(l=1, k=K)]
    column = tk.Column(secret, "sensitive", "numeric" if secret == "income" else "categorical")
    job = tk.Job(quasi=numbers, columns=[column], drop="rest", criteria=criteria, algorithm=algorithm, seed=1)
    release = job.anonymize(data)
    found = tk.attack("all", release, known=data, others=[release], population=data, holdout=people(9), in_order=True)
    names = {one.attack for one in found} | {name for name, _ in found.skipped}
    assert names == set(all_attacks())
    for one in found:
        assert 0 <= one.low <= one.rate <= one.high <= 1
        assert 0 <= one.baseline <= 1
    assert all(why for _, why in found.skipped)
    json.dumps(found.as_dict())

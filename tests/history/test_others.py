"""Nested editions, releases after others, and batches: by the written files, nothing is gained by having several."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import tarnkappe as tk
from tarnkappe.criteria import Criterion
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.errors import DataError, InfeasibleError, JobError
from tarnkappe.history.appending import append_batch
from tarnkappe.history.editions import nested_editions
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.pooling import _pooled_in_pairs
from tarnkappe.history.sequential import publish_after_others


def people(n: int, seed: int, first: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(first, first + n)],
            "age": rng.integers(20, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(list("abcde"), n),
        }
    )


def job(quasi: dict[str, Any], k: int, ledger: Path | None = None, **more: Any) -> tk.Job:
    history = None if ledger is None else {"ledger": ledger, "subject": "id"}
    how: dict[str, Any] = {"criteria": [tk.KAnonymity(k)], "drop": "rest", "sensitive": ["ill"], "seed": 1}
    return tk.Job(**{**how, "quasi": quasi, "history": history, **more})


AGE_SEX = {"age": tk.numeric(), "sex": tk.suppress()}


def table(folder: Path) -> pl.DataFrame:
    (file,) = (f for f in (folder / "public").iterdir() if f.suffix in (".parquet", ".csv") and f.stem != "codebook")
    read = pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file, infer_schema=False)
    return read.with_columns(pl.col(c).cast(pl.String) for c in read.columns)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["mondrian", "ola", "local-suppression"]))
def test_whoever_has_all_editions_has_the_finest(tmp_path_factory, seed: int, algorithm: str):
    place = tmp_path_factory.mktemp("editions")
    shown = {"keep": ["id"], "drop": (), "because": {"id": "a test looks at it"}, "max_suppressed": 0.2}
    levels = {"ola": tk.intervals(5, 20), "local-suppression": tk.suppress()}
    quasi = {"age": levels.get(algorithm, tk.numeric()), "sex": tk.suppress()}
    made = job(quasi, 2, algorithm=algorithm, **shown)
    data = people(90, seed)
    nested_editions(made, data, place, {"researcher": [tk.KAnonymity(6)], "open": [tk.KAnonymity(20)]})
    tables = {name: table(place / name) for name in ("finest", "researcher", "open")}
    for name, k in (("finest", 2), ("researcher", 6), ("open", 20)):
        assert tables[name].group_by("age", "sex").len()["len"].min() >= k
    for fine, coarse in (("finest", "researcher"), ("researcher", "open")):
        both = tables[fine].join(tables[coarse], on="id", suffix=" coarse")
        assert both.height == tables[coarse].height
        inside = both.group_by("age", "sex").agg(pl.struct("age coarse", "sex coarse").n_unique().alias("n"))
        assert inside["n"].max() == 1, "a group of the finer edition lies in one of the coarser"
        for name in ("age", "sex"):
            pairs = both.select(name, f"{name} coarse").unique().iter_rows()
            assert all(ages(fine) <= ages(coarse) for fine, coarse in pairs), "a coarser label says no more"


def ages(label: str) -> set[str]:
    """What a label may stand for."""
    ends = re.findall(r"\d+", label)
    if label == "*":
        return {*map(str, range(200)), "f", "m"}
    return {*map(str, range(int(ends[0]), int(ends[-1]) + 1))} if ends else {label}


@pytest.mark.parametrize("algorithm", ["mdav", "anatomize"])
def test_editions_of_what_cannot_be_pooled_are_refused(tmp_path: Path, algorithm: str):
    """Of centres, boxes would say more than the finest edition; groups with numbers would stay as they are."""
    one, other = (tk.KAnonymity(k) if algorithm == "mdav" else tk.FrequencyLDiversity("ill", k) for k in (2, 3))
    made = tk.Job(
        quasi={"age": tk.numeric()}, sensitive=["ill"], drop="rest", criteria=[one], algorithm=algorithm, seed=1
    )
    with pytest.raises(JobError, match=r"E111 .* boxes"):
        nested_editions(made, people(90, 1), tmp_path / "editions", {"open": [other]})
    assert not (tmp_path / "editions").exists()


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_after_others_the_join_keeps_the_goal(tmp_path_factory, seed: int):
    """Age is published first, then sex and illness; by the written files, joined by persons, k holds."""
    place = tmp_path_factory.mktemp("after")
    data = people(80, seed).with_columns(pl.col("id").alias("row"))
    shown: dict[str, Any] = {"keep": ["row"], "because": {"row": "a test looks at it"}}
    goal = (
        [tk.KAnonymity(5), tk.XYPrivacy(y="ill", k=2, column="ill", value="a", h=0.9)]
        if seed % 2
        else [tk.KAnonymity(5)]
    )
    first = job({"age": tk.numeric()}, 5, place / "ledger", sensitive=[], **shown, algorithm="mondrian")
    tk.run_job(first, data.drop("ill", "sex"), place / "one")
    second = job(AGE_SEX, 5, place / "ledger", criteria=goal, **shown, algorithm="mondrian")
    try:
        publish_after_others(second, data, place / "two")
    except (InfeasibleError, DataError):
        assert seed % 2, "with k alone, all records in one group keep what the first release keeps"
        return
    one, two = table(place / "one"), table(place / "two")
    both = one.join(two, on="row", suffix=" two").group_by("age", "age two", "sex")
    joined = both.agg(pl.len(), pl.col("ill").n_unique().alias("l"), (pl.col("ill") == "a").mean().alias("share"))
    assert joined["len"].min() >= 5
    if seed % 2:
        assert joined["l"].min() >= 2
        assert joined["share"].max() <= 0.9
    assert len(Ledger.read(place / "ledger").lines) == 2


def test_coarser_editions_are_no_coarser_than_they_must_be():
    table = pl.DataFrame({"age": np.random.default_rng(1).integers(0, 2000, 3000)})
    job = tk.Job(quasi={"age": tk.numeric()}, criteria=[tk.KAnonymity(3)], algorithm="mondrian", seed=1)
    made = tk.nested_editions(job, table, None, {"open": [tk.KAnonymity(50)]})
    assert made["open"].n_groups >= 3000 / (3 * 50)


VISITS = pl.DataFrame(
    {
        "who": [f"p{i // 2}" for i in range(300)],
        "age": [20 + i % 50 for i in range(300)],
        "illness": ["flu", "cold", "gout"] * 100,
        "pay": [str(9 + i % 5 * (1 + i % 2)) for i in range(300)],
    }
)


@pytest.mark.parametrize(
    ("criterion", "code"),
    [
        (tk.TCloseness("illness", 0.1, "ordered"), "E111"),  # the order of texts was that of the dictionary
        (tk.TCloseness("illness", 0.1, "hierarchical"), "E111"),  # the taxonomy was made up
        (tk.LDiversity("nothing", 2), "E105"),
        (XYAnonymity("nobody", 2), "E105"),
        (tk.DeltaPresence(0.5, 0.1), "E103"),
        (tk.DifferentialPrivacy(2.0, 0.01), "E111"),  # groups pooled by the data were called differentially private
    ],
    ids=lambda c: getattr(c, "asked", None),
)
def test_criteria_of_editions_are_refused_as_those_of_jobs_are(criterion: Criterion, code: str):
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], drop="rest", criteria=[tk.KAnonymity(5)])
    with pytest.raises(JobError, match=code):
        nested_editions(job, VISITS, None, {"open": [tk.KAnonymity(20), criterion]})


def test_a_mechanism_has_no_editions():
    job = tk.Job(
        quasi={"age": tk.intervals(10, start=0, whole=True)},
        drop="rest",
        criteria=[tk.DifferentialPrivacy(3.0, 0.01)],
        algorithm=tk.Sdgs(levels={"age": 0}),
        max_suppressed=1.0,
    )
    with pytest.raises(JobError, match=r"E111 editions pool the groups that the data have"):
        nested_editions(job, VISITS, None, {"open": [tk.KAnonymity(20)]})


def test_numbers_are_numbers_to_the_criteria_of_editions():
    """As texts 10 comes before 9."""
    criteria = [tk.KAnonymity(5), tk.TCloseness("pay", 0.3, "ordered")]
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["pay"], drop="rest", criteria=criteria[:1], seed=1)
    made = nested_editions(job, VISITS, None, {"open": criteria})["open"]
    rows = [((age,), (int(pay),)) for age, pay in made.table.select("age", "pay").rows()]
    true = brute.t(rows, 0, "ordered", sorted({pay for _, (pay,) in rows}))
    assert made.verdicts[1].reached == pytest.approx(float(true))


def test_editions_count_people_and_speak_of_their_own_promise():
    people = tk.Job(quasi={"age": tk.numeric()}, subject="who", drop="rest", criteria=[XYAnonymity("who", 2)], seed=1)
    with pytest.raises(JobError, match="E111 k-anonymity counts records, but 'who'"):
        nested_editions(people, VISITS, None, {"open": [tk.KAnonymity(20)]})
    by_people = nested_editions(people, VISITS, None, {"open": [XYAnonymity("who", 20)]})["open"]
    assert by_people.verdicts[0].reached >= 20
    kept = tk.Job(quasi={"age": tk.numeric()}, keep=["pay"], drop="rest", criteria=[tk.KAnonymity(5)], seed=1)
    said = nested_editions(kept, VISITS, None, {"open": [tk.KAnonymity(50)]})["open"].notices
    assert any("in groups of fewer than 50" in n.message for n in said)


@pytest.mark.parametrize("names", [("public", "open"), ("finest", "internal"), ("a/b", "open")])
def test_no_edition_is_called_like_a_folder_of_a_release(tmp_path: Path, names: tuple[str, str]):
    """Who shares `editions/public` must not share what is to be kept."""
    finest, coarser = names
    with pytest.raises(JobError, match="E110"):
        nested_editions(job(AGE_SEX, 2), people(30, 1), tmp_path, {coarser: [tk.KAnonymity(5)]}, finest=finest)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("ok", "run"),
    [
        ([1, 1, 1], [0, 1, 2]),
        ([0, 0, 0, 0], [0, 0, 1, 1]),
        ([0, 0, 0, 1, 1], [0, 0, 1, 1, 2]),
        ([1, 0, 0, 0], [0, 1, 1, 1]),
        ([1, 0], [0, 0]),
        ([0, 1, 0, 0, 1], [0, 0, 1, 1, 2]),
        ([0], [0]),
    ],
)
def test_runs_are_pooled_in_pairs(ok: list[int], run: list[int]):
    assert _pooled_in_pairs(np.array(ok, bool)).tolist() == run


def test_after_others_needs_a_ledger(tmp_path: Path):
    with pytest.raises(JobError, match="ledger"):
        publish_after_others(job(AGE_SEX, 3), people(30, 1), tmp_path / "one")


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_batches_one_after_another(tmp_path_factory, seed: int):
    place = tmp_path_factory.mktemp("batches")
    made = job(AGE_SEX, 3, place / "ledger", criteria=[tk.KAnonymity(3), tk.LDiversity("ill", 2)], max_suppressed=0.3)
    tk.run_job(made, people(60, seed), place / "r0")
    for i in (1, 2):
        append_batch(made, people(30, seed + i, 60 + 30 * i), place / f"r{i - 1}", place / f"r{i}")
        old, new = table(place / f"r{i - 1}"), table(place / f"r{i}")
        names = ["age", "sex", "ill"]
        counts = (
            new.group_by(names)
            .len()
            .join(old.group_by(names).len(), on=names, how="full", coalesce=True, suffix=" old")
        )
        counts = counts.fill_null(0).with_columns((pl.col("len") - pl.col("len old")).alias("added"))
        assert counts["added"].min() >= 0, "what was published stays"
        added = counts.filter(pl.col("added") > 0).group_by("age", "sex")
        told = added.agg(pl.col("added").sum(), pl.col("ill").n_unique())
        assert told["added"].min() >= 3, "whoever takes the old release away finds groups that keep the goal"
        assert told["ill"].min() >= 2
        whole = new.group_by("age", "sex").agg(pl.len(), pl.col("ill").n_unique())
        assert whole["len"].min() >= 3
        assert whole["ill"].min() >= 2
    book = Ledger.read(place / "ledger")
    assert [line.people <= n for line, n in zip(book.lines, (60, 90, 120), strict=True)] == [True] * 3


@pytest.mark.parametrize("harm", ["nothing", "changed", "columns", "criteria"])
def test_batches_to_a_release_that_does_not_belong(tmp_path: Path, harm: str):
    tk.run_job(job(AGE_SEX, 3), people(60, 1), tmp_path / "old")
    batch, made, earlier = people(30, 2, 60), job(AGE_SEX, 3), tmp_path / "old"
    if harm == "nothing":
        earlier = tmp_path / "elsewhere"
    elif harm == "changed":
        file = tmp_path / "old/public/release.parquet"
        pl.read_parquet(file)[1:].write_parquet(file)
    elif harm == "columns":
        batch = batch.rename({"ill": "illness"})
        made = job(AGE_SEX, 3, sensitive=["illness"])
    else:
        made = job(AGE_SEX, 3, criteria=[tk.LDiversity("ill", 2)])
    with pytest.raises(DataError) as error:
        append_batch(made, batch, earlier, tmp_path / "new")
    assert error.value.code == "E448"
    assert not (tmp_path / "new").exists()

"""Noisy counts: the loss of every pair of neighbours, and nothing beside the counts that depends on a record."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from math import exp, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.bundles import audit_bundle
from tarnkappe.errors import JobError, VerificationError
from tarnkappe.histograms import audit_histogram, counting, noisy_counts, release
from tarnkappe.io import open_source
from tarnkappe.job.bins import bins_from
from tarnkappe.job.histogram import Histogram

BINS = {"age": {"from": 0, "to": 90, "width": 30}, "sex": ["f", "m"]}
PEOPLE = pl.DataFrame({"age": ["5", "31", "31", "88", "90", None], "sex": ["f", "m", "f", "x", "m", "f"]})

#: What one record may be like.
ODD = [
    {"age": "29.5", "sex": "f"},
    {"age": "1e300", "sex": "f"},
    {"age": "NaN", "sex": "*"},
    {"age": "inf", "sex": ""},
    {"age": "(other)", "sex": "(other)"},
    {"age": "unknown", "sex": "a, b"},
    {"age": None, "sex": None},
    {"age": "-3", "sex": 'so "called"'},
    {"age": "7", "sex": "F"},
]


def counts(frame: pl.DataFrame, asked: Histogram) -> list[np.ndarray]:
    return counting.true_counts(open_source(frame), asked, np.random.default_rng(1))


# --- the loss ---------------------------------------------------------------------------------------------------------


def mass(x: int, epsilon: float, sensitivity: int) -> float:
    a = exp(-epsilon / sensitivity)
    return (1 - a) / (1 + a) * a ** abs(x)


def small_tables(most: int) -> Iterator[list[tuple[str, str]]]:
    """All tables of few records over few values, one not named by the job; none is empty, which is refused."""
    values = list(product(["5", "40", "x"], ["f", "?"]))
    for n in range(1, most + 1):
        yield from (list(rows) for rows in combinations_with_replacement(values, n))


@pytest.mark.parametrize("tables", [None, [["sex"]], [["sex"], ["age"]], [[], ["age", "sex"], ["sex"]]])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_loss_of_every_pair_of_neighbours(tables: list | None, epsilon: float):
    """For every small table, every record more and every result near it: the odds move by no more than epsilon."""
    asked = Histogram({"age": {"from": 0, "to": 60, "width": 30}, "sex": ["f", "m"]}, epsilon, tables)
    assert asked.spent <= epsilon
    worst = 0.0
    schema = {"age": pl.String, "sex": pl.String}
    for rows in small_tables(2):
        one = counts(pl.DataFrame(rows, schema=schema, orient="row"), asked)
        for more in product(["5", "x"], ["f", "?"]):
            other = counts(pl.DataFrame([*rows, more], schema=schema, orient="row"), asked)
            loss = 0.0
            for a, b in zip(one, other, strict=True):
                # Cells have noise of their own: losses of those that differ add up, by their worst results.
                for x, y in zip(a[a != b], b[a != b], strict=True):
                    outs = range(-8, 12)
                    loss += max(abs(log(mass(o - x, asked.share, 1) / mass(o - y, asked.share, 1))) for o in outs)
            worst = max(worst, loss)
    assert worst <= epsilon + 1e-9
    assert worst > 0.9 * epsilon, "the budget is used"


def test_a_person_with_many_records_counts_as_often_as_stated():
    rows = [("p", "5", "f")] * 7 + [("q", "40", "m")] + [(None, "40", "m")] * 5
    frame = pl.DataFrame(rows, schema=["id", "age", "sex"], orient="row")
    for most in (1, 3):
        asked = Histogram(BINS, 1.0, [["sex"]], "id", most)
        (found,) = counts(frame, asked)
        assert found.tolist() == [min(most, 7), 1, 0]
        # Whoever is left out changes no more than that.
        (without,) = counts(frame.filter(pl.col("id").ne_missing("p")), asked)
        assert np.abs(found - without).sum() <= most
    wide, narrow = (Histogram(BINS, 1.0, [["sex"]], "id", most).half_width for most in (3, 1))
    assert wide > 2 * narrow


def test_noise_is_that_of_the_share():
    """Over many cells: two tables, half of epsilon each."""
    bins = {"n": {"from": 0, "to": 20_000, "width": 1}}
    made = noisy_counts(pl.DataFrame({"n": [1]}), bins, epsilon=1.0, tables=[["n"], ["n"]], seed=4)
    for table in made.tables.values():
        noise = table["count"].to_numpy()[2:]
        assert abs(np.mean(noise**2) - 2 * exp(-0.5) / (1 - exp(-0.5)) ** 2) < 0.3
        share = np.mean(np.abs(noise) <= Histogram(bins, 1.0, [["n"], ["n"]]).half_width)
        assert 0.94 < share < 0.975
    one, two = (t["count"].to_numpy() for t in made.tables.values())
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.03, "tables have noise of their own"


# --- nothing else depends on a record ---------------------------------------------------------------------------------


def seen(folder: Path) -> dict:
    """Everything that a reader gets, with the counts apart."""
    public = folder / "public"
    manifest = json.loads((public / "manifest.json").read_text("utf-8"))
    manifest.pop("made")
    manifest.pop("sha256")
    for table in manifest["tables"]:
        table.pop("sha256")
    out = {"manifest": manifest, "codebook": (public / "codebook.csv").read_text("utf-8")}
    out["files"] = sorted(p.name for p in public.iterdir())
    return out


def read(folder: Path, name: str) -> list[list[str]]:
    with (folder / "public" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_one_record_changes_one_count_of_each_table_and_nothing_else(
    odd: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The same chance, a record more: the released files differ by one in one cell of each table."""
    monkeypatch.setattr(release, "_digest", lambda source: 0)
    found = []
    for name, frame in {
        "without": PEOPLE,
        "with": pl.concat([PEOPLE, pl.DataFrame([odd], schema=PEOPLE.schema)]),
    }.items():
        (tmp_path / name).mkdir()
        frame.write_csv(tmp_path / name / "people.csv")
        tables = [["age", "sex"], ["sex"], []]
        noisy_counts(
            tmp_path / name / "people.csv", BINS, epsilon=1.0, tables=tables, folder=tmp_path / name / "out", seed=9
        )
        found.append(tmp_path / name / "out")
    assert seen(found[0]) == seen(found[1])
    for file in ("people.csv", "people-table-2.csv", "people-table-3.csv"):
        one, other = (read(folder, file) for folder in found)
        assert [row[:-1] for row in one] == [row[:-1] for row in other]
        changes = [int(b[-1]) - int(a[-1]) for a, b in zip(one[1:], other[1:], strict=True)]
        assert sorted(changes) == [*[0] * (len(changes) - 1), 1]


@pytest.mark.parametrize("odd", [2, 2.5, None])
def test_a_fraction_does_not_move_everybody(odd: float | None, tmp_path: Path):
    """Whole numbers are the same values in a column of floats."""
    frame = pl.DataFrame({"visits": [1, 1, 2, odd]}, strict=False)
    assert counts(frame, Histogram({"visits": [1, 2]}, 1.0))[0][0] == 2
    assert counts(frame, Histogram({"visits": {"from": 0, "to": 2, "width": 1}}, 1.0))[0][1] == 2


def test_what_is_told_does_not_carry_the_size_of_the_input(tmp_path: Path):
    frame = pl.DataFrame({"sex": ["f"] * 4321})
    noisy_counts(frame, {"sex": ["f", "m"]}, epsilon=0.1, folder=tmp_path / "out", seed=1)
    public = tmp_path / "out/public"
    assert not any("4321" in p.read_text("utf-8", "replace").replace("4 321", "4321") for p in public.glob("*.json"))
    assert "4 321" not in (public / "report.html").read_text("utf-8")


# --- releases ---------------------------------------------------------------------------------------------------------


def test_every_cell_is_published_and_verified(tmp_path: Path):
    noisy_counts(
        PEOPLE, BINS, epsilon=2.0, tables=[["age", "sex"], ["age"]], clip=True, folder=tmp_path / "out", seed=1
    )
    assert audit_bundle(tmp_path / "out").ok
    shown = pl.read_parquet(tmp_path / "out/public/release.parquet")
    assert shown.select("age", "sex").rows() == list(
        product(["[0 30)", "[30 60)", "[60 90)", "(other)"], ["f", "m", "(other)"])
    )
    assert shown["count"].min() >= 0
    with pytest.raises(JobError, match="E108"):
        audit_histogram(tmp_path)


@pytest.mark.parametrize(
    "edit",
    [
        lambda t: t[1:],
        lambda t: pl.concat([t, t[:1]]),
        lambda t: t.reverse(),
        lambda t: t.with_columns(pl.lit("f").alias("sex")),
        lambda t: t.with_columns(pl.col("count") + 0.5),
        lambda t: t.rename({"count": "counts"}),
    ],
)
def test_edited_tables_are_found_out(edit, tmp_path: Path):
    noisy_counts(PEOPLE, BINS, epsilon=1.0, folder=tmp_path / "out", seed=1)
    file = tmp_path / "out/public/release.parquet"
    edit(pl.read_parquet(file)).write_parquet(file)
    found = audit_bundle(tmp_path / "out")
    assert not found.found.ok
    assert not found.same_as_manifest


def test_a_table_without_its_noise_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """What is written must be what was drawn: true counts are not."""
    monkeypatch.setattr(release, "as_tables", lambda shown, asked: counting.as_tables([x * 0 for x in shown], asked))
    with pytest.raises(VerificationError, match="E501"):
        noisy_counts(PEOPLE, BINS, epsilon=0.1, folder=tmp_path / "out", seed=1)
    assert not (tmp_path / "out").exists()


def test_same_seed_same_bytes_and_another_seed_other_noise(tmp_path: Path):
    files = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        noisy_counts(PEOPLE, BINS, epsilon=0.5, folder=tmp_path / name, seed=seed)
        files.append((tmp_path / name / "public/release.parquet").read_bytes())
    assert files[0] == files[1] != files[2]


def test_one_seed_for_two_versions_of_the_data_gives_two_noises():
    """Else their difference would be the true one."""
    bins = {"n": {"from": 0, "to": 100, "width": 1}}
    one, other = (
        noisy_counts(pl.DataFrame({"n": n}), bins, epsilon=0.1, seed=1).table["count"] for n in ([1, 2], [1, 2, 3])
    )
    assert (one != other).sum() > 50


def test_the_command(tmp_path: Path):
    from typer.testing import CliRunner

    from tarnkappe.cli.app import app

    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "job.yaml").write_text(
        "data: {path: people.csv}\noutput: {folder: out}\n"
        "histogram:\n  epsilon: 4\n  columns:\n    age: {from: 0, to: 90, width: 30}\n    sex: [f, m]\n"
    )
    runner = CliRunner()
    checked = runner.invoke(app, ["check", str(tmp_path / "job.yaml")])
    assert checked.exit_code == 0
    assert "12 cells" in checked.output
    done = runner.invoke(app, ["run", str(tmp_path / "job.yaml"), "--seed", "1"])
    assert done.exit_code == 0, done.output
    assert "W650" in done.output
    again = runner.invoke(app, ["verify", str(tmp_path / "out")])
    assert again.exit_code == 0, again.output
    # The job that is kept can be run again.
    kept = tmp_path / "out/do-not-share/job.yaml"
    assert runner.invoke(app, ["check", str(kept)]).exit_code == 0


@pytest.mark.parametrize(
    "declared",
    [
        *([], ["a", "a"], "abc", ["(other)"], [1.5], None),
        *({"from": 0, "to": 10}, {"from": 0, "to": 10, "width": 3}, {"from": 0, "to": 10, "width": 0}),
        *({"from": 0, "to": 1, "width": 1e-9}, {"tree": {"a": ["b"]}, "level": 9}),
    ],
    ids=str,
)
def test_bins_that_are_none(declared: object):
    with pytest.raises(JobError, match="E110") as refused:
        bins_from("x", declared)
    assert refused.value.hint


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 0},
        {"epsilon": 1e-14},
        {"most": 2},
        {"tables": []},
        {"tables": [["age", "age"]]},
        {"tables": [["zip"]]},
        {"columns": {}},
        {"person": "sex"},
        {"columns": {f"c{i}": list("abcdefghi") for i in range(8)}},
    ],
    ids=str,
)
def test_jobs_that_mean_nothing(settings: dict):
    with pytest.raises(JobError, match=r"E110|E105"):
        Histogram(**{"columns": BINS, "epsilon": 1.0, **settings})


def test_it_is_offered():
    assert tk.noisy_counts is noisy_counts


def test_labels_of_ranges_say_where_the_ranges_end():
    """Six digits made [100000 100002) of a bin from 100000.5 up to 100001.5, and could give two bins one label."""
    labels = bins_from("x", {"from": 100000.5, "to": 100002.5, "width": 1}).labels
    assert labels == ("[100000.5 100001.5)", "[100001.5 100002.5)", "(other)")


def test_the_odds_that_are_promised_are_not_rounded_down():
    """With ε = 0.7 they are 2.014, of which 2.01 is no bound."""
    made = noisy_counts(PEOPLE, BINS, epsilon=0.7, seed=1)
    assert "2.02 times as likely" in made.story.attacker

"""What groups of a microaggregated table publish."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from statistics import median_low

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.algorithms.microaggregation.centres import centres_of, operators_of
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.errors import JobError
from tarnkappe.groups import Grouping
from tarnkappe.publish.centres import Centres, publish_centres
from tarnkappe.tally import Domain, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

TOWNS = {"North": ["Kiel", "Husum"], "South": ["Ulm", "Passau"]}
GRADES = ["low", "middle", "high"]

Row = tuple[float | None, str, str]


def grouped(rows: list[Row], group: list[int], operators: tuple[str, ...], **given: object) -> tuple[Centres, list]:
    """The centres of groups of rows with a number, a town and a grade, and their labels."""
    numbers = sorted({r[0] for r in rows if r[0] is not None})
    scale = Taxonomy.scale([f"{x:g}" for x in numbers])
    gaps = any(r[0] is None for r in rows)
    domains = [
        Domain("x", scale.with_missing("?"), np.array([*numbers, np.nan]), missing=len(numbers))
        if gaps
        else Domain("x", scale, np.array(numbers)),
        Domain("town", Taxonomy.from_nested(TOWNS)),
        Domain("grade", Taxonomy.scale(GRADES)),
    ]
    codes = [
        np.array([len(numbers) if r[0] is None else numbers.index(r[0]) for r in rows]),
        np.array([domains[1].code_of[r[1]] for r in rows]),
        np.array([GRADES.index(r[2]) for r in rows]),
    ]
    tally, cell = count_cells(codes, [], domains, [])
    order = np.argsort(cell, kind="stable")
    grouping = Grouping(
        cell[order].astype(np.int32), np.array(group, np.int32)[order], np.ones(len(rows), np.int64), max(group) + 1
    )
    centres = centres_of(tally, grouping, operators, **given)  # type: ignore[arg-type]
    return centres, [x.at(np.arange(max(group) + 1, dtype=np.int32)) for x in publish_centres(centres, domains)]


rows = st.tuples(
    st.one_of(st.none(), st.integers(-20, 20).map(lambda i: i / 4)),
    st.sampled_from([t for below in TOWNS.values() for t in below]),
    st.sampled_from(GRADES),
)


@given(st.lists(st.tuples(rows, st.integers(0, 3)), min_size=1, max_size=30))
def test_centres_are_means_medians_and_modes(given_rows: list[tuple[Row, int]]):
    given_rows = [((0.0, "Kiel", "low"), 4), *given_rows]  # a column of nothing but gaps is no column of numbers
    number = {g: i for i, g in enumerate(dict.fromkeys(g for _, g in given_rows))}
    group = [number[g] for _, g in given_rows]
    table = [row for row, _ in given_rows]
    for operator in ("mean", "median", "mode"):
        centres, labels = grouped(table, group, (operator, "mode", "median"))
        for g in range(len(number)):
            members = [row for row, other in zip(table, group, strict=True) if other == g]
            known = [r[0] for r in members if r[0] is not None]
            found = centres.values[g, 0]
            if not known:
                assert np.isnan(found)
                assert labels[0][g] is None
            elif operator == "mean":
                assert found == pytest.approx(float(sum(map(Fraction, known)) / len(known)))
            elif operator == "median":
                assert found == median_low(known)
            else:
                assert Counter(known)[found] == max(Counter(known).values())
            towns = Counter(r[1] for r in members)
            far = {a: sum(n * _distance(a, b) for b, n in towns.items()) for a in towns}
            assert far[labels[1][g]] == pytest.approx(min(far.values()))
            assert GRADES.index(labels[2][g]) == median_low(GRADES.index(r[2]) for r in members)


def _distance(a: str, b: str) -> float:
    region = {town: name for name, towns in TOWNS.items() for town in towns}
    return 0.0 if a == b else 1 / 3 if region[a] == region[b] else 1.0


def test_means_are_rounded_to_places_beyond_the_data():
    table: list[Row] = [(0.1, "Kiel", "low"), (0.1, "Kiel", "low"), (0.2, "Kiel", "low")]
    for decimals, text in ((2, 0.133), (0, 0.1), (None, 0.4 / 3)):
        _, labels = grouped(table, [0, 0, 0], ("mean", "mode", "median"), decimals=decimals)
        assert labels[0][0] == pytest.approx(text, abs=1e-15)


@given(st.lists(st.lists(st.integers(0, 50), min_size=2, max_size=5), min_size=1, max_size=40))
def test_whole_numbers_keep_the_total(groups: list[list[int]]):
    """The total changes by less than the size of the largest group."""
    table: list[Row] = [(float(x), "Kiel", "low") for members in groups for x in members]
    group = [g for g, members in enumerate(groups) for _ in members]
    centres, labels = grouped(table, group, ("mean", "mode", "median"), whole=True)
    assert labels[0].dtype == pl.Int64
    found = centres.values[:, 0]
    means = np.array([np.mean(members) for members in groups])
    assert np.all(np.abs(found - means) < 1)
    total = sum(len(m) * f for m, f in zip(groups, found, strict=True)) - sum(map(sum, groups))
    assert abs(total) <= max(map(len, groups)) / 2 + 1e-9


def test_operators_that_values_do_not_allow_are_replaced():
    domains = [Domain("x", Taxonomy.scale(["1", "2"]), np.array([1.0, 2.0])), Domain("t", Taxonomy.from_nested(TOWNS))]
    domains.append(Domain("g", Taxonomy.scale(GRADES)))
    tally, _ = count_cells([np.zeros(1, np.int64)] * 3, [], domains, [])
    assert operators_of(tally, "mean", {}) == ("mean", "mode", "median")
    assert operators_of(tally, "median", {"x": "mode"}) == ("mode", "mode", "median")


def people(n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"age": rng.integers(18, 90, n), "pay": rng.normal(3000, 500, n).round(2)})


def test_numbers_are_written_as_numbers(tmp_path):
    quasi = {"age": tk.numeric(), "pay": tk.numeric()}
    job = tk.Job(quasi=quasi, criteria=[tk.KAnonymity(4)], algorithm=tk.MDAV(whole=True))
    tk.run_job(job, people(), tmp_path / "out")
    written = pl.read_parquet(tmp_path / "out/public/release.parquet")
    assert written.schema == {"age": pl.Int64, "pay": pl.Float64}
    assert written.group_by("age", "pay").len()["len"].min() >= 4
    assert abs(written["age"].sum() - people()["age"].sum()) <= 4
    assert written["pay"].mean() == pytest.approx(people()["pay"].mean(), abs=1e-4)


@pytest.mark.parametrize(
    ("aggregates", "message"), [({"agee": "mean"}, "did you mean 'age'"), ({"age": "meen"}, "did you mean 'mean'")]
)
def test_aggregates_that_cannot_be_meant(aggregates: dict[str, str], message: str):
    job = tk.Job(quasi={"age": tk.numeric()}, criteria=[tk.KAnonymity(4)], algorithm=tk.MDAV(aggregates=aggregates))
    with pytest.raises(JobError, match=message):
        job.anonymize(people().select("age"))


def test_columns_of_gaps_and_of_one_value():
    table = people(20).with_columns(nothing=pl.lit(None, pl.Float64), same=pl.lit(5))
    quasi = dict.fromkeys(table.columns, tk.numeric())
    job = tk.Job(quasi=quasi, criteria=[tk.KAnonymity(3)], algorithm=tk.MDAV(), missing_rule="own-value")
    release = job.anonymize(table)
    assert release.table["nothing"].null_count() == 20
    assert release.table["same"].unique().to_list() == [5]
    assert 0 < release.score("sse") < 100


def test_exact_means_keep_the_mean_of_a_column():
    job = tk.Job(
        quasi={"age": tk.numeric(), "pay": tk.numeric()}, criteria=[tk.KAnonymity(7)], algorithm=tk.MDAV(decimals=None)
    )
    table = job.anonymize(people()).table
    for name in ("age", "pay"):
        assert table[name].mean() == pytest.approx(people()[name].mean(), rel=1e-14)


def test_whole_numbers_beyond_64_bits_are_published_as_floats():
    table = pl.DataFrame({"x": [1e20, 2e20, 3e20, 4e20]})
    release = tk.Job(quasi={"x": tk.numeric()}, criteria=[tk.KAnonymity(2)], algorithm=MDAV()).anonymize(table, seed=1)
    assert sorted(release.table["x"].to_list()) == [1.5e20, 1.5e20, 3.5e20, 3.5e20]


def test_no_mean_lies_outside_of_its_group():
    """Beside a very large number the sum of small ones is lost, and half of the smallest cannot be read back."""
    pairs = [(0.0, 1e-140), (1e-100, 1e-100), (1e100, 2e100), (1e140, 1e140), (-1e139, 1e139)]
    people = [(x, "Ulm", "low") for pair in pairs for x in pair]
    centres, _ = grouped(people, [i // 2 for i in range(10)], ("mean", "mode", "median"))
    found = centres.values[:, 0]
    assert all(low <= mean <= high for mean, (low, high) in zip(found, pairs, strict=True))
    assert found[0] == 0.0


def test_a_value_that_stands_for_others_never_keeps_less_than_nothing():
    people = pl.DataFrame({"x": ["a", "b", "c"] * 4})
    release = tk.Job(quasi={"x": tk.suppress()}, criteria=[tk.KAnonymity(12)], algorithm=MDAV()).anonymize(people)
    assert release.score("sse") == pytest.approx(200)
    assert release.detail_kept == 0
    assert "-" not in str(release).split("detail kept")[1].split("%")[0]


def test_large_whole_numbers_have_fifteen_digits(tmp_path):
    """As the page about microaggregation says; more would need other numbers than floating-point ones."""
    frame = pl.DataFrame({"x": [2**53 + 1] * 4, "illness": ["flu", "cold"] * 2})
    job = tk.Job(quasi={"x": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(2)], algorithm=tk.KWard())
    tk.run_job(job, frame, tmp_path / "out", seed=1)
    (file,) = (tmp_path / "out" / "public").glob("*.parquet")
    assert all(abs(x - (2**53 + 1)) <= 1 for x in pl.read_parquet(file)["x"].to_list())

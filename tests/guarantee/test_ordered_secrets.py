"""Ordered t-closeness measures by an order that somebody stated or that numbers have, never by that of texts."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import brute
import tarnkappe as tk
from tarnkappe.cli.app import app
from tarnkappe.criteria.k_e_anonymity import KEAnonymity
from tarnkappe.errors import JobError
from tarnkappe.io import CsvDialect
from tarnkappe.job.places import DataSettings
from tarnkappe.taxonomy import Order, dates, ordered, tree

#: As texts they would be sorted 10, 11, 100, 3, 5, 8.
INCOMES = [3, 5, 8, 10, 11, 100]


def people(n: int = 400) -> pl.DataFrame:
    """Older people earn more, so that groups differ."""
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, n)
    rank = np.clip((age - 20) // 14 + rng.integers(-1, 5, n), 0, len(INCOMES) - 1)
    return pl.DataFrame({"age": age, "income": np.array(INCOMES)[rank]})


def true_distance(table: pl.DataFrame, read=Fraction) -> Fraction:
    """The largest ordered distance of a group, from the texts in a table, by plain Python."""
    rows = [(age, read(income)) for age, income in table.cast(pl.String).rows()]
    groups: dict[str, Counter] = defaultdict(Counter)
    for age, income in rows:
        groups[age][income] += 1
    whole = Counter(income for _, income in rows)
    return max(brute.emd_ordered(h, whole, sorted(whole)) for h in groups.values())


def job(t: float, **settings) -> tk.Job:
    settings = {"sensitive": ["income"], **settings}
    return tk.Job(
        quasi={"age": tk.numeric()},
        criteria=[tk.KAnonymity(5), tk.TCloseness("income", t, "ordered")],
        **settings,
    )


@pytest.mark.parametrize("engine", ["memory", "streaming"])
@pytest.mark.parametrize("declared", [["income"], {"income": tk.numeric()}, {"income": Order()}])
def test_the_written_numbers_are_as_close_as_was_said(tmp_path: Path, engine: str, declared):
    people().write_csv(tmp_path / "people.csv")
    release = tk.run_job(job(0.2, sensitive=declared, engine=engine), tmp_path / "people.csv", tmp_path / "out", seed=1)
    written = pl.read_csv(tmp_path / "out" / "public" / "people.csv", infer_schema=False)
    reached = release.verdicts[1].reached
    assert reached == pytest.approx(float(true_distance(written)))
    assert reached <= 0.2
    assert release.n_groups > 1


def test_decimal_commas_are_numbers_too(tmp_path: Path):
    table = people().with_columns(income=pl.col("income").cast(pl.String) + ",5")
    table.write_csv(tmp_path / "people.csv", separator=";")
    data = DataSettings(dialect=CsvDialect(delimiter=";", decimal=","))
    release = tk.run_job(job(0.2, data=data), tmp_path / "people.csv", tmp_path / "out", seed=1)
    written = pl.read_csv(tmp_path / "out" / "public" / "people.csv", separator=";", infer_schema=False)
    true = true_distance(written, lambda text: Fraction(text.replace(",", ".")))
    assert release.verdicts[1].reached == pytest.approx(float(true))


def test_every_way_to_verify_finds_the_true_distance(tmp_path: Path):
    table = people().with_columns(age=pl.when(pl.col("age") < 40).then(pl.lit("young")).otherwise(pl.lit("old")))
    file, true = tmp_path / "table.csv", float(true_distance(table))
    table.write_csv(file)
    texts = table.cast(pl.String)
    for given in (table, texts, file):
        found = tk.verify(given, [tk.TCloseness("income", 0.1, "ordered")], ["age"], ["income"])
        assert found.verdicts[0].reached == pytest.approx(true)
    (tmp_path / "job.yaml").write_text(
        "version: 1\ncolumns:\n  age: {role: quasi, taxonomy: {kind: suppress}}\n  income: {role: sensitive}\n"
        "criteria:\n  - t-closeness: {column: income, t: 0.1, distance: ordered}\n"
    )
    asked = ["--quasi", "age", "--criterion", "t-closeness:column=income,t=0.1,distance=ordered"]
    for words in (["--job", str(tmp_path / "job.yaml")], asked):
        result = CliRunner().invoke(app, ["verify", str(file), *words, "--json"])
        assert json.loads(result.stdout)["verdicts"][0]["reached"] == pytest.approx(true)


NAMES = ["poor", "fair", "good", "very", "high", "top"]

#: The same with names for the incomes.
GRADES = people().with_columns(income=pl.col("income").replace_strict(dict(zip(INCOMES, NAMES, strict=True))))


@pytest.mark.parametrize(
    "secret",
    [
        ["income"],
        {"income": tree({"little": ["poor", "fair", "good"], "much": ["very", "high", "top"]})},
        {"income": tk.suppress()},
        {"income": Order()},
    ],
)
def test_texts_without_an_order_are_refused(secret):
    with pytest.raises(JobError, match="order") as refused:
        job(0.2, sensitive=secret).anonymize(GRADES)
    assert refused.value.code == "E111"


def test_texts_without_an_order_are_refused_by_verify(tmp_path: Path):
    criterion = tk.TCloseness("income", 0.2, "ordered")
    with pytest.raises(JobError, match="order"):
        tk.verify(GRADES, [criterion], ["age"], ["income"])
    GRADES.write_csv(tmp_path / "t.csv")
    asked = ["--quasi", "age", "--criterion", "t-closeness:column=income,t=0.2,distance=ordered"]
    result = CliRunner().invoke(app, ["verify", str(tmp_path / "t.csv"), *asked])
    assert (result.exit_code, "E111" in result.output) == (2, True)


@pytest.mark.parametrize("write", ["{:,} €", "{}%", "−{}", "{0}-{0}9", "{},5"])
def test_an_order_without_values_is_that_of_the_numbers_in_the_texts(write: str):
    """As texts they were sorted 10, 100, 11, 3, 5, 8, and a release was verified at 0.18 (true 0.29)."""
    texts = {income: write.format(100 * income if "," in write else income) for income in INCOMES}
    table = people().with_columns(income=pl.col("income").replace_strict(texts))
    rank = {text: -i if write[0] == "−" else i for i, text in enumerate(texts.values())}
    release = job(0.2, sensitive={"income": Order()}).anonymize(table, seed=1)
    assert release.verdicts[1].reached == pytest.approx(float(true_distance(release.table, rank.__getitem__)))


@pytest.mark.parametrize(
    "texts",
    [
        ["15.12.2019", "02.01.2020", "01.02.2020", "03.02.2020", "01.03.2020", "02.03.2020"],
        ["1/8", "1/7", "1/6", "1/5", "1/4", "1/3"],
        ["500 g", "600 g", "1 kg", "1.5 kg", "2 kg", "3 kg"],
        ["Q3 2019", "Q4 2019", "Q1 2020", "Q2 2020", "Q3 2020", "Q4 2020"],
        ["Jan 2020", "Feb 2020", "Mar 2020", "Apr 2020", "May 2020", "Jun 2020"],
        ["9 months", "10 months", "11 months", "1 year", "2 years", "3 years"],
    ],
    ids=lambda texts: texts[0],
)
def test_an_order_without_values_is_none_where_texts_differ_in_more_than_a_number(texts: list[str]):
    """Sorted by their numbers they were in another order than they mean, and that is what was measured by."""
    table = people().with_columns(income=pl.col("income").replace_strict(dict(zip(INCOMES, texts, strict=True))))
    reason = {"income": "dates made up for a test"}
    with pytest.raises(JobError, match=r"E111 .* differ in more than one number"):
        job(0.2, sensitive={"income": Order()}, because=reason).anonymize(table)
    release = job(0.2, sensitive={"income": ordered(*texts)}, because=reason).anonymize(table, seed=1)
    assert release.verdicts[1].reached == pytest.approx(float(true_distance(release.table, texts.index)))


def test_a_stated_order_is_the_order():
    release = job(0.2, sensitive={"income": ordered(*NAMES)}).anonymize(GRADES, seed=1)
    assert release.verdicts[1].reached == pytest.approx(float(true_distance(release.table, NAMES.index)))


def test_dates_have_an_order():
    table = people().with_columns(income=pl.lit("1.1.20") + pl.col("income").cast(pl.String).str.zfill(3).str.tail(2))
    reason = {"income": "dates made up for a test"}
    release = job(0.2, sensitive={"income": dates("year", format="%d.%m.%y")}, because=reason).anonymize(
        table.with_columns(pl.col("income").str.replace("1.1.20", "01.01.")), seed=1
    )
    assert release.verdicts[1].reached == pytest.approx(float(true_distance(release.table, lambda d: d[-2:])))
    stamped = people().with_columns(income=pl.date(2000 + pl.col("income"), 1, 1))
    release = job(0.2, because=reason).anonymize(stamped, seed=1)
    assert release.verdicts[1].reached == pytest.approx(float(true_distance(release.table, str)))


def test_no_taxonomy_no_hierarchical_distance():
    with pytest.raises(JobError, match="taxonomy"):
        tk.verify(GRADES, [tk.TCloseness("income", 0.2, "hierarchical")], ["age"], ["income"])


def test_numbers_are_found_by_verify_for_criteria_that_measure_by_them():
    table = pl.DataFrame({"age": ["3*"] * 3, "income": ["9", "10", "11"]})
    found = tk.verify(table, [KEAnonymity("income", k=3, e=2)], ["age"], ["income"])
    assert found.verdicts[0].reached == 2

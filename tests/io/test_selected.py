"""Filters and derived columns: a small language that sees one record and nothing else."""

from __future__ import annotations

import contextlib
import datetime as dt
import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.errors import DataError
from tarnkappe.io import open_source
from tarnkappe.io.expressions import Expression
from tarnkappe.io.reading import Reading
from tarnkappe.job.files import load_job
from tarnkappe.pipeline import run_job

ROWS = [(str(10 + i % 40), "mf"[i % 2], ["flu", "cold", "gout"][i % 3], f"{i % 7},5") for i in range(240)]
TEXT = "age;sex;illness;salary-class\n" + "".join(";".join(row) + "\n" for row in ROWS)

JOB = """
data:
  path: people.csv
  decimal: ","
  filter: "age >= 18 AND NOT illness = 'gout'"
  derive:
    age_group: "CASE WHEN age < 30 THEN 'young' WHEN age < 40 THEN 'middle' ELSE 'old' END"
columns:
  age: drop
  age_group: {role: quasi, taxonomy: suppress}
  sex: {role: quasi, taxonomy: suppress}
  illness: sensitive
  salary-class: drop
criteria:
  - k-anonymity: {k: 5}
seed: 1
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(TEXT)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_a_job_filters_and_derives(people: Path, engine: str):
    job = load_job(people / "job.yaml", [f"engine={engine}"])
    assert load_job(_written(people, job)).data == job.data
    release = run_job(job, job.data.path, people / "out")
    found = pl.read_csv(people / "out" / "public" / "people.csv", separator=";")
    wanted = [row for row in ROWS if int(row[0]) >= 18 and row[2] != "gout"]
    assert release.n_input == found.height == len(wanted)
    groups = sorted("young" if int(r[0]) < 30 else "middle" if int(r[0]) < 40 else "old" for r in wanted)
    assert sorted(found["age_group"]) == groups
    assert "gout" not in found["illness"]


def _written(folder: Path, job: tk.Job) -> Path:
    (folder / "again.yaml").write_text(job.to_yaml(folder))
    return folder / "again.yaml"


def test_both_engines_and_a_prepared_file_agree(people: Path):
    job = load_job(people / "job.yaml")
    plain = "".join(f"{'young' if int(r[0]) < 30 else 'middle' if int(r[0]) < 40 else 'old'};{r[1]};{r[2]}\n"
                    for r in ROWS if int(r[0]) >= 18 and r[2] != "gout")  # fmt: skip
    (people / "plain.csv").write_text("age_group;sex;illness\n" + plain)
    prepared = tk.Job(
        quasi={"age_group": tk.suppress(), "sex": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(5)],
        seed=1,
    )
    ours = run_job(job, job.data.path, people / "one")
    theirs = run_job(prepared, people / "plain.csv", people / "two")
    assert ours.group_sizes == theirs.group_sizes


TYPED = pl.DataFrame(
    {
        "a": [1, 2, None, 4, 0],
        "b": [1.5, -2.0, 3.0, None, 0.0],
        "t": ["x", "Yz", None, "100%", "a_b"],
        "d": [dt.date(2020, 1, 1), None, dt.date(2021, 6, 5), dt.date(1999, 12, 31), dt.date(2020, 2, 29)],
        "odd name": [1, 2, 3, 4, 5],
    }
)

SAME_AS_SQL = [
    "a > 1", "a >= 1 AND b < 3", "a = 1 OR b = 3", "NOT a = 1", "a IN (1, 4)", "a NOT IN (1, 4)", "a BETWEEN 1 AND 3",
    "a IS NULL", "a IS NOT NULL AND b IS NOT NULL", "t LIKE '%z'", "t LIKE 'a_b'", "t NOT LIKE '1%'", "t = 'x'",
    "(a + 1) * 2 > 4", "a - -1 = 2", "-a < 0", "a / 2.0 > 0.6", "a % 2 = 0", "t || 'q' = 'xq'", "length(t) > 1",
    "upper(t) = 'YZ'", "coalesce(a, 0) = 0", "abs(b) = 2", "\"odd name\" <> 3", "substr(t, 1, 1) = 'a'",
    "CASE WHEN a > 1 THEN 'p' ELSE 'q' END = 'p'", "1 / a > 0.3", "replace(t, 'x', 'y') = 'y'", "TRUE", "NOT NOT a = 1",
]  # fmt: skip


@pytest.mark.parametrize("text", SAME_AS_SQL)
def test_expressions_mean_what_they_mean_in_sql(text: str):
    base = sqlite3.connect(":memory:")
    base.execute('create table t (a real, b real, t text, d text, "odd name" real)')
    base.executemany("insert into t values (?, ?, ?, ?, ?)", [(*r[:3], str(r[3]), r[4]) for r in TYPED.rows()])
    base.execute("pragma case_sensitive_like = on")
    wanted = [r[0] for r in base.execute(f'select "odd name" from t where {text} order by 1')]
    with open_source(TYPED, Reading(filter=text)) as source:
        assert source.read(["odd name"])["odd name"].to_list() == wanted
        assert source.n_rows == len(wanted)
    base.close()


def test_days_and_numbers_in_text(tmp_path: Path):
    (tmp_path / "x.csv").write_text("n;day\n1,5;2024-01-31\n20;2023-12-01\n;\n")
    reading = Reading(decimal=",", filter="n < 20 OR n IS NULL", derive={"y": "year(day)", "m": "CAST(n * 2 AS INT)"})
    with open_source(tmp_path / "x.csv", reading) as source:
        assert source.read(["y", "m", "n"]).rows() == [(2024, 3, "1,5"), (None, None, None)]
    with open_source(TYPED, Reading(filter="d >= '2020-02-01'")) as source:
        assert source.read(["odd name"])["odd name"].to_list() == [3, 5]


REFUSED = [
    ("read_csv('/etc/passwd') = 1", "no function 'read_csv'"),
    ("a > (SELECT max(a) FROM t)", ""),
    ("a > 1; DROP TABLE t", "no sign ';'"),
    ("__import__('os')", "no function"),
    ("avg(a) > 1", "no function 'avg'"),
    ("random() > 0.5", "no function 'random'"),
    ("ag > 1", "no column 'ag'"),
    ("odd > 1", 'write  "odd name"'),
    ("a >", "ends too early"),
    ("a > 1 2", "nothing is expected"),
    ("t > 1", "cannot be used as a number"),
    ("a = NULL", "never true"),
    ("a + 1", "not a comparison"),
    ("a AND b", "comparison is expected"),
    ("a LIKE b", "needs a pattern"),
    ("CASE WHEN a > 1 THEN 'x' ELSE 2 END = 'x'", "different kinds"),
    ("CAST(a AS BLOB) = 1", "no type"),
    ("(" * 200 + "a" + ")" * 200 + " > 1", "nested too deeply"),
    ("+".join(["a"] * 1000) + " > 1", "more than 500"),
    ("*".join(["a"] * 1000) + " > 1", "more than 500"),
    (" AND ".join(["a > 1"] * 20_000), "more than 5000"),
    (f"a IN ({', '.join(['1'] * 20_000)})", "more than 5000"),
    (f"CASE {'WHEN a > 1 THEN 2 ' * 1000} END > 1", "more than 500"),
    (f"t || {'-' * 20_000}1 = '1' AND ag > 1", "no column 'ag'"),
    ("d > 'yesterday'", "not a day"),
    ("left(t, a) = 'x'", "whole number"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_cannot_be_said(text: str, says: str):
    with pytest.raises(DataError) as caught:
        open_source(TYPED, Reading(filter=text))
    assert caught.value.code == "E473"
    assert says in str(caught.value)
    assert caught.value.hint


def test_long_lists_and_chains_take_no_minutes(tmp_path: Path):
    """Each of these took Polars more than a minute: conditions lay in each other, one level for every value."""
    (tmp_path / "x.csv").write_text("age\n" + "".join(f"{i}\n" for i in range(2000)) + "\n")
    among = ", ".join(str(i) for i in range(0, 3000, 2))
    for text, n in (
        (f"age IN ({among})", 1000),
        (f"age NOT IN ({among})", 1000),
        (" OR ".join(f"age = {i}" for i in range(1500)), 1500),
        (" AND ".join(f"age <> {i}" for i in range(1500)), 500),
        (f"{'-' * 20_000}age > 1998", 1),
    ):
        with open_source(tmp_path / "x.csv", Reading(filter=text)) as source:
            assert source.n_rows == n


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt8, pl.Int16, pl.UInt16, pl.Int32, pl.UInt32, pl.Int64, pl.UInt64])
def test_small_and_unsigned_numbers_are_numbers(kind: type[pl.DataType]):
    """In a column of few bits, sums ran over; in one without signs, a negative number was nothing."""
    table = pl.DataFrame({"u": pl.Series([0, 3, 100, 127, None], dtype=kind)})
    for text, wanted in (
        ("u > -3", [0, 3, 100, 127]),
        ("u + 200 > 255", [100, 127]),
        ("u * 3 = 300", [100]),
        ("u - 5 < 0", [0, 3]),
        ("u BETWEEN -1 AND 3", [0, 3]),
        ("u IN (-3, 3, 1000000)", [3]),
        ("u NOT IN (-3, 3)", [0, 100, 127]),
        ("u IN (3.0, 99.5)", [3]),
        ("-u < -100", [127]),
        ("abs(u - 100) <= 27", [100, 127]),
        ("u % 2 = 0", [0, 100]),
    ):
        with open_source(table, Reading(filter=text)) as source:
            assert source.read(["u"])["u"].to_list() == wanted, text


@pytest.mark.parametrize("written", [False, True])
def test_whole_numbers_do_not_run_over(tmp_path: Path, written: bool):
    """Constants had 32 bits, columns 64: a limit of a hundred years in seconds was negative, so all were above it."""
    big = 2**63 - 1
    table = pl.DataFrame({"i": [1, 4_000_000_000, -big - 1], "t": ["x", "y", "x"]})
    table.write_csv(tmp_path / "x.csv")
    data: Any = tmp_path / "x.csv" if written else table
    for text, wanted in (
        ("i > 60*60*24*365*100", ["4000000000"]),
        ("i > CASE WHEN t = 'y' THEN 90000 ELSE 10000 END * 50000", []),
        ("i > abs(-60)*60*24*365*100", ["4000000000"]),
        ("i < least(70000, 80000) * 100000 AND i > 1", ["4000000000"]),
        ("i * i < 0", []),
        ("-i > 1", [str(-big - 1)]),
        ("abs(i) > 4000000000", [str(-big - 1)]),
        (f"i > -{10**50}", ["1", "4000000000", str(-big - 1)]),
    ):
        try:
            with open_source(data, Reading(filter=text)) as source:
                found = source.read(["i"])["i"].cast(pl.String).to_list()
        except DataError as error:
            found = [] if error.code == "E402" else [error.code]
        assert found == wanted, text


def test_the_widest_numbers_are_found_in_lists():
    table = pl.DataFrame({"u": pl.Series([2**64 - 1, 2**63, 5, None], dtype=pl.UInt64), "b": [1, 5, 7, None]})
    for text, wanted in (
        (f"u IN (5, {2**64 - 1})", [2**64 - 1, 5]),
        (f"u NOT IN (-1, {2**63}, {2**70})", [2**64 - 1, 5]),
        (f"b IN (5, {2**64 - 1})", [2**63]),
    ):
        with open_source(table, Reading(filter=text)) as source:
            assert source.read(["u"])["u"].to_list() == wanted, text


def test_derived_whole_numbers_get_the_bits_they_need():
    table = pl.DataFrame({"u": pl.Series([2**64 - 1, 3, None], dtype=pl.UInt64), "i": [2**62, 7, None]})
    for text, dtype, wanted in (
        ("u", pl.UInt64, [2**64 - 1, 3, None]),
        ("u % 10", pl.Int64, [5, 3, None]),
        ("0 - i", pl.Int64, [-(2**62), -7, None]),
        ("i * 2", pl.UInt64, [2**63, 14, None]),
        ("60 * 60 * 24 * 365 * 100", pl.Int64, [3_153_600_000] * 3),
    ):
        with open_source(table, Reading(derive={"x": text})) as source:
            found = source.read(["x"])["x"]
            assert (found.dtype, found.to_list()) == (dtype, wanted), text
    with open_source(table, Reading(derive={"x": "i * 8"})) as source, pytest.raises(DataError) as caught:
        source.read(["x"])
    assert caught.value.code == "E408"
    with open_source(table, Reading(derive={"x": "i * 8"}, filter="i < 9")) as source:  # what is left fits
        assert source.read(["x"])["x"].to_list() == [56]


LISTED = [
    ("x IN (0, 2)", "x = 0 OR x = 2"),
    ("x NOT IN (0, 1.5)", "NOT (x = 0 OR x = 1.5)"),
    ("t IN ('1', '')", "t = '1' OR t = ''"),
    ("t NOT IN ('1')", "NOT t = '1'"),
    ("i IN (1, 2.0, 9)", "i = 1 OR i = 2.0 OR i = 9"),
    ("n IN (1.5, 7)", "n = 1.5 OR n = 7"),
    ("n NOT IN (1, 7)", "NOT (n = 1 OR n = 7)"),
    ("n IN ('1,5', '1')", "n = '1,5' OR n = '1'"),
    ("d IN ('2020-01-01', '2021-06-05')", "d = '2020-01-01' OR d = '2021-06-05'"),
]


@pytest.mark.parametrize(("listed", "compared"), LISTED)
@pytest.mark.parametrize("written", [False, True])
def test_values_of_a_list_are_found_as_by_comparisons(tmp_path: Path, listed: str, compared: str, written: bool):
    table = pl.DataFrame(
        {
            "x": [0.0, -0.0, 1.5, float("nan"), None],
            "t": ["1", "1.0", " 1", "", None],
            "i": [1, 2, 3, 4, 5],
            "n": ["1,5", "1,50", "01", "1", None],
            "d": [dt.date(2020, 1, 1), None, dt.date(2021, 6, 5), dt.date(1999, 12, 31), dt.date(2020, 2, 29)],
        }
    )
    table.fill_nan(None).with_columns(pl.col("x").cast(pl.String).str.replace(".", ",", literal=True)).write_csv(
        tmp_path / "x.csv", separator=";"
    )
    data: Any = tmp_path / "x.csv" if written else table
    found = []
    for text in (listed, compared):
        try:
            with open_source(data, Reading(filter=text, decimal="," if written else ".")) as source:
                found.append(source.read(["i"])["i"].cast(pl.String).to_list())
        except DataError as error:  # texts of a table that says what is a number are none; nobody may be left
            found.append(error.code)
    assert found[0] == found[1]


@given(st.text(alphabet="ab t1.5'\"()<>=,+-*/%|_ANDORNOTINISNULLCASEWHENTHENELSEENDLIKE", max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_text_is_understood_or_refused(text: str):
    with contextlib.suppress(DataError):
        TYPED.select(Expression(text, TYPED.schema, pl.col).compiled().expr)


def test_a_text_that_is_no_number_is_no_gap(tmp_path: Path):
    (tmp_path / "x.csv").write_text("age,sex\n17,m\nsecret,f\n40,m\n")
    with pytest.raises(DataError) as caught:
        open_source(tmp_path / "x.csv", Reading(filter="age >= 18"))
    assert caught.value.code == "E474"
    assert "secret" not in str(caught.value)
    with open_source(tmp_path / "x.csv", Reading(filter="age >= 18"), ("", "secret")) as source:
        assert source.read(["age"])["age"].to_list() == ["40"]


def test_a_filter_that_leaves_nobody(tmp_path: Path):
    with pytest.raises(DataError) as caught:
        open_source(TYPED, Reading(filter="a > 99"))
    assert caught.value.code == "E402"


def test_a_derived_column_takes_no_name_that_is_taken():
    with pytest.raises(DataError, match="cannot be derived") as caught:
        open_source(TYPED, Reading(derive={"a": "b + 1"}))
    assert caught.value.code == "E473"


def test_a_release_is_never_filtered(people: Path):
    """What is read back is the whole file: a filter would hide records from the check."""
    job = load_job(people / "job.yaml")
    run_job(job, job.data.path, people / "out")
    table = people / "out" / "public" / "people.csv"
    text = table.read_text()
    table.write_text(text + "secret;m;flu\n")  # somebody who is alone, and too young for the filter
    from typer.testing import CliRunner

    from tarnkappe.cli.app import app

    checked = CliRunner().invoke(app, ["verify", str(people / "out")])
    assert checked.exit_code == 5, checked.output


@pytest.mark.parametrize("divisor", [3, 10, 49, 98, 103])
def test_a_quotient_is_the_nearest_number(divisor: int):
    whole = pl.DataFrame({"x": [*range(1000), None]})
    for table in (whole, whole.cast({"x": pl.Float64})):
        reading = Reading(derive={"exact": f"x / {divisor}", "low": f"floor(x / {divisor})"})
        with open_source(table, reading) as source:
            found = source.read(["exact", "low"])
        assert found["exact"].to_list() == [*(x / divisor for x in range(1000)), None]
        assert found["low"].to_list() == [*(x // divisor for x in range(1000)), None]


def test_an_empty_filter_is_an_error_and_not_everybody(people: Path):
    for empty in ("", "  "):
        with pytest.raises(DataError, match="E473"):
            open_source(people / "people.csv", Reading(filter=empty))

"""Permuted releases: what stands in the written tables, read by code that shares nothing with the package."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.audit import audit
from tarnkappe.errors import InfeasibleError, VerificationError
from tarnkappe.pipeline import run_job
from tarnkappe.publish.permuted import Permuted

Row = dict[str, str | None]


def job(k: int = 2, e: float = 1, minimise: str = "sum", **more: object) -> tk.Job:
    return tk.Job(
        quasi={"age": tk.numeric(), "town": tk.suppress()},
        sensitive={"pay": tk.numeric(), "ill": None},
        criteria=[tk.KEAnonymity("pay", k, e)],
        algorithm={"name": "k-e-permutation", "minimise": minimise},
        because={
            "pay": "made up for a test, nobody is in it",
            "age": "made up for a test, nobody is in it",
            "town": "made up for a test, nobody is in it",
        },
        **more,
    )


def people(n: int = 60) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + i * 7 % 31 for i in range(n)],
            "town": [["Ulm", "Bonn", "Jena"][i % 3] for i in range(n)],
            "pay": [(i * 37 % 101) / 4 for i in range(n)],
            "ill": [["flu", "cold", "gout", "none"][i * 5 % 4] for i in range(n)],
        }
    )


def rows_of(path: Path) -> list[Row]:
    """The rows of a written table as texts, None where nothing stands."""
    if path.suffix == ".parquet":
        rows = pl.read_parquet(path).to_dicts()
        return [{k: None if v is None else str(v) for k, v in row.items()} for row in rows]
    with path.open(newline="", encoding="utf-8") as file:
        return [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]


def number(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def by_group(rows: list[Row]) -> dict[str, list[Row]]:
    out = defaultdict(list)
    for row in rows:
        out[str(row["group"])].append(row)
    return out


def check(data: list[Row], written: list[Row], told: list[Row], k: int, e: float) -> None:
    """All that is promised about the tables."""
    assert Counter((number(r["age"]), r["town"]) for r in data) == Counter(
        (number(r["age"]), r["town"]) for r in written
    )
    assert Counter((number(r["pay"]), r["ill"]) for r in data) == Counter((number(r["pay"]), r["ill"]) for r in written)
    groups = by_group(written)
    assert [r["group"] for r in told] == [str(i + 1) for i in range(len(groups))]
    for figures in told:
        group = groups[str(figures["group"])]
        pay = [x for r in group if (x := number(r["pay"])) is not None]
        assert len(set(pay)) >= k
        assert max(pay) - min(pay) >= Fraction(str(e))
        assert int(str(figures["records"])) == len(group)
        assert number(figures["pay min"]) == min(pay)
        assert number(figures["pay max"]) == max(pay)
        assert float(str(figures["pay sum"])) == pytest.approx(float(sum(pay)), rel=1e-12, abs=1e-12)
        assert float(str(figures["pay mean"])) == pytest.approx(float(sum(pay) / len(pay)), rel=1e-12, abs=1e-12)


records = st.lists(
    st.tuples(
        st.integers(18, 25),
        st.sampled_from(["Ulm", "Bonn", "Bad; Ort", 'the "Mill"']),
        st.one_of(st.integers(-30, 30).map(lambda x: x / 4), st.none()),
        st.sampled_from(["flu", "cold", "gout"]),
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@given(records, st.integers(1, 4), st.sampled_from([0, 0.5, 3, 7.25]), st.sampled_from(["sum", "max"]))
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_written_tables_keep_what_was_promised(
    tmp_path_factory: pytest.TempPathFactory, kind: str, given_rows: list[tuple], k: int, e: float, minimise: str
):
    folder = tmp_path_factory.mktemp("permuted")
    schema = {"age": pl.Int64, "town": pl.String, "pay": pl.Float64, "ill": pl.String}
    table = pl.DataFrame(given_rows, schema, orient="row")
    path = folder / f"people.{kind}"
    table.write_csv(path) if kind == "csv" else table.write_parquet(path)
    pay = {r[2] for r in given_rows} - {None}
    try:
        run_job(job(k, e, minimise), path, folder / "out", seed=7)
    except InfeasibleError:
        assert len(pay) < k or max(pay) - min(pay) < e
        assert not (folder / "out").exists()
        return
    public = folder / "out" / "public"
    check(rows_of(path), rows_of(public / f"people.{kind}"), rows_of(public / f"people-groups.{kind}"), k, e)
    assert audit(folder / "out").ok


def test_sensitive_values_are_shuffled_and_stay_together():
    """Whoever has which value is left to chance, and every order of a group is about as likely."""
    data = pl.DataFrame({"age": [1, 2, 3], "town": ["a", "b", "c"], "pay": [1.0, 2.0, 3.0], "ill": ["x", "y", "z"]})
    seen = Counter()
    for seed in range(60):
        rows = job(3, 2).anonymize(data, seed=seed).table.sort("age").rows()
        assert {r[2:4] for r in rows} == {(1.0, "x"), (2.0, "y"), (3.0, "z")}
        seen[tuple(r[2] for r in rows)] += 1
    assert len(seen) == 6
    assert all(3 <= n <= 20 for n in seen.values()), seen


def test_memory_and_streaming_write_the_same_bytes(tmp_path: Path):
    people(500).write_csv(tmp_path / "people.csv")
    found = []
    for i, engine in enumerate(["memory", "streaming", "memory"]):
        run_job(job(3, 2, engine=engine), tmp_path / "people.csv", tmp_path / str(i), seed=5)
        found.append({p.name: p.read_bytes() for p in (tmp_path / str(i) / "public").glob("people*.csv")})
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 2
    run_job(job(3, 2), tmp_path / "people.csv", tmp_path / "other", seed=6)
    assert (tmp_path / "other" / "public" / "people.csv").read_bytes() != found[0]["people.csv"]


def test_a_comma_in_numbers_and_a_marker_that_a_sum_happens_to_be(tmp_path: Path):
    rows = ["age;town;pay;ill", *(f"{20 + i};Ulm;{i % 4},5;flu" for i in range(8)), "30;Ulm;8;flu", "31;Bonn;8;flu"]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "job.yaml").write_text(
        f"""
data: {{path: {tmp_path / "people.csv"}, delimiter: ";", decimal: ",", missing: ["8", "16"]}}
columns:
  age: {{role: quasi, type: numeric, because: "made up for a test, nobody is in it"}}
  town: {{role: quasi, taxonomy: suppress}}
  pay: {{role: sensitive, type: numeric}}
  ill: {{role: sensitive}}
criteria:
  - k-e-anonymity: {{column: pay, k: 4, e: 1}}
algorithm: k-e-permutation
"""
    )
    asked = tk.Job.from_yaml(tmp_path / "job.yaml")
    run_job(asked, folder=tmp_path / "out", seed=1)
    (line,) = (tmp_path / "out" / "public" / "people-groups.csv").read_text().splitlines()[1:]
    assert line == "1;10;0,5;3,5;16,0;2,0"
    assert audit(tmp_path / "out").ok


def test_columns_of_the_data_keep_their_names():
    data = (
        people(12)
        .rename({"town": "group"})
        .with_columns(pl.col("ill").alias("records"), pl.col("ill").alias("pay sum"))
    )
    asked = tk.Job(
        quasi={"age": tk.numeric(), "group": tk.suppress()},
        sensitive={"pay": tk.numeric(), "ill": None, "records": None, "pay sum": None},
        criteria=[tk.KEAnonymity("pay", 2, 1)],
        algorithm="k-e-permutation",
        because={"pay": "made up for a test, nobody is in it", "age": "made up for a test, nobody is in it"},
    )
    tables = asked.anonymize(data, seed=1).tables
    assert tables[""].columns == ["age", "group", "pay", "ill", "records", "pay sum", "_group"]
    assert tables["groups"].columns == ["_group", "_records", "pay min", "pay max", "_pay sum", "pay mean"]


def test_the_codebook_says_what_the_figures_are(tmp_path: Path):
    run_job(job(), people(), tmp_path / "out", seed=1)
    told = {row["column"]: row["meaning"] for row in rows_of(tmp_path / "out" / "public" / "codebook.csv")}
    assert told["pay max"] == "The largest known value of 'pay' in the group."
    assert "shuffled" in str(told["group"])
    page = (tmp_path / "out" / "public" / "report.html").read_text(encoding="utf-8")
    assert "shuffled by lot" in page
    assert "release-groups.parquet" in page


def swap_between_groups(people: pl.DataFrame, groups: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two values of different groups change places, so that no sum over all of them tells."""
    pay, group = people["pay"].to_list(), people["group"].to_list()
    other = next(i for i in range(len(pay)) if group[i] != group[0] and pay[i] != pay[0])
    pay[0], pay[other] = pay[other], pay[0]
    return people.with_columns(pl.Series("pay", pay)), groups


def wrong(column: str, by: float) -> Callable[[pl.DataFrame, pl.DataFrame], tuple[pl.DataFrame, pl.DataFrame]]:
    def change(people: pl.DataFrame, groups: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        values = groups[column].to_list()
        values[-1] += by
        return people, groups.with_columns(pl.Series(column, values, groups.schema[column]))

    return change


SABOTAGE = {
    "two values swapped": swap_between_groups,
    "smallest": wrong("pay min", 0.25),
    "largest": wrong("pay max", -0.25),
    "sum": wrong("pay sum", 1e-6),
    "mean": wrong("pay mean", 1e-6),
    "records": wrong("records", 1),
    "a group less": lambda people, groups: (people, groups[:-1]),
    "a group more": lambda people, groups: (people, pl.concat([groups, groups[-1:].with_columns(pl.col("group") + 1)])),
    "empty": lambda people, groups: (people, groups.with_columns(pl.lit(None, pl.Float64).alias("pay sum"))),
}


@pytest.mark.parametrize("change", SABOTAGE.values(), ids=SABOTAGE)
def test_what_is_changed_is_found(change: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """When tables are written, and by whoever checks the folder later, although checksums were made to fit."""
    release = job(3, 2).anonymize(people(), seed=3)
    tables = dict(zip(["", "groups"], change(release.tables[""], release.tables["groups"]), strict=True))
    assert release.draft is not None
    assert release.draft.verify(tables).untrue

    honest = Permuted.sheets

    def sheets(self: Permuted, *given: object) -> tuple:
        from dataclasses import replace

        written = honest(self, *given)
        return tuple(replace(sheet, batches=lambda name=sheet.name: iter([tables[name]])) for sheet in written)

    run_job(job(3, 2), people(), tmp_path / "honest", seed=3)
    monkeypatch.setattr(Permuted, "sheets", sheets)
    with pytest.raises(VerificationError, match="E501"):
        run_job(job(3, 2), people(), tmp_path / "out", seed=3)
    assert not (tmp_path / "out").exists()

    public = tmp_path / "honest" / "public"
    manifest = json.loads((public / "manifest.json").read_text())
    for told in manifest["tables"]:
        path = public / told["file"]
        tables[told["name"]].write_parquet(path)
        told["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["sha256"] = manifest["tables"][0]["sha256"]
    (public / "manifest.json").write_text(json.dumps(manifest))
    found = audit(tmp_path / "honest")
    assert found.same_as_manifest
    assert not found.ok

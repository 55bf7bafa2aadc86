"""Releases of several tables, as they lie on the disk, keep what they promise and are true."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from checker import IN_MEMORY, run_and_check
from column_kinds import ColumnKind, Numbers
from hypothesis import given, settings
from hypothesis import strategies as st
from numbered_checker import check_buckets, read_tables
from numbered_jobs import ALGORITHMS, check_numbered, numbered_cases
from whole_jobs import ROW, Case, Field

import tarnkappe as tk
from tarnkappe.algorithms import Algorithm
from tarnkappe.audit import audit
from tarnkappe.deals import Deal
from tarnkappe.engines.values import CellValues
from tarnkappe.errors import InfeasibleError, JobError, VerificationError
from tarnkappe.io import Source
from tarnkappe.job.places import OutputSettings
from tarnkappe.publish import batches, numbered
from tarnkappe.taxonomy import intervals, suppress

QUASI = ["age", "town"]


def table_of(rows: list[tuple[int | None, str | None, str | None]]) -> pl.DataFrame:
    types = {"age": pl.Int64, "town": pl.String, "illness": pl.String}
    return pl.DataFrame(rows, schema=types, orient="row")


def job(l: int, limit: float = 0.0, output: str = "csv", engine: str = "memory") -> tk.Job:  # noqa: E741
    return tk.Job(
        quasi={"age": tk.numeric(), "town": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.LDiversity("illness", l)],
        max_suppressed=limit,
        missing_rule="own-value",
        algorithm="anatomize",
        output=OutputSettings(format=output),
        engine=engine,
    )


ages = st.one_of(st.none(), st.integers(0, 6))
towns = st.one_of(st.none(), st.sampled_from(["Rom", "Bonn, am Rhein", "Ulm", 'the "old" town']))
illnesses = st.one_of(st.none(), st.sampled_from(["flu", "cold", "angina", "gout;ache"]))
tables = st.lists(st.tuples(ages, towns, illnesses), min_size=1, max_size=40)


@given(tables, st.integers(2, 4), st.sampled_from([0.0, 0.3]), st.sampled_from(["csv", "parquet"]))
@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_buckets_on_the_disk(engine: str, rows: list, l: int, limit: float, output: str):  # noqa: E741
    table = table_of(rows)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        out = Path(folder) / "out"
        try:
            tk.run_job(job(l, limit, output, engine), table, out, seed=7)
        except InfeasibleError:
            assert table["illness"].n_unique() < l
            assert not out.exists()
            return
        written = read_tables(out)
        originals = table.select(pl.all().cast(pl.String)).to_dicts()
        values = check_buckets(written, originals, QUASI, "illness")
        assert all(len(found) >= l for found in values.values())
        assert len(rows) - len(written.rows[""]) <= limit * len(rows)
        assert audit(str(out)).ok


@pytest.mark.parametrize("output", ["csv", "parquet"])
def test_engines_write_the_same_bytes(tmp_path: Path, output: str):
    rows = [(i % 7, "Rom" if i % 3 else None, ["flu", "cold", "gout", "angina"][i * i % 4]) for i in range(60)]
    found = []
    for engine in ("memory", "streaming"):
        tk.run_job(job(2, 0.5, output, engine), table_of(rows), tmp_path / engine, seed=3)
        public = tmp_path / engine / "public"
        found.append([(public / f"release{sheet}.{output}").read_bytes() for sheet in ("", "-secrets")])
    assert found[0] == found[1]


def shifted(self: CellValues, name: str, cells):
    """Everybody has the values of the next one."""
    return values_at(self, name, cells).shift(1).backward_fill()


def doubled(starts, codes, n_codes: int):
    runs, found, records = counted_in_runs(starts, codes, n_codes)
    return runs, found, records + (found == found[0])


values_at, counted_in_runs = CellValues.at, numbered.counted_in_runs


def one_too_far(deal: Deal, first: int, after: int):
    """The first record of every batch stands under the next number."""
    numbers = deal.groups_in(first, after) + 1
    numbers[deal.size[first] - 1] = min(numbers[deal.size[first] - 1] + 1, after)
    return numbers


SABOTAGE = {
    "values of others": (CellValues, "at", shifted),
    "a count too high": (numbered, "counted_in_runs", doubled),
    "a wrong number": (numbered, "numbers_of", one_too_far),
}


@pytest.mark.parametrize("how", SABOTAGE)
@pytest.mark.parametrize("output", ["csv", "parquet"])
def test_a_lie_is_found_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, output: str):
    place, name, broken = SABOTAGE[how]
    monkeypatch.setattr(place, name, broken)
    rows = [(i % 8, "Rom" if i % 3 else "Ulm", ["flu", "cold", "gout", "angina"][i % 4]) for i in range(24)]
    with pytest.raises(VerificationError, match="E501"):
        tk.run_job(job(2, 0.0, output), table_of(rows), tmp_path / "out", seed=3)
    assert list(tmp_path.iterdir()) == []


def test_an_edited_table_is_found_out(tmp_path: Path):
    rows = [(i, "Rom", ["flu", "cold", "gout"][i % 3]) for i in range(9)]
    tk.run_job(job(3), table_of(rows), tmp_path / "out", seed=3)
    assert audit(str(tmp_path / "out")).ok
    file = tmp_path / "out" / "public" / "release-secrets.csv"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    found = audit(str(tmp_path / "out"))
    assert not found.ok
    assert not found.found.verdicts[0].ok
    assert found.same_as_manifest is False


@pytest.mark.parametrize("algorithm", [tk.Anatomize(), tk.Angel(alike=False)], ids=str)
def test_values_that_are_listed_once_with_their_counts_are_not_all_different(algorithm: tk.Algorithm):
    """Half of the people have the flu, so there is one group, and every illness stands in one row of its table."""
    illness = ["flu"] * 60 + [f"illness {i % 30}" for i in range(60)]
    table = pl.DataFrame({"age": [i % 50 for i in range(120)], "illness": illness})
    made = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive=["illness"],
        criteria=[tk.LDiversity("illness", 20)],
        algorithm=algorithm,
    ).anonymize(table, seed=1)
    counted = made.tables["secrets" if algorithm.name == "anatomize" else "batches"]
    assert counted["illness"].n_unique() == 31
    assert counted["records"].sum() == 120


def test_how_many_are_alone_is_told_only_where_readers_can_count_it():
    """Slices tear quasi-identifiers from each other, so how many combinations are unique does not follow from them."""
    rows = [(i % 8, "Rom" if i % 3 else "Ulm", ["flu", "cold", "gout"][i % 3]) for i in range(60)]
    said = {}
    for algorithm in (tk.Anatomize(), tk.Slicing(strands=(("age", "illness"), ("town",)))):
        asked = tk.Job(
            quasi={"age": tk.numeric(), "town": tk.suppress()},
            sensitive=["illness"],
            criteria=[tk.FrequencyLDiversity("illness", 2)],
            algorithm=algorithm,
        )
        notices = asked.anonymize(table_of(rows), seed=1).for_readers().notices
        said[algorithm.name] = next(n.message for n in notices if n.code == "W621")
    assert "the only ones with theirs" in said["anatomize"]
    assert "the only ones" not in said["slicing"]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
@settings(max_examples=6)
@given(st.data())
def test_any_job_of_numbered_groups(algorithm: Algorithm, data: st.DataObject):
    """As `make fuzz` does for hours: what is written keeps what it promises and is true, or it is refused."""
    try:
        run_and_check(data.draw(numbered_cases(algorithm)), check=check_numbered)
    except JobError as refused:
        if refused.code not in ("E110", "E111"):
            raise


@pytest.mark.parametrize("algorithm", ALGORITHMS[::2], ids=str)
def test_a_column_of_numbers_may_be_empty(algorithm: Algorithm):
    fields = (
        Field("q", "quasi", Numbers(("1",), numeric=True)),
        Field("s", "sensitive", Numbers(("1", "2"), numeric=True)),
    )
    rows = tuple((None, str(1 + i % 2)) for i in range(8))
    case = Case(fields, rows, (tk.LDiversity("s", 2),), algorithm, missing_rule="own-value")
    assert run_and_check(case, check=check_numbered) is not None


def decimals(algorithm: Algorithm, **more: str) -> Case:
    """Twelve people and their incomes, some of them missing, with a column that tells them apart."""
    role = "sensitive" if algorithm.name == "angel" else "quasi"
    fields = (
        Field("town", "quasi", ColumnKind(("Rom", "Ulm"), suppress())),
        Field("age", "quasi", Numbers(tuple(f"{i}.5" for i in range(12)), numeric=True)),
        Field("income", "sensitive", Numbers(("0.1", "2.5", "3"), numeric=True)),
        Field(ROW, role, ColumnKind(("row 0",), suppress() if role == "quasi" else None)),
    )
    rows = [("Rom" if i % 3 else "Ulm", f"{i}.5", (None, "0.1", "2.5", "3")[i % 4], f"row {i}") for i in range(12)]
    return Case(fields, tuple(rows), (tk.LDiversity("income", 2),), algorithm, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("algorithm", ALGORITHMS[::2], ids=str)
def test_numbers_with_a_decimal_comma_are_numbers_in_parquet(algorithm: Algorithm):
    assert run_and_check(decimals(algorithm, delimiter=";", output="parquet"), check=check_numbered) is not None


@pytest.mark.parametrize("algorithm", ALGORITHMS[::2], ids=str)
@pytest.mark.parametrize(
    ("values", "source", "output"),
    [
        (("0", "1.5", "3"), "parquet", None),
        (("0", "1.5", "3"), "frame", "csv"),
        (("1e20", "5", "-7"), "csv", "parquet"),
        (("9007199254740993", "12", "3"), "csv", "csv"),
    ],
    ids=["floats", "floats as texts", "whole, but beyond 64 bits", "whole, beyond doubles"],
)
def test_numbers_with_a_taxonomy_are_numbers(algorithm: Algorithm, values: tuple[str, ...], source: str, output: str):
    """0.0 was not the value 0, and 9007199254740993 became ...992."""
    fields = (
        Field("q", "quasi", Numbers(values, intervals(5), numeric=True)),
        Field("s", "sensitive", Numbers(values, numeric=True)),
    )
    rows = tuple((values[i * i % 3], values[i % 3]) for i in range(12))
    case = Case(fields, rows, (tk.LDiversity("s", 2),), algorithm, source=source, output=output)
    written = run_and_check(case, check=check_numbered)
    assert written is not None
    shown = {text for name in written.rows if "s" in written.columns[name] for text in written.column(name, "s")}
    if values[0].startswith("9"):
        assert shown == set(values)


@pytest.mark.parametrize("algorithm", ALGORITHMS[::2], ids=str)
def test_the_checker_outside_finds_lies_too(monkeypatch: pytest.MonkeyPatch, algorithm: Algorithm):
    """Where the package itself would let them pass."""
    if algorithm.name == "angel":
        monkeypatch.setattr(batches, "numbers_of", one_too_far)
    else:
        monkeypatch.setattr(CellValues, "at", shifted)
    monkeypatch.setattr("tarnkappe.runs.truth_of", lambda *_: {})
    with pytest.raises((AssertionError, VerificationError)):
        run_and_check(decimals(algorithm), check=check_numbered)


def test_every_table_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Privacy and truth are proved in one pass, however many look at a table."""
    seen: list[tuple[str, ...]] = []
    batches = Source.batches

    def watched(self: Source, columns, *others):
        seen.append(tuple(columns))
        return batches(self, columns, *others)

    monkeypatch.setattr(Source, "batches", watched)
    rows = [(i % 8, "Rom" if i % 3 else "Ulm", ["flu", "cold", "gout", "angina"][i % 4]) for i in range(24)]
    tk.run_job(job(2, output="parquet"), table_of(rows), tmp_path / "out", seed=3)
    written = [columns for columns in seen if "group" in columns]
    assert sorted(written) == [("group", "age", "town"), ("group", "illness", "records")]


@pytest.mark.parametrize("form", [tk.Anatomize(), tk.Angel(), tk.KEPermutation(), tk.Slicing()])
def test_what_is_said_to_be_proved_is_what_the_form_says(form: tk.Algorithm):
    """Only forms with labels speak of labels."""
    rows = [(i % 8, "Rom" if i % 3 else "Ulm", i % 4) for i in range(60)]
    permuted = isinstance(form, tk.KEPermutation)
    asked = tk.Job(
        quasi={"age": tk.numeric(), "town": tk.suppress()},
        sensitive={"illness": tk.numeric() if permuted else None},
        criteria=[tk.KEAnonymity("illness", k=2, e=1) if permuted else tk.LDiversity("illness", 2)],
        algorithm=form,
    )
    said = asked.anonymize(pl.DataFrame(rows, schema=["age", "town", "illness"], orient="row"), seed=1).proved
    assert said[-1] == form.publishes.truth
    assert ("labels" in said[-1]) == form.publishes.coarsens


def test_numbers_of_any_size_are_compared(tmp_path: Path):
    """A number that is that of a group but for what does not fit into 32 bits is another number."""
    rows = [(i, "Rom", ["flu", "cold", "gout"][i % 3]) for i in range(9)]
    release = job(3).anonymize(table_of(rows), seed=3)
    assert release.draft is not None
    far = {
        name: table.with_columns(pl.col("group").cast(pl.Int64) + (1 << 32)) for name, table in release.tables.items()
    }
    assert release.draft.verify(release.tables).untrue == ()
    assert release.draft.verify(far).untrue

"""Files made to do harm: bounded work, an error of ours, and nothing that runs on somebody else's desk."""

from __future__ import annotations

import csv
import json
import os
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from tarnkappe import KAnonymity, LDiversity, from_file, numeric, suppress
from tarnkappe.errors import DataError, JobError, TarnkappeError, TaxonomyError
from tarnkappe.io import CsvDialect, Staging, open_source
from tarnkappe.io.leftovers import abandoned, temporary_tag
from tarnkappe.job import Job, OutputSettings
from tarnkappe.job.files import job_from_text, load_job
from tarnkappe.pipeline import run_job
from tarnkappe.plain_json import to_json
from tarnkappe.schema import Column

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX file modes and devices")

BOMB = "\n".join(
    ["a0: &a0 [x,x,x,x,x,x,x,x,x]", *(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9))]
)


def test_a_few_hundred_bytes_that_stand_for_billions_are_refused():
    assert len(BOMB) < 500
    with pytest.raises(JobError, match="repeat more than") as caught:
        job_from_text(BOMB)
    assert caught.value.code == "E100"


def test_references_that_repeat_little_are_fine():
    text = "columns: {a: &q {role: quasi, type: numeric}, b: *q}\ncriteria: [k-anonymity: {k: 2}]"
    assert [c.role for c in job_from_text(text).columns] == ["quasi", "quasi"]


@pytest.mark.parametrize("text", ["columns: " + "[" * 100_000, "columns: " + "{a: " * 100_000 + "}" * 100_000])
def test_deep_nesting_is_refused_before_it_takes_long(text: str):
    with pytest.raises(JobError, match="nested too deeply"):
        job_from_text(text)


@pytest.mark.parametrize("digits", [310, 5_000, 1_000_000])
def test_a_number_of_thousands_of_digits_is_refused(digits: int):
    with pytest.raises(JobError, match="'k' must be a whole number"):
        job_from_text(
            f"columns: {{age: {{role: quasi, type: numeric}}}}\ncriteria: [k-anonymity: {{k: {'9' * digits}}}]"
        )


@posix
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/random", "pipe"])
def test_a_device_or_pipe_is_no_taxonomy_and_no_job(path: str, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TaxonomyError, match="not a regular file"):
        from_file(str(tmp_path / path)).build(pl.Series("x", ["a"]), "x")
    with pytest.raises(JobError, match="not a regular file"):
        load_job(tmp_path / path)


ODD = {
    "lists": [[i % 3] for i in range(40)],
    "structures": [{"a": i % 3} for i in range(40)],
    "durations": [timedelta(i % 3) for i in range(40)],
    "bytes": [b"\xff" if i % 2 else b"a" for i in range(40)],
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("role", ["numeric", "suppress", "sensitive", "keep"])
@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_columns_that_cannot_be_compared_are_named(what: str, role: str, engine: str, tmp_path: Path):
    pl.DataFrame({"age": [i % 9 for i in range(40)], "x": ODD[what]}).write_parquet(tmp_path / "data.parquet")
    quasi = {"age": numeric()} | {"numeric": {"x": numeric()}, "suppress": {"x": suppress()}}.get(role, {})
    criteria = [KAnonymity(2), *([LDiversity("x", 2)] if role == "sensitive" else [])]
    sensitive, keep = ["x"] if role == "sensitive" else [], ["x"] if role == "keep" else []
    job = Job(quasi=quasi, sensitive=sensitive, keep=keep, criteria=criteria, engine=engine)
    with pytest.raises(DataError, match=f"column 'x' of 'data.parquet' holds {what}") as caught:
        run_job(job, tmp_path / "data.parquet", tmp_path / "out")
    assert caught.value.code == "E408"
    assert "x: {role: drop}" in str(caught.value.hint)
    dropped = Job(quasi={"age": numeric()}, drop="rest", criteria=[KAnonymity(2)], engine=engine)
    assert run_job(dropped, tmp_path / "data.parquet", tmp_path / "out").n_published == 40
    pl.read_parquet(tmp_path / "data.parquet").rename({"x": "patient_id"}).write_parquet(tmp_path / "data.parquet")
    assert run_job(dropped, tmp_path / "data.parquet", tmp_path / "out", overwrite=True).n_published == 40


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_private_folder_is_private_whatever_the_umask(umask: int, tmp_path: Path):
    job = Job(quasi={"age": numeric()}, criteria=[KAnonymity(2)])
    old = os.umask(umask)
    try:
        release = run_job(job, pl.DataFrame({"age": [1, 1, 2, 2]}), tmp_path / "out")
    finally:
        os.umask(old)
    assert release.folder is not None
    modes = {p.name: p.stat().st_mode & 0o777 for p in release.folder.iterdir()}
    assert modes == {"public": 0o777 & ~umask, "do-not-share": 0o700}
    assert {p.stat().st_mode & 0o777 for p in (release.folder / "do-not-share").iterdir()} == {0o600}
    assert release.folder.stat().st_mode & 0o777 == 0o777 & ~umask


@posix
def test_the_folder_of_an_unfinished_release_is_never_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = []
    real = Path.mkdir

    def mkdir(self: Path, mode: int = 0o777, *rest: bool, **further: bool) -> None:
        real(self, mode, *rest, **further)
        made.append((self.name, self.stat().st_mode & 0o777))

    old = os.umask(0)
    try:
        monkeypatch.setattr(Path, "mkdir", mkdir)
        with Staging(tmp_path / "out") as stage:
            stage.path("x.csv").write_text("x")
    finally:
        os.umask(old)
    assert {mode for name, mode in made if name.startswith(".out.tmp")} == {0o700}


def test_what_a_run_in_another_container_writes_is_no_leftover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    dead = f"-{os.getpid()}-", "-4999999-"
    (tmp_path / f".out.tmp{temporary_tag()}".replace(*dead)).mkdir()
    monkeypatch.setattr(Path, "readlink", lambda self: Path("pid:[1]"))
    (tmp_path / f".out.tmp{temporary_tag()}".replace(*dead)).mkdir()
    assert len(list(abandoned(tmp_path, ".out.tmp"))) == 1
    monkeypatch.undo()
    assert len(list(abandoned(tmp_path, ".out.tmp"))) == 1


FORMULAS = [
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1+1",
    "-2+3",
    "\tx",
    "'=already",
    "'tis",
    "-5",
    "+49",
    "-",
    "plain",
    "a=b",
]


@pytest.fixture
def risky(tmp_path: Path) -> Path:
    """A table of texts that a spreadsheet would run, in every role and in the header."""
    n = len(FORMULAS)
    data = pl.DataFrame(
        {
            "age": [str(i % 2) for i in range(4 * n)],
            "=job": [FORMULAS[i % n] for i in range(4 * n)],
            "illness": [FORMULAS[(i + i // n) % n] for i in range(4 * n)],
            "note": [FORMULAS[(i * 5) % n] for i in range(4 * n)],
        }
    )
    data.write_csv(tmp_path / "risky.csv")
    return tmp_path / "risky.csv"


def formulas_job(safe: bool, engine: str) -> Job:
    return Job(
        quasi={"age": suppress(), "=job": suppress()},
        sensitive=["illness"],
        columns=[Column("note", "keep", because="texts of a test, nobody's")],
        criteria=[KAnonymity(2), LDiversity("illness", 2)],
        output=OutputSettings(spreadsheet_safe=safe),
        engine=engine,
    )


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_cells_that_a_spreadsheet_would_run_are_noticed(engine: str, risky: Path, tmp_path: Path):
    release = run_job(formulas_job(False, engine), risky, tmp_path / "out")
    told = [n for n in release.notices if n.code == "W620"]
    assert len(told) == 1
    assert "'=job', 'illness', 'note'" in told[0].message
    assert "spreadsheet_safe: true" in str(told[0].hint)


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_cells_that_a_spreadsheet_would_run_are_neutralised_if_asked(engine: str, risky: Path, tmp_path: Path):
    release = run_job(formulas_job(True, engine), risky, tmp_path / "out", seed=1)
    assert not [n for n in release.notices if n.code == "W620"]
    with (tmp_path / "out" / "public" / "risky.csv").open(newline="") as file:
        header, *records = csv.reader(file)
    assert header == ["age", "'=job", "illness", "note"]
    written = {cell for record in records for cell in record}
    assert not [c for c in written if c[:1] in "=@+-\t" and c not in ("-5", "+49", "-", "")]
    assert {"'=cmd|' /C calc'!A0", "''=already", "'tis", "-5", "+49", "-"} <= written
    # Whoever says that the file is safe reads what was meant, and nothing else.
    with open_source(tmp_path / "out" / "public" / "risky.csv", CsvDialect(spreadsheet_safe=True)) as source:
        assert source.columns == ("age", "=job", "illness", "note")
        meant, given = source.read(["illness", "note"]), pl.read_csv(risky, infer_schema=False)
    for name in ("illness", "note"):
        assert sorted(meant[name].to_list()) == sorted(given[name].to_list())


def test_the_setting_is_kept_in_the_job_file():
    job = formulas_job(True, "memory")
    assert job_from_text(job.to_yaml()).output == job.output


def test_json_has_no_word_for_what_is_not_a_number():
    text = to_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": Path("x")})
    assert json.loads(text, parse_constant=pytest.fail) == {"a": None, "b": [None, 1.5], "c": "x"}


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("columns:\n\tage: quasi", "Indent with spaces"),
        ("columns:\n  age: {role: quasi\n  sex: keep", "Close the  {  of line 2"),
        ("columns: [a, b\ncriteria: []", "Close the  [  of line 1"),
        ('title: "census', "Close the quote of line 1"),
        ("columns:\n  age: quasi\n sex: keep", "same column"),
        ("title: a: b", "in quotes"),
    ],
)
def test_the_fix_for_a_broken_job_file_is_the_one_it_needs(text: str, fix: str):
    with pytest.raises(TarnkappeError) as caught:
        job_from_text(text)
    assert fix in str(caught.value.hint)

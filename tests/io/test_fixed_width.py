"""Fixed-width files with code lists, described in the job or by a mu-ARGUS file of metadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.errors import DataError, JobError
from tarnkappe.io import open_source
from tarnkappe.io.reading import Reading
from tarnkappe.job.files import load_job
from tarnkappe.pipeline import run_job

LINES = ["0341Köln  ", "0352Ulm", "9991      ", "  72Bonn  ", ""]
POSITIONS = {"age": "1-3", "sex": "4", "town": "5-10"}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    (tmp_path / "s.dat").write_text("\r\n".join(LINES), encoding="utf-8", newline="")
    (tmp_path / "SEX.CDL").write_text("1,male\n2,female\n\n")
    (tmp_path / "s.rda").write_text(
        'AGE 1 3 999\n  <NUMERIC>\n  <RECODEABLE>\nSEX 4 1\n  <CODELIST> "c:\\argus\\sex.cdl"\nTOWN 5 6\n'
    )
    return tmp_path


def test_positions_in_the_job(survey: Path):
    reading = Reading(positions=POSITIONS, codes={"sex": str(survey / "SEX.CDL")})
    with open_source(survey / "s.dat", reading) as source:
        assert source.read(source.columns).rows() == [
            ("034", "male", "Köln"), ("035", "female", "Ulm"), ("999", "male", None), ("7", "female", "Bonn")
        ]  # fmt: skip
        assert source.line_of(2) == 2


def test_a_position_of_one_sign_is_a_number_to_yaml(survey: Path):
    assert Reading(positions={"age": "1-3", "sex": 4}).positions == {"age": "1-3", "sex": "4"}
    with pytest.raises(JobError, match=r"E110 'positions.sex' must be a text") as error:
        Reading(positions={"sex": 4.5})
    assert str(error.value.hint).startswith("positions.sex: 1-3 "), "what is written there, not the whole mapping"


def test_metadata_of_mu_argus(survey: Path):
    with open_source(survey / "s.dat", Reading(layout=str(survey / "s.rda"))) as source:
        assert source.columns == ("AGE", "SEX", "TOWN")
        assert source.read(["AGE"])["AGE"].to_list() == ["034", "035", None, "7"]
        assert source.read(["SEX"])["SEX"].to_list() == ["male", "female", "male", "female"]


def test_other_encodings(survey: Path):
    (survey / "l.dat").write_bytes("034Köln\n035Ulm\n".encode("cp1252"))
    with pytest.raises(DataError) as caught:
        open_source(survey / "l.dat", Reading(positions={"age": "1-3", "town": "4-7"}))
    assert caught.value.code == "E404"
    with open_source(survey / "l.dat", Reading(positions={"age": "1-3", "town": "4-7"}, encoding="cp1252")) as source:
        assert source.read(["town"])["town"].to_list() == ["Köln", "Ulm"]


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_a_job_about_a_fixed_width_file(tmp_path: Path, engine: str):
    (tmp_path / "p.dat").write_text("".join(f"{20 + i % 8:3d}{1 + i % 2}{i % 3}\n" for i in range(96)))
    (tmp_path / "sex.cdl").write_text("1,male\n2,female\n")
    (tmp_path / "job.yaml").write_text(
        'data: {path: p.dat, positions: {age: "1-3", sex: "4", ill: "5"}, codes: {sex: sex.cdl}, filter: "age > 20"}\n'
        "columns:\n  age: {role: quasi, type: numeric}\n  sex: {role: quasi, taxonomy: suppress}\n  ill: sensitive\n"
        f"criteria:\n  - k-anonymity: {{k: 4}}\nengine: {engine}\nseed: 1\n"
    )
    job = load_job(tmp_path / "job.yaml")
    release = run_job(job, job.data.path, tmp_path / "out")
    assert release.n_published == 84
    assert release.public_manifest["file"] == "p.csv"
    assert "male" in (tmp_path / "out" / "public" / "p.csv").read_text()


@pytest.mark.parametrize(
    ("reading", "says"),
    [
        (Reading(), "nothing says where"),
        (Reading(positions={"age": "3-1"}), "two numbers"),
        (Reading(positions={"age": "x"}), "two numbers"),
        (Reading(positions={"age": "0-2"}), "two numbers"),
        (Reading(positions={"age": "1-3", "far": "40-42"}), "ends before column 40"),
        (Reading(positions=POSITIONS, codes={"sexx": "SEX.CDL"}), "no such column"),
    ],
)
def test_positions_that_do_not_fit(survey: Path, reading: Reading, says: str):
    with pytest.raises(DataError, match=says) as caught:
        open_source(survey / "s.dat", reading)
    assert caught.value.code == "E472"
    assert ":  " in str(caught.value.hint) or str(caught.value.hint).startswith(("data: {", "codes: {"))
    assert caught.value.hint


@pytest.mark.parametrize("text", ["1 male\n", ",male\n"])
def test_a_broken_code_list(survey: Path, text: str):
    (survey / "bad.cdl").write_text(text)
    with pytest.raises(DataError, match="code list") as caught:
        open_source(survey / "s.dat", Reading(positions=POSITIONS, codes={"sex": str(survey / "bad.cdl")}))
    assert caught.value.code == "E472"
    assert ":  " in str(caught.value.hint) or str(caught.value.hint).startswith(("data: {", "codes: {"))
    with pytest.raises(DataError) as caught:
        open_source(survey / "s.dat", Reading(positions=POSITIONS, codes={"sex": str(survey / "none.cdl")}))
    assert caught.value.code == "E401"


@pytest.mark.parametrize("text", ["AGE one 3\n", '<SEPARATOR> ";"\nAGE 3\n', "AGE\n"])
def test_broken_metadata(survey: Path, text: str):
    (survey / "bad.rda").write_text(text)
    with pytest.raises(DataError) as caught:
        open_source(survey / "s.dat", Reading(layout=str(survey / "bad.rda")))
    assert caught.value.code == "E472"

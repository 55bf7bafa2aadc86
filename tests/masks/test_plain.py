"""Records that pass from one plain CSV file to another as lines are those that pass as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_written import NAMES, WHY, _spoil, columns, masked, samples, with_another_digit, with_lines_exchanged

import tarnkappe as tk
from conftest import patients
from tarnkappe.engines import line_shuffle
from tarnkappe.errors import TarnkappeError, VerificationError
from tarnkappe.io import TableWriter, celltexts, csvfile, csvparts, open_source
from tarnkappe.io.lines import Lines
from tarnkappe.masking import plain
from tarnkappe.masking.plain import PlainRecords
from tarnkappe.masks.base import ByValue, Held


@pytest.fixture
def as_if_large(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small files are divided as if they were large; how many parts were written, one by one."""
    monkeypatch.setattr(csvfile, "_LARGE", 0)
    monkeypatch.setattr(csvparts, "PART", 5000)
    monkeypatch.setattr(line_shuffle, "BUCKET", 100)
    taken: list[int] = []
    honest = PlainRecords.written

    def noted(self: PlainRecords, *given: Any) -> Any:
        for part in honest(self, *given):
            taken.append(len(part.made))
            yield part

    monkeypatch.setattr(PlainRecords, "written", noted)
    return taken


def lines_of(folder: Path) -> list[str]:
    return sorted((folder / "out" / "public" / "data.csv").read_text().splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_those_of_tables(name: str, key: str, tmp_path: Path, request: pytest.FixtureRequest):
    mask, frame = samples(key)[name], patients(600)
    masked(frame, mask, tmp_path)
    by_tables = lines_of(tmp_path)
    taken = request.getfixturevalue("as_if_large")
    masked(frame, mask, tmp_path)
    assert lines_of(tmp_path) == by_tables
    assert sum(taken) == 600
    assert len(taken) > 5
    written = (tmp_path / "out" / "public" / "data.csv").read_bytes()
    masked(frame, mask, tmp_path)
    assert (tmp_path / "out" / "public" / "data.csv").read_bytes() == written, "same seed, same bytes"
    masked(frame, mask, tmp_path, seed=6)
    assert (tmp_path / "out" / "public" / "data.csv").read_bytes() != written


@pytest.mark.parametrize("name", [n for n in NAMES if n != "tests"])
def test_a_mask_that_breaks_its_promise_is_caught(
    name: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_if_large: list[int]
):
    for kind in (Held, ByValue):
        honest = kind.at
        monkeypatch.setattr(kind, "at", lambda self, rows, given, f=honest: [_spoil(s) for s in f(self, rows, given)])
    with pytest.raises(VerificationError, match="E501"):
        masked(patients(400), samples(key)[name], tmp_path)
    assert as_if_large
    assert not (tmp_path / "out").exists()


def with_fields_exchanged(lines: Lines) -> Lines:
    """The last values of two records of the same length under each other's."""
    out = lines.text.tobytes().splitlines(keepends=True)
    one, other = next(
        (i, j) for i in range(len(out)) for j in range(i) if out[i][-11:] != out[j][-11:] and len(out[i]) == len(out[j])
    )
    out[one], out[other] = out[one][:-11] + out[other][-11:], out[other][:-11] + out[one][-11:]
    return Lines.of(b"".join(out), lines.height)


def with_quotes(lines: Lines) -> Lines:
    """A value in quotes, which says the same; but nobody wrote it so."""
    text = lines.text.tobytes().replace(b",f,", b',"f",', 1)
    return Lines.of(text, lines.height)


@pytest.mark.parametrize("sly", [with_another_digit, with_lines_exchanged, with_fields_exchanged, with_quotes])
@pytest.mark.parametrize("name", ["thresholds", "noise", "pram", "tokens"])
def test_a_file_that_was_changed_on_the_way_is_caught(
    name: str, sly: Any, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_if_large: list[int]
):
    honest = TableWriter.write
    monkeypatch.setattr(line_shuffle, "BUCKET", 1000)
    monkeypatch.setattr(
        TableWriter, "write", lambda self, batch: honest(self, sly(batch) if isinstance(batch, Lines) else batch)
    )
    with pytest.raises(VerificationError, match="E501"):
        masked(patients(400), samples(key)[name], tmp_path)
    assert as_if_large
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("wrong", ["write_floats", "make_lines"])
def test_a_line_that_does_not_say_what_was_masked_is_caught(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_if_large: list[int]
):
    place = celltexts if wrong == "write_floats" else plain
    honest = getattr(place, wrong)

    def slightly_off(*given: Any) -> Any:
        if wrong == "write_floats":
            return honest(given[0] * (1 + 1e-15), *given[1:])
        done = honest(*given)
        out = given[-2]
        out[np.flatnonzero(out == ord("5"))[0]] += 1
        return done

    monkeypatch.setattr(place, wrong, slightly_off)
    with pytest.raises(VerificationError, match="E501"):
        masked(patients(400), samples("k")["noise"], tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text",
    [
        "a,b\r\n1.5,x\r\n2.5,y\r\n4.5,z\r\n",
        'a,b\n1.5,"x, y"\n2.5,y\n4.5,z\n',
        'a,b\n1.5,5" pipe\n2.5,y\n4.5,z\n',
        "a,b\n1e-200,x\n2.5,y\n4.5,z\n",
        "a,b\n 1.5,x\n+2.5,y\n4.5,z\n",
        "a,b\n1.5,x\n2.5,y\n4.5,\n",
        "a,b\n1.5,x\n,y\n4.5,z",
        "a,b\n1,x\n9007199254740995,y\n4,z\n",
        "a,b\n1.5,\u00e9\n2.5,\ufeff\n4.5,z\n",
    ],
)
def test_odd_files_come_out_as_they_do_from_tables(text: str, tmp_path: Path, request: pytest.FixtureRequest):
    data = tmp_path / "data.csv"
    data.write_bytes(text.encode())
    kept = [tk.Column("a", "keep", because=WHY), tk.Column("b", "keep", because=WHY)]
    out = []
    for large in (False, True):
        if large:
            request.getfixturevalue("as_if_large")
        try:
            tk.mask(data, tk.Rounding("a", base=1), columns=kept, folder=tmp_path / "out", seed=1, overwrite=True)
            out.append((tmp_path / "out" / "public" / "data.csv").read_bytes())
        except TarnkappeError as error:
            out.append(error.code)
    assert out[0] == out[1]


def test_numbers_and_texts_are_read_as_by_polars(as_if_large: list[int], tmp_path: Path):
    frame = patients(500).with_columns(pl.lit(None, pl.String).alias("nothing"))
    frame.write_csv(tmp_path / "data.csv")
    with open_source(tmp_path / "data.csv") as source:
        found = source.typed(["age", "income", "nothing"], ["region", "person"])
        assert found is not None
        for name in ("age", "income", "nothing"):
            wanted = source.numeric(source.read([name])[name], name)
            assert found[name].equals(wanted, check_dtypes=True, null_equal=True), name
        for name in ("region", "person"):
            assert found[name].cast(pl.String).equals(source.read([name])[name], null_equal=True)
        assert source.typed(["sex"], []) is None


def test_tables_with_many_identifiers_are_written_in_the_order_of_their_columns(
    as_if_large: list[int], key: str, tmp_path: Path
):
    frame = patients(300).select("sex", "person", "age", "region", "illness")
    frame.write_csv(tmp_path / "data.csv")
    masks = [tk.Pseudonyms("person", key=key), tk.Pram("region", stay_share=0.5)]
    tk.mask(tmp_path / "data.csv", masks, columns=columns(frame), rest="drop", folder=tmp_path / "out", seed=1)
    written = pl.read_csv(tmp_path / "out" / "public" / "data.csv")
    assert written.columns == frame.columns
    same = ["sex", "age", "illness"]
    assert written.select(same).sort(same).equals(frame.select(same).sort(same))
    assert as_if_large


def test_what_is_said_of_a_mask_has_all_digits():
    """A column coded at 1 234 567 was said to be coded at 1.23457e+06, which no written number was."""
    assert tk.TopBottomCoding("n", top=1234567).done.startswith("top-coded at 1234567,")
    assert tk.Rounding("n", base=1234567).done == "rounded to multiples of 1234567"
    assert "12.345 % keep their value" in tk.Pram("n", stay_share=0.12345).done
    assert tk.TCloseness("n", t=0.1234564).asked.endswith("0.1234564")

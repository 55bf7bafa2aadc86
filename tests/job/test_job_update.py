"""Adding columns to a job file leaves everything else as it was, byte for byte."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.errors import JobError
from tarnkappe.io import open_source
from tarnkappe.job.suggest import Suggestion, suggest
from tarnkappe.job.text import read_job_text
from tarnkappe.job.update import read_text, updated_job_text

FRAME = pl.DataFrame(
    {"age": [1, 2] * 20, "ward": ["a", "b"] * 20, 'we"ird: x': ["a", "b"] * 20, "email": ["q"] * 40, "sex": ["m"] * 40}
)

LAYOUTS = {
    "inline": "columns:\n  age: {role: quasi,\n    type: numeric}   # mine\n\n  # the end\ncriteria: []\n",
    "blocks": "columns:\n    age:\n        role: quasi\n        type: numeric\n",
    "windows": "# hello\r\ncolumns:\r\n  age: drop\r\ncriteria: []\r\n",
    "no last line end": "criteria: []\ncolumns:\n  age: drop",
    "empty": "columns:\ncriteria: []",
    "block text": "columns:\n  age:\n    role: keep\n    because: |\n      long\n      text\ncriteria: []\n",
    "reference": "title: &t drop\ncolumns:\n  age: *t\nseed: 1\n",
    "mark": "\ufeffcolumns:\n  age: drop\nseed: 1\n",
}


@pytest.fixture(scope="module")
def found() -> list[Suggestion]:
    return suggest(open_source(FRAME))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lines_are_added_and_nothing_else_changes(layout: str, found: list[Suggestion]) -> None:
    text = LAYOUTS[layout]
    update = updated_job_text(text, found, "job.yaml")
    before, after = text.splitlines(keepends=True), update.text.splitlines(keepends=True)
    newline = "\r\n" if "\r\n" in text else "\n"
    new = [line for line in after if "#" in line and "value" in line]
    assert len(new) == len(after) - len(before)
    assert all(line.endswith(newline) for line in new)
    rest = "".join(line for line in after if line not in new)
    assert rest.rstrip() == text.rstrip()
    data = read_job_text(update.text, "job.yaml")
    assert set(data["columns"]) == set(FRAME.columns)
    assert data["columns"]["ward"] == {"role": "undecided"}
    assert data["columns"]["email"] == {"role": "identifier"}
    assert update.undecided == ("ward", 'we"ird: x')


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_second_update_changes_nothing(layout: str, found: list[Suggestion]) -> None:
    once = updated_job_text(LAYOUTS[layout], found, "job.yaml")
    twice = updated_job_text(once.text, found, "job.yaml")
    assert twice.text == once.text
    assert twice.added == ()
    assert twice.undecided == once.undecided


@given(st.lists(st.sampled_from(FRAME.columns), unique=True), st.integers(1, 6))
@settings(max_examples=examples(30), deadline=None)
def test_columns_that_are_there_are_left_alone(present: list[str], indent: int) -> None:
    quoted = ["'" + name.replace("'", "''") + "'" for name in present]
    text = "columns:\n" + "".join(f"{' ' * indent}{name}: drop\n" for name in quoted) + "seed: 3\n"
    update = updated_job_text(text, suggest(open_source(FRAME)), "job.yaml")
    data = read_job_text(update.text, "job.yaml")
    assert {name for name, given in data["columns"].items() if given == "drop"} == set(present)
    assert set(update.added) | set(update.undecided) == set(FRAME.columns) - set(present)
    assert data["seed"] == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("criteria: []\n", "E103"),
        ("columns: {age: drop}\n", "E110"),
        ("columns: {}\n", "E110"),
        ("columns: ~\n", "E110"),
        ("columns: [age]\n", "E110"),
        ("columns:\n  age: drop\n  age: keep\n", "E104"),
        ("columns: [\n", "E100"),
    ],
)
def test_a_file_that_cannot_be_updated_is_refused(text: str, code: str, found: list[Suggestion]) -> None:
    with pytest.raises(JobError) as caught:
        updated_job_text(text, found, "job.yaml")
    assert caught.value.code == code
    assert str(caught.value.where).startswith("job.yaml")


def test_reading_keeps_line_ends(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "job.yaml").write_bytes(b"a: 1\r\n")
    assert read_text(tmp_path / "job.yaml") == "a: 1\r\n"
    (tmp_path / "bad.yaml").write_bytes(b"\xff")
    with pytest.raises(JobError, match="UTF-8"):
        read_text(tmp_path / "bad.yaml")
    with pytest.raises(JobError, match="cannot be opened"):
        read_text(tmp_path / "none.yaml")

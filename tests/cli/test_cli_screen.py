"""What is printed: wrapped where that is harmless, never interpreted, never broken inside a command."""

from __future__ import annotations

import io
import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tarnkappe.cli import screen
from tarnkappe.cli.options import split_names
from tarnkappe.cli.progress import PREPARING, Working
from tarnkappe.errors import JobError, Notice


def console(width: int = 60, terminal: bool = True) -> Console:
    return Console(
        file=io.StringIO(), width=width, force_terminal=terminal, color_system=None, markup=False, highlight=False
    )


def printed(made: Console) -> str:
    assert isinstance(made.file, io.StringIO)
    return made.file.getvalue()


words = st.lists(st.text("abcdefghij0123456789%·✓{}:=-", min_size=1, max_size=14), min_size=1, max_size=20)


@given(words, st.sampled_from([" ", "  "]), st.integers(20, 80))
def test_filling_loses_no_word_and_keeps_their_order(parts: list[str], gap: str, width: int) -> None:
    text = gap.join(parts)
    lines = screen.fill(text, width)
    assert " ".join(lines).split() == text.split()


@given(st.lists(st.text("abcdefghij", min_size=1, max_size=14), min_size=1, max_size=30), st.integers(20, 80))
def test_plain_words_fit_into_the_width(parts: list[str], width: int) -> None:
    lines = screen.fill(" ".join(parts), width)
    assert all(len(line) <= width for line in lines)
    assert len(lines) == 1 or all(len(a) + 1 + len(b.split()[0]) > width for a, b in pairwise(lines))


def test_what_is_to_be_pasted_stays_in_one_piece() -> None:
    command = "tarnkappe init some/where/census.csv --update some/where/else/census.yaml"
    assert command in screen.fill(command, 40)
    assert "limits: {suppressed_rows: 2%}" in screen.fill(
        "Allow more with  limits: {suppressed_rows: 2%}  or less.", 30
    )
    assert screen.fill("reached 30 162 of 100 %", 12) == ["reached", "30 162", "of 100 %"]


def test_without_a_terminal_nothing_is_broken() -> None:
    made = console(20, terminal=False)
    screen.rows(made, [("Goal", "a text that is much longer than the screen is wide")])
    assert printed(made) == "  Goal       a text that is much longer than the screen is wide\n"


def test_an_error_has_code_place_details_and_fix() -> None:
    made = console(80)
    error = JobError(
        "E101", "3 columns have no role", where="census.yaml:14", details=["Every one."], hint="Do  this: x"
    )
    screen.failure(made, error)
    assert printed(made) == (
        "E101  3 columns have no role\n      census.yaml:14\n      Every one.\n      Fix:  Do  this: x\n"
    )


def test_a_warning_has_code_and_hint() -> None:
    made = console(80)
    screen.notices(made, [Notice("W601", "k is low", "Ask for 5.")])
    assert printed(made) == "W601  k is low\n      Hint:  Ask for 5.\n"


@pytest.mark.parametrize("evil", ["[red]x[/red]", "\x1b[31mx", ":smile:", "a\x07b\rc"])
def test_names_are_printed_as_they_are_and_do_nothing(evil: str) -> None:
    made = console(80)
    screen.failure(made, JobError("E110", f"column '{evil}'", hint=evil))
    screen.rows(made, [("Data", evil)])
    text = printed(made)
    assert text.count(screen.clean(evil)) == 3
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)


def test_json_has_no_words_that_json_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    screen.print_json({"a": float("nan"), "b": (1, 2.5), "c": screen, 5: "≥"})
    data = json.loads(capsys.readouterr().out)
    assert data["a"] is None
    assert (data["b"], data["5"]) == ([1, 2.5], "≥")


def test_column_names_with_commas_are_not_split() -> None:
    assert split_names(["a,b", "c, d"], ["a", "b", "c, d"]) == ["a", "b", "c, d"]
    assert split_names(None, []) == []


def test_on_a_terminal_a_bar_shows_the_phases_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    made = console(80)
    monkeypatch.setattr(screen, "stderr", lambda: made)
    with Working() as progress:
        progress("read")
        progress.preparing()
        progress.prepared()
        progress("decide")
    text = printed(made)
    assert "forming groups" in text
    assert text.endswith("\x1b[2K")  # the line is erased at the end


def test_kernels_that_must_be_compiled_are_announced_once(capsys: pytest.CaptureFixture[str]) -> None:
    from numba import njit

    with Working("read") as progress:
        progress("read")
        assert njit(lambda x: x + 1)(1) == 2
        assert njit(lambda x: x + 2)(1) == 3
    assert capsys.readouterr().err.count(PREPARING) == 1
    with Working("read", quiet=True) as progress:
        progress("read")
        assert njit(lambda x: x + 3)(1) == 4
    assert capsys.readouterr().err == ""

"""Errors carry a code, a place, a fix and an exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tarnkappe
from tarnkappe import errors
from tarnkappe.errors import CODES, JobError, Notice, TarnkappeError, did_you_mean

SOURCE = Path(tarnkappe.__file__).parent

KINDS = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, TarnkappeError)]


def test_an_error_says_what_and_where():
    error = JobError("E110", "k must be at least 1, got 0", where="job.yaml:7", details=["one", "two"], hint="Set k.")
    assert str(error) == "E110 k must be at least 1, got 0 (job.yaml:7)\n  one\n  two\n  Fix: Set k."
    assert str(JobError("E110", "no place")) == "E110 no place"
    assert error.as_dict() == {
        "code": "E110",
        "message": "k must be at least 1, got 0",
        "where": "job.yaml:7",
        "details": ["one", "two"],
        "hint": "Set k.",
        "exit_code": 2,
    }


@pytest.mark.parametrize(
    ("name", "exit_code"),
    [
        ("JobError", 2),
        ("TaxonomyError", 3),
        ("InfeasibleError", 4),
        ("DataError", 3),
        ("VerificationError", 5),
        ("RefusedError", 6),
        ("LimitError", 7),
    ],
)
def test_exit_codes(name, exit_code):
    assert getattr(errors, name).exit_code == exit_code


def test_all_errors_are_caught_as_one():
    for cls in KINDS:
        with pytest.raises(TarnkappeError):
            raise cls("E110", "something")


def test_a_notice_travels_with_a_result():
    notice = Notice("W601", "k = 2 is low", hint="Authorities ask for 5.")
    assert str(notice) == "W601 k = 2 is low"
    assert notice == Notice("W601", "k = 2 is low", hint="Authorities ask for 5.")


def test_close_words_are_suggested_and_others_not():
    assert did_you_mean("critera", ["criteria", "columns"]) == " (did you mean 'criteria'?)"
    assert did_you_mean("zzz", ["criteria", "columns"]) == ""
    assert did_you_mean("x", []) == ""


def test_codes_are_explained_in_sentences():
    assert all(re.fullmatch(r"[EW]\d{3}", code) for code in CODES)
    assert all(text.endswith(".") for text in CODES.values())
    assert list(CODES) == sorted(CODES)


def test_every_code_in_the_source_is_explained():
    used = {
        code: path.name
        for path in SOURCE.rglob("*.py")
        for code in re.findall(r"[\"']([EW]\d{3})[\"']", path.read_text(encoding="utf-8"))
    }
    assert {code: name for code, name in used.items() if code not in CODES} == {}


def test_further_lines_of_a_fix_are_indented():
    error = JobError("E110", "no", hint="one of\na\nb")
    assert str(error) == "E110 no\n  Fix: one of\n    a\n    b"

"""Errors carry a code, a place, a fix and an exit code."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

import tarnkappe
from tarnkappe import errors
from tarnkappe.errors import CODES, InfeasibleError, JobError, Notice, TarnkappeError, did_you_mean
from tarnkappe.fixes import OVERWRITE, Relaxation, criterion

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
        "ways": [],
        "exit_code": 2,
    }


def test_ways_out_are_facts_and_the_hint_lists_them():
    ways = [Relaxation(criterion("k-anonymity", "KAnonymity", k=2), "two {groups}"), Relaxation(OVERWRITE, "anew")]
    error = InfeasibleError("E301", "none", details=["why"], ways=ways)
    assert error.hint == "one of\n- k-anonymity: {k: 2}   (two {groups})\n--overwrite   (anew)"
    assert error.as_dict()["ways"][0] == {"write": "- k-anonymity: {k: 2}", "effect": "two {groups}"}
    assert "KAnonymity(k=2)   (two {groups})" in str(error)


def test_an_error_of_another_process_is_the_same_here():
    error = InfeasibleError("E301", "none", where="x", ways=[Relaxation(OVERWRITE, "anew")])
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args, str(again)) == (InfeasibleError, error.args, str(error))
    assert again.as_dict() == error.as_dict()


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

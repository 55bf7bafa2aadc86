"""The register of copies: names in any letters, several writers, and every change noticed."""

from __future__ import annotations

import json
import multiprocessing
from hashlib import sha256
from pathlib import Path

import pytest
from people import KEY, job, people

from tarnkappe.errors import DataError, JobError
from tarnkappe.fingerprint.issuing import issue
from tarnkappe.fingerprint.planning import plan_copies
from tarnkappe.fingerprint.register import Register, recipient_name


def filled(path: Path, *names: str) -> Register:
    register = Register.open(path)
    for name in names:
        register = register.appended(name, "data", sha256(name.encode()).hexdigest(), (0, 1))
    return register


def test_a_register_is_read_again(tmp_path: Path):
    path = tmp_path / "register.jsonl"
    register = filled(path, "a", "b", "c")
    again = Register.open(path)
    assert again == register
    assert again.recipients("data") == ("a", "b", "c")
    assert again.recipients("other") == ()
    assert again.find("data", "b").pattern == (0, 1)
    assert path.stat().st_mode & 0o077 == 0


def test_the_register_shows_every_change(tmp_path: Path):
    path = tmp_path / "register.jsonl"
    register = filled(path, "a", "b", "c")
    lines = path.read_text().splitlines()
    forged = json.dumps({**json.loads(lines[2]), "recipient": "innocent"})
    for broken in (
        [lines[0].replace('"a"', '"x"'), *lines[1:]],
        [lines[0], lines[2]],
        lines[1:],
        [lines[1], lines[0], lines[2]],
        [*lines, "{}"],
        [*lines, "nonsense"],
        [*lines[:2], forged],
        lines[:2],  # the last line cut off
        [],
    ):
        path.write_text("".join(f"{line}\n" for line in broken))
        with pytest.raises(DataError, match="E414"):
            Register.open(path)
    (tmp_path / "register.jsonl.head").unlink()
    path.write_text("\n".join(lines[:2]) + "\n")
    with pytest.raises(DataError, match="missing"):
        Register.open(path).require_head(register.head)


@pytest.mark.parametrize("name", ["a\u2028b", "a\x85b", 'Łódź "1"', "病院", "{}", "O'Neill\\", "a/../b", "x" * 5000])
def test_names_in_any_letters_do_no_harm(tmp_path: Path, name: str):
    path = tmp_path / "register.jsonl"
    planned = plan_copies(job(), people(300), KEY)
    _, register = issue(planned, KEY, name, register=Register.open(path))
    assert Register.open(path).entries == register.entries
    assert register.recipients(planned.scheme.dataset) == (recipient_name(name),)


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "bank\u202eofni", "a\u200bb", "\udcff"])
def test_names_that_cannot_be_read_are_refused(name: str):
    with pytest.raises(JobError, match="E110"):
        recipient_name(name)


def test_one_recipient_has_one_spelling():
    assert recipient_name("Charite\u0301 ") == recipient_name("Charité")


def _add(path: str, name: str) -> None:
    with Register.open(path).alone() as register:
        register.appended(name, "data", "0" * 64, (0,))


def test_several_may_issue_at_the_same_time(tmp_path: Path):
    path = tmp_path / "register.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_add, args=(str(path), f"r{i}")) for i in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(e.recipient for e in Register.open(path).entries) == [f"r{i}" for i in range(8)]


def test_who_comes_later_goes_on_from_what_is_there(tmp_path: Path):
    path = tmp_path / "register.jsonl"
    early = Register.open(path)
    filled(path, "a")
    with early.alone() as now:
        assert now.recipients("data") == ("a",)
    known = Register.open(path)
    path.write_text("")
    (tmp_path / "register.jsonl.head").unlink()
    with pytest.raises(DataError, match="missing"), known.alone():
        raise AssertionError


def test_no_copy_is_made_that_could_not_be_entered(tmp_path: Path):
    planned = plan_copies(job(), people(300), KEY)
    register = Register.open(tmp_path / "absent" / "register.jsonl")
    with pytest.raises(JobError, match="E107"):
        issue(planned, KEY, "a", tmp_path / "copy", register=register)
    assert not (tmp_path / "copy").exists()

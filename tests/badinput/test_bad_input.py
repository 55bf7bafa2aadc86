"""Whatever is wrong: one clear screen with what, where and a fix, the right exit code, and nothing half written."""

from __future__ import annotations

import dataclasses
import json

import pytest
from bad_data import DATA, TAXONOMIES
from bad_jobs import COMMANDS, FILES, OUTPUTS, SETTINGS
from office import EXIT_CODES, Case, Office, Seen, assert_clear

from grids import some

CASES = [*DATA, *TAXONOMIES, *FILES, *SETTINGS, *COMMANDS, *OUTPUTS]
PLAIN = [case for case in CASES if case.plain]


def every(cases: list[Case], n: int = 1) -> pytest.MarkDecorator:
    """All cases, one in `n` of them in the usual suite."""
    return pytest.mark.parametrize("case", some(cases, n, [case.title for case in cases]))


def here(case: Case, office: Office) -> Case:
    """The case with the folder in the place of HERE."""

    def put(text: str) -> str:
        return text.replace("HERE", str(office.folder))

    return dataclasses.replace(
        case,
        where=case.where and put(case.where),
        says=tuple(put(text) for text in case.says),
        words=tuple(put(word) for word in case.words),
    )


def test_the_table_is_a_table() -> None:
    assert len(CASES) >= 35
    assert len({case.title for case in CASES}) == len(CASES)


@every(CASES)
def test_one_clear_screen_and_nothing_written(office: Office, case: Case) -> None:
    case = here(case, office)
    office.prepare(case)
    before = office.everything()
    seen = office.tarnkappe(*case.words)
    assert_clear(seen, case.code, case.where, case.says, case.examples)
    assert office.everything() == before


@every(PLAIN, 4)
def test_an_earlier_release_stays_as_it_was(office: Office, case: Case) -> None:
    office.prepare(case)
    office.earlier_release()
    before = office.everything()
    seen = office.tarnkappe(*case.words, "--overwrite")
    assert_clear(seen, case.code, case.where, case.says, case.examples)
    assert office.everything() == before


@every(PLAIN, 4)
def test_check_finds_the_same_and_programs_can_read_it(office: Office, case: Case) -> None:
    office.prepare(case)
    seen = office.tarnkappe("check", "job.yaml", "--json")
    error = json.loads(seen.stdout)["error"]
    assert (error["code"], error["exit_code"]) == (case.code, EXIT_CODES[case.code[1]])
    assert seen.exit_code == error["exit_code"]
    assert error["where"] == case.where
    assert error["hint"]
    assert seen.message == []


def fix_of(seen: Seen) -> str:
    """What the screen says after the word Fix."""
    (line,) = [line for line in seen.message if line.strip().startswith("Fix:  ")]
    return line.strip().removeprefix("Fix:  ")


def case_of(title: str) -> Case:
    (case,) = [case for case in CASES if case.title == title]
    return case


@pytest.mark.parametrize(
    ("title", "old", "fix"),
    [
        ("no taxonomy", "sex: {role: quasi}", "sex: {role: quasi, taxonomy: suppress}"),
        ("latin-1 bytes declared as utf-8", "encoding: utf-8", "encoding: cp1252"),
        ("missing value", "people.csv}", "missing_rule: own-value"),
        ("direct identifier kept", "name: {role: keep}", "name: {role: identifier}"),
        ("suppressed_rows: 150%", "limits: {suppressed_rows: 150%}", "limits: {suppressed_rows: 2%}"),
        ("wildcards with an algorithm that cannot", "algorithm: datafly", "algorithm: {name: mondrian}"),
        ("criteria empty", "criteria: []", "criteria:\n  - k-anonymity: {k: 5}"),
    ],
)
def test_the_fix_that_is_printed_works(office: Office, title: str, old: str, fix: str) -> None:
    case = case_of(title)
    office.prepare(case)
    seen = office.tarnkappe(*case.words)
    shown = "\n".join(line[12:] for line in seen.message)
    assert fix in shown
    assert isinstance(case.job, str)
    new = f"people.csv, {fix}}}" if old == "people.csv}" else fix
    office.write("job.yaml", case.job.replace(old, new))
    assert office.tarnkappe("run", "job.yaml").exit_code == 0


@pytest.mark.parametrize("title", ["output exists", "output is not ours", "output is the folder of the data"])
def test_the_folder_that_is_suggested_works(office: Office, title: str) -> None:
    case = case_of(title)
    office.prepare(case)
    suggested = fix_of(office.tarnkappe(*case.words)).rpartition("  ")[2]
    assert office.tarnkappe("run", "job.yaml", "-o", suggested).exit_code == 0


def test_the_level_that_is_suggested_works(office: Office) -> None:
    office.prepare(case_of("k above the number of rows"))
    assert "- k-anonymity: {k: 60}" in "\n".join(office.tarnkappe("run", "job.yaml").message)
    assert office.tarnkappe("run", "job.yaml", "--set", "criteria.k=60").exit_code == 0


def test_a_file_that_violates_fails_and_says_what(office: Office) -> None:
    office.prepare(Case("", "E501", None, ()))
    before = office.everything()
    seen = office.tarnkappe("verify", "people.csv", "--job", "job.yaml")
    assert seen.exit_code == 5
    assert "✗ k-anonymity ≥ 5 · reached 1 · 60 groups violate it" in seen.stdout
    assert "✗ the file does NOT keep the promise" in seen.stdout
    assert len(seen.stdout.splitlines()) < 25
    assert "canary" not in seen.stdout
    assert office.everything() == before


def test_a_release_that_was_changed_is_noticed(office: Office) -> None:
    office.prepare(Case("", "E501", None, ()))
    assert office.tarnkappe("run", "job.yaml").exit_code == 0
    released = office.folder / "release/public/people.csv"
    lines = released.read_text().splitlines(keepends=True)
    released.write_text("".join([lines[0], *reversed(lines[1:])]))
    seen = office.tarnkappe("verify", released)
    assert seen.exit_code == 5
    assert "✓ k-anonymity" in seen.stdout
    assert "✗ is not that of manifest.json: the file was changed" in seen.stdout

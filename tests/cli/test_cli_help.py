"""Help, version, and what is said to words that are no commands."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest

from tarnkappe._version import __version__
from tarnkappe.cli.app import app

COMMANDS = tuple(c.name or c.callback.__name__ for c in app.registered_commands)


def test_help_groups_the_commands_and_lists_the_exit_codes(cli) -> None:
    result = cli("--help")
    assert result.exit_code == 0
    for panel in ("Start", "Configure", "Anonymise", "Trust", "Tools"):
        assert f"─ {panel} ─" in result.stdout
    for command in COMMANDS:
        assert f" {command} " in result.stdout
    assert "5 verification failed" in result.stdout


def test_the_bare_command_shows_help(cli) -> None:
    assert cli().stdout == cli("--help").stdout
    assert cli().exit_code == 0
    assert "convert" in cli("taxonomy").stdout


@pytest.mark.parametrize(
    "words",
    [
        *((c,) for c in COMMANDS),
        *(("taxonomy", c) for c in ("build", "show", "check", "convert")),
        *(("fingerprint", c) for c in ("plan", "issue", "trace", "prove", "attack")),
    ],
)
def test_every_command_has_an_example(cli, words: tuple[str, ...]) -> None:
    result = cli(*words, "--help")
    assert result.exit_code == 0
    assert f"Example:  tarnkappe {' '.join(words)}" in result.stdout


def test_paragraphs_of_the_help_fill_the_screen(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.strip() for line in cli("verify", "--help").stdout.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("Criteria come from"))
    paragraph = lines[start : lines.index("", start)]
    for line, after in pairwise(paragraph):
        assert len(line) + 1 + len(after.split()[0]) > 76, line


def test_version(cli) -> None:
    assert cli("--version").stdout == f"tarnkappe {__version__}\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["rnu"], "Did you mean 'run'"),
        (["--bogus"], "no such option: --bogus"),
        (["run", "--dry-rnu"], "did you mean '--dry-run'"),
        (["run"], "missing argument 'JOB'"),
        (["taxonomy", "bild"], "Did you mean 'build'"),
        (["taxonomy", "build", "age"], "missing option '--from'"),
        (["run", "job.yaml", "--seed", "x"], "--seed"),
        (["run", "job.yaml", "--seed", "-1"], "--seed"),
        (["run", "a", "b", "c"], "unexpected extra argument"),
        (["demo", "--rows", "3"], "--rows"),
    ],
)
def test_wrong_words_get_a_clean_answer_and_exit_2(cli, words: list[str], says: str) -> None:
    result = cli(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("E108  ")
    assert says in result.stderr
    assert "--help" in result.stderr


HEAVY = ("numba", "polars", "numpy", "yaml", "pyarrow", "tarnkappe.pipeline", "tarnkappe.job")


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['tarnkappe', *{words!r}]\n"
        "from tarnkappe.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"sys.stderr.write(','.join(m for m in {HEAVY!r} if m in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "tarnkappe" in done.stdout


def test_the_package_can_be_run_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "tarnkappe", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"tarnkappe {__version__}\n"

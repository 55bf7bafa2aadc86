"""Installed without extras: nothing of them is imported, and what needs one says the one line that installs it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

#: Packages of the extras, as they are imported.
OPTIONAL = {
    *("pandas", "fastexcel", "xlsxwriter", "pyspark", "cryptography", "adbc_driver_manager", "adbc_driver_postgresql"),
    *("duckdb", "pyreadstat", "highspy", "starlette", "uvicorn", "sklearn", "matplotlib"),
}

#: Stands before the package: whoever asks for one of these is told that it is not there.
HIDING = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
import importlib.util
there = importlib.util.find_spec

def find_spec(name, package=None):
    return None if name.partition(".")[0] in {OPTIONAL!r} else there(name, package)

importlib.util.find_spec = find_spec
"""


def bare(folder: Path, *words: str, after: str = "") -> subprocess.CompletedProcess[str]:
    """The command line as it is without any extra."""
    code = f"{HIDING}\nsys.argv = {['tarnkappe', *words]!r}\nfrom tarnkappe.cli import main\n"
    code += f"try:\n    main()\nfinally:\n    {after or 'pass'}\n"
    return run(folder, code)


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip


JOB = """
data: {path: people.csv}
columns: {age: {role: quasi, type: numeric}, town: {role: quasi, taxonomy: suppress}, ill: sensitive}
criteria: [k-anonymity: {k: 2}]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bare")
    rows = "".join(f"{20 + i % 5},{'XY'[i % 2]},{'abc'[i % 3]}\n" for i in range(60))
    (folder / "people.csv").write_text("age,town,ill\n" + rows)
    (folder / "job.yaml").write_text(JOB)
    for name in ("a.xlsx", "a.sav", "a.dta", "a.sas7bdat", "a.duckdb"):
        (folder / name).write_bytes(b"x")
    return folder


def test_a_release_needs_no_extra_and_imports_none(folder: Path):
    told = f"print('IMPORTED', *(m for m in sys.modules if m in {OPTIONAL!r}))"
    done = bare(folder, "run", "job.yaml", "-o", "release", after=told)
    assert (folder / "release/public/people.csv").is_file(), done.stderr
    assert "IMPORTED\n" in done.stdout
    assert bare(folder, "verify", "release").returncode == 0


NEEDS = {
    "excel": [("inspect", "a.xlsx"), ("run", "job.yaml", "--set", "output.format=xlsx", "-o", "b")],
    "statistics": [
        ("inspect", "a.sav"),
        ("inspect", "a.dta"),
        ("inspect", "a.sas7bdat"),
        ("run", "job.yaml", "--set", "output.format=sav", "-o", "b"),
    ],
    "duckdb": [("inspect", "duckdb:///a.duckdb#t")],
    "postgresql": [("inspect", "postgresql://u@localhost/db#t")],
    "app": [("app", ".", "--no-browser")],
    "sign": [("sign", "--new-key", "steward")],
    "spark": [("run", "job.yaml", "--engine", "spark", "-o", "b")],
    "optimal": [("run", "job.yaml", "--set", "algorithm={name: local-suppression, method: optimal}", "-o", "b")],
    "learn": [("utility", "people.csv", "release", "--target", "ill", "--learn")],
}


#: Imports the commands once, and runs each of them in a child.
EACH_IN_A_CHILD = """
import os
import tarnkappe.cli.app, tarnkappe.pipeline
from tarnkappe.cli import main
for i, words in enumerate(commands):
    child = os.fork()
    if child == 0:
        os.dup2(os.open(f"told-{i}", os.O_CREAT | os.O_WRONLY), 2)
        sys.argv = ["tarnkappe", *words]
        main()
    print("CODE", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def ended(folder: Path) -> dict[tuple[str, ...], tuple[int, str]]:
    """How each command ends that needs an extra: its exit code, and what it says."""
    commands = [words for of_extra in NEEDS.values() for words in of_extra]
    if not (folder / "release").exists():
        bare(folder, "run", "job.yaml", "-o", "release")
    code = f"{HIDING}\ncommands = {commands!r}\n{EACH_IN_A_CHILD}"
    done = run(folder, code)
    codes = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("CODE ")]
    told = [(folder / f"told-{i}").read_text() for i in range(len(commands))]
    return dict(zip(commands, zip(codes, told, strict=True), strict=True))


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX processes")
@pytest.mark.parametrize(("extra", "words"), [(extra, words) for extra, all_ in NEEDS.items() for words in all_])
def test_what_is_missing_is_named_with_the_line_that_installs_it(folder: Path, ended, extra: str, words):
    code, told = ended[words]
    assert code in (2, 3)
    lines = [line.strip() for line in told.splitlines() if "pip install" in line]
    assert len(lines) == 1, told
    assert f"tarnkappe[{extra}]" in lines[0]
    assert "Traceback" not in told
    assert not (folder / "b").exists()


def test_every_extra_is_asked_for_here():
    """Of those left out, pandas is only handed in by whoever has it, and the others are for developers."""
    assert set(NEEDS) == set(EXTRAS) - {"pandas", "bench", "dev"}

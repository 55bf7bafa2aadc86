"""What is published: the wheel, the container, completion in shells, and the check for a pipeline."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import tarnkappe

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling", reason="the build backend is not installed:  pip install hatchling")
    out = tmp_path_factory.mktemp("wheel")
    code = f"import hatchling.build as b, sys; sys.stdout.write(b.build_wheel({str(out)!r}))"
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return zipfile.ZipFile(out / made.stdout.splitlines()[-1])


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile):
    names = wheel.namelist()
    package = Path(tarnkappe.__file__).parent
    files = (p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    sources = {p.relative_to(package.parent).as_posix() for p in files}
    inside = {name for name in names if ".dist-info/" not in name}
    assert sources - inside == set()
    assert {name for name in inside if not name.startswith("tarnkappe/")} == set()
    assert not [name for name in names if re.search(r"__pycache__|\.nb[ic]$|\.ipynb|tests/|\.deid$|do-not-share", name)]
    assert {"tarnkappe/py.typed", "tarnkappe/app/static/main.js", "tarnkappe/app/static/words/de.json"} <= inside
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_metadata_is_complete(wheel: zipfile.ZipFile):
    name = next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    told = wheel.read(name).decode()
    assert f"\nVersion: {tarnkappe.__version__}\n" in told
    for line in ("Name: tarnkappe", "Requires-Python: >=3.11", "License-Expression: Apache-2.0", "Summary: "):
        assert f"\n{line}" in told
    for extra in ("app", "duckdb", "excel", "postgresql", "sign", "spark", "statistics"):
        assert f"\nProvides-Extra: {extra}\n" in told
    entry = wheel.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert "tarnkappe = tarnkappe.cli:main" in entry


def test_every_extra_that_messages_name_exists():
    known = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    package = Path(tarnkappe.__file__).parent
    named = {e for p in package.rglob("*.py") for e in re.findall(r"tarnkappe\[([a-z]+)\]", p.read_text("utf-8"))}
    from tarnkappe.io.formats import FORMATS

    named |= {kind.extra for kind in FORMATS.values() if kind.extra}
    assert named
    assert named - known == set()


def test_help_loads_nothing_that_is_optional():
    optional = {"fastexcel", "xlsxwriter", "pyreadstat", "duckdb", "pandas", "numba", "pyarrow", "xml.parsers.expat"}
    code = "import sys, tarnkappe, tarnkappe.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert optional & set(done.stdout.split()) == set()


def test_the_how_to_page_lists_every_kind_of_file():
    from tarnkappe.io.formats import FORMATS

    page = (ROOT / "docs/how-to/files.md").read_text()
    for kind in FORMATS.values():
        row = next(line for line in page.splitlines() if f"| `{kind.suffixes[0]}`" in line)
        assert all(f"`{suffix}`" in row for suffix in kind.suffixes)
        assert f"| `{kind.written}` |" in row
        assert kind.extra is None or f"tarnkappe[{kind.extra}]" in row


def test_the_container_runs_without_rights():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    last = lines[max(i for i, line in enumerate(lines) if line.startswith("FROM")) :]
    assert "USER tarnkappe" in last
    assert 'ENTRYPOINT ["tarnkappe"]' in last
    assert not any("pip install" in line or "curl" in line for line in last), "nothing is fetched in the last stage"
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    assert all((ROOT / word).exists() for word in copied)
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(copied) == allowed, "what is built from, and nothing else, is sent to the builder"


COMPLETED = [("ver", "verify"), ("import", "import-arx"), ("fingerp", "fingerprint")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(shell: str):
    for begun, whole in COMPLETED if shell == "bash" else COMPLETED[:1]:
        given = {"COMP_WORDS": f"tarnkappe {begun}", "COMP_CWORD": "1"}
        given |= {"_TYPER_COMPLETE_ARGS": f"tarnkappe {begun}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        environment = {**os.environ, "_TARNKAPPE_COMPLETE": f"complete_{shell}", **given}
        code = "from tarnkappe.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert whole in done.stdout, done.stderr


def test_the_check_for_a_pipeline_is_sound(tmp_path: Path):
    """Its steps are run here as they stand, on a release that is fine and on one that somebody changed."""
    steps = yaml.safe_load((ROOT / "examples/ci/release-check.yaml").read_text())["jobs"]["verify"]["steps"]
    private, verify = (
        step["run"] for step in steps if step.get("name") in ("Nothing private is here", "Every release verifies")
    )
    people = "age,ill\n" + "".join(f"{20 + i % 5},{'abc'[i % 3]}\n" for i in range(60))
    (tmp_path / "people.csv").write_text(people)
    job = tarnkappe.Job(
        quasi={"age": tarnkappe.numeric()}, sensitive=["ill"], criteria=[tarnkappe.KAnonymity(4)], seed=1
    )
    from tarnkappe.pipeline import run_job

    repository = tmp_path / "repository"
    run_job(job, tmp_path / "people.csv", repository / "releases" / "2024")

    tool = tmp_path / "bin" / "tarnkappe"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tarnkappe "$@"\n')
    tool.chmod(0o755)

    def exit_code(script: str) -> int:
        environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
        return subprocess.run(  # noqa: PLW1510
            ["bash", "-e", "-c", script], cwd=repository, env=environment, capture_output=True, timeout=120
        ).returncode

    assert exit_code(private) == 1
    for kept in sorted((repository / "releases" / "2024" / "do-not-share").iterdir()):
        kept.unlink()
    (repository / "releases" / "2024" / "do-not-share").rmdir()
    assert exit_code(private) == 0
    assert exit_code(verify) == 0
    table = repository / "releases" / "2024" / "public" / "people.csv"
    table.write_text(table.read_text() + "99,a\n")
    assert exit_code(verify) != 0

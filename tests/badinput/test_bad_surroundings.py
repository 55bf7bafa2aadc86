"""Whatever happens around a run, signals, full disks, missing rights, closed pipes: a whole release or none at all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from office import Case, Office, Seen, assert_clear, table

import tarnkappe
from tarnkappe import pipeline
from tarnkappe.cli.root import Stopped

if os.name != "posix":
    pytest.skip("needs POSIX signals, rights and limits", allow_module_level=True)

ROWS = 300_000

BIG_JOB = """\
data: {path: big.csv}
columns:
  name: {role: identifier}
  age: {role: quasi, type: numeric}
  weight: {role: quasi, type: numeric}
  zip: {role: quasi, type: numeric}
  illness: {role: sensitive}
criteria:
  - k-anonymity: {k: 5}
output: {folder: release}
"""


@pytest.fixture
def ready(office: Office) -> Office:
    """A folder with a job that can be run."""
    office.prepare(Case("", "E603", None, ()))
    return office


@pytest.fixture(scope="module")
def big_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes some seconds."""
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("big") / "big.csv"
    columns = {"age": (0, 100), "weight": (30, 140), "zip": (0, 20_000)}
    frame = pl.DataFrame({name: rng.integers(*bounds, ROWS) for name, bounds in columns.items()})
    illness = pl.Series("illness", rng.integers(0, 4, ROWS)).cast(pl.String)
    frame.with_columns(illness, name="canary-" + pl.int_range(ROWS).cast(pl.String)).write_csv(path)
    return path


@pytest.fixture
def busy(office: Office, big_file: Path) -> Office:
    """A folder with a job that takes some seconds, and an earlier release."""
    (office.folder / "big.csv").hardlink_to(big_file)
    office.write("job.yaml", BIG_JOB)
    office.earlier_release()
    return office


def struck(office: Office, how: signal.Signals, phase: str) -> subprocess.CompletedProcess[str]:
    """Run the job, send a signal soon after a phase began, and wait for the end."""
    with office.start("run", "job.yaml", "--overwrite") as process:
        assert process.stderr is not None
        assert any(line.strip().startswith(phase) for line in process.stderr), f"it ended before '{phase}'"
        time.sleep(0.02)
        process.send_signal(how)
        stdout, stderr = process.communicate(timeout=60)
    return subprocess.CompletedProcess([], process.returncode, stdout, stderr)


@pytest.mark.parametrize(
    ("how", "phase", "exit_code", "word"),
    [
        (signal.SIGINT, "reading and counting", 130, "Interrupted"),
        (signal.SIGTERM, "rewriting the records", 143, "Terminated"),
        pytest.param(signal.SIGHUP, "reading back", 143, "Terminated", marks=pytest.mark.full),
    ],
)
def test_whoever_asks_a_run_to_stop_finds_everything_as_it_was(
    busy: Office, how: signal.Signals, phase: str, exit_code: int, word: str
) -> None:
    before = busy.everything()
    ended = struck(busy, how, phase)
    if ended.returncode == 0:  # the signal came too late, so the new release must be complete
        assert busy.tarnkappe("verify", "release/public/big.csv").exit_code == 0
        return
    assert ended.returncode == exit_code
    said = [line for line in ended.stderr.splitlines() if not line.endswith("…")]
    assert said == [f"{word}, nothing was written."]
    assert ended.stdout == ""
    assert busy.everything() == before


def test_a_killed_run_leaves_the_earlier_release_and_the_next_one_tidies_up(busy: Office) -> None:
    before = busy.everything()
    if struck(busy, signal.SIGKILL, "writing the reports").returncode == 0:
        pytest.skip("the run was faster than the signal")
    left = busy.everything()
    assert {name: content for name, content in left.items() if not name.startswith(".release.")} == before
    busy.prepare(Case("", "E603", None, ()))
    assert busy.tarnkappe("run", "job.yaml", "--overwrite").exit_code == 0
    assert not [name for name in busy.everything() if name.startswith(".")]


def test_a_run_by_nohup_does_not_hear_that_its_terminal_is_gone() -> None:
    script = (
        "import atexit, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from tarnkappe.cli import main\n"
        "sys.argv = ['tarnkappe', '--version']\n"
        "atexit.register(lambda: print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN))\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("True\n")


def test_a_clean_up_that_is_interrupted_is_finished_at_the_end(office: Office) -> None:
    # Polars and Python both raise KeyboardInterrupt for one Ctrl-C: the second one may hit the clean-up.
    script = (
        "from tarnkappe.io.staging import Staging\n"
        "class Interrupted(Staging):\n"
        "    def __exit__(self, *error):\n"
        "        raise KeyboardInterrupt\n"
        "with Interrupted('new/parent/release') as stage:\n"
        "    stage.path('half.csv').write_text('half')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=office.folder, capture_output=True, check=False)
    assert done.returncode == -signal.SIGINT
    assert office.everything() == {}


#: Takes rights away and runs the job, for one file or folder after the other, in one process.
RIGHTLESS = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from office import Office
for path, mode in json.loads(sys.argv[1]).items():
    old = Path(path).stat().st_mode
    Path(path).chmod(mode)
    seen = Office(Path.cwd()).tarnkappe("run", "job.yaml")
    Path(path).chmod(old)
    print(json.dumps(asdict(seen)))
"""


def test_missing_rights(ready: Office, powerless: Callable[[], None]) -> None:
    before = ready.everything()
    command = [sys.executable, "-c", RIGHTLESS, json.dumps({"people.csv": 0o200, "job.yaml": 0o200, ".": 0o555})]
    settings = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, env=settings, preexec_fn=powerless, capture_output=True, text=True, check=True)
    data, given, folder = (Seen(**json.loads(line)) for line in done.stdout.splitlines())
    assert_clear(data, "E401", "people.csv", ("permission denied", "chmod u+r people.csv"))
    assert_clear(given, "E107", "job.yaml", ("Permission denied", "may read"))
    assert_clear(folder, "E603", str(ready.folder / "release"), ("permission denied", f"chmod u+w {ready.folder}"))
    assert ready.everything() == before


class SmallDisk:
    """A file system of a few pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resize(self, kilobytes: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(self.folder)], check=True)

    def pages_used(self) -> int:
        return sum(-(-path.stat().st_size // 4096) for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture
def small_disk(ready: Office) -> Iterator[SmallDisk]:
    folder = ready.folder / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(folder)]
    if not sys.platform.startswith("linux") or os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk, on Linux")
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize(
    ("kind", "every"), [("csv", 4), *(pytest.param(kind, 1, marks=pytest.mark.full) for kind in ("csv", "parquet"))]
)
def test_a_full_disk_at_every_moment(ready: Office, small_disk: SmallDisk, kind: str, every: int) -> None:
    rows = [[f"canary-{i}", str(i), "canary-f", f"canary{i:05d}", f"canary-{i % 9}"] for i in range(3000)]
    ready.write("people.csv", table(rows))
    target = small_disk.folder / "deep" / "release"
    # Everybody is a group of their own, so that the file of the groups fills several pages too.
    given = ("--set", f"output.format={kind}", "--set", "criteria.k=1", "--set", "criteria.l=1")
    command = ("run", "job.yaml", "-o", target, *given)
    small_disk.resize(4000)
    assert ready.tarnkappe(*command).exit_code == 0
    needed = small_disk.pages_used()
    shutil.rmtree(target.parent)
    early = [2**i for i in range(10) if 2**i < needed - 12]
    for pages in (*early[::every], *range(needed - 12, needed, every)):
        small_disk.resize(4 * pages)
        seen = ready.tarnkappe(*command)
        assert_clear(seen, "E701", str(target), ("the disk is full", "nothing was left behind", "df -h"))
        assert list(small_disk.folder.iterdir()) == []
    small_disk.resize(4 * needed + 40)
    assert ready.tarnkappe(*command).exit_code == 0
    assert ready.tarnkappe("verify", target / "public" / f"people.{kind}").exit_code == 0


def test_a_full_disk_leaves_the_earlier_release(ready: Office, small_disk: SmallDisk) -> None:
    small_disk.resize(2000)
    assert ready.tarnkappe("run", "job.yaml", "-o", "disk/release").exit_code == 0
    before = ready.everything()
    small_disk.resize(4 * small_disk.pages_used() + 8)
    seen = ready.tarnkappe("run", "job.yaml", "-o", "disk/release", "--overwrite")
    assert_clear(seen, "E701", str(small_disk.folder / "release"))
    assert ready.everything() == before


def test_a_disk_that_cannot_be_written(ready: Office, small_disk: SmallDisk) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk.folder)], check=True)
    seen = ready.tarnkappe("run", "job.yaml", "-o", "disk/release")
    assert_clear(seen, "E603", str(small_disk.folder / "release"), ("read-only",))


def test_a_limit_for_files(ready: Office) -> None:
    import resource  # only there on POSIX systems

    before = ready.everything()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    seen = ready.run("run", "job.yaml", preexec_fn=limit)
    assert_clear(seen, "E603", str(ready.folder / "release"), ("larger than allowed",))
    assert ready.everything() == before


def test_a_reader_who_goes_away_and_an_unwritable_home(ready: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(ready.write("home", "not a folder")))
    reader, writer = os.pipe()
    os.close(reader)
    seen = ready.run("run", "job.yaml", stdout=writer)
    os.close(writer)
    assert seen.message == []
    assert ready.tarnkappe("verify", "release/public/people.csv").exit_code == 0


def test_nobody_listens_at_all(office: Office) -> None:
    command = f'exec "{sys.executable}" -m tarnkappe explain k-anonymity >&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_what_cannot_be_printed(ready: Office) -> None:
    with Path("/dev/full").open("w") as full:
        seen = ready.run("run", "job.yaml", stdout=full)
    assert_clear(seen, "E701", "standard output", ("cannot be printed",))
    assert ready.tarnkappe("verify", "release/public/people.csv").exit_code == 0


@pytest.fixture
def read_only_package(ready: Office, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    """The package where nobody can write beside it, for a user without a home."""
    copy = ready.folder / "site" / "tarnkappe"
    shutil.copytree(Path(tarnkappe.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    home = ready.write("home", "not a folder")
    settings = {"HOME": home, "PYTHONPATH": copy.parent, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": ready.folder}
    for name, value in settings.items():
        monkeypatch.setenv(name, str(value))
    yield ready
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        folder.chmod(0o755)


def test_kernels_need_no_place_to_be_kept(read_only_package: Office, powerless: Callable[[], None]) -> None:
    before = sorted(path.name for path in read_only_package.folder.iterdir())
    script = "import tarnkappe.pipeline, tarnkappe.kernels.io.csvscan as k; print(k.__file__)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=powerless, check=False)
    assert done.stderr == ""
    assert done.stdout.startswith(str(read_only_package.folder))
    assert sorted(path.name for path in read_only_package.folder.iterdir()) == before


@pytest.mark.full
def test_a_run_without_a_home(read_only_package: Office, powerless: Callable[[], None]) -> None:
    seen = read_only_package.run("run", "job.yaml", preexec_fn=powerless)
    assert seen.exit_code == 0
    assert seen.message == []


def test_a_swallowed_signal_is_obeyed_at_the_next_phase(ready: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    # Polars ignores what is raised while it calls Python back.
    monkeypatch.setattr(Stopped, "asked", Stopped("Terminated", 143))
    before = ready.everything()
    seen = ready.tarnkappe("run", "job.yaml")
    assert (seen.exit_code, seen.stderr) == (143, "Terminated, nothing was written.\n")
    assert ready.everything() == before


@pytest.mark.parametrize("asked", [None, Stopped("Interrupted", 130)])
def test_when_polars_panics(ready: Office, monkeypatch: pytest.MonkeyPatch, asked: Stopped | None) -> None:
    def panic(*args: object, **kwargs: object) -> None:
        monkeypatch.setattr(Stopped, "asked", asked)
        raise pl.exceptions.PanicException("canary")

    monkeypatch.setattr(pipeline, "run_job", panic)
    seen = ready.tarnkappe("run", "job.yaml")
    assert seen.exit_code == (asked.exit_code if asked else 1)
    assert len(seen.message) == 1
    assert seen.message[0].startswith("Interrupted, nothing" if asked else "internal error: PanicException in ")
    assert "canary" not in seen.stderr

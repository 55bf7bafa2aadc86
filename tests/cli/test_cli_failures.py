"""Whatever happens, there is one message, the right exit code and no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grids import grid
from tarnkappe import pipeline
from tarnkappe.cli.app import app
from tarnkappe.cli.root import Stopped


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise error

    monkeypatch.setattr(pipeline, "run_job", fail)


@pytest.mark.parametrize(
    ("error", "exit_code", "says"),
    [
        (KeyboardInterrupt(), 130, "Interrupted, nothing was written.\n"),
        (Stopped("Terminated", 143), 143, "Terminated, nothing was written.\n"),
        (MemoryError(), 7, "E702  not enough memory\n"),
        (ValueError("canary: a value of the data"), 1, "internal error: ValueError in "),
    ],
)
def test_each_kind_of_end(cli, monkeypatch, error: BaseException, exit_code: int, says: str) -> None:
    failing(monkeypatch, error)
    result = cli("run", "job.yaml")
    assert result.exit_code == exit_code
    assert result.stdout == ""
    assert says in result.stderr


def test_an_internal_error_is_one_line_and_json_if_asked(cli, monkeypatch) -> None:
    failing(monkeypatch, ZeroDivisionError())
    text = cli("run", "job.yaml").stderr
    assert text.count("\n") == 1
    assert "--debug" in text
    error = json.loads(cli("run", "job.yaml", "--json").stdout)["error"]
    assert (error["code"], error["exit_code"]) == ("internal", 1)


def test_debug_shows_the_traceback(folder: Path, monkeypatch) -> None:
    failing(monkeypatch, ZeroDivisionError("here"))
    result = CliRunner().invoke(app, ["run", "job.yaml", "--debug"])
    assert result.exit_code == 1
    assert "ZeroDivisionError: here" in result.stderr
    assert "Traceback" in result.stderr


def test_a_reader_who_goes_away_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m tarnkappe explain | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "criteria" in done.stdout


def test_a_reader_of_the_progress_who_goes_away_does_not_stop_a_run(folder: Path) -> None:
    command = f"{sys.executable} -m tarnkappe run job.yaml --overwrite 2>&1 | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert list(folder.glob("*/public/manifest.json"))


def test_piped_output_has_no_colours_and_no_color_is_honoured(folder: Path) -> None:
    command = [sys.executable, "-m", "tarnkappe", "explain", "k-anonymity"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize(
    ("number", "exit_code", "word"), [(signal.SIGTERM, 143, "Terminated"), (signal.SIGINT, 130, "Interrupted")]
)
def test_signals_end_a_run_cleanly(folder: Path, number: int, exit_code: int, word: str) -> None:
    slow = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # it is ignored where tests run in the background
        "from tarnkappe import pipeline\n"
        "from tarnkappe.io import Staging\n"
        "def run_job(*a, **k):\n"
        "    with Staging('release') as stage:\n"
        "        stage.path('half.csv').write_text('x')\n"
        "        sys.stderr.write('ready\\n'); sys.stderr.flush()\n"
        "        time.sleep(30)\n"
        "pipeline.run_job = run_job\n"
        "sys.argv = ['tarnkappe', 'run', 'job.yaml', '--quiet']\n"
        "from tarnkappe.cli import main\n"
        "main()\n"
    )
    before = sorted(folder.iterdir())
    process = subprocess.Popen([sys.executable, "-c", slow], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == exit_code
    assert errors == f"{word}, nothing was written.\n"
    assert sorted(folder.iterdir()) == before


#: Runs a job that is sent a signal as soon as the n-th thread of the pool, or beside it, has started.
STRUCK = """
import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
number, pooled, nth = (int(sys.argv.pop(1)) for _ in range(3))
start, begun = threading.Thread.start, []
def struck(self):
    start(self)
    if self.name.startswith("tarnkappe_") == bool(pooled):
        begun.append(self)
        if len(begun) == nth:
            os.kill(os.getpid(), number)
threading.Thread.start = struck
from tarnkappe.cli import main
main()
"""


#: The engine, whether a thread is of the pool, and which of them it is.
THREADS = {
    "first of the pool": ("memory", 1, 1),
    "digest of the input": ("memory", 0, 1),
    "writer": ("streaming", 0, 2),
}


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize(("thread", "stop"), grid(THREADS, ["SIGTERM", "SIGINT"]))
def test_a_signal_while_a_thread_starts_ends_the_run(folder: Path, thread: str, stop: str) -> None:
    """The pool did not know the thread that had just started, and so the process waited for it for good."""
    engine, pooled, nth = THREADS[thread]
    number = signal.Signals[stop]
    exit_code, word = {"SIGTERM": (143, "Terminated"), "SIGINT": (130, "Interrupted")}[stop]
    before = sorted(folder.iterdir())
    words = [*map(str, (int(number), pooled, nth)), "run", "job.yaml", "--quiet", "--engine", engine]
    done = subprocess.run(
        [sys.executable, "-c", STRUCK, *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (exit_code, f"{word}, nothing was written.\n")
    assert sorted(folder.iterdir()) == before


#: Is sent a signal as soon as a release, or the first of two, has taken its name.
TOO_LATE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
number = int(sys.argv.pop(1))
from tarnkappe.io.staging import Staging
take_name = Staging._take_name
def struck(self, folder):
    take_name(self, folder)
    os.kill(os.getpid(), number)
Staging._take_name = struck
from tarnkappe.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("number", "exit_code", "word"), [(signal.SIGTERM, 143, "Terminated"), (signal.SIGINT, 130, "Interrupted")]
)
def test_a_signal_that_comes_too_late_does_not_say_that_nothing_was_written(
    folder: Path, number: int, exit_code: int, word: str, overwrite: bool
) -> None:
    words = ["run", "job.yaml", "--quiet", "-o", "made"]
    if overwrite:
        subprocess.run([sys.executable, "-m", "tarnkappe", *words], check=True)
    command = [sys.executable, "-c", TOO_LATE, str(int(number)), *words, *(["--overwrite"] * overwrite)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (exit_code, f"{word}, but made was written.\n")
    assert subprocess.run([sys.executable, "-m", "tarnkappe", "verify", "made"], check=False).returncode == 0


#: Is sent a signal while an object is finalised, where Python drops what is raised, as the first column is looked at.
FINALISED = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
number = int(sys.argv.pop(1))
class Final:
    def __del__(self):
        os.kill(os.getpid(), number)
from tarnkappe import audit
held, look = [Final()], audit.audit
def struck(*given, **more):
    held.clear()
    for _ in range(200):
        time.sleep(0.1)
    return look(*given, **more)
audit.audit = struck
from tarnkappe.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize(
    ("number", "exit_code", "word"), [(signal.SIGTERM, 143, "Terminated"), (signal.SIGINT, 130, "Interrupted")]
)
def test_a_signal_that_python_drops_while_an_object_is_finalised_still_ends_a_command(
    folder: Path, number: int, exit_code: int, word: str
) -> None:
    """`verify` has no further phase at which it could be noticed."""
    words = ["verify", str(next(folder.glob("*.csv"))), "--quasi", "age", "--k", "2"]
    done = subprocess.run(
        [sys.executable, "-c", FINALISED, str(int(number)), *words],
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (exit_code, f"{word}, nothing was written.")


#: Is sent a signal while an object is finalised at the very end, shortly before the process is gone.
ENDED = """
import atexit, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
number = int(sys.argv.pop(1))
class Final:
    def __del__(self):
        os.kill(os.getpid(), number)
held = [Final()]
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.2)
sys.slow = Slow()
atexit.register(held.clear)
from tarnkappe.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_is_dropped_after_the_end_is_not_asked_for_again(number: int) -> None:
    """The process was ended by the alarm that was to ask once more."""
    command = [sys.executable, "-c", ENDED, str(int(number)), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


#: Strikes itself while the commands are imported, or while they are put together.
EARLY = """
import os, sys
number, when = int(sys.argv[1]), sys.argv[2]
sys.argv = ["tarnkappe", *sys.argv[3:]]
if when == "imported":
    class Strike:
        def find_spec(self, name, path=None, target=None):
            if name == "tarnkappe.cli.run":
                os.kill(os.getpid(), number)
    sys.meta_path.insert(0, Strike())
else:
    import typer.main
    whole = typer.main.get_command
    def struck(*given, **more):
        os.kill(os.getpid(), number)
        return whole(*given, **more)
    typer.main.get_command = struck
from tarnkappe.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize("when", ["imported", "put together"])
@pytest.mark.parametrize(
    ("number", "exit_code", "word"), [(signal.SIGTERM, 143, "Terminated"), (signal.SIGINT, 130, "Interrupted")]
)
def test_a_signal_before_anything_has_begun(number: int, exit_code: int, word: str, when: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY, str(int(number)), when, "explain"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (exit_code, f"{word}, nothing was written.\n")


def test_data_in_place_of_a_job_is_told_what_to_type(cli, tmp_path: Path) -> None:
    Path("my people.csv").write_text("age\n1\n")
    result = cli("run", "my people.csv")
    assert result.exit_code == 2
    assert "'my people.csv' is data" in result.stderr
    assert "tarnkappe init 'my people.csv'" in result.stderr
    assert "tarnkappe run 'my people.yaml'" in result.stderr


def test_a_misspelt_column_is_named_beside_the_one_without_a_role(cli) -> None:
    Path("a.csv").write_text("age,sex\n1,m\n1,m\n")
    Path("a.yaml").write_text(
        "data: {path: a.csv}\ncolumns: {agee: {role: quasi, type: numeric}, sex: drop}\n"
        "criteria: [k-anonymity: {k: 2}]\n"
    )
    result = cli("check", "a.yaml")
    assert "1 column has no role: age" in result.stderr
    assert "'agee', which the data do not have (did you mean 'age'?)" in result.stderr
    assert "Fix:  Write  age  in place of  agee" in result.stderr


def test_columns_that_are_undecided_are_named_although_none_is_a_quasi_identifier_yet(cli) -> None:
    Path("a.csv").write_text("".join(f"{i % 9},{'mf'[i % 2]}\n" for i in range(60)))
    assert cli("init", "a.csv").exit_code == 0
    for command in ("check", "run"):
        result = cli(command, "a.yaml")
        assert "E101" in result.stderr
        assert "Choose a role for every column that is undecided" in result.stderr


def test_rest_among_the_columns_is_led_to_its_place(cli) -> None:
    Path("a.csv").write_text("age,sex,town\n" + "".join(f"{i % 9},{'mf'[i % 2]},x\n" for i in range(60)))
    job = "data: {path: a.csv}\ncolumns:\n  age: {role: quasi, type: numeric}\n  rest: drop\n"
    job += "criteria: [k-anonymity: {k: 2}]\n"
    Path("a.yaml").write_text(job)
    assert "Fix:  Write  rest: drop   beside 'columns', not in it" in cli("check", "a.yaml").stderr
    Path("a.yaml").write_text(job.replace("  rest: drop", "rest: drop"))
    assert cli("check", "a.yaml").exit_code == 0


def test_a_role_written_out_is_understood_as_meant(cli) -> None:
    Path("a.yaml").write_text("columns: {age: {role: quasi-identifier}}\ncriteria: [k-anonymity: {k: 2}]\n")
    assert "did you mean 'quasi'" in cli("check", "a.yaml").stderr
    assert "Fix:  role: quasi " in cli("check", "a.yaml").stderr


def test_what_is_wrong_inside_braces_that_are_closed_is_not_that_they_are_open(cli) -> None:
    Path("a.yaml").write_text('columns:\n  age: {role: drop, because: it is "odd": yes}\n')
    shown = cli("check", "a.yaml").stderr
    assert "Close the" not in shown
    assert "in quotes" in shown
    Path("a.yaml").write_text("columns:\n  age: {role: drop\n  sex: {role: drop}\n")
    assert "Close the  {  of line 2" in cli("check", "a.yaml").stderr

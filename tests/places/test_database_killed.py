"""Whoever kills a run finds the table as it was or a complete new release, and never one that was not verified."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from database_tables import Database

import tarnkappe as tk
from tarnkappe.audit import audit
from tarnkappe.datasets import write_census
from tarnkappe.errors import RefusedError
from tarnkappe.io import open_source
from tarnkappe.io.databases.source import OF_COUNTS
from tarnkappe.job.places import OutputSettings
from tarnkappe.pipeline import run_job

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")

ROWS = 20_000

#: Loads everything that takes long to load, then replaces the release in children that may be killed, alternately with
#: two promises. The threads of Polars must not start before the fork.
MAKER = """
import os, sys
import numpy, pyarrow, adbc_driver_postgresql.dbapi, duckdb, sqlite3
import tarnkappe as tk
from tarnkappe import pipeline, report
from tarnkappe.io.databases import postgresql, duckdbfile, sqlitefile
from tarnkappe.job.places import OutputSettings

quasi = {"age": tk.numeric(), "sex": tk.suppress(), "native-country": tk.suppress()}
for seed, line in enumerate(sys.stdin):
    address, folder = line.rstrip("\\n").split("\\t")
    output = OutputSettings(folder, database=address)
    engine = ("memory", "streaming")[seed // 2 % 2]  # sends every record, or what is alike once
    promised = {"criteria": [tk.KAnonymity(20 + 5 * (seed % 2))], "engine": engine, "output": output}
    job = tk.Job(quasi=quasi, sensitive=["workclass"], drop="rest", **promised)
    child = os.fork()
    if child == 0:
        print("process", os.getpid(), flush=True)
        progress = lambda phase: print(phase, flush=True)
        pipeline.run_job(job, sys.argv[1], seed=seed % 2, overwrite=True, progress=progress)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print("ended", os.waitstatus_to_exitcode(status), flush=True)
"""


class Maker:
    """Makes releases, one after another, in processes that may be killed."""

    def __init__(self, data: Path) -> None:
        command = [sys.executable, "-c", MAKER, str(data)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def wait_for(self, word: str) -> str:
        assert self.process.stdout
        for line in self.process.stdout:
            said, _, rest = line.strip().partition(" ")
            if said == word:
                return rest
        raise AssertionError(f"the maker ended before it said '{word}'")

    def begin(self, address: str, folder: Path) -> int:
        assert self.process.stdin
        self.process.stdin.write(f"{address}\t{folder}\n")
        self.process.stdin.flush()
        return int(self.wait_for("process"))

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def moments(n: int, seconds: float) -> Iterator[tuple[str | None, float]]:
    """When to strike: half at any time of the run, half while it commits and takes its name."""
    chance = random.Random(7)
    for i in range(n):
        yield (None, chance.uniform(0, seconds)) if i % 2 else ("report", chance.uniform(0, 0.2))


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    """Makes releases of a census."""
    data = tmp_path_factory.mktemp("census") / "census.parquet"
    write_census(data, ROWS, seed=1)
    made = Maker(data)
    yield made
    made.close()


def strike_again_and_again(maker: Maker, database: Database, tmp_path: Path, n: int) -> None:
    address, folder = database.address("released"), tmp_path / "papers"
    known = set()
    for _ in range(2):
        began = time.perf_counter()
        maker.begin(address, folder)
        assert maker.wait_for("ended") == "0"
        seconds = time.perf_counter() - began
        known.add(told(folder))
    assert len(known) == 2
    for phase, delay in moments(n, seconds):
        before = told(folder)
        child = maker.begin(address, folder)
        if phase is not None:
            maker.wait_for(phase)
        time.sleep(delay)
        with contextlib.suppress(ProcessLookupError):  # it may have ended already
            os.kill(child, signal.SIGKILL)
        maker.wait_for("ended")
        assert database.tables() == {"released"}
        with open_source(address) as source:
            source.digested = OF_COUNTS
            assert source.sha256 in known  # one of the two releases, whole
        assert told(folder) in known
        if source.sha256 != told(folder):  # between the commit and the name of the folder
            assert told(folder) == before
    maker.begin(address, folder)
    assert maker.wait_for("ended") == "0"
    assert audit(folder).ok
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def told(folder: Path) -> str:
    """The digest that the papers of a release state."""
    assert (folder / "do-not-share/manifest.json").is_file()
    return str(json.loads((folder / "public/manifest.json").read_text())["sha256"])


def test_killed_at_random_moments(maker: Maker, database: Database, tmp_path: Path):
    strike_again_and_again(maker, database, tmp_path, 4)


#: Dies at the worst moment there is: the table has appeared, and the folder not yet.
DIES = """
import os, sys
import tarnkappe as tk
from tarnkappe.io.databases.staging import DatabaseStaging
from tarnkappe.job.places import OutputSettings
from tarnkappe.pipeline import run_job

appear = DatabaseStaging._before_appearing
def dying(self):
    appear(self)
    os.kill(os.getpid(), 9)
address, folder, *seeds = sys.argv[1:]
def job(k):
    output = OutputSettings(folder, database=address + "_released")
    return tk.Job(quasi={"age": tk.numeric()}, criteria=[tk.KAnonymity(k)], data=address, output=output)
run_job(job(2), seed=1)
DatabaseStaging._before_appearing = dying
run_job(job(3), seed=2, overwrite=True)
"""


def test_killed_between_the_table_and_the_folder_is_ended_by_the_next_run(database: Database, tmp_path: Path):
    database.put("people", pl.DataFrame({"age": [1, 1, 2, 2, 7, 8, 9]}))
    folder = tmp_path / "papers"
    ended = subprocess.run([sys.executable, "-c", DIES, database.address("people"), str(folder)], check=False)
    assert ended.returncode == -signal.SIGKILL
    found = audit(folder)
    assert found.same_as_manifest is False  # the table is new, the papers are old, and that is said
    job = tk.Job(
        quasi={"age": tk.numeric()},
        criteria=[tk.KAnonymity(2)],
        data=database.address("people"),
        output=OutputSettings(str(folder), database=database.address("people_released")),
    )
    with pytest.raises(RefusedError, match="E601"):
        run_job(job)
    assert audit(folder).ok
    assert json.loads((folder / "do-not-share/manifest.json").read_text())["seed"] == 2
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


#: Is interrupted when the database has been asked to keep the table.
STRUCK = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from tarnkappe.io.databases.staging import DatabaseStaging

appear = DatabaseStaging._before_appearing
def struck(self):
    appear(self)
    os.kill(os.getpid(), signal.SIGINT)
DatabaseStaging._before_appearing = struck
from tarnkappe.cli import main
main()
"""


def test_interrupted_between_the_table_and_the_folder_does_not_say_that_nothing_was_written(
    database: Database, tmp_path: Path
):
    database.put("people", pl.DataFrame({"age": [1, 1, 2, 2, 7, 8, 9]}))
    address = database.address("people_released")
    output = OutputSettings("papers", database=address)
    job = tk.Job(
        quasi={"age": tk.numeric()}, criteria=[tk.KAnonymity(2)], data=database.address("people"), output=output
    )
    (tmp_path / "job.yaml").write_text(job.to_yaml())
    command = [sys.executable, "-c", STRUCK, "run", "job.yaml", "--quiet"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 130, ended.stderr
    said = " ".join(ended.stderr.split())
    assert said.startswith("Interrupted, but people_released in "), ended.stderr
    assert said.endswith(" may be written: run the job again, which ends what was begun."), ended.stderr
    again = [sys.executable, "-m", "tarnkappe", "run", "job.yaml", "--quiet"]
    ended = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "E601" in ended.stderr
    assert audit(tmp_path / "papers").ok
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.full
def test_killed_fifty_times(maker: Maker, database: Database, tmp_path: Path):
    strike_again_and_again(maker, database, tmp_path, 50)

"""Whoever kills a run finds the complete old release or the complete new one, never anything between."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from checker import INTERNAL, PUBLIC

from grids import some
from tarnkappe.datasets import write_census

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")

ROWS = 200_000

#: Loads everything that takes long to load, then replaces the release as often as it is told to, alternately with two
#: seeds, and says which phase it is in. It does so in a child, which may be killed, or itself ("here"). The threads of
#: Polars, and our own, must not start before the fork. The groups of the job have labels or, on an engine with a name,
#: numbers, which makes two tables; "linked" are tables that a key joins.
SERVER = """
import os, sys
from pathlib import Path
import numpy as np
import pyarrow as pa
import tarnkappe as tk
from tarnkappe import pipeline, report
from tarnkappe.goal import Goal
from tarnkappe.metrics import score_plan
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, count_cells

data, folder, engine = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
quasi = {"age": tk.numeric(), "sex": tk.suppress(), "native-country": tk.suppress()}
job = tk.Job(quasi=quasi, keep=["relationship"], drop="rest", criteria=[tk.KAnonymity(5)])
codes = np.arange(64, dtype=np.int32) % 4
domains = [Domain(name, tk.Taxonomy.from_nested(list("abcd"))) for name in quasi]
tally, _ = count_cells([codes] * 3, [], domains, [])
score_plan(Plan.of(tally, job.goal, job.algorithm.decide(tally, job.goal, rng=np.random.default_rng(0))))
pa.array(codes)  # imports pandas, and swallows what goes wrong there, a signal for instance
replace = lambda seed, progress: pipeline.run_job(job, data, folder, seed=seed, overwrite=True, progress=progress)
if engine == "linked":
    from tarnkappe.multirelational import MultiJob, Relation, run_multirelational
    persons, visits = Relation("persons", {"sex": tk.suppress()}), Relation("visits", {"month": tk.numeric()})
    linked = MultiJob(key="id", person=persons, satellites=[visits], k=8)
    files = {name: data.with_name(f"{name}.csv") for name in ("persons", "visits")}
    replace = lambda seed, progress: run_multirelational(
        linked, files, folder, seed=seed, overwrite=True, progress=progress
    )
elif engine != "auto":
    from tarnkappe import regrouping, sheet_truth
    from tarnkappe.algorithms.bucketization import anatomize
    from tarnkappe.io import lookup, parquetfile
    from tarnkappe.kernels.bucketization import anatomizing
    from tarnkappe.kernels.engines import dealing, words
    from tarnkappe.kernels.io import views
    criteria = [tk.FrequencyLDiversity("occupation", 5)]
    job = tk.Job(
        quasi=quasi, sensitive=["occupation"], drop="rest", criteria=criteria, algorithm="anatomize", engine=engine
    )
for line in sys.stdin:
    times, _, here = line.strip().partition(" ")
    child = 0 if here else os.fork()
    if child == 0:
        print("process", os.getpid(), flush=True)
        for i in range(int(times)):
            progress = lambda phase: print(phase, flush=True)
            replace(i % 2, progress)
            print("done", flush=True)
        break
    _, status = os.waitpid(child, 0)
    print("ended", os.waitstatus_to_exitcode(status), flush=True)
"""


class Server:
    """Runs in processes of their own, one after another, each ended by a signal."""

    def __init__(self, folder: Path, engine: str = "auto") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, folder / "census.parquet", folder / "release", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def wait_for(self, word: str) -> str:
        """Read what the processes say until one says a word; what comes after it."""
        assert self.process.stdout
        for line in self.process.stdout:
            said, _, rest = line.strip().partition(" ")
            if said == word:
                return rest
        raise AssertionError(f"the server ended before it said '{word}'")

    def begin(self, times: int = 5, here: str = "") -> int:
        """Start to replace the release; the process that does it."""
        assert self.process.stdin
        self.process.stdin.write(f"{times} {here}\n")
        self.process.stdin.flush()
        return int(self.wait_for("process"))

    def strike(self, how: signal.Signals, phase: str | None, delay: float, here: str = "") -> None:
        """Start to replace the release, and send a signal some time after a phase began."""
        child = self.begin(here=here)
        if phase:
            self.wait_for(phase)
        time.sleep(delay)
        os.kill(child, how)

    def close(self) -> None:
        """End the server, if it still runs."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Server, set[str], float]]:
    """A census with a release, who makes more of them, the hashes that two seeds give, and how long a run takes."""
    folder = tmp_path_factory.mktemp("killed")
    write_census(folder / "census.parquet", ROWS, seed=1)
    server = Server(folder)
    try:
        yield folder, server, *first_releases(folder, server)
    finally:
        server.close()


def write_linked(folder: Path, n: int) -> None:
    """Persons, and one or two visits of each."""
    chance = random.Random(1)
    persons = "".join(f"{i},{'fm'[i % 2]}\n" for i in range(n))
    visits = "".join(f"{i},{chance.randint(1, 12)}\n" for i in range(n) for _ in range(1 + i // 2 % 2))
    (folder / "persons.csv").write_text(f"id,sex\n{persons}", "utf-8")
    (folder / "visits.csv").write_text(f"id,month\n{visits}", "utf-8")


def first_releases(folder: Path, server: Server) -> tuple[set[str], float]:
    """Let two releases be made, one after the other: their hashes, and how long the second one takes."""
    hashes = set()
    server.begin(times=2)
    for _ in range(2):
        began = time.perf_counter()
        server.wait_for("done")
        seconds = time.perf_counter() - began
        hashes.add(whole_release(folder / "release"))
    assert len(hashes) == 2
    server.wait_for("ended")
    return hashes, seconds


def whole_release(folder: Path) -> str:
    """The hash of the tables of a release folder, which must be complete and agree with its manifest."""
    manifest = json.loads((folder / "public/manifest.json").read_text("utf-8"))
    tables = {table["file"]: table["sha256"] for table in manifest["tables"]}
    linked = "criteria" not in manifest
    internal = INTERNAL if len(tables) == 1 else INTERNAL - {"groups.parquet"}  # numbered groups stand in the release
    assert {p.name for p in (folder / "public").iterdir()} == PUBLIC | {*tables}
    assert {p.name for p in (folder / "do-not-share").iterdir()} == internal
    assert all(p.stat().st_size > 0 for home in ("public", "do-not-share") for p in (folder / home).iterdir())
    assert (folder / "public/report.html").read_text("utf-8").rstrip().endswith("</html>")
    assert (folder / "do-not-share/report.html").read_text("utf-8").rstrip().endswith("</html>")
    found = {file: hashlib.sha256((folder / "public" / file).read_bytes()).hexdigest() for file in tables}
    assert found == tables
    assert linked or found[manifest["file"]] == manifest["sha256"]
    assert json.loads((folder / "do-not-share/manifest.json").read_text("utf-8"))["seed"] in (0, 1)
    return " ".join(found.values())


def moments(rng: random.Random, n: int, seconds: float) -> Iterator[tuple[str | None, float]]:
    """When to strike: half at any time of the run, half while it writes its last files and takes its name."""
    for i in range(n):
        yield (None, rng.uniform(0, seconds)) if i % 2 else ("report", rng.uniform(0, 0.15))


def leftovers(folder: Path) -> list[str]:
    """What lies beside the release."""
    return [p.name for p in folder.iterdir() if p.suffix not in (".parquet", ".csv") and p.name != "release"]


def test_killed_at_random_moments(workshop: tuple[Path, Server, set[str], float]):
    folder, server, hashes, seconds = workshop
    for phase, delay in moments(random.Random(7), 12, seconds):
        server.strike(signal.SIGKILL, phase, delay)
        assert server.wait_for("ended") == str(-signal.SIGKILL)
        assert whole_release(folder / "release") in hashes
        assert all(name.startswith(".release.") for name in leftovers(folder))
    server.begin(times=1)  # the next run that is left alone removes what the killed ones left
    assert server.wait_for("ended") == "0"
    assert whole_release(folder / "release") in hashes
    assert leftovers(folder) == []


def test_interrupted_by_hand(workshop: tuple[Path, Server, set[str], float]):
    folder, _, hashes, seconds = workshop
    for phase, delay in moments(random.Random(8), 2, seconds):
        worker = Server(folder)
        try:
            worker.strike(signal.SIGINT, phase, delay, here="here")
            worker.process.communicate(timeout=60)
        finally:
            worker.close()
        assert whole_release(folder / "release") in hashes
        assert leftovers(folder) == [], "whoever is asked to stop tidies up"


@pytest.mark.parametrize("times", [3, pytest.param(32, marks=pytest.mark.full)])
@pytest.mark.parametrize("engine", some(["streaming", "memory", "linked"], every=3))
def test_several_tables_appear_together_or_not_at_all(tmp_path: Path, engine: str, times: int):
    """Before there is a release, and while one is replaced; whoever is killed leaves what is hidden, at most."""
    if engine == "linked":
        write_linked(tmp_path, ROWS // 40)
    else:
        write_census(tmp_path / "census.parquet", ROWS // 10, seed=1)
    server = Server(tmp_path, engine)
    chance = random.Random(times)
    try:
        server.strike(signal.SIGKILL, "write", chance.uniform(0, 0.1))
        assert server.wait_for("ended") == str(-signal.SIGKILL)
        assert not (tmp_path / "release").exists()
        hashes, seconds = first_releases(tmp_path, server)
        assert leftovers(tmp_path) == []
        signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
        for i in range(times):
            phase, delay = [(None, chance.uniform(0, seconds)), ("write", 0.05), ("verify", 0.05), ("report", 0.1)][
                i % 4
            ]
            delay = delay if phase is None else chance.uniform(0, delay)
            server.strike(signals[i % 3], phase, delay)
            ended = server.wait_for("ended")
            # Python drops an interrupt that it raises while an object is finalised; such a run goes on to its end.
            assert ended != "0" or signals[i % 3] == signal.SIGINT, (signals[i % 3].name, phase, delay, seconds)
            assert whole_release(tmp_path / "release") in hashes
            assert all(name.startswith(".release.") for name in leftovers(tmp_path))
        server.begin(times=1)
        assert server.wait_for("ended") == "0"
        assert whole_release(tmp_path / "release") in hashes
        assert leftovers(tmp_path) == []
    finally:
        server.close()

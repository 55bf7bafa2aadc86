"""A real cluster on this machine: a master and two workers, one of which is killed while it works."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from spark_setup import require_spark

from tarnkappe.datasets import write_census

require_spark()

PATIENCE = 600

JOB = """
data: {path: census.csv}
columns:
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  native-country: {role: quasi, taxonomy: suppress}
  occupation: {role: sensitive}
  hours-per-week: {role: keep, because: reviewed by the board}
"""
REST = ("workclass", "education", "marital-status", "relationship", "race", "capital-gain")


@dataclass
class Cluster:
    """A master and its workers, with the folders in which the workers keep what they have shuffled."""

    url: str
    workers: list[subprocess.Popen[bytes]]
    scratch: list[Path]
    folder: Path

    def kill(self, worker: int) -> None:
        """Kill a worker and its executors as a power cut would."""
        os.killpg(self.workers[worker].pid, signal.SIGKILL)
        self.workers[worker].wait()

    def has_shuffled(self, worker: int) -> bool:
        """Whether other tasks rely on what this worker has done."""
        return any(self.scratch[worker].rglob("shuffle_*.data"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    import pyspark

    spark_class = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> Path:
        scratch = tmp_path / name
        scratch.mkdir()
        environment = {**os.environ, "SPARK_LOCAL_DIRS": str(scratch), "PYSPARK_PYTHON": sys.executable}
        log = (tmp_path / f"{name}.log").open("wb")
        command = [spark_class, *arguments]
        started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True))
        log.close()
        return scratch

    try:
        start(
            "master",
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--webui-port",
            "0",
        )
        worker = (
            "org.apache.spark.deploy.worker.Worker",
            "--host",
            "127.0.0.1",
            "--webui-port",
            "0",
            "-c",
            "1",
            "-m",
            "1g",
        )
        scratch = [start(name, *worker, "-d", str(tmp_path / f"{name}-work"), url) for name in ("one", "two")]
        log = tmp_path / "master.log"
        _wait(lambda: log.read_bytes().count(b"Registering worker") == 2, "the workers did not register")
        yield Cluster(url, started[1:], scratch, tmp_path)
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(ready: object, otherwise: str) -> None:
    end = time.monotonic() + PATIENCE
    while not ready():  # type: ignore[operator]
        assert time.monotonic() < end, otherwise
        time.sleep(0.1)


def survives_a_killed_worker(cluster: Cluster, rows: int, split: str, algorithm: str = "mondrian") -> None:
    folder = cluster.folder
    write_census(folder / "census.csv", rows)
    drop = "".join(f"  {name}: {{role: drop}}\n" for name in REST)
    rest = f"criteria:\n  - k-anonymity: {{k: 10}}\nalgorithm: {algorithm}\noutput: {{folder: release}}\nseed: 5\n"
    (folder / "job.yaml").write_text(JOB + drop + rest)
    conf = folder / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(
        f"spark.sql.files.maxPartitionBytes {split}\nspark.sql.shuffle.partitions 4\n"
        "spark.executor.memory 600m\nspark.driver.memory 1g\n"
    )
    environment = {**os.environ, "SPARK_CONF_DIR": str(conf), "PYSPARK_PYTHON": sys.executable}
    command = [
        sys.executable,
        "-m",
        "tarnkappe",
        "run",
        "job.yaml",
        "--engine",
        "spark",
        "--master",
        cluster.url,
        "--json",
    ]
    ran = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        _wait(lambda: cluster.has_shuffled(0) or ran.poll() is not None, "no shuffle was written")
        assert ran.poll() is None, ran.communicate()
        cluster.kill(0)
        told, errors = ran.communicate(timeout=PATIENCE)
    finally:
        ran.kill()
    assert ran.returncode == 0, errors
    found = json.loads(told)
    assert found["records"] == rows
    here = subprocess.run(
        [sys.executable, "-m", "tarnkappe", "run", "job.yaml", "-o", "here", "--engine", "memory", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    told_here = json.loads(here.stdout)
    assert {k: found[k] for k in ("groups", "verdicts", "loss")} == {
        k: told_here[k] for k in ("groups", "verdicts", "loss")
    }
    quasi = ["age", "sex", "native-country"]
    ours = pl.scan_csv(folder / "release/public/census.csv/part-*.csv", infer_schema=False)
    other = pl.scan_csv(folder / "here/public/census.csv", infer_schema=False)
    cells = [frame.group_by(*quasi, "occupation").len().sort(pl.all()).collect() for frame in (ours, other)]
    assert cells[0].equals(cells[1])


@pytest.mark.full
def test_a_worker_is_killed(cluster: Cluster):
    survives_a_killed_worker(cluster, 100_000, "1m")


@pytest.mark.full
def test_a_worker_is_killed_among_five_million_records(cluster: Cluster):
    survives_a_killed_worker(cluster, 5_000_000, "32m")

"""Runs that are killed, each in a process of its own: ``python killed_runs.py FOLDER``.

All are forked from one process that has computed nothing yet: to start Python anew for each takes seconds, and threads
do not survive a fork.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pathlib import Path

import polars as pl

import tarnkappe as tk
from tarnkappe.pipeline import run_job


def people() -> pl.DataFrame:
    """Made where it is needed: Polars has threads."""
    n = range(40)
    return pl.DataFrame({"id": [f"p{i}" for i in n], "age": [20 + i % 10 for i in n], "ill": [f"i{i % 4}" for i in n]})


#: The steps of a run, and whether its release is out when they begin.
MOMENTS = {
    "tarnkappe.history.ledger:Ledger.announce": False,
    "tarnkappe.io.staging:Staging._publish": False,
    "tarnkappe.io.staging:Staging._take_name": False,
    "tarnkappe.history.ledger:Ledger.appeared": True,
    "tarnkappe.history.ledger:Ledger._entered": True,
}

#: The moment when a release is out, and nothing but the announcement knows of it.
OUT = "tarnkappe.history.ledger:Ledger.appeared"


def ledger_in(folder: Path) -> Path:
    return folder / "private" / "ledger.jsonl"


def job(folder: Path) -> tk.Job:
    return tk.Job(
        quasi={"age": tk.numeric()},
        identifiers=["id", "ill"],
        criteria=[tk.KAnonymity(4)],
        history=tk.HistorySettings(str(ledger_in(folder)), "id", because="a test"),
        seed=1,
    )


def series(folder: Path, some: pl.DataFrame, name: str) -> None:
    tk.republish_people(
        some,
        m=2,
        subject="id",
        ledger=ledger_in(folder),
        folder=folder / name,
        quasi={"age": tk.numeric()},
        sensitive=["ill"],
        identifiers=["id"],
        seed=1,
    )


def strike(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def strike_at(moment: str) -> None:
    """From now on the process is killed where a step begins."""
    module, name = moment.split(":")
    owner, step = name.split(".")
    setattr(getattr(import_module(module), owner), step, strike)


def in_child(folder: Path, moment: str, kind: str) -> None:
    """One release as it should be, and one that is killed."""
    if kind == "series":
        series(folder, people()[:30], "r0")
        strike_at(moment)
        series(folder, people(), "r1")
    else:
        run_job(job(folder), people()[:20], folder / "r0")
        strike_at(moment)
        run_job(job(folder), people(), folder / "r1")


def main(place: Path) -> None:
    for folder, moment, kind in [
        *((f"at-{i}", moment, "job") for i, moment in enumerate(MOMENTS)),
        ("moved", OUT, "job"),
        ("changed", OUT, "job"),
        ("series", OUT, "series"),
    ]:
        child = os.fork()
        if child == 0:
            (place / folder).mkdir()
            in_child(place / folder, moment, kind)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, folder


if __name__ == "__main__":
    main(Path(sys.argv[1]))

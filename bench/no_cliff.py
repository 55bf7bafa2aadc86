"""Whether any algorithm has a cliff: CPU seconds, loss and peak memory from 3 000 records to a million.

    python bench/no_cliff.py [--algorithms mondrian,hilb] [--goals k,k+l,k+t,own] [--most 300000] [--again] [--jobs 2]
                             [--results FILE]

Every registered algorithm that needs no parameter, with three goals: k-anonymity (k = 10) alone, with 5-diverse
occupations, with 0.3-close ones. Algorithms that are made for one criterion get that one as a goal of their own.
Generalisation gets eight quasi-identifiers of the generated census, microaggregation six numbers in clusters. Who
publishes tables that do not hide people gets the goals without k. Each algorithm has a process of its own, which goes
from size to size and from goal to goal; CPU seconds are those of the decide step, without compiling, and the peak of
memory begins anew for each. A million records are measured only where 300 000 promise less than a minute. What is far
over a limit is stopped; what is just over it is measured once more, and the least CPU counts, because noise only ever
adds.

Writes one JSON line per measurement to ``results/no-cliff.jsonl`` and goes on where it was stopped; ``--again``
measures what is asked for anew. The table and the plot stand beside it, as ``.md`` and ``.svg``. ``--jobs 2`` measures
two algorithms at a time.

Exit code 1 if 3.3 times the records cost more than 5 times the CPU (8 times, if an algorithm is documented as
quadratic), if 100 000 records take more than 20 CPU seconds, or if something failed.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, NamedTuple

import no_cliff_figures
from measure import ROOT, peak_mb, timed

SIZES = (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
GOALS = ("k", "k+l", "k+t", "own")
RESULTS = ROOT / "results" / "no-cliff.jsonl"

#: What more records may cost: a factor of CPU seconds for 3.3 times as many, and for quadratic algorithms.
STEP, FACTOR, QUADRATIC_FACTOR = 10 / 3, 5.0, 8.0

#: CPU seconds that 100 000 records may take; and what one million may promise to take, to be measured at all.
MOST_SECONDS, AT_RECORDS, A_MINUTE = 20.0, 100_000, 60.0

#: Less than this is mostly what any run costs, whatever its size.
NOTHING = 0.5

#: What takes so many times what it may is stopped.
BEYOND_DOUBT = 2.0

#: CPU seconds that an algorithm takes for all sizes and goals, where nothing is known about it.
TYPICAL = 60.0

#: Records of the run that compiles everything first.
WARM = 600


class Key(NamedTuple):
    """What is measured."""

    algorithm: str
    goal: str
    rows: int


Row = dict[str, Any]


def with_defaults() -> list[str]:
    """The algorithms that need no parameter."""
    from tarnkappe.algorithms import all_algorithms
    from tarnkappe.params import parameters

    return [name for name, cls in all_algorithms().items() if not any(p.required for p in parameters(cls))]


def largest(algorithm: str) -> int | None:
    """The size beyond which an algorithm that is documented as quadratic refuses."""
    from tarnkappe.algorithms import algorithm_class

    return algorithm_class(algorithm).most_records


def own_goals() -> dict[str, list[Any]]:
    """What algorithms that keep neither k-anonymity, l-diversity nor t-closeness are made for."""
    import tarnkappe as tk

    return {
        "sdgs": [tk.DifferentialPrivacy(epsilon=1.0, delta=0.01, beta=0.4)],
        "individual-sorting": [tk.LKCPrivacy(1, 10)],
        "k-e-permutation": [tk.KEAnonymity("hours-per-week", 5, 2.0)],
        "mask": [tk.KAnonymity(10), tk.MConfidentiality("occupation", ("Sales",), 2)],
        "greedy-personalized": [tk.PersonalizedPrivacy("occupation", "guard", 0.5)],
        "regenerated-condensation": [tk.KIndistinguishability(10)],
    }


def asked_of(algorithm: Any, goal_name: str) -> Any:
    """The goal of this name, without what the tables of an algorithm cannot hide."""
    import tarnkappe as tk
    from tarnkappe.goal import Goal

    if goal_name == "own":
        return Goal(own_goals()[algorithm.name], 1.0 if algorithm.name == "sdgs" else 0.0)  # noise may hide everybody
    further = {"k": [], "k+l": [tk.LDiversity("occupation", 5)], "k+t": [tk.TCloseness("occupation", 0.3)]}
    asked = [tk.KAnonymity(10), *further[goal_name]]
    kept = [c for c in asked if c.protects <= algorithm.publishes.hides]  # buckets hide secrets, not who is there
    return Goal(kept or asked)


def allowed(rows: int, before: float | None, quadratic: bool) -> float:
    """The CPU seconds that a size may take, given those of the size before it."""
    by_step = MOST_SECONDS if before is None else (QUADRATIC_FACTOR if quadratic else FACTOR) * max(before, NOTHING)
    return by_step if quadratic or rows > AT_RECORDS else min(by_step, MOST_SECONDS)


def measure(algorithm_name: str, goal_name: str, sizes: Sequence[int], before: float | None) -> Iterator[Row]:
    """Decide once for each size, in this process, after a small run that compiles everything."""
    import numpy as np

    from tarnkappe.algorithms import algorithm_class
    from tarnkappe.algorithms.bucketization.base import Bucketization
    from tarnkappe.errors import InfeasibleError, JobError

    algorithm = algorithm_class(algorithm_name)()
    goal = asked_of(algorithm, goal_name)
    numbers = algorithm.scheme == "microaggregation"
    act = algorithm.deal if isinstance(algorithm, Bucketization) else algorithm.decide
    with suppress(JobError, InfeasibleError):  # what is too few for a goal has compiled enough
        algorithm.require_kept(goal)
        act(_tally(WARM, numbers, goal), goal, rng=np.random.default_rng(1))
    for rows in sizes:
        tally = _tally(rows, numbers, goal)
        most = allowed(rows, before, algorithm.most_records is not None)
        work = partial(act, tally, goal)
        try:
            algorithm.require_kept(goal)
            with within(BEYOND_DOUBT * most):
                made, _, cpu = timed(lambda: work(rng=np.random.default_rng(1)))  # noqa: B023
            if cpu > most:
                with within(BEYOND_DOUBT * most):
                    cpu = min(cpu, timed(lambda: work(rng=np.random.default_rng(1)))[2])  # noqa: B023
        except (JobError, InfeasibleError) as error:
            yield {"refused": error.code}
            return
        before = cpu
        row = {"cpu": round(cpu, 3), "peak_mb": round(peak_mb()), "cells": tally.n_cells}
        yield {**row, **_loss(tally, goal, made)}


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """End this process if the work takes more CPU seconds; its peak of memory begins anew."""
    with suppress(OSError):  # only Linux can forget the peak
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _loss(tally: Any, goal: Any, made: Any) -> Row:
    """What groups lose; the tables of numbered groups lose nothing that these metrics measure."""
    from tarnkappe.groups import Grouping
    from tarnkappe.metrics import metric_named
    from tarnkappe.plan import Plan

    if not isinstance(made, Grouping):
        return {"metric": None, "loss": None}
    metric = "sse" if made.form.name == "centres" else "gcp"
    return {"metric": metric, "loss": metric_named(metric).score(Plan.of(tally, goal, made))}


def _tally(rows: int, numbers: bool, goal: Any) -> Any:
    """The cells of a table: numbers in clusters, or the census; a fifth of its people guard their occupation."""
    import numpy as np
    import polars as pl
    from tables import CENSUS_QUASI, SENSITIVE

    import tarnkappe as tk
    from tarnkappe.datasets import census, census_taxonomies, sim_c
    from tarnkappe.engines.memory import MemoryEngine
    from tarnkappe.io import open_source

    frame = census(rows, seed=1).with_columns(guard=pl.when(pl.col("age") % 5 == 0).then(SENSITIVE))
    if numbers:
        points = sim_c(rows, 6, seed=1)
        quasi: dict[str, Any] = {name: tk.numeric() for name in points.columns}
        noisy = points["x1"].to_numpy() + np.random.default_rng(1).normal(0.0, points["x1"].std(), rows)
        place = np.argsort(np.argsort(noisy, kind="stable"), kind="stable")
        frame = points.with_columns(frame[SENSITIVE].sort().gather(place))  # the occupation depends on the place
    else:
        taxonomies = census_taxonomies()
        sparse = any(c.name == "differential-privacy" for c in goal.criteria)  # what is rare is left out: few columns
        names = ("sex", "race", "marital-status", "education") if sparse else CENSUS_QUASI
        quasi = {name: taxonomies.get(name, tk.numeric()) for name in names}
    secret = next((c.sensitive_column for c in goal.criteria if c.sensitive_column), SENSITIVE)
    sensitive: Any = {secret: quasi.pop(secret)} if secret in quasi else [secret]
    if any(c.name == "personalized-privacy" for c in goal.criteria):  # secrets are coarsened by their taxonomy
        sensitive = {secret: census_taxonomies()[secret]}
    job = tk.Job(quasi=quasi, sensitive=sensitive, drop="rest", criteria=list(goal.criteria))
    source = open_source(frame)
    schema = job.schema(source.columns)
    return MemoryEngine().count(source, schema, job.aside(schema))


class Todo(NamedTuple):
    """Sizes of one goal that are to be measured, and the CPU seconds of the size before them, where they are known."""

    goal: str
    sizes: tuple[int, ...]
    before: float | None


def part(algorithm: str, todo: Sequence[Todo]) -> None:
    """Print what is measured: a line when something begins, and one when it is done."""
    for goal, sizes, before in todo:
        measurements = measure(algorithm, goal, sizes, before)
        for rows in sizes:
            print(json.dumps({"goal": goal, "rows": rows}), flush=True)
            row = next(measurements)
            print(json.dumps(row, default=float), flush=True)
            following = next((n for n in sizes if n > rows), None)
            if following is None or not worth_a_try(row, following):
                break


def in_process(algorithm: str, todo: Sequence[Todo]) -> Iterator[tuple[Key, Row]]:
    """What is measured in a process of its own, as soon as it is; another one goes on after a goal that ended it."""
    asked = [sys.executable, __file__, "--part", algorithm, "--todo", json.dumps(todo)]
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        key: Key | None = None
        for line in process.stdout:
            row = json.loads(line)
            if key is None:
                key = Key(algorithm, **row)
            else:
                yield key, row
                key = None
        code = process.wait()
        errors.seek(0)
        said = [f"ended with {code}", *errors.read().strip().splitlines()]
    if code == 0:
        return
    key = key or Key(algorithm, todo[0].goal, todo[0].sizes[0])
    yield key, {"stopped": True} if code == -signal.SIGPROF else {"error": said[-1][:60]}
    left = [one for one in todo if GOALS.index(one.goal) > GOALS.index(key.goal)]
    if left:
        yield from in_process(algorithm, left)


def read(path: Path) -> dict[Key, Row]:
    """What was measured before; of several lines about the same the last counts."""
    found: dict[Key, Row] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        row = json.loads(line)
        found[Key(row.pop("algorithm"), row.pop("goal"), row.pop("rows"))] = row
    return found


def worth_a_try(before: Row | None, rows: int) -> bool:
    """Whether a size is measured, given what the size before it took."""
    if before is None:
        return True
    if "cpu" not in before:
        return False
    return rows <= SIZES[-2] or before["cpu"] * STEP < A_MINUTE


def missing(algorithm: str, goals: Sequence[str], sizes: Sequence[int], known: Mapping[Key, Row]) -> list[Todo]:
    """What is not known yet and worth a try."""
    todo = []
    for goal in goals:
        if goal == "own" and algorithm not in own_goals():
            continue
        new = tuple(rows for rows in sizes if Key(algorithm, goal, rows) not in known)
        before = [known[Key(algorithm, goal, rows)] for rows in sizes if new and rows < new[0]]
        if new and worth_a_try(before[-1] if before else None, new[0]):
            todo.append(Todo(goal, new, before[-1]["cpu"] if before else None))
    return todo


def waiting(known: Mapping[Key, Row]) -> list[str]:
    """What is still to be measured, in words: from which size on, of which algorithms with which goals."""
    left: dict[int, list[str]] = {}
    for name in with_defaults():
        for goal, sizes, _ in missing(name, GOALS, SIZES, known):
            left.setdefault(sizes[0], []).append(f"{name} ({goal})")
    return [f"from {n:,} records on ".replace(",", " ") + ", ".join(left[n]) for n in sorted(left)]


class Progress:
    """Writes every measurement down as soon as it is there, and tells how far all of it has come."""

    def __init__(self, path: Path, known: dict[Key, Row], expected: Mapping[str, float]) -> None:
        self._path, self._known, self._expected = path, known, dict(expected)
        self._of, self._cpu, self._lock = len(expected), 0.0, Lock()

    def measure(self, algorithm: str, todo: Sequence[Todo]) -> None:
        """Measure an algorithm."""
        for key, row in in_process(algorithm, todo):
            with self._lock:
                self._known[key] = row
                self._cpu += row.get("cpu", 0.0)
                line = json.dumps({**key._asdict(), **row})
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
                print(line, flush=True)
        with self._lock:
            del self._expected[algorithm]
            done, rest = self._of - len(self._expected), sum(self._expected.values())
            print(f"{done} of {self._of} algorithms, {self._cpu:.0f} CPU s; about {rest:.0f} to go", file=sys.stderr)


def expected(names: Sequence[str], earlier: Mapping[Key, Row]) -> dict[str, float]:
    """About how many CPU seconds each algorithm will take: as many as last time."""
    taken = {name: sum(r.get("cpu", 0.0) for key, r in earlier.items() if key.algorithm == name) for name in names}
    return {name: cpu or TYPICAL for name, cpu in taken.items()}


def cliffs(found: dict[Key, Row], quadratic: dict[str, int | None]) -> list[str]:
    """What is wrong with the figures, in words."""
    out = []
    for key, row in sorted(found.items()):
        what = f"{key.algorithm}, {key.goal}, {key.rows:,} records"
        if "error" in row:
            out.append(f"{what}: {row['error']}")
        elif "stopped" in row:
            out.append(f"{what}: stopped, far over its limit")
        if "cpu" not in row:
            continue
        if quadratic[key.algorithm] is None and key.rows == AT_RECORDS and row["cpu"] > MOST_SECONDS:
            out.append(f"{what}: {row['cpu']:.1f} CPU s, more than {MOST_SECONDS:.0f}")
        smaller = SIZES[SIZES.index(key.rows) - 1] if key.rows in SIZES[1:] else 0
        before = found.get(key._replace(rows=smaller), {}).get("cpu")
        most = FACTOR if quadratic[key.algorithm] is None else QUADRATIC_FACTOR
        if before is not None and row["cpu"] > most * max(before, NOTHING):
            times = row["cpu"] / max(before, NOTHING)
            out.append(f"{what}: {times:.1f} times the CPU of {smaller:,} records, more than {most:.0f}")
    return out


def main() -> int:
    """Measure, draw and judge; or measure one algorithm in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithms", help="names with commas between them; all unless given")
    parser.add_argument("--goals", default=",".join(GOALS))
    parser.add_argument("--most", type=int, default=SIZES[-1], help="records of the largest table")
    parser.add_argument("--again", action="store_true", help="measure anew what is known")
    parser.add_argument("--jobs", type=int, default=1, help="algorithms that are measured at a time")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of measurements")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--todo", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        part(given.part, [Todo(*one) for one in json.loads(given.todo)])
        return 0
    names = given.algorithms.split(",") if given.algorithms else with_defaults()
    goals = given.goals.split(",")
    sizes = [n for n in SIZES if n <= given.most]
    earlier = read(given.results)
    known = {k: r for k, r in earlier.items() if not (given.again and k.algorithm in names and k.goal in goals)}
    todo = {name: left for name in names if (left := missing(name, goals, sizes, known))}
    progress = Progress(given.results, known, expected(list(todo), earlier))
    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(progress.measure, todo, todo.values()))
    chosen = {k: r for k, r in known.items() if k.algorithm in names and k.goal in goals and k.rows in sizes}
    table, plot = given.results.with_suffix(".md"), given.results.with_suffix(".svg")
    over = cliffs(known, {key.algorithm: largest(key.algorithm) for key in known})
    no_cliff_figures.write(known, over, waiting(known), table, plot)
    wrong = cliffs(chosen, {name: largest(name) for name in names})
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Whether any algorithm has a cliff: CPU seconds, loss and peak memory from 3 000 records to a million.

    python bench/no_cliff.py [--algorithms mondrian,hilb] [--goals k,k+l,k+t] [--most 300000] [--again] [--limit 60]

Every registered algorithm that needs no parameter, with three goals: k-anonymity (k = 10) alone, with 5-diverse
occupations, with 0.3-close ones. Generalisation gets eight quasi-identifiers of the generated census, microaggregation
six numbers in clusters. Each algorithm has a process of its own for each goal, which goes from size to size with a
limit of CPU seconds for each; they are those of the decide step, without compiling. A million records are measured only
where 300 000 promise less than a minute. Up to 300 000 records all of it takes about an hour and a half of CPU.

Writes one JSON line per measurement to ``results/no-cliff.jsonl`` and goes on where it was stopped; ``--again``
measures what is asked for anew. The table and the plot are ``results/no-cliff.md`` and ``results/no-cliff.svg``.

Exit code 1 if 3.3 times the records cost more than 5 times the CPU (8 times, if an algorithm is documented as
quadratic), if 100 000 records take more than 20 CPU seconds, or if something failed.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import no_cliff_figures
from measure import ROOT, peak_mb, timed

SIZES = (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
GOALS = ("k", "k+l", "k+t")
RESULTS = ROOT / "results" / "no-cliff.jsonl"

#: What more records may cost: a factor of CPU seconds for 3.3 times as many, and for quadratic algorithms.
STEP, FACTOR, QUADRATIC_FACTOR = 10 / 3, 5.0, 8.0

#: CPU seconds that 100 000 records may take; and what one million may promise to take, to be measured at all.
MOST_SECONDS, AT_RECORDS, A_MINUTE = 20.0, 100_000, 60.0

#: Less than this is mostly what any run costs, whatever its size.
NOTHING = 0.5

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


def measure(algorithm_name: str, goal_name: str, sizes: Sequence[int], limit: int) -> Iterator[Row]:
    """Decide once for each size, in this process, after a small run that compiles everything."""
    import numpy as np

    import tarnkappe as tk
    from tarnkappe.algorithms import algorithm_class
    from tarnkappe.algorithms.bucketization.base import Bucketization
    from tarnkappe.errors import InfeasibleError, JobError
    from tarnkappe.goal import Goal

    algorithm = algorithm_class(algorithm_name)()
    further = {"k": [], "k+l": [tk.LDiversity("occupation", 5)], "k+t": [tk.TCloseness("occupation", 0.3)]}
    goal = Goal([tk.KAnonymity(10), *further[goal_name]])
    numbers = algorithm.scheme == "microaggregation"
    act = algorithm.deal if isinstance(algorithm, Bucketization) else algorithm.decide
    with suppress(JobError, InfeasibleError):  # what is too few for a goal has compiled enough
        algorithm.require_kept(goal)
        act(_tally(WARM, numbers), goal, rng=np.random.default_rng(1))
    for rows in sizes:
        tally = _tally(rows, numbers)
        used = resource.getrusage(resource.RUSAGE_SELF)
        end = int(used.ru_utime + used.ru_stime) + limit + 1
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
        try:
            algorithm.require_kept(goal)
            made, _, cpu = timed(lambda: act(tally, goal, rng=np.random.default_rng(1)))  # noqa: B023
        except JobError as error:
            yield {"refused": error.code}
            return
        resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        row = {"cpu": round(cpu, 3), "peak_mb": round(peak_mb()), "cells": tally.n_cells}
        yield {**row, **_loss(tally, goal, made)}


def _loss(tally: Any, goal: Any, made: Any) -> Row:
    """What groups lose; the tables of numbered groups lose nothing that these metrics measure."""
    from tarnkappe.groups import Grouping
    from tarnkappe.metrics import metric_named
    from tarnkappe.plan import Plan

    if not isinstance(made, Grouping):
        return {"metric": None, "loss": None}
    metric = "sse" if made.form.name == "centres" else "gcp"
    return {"metric": metric, "loss": metric_named(metric).score(Plan.of(tally, goal, made))}


def _tally(rows: int, numbers: bool) -> Any:
    """The cells of a table: numbers in clusters, or the census."""
    import numpy as np
    from tables import CENSUS_QUASI, SENSITIVE

    import tarnkappe as tk
    from tarnkappe.datasets import census, census_taxonomies, sim_c
    from tarnkappe.engines.memory import MemoryEngine
    from tarnkappe.io import open_source

    frame = census(rows, seed=1)
    if numbers:
        points = sim_c(rows, 6, seed=1)
        quasi: dict[str, Any] = {name: tk.numeric() for name in points.columns}
        noisy = points["x1"].to_numpy() + np.random.default_rng(1).normal(0.0, points["x1"].std(), rows)
        place = np.argsort(np.argsort(noisy, kind="stable"), kind="stable")
        frame = points.with_columns(frame[SENSITIVE].sort().gather(place))  # the occupation depends on the place
    else:
        taxonomies = census_taxonomies()
        quasi = {name: taxonomies.get(name, tk.numeric()) for name in CENSUS_QUASI}
    job = tk.Job(quasi=quasi, sensitive=[SENSITIVE], drop="rest", criteria=[tk.KAnonymity(2)])
    source = open_source(frame)
    return MemoryEngine().count(source, job.schema(source.columns))


def in_process(algorithm: str, goal: str, sizes: Sequence[int], limit: int) -> list[Row]:
    """The measurements of some sizes in a process of their own; the last one says so if it did not come to its end."""
    part = ("--part", algorithm, "--goals", goal, "--sizes", ",".join(map(str, sizes)), "--limit", str(limit))
    done = subprocess.run([sys.executable, __file__, *part], capture_output=True, text=True, check=False)
    found = [dict(json.loads(line)) for line in done.stdout.splitlines()]
    if done.returncode == -signal.SIGXCPU:
        found.append({"stopped": limit})
    elif done.returncode:
        found.append({"error": (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1][:60]})
    return found


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


def measured(wanted: Iterable[tuple[str, str]], sizes: Sequence[int], limit: int, known: dict[Key, Row]) -> None:
    """Measure what is not known yet, and write every line as soon as it is."""
    for algorithm, goal in wanted:
        todo = [rows for rows in sizes if Key(algorithm, goal, rows) not in known]
        before = [Key(algorithm, goal, rows) for rows in sizes if todo and rows < todo[0]]
        if not todo or not worth_a_try(known[before[-1]] if before else None, todo[0]):
            continue
        for rows, row in zip(todo, in_process(algorithm, goal, todo, limit), strict=False):
            known[Key(algorithm, goal, rows)] = row
            line = json.dumps({**Key(algorithm, goal, rows)._asdict(), **row})
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            print(line, flush=True)


def part(algorithm: str, goal: str, sizes: Sequence[int], limit: int) -> None:
    """Print what is measured, a line for each size that is worth a try."""
    found = measure(algorithm, goal, sizes, limit)
    for row, following in zip(found, [*sizes[1:], None], strict=False):
        print(json.dumps(row, default=float), flush=True)
        if following is not None and not worth_a_try(row, following):
            return


def cliffs(found: dict[Key, Row], quadratic: dict[str, int | None]) -> list[str]:
    """What is wrong with the figures, in words."""
    out = []
    for key, row in sorted(found.items()):
        what = f"{key.algorithm}, {key.goal}, {key.rows:,} records"
        if "error" in row:
            out.append(f"{what}: {row['error']}")
        elif "stopped" in row:
            out.append(f"{what}: not finished in {row['stopped']} CPU s")
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
    """Measure, draw and judge; or measure one thing in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithms", help="names with commas between them; all unless given")
    parser.add_argument("--goals", default=",".join(GOALS))
    parser.add_argument("--most", type=int, default=SIZES[-1], help="records of the largest table")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds of one measurement")
    parser.add_argument("--again", action="store_true", help="measure anew what is known")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", help=argparse.SUPPRESS)
    given = parser.parse_args()
    goals = given.goals.split(",")
    if given.part:
        part(given.part, goals[0], [int(n) for n in given.sizes.split(",")], given.limit)
        return 0
    names = given.algorithms.split(",") if given.algorithms else with_defaults()
    wanted = [(name, goal) for name in names for goal in goals]
    sizes = [n for n in SIZES if n <= given.most]
    known = read(RESULTS)
    if given.again:
        known = {key: row for key, row in known.items() if (key.algorithm, key.goal) not in wanted}
    measured(wanted, sizes, given.limit, known)
    chosen = {key: row for key, row in known.items() if (key.algorithm, key.goal) in wanted and key.rows in sizes}
    no_cliff_figures.write(known, RESULTS.with_suffix(".md"), RESULTS.with_suffix(".svg"))
    wrong = cliffs(chosen, {name: largest(name) for name in names})
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""The experiments of the master's thesis on the Hilb algorithm (its chapter 9) on the generated census.

    python bench/thesis/chapter9.py scaling|diversity|partitions|workers|others|report [--largest 100000000]

Quasi-identifiers age, sex and native-country, sensitive occupation, as there. Each experiment leaves its figures in
``bench/thesis/figures``; ``report`` turns them into tables and plots beside those of the thesis. Times are means
of three runs, as there, with the slowest of them beside. Measure on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean
from typing import Any

HERE = Path(__file__).parent
FIGURES = HERE / "figures"
SCALE = HERE.parent / "census_scale.py"
sys.path.insert(0, str(HERE.parent))

#: How often each thing is measured, as in the thesis.
REPETITIONS = 3

#: Records in the thesis's tables (its table 9.1).
SIZES = (1_485_035, 7_422_543, 10_000_000, 20_000_000, 50_000_000, 100_000_000)

#: What the thesis says about its own runs: seconds on three core nodes of four vCPUs each, and ILoss.
THESIS = {
    "preprocessing": {1_485_035: 47, 10_000_000: 168.5, 100_000_000: 1600},
    "partitioning": {100_000_000: 134},
    "anonymisation": {100_000_000: 260},
    "iloss": {1_485_035: 0.066, 7_422_543: 0.058, 20_000_000: 0.015, 100_000_000: 0.012},
    "iloss at l = 25": 0.064,
    "preprocessing on 3, 9 nodes": (1600, 454),
}


def scaled(*arguments: str) -> dict[str, Any]:
    """Some runs of the whole job, as `census_scale.py` reports them: means of times, and the slowest run."""
    runs = []
    for _ in range(REPETITIONS):
        done = subprocess.run([sys.executable, str(SCALE), *arguments], stdout=subprocess.PIPE, text=True, check=True)
        runs.append(dict(json.loads(done.stdout.splitlines()[-1])))
    seconds = [run["seconds"] for run in runs]
    phases = {name: fmean(run["phases"][name] for run in runs) for name in runs[0]["phases"]}
    return {**runs[0], "phases": phases, "seconds": fmean(seconds), "slowest": max(seconds), "runs": len(runs)}


def scaling(largest: int) -> list[dict[str, Any]]:
    """Section 9.3: from one and a half to a hundred million records, l = 10."""
    return [scaled("--rows", str(n), "--engine", "streaming", "--format", "parquet") for n in SIZES if n <= largest]


def decided(rows: int, settings: list[dict[str, Any]], *, papers: bool = False) -> list[dict[str, Any]]:
    """Time and loss of deciding alone, for several settings of l and partitions; the records are counted once.

    `papers` takes the algorithm as published, whose ranges of the curve are what the thesis divides.
    """
    import numpy as np
    from census_scale import QUASI, SENSITIVE, census_csv

    import tarnkappe as tk
    from tarnkappe.algorithms import algorithm_class
    from tarnkappe.datasets import census_taxonomies
    from tarnkappe.engines.streaming import StreamingEngine
    from tarnkappe.goal import Goal
    from tarnkappe.io import open_source
    from tarnkappe.metrics import metric_named
    from tarnkappe.plan import Plan

    taxonomies = census_taxonomies()
    job = tk.Job(
        quasi={name: taxonomies.get(name, tk.numeric()) for name in QUASI},
        sensitive=[SENSITIVE],
        drop="rest",
        criteria=[tk.KAnonymity(2)],
    )
    source = open_source(census_csv(rows))
    start = time.perf_counter()
    tally = StreamingEngine().count(source, job.schema(source.columns))
    counting = time.perf_counter() - start
    found = []
    for setting in [settings[0], *settings]:  # the first one twice: kernels are loaded then
        goal = Goal([tk.FrequencyLDiversity(SENSITIVE, setting["l"])])
        named = setting.get("algorithm")
        if named is not None:
            algorithm = algorithm_class(named)()
        else:
            algorithm = (
                tk.Hilb(lookahead=1, swaps=0, refine=False, partitions=setting["partitions"]) if papers else tk.Hilb()
            )
        seconds = []
        for _ in range(REPETITIONS):
            start = time.perf_counter()
            grouping = algorithm.decide(tally, goal, rng=np.random.default_rng(1))
            seconds.append(time.perf_counter() - start)
        iloss = metric_named("iloss").score(Plan.of(tally, goal, grouping))
        times = {"count": counting, "decide": fmean(seconds), "slowest": max(seconds), "runs": len(seconds)}
        found.append({"rows": rows, **setting, **times, "iloss": iloss})
    return found[1:]


def diversity(largest: int) -> list[dict[str, Any]]:
    """Section 9.4: l from 2 to 25 on ten million records."""
    return decided(min(10_000_000, largest), [{"l": value, "partitions": 3} for value in (2, 5, 10, 15, 20, 25)])


def partitions(largest: int) -> list[dict[str, Any]]:
    """Section 9.5: one to ten partitions on seven million records, by the algorithm of the papers."""
    return decided(min(7_422_543, largest), [{"l": 10, "partitions": p} for p in range(1, 11)], papers=True)


def workers(largest: int) -> list[dict[str, Any]]:
    """Section 9.6: one and two executors of Spark on this machine."""
    rows = str(min(10_000_000, largest))
    return [
        {"executors": n, **scaled("--rows", rows, "--engine", "spark", "--master", f"local-cluster[{n},1,2048]")}
        for n in (1, 2)
    ]


def others(largest: int) -> list[dict[str, Any]]:
    """Section 9.8: Hilb beside MRMondrian and LSH-RC, which the thesis compares with by their papers' figures."""
    names = ("hilb", "mrmondrian", "lsh-rc", "mondrian")
    return decided(min(1_485_035, largest), [{"l": 10, "algorithm": name} for name in names])


def report(largest: int) -> list[dict[str, Any]]:
    """Tables and plots of all figures that are there."""
    from pages import write_report

    write_report(FIGURES, THESIS)
    return []


def main() -> None:
    """Run one experiment and keep its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    experiments = {f.__name__: f for f in (scaling, diversity, partitions, workers, others, report)}
    parser.add_argument("experiment", choices=experiments)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave out larger tables")
    arguments = parser.parse_args()
    found = experiments[arguments.experiment](arguments.largest)
    if found:
        FIGURES.mkdir(exist_ok=True)
        path = FIGURES / f"{arguments.experiment}.json"
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()

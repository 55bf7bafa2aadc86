"""Optimal full-domain search on Adult beside the figures of ARX in an oracle file, and on larger tables.

    python bench/fulldomain_speed.py FILE

Prints Markdown. ARX's figures were measured on the same data by whoever wrote the file; ours are CPU times of this run.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from fulldomain_oracle import search_of, short_name, tally_of
from measure import command

from tarnkappe.algorithms.fulldomain.flash import Flash
from tarnkappe.algorithms.fulldomain.search import Search
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.goal import Goal
from tarnkappe.metrics import metric_named
from tarnkappe.tally import Tally, count_cells

REPEAT = 5


def decide_seconds(make: object, repeat: int = REPEAT) -> tuple[float, Search]:
    """The least CPU time of several searches, each with everything it prepares, after one to warm up."""
    times = []
    for _ in range(repeat + 1):
        start = time.process_time()
        search = make()  # type: ignore[operator]
        Flash().run(search, np.random.default_rng(0))
        times.append(time.process_time() - start)
    return min(times[1:] or times), search


def adult(path: str) -> None:
    """Every configuration with metric Loss: the search alone, and the whole process."""
    configs = json.loads(Path(path).read_text(encoding="utf-8"))["configs"]
    print(
        "| criteria, suppression | nodes checked | decide ms | ARX warm ms | ratio | process ms | ARX cold ms | ratio |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    warm, cold = [], []
    for number, config in enumerate(configs):
        if config["metric"] != "loss":
            continue
        seconds, search = decide_seconds(lambda config=config: search_of(config))
        cpu = min(
            command(sys.executable, str(Path(__file__).with_name("fulldomain_cold.py")), path, str(number))["cpu"]
            for _ in range(2)
        )
        name = short_name(config).replace("|", ", ")
        warm.append(config["arx_warm_cpu_ms"] / seconds / 1000)
        cold.append(config["arx_cold_cpu_ms"] / cpu / 1000)
        print(
            f"| {name} | {search.n_checked} of {search.lattice.n_nodes} | {seconds * 1000:.1f} | "
            f"{config['arx_warm_cpu_ms']:.0f} | {warm[-1]:.1f} | {cpu * 1000:.0f} | {config['arx_cold_cpu_ms']:.0f} | "
            f"{cold[-1]:.2f} |",
            flush=True,
        )
    print(f"\nRatios above 1 are faster than ARX. Decide: {_summary(warm)}. Whole process: {_summary(cold)}.\n")


def _summary(ratios: list[float]) -> str:
    """Ratios in short."""
    faster = sum(r >= 1 for r in ratios)
    middle = statistics.median(ratios)
    return f"at most ARX's in {faster} of {len(ratios)}, least {min(ratios):.2f}, median {middle:.2f}"


def perturbed(path: str, rows: int = 1_000_000) -> None:
    """Adult drawn with replacement, two attributes of every row taken from another record: many distinct tuples."""
    config = json.loads(Path(path).read_text(encoding="utf-8"))["configs"][0]
    base = tally_of(tuple(config["qis"]), tuple(config["hierarchies"]), None)
    rng = np.random.default_rng(7)
    records = np.repeat(np.arange(base.n_cells), base.count)
    codes = base.quasi[rng.choice(records, rows)].copy()
    which = rng.permuted(np.tile(np.arange(codes.shape[1]), (rows, 1)), axis=1)[:, :2]
    for j in range(codes.shape[1]):
        hit = (which == j).any(axis=1)
        codes[hit, j] = base.quasi[rng.choice(records, int(hit.sum())), j]
    tally = count_cells(list(codes.T), [], base.quasi_domains, [])[0]
    del codes, records, which
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for limit in (0.0, 0.02, 0.1):
        start, cpu = time.perf_counter(), time.process_time()
        search = Search(tally, Goal([KAnonymity(5)], limit), metric_named("loss"))
        Flash().run(search, np.random.default_rng(0))
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(
            f"| {rows:,} records, {tally.n_tuples:,} tuples, k = 5, limit {limit:.0%} | {search.n_checked} | "
            f"{wall:.2f} | {cpu:.2f} | {max(peak, before) / 1e6:.2f} |",
            flush=True,
        )


def heavy(path: str) -> None:
    """The same cells with a hundred thousand times the records: the search does not see records."""
    config = json.loads(Path(path).read_text(encoding="utf-8"))["configs"][3]
    tally: Tally = search_of(config).tally
    for factor in (1, 100, 3316):
        many = replace(tally, count=tally.count * factor)
        goal = Goal([KAnonymity(5 * factor)], 0.02)
        seconds, search = decide_seconds(lambda many=many, goal=goal: Search(many, goal, metric_named("loss")), 3)
        print(f"| {many.n_records:,} | {many.n_cells:,} | {search.n_checked} | {seconds:.3f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} FILE")
    adult(sys.argv[1])
    print(
        "| table | nodes checked | seconds | CPU seconds | peak GB (with making the table) |\n|---|---:|---:|---:|---:|"
    )
    perturbed(sys.argv[1])
    print("\n| records | cells | nodes checked | decide CPU seconds |\n|---:|---:|---:|---:|")
    heavy(sys.argv[1])

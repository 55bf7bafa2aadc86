"""The experiments of the slides on kAnonyMeans: losses, their spread over runs, and run times.

    python bench/microaggregation/slides.py losses [--data census eia] [--k 3 5] [--methods mdav-plus kanonymeans]
    python bench/microaggregation/slides.py histogram [--runs 1000]
    python bench/microaggregation/slides.py runs [--repeats 50]
    python bench/microaggregation/slides.py report

Each experiment keeps its figures in ``bench/microaggregation/figures``; ``losses`` replaces those that it measures anew
and leaves the others. ``report`` makes tables and plots of what is there: ``bench/results/microaggregation.md``.
Measure on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FIGURES = HERE / "figures"
sys.path.insert(0, str(HERE.parent))

DATA = ("census", "eia", "tarragona", "simu", "simc")
#: Tables of the slides that have to be put beside the others:  --data cloud1 cloud2
CLOUDS = ("cloud1", "cloud2")
SIZES = (3, 4, 5, 10, 15, 20, 25, 50)

#: The methods and their parameters. kAnonyMeans has about as much time as its evolution takes.
METHODS: dict[str, dict[str, Any]] = {
    "mdav": {},
    "mdav-plus": {},
    "mdav-star": {},
    "v-mdav": {},
    "path": {},
    "kanonymeans": {"runs": 150},
    "kanonymeans-star": {},
    "tarn": {},
}


def points_of(name: str) -> Any:
    """A table as standardised points."""
    from measure import DATA as FOLDER

    from tarnkappe.datasets import load_casc, load_cloud
    from tarnkappe.datasets.simulated import sim_c, sim_u

    makers = {"simu": sim_u, "simc": sim_c}
    load = load_cloud if name in CLOUDS else load_casc
    table = makers[name]() if name in makers else load(name, FOLDER / "microaggregation")
    values = table.to_numpy().astype(np.float64)
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def method_of(name: str, **parameters: Any) -> Any:
    """An algorithm by name; None if there is none."""
    from tarnkappe.algorithms import all_algorithms

    known = all_algorithms()
    return known[name](**parameters) if name in known else None


def loss(points: Any, group: Any) -> float:
    """100 SSE / SST, counted here once more."""
    size = np.bincount(group)
    means = np.array([np.bincount(group, column) / size for column in points.T]).T
    return float(100 * ((points - means[group]) ** 2).sum() / ((points - points.mean(axis=0)) ** 2).sum())


def losses(asked: argparse.Namespace) -> None:
    """Loss, time and sizes of every method on every table."""
    for name in asked.methods or METHODS:
        method = method_of(name, **METHODS.get(name, {}))
        if method is None:
            print(f"no method {name}, left out", flush=True)
            continue
        few = np.random.default_rng(0).normal(size=(40, 5))
        method.partition(few, 3, np.random.default_rng(0))  # kernels are loaded then
        for data in asked.data or DATA:
            points = points_of(data)
            for k in asked.k or SIZES:
                wall, cpu = time.perf_counter(), time.process_time()
                group = method.partition(points, k, np.random.default_rng(1))
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                size = np.bincount(group)
                row = {"data": data, "k": k, "method": name, "loss": loss(points, group)}
                row |= {"seconds": wall, "cpu": cpu, "smallest": int(size.min()), "largest": int(size.max())}
                _replace(row)
                print(json.dumps(row), flush=True)


def _replace(row: dict[str, Any]) -> None:
    """Keep what was just measured instead of an earlier figure for the same."""
    path = FIGURES / "losses.json"
    older = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    both = {(r["method"], r["data"], r["k"]): r for r in [*older, row]}
    keep("losses", list(both.values()))


def keep(experiment: str, found: Any) -> None:
    """Write the figures of an experiment."""
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / f"{experiment}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def spread(method: Any, points: Any, seeds: Iterable[int]) -> list[float]:
    """The losses on a table for k = 3 from different seeds, side by side."""
    from tarnkappe.threads import map_threads

    return map_threads(lambda seed: loss(points, method.partition(points, 3, np.random.default_rng(seed))), seeds)


def histogram(asked: argparse.Namespace) -> None:
    """The losses of many single runs of kAnonyMeans on census, k = 3."""
    points, method = points_of("census"), method_of("kanonymeans", runs=1)
    start = time.perf_counter()
    found = spread(method, points, range(asked.runs))
    keep("histogram", {"losses": found, "seconds": time.perf_counter() - start, **_compared(points)})


def runs(asked: argparse.Namespace) -> None:
    """The smallest and the largest loss of several repetitions, against the number of runs that each may make."""
    points, star = points_of("census"), method_of("kanonymeans-star")
    evolved = {star.population + g * (star.population - star.survivors): g for g in (0, 2, 5, 10, 20, 30)}
    most = max(evolved)
    start = time.perf_counter()
    single = spread(method_of("kanonymeans", runs=1), points, range(asked.repeats * most))
    each = (time.perf_counter() - start) / len(single)
    best = np.minimum.accumulate(np.reshape(single, (asked.repeats, most)), axis=1)
    found: dict[str, Any] = {
        "repeats": asked.repeats,
        "kanonymeans": [_range(many, best[:, many - 1].tolist(), each * many) for many in evolved],
        "kanonymeans-star": [],
        **_compared(points),
    }
    for many, generations in evolved.items():
        method = method_of("kanonymeans-star", generations=generations, patience=generations + 1)
        start = time.perf_counter()
        reached = spread(method, points, range(asked.repeats))
        row = _range(many, reached, (time.perf_counter() - start) / asked.repeats)
        found["kanonymeans-star"].append(row)
        print(json.dumps(row), flush=True)
    keep("runs", found)


def _range(many: int, reached: list[float], seconds: float) -> dict[str, float]:
    return {"runs": many, "min": min(reached), "max": max(reached), "seconds": seconds}


def _compared(points: Any) -> dict[str, float]:
    """The losses of MDAV+ and MDAV* for comparison."""
    methods = {name: method_of(name) for name in ("mdav-plus", "mdav-star")}
    return {n: loss(points, m.partition(points, 3, np.random.default_rng(1))) for n, m in methods.items() if m}


def report(asked: argparse.Namespace) -> None:
    """Tables and plots of all figures that are there."""
    from slides_pages import write_report

    write_report(FIGURES, HERE.parent / "results" / "microaggregation.md", METHODS["kanonymeans"]["runs"])


def main() -> None:
    """Run one experiment and keep its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    experiments = {f.__name__: f for f in (losses, histogram, runs, report)}
    parser.add_argument("experiment", choices=experiments)
    parser.add_argument("--data", nargs="+", choices=(*DATA, *CLOUDS), help="tables, all but the clouds by default")
    parser.add_argument("--k", nargs="+", type=int, help="sizes of groups, all of the slides and more by default")
    parser.add_argument("--methods", nargs="+", help="names of algorithms")
    parser.add_argument("--runs", type=int, default=1000, help="runs in the histogram")
    parser.add_argument("--repeats", type=int, default=50, help="repetitions for each number of runs")
    asked = parser.parse_args()
    experiments[asked.experiment](asked)


if __name__ == "__main__":
    main()

"""Relative error of COUNT queries on releases of the generated census; writes a table and a figure.

    python bench/query_error.py [records]

Eight quasi-identifiers, the occupation is sensitive, at most one of ten in a group has the same one (l = 10). 1 000
queries for each number of predicates; each asks for values of so many quasi-identifiers and of the occupation, together
about 5 % of the records if columns were independent. Counts below 0.1 % of the records are taken for that. All releases
are asked the same queries.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
from query_error_figure import figure

import tarnkappe as tk
from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.metrics.query_error import QueryError, Workload, measure
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.tally import Tally

RESULTS = Path(__file__).parent / "results"
SECRET, L = "occupation", 10
NUMBERS = ("age", "hours-per-week")
TREES = ("workclass", "education", "marital-status", "race", "sex", "native-country")
PREDICATES = (1, 2, 3, 4, 6, 8)

#: What Anatomize is to reach of the best generalisation's median.
FIFTH = 0.2

#: Those of the literature's figure, with the top-down searches that need no class column.
GENERALISING = ("mondrian", "hilb", "top-down", "top-down-greedy")

#: Bucketisations that can keep the goal: as in their papers, and with people together who are alike. ANGEL is Anatomy
#: with boxes of one person, so what it costs to hide who a record is about shows in the size of its boxes.
TORN: dict[str, Algorithm] = {
    "anatomize": tk.Anatomize(),
    "anatomize, alike": tk.Anatomize(alike=True),
    "angel, boxes of 10": tk.Angel(),
    "angel, boxes of 5": tk.Angel(bucket_size=5),
    "angel, boxes of 2": tk.Angel(bucket_size=2),
    "slicing": tk.Slicing(),
}


def tally_of(frame: pl.DataFrame) -> Tally:
    """The cells of the census."""
    trees = census_taxonomies()
    quasi = {**dict.fromkeys(NUMBERS, tk.numeric()), **{name: trees[name] for name in TREES}}
    job = tk.Job(quasi=quasi, sensitive=[SECRET], drop="rest", criteria=[tk.FrequencyLDiversity(SECRET, L)])
    source = open_source(frame)
    return MemoryEngine().count(source, job.schema(source.columns))


def decided(algorithm: Algorithm, tally: Tally, goal: Goal) -> AnyPlan:
    """The release of an algorithm, before it is written."""
    rng = np.random.default_rng(1)
    if isinstance(algorithm, Bucketization):
        return DealtPlan.of(tally, goal, algorithm.deal(tally, goal, rng=rng).mixed(rng))
    return Plan.of(tally, goal, algorithm.decide(tally, goal, rng=rng))


def measured(name: str, algorithm: Algorithm, tally: Tally, goal: Goal) -> dict[int, QueryError]:
    """The errors of one algorithm by the number of predicates."""
    begun = time.perf_counter()
    plan = decided(algorithm, tally, goal)
    forming = time.perf_counter() - begun
    out = {d: measure(plan, Workload(predicates=d), np.random.default_rng(d), SECRET) for d in PREDICATES}
    asking = time.perf_counter() - begun - forming
    print(f"{name}: {plan.n_groups} groups in {forming:.1f} s, queries in {asking:.1f} s", file=sys.stderr)
    return out


def table(found: dict[str, dict[int, QueryError]], rows: int) -> str:
    """The errors as Markdown."""
    head = ["algorithm", *(f"median, qd = {d}" for d in PREDICATES), *(f"mean, qd = {d}" for d in PREDICATES)]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for name, errors in found.items():
        cells = [f"{errors[d].median:.1%}" for d in PREDICATES] + [f"{errors[d].mean:.1%}" for d in PREDICATES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines.append("")
    lines += [_compared(name, found) for name in found if name not in GENERALISING]
    shown = f"{rows:,}".replace(",", " ")
    return (
        f"## Query error (`bench/query_error.py`)\n\nGenerated census, {shown} records, eight quasi-identifiers, "
        f"at most one of {L} in a group has the same {SECRET}. Relative error of 1 000 COUNT queries on qd "
        "quasi-identifiers and the occupation, selectivity 5 %, sanity bound 0.1 % of the records; the same queries "
        "for all. Anatomize is to have at most a fifth of the best generalisation's median.\n\n"
        + "\n".join(lines)
        + "\n\n![Median error over the number of predicates](results/query-error.svg)\n"
    )


def _compared(name: str, found: dict[str, dict[int, QueryError]]) -> str:
    """One bucketisation beside the best generalisation, and beside Mondrian."""
    best = {d: min(found[other][d].median for other in GENERALISING if other in found) for d in PREDICATES}
    ratios = {d: found[name][d].median / best[d] for d in PREDICATES}
    beside = {d: found[name][d].median / found["mondrian"][d].median for d in PREDICATES}
    kept = [str(d) for d, ratio in ratios.items() if ratio <= FIFTH]

    def told(values: dict[int, float]) -> str:
        return ", ".join(f"{ratio:.2f}" for ratio in values.values())

    return (
        f"Median of {name} over that of the best generalisation, by qd: {told(ratios)}; over Mondrian's: "
        f"{told(beside)}. At most a fifth of the best at qd = {', '.join(kept) or 'none of these'}.\n"
    )


def main(rows: int = 100_000) -> None:
    tally, goal = tally_of(census(rows, seed=1)), Goal([tk.FrequencyLDiversity(SECRET, L)])
    algorithms = {name: algorithm_class(name)() for name in GENERALISING} | TORN
    found = {name: measured(name, algorithm, tally, goal) for name, algorithm in algorithms.items()}
    (RESULTS / "query-error.md").write_text(table(found, rows), encoding="utf-8")
    medians = {name: {d: errors[d].median for d in PREDICATES} for name, errors in found.items()}
    (RESULTS / "query-error.svg").write_text(figure(medians), encoding="utf-8")
    print(table(found, rows))


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:]))

"""Loss and time of all local recodings on Adult, before and after swap refinement; prints Markdown tables.

Three goals: 10- and 50-anonymity of eight quasi-identifiers, and 3-diversity of the occupation given the other seven.
Columns are ordered codes, as in most papers, or have their taxonomies. Times are those of the decide step, CPU seconds
of the fastest of two runs, without compiling.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measure import DATA, timed
from tables import ADULT_QUASI, adult, adult_orders

import tarnkappe as tk
from tarnkappe.algorithms import algorithm_class
from tarnkappe.datasets import load_adult
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.metrics.ncp import GlobalCertaintyPenalty
from tarnkappe.plan import Plan
from tarnkappe.tally import Tally

LOCAL = ("k-member", "oka", "bottom-up-greedy", "top-down-greedy", "progressive-local-recoding")
TARGET = "salary-class"


def tally_of(columns: dict[str, Any], sensitive: list[str]) -> Tally:
    """The cells of Adult."""
    job = tk.Job(quasi=columns, sensitive=sensitive, drop="rest", criteria=[tk.KAnonymity(2)])
    source = open_source(adult())
    return MemoryEngine().count(source, job.schema(source.columns))


def codings() -> dict[str, dict[str, Any]]:
    """The quasi-identifiers, and the occupation, in two ways."""
    _, taxonomies = load_adult(DATA / "adult")
    orders = adult_orders()
    names = (*ADULT_QUASI, "occupation")
    ordered = {n: tk.numeric() if n == "age" else tk.ordered(*orders.get(n, taxonomies[n].leaves)) for n in names}
    return {"ordered codes": ordered, "taxonomies": {n: taxonomies[n] for n in names}}


def measured(name: str, tally: Tally, goal: Goal, **parameters: Any) -> tuple[str, float]:
    """The GCP of a release, and the CPU seconds of its decide step."""
    algorithm = algorithm_class(name)(**parameters)
    algorithm.decide(tally, goal, rng=np.random.default_rng(1))
    grouping, _, cpu = timed(lambda: algorithm.decide(tally, goal, rng=np.random.default_rng(1)), repeat=2)
    return f"{GlobalCertaintyPenalty().score(Plan.of(tally, goal, grouping)):.4f}".removeprefix("0"), cpu


def with_swaps(name: str, tally: Tally, goal: Goal) -> str:
    """An algorithm without and with swap refinement."""
    (before, _), (after, cpu) = (measured(name, tally, goal, swaps=swaps) for swaps in (0, 3))
    return f"{before} → {after} ({cpu:.1f})"


def alone(name: str, tally: Tally, goal: Goal, **parameters: Any) -> str:
    """An algorithm that knows no swaps."""
    gcp, cpu = measured(name, tally, goal, **parameters)
    return f"{gcp} ({cpu:.1f})"


def main() -> None:
    goals = {
        "k = 10": Goal([tk.KAnonymity(10)]),
        "k = 50": Goal([tk.KAnonymity(50)]),
        "3-diverse occupation": Goal([tk.LDiversity("occupation", 3)]),
    }
    for coding, columns in codings().items():
        tables = []
        for goal in goals.values():
            quasi = {n: c for n, c in columns.items() if n not in goal.columns}
            tables.append((tally_of(quasi, [*goal.columns, TARGET]), goal))
        print(f"\n### Columns as {coding}\n\n| algorithm | {' | '.join(goals)} |\n|---|---|---|---|")
        rows: dict[str, Callable[[Tally, Goal], str]] = {n: partial(with_swaps, n) for n in ("mondrian", *LOCAL)}
        rows["infogain-mondrian (no swaps)"] = partial(alone, "infogain-mondrian", target=TARGET)
        if coding == "taxonomies":
            for inner in ("flash", "datafly"):
                rows[f"iterated-local-recoding of {inner}"] = partial(alone, "iterated-local-recoding", inner=inner)
        for title, cell in rows.items():
            print(f"| {title} | {' | '.join(cell(tally, goal) for tally, goal in tables)} |", flush=True)


if __name__ == "__main__":
    main()

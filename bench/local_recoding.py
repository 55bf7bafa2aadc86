"""Loss and time of all local recodings on Adult, before and after swap refinement; prints Markdown tables.

Three goals: 10- and 50-anonymity of eight quasi-identifiers, and 3-diversity of the occupation given the other seven.
Columns are ordered codes, as in most papers, or have their taxonomies. Times are those of the decide step, CPU seconds
of the fastest of two runs, without compiling.
"""

from __future__ import annotations

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
from tarnkappe.metrics.lm import LossMetric
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


def row(name: str, tally: Tally, goal: Goal, **parameters: Any) -> str:
    algorithm = algorithm_class(name)(**parameters)
    algorithm.decide(tally, goal, rng=np.random.default_rng(1))
    grouping, _, cpu = timed(lambda: algorithm.decide(tally, goal, rng=np.random.default_rng(1)), repeat=2)
    plan = Plan.of(tally, goal, grouping)
    swaps = parameters.get("swaps", "–")
    name = f"{name} ({parameters['inner']})" if "inner" in parameters else name
    gcp, width = GlobalCertaintyPenalty().score(plan), LossMetric().score(plan)
    return f"| {name} | {swaps} | {gcp:.4f} | {width:.4f} | {plan.n_groups:,} | {cpu:.2f} s |"


def main() -> None:
    goals = {
        "k = 10": Goal([tk.KAnonymity(10)]),
        "k = 50": Goal([tk.KAnonymity(50)]),
        "3-diverse occupation": Goal([tk.LDiversity("occupation", 3)]),
    }
    for coding, columns in codings().items():
        for title, goal in goals.items():
            quasi = {n: c for n, c in columns.items() if n not in goal.columns}
            tally = tally_of(quasi, [*goal.columns, TARGET])
            print(f"\n## {coding}, {title} ({len(quasi)} quasi-identifiers, {tally.n_tuples:,} combinations)\n")
            print("| algorithm | swap passes | GCP | mean width | groups | CPU |\n|---|---|---|---|---|---|")
            for name in ("mondrian", *LOCAL):
                for swaps in (0, 3):
                    print(row(name, tally, goal, swaps=swaps), flush=True)
            print(row("infogain-mondrian", tally, goal, target=TARGET), flush=True)
            if coding == "taxonomies":
                for inner in ("flash", "datafly"):
                    print(row("iterated-local-recoding", tally, goal, inner=inner), flush=True)


if __name__ == "__main__":
    main()

"""Loss of Hilb on Adult and on the generated census against Mondrian and reference figures; prints Markdown tables.

Adult has ordered codes in the order in which values first appear, as the reference figures do (`catalogue`: measured
with independent code). The census has its taxonomies; quasi-identifiers age, sex and native country, the occupation is
sensitive, l = 10. Losses only: no times.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from tables import EDUCATION, adult

import tarnkappe as tk
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.metrics.base import Metric
from tarnkappe.metrics.iloss import ILoss
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import Plan
from tarnkappe.tally import Tally

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
CUTS = {2: 0.0116, 5: 0.0347, 10: 0.0594, 25: 0.1053, 50: 0.1526, 100: 0.2128}
SWAPPED = {2: 0.0094, 5: 0.0314, 10: 0.0557, 25: 0.1010, 50: 0.1497, 100: 0.2115}
DIVERSE = {2: 0.0101, 3: 0.0312, 4: 0.0837, 5: 0.1562, 6: 0.2369, 7: 0.2990}

#: As in the papers, with and without stretched columns.
PLAIN = Hilb(refine=False, lookahead=1, swaps=0)
RAW = Hilb(refine=False, lookahead=1, swaps=0, stretch=False)
WAYS: dict[str, Algorithm] = {
    "Mondrian": Mondrian(),
    "raw codes": RAW,
    "papers, stretched": PLAIN,
    "+ swaps": Hilb(refine=False, lookahead=1),
    "iDistance": Hilb("idistance", refine=False, lookahead=1),
    "Hilb": Hilb(),
}


def tally_of(frame: pl.DataFrame, quasi: dict[str, object], sensitive: dict[str, object] | list[str]) -> Tally:
    job = tk.Job(quasi=quasi, sensitive=sensitive, drop="rest", criteria=[tk.KAnonymity(2)])
    source = open_source(frame)
    return MemoryEngine().count(source, job.schema(source.columns))


def adult_columns(frame: pl.DataFrame) -> dict[str, object]:
    orders = {n: list(frame[n].unique(maintain_order=True)) for n in QUASI}
    orders["education"] = list(EDUCATION)
    return {n: tk.numeric() if n == "age" else tk.ordered(*orders[n]) for n in QUASI}


def score(algorithm: Algorithm, tally: Tally, goal: Goal, metric: Metric) -> float:
    return metric.score(Plan.of(tally, goal, algorithm.decide(tally, goal, rng=np.random.default_rng(1))))


def row(name: str, tally: Tally, goal: Goal, metric: Metric, digits: int, *known: str) -> None:
    found = [f"{score(way, tally, goal, metric):.{digits}f}" for way in WAYS.values()]
    print(f"| {name} | {' | '.join([*known, *found])} |", flush=True)


def head(title: str, *known: str) -> None:
    columns = [*known, *WAYS]
    print(f"\n## {title}\n\n| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")


def main(rows: int = 500_000) -> None:
    frame = adult()
    columns = adult_columns(frame)
    tally = tally_of(frame, columns, [])
    head("Adult, 8 quasi-identifiers, mean width", "catalogue, cuts", "catalogue, swaps")
    for k, cuts in CUTS.items():
        row(f"k = {k}", tally, Goal([tk.KAnonymity(k)]), LossMetric(), 4, f"{cuts:.4f}", f"{SWAPPED[k]:.4f}")
    secret = columns.pop("occupation")
    tally = tally_of(frame, columns, {"occupation": secret})
    head("Adult, 7 quasi-identifiers, occupation sensitive, mean width", "catalogue, best")
    for least, best in DIVERSE.items():
        goal = Goal([tk.FrequencyLDiversity("occupation", least)])
        row(f"l = {least}", tally, goal, LossMetric(), 4, f"{best:.4f}")
    trees = census_taxonomies()
    names = {"age": tk.numeric(), "sex": trees["sex"], "native-country": trees["native-country"]}
    tally = tally_of(census(rows, seed=1), names, {"occupation": trees["occupation"]})
    head(f"Generated census, {rows:,} records, ILoss")
    row("l = 10", tally, Goal([tk.FrequencyLDiversity("occupation", 10)]), ILoss(), 5)


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:]))

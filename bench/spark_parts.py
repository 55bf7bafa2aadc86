"""What deciding in parts costs: loss and CPU of groups decided in parts of a curve, as executors of Spark do it.

    python bench/spark_parts.py [--records 100000] [--parts 1 2 4 8] [--criteria k|k+l|k+t] [--algorithm hilb]

Eight quasi-identifiers of the generated census, k = 10 (with 5-diverse or 0.3-close occupations). Parts are decided one
after the other in this process, by the code that executors run; 1 part is the table decided at once. Prints one JSON
line for each number of parts. The same on Spark, from a file to a verified release:

    python bench/spark_parts.py --records 400000 --write /tmp/parts
    tarnkappe run /tmp/parts/job.yaml --engine streaming --memory 650MB --overwrite     # E702
    tarnkappe run /tmp/parts/job.yaml --engine spark --memory 650MB --overwrite         # decided on executors
"""

from __future__ import annotations

import argparse
import json
import resource
from dataclasses import replace
from pathlib import Path

import numpy as np

import tarnkappe as tk
from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.local.curve import hilbert_places
from tarnkappe.algorithms.local.hilb_partitions import even_ranges
from tarnkappe.algorithms.shards import joined, part_of
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.goal import Goal
from tarnkappe.in_parts import PartDecider
from tarnkappe.metrics import score_plan
from tarnkappe.pipeline import counted
from tarnkappe.plan import Plan

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "hours-per-week", "native-country")

CRITERIA = {
    "k": [tk.KAnonymity(10)],
    "k+l": [tk.KAnonymity(10), tk.LDiversity("occupation", 5)],
    "k+t": [tk.KAnonymity(10), tk.TCloseness("occupation", 0.3)],
}


def job(criteria: str, algorithm: str) -> tk.Job:
    """The census with eight quasi-identifiers."""
    trees = census_taxonomies()
    return tk.Job(
        quasi={name: trees.get(name, tk.numeric()) for name in QUASI},
        sensitive=["occupation"],
        drop="rest",
        criteria=CRITERIA[criteria],
        algorithm=algorithm_class(algorithm)(),
        seed=1,
    )


def cpu() -> float:
    """Processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Decide in as many parts as asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--criteria", choices=CRITERIA, default="k+l")
    parser.add_argument("--algorithm", default="hilb")
    parser.add_argument("--write", type=Path, help="write the data and the job here, and decide nothing")
    asked = parser.parse_args()
    made = job(asked.criteria, asked.algorithm)
    data = census(asked.records, seed=1)
    if asked.write is not None:
        asked.write.mkdir(parents=True, exist_ok=True)
        data.write_csv(asked.write / "census.csv")
        text = f"data: {{path: census.csv}}\noutput: {{folder: release}}\n{made.to_yaml()}"
        (asked.write / "job.yaml").write_text(text)
        return
    tally = counted(made, data).tally
    place = hilbert_places(tally.quasi, tally.quasi_domains)[0]
    places, cells = np.unique(place, return_counts=True)
    for n_parts in asked.parts:
        bounds = places[even_ranges(cells, n_parts)[:-1]]
        part = np.searchsorted(bounds, place, side="right") - 1
        shards = [part_of(tally, np.flatnonzero(part == i).astype(np.int32)) for i in range(len(bounds))]
        decide = PartDecider(made.algorithm, Goal(made.goal.criteria), ("",), 1, None)
        before = cpu()
        plans = [decide(i, replace(shard.tally, whole=tally))[0] for i, shard in enumerate(shards)]
        seconds = cpu() - before
        whole = Plan.of(tally, made.goal, joined([plan.grouping for plan in plans], shards), ("",))
        loss = score_plan(whole)["gcp"]
        told = {"parts": len(shards), "cells": tally.n_cells, "gcp": round(loss, 4), "cpu": round(seconds, 1)}
        print(json.dumps({"algorithm": asked.algorithm, "criteria": asked.criteria, **told}), flush=True)


if __name__ == "__main__":
    main()

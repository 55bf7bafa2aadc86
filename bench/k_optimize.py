"""K-Optimize on Adult: how long a number of branches takes, and what gap to the proved bound remains."""

from __future__ import annotations

import sys

import numpy as np
from measure import DATA, report, timed
from tables import ADULT_QUASI, adult

import tarnkappe as tk
from tarnkappe.algorithms.subtree.k_optimize import KOptimize
from tarnkappe.datasets import load_adult
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.io import open_source

k, nodes = int(sys.argv[1]), int(sys.argv[2])
limit = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0  # the paper limits suppression by its price only
_, taxonomies = load_adult(DATA / "adult")
job = tk.Job(
    quasi={name: tk.numeric() if name == "age" else taxonomies[name] for name in ADULT_QUASI},
    drop="rest",
    criteria=[tk.KAnonymity(k)],
    max_suppressed=limit,
)
source = open_source(adult())
tally = MemoryEngine().count(source, job.schema(source.columns))
algorithm = KOptimize(nodes=nodes)
grouping, seconds, cpu = timed(lambda: algorithm.decide(tally, job.goal, rng=np.random.default_rng(1)))
notes = grouping.notes
report(
    k=k,
    seconds=seconds,
    cpu=cpu,
    cost=notes["cost"],
    bound=notes["lower bound"],
    gap=1 - notes["lower bound"] / notes["cost"],
    optimal=notes["optimal"],
    nodes=notes["nodes"],
    groups=grouping.n_groups,
    suppressed=grouping.suppressed,
)

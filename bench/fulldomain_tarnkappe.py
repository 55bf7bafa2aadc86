"""Our Datafly on Adult, k = 5, 2 % suppression, and our verification of k and t on the result."""

from __future__ import annotations

import sys

import numpy as np
from measure import DATA, report, timed
from tables import ADULT_QUASI, named

import tarnkappe as tk
from tarnkappe.datasets import load_adult
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.io import open_source

frame, quasi = named(sys.argv[1])
_, taxonomies = load_adult(DATA / "adult")
job = tk.Job(
    quasi={name: taxonomies[name] for name in ADULT_QUASI},
    sensitive=["occupation"],
    drop="rest",
    criteria=[tk.KAnonymity(5)],
    max_suppressed=0.02,
    algorithm=tk.Datafly(),
)
source = open_source(frame)
engine = MemoryEngine()
tally = engine.count(source, job.schema(source.columns))
grouping, seconds, cpu = timed(lambda: job.algorithm.decide(tally, job.goal, rng=np.random.default_rng(1)), repeat=3)
table = job.anonymize(frame).table
check = [tk.KAnonymity(5), tk.TCloseness("occupation", 1.0)]
found, check_seconds, check_cpu = timed(lambda: tk.verify(table, check, quasi, ["occupation"]), repeat=3)
report(
    seconds=seconds,
    cpu=cpu,
    suppressed=grouping.suppressed,
    k=int(found.verdicts[0].reached),
    groups=grouping.n_groups,
    check_seconds=check_seconds,
    check_cpu=check_cpu,
)

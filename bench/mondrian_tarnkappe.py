"""Decide step of Mondrian: ours, k = 5, publishing sets and intervals as the peers do."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from measure import report, timed
from tables import ADULT_QUASI, adult_orders, named, set_loss

import tarnkappe as tk
from tarnkappe.engines.memory import MemoryEngine, assign_records
from tarnkappe.io import open_source

frame, quasi = named(sys.argv[1])
orders = adult_orders() if quasi == ADULT_QUASI else {}
job = tk.Job(
    quasi={
        name: tk.numeric() if frame[name].dtype.is_numeric() else tk.ordered(*orders.get(name, ())) for name in quasi
    },
    drop="rest",
    criteria=[tk.KAnonymity(5)],
)
source = open_source(frame)
schema = job.schema(source.columns)
engine = MemoryEngine()
tally, count_seconds, _ = timed(lambda: engine.count(source, schema), repeat=2)
rng = np.random.default_rng(1)
grouping, seconds, cpu = timed(lambda: job.algorithm.decide(tally, job.goal, rng=rng), repeat=3)
group = assign_records(engine._cell, grouping, rng)
loss = set_loss(frame.select(quasi).with_columns(pl.Series("group", group)), frame, quasi)
report(
    seconds=seconds,
    cpu=cpu,
    count=count_seconds,
    groups=grouping.n_groups,
    loss=loss,
    smallest=int(np.bincount(group).min()),
)

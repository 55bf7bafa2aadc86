"""Decide step of Mondrian: anonypy, k = 5."""

from __future__ import annotations

import sys

import anonypy
import numpy as np
import polars as pl
from measure import report, timed
from tables import SENSITIVE, named, set_loss

frame, quasi = named(sys.argv[1])
table = frame.select(*quasi, SENSITIVE).to_pandas()
for name in (*quasi, SENSITIVE):
    if not frame[name].dtype.is_numeric():
        table[name] = table[name].astype("category")
preserver = anonypy.Preserver(table, list(quasi), SENSITIVE)
partitions, seconds, cpu = timed(lambda: preserver.modrian.partition(5))
owner = np.empty(frame.height, np.int64)
owner[np.concatenate([np.asarray(p) for p in partitions])] = np.repeat(
    np.arange(len(partitions)), [len(p) for p in partitions]
)
loss = set_loss(frame.select(quasi).with_columns(pl.Series("group", owner)), frame, quasi)
report(seconds=seconds, cpu=cpu, groups=len(partitions), loss=loss, smallest=min(len(p) for p in partitions))

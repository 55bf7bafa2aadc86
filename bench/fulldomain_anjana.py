"""anjana's greedy full-domain generalisation on Adult, k = 5, 2 % suppression; pycanon checks the result."""

from __future__ import annotations

import sys

import anjana.anonymity
import numpy as np
import pycanon.anonymity
from measure import DATA, report, timed
from tables import ADULT_QUASI, named

from tarnkappe.datasets import load_adult

frame, quasi = named(sys.argv[1])
_, taxonomies = load_adult(DATA / "adult")
table = frame.to_pandas()
hierarchies = {}
for name in ADULT_QUASI:
    tree = taxonomies[name]
    leaves = np.array(tree.leaves).astype(table[name].to_numpy().dtype)
    labels = {level: np.array([tree.labels[v] for v in tree.ancestors[level]]) for level in range(tree.height + 1)}
    hierarchies[name] = {**labels, 0: leaves}
released, seconds, cpu = timed(lambda: anjana.anonymity.k_anonymity(table, [], list(quasi), 5, 2, hierarchies))
k, check_seconds, check_cpu = timed(lambda: pycanon.anonymity.k_anonymity(released, list(quasi)))
t, t_seconds, t_cpu = timed(lambda: pycanon.anonymity.t_closeness(released, list(quasi), ["occupation"]))
report(
    seconds=seconds,
    cpu=cpu,
    suppressed=len(table) - len(released),
    k=int(k),
    groups=int(released.groupby(list(quasi)).ngroups),
    check_seconds=check_seconds + t_seconds,
    check_cpu=check_cpu + t_cpu,
)

"""anjana's greedy full-domain generalisation on Adult, k = 5, 2 % suppression; pycanon checks the result."""

from __future__ import annotations

import sys

import anjana.anonymity
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
    leaf = {label: i for i, label in enumerate(tree.leaves)}
    values = table[name].astype(str).map(leaf).to_numpy()
    hierarchies[name] = {
        level: [tree.labels[v] for v in tree.ancestors[level][values]] if level else table[name].to_numpy()
        for level in range(tree.height + 1)
    }
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

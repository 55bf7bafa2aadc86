"""The whole job, Parquet in, verified Parquet out: 8 quasi-identifiers of the generated census, k = 10."""

from __future__ import annotations

import sys

from measure import SCRATCH, report, timed
from tables import CENSUS_QUASI, SENSITIVE, census_file

import tarnkappe as tk
from tarnkappe.datasets import census_taxonomies

rows = int(sys.argv[1])
taxonomies = census_taxonomies()
job = tk.Job(
    quasi={name: taxonomies.get(name, tk.numeric()) for name in CENSUS_QUASI},
    sensitive=[SENSITIVE],
    drop="rest",
    criteria=[tk.KAnonymity(10)],
)
path = census_file(rows)
release, seconds, cpu = timed(lambda: tk.run_job(job, path, SCRATCH / "release", overwrite=True))
report(
    seconds=seconds,
    cpu=cpu,
    groups=release.n_groups,
    loss=release.score("gcp"),
    phases=release.private_manifest["seconds"],
    verified=all(v.ok for v in release.verdicts),
)

"""The whole job, Parquet in, verified Parquet out: 8 quasi-identifiers of the generated census, k = 10.

python bench/run_census.py ROWS [--engine streaming] [--algorithm hilb] [--l 5]
"""

from __future__ import annotations

import argparse

from measure import SCRATCH, report, timed
from tables import CENSUS_QUASI, SENSITIVE, census_file

import tarnkappe as tk
from tarnkappe.datasets import census_taxonomies
from tarnkappe.engines.settings import EngineSettings

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("rows", type=int)
parser.add_argument("--engine", default="auto")
parser.add_argument("--algorithm", default="mondrian")
parser.add_argument("--l", type=int, help="occupations of every group, at least")
asked = parser.parse_args()
taxonomies = census_taxonomies()
job = tk.Job(
    quasi={name: taxonomies.get(name, tk.numeric()) for name in CENSUS_QUASI},
    sensitive=[SENSITIVE],
    drop="rest",
    criteria=[tk.KAnonymity(10), *([] if asked.l is None else [tk.LDiversity(SENSITIVE, asked.l)])],
    algorithm=asked.algorithm,
    engine=EngineSettings(asked.engine),
)
path = census_file(asked.rows)
release, seconds, cpu = timed(lambda: tk.run_job(job, path, SCRATCH / "release", overwrite=True))
report(
    seconds=seconds,
    cpu=cpu,
    groups=release.n_groups,
    loss=release.score("gcp"),
    phases=release.private_manifest["seconds"],
    verified=all(v.ok for v in release.verdicts),
)

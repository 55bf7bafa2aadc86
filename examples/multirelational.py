"""Patients and their visits: two tables, released so that nobody stands out in both of them together.

Shows a person table with satellites, l-diversity of a satellite's column over persons, suppression in all tables, the
random key that still joins them, and the check of the published tables by themselves.
Run it:  python examples/multirelational.py
"""

import numpy as np
import polars as pl

import tarnkappe as tk
from tarnkappe.multirelational import MultiJob, Relation, anonymize_multirelational, verify_multirelational

DIAGNOSES = ["flu", "fracture", "asthma", "migraine", "gastritis", "eczema"]


def hospital(n: int, seed: int = 0) -> dict[str, pl.DataFrame]:
    """Made-up patients with one to three visits each."""
    rng = np.random.default_rng(seed)
    visits = np.repeat(np.arange(n), rng.choice([1, 2, 3], n, p=[0.7, 0.25, 0.05]))
    months = rng.integers(1, 13, len(visits))
    return {
        "patients": pl.DataFrame(
            {
                "patient": [f"P{i:05d}" for i in range(n)],
                "sex": rng.choice(["f", "m"], n),
                "born": rng.integers(1940, 2010, n),
            }
        ),
        "visits": pl.DataFrame(
            {
                "patient": [f"P{i:05d}" for i in visits],
                "date": [f"{year}-{month:02d}-15" for year, month in zip(2020 + months % 3, months, strict=True)],
                "diagnosis": rng.choice(DIAGNOSES, len(visits)),
            }
        ),
    }


tables = hospital(3000)
people = Relation("patients", quasi={"sex": tk.suppress(), "born": tk.intervals(5, 10, 20, 40)})
visits = Relation("visits", quasi={"date": tk.dates()}, sensitive={"diagnosis": 2})
job = MultiJob("patient", people, [visits], k=5, max_suppressed=0.05)
release = anonymize_multirelational(job, tables)

print(f"{release.n_persons} patients, {release.n_suppressed} of them suppressed, {release.n_groups} groups")
print("Levels:", {name: dict(levels) for name, levels in release.levels.items()})
for verdict in release.verdicts:
    print(f"{verdict.asked}{f' ({verdict.column})' if verdict.column else ''}: worst group {verdict.reached:.3g}")
joined = release.tables["patients"].join(release.tables["visits"], on="patient")
print(joined.sort("patient").head(4))

# Somebody who only has the published tables comes to the same result; only names of columns are needed for that.
again = verify_multirelational(
    Relation("patients", ["sex", "born"]), [Relation("visits", ["date"], ["diagnosis"])], release.tables, "patient", 5
)
print("Checked again:", "ok" if again.ok else "violated", "- smallest group:", again.sizes.min())

"""A hospital's table with German column names: written to a file, anonymised into a release folder.

Shows a table with missing values, a sensitive column with a taxonomy, t-closeness, and a suppression limit.
Run it:  python examples/hospital.py
"""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import tarnkappe as tk

ILLNESSES = {
    "Stoffwechsel": ["Diabetes", "Gicht"],
    "Gelenke": ["Arthrose", "Rheuma"],
    "Infektion": ["Hepatitis", "Grippe"],
    "Nerven": ["Demenz", "Migräne"],
}


def patients(n: int, seed: int = 0) -> pl.DataFrame:
    """Made-up patients: older people have other illnesses than younger ones."""
    rng = np.random.default_rng(seed)
    names = [illness for family in ILLNESSES.values() for illness in family]
    born = rng.integers(1930, 2008, n)
    likely = np.where((born < 1965)[:, None], [5, 4, 6, 3, 2, 1, 5, 1], [3, 1, 1, 2, 3, 6, 1, 4])
    drawn = (np.cumsum(likely / likely.sum(axis=1, keepdims=True), axis=1) < rng.random((n, 1))).sum(axis=1)
    plz = np.char.add("22", np.char.zfill(rng.integers(0, 200, n).astype(str), 3))
    return pl.DataFrame(
        {
            "Name": [f"Patient {i}" for i in range(n)],
            "Geschlecht": rng.choice(["m", "w"], n),
            "PLZ": pl.Series(plz).scatter(rng.choice(n, n // 50, replace=False), None),  # some are unknown
            "Geburtsjahr": born,
            "Erkrankung": np.array(names)[drawn],
        }
    )


job = tk.Job(
    identifiers=["Name"],
    quasi={"Geschlecht": tk.suppress(), "PLZ": tk.prefix(4, 3, 2), "Geburtsjahr": tk.intervals(5, 10, 20)},
    sensitive={"Erkrankung": tk.tree(ILLNESSES)},
    criteria=[tk.KAnonymity(5), tk.TCloseness("Erkrankung", 0.3, distance="hierarchical")],
    missing_rule="own-value",  # an attacker may know that a postcode is missing
    max_suppressed=0.02,
    title="Patienten 2026",
)
with tempfile.TemporaryDirectory() as folder:
    source, target = Path(folder, "patienten.csv"), Path(folder, "release")
    patients(3000).write_csv(source)
    release = tk.run_job(job, source, target)
    print(*sorted(str(p.relative_to(target)) for p in target.rglob("*.*")), sep="\n")
    print(pl.read_csv(target / "public" / "patienten.csv").head(4))
print(*(f"{v.criterion}: asked {v.asked}, worst group {v.reached:.3g}" for v in release.verdicts), sep="\n")

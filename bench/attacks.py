"""How long attacks take on Adult (30 162 records), in seconds of processor time and by the clock.

python bench/attacks.py
"""

from __future__ import annotations

import time

import polars as pl
from measure import DATA

import tarnkappe as tk

QUASI = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]


def main() -> None:
    """Attack the raw data, and a 5-anonymous release of them, in every way that needs no other table."""
    folder = DATA / "adult"
    people = (
        pl.read_csv(folder / "adult.csv", separator=";").with_row_index("id").with_columns(pl.col("id").cast(pl.String))
    )
    how = {name: tk.numeric() if name == "age" else tk.suppress() for name in QUASI}
    why = {"id": "only to measure how long attacks take"}
    job = tk.Job(quasi=how, sensitive=["occupation"], keep=["id"], because=why, criteria=[tk.KAnonymity(5)], seed=1)
    released = job.anonymize(people).table
    names = ["record-linkage", "distance-linkage", "probabilistic-linkage", "unsorted-matching", "homogeneity"]
    names += ["attribute-linkage", "background-knowledge", "skewness", "definetti", "minimality"]
    for title, table in (("raw", people), ("5-anonymous", released)):
        for name in names:
            wall, cpu = time.perf_counter(), time.process_time()
            found = tk.attack(
                name, table, quasi=how, sensitive=["occupation"], known=people, key="id", in_order=True, seed=1
            )[0]
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(f"{title:12} {wall:7.2f} s {cpu:7.2f} s CPU   {found}")


if __name__ == "__main__":
    main()

"""Anonymise a Polars data frame and look at the proof, the price and the result.

Run it:  python examples/anonymize_frame.py
"""

import tarnkappe as tk
from tarnkappe.datasets import census, census_taxonomies

people = census(20_000, seed=1)  # synthetic: no real person in it
taxonomies = census_taxonomies()

job = tk.Job(
    quasi={
        "age": tk.numeric(),  # groups publish [min max]
        "education": taxonomies["education"],
        "native-country": taxonomies["native-country"],
        "sex": tk.suppress(),  # published or not, nothing in between
    },
    sensitive=["occupation"],
    drop="rest",
    criteria=[tk.KAnonymity(10), tk.LDiversity("occupation", 3)],
)
release = job.anonymize(people)

print(f"{release.n_input} records, {release.unique_before} of them unique before")
print(f"{release.n_groups} groups, the smallest of {release.smallest_group} records")
print("\nThe proof, counted again from the published values:")
for verdict in release.verdicts:
    print(f"  {'ok ' if verdict.ok else 'NOT'} {verdict.asked}, reached {verdict.reached:g}")
print("\nThe price:")
for score in release.scores:
    print(f"  {score.sentence}")
print("\nWhat may be shared:")
print(release.table.head(5))

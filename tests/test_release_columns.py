"""What a report says about a column is what happened to it."""

from __future__ import annotations

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms import Algorithm

CITY = tk.tree({"any": {"North": ["n1", "n2"], "South": ["s1", "s2"]}})


def said(algorithm: Algorithm, how: object, values: list, k: int = 3) -> str:
    """What is said about a column whose upper half of values has a label of its own."""
    label = ["yes" if v in sorted(set(values), key=str)[len(set(values)) // 2 :] else "no" for v in values]
    frame = pl.DataFrame({"x": values, "label": label})
    goal = [tk.KAnonymity(k)]
    job = tk.Job(quasi={"x": how}, sensitive=["label"], criteria=goal, algorithm=algorithm, missing_rule="own-value")
    (column,) = [c for c in job.anonymize(frame, seed=1).columns if c.name == "x"]
    return column.done


RARE = ["n1"] * 3 + ["n2"] * 3 + ["s1"] * 4 + ["s2"] * 1


@pytest.mark.parametrize(
    ("algorithm", "how", "values", "expected"),
    [
        (tk.Flash(), CITY, RARE, "generalised to level 1 of 2 for everybody"),
        (tk.Flash(), CITY, [*RARE, None, None, None], "generalised to level 1 of 2 for everybody"),
        # Which levels these have depends on the values of everybody.
        (tk.Flash(), tk.quantiles(4, 2), list(range(12)), "generalised as far as needed"),
        (tk.Flash(), tk.frequency(0.3, 0.5), RARE, "generalised as far as needed"),
        (tk.Flash(), tk.quantiles(4, 2), [1] * 6 + [2] * 6, "published unchanged: no group needed to coarsen it"),
        (tk.Flash(), CITY, ["n1"] * 3, "published unchanged: no group needed to coarsen it"),
        (tk.TopDownSpecialization("label"), CITY, RARE, "generalised value by value, alike for everybody"),
        (tk.TopDownSpecialization("label"), tk.numeric(), list(range(12)), "cut into intervals, alike for everybody"),
        (tk.Mondrian(), tk.numeric(), list(range(12)), "intervals [min max] per group"),
        (tk.Mondrian(), CITY, RARE, "lowest common category per group"),
    ],
)
def test_what_was_done(algorithm: Algorithm, how: object, values: list, expected: str):
    assert said(algorithm, how, values) == expected


def test_cells_that_were_given_up_are_not_said_to_be_alike():
    """mu-Argus gives up single cells: the same value is published here and not there."""
    frame = pl.DataFrame({"a": ["x"] * 6 + ["y"] * 6 + ["x"], "b": ["u"] * 6 + ["v"] * 7, "s": ["1", "2"] * 6 + ["1"]})
    quasi = {"a": tk.suppress(), "b": tk.suppress()}
    job = tk.Job(quasi=quasi, sensitive=["s"], criteria=[tk.KAnonymity(3)], algorithm=tk.MuArgus())
    release = job.anonymize(frame, seed=1)
    done = {c.name: c.done for c in release.columns}
    assert "generalised as far as each group needed it" in (done["a"], done["b"])

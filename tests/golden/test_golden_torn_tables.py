"""Tables 4.9 to 4.13 of the thesis: what we publish of the groups that are printed there, row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.deals import Deal
from tarnkappe.goal import Goal
from tarnkappe.publish.buckets import Buckets
from tarnkappe.publish.sliced import Sliced
from tarnkappe.tally import Tally

PATIENTS = pl.DataFrame(  # table 4.9
    {
        "age": [23, 27, 35, 59, 61, 65, 65, 70],
        "sex": list("MMMMWWWW"),
        "zip": ["11000", "13000", "59000", "12000", "54000", "25000", "25000", "30000"],
        "illness": ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"],
    }
)
SEXES = pl.DataFrame(  # table 4.11
    {
        "age": [21, 23, 38, 40, 41, 43, 58, 60],
        "sex": list("MMWWMMWW"),
        "illness": ["pneumonia", "pneumonia", "bronchitis", "bronchitis"] * 2,
    }
)
SLICED = pl.DataFrame(  # table 4.13 (a); the last person's sex is printed as F
    {
        "age": [22, 22, 33, 52, 54, 60, 60, 64],
        "sex": list("MWWWMMMW"),
        "zip": ["47906", "47906", "47905", "47905", "47902", "47902", "47904", "47904"],
        "illness": ["dyspepsia", "flu", "flu", "bronchitis", "flu", "dyspepsia", "dyspepsia", "gastritis"],
    }
)


def job(table: pl.DataFrame, algorithm: tk.Algorithm, criterion: tk.Criterion, **more: Any) -> tk.Job:
    quasi = {name: tk.numeric() if name == "age" else tk.suppress() for name in table.columns if name != "illness"}
    return tk.Job(quasi=quasi, sensitive=["illness"], criteria=[criterion], algorithm=algorithm, **more)


def cells_in_order(tally: Tally, table: pl.DataFrame) -> list[int]:
    """The cell of every person of a table."""
    domains = (*tally.quasi_domains, *tally.sensitive_domains)
    codes = np.hstack([tally.quasi, tally.sensitive])
    cells = {
        tuple(d.taxonomy.leaves[c] for d, c in zip(domains, row, strict=True)): i
        for i, row in enumerate(codes.tolist())
    }
    return [cells[tuple(map(str, row))] for row in table.select([d.name for d in domains]).rows()]


def by_number(table: pl.DataFrame, number: str) -> list[Counter[tuple[Any, ...]]]:
    """The rows of every number, in any order."""
    return [Counter(part.drop(number).rows()) for _, part in table.sort(number).group_by(number, maintain_order=True)]


class AsPrinted(tk.Anatomize):
    """Puts the first four people and the last four into a group, as table 4.10 does."""

    name = "anatomy-as-printed"

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        return Deal(np.array(cells_in_order(tally, PATIENTS), np.int32), np.array([4, 4]), Buckets())


def test_table_4_10():
    release = job(PATIENTS, AsPrinted(), tk.LDiversity("illness", 2)).anonymize(PATIENTS, seed=1)
    people = by_number(release.tables[""], "group")
    secrets = by_number(release.tables["secrets"], "group")
    printed = [
        (Counter(PATIENTS.drop("illness").rows()[:4]), Counter({("dyspepsia", 2): 1, ("pneumonia", 2): 1})),
        (
            Counter(PATIENTS.drop("illness").rows()[4:]),
            Counter({("bronchitis", 1): 1, ("flu", 2): 1, ("gastritis", 1): 1}),
        ),
    ]
    assert list(zip(people, secrets, strict=True)) in [printed, printed[::-1]], "numbers are drawn by lot"
    # "It cannot be told whether the first person has pneumonia or dyspepsia."
    answer = release.query("count where age = 23 and illness in (pneumonia, dyspepsia)")
    assert (answer.low, answer.high) == (1, 1)
    one = release.query("count where age = 23 and illness = pneumonia")
    assert (one.value, one.low, one.high) == (0.5, 0, 1)


class BatchesAsPrinted(tk.Angel):
    """Deals the people of table 4.11 to the four batches of table 4.12; the buckets are our own."""

    name = "angel-as-printed"

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        ours = super().deal(tally, goal, rng=rng)
        person = cells_in_order(tally, SEXES)
        batches = [(0, 2), (1, 3), (4, 6), (5, 7)]
        return replace(
            ours, cell=np.array([person[i] for b in batches for i in b], np.int32), size=np.array([2, 2, 2, 2])
        )


def test_table_4_12():
    made = job(SEXES, BatchesAsPrinted(), tk.LDiversity("illness", 2), weights={"sex": 2})
    release = made.anonymize(SEXES, seed=1)
    assert by_number(release.tables["batches"], "batch") == [Counter({("bronchitis", 1): 1, ("pneumonia", 1): 1})] * 4
    printed = [
        {("[21 23]", "M"), ("[38 40]", "W")},
        {("[21 23]", "M"), ("[38 40]", "W")},
        {("[41 43]", "M"), ("[58 60]", "W")},
        {("[41 43]", "M"), ("[58 60]", "W")},
    ]
    found = [set(batch) for batch in by_number(release.tables[""], "batch")]
    assert found in [list(order) for order in permutations(printed)]
    assert release.verify().ok


STRANDS = (("age", "sex"), ("zip", "illness"))


class BucketsAsPrinted(tk.Slicing):
    """Keeps the first four people and the last four in a bucket, as table 4.13 does; ours would be buckets of two."""

    name = "slicing-as-printed"

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        return Deal(np.array(cells_in_order(tally, SLICED), np.int32), np.array([4, 4]), Sliced(STRANDS))


@pytest.mark.parametrize("seed", range(3))
def test_table_4_13(seed: int):
    """Two buckets, (age, sex) torn from (zip, illness); each strand in an order of its own."""
    release = job(SLICED, BucketsAsPrinted(), tk.FrequencyLDiversity("illness", 2)).anonymize(SLICED, seed=seed)
    buckets = [part for _, part in release.table.sort("bucket").group_by("bucket", maintain_order=True)]
    found = [tuple(Counter(bucket.select(strand).rows()) for strand in STRANDS) for bucket in buckets]
    printed = [tuple(Counter(SLICED[a : a + 4].select(strand).rows()) for strand in STRANDS) for a in (0, 4)]
    assert found in [printed, printed[::-1]]
    assert release.verify().ok
    # "(22, M) may belong to any of the four with the same chance": two of them have the flu.
    assert release.query("count where age = 22 and sex = M and illness = flu").value == 0.5

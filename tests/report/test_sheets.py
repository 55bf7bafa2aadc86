"""Reports of torn tables show what belongs together, what joins it, and what may not be concluded."""

from __future__ import annotations

import re

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.report import render_report

PEOPLE = pl.DataFrame(
    {
        "age": [20 + i % 30 for i in range(60)],
        "sex": ["f", "m"] * 30,
        "pay": [100 * (i * 7 % 20) for i in range(60)],
    }
)

#: Algorithms, the column of numbers, and the boxes that are drawn.
TORN = [
    (tk.Anatomize(), "group", ["age, sex", "pay"]),
    (tk.Angel(marginals=[["age"]]), "batch", ["age, sex", "age", "pay"]),
    (tk.KEPermutation(), "group", ["age, sex", "pay"]),
    (tk.Slicing(strands=[["age"], ["sex"], ["pay"]]), "bucket", ["age", "sex", "pay"]),
]


@pytest.mark.parametrize(("algorithm", "number", "boxes"), TORN, ids=lambda x: getattr(x, "name", None))
def test_what_belongs_together_is_drawn(algorithm: tk.Algorithm, number: str, boxes: list[str]):
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive={"pay": tk.numeric()},
        criteria=[tk.LDiversity("pay", 3)],
        algorithm=algorithm,
    )
    page = render_report(job.anonymize(PEOPLE, seed=1))
    drawn = re.findall(r"<li>(.*?)</li>", re.search(r'<ul class="torn">(.*?)</ul>', page, re.DOTALL)[1], re.DOTALL)
    words = [re.sub(r"<[^>]+>", "", re.search(r"<strong>(.*?)</strong>", box, re.DOTALL)[1]) for box in drawn]
    assert sorted(words) == sorted(boxes)
    assert all(f">{number}<" in box for box in drawn)
    assert "What may not be concluded" in page


def test_a_table_of_whole_records_needs_no_picture():
    job = tk.Job(quasi={"age": tk.numeric(), "sex": tk.suppress()}, drop=["pay"], criteria=[tk.KAnonymity(3)])
    assert '<ul class="torn">' not in render_report(job.anonymize(PEOPLE, seed=1))

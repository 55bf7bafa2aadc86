"""What became of the values of each column, against plain Python."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe import crossing
from tarnkappe.groups import SUPPRESSED

rows = st.lists(st.tuples(st.integers(0, 6), st.sampled_from("abcd")), min_size=4, max_size=40)


@given(rows, st.sampled_from([1 << 20, -1000]))  # a counter for every pair, or pairs sorted
@settings(deadline=None)
def test_pairs_hold_the_records_of_their_value_and_label(people, few):
    job = tk.Job(
        quasi={"age": tk.numeric(), "town": tk.tree({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})},
        criteria=[tk.KAnonymity(2)],
        algorithm="mondrian",
        max_suppressed=0.3,
    )
    plan = tk.decide(job, pl.DataFrame(people, schema=["age", "town"], orient="row")).plan
    grouping, tally = plan.grouping, plan.tally
    with patch.object(crossing, "_FEW", few):
        columns = crossing.cross(tally, grouping, plan.boxes, plan.labels)
    for j, crossed in enumerate(columns):
        label = np.append(plan.labels[j].code, -9)
        expected, found = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
        for cell, group, quota in zip(grouping.cell, grouping.group, grouping.quota, strict=True):
            expected[int(tally.quasi[cell, j]), int(label[group])] += int(quota)
        for code, group, records in zip(*crossed, strict=True):
            found[int(code), int(label[group])] += int(records)
        assert found == +expected
        assert crossed.records[crossed.group == SUPPRESSED].sum() == plan.suppressed
        counted = np.bincount(tally.quasi[:, j], tally.count, tally.quasi_domains[j].size)
        assert tally.value_counts[j].tolist() == counted.tolist()

"""The recoding of a release as a table that people can read: which values became which label."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm
from tarnkappe.plan import Plan
from tarnkappe.publish.boxes import BoxForm

#: The columns of the table: a label of a column, and the first and last value that it stands for.
COLUMN, LABEL, FIRST, LAST = "column", "label", "from", "to"


def recoding_table(plan: Plan, numeric: Collection[str]) -> pl.DataFrame:
    """One row for every label of a numeric column, and one for every value below a label of any other.

    Missing values are left out: whoever applies it has a rule for them.
    """
    if not isinstance(plan.form, BoxForm):
        raise JobError(
            "E111",
            "centres are computed from their groups, so there is no recoding to write",
            hint=algorithm("mondrian"),
        )
    parts = []
    for j, domain in enumerate(plan.tally.quasi_domains):
        labels, boxes, tree = plan.labels[j], plan.boxes, domain.taxonomy
        spread, node = boxes.publishes_range(j, domain), boxes.node[:, j]
        low = np.where(spread, boxes.lo[:, j], tree.lo[node])
        high = np.where(spread, boxes.hi[:, j], tree.hi[node])
        known = (labels.code >= 0) & (boxes.lo[:, j] <= boxes.hi[:, j])
        runs = np.unique(np.column_stack([labels.code, low, high])[known], axis=0)
        if domain.missing >= 0:
            runs = runs[runs[:, 1] != domain.missing]
            runs[:, 2] = np.where(runs[:, 2] == domain.missing, domain.missing - 1, runs[:, 2])
        if domain.name not in numeric or domain.sets:  # one row for every value
            lengths = runs[:, 2] - runs[:, 1] + 1
            code = np.repeat(runs[:, 0], lengths)
            low = (
                np.repeat(runs[:, 1], lengths)
                + np.arange(lengths.sum())
                - np.repeat(lengths.cumsum() - lengths, lengths)
            )
            high = low
            if domain.sets:
                code, low = _members(plan, j)
                high = low
        else:
            code, low, high = runs.T
        texts, leaves = pl.Series(labels.texts, dtype=pl.String), pl.Series(tree.leaves, dtype=pl.String)
        parts.append(
            pl.DataFrame(
                {
                    COLUMN: pl.repeat(domain.name, len(code), eager=True),
                    LABEL: texts.gather(code),
                    FIRST: leaves.gather(low),
                    LAST: leaves.gather(high),
                }
            )
        )
    return pl.concat(parts)


def _members(plan: Plan, j: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes of the values in every set that is published, and the label of each."""
    labels, boxes, domain = plan.labels[j], plan.boxes, plan.tally.quasi_domains[j]
    node = boxes.node[:, j]
    inside = np.zeros((len(labels.texts), domain.size), np.bool_)
    codes = np.arange(domain.size)
    sets = boxes.publishes_range(j, domain)
    member = boxes.members[j] if j in boxes.members else np.zeros(len(node), np.int64)
    for g in np.unique(labels.code, return_index=True)[1]:  # one group for every label
        if labels.code[g] >= 0:
            tree = domain.taxonomy
            held = (
                (int(member[g]) >> codes) & 1 == 1
                if sets[g]
                else (tree.lo[node[g]] <= codes) & (codes <= tree.hi[node[g]])
            )
            inside[labels.code[g]] = held & (codes != domain.missing)
    label, value = np.nonzero(inside)
    return label, value

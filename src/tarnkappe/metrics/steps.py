"""How many levels each cell was raised."""

from __future__ import annotations

import numpy as np

from tarnkappe.plan import Plan


def generalisation_steps(plan: Plan) -> dict[str, tuple[int, float]]:
    """Per quasi-identifier: all steps up the taxonomy made by its cells, and the mean share of the way to the root.

    A missing wildcard is published with its group's value; it counts as raised from the root's missing child, that is
    by no step.
    """
    out = {}
    tally, grouping = plan.tally, plan.grouping
    for j, domain in enumerate(tally.quasi_domains):
        tree = domain.taxonomy
        leaf_depth = tree.depth[tree.leaf_nodes][tally.quasi[grouping.cell, j]].astype(np.int64)
        depth = np.append(tree.depth[plan.boxes.node[:, j]], np.int32(0))[grouping.group]
        steps = np.maximum(leaf_depth - depth, 0)
        share = steps / np.maximum(leaf_depth, 1)
        total = int((steps * grouping.quota).sum())
        out[domain.name] = total, float((share * grouping.quota).sum() / tally.n_records)
    return out

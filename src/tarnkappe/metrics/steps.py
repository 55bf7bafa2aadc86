"""How many levels each cell was raised."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.recoding import sum_steps
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain


def generalisation_steps(plan: Plan) -> dict[str, tuple[int, float]]:
    """Per quasi-identifier: all steps up the taxonomy made by its cells, and the mean share of the way to the root.

    A missing wildcard takes its group's value, which is a step only if that is the root.
    """
    out = {}
    tally, grouping = plan.tally, plan.grouping
    for j, domain in enumerate(tally.quasi_domains):
        tree = domain.taxonomy
        leaf_depth, node_depth = tree.depth[tree.leaf_nodes], tree.depth[plan.boxes.node[:, j]]
        steps, shares = sum_steps(tally.quasi, j, grouping.cell, grouping.group, grouping.quota, leaf_depth, node_depth)
        out[domain.name] = int(steps), shares / tally.n_records
    return out


def leaf_steps(domain: Domain, node: Codes) -> Floats:
    """How many steps each leaf goes up if it is published as a node."""
    tree = domain.taxonomy
    return (tree.depth[tree.leaf_nodes] - tree.depth[node]).astype(np.float64)


def leaf_depths(domain: Domain) -> Floats:
    """How many steps each leaf could go up."""
    return domain.taxonomy.depth[domain.taxonomy.leaf_nodes].astype(np.float64)

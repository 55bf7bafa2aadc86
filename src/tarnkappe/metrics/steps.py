"""How many levels each cell was raised."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.recoding import sum_steps
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Hidden


def generalisation_steps(plan: Plan) -> dict[str, tuple[int, float]]:
    """Per quasi-identifier: all steps up the taxonomy made by its cells, and the mean share of the way to the root.

    A missing wildcard takes its group's value, which is a step only if that is the root.
    """
    out = {}
    tally, grouping = plan.tally, plan.grouping
    for j, domain in enumerate(tally.quasi_domains):
        tree = domain.taxonomy
        leaf_depth, node_depth = tree.depth[tree.leaf_nodes], tree.depth[plan.boxes.node[:, j]]
        pieces = tally.quasi, j, grouping.cell, grouping.group, grouping.quota
        steps, shares = (
            sum_steps(*pieces, leaf_depth, node_depth)
            if domain.hidden is None
            else _steps_from_floor(plan, j, leaf_depth, node_depth, domain.hidden)
        )
        out[domain.name] = round(steps), shares / tally.n_records
    return out


def _steps_from_floor(plan: Plan, j: int, leaf_depth: Codes, node_depth: Codes, hidden: Hidden) -> tuple[float, float]:
    """As `sum_steps`, with those below the floor of the column, which all records have made."""
    grouping = plan.grouping
    code = plan.tally.quasi[grouping.cell, j]
    below, depth = hidden.steps[code], leaf_depth[code]
    made = below + np.maximum(depth - np.append(node_depth, 0)[grouping.group], 0)
    return float(grouping.quota @ made), float(grouping.quota @ (made / np.maximum(depth + below, 1)))


def leaf_steps(domain: Domain, node: Codes) -> Floats:
    """How many steps each leaf goes up if it is published as a node."""
    tree = domain.taxonomy
    return _below(domain) + tree.depth[tree.leaf_nodes] - tree.depth[node]


def leaf_depths(domain: Domain) -> Floats:
    """How many steps each leaf could go up."""
    return _below(domain) + domain.taxonomy.depth[domain.taxonomy.leaf_nodes]


def _below(domain: Domain) -> Floats:
    """How many steps each leaf has made below the floor of its column; on average, in a ragged tree."""
    return np.zeros(domain.size) if domain.hidden is None else domain.hidden.steps

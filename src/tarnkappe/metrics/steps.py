"""How many levels each cell was raised."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain


def generalisation_steps(plan: Plan) -> dict[str, tuple[int, float]]:
    """Per quasi-identifier: all steps up the taxonomy made by its cells, and the mean share of the way to the root.

    A missing wildcard takes its group's value, which is a step only if that is the root.
    """
    out = {}
    for j, (domain, crossed) in enumerate(zip(plan.tally.quasi_domains, plan.crossed, strict=True)):
        tree = domain.taxonomy
        depth = tree.depth[tree.leaf_nodes][crossed.code]
        published_at = np.append(tree.depth[plan.boxes.node[:, j]], 0)[crossed.group]  # the root, if suppressed
        made = _below(domain)[crossed.code] + np.maximum(depth - published_at, 0)
        shares = made / np.maximum(leaf_depths(domain)[crossed.code], 1)
        out[domain.name] = round(made @ crossed.records), float(shares @ crossed.records) / plan.tally.n_records
    return out


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

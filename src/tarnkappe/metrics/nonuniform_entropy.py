"""Non-uniform entropy."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.metrics.base import ColumnLoss
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally


class NonUniformEntropy(ColumnLoss):
    r"""How many bits of each cell are lost, values weighed by how common they are.

    .. math:: \sum_\text{cells} -\log_2 \frac{|\{x = v\}|}{|\{x \in \mathrm{label}\}|}

    where :math:`v` is the original value and counts are those of the input's column. A suppressed record is charged as
    if every value had become the root. With weights a column's bits count that often.

    References
    ----------
    .. [GiTa07] Gionis, Tassa. "k-anonymization with minimal loss of information." ESA 2007.
    .. [EDIJ09] El Emam et al. "A globally optimal k-anonymity method for the de-identification of health data." JAMIA
       16(5), 2009.
    """

    name: ClassVar = "nonuniform-entropy"
    title: ClassVar = "Non-uniform entropy"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "{count} bits about values were given up (non-uniform entropy)."

    @staticmethod
    def _bits(part: Floats, whole: Floats) -> Floats:
        """``-log2(part / whole)``; a value that nobody has costs nobody anything."""
        return np.log2(np.maximum(whole, 1.0)) - np.log2(np.maximum(part, 1.0))

    @staticmethod
    def _hidden(domain: Domain) -> Floats:
        """The bits that a record of each leaf lost below the floor of its column."""
        return np.zeros(domain.size) if domain.hidden is None else domain.hidden.bits

    def leaf_costs(self, domain: Domain, node: Codes, counts: Counts) -> Floats:
        """The bits that a record of each leaf loses if it is published as a node."""
        before = np.append(0, np.cumsum(counts))
        tree = domain.taxonomy
        inside = before[tree.hi[node] + 1] - before[tree.lo[node]]
        return self._hidden(domain) + self._bits(counts.astype(np.float64), inside.astype(np.float64))

    def suppressed_costs(self, domain: Domain, counts: Counts) -> Floats:
        """All bits."""
        return self._hidden(domain) + self._bits(counts.astype(np.float64), np.full(len(counts), float(counts.sum())))

    def combine(self, sums: Floats, tally: Tally) -> Floats:
        """The weighted sum of the columns."""
        total: Floats = sums @ np.array([d.weight for d in tally.quasi_domains])
        return total

    def score(self, plan: Plan) -> float:
        """The bits lost in all cells."""
        tally = plan.tally
        sums = []
        for j, (domain, crossed) in enumerate(zip(tally.quasi_domains, plan.crossed, strict=True)):
            counts = tally.value_counts[j].astype(np.float64)
            before = np.append(0.0, np.cumsum(counts))
            lo, hi, tree = plan.boxes.lo[:, j], plan.boxes.hi[:, j], domain.taxonomy
            node, spread = plan.boxes.node[:, j], plan.boxes.publishes_range(j, domain)
            first, last = np.where(spread, lo, tree.lo[node]), np.where(spread, hi, tree.hi[node])
            inside = before[last + 1] - before[first]
            if j in plan.boxes.members:
                has = (plan.boxes.members[j][:, None] >> np.arange(domain.size, dtype=np.uint64)) & np.uint64(1)
                inside = np.where(spread, has.astype(np.float64) @ counts, inside)
            of_value = np.log2(np.maximum(counts, 1.0)) - self._hidden(domain)
            of_group = np.log2(np.maximum(np.append(inside, tally.n_records), 1.0))  # people may be of a public table
            # A missing wildcard need not be inside its group's label: it then costs nothing.
            costs = np.maximum(of_group[crossed.group] - of_value[crossed.code], 0.0)
            sums.append(costs @ crossed.records)
        return float(self.combine(np.array(sums), tally))

"""Top-Down Disclosure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.subtree.specialisation import specialised
from tarnkappe.algorithms.subtree.target import target_codes
from tarnkappe.criteria.base import Scope
from tarnkappe.goal import Goal
from tarnkappe.groups import Boxes, Grouping
from tarnkappe.params import param
from tarnkappe.tally import Domain, Tally
from tarnkappe.taxonomy.tree import Taxonomy


@dataclass(frozen=True)
class TopDownDisclosure(Algorithm):
    r"""Suppress every value, then disclose, again and again, the one that tells most about the target per privacy lost.

    .. math:: \mathrm{Score}(v) = \frac{\mathrm{InfoGain}(v)}{\mathrm{PrivLoss}(v) + 1}

    A value is either published by name in all records or not at all; taxonomies are not used. What is not disclosed
    stands as the root of its column. Which inferences are forbidden is said by the goal: templates such as "nobody who
    reads the release may be more than h sure of s" are `confidence-bounding` (over all quasi-identifiers) and
    `xy-linkability` (over some of them). Disclosing never lowers the largest confidence, so what is not allowed once is
    never tried again. O(sum over steps of affected cells · columns); O(candidates · table) for templates over some
    columns.

    Differs from the paper in: any monotone goal; PrivLoss is the loss of anonymity of top-down specialisation, the
    same for all criteria, instead of the mean rise of the templates' confidences.

    References
    ----------
    .. [WaFY07] Wang, Fung, Yu. "Handicapping attacker's confidence: an alternative to k-anonymization." Knowledge and
       Information Systems 11(3), 2007.
    """

    name: ClassVar = "tdd"
    title: ClassVar = "Top-Down Disclosure"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Suppresses single values everywhere, as few as the goal and a target column ask for."
    generalises: ClassVar = False
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection", "table"})

    target: str = param(doc="The column that readers of the release want to predict.")
    score: str = param(
        "gain-per-loss",
        doc="Value a step by the information it gains per anonymity it loses, or by the information alone.",
        choices=("gain-per-loss", "gain"),
        kw_only=True,
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Disclose values until nothing more is allowed."""
        self.require_supported(tally, goal)
        classes = target_codes(tally, self.target, self.name)
        domains = tally.quasi_domains
        flat = replace(tally, quasi_domains=tuple(_flat(d) for d in domains))
        grouping = specialised(flat, goal, classes, score=self.score, granularity="sibling")
        assert grouping.fixed is not None, "values are recoded in the same way everywhere"
        nodes = [
            np.append(np.int32(0), d.taxonomy.leaf_nodes)[grouping.fixed.node[:, j]] for j, d in enumerate(domains)
        ]
        return replace(grouping, fixed=Boxes.of_nodes(np.column_stack(nodes).astype(np.int32), domains))


def _flat(domain: Domain) -> Domain:
    """The domain with nothing between its root and its leaves."""
    tree = domain.taxonomy
    labels = [tree.labels[0], *(f"{i}" for i in range(tree.n_leaves))]
    return replace(domain, taxonomy=Taxonomy.from_parents(labels, [-1] + [0] * tree.n_leaves), values=None, sets=False)

"""Top-Down Specialization for cluster analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.subtree.clusters import cluster_cells
from tarnkappe.algorithms.subtree.specialisation import everybody_together, specialised
from tarnkappe.algorithms.subtree.values import GRANULARITIES
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class TdsForClusters(Algorithm):
    """Find the clusters of the raw table, and specialise towards telling them apart.

    There is no target that a release for cluster analysis should predict. So the raw records are clustered first
    (k-means on the quasi-identifiers), and the number of the cluster is the target of Top-Down Specialization, which
    see. The clusters themselves are not published. O(rounds · cells · columns · clusters) for the clusters, then as
    there.

    Differs from the paper in: the clustering is k-means on mixed columns, without a choice of other methods; the number
    of clusters is given and not searched for by comparing clusterings before and after.

    References
    ----------
    .. [FWWH09] Fung, Wang, Wang, Hung. "Privacy-preserving data publishing for cluster analysis." Data & Knowledge
       Engineering 68(6), 2009.
    """

    name: ClassVar = "tds-cluster"
    title: ClassVar = "Top-Down Specialization for cluster analysis"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Keeps the detail that tells the clusters of the raw table apart."

    clusters: int = param(8, doc="How many clusters the raw records are divided into.", ge=2)
    granularity: str = param(
        "sibling",
        doc="Tell one child of a value from its siblings at a time (sibling), or all children at once (subtree).",
        choices=GRANULARITIES,
        kw_only=True,
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cluster the cells, then specialise towards their clusters."""
        self.require_supported(tally, goal)
        everybody_together(tally, goal)
        cluster = cluster_cells(tally, self.clusters, rng)
        return specialised(tally, goal, (cluster, self.clusters), granularity=self.granularity)

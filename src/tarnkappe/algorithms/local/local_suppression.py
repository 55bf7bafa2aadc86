"""Local suppression."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.local.least_weight import MOST_CHOICES, demands_of, least_weight, solver
from tarnkappe.algorithms.local.patterns import Cover, meet_demands
from tarnkappe.algorithms.steps.giving_up import Rows, distinct_codes
from tarnkappe.algorithms.steps.units import deal_out, project
from tarnkappe.arrays import Codes, Floats
from tarnkappe.criteria.base import Scope
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping, Note
from tarnkappe.params import param
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class LocalSuppression(Algorithm):
    r"""Give up single cells, of little weight and as few as possible, until every group satisfies the goal.

    A value is published as it is, or as the root of its taxonomy. What is given up weighs

    .. math:: \sum_{\text{records}} \; \sum_{\text{cells given up}} \text{weight of the column}

    so the weight of a column is its importance. To whoever reads the table, a cell that was given up is a value of its
    own: records that give up the same cells and agree in the others are a group, and *that* must be large enough. So a
    rare record needs others that give up the same cells; records of common combinations are lent to it, as few as are
    needed.

    *greedy* settles, again and again, the rare records of one group at the lowest price per record. For k-anonymity the
    result is at most :math:`H_k = 1 + 1/2 + \dots + 1/k` times the least weight, unless a group found nobody to lend it
    records; and it is compared with a bound of the table itself: every rare record gives up at least the lightest cells
    without which `k` records look like it. The better of the two is noted. For other criteria one cell after another is
    given up, the column first that settles most records per weight, and nothing is proved. Near-linear in the number of
    distinct rows times the number of patterns, :math:`2^d - 1` for few columns.

    *optimal* solves the integer program with HiGHS (``pip install 'tarnkappe[optimal]'``): for promises about numbers
    of records only, and for small tables. Where it is too large, ends after `nodes` nodes, or the goal is about
    secrets, the notes say that the optimum is not proved.

    Key combinations are criteria: `KeyAnonymity` for chosen columns, `LKCPrivacy` for all sets of so many.

    Differs from the programs in: in sdcMicro a cell that was given up matches every value, so fewer cells are given up
    and a record may be k-anonymous only together with records of other groups; mu-ARGUS looks at small combinations
    only. Here the written table is k-anonymous in the plain sense, which is what `verify` recounts.

    References
    ----------
    .. [HuWi96] Hundepool, Willenborg. "mu- and tau-Argus: software for statistical disclosure control." 3rd
       International Seminar on Statistical Confidentiality, Bled 1996.
    .. [TeKM15] Templ, Kowarik, Meindl. "Statistical disclosure control for micro-data using the R package sdcMicro."
       Journal of Statistical Software 67(4), 2015.
    """

    name: ClassVar = "local-suppression"
    title: ClassVar = "Local suppression"
    scheme: ClassVar = "local"
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection"})
    summary: ClassVar = "Gives up single cells, those of unimportant columns first; every other value stays as it is."
    generalises: ClassVar = False

    method: str = param(
        "greedy",
        doc="Cheapest groups first, for any size (greedy), or least weight by integer programming (optimal).",
        choices=("greedy", "optimal"),
    )
    nodes: int = param(
        2000, doc="With method optimal: stop after so many nodes, with the best that was found.", ge=1, kw_only=True
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cells to give up, checked jointly."""
        self.require_supported(tally, goal)
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        if self.method == "optimal":
            solver()
        seen, owner = project(tally, goal)
        for grouping, notes in self._found(seen, goal):
            settled = suppress_leftovers(seen, grouping, goal)
            if settled is not None:
                dealt = deal_out(tally, owner, settled)
                return replace(dealt, form=settled.form, notes=_told(seen, settled, notes))
        raise goal.infeasible(tally)

    def _found(self, seen: Tally, goal: Goal) -> Iterator[tuple[Grouping, dict[str, Note]]]:
        """Groupings to be tried one after another, with what is known about each."""
        demands = demands_of(goal, [d.name for d in seen.quasi_domains])
        if demands is None:  # secrets decide, so that no record can stand for another
            why: dict[str, Note] = {"search": "greedy, because the goal is about more than numbers of records"}
            rows = Rows(seen, goal, *distinct_codes(seen))
            for grouping in rows.settle(rows.leaves()):
                yield grouping, why if self.method == "optimal" else {}
            return
        if max(k for _, k in demands) > seen.n_records:
            return
        notes: dict[str, Note] = {}
        budget, weights = goal.budget(seen.n_records), _weights(seen)
        asked = (seen.quasi, [d.size for d in seen.quasi_domains], seen.count, demands, weights, budget)
        best = meet_demands(*asked)
        if self.method == "optimal" and best.within > 1:
            if seen.n_cells << len(weights) > MOST_CHOICES:
                notes["search"] = "greedy, because the table is too large for an optimum"
            elif (found := least_weight(*asked, nodes=self.nodes)) is not None:
                lower = max(best.lower, found.lower)
                best = replace(found if found.weight(weights) <= best.weight(weights) else best, lower=lower)
        notes |= {"least weight": best.lower, "bound": min(best.within, best.ratio(weights))}
        rows, node = _rows(seen, goal, best)
        for grouping in rows.settle(node):
            yield grouping, notes
            notes = {}


def _weights(seen: Tally) -> Floats:
    return np.array([d.weight for d in seen.quasi_domains])


def _rows(seen: Tally, goal: Goal, cover: Cover) -> tuple[Rows, Codes]:
    """Rows of which some records give up cells, with what each publishes."""
    some = np.flatnonzero(cover.quota)
    order = some[np.argsort(cover.row[some], kind="stable")]
    row, kept = cover.row[order], ~cover.removed[order]
    number = np.where(kept, np.cumsum(kept) - 1, SUPPRESSED).astype(np.int32)
    rows = Rows(seen, goal, seen.quasi[row[kept]], (row.astype(np.int32), number, cover.quota[order]))
    return rows, np.where(cover.given_up[order][kept], 0, rows.leaves()).astype(np.int32)


def _told(seen: Tally, grouping: Grouping, notes: dict[str, Note]) -> dict[str, Note]:
    """What is known about the cells that are given up, and how far they are from the least weight at most."""
    assert grouping.fixed is not None
    leaves = [d.taxonomy.leaf_nodes[seen.quasi[grouping.cell, j]] for j, d in enumerate(seen.quasi_domains)]
    gone = (grouping.group == SUPPRESSED)[:, None] | (grouping.fixed.node[grouping.group] != np.column_stack(leaves))
    weight = float(grouping.quota @ (gone @ _weights(seen)))
    told: dict[str, Note] = {"cells given up": int(grouping.quota @ gone.sum(axis=1)), "weight given up": weight}
    within = 1.0 if weight == 0 else float(notes.get("bound", math.inf))
    told |= {key: value for key, value in notes.items() if key != "bound"} | {"optimal": within <= 1}
    if 1 < within < math.inf:
        told["times the least weight at most"] = within
    return told

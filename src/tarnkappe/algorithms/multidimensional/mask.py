"""MASK."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.arrays import Codes
from tarnkappe.criteria.base import as_fraction
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.m_confidentiality import MConfidentiality
from tarnkappe.deals import Deal
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.fixes import Fix, algorithm, criterion, say
from tarnkappe.goal import Goal
from tarnkappe.groups import Note
from tarnkappe.plan import Plan
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.publish.masked import Masked
from tarnkappe.publish.recoding import Recoding
from tarnkappe.tally import Tally, count_cells
from tarnkappe.wording import plural


@dataclass(frozen=True)
class Mask(Bucketization):
    r"""Form groups without looking at the sensitive column, and falsify values where too many are guarded ones.

    1. Groups of k records or more, by Mondrian on the quasi-identifiers alone; k is that of k-anonymity, at least m.
    2. V are the groups in which more than 1/m of the records have a guarded value.
    3. L are :math:`(m - 1) |V|` of the others, those with the largest shares of guarded values.
    4. Every group of V draws the share of a group of L by lot. So many of its guarded values stay, drawn by lot; the
       others are replaced by values that are not guarded, drawn by how common they are.

    Which groups there are depends on nothing sensitive, so nothing follows from how coarse they are: the minimality
    attack has nothing to go by. In V and L together, one group in m was falsified, and the published shares do not tell
    which. O(n log n).

    Differs from the paper in: the paper leaves open how groups are formed and which of the satisfying ones form L.
    Where there are too few of them, there is no release (`E301`).

    References
    ----------
    .. [WFWP07] Wong, Fu, Wang, Pei. "Minimality attack in privacy preserving data publishing." VLDB 2007.
    """

    name: ClassVar = "mask"
    title: ClassVar = "MASK"
    scheme: ClassVar = "multidimensional"
    summary: ClassVar = "Forms groups without looking at the secret, and falsifies what would betray somebody."
    publishes: ClassVar = Masked
    scopes: ClassVar = frozenset({"group", "method"})
    generalises: ClassVar = True

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        """Groups of people who look alike, and the value that each of their records tells."""
        self.require_supported(tally, goal)
        asked = self._asked(tally, goal)
        k = max(goal.min_size, asked.least_group)
        if tally.n_records < k:
            raise goal.infeasible(tally)
        # Cells of the quasi-identifiers alone: what is not there cannot decide.
        people, of_cell = count_cells(list(tally.quasi.T), [], tally.quasi_domains, [], tally.count)
        size_goal = Goal([KAnonymity(k)], pause=goal.pause)
        plan = Plan.of(people, size_goal, Mondrian().decide(people, size_goal, rng=rng))
        group = plan.grouping.group[of_cell]
        order = np.argsort(group, kind="stable")
        cell = np.repeat(order, tally.count[order]).astype(np.int32)
        told, notes = _masked(tally, goal, asked, cell, plan.sizes, rng)
        looks = Recoding(tally.quasi_domains, group.astype(np.int32), plan.boxes, FixedBoxes(plan.boxes))
        secret = tally.sensitive_domains[tally.sensitive_index(asked.column)]
        return Deal(cell, plan.sizes, Masked(looks, secret), notes, told=told)

    def _asked(self, tally: Tally, goal: Goal) -> MConfidentiality:
        """What is guarded; refused if the goal asks for anything that falsified values cannot be asked about."""
        guarded = [c for c in goal.criteria if isinstance(c, MConfidentiality)]
        others = [c for c in goal.criteria if c not in guarded and not c.decided_by_size]
        if len(guarded) != 1 or others:
            what = others[0].name if others else "a goal with so many of them" if guarded else "a goal without it"
            raise JobError(
                "E111",
                f"{self.name} is made for one m-confidentiality and a k beside it; it cannot promise {what}",
                hint=criterion("m-confidentiality", "MConfidentiality", column="NAME", values=["VALUE"], m=2)
                if not guarded
                else say("Drop it, or choose another algorithm:  {}", algorithm("mondrian")),
            )
        (asked,) = guarded
        beside = [d.name for d in tally.sensitive_domains if d.name != asked.column and not d.aside]
        if beside:
            raise JobError(
                "E111",
                f"{self.name} publishes one sensitive column, and the job has others: {', '.join(beside)}",
                hint=Fix(f"{beside[0]}: {{role: drop}}", f'drop=["{beside[0]}"]'),
            )
        return asked


def _masked(
    tally: Tally, goal: Goal, asked: MConfidentiality, cell: Codes, size: np.ndarray, rng: np.random.Generator
) -> tuple[Codes, dict[str, Note]]:
    """For each record a cell whose value it tells, and what was falsified."""
    s = tally.sensitive_index(asked.column)
    domain, secret = tally.sensitive_domains[s], tally.sensitive[:, s]
    is_guarded = asked.guarded_codes(domain)
    group = np.repeat(np.arange(len(size)), size)
    guarded = is_guarded[secret[cell]]
    having = np.bincount(group, guarded, len(size)).astype(np.int64)
    m = as_fraction(asked.m)
    violating = np.flatnonzero(having * m.numerator > size * m.denominator)
    told, notes = cell.copy(), dict[str, Note]()
    if not len(violating):
        return told, {"falsified values": 0, "falsified groups": 0, "groups they hide among": 0}
    satisfying = np.setdiff1d(np.arange(len(size)), violating)
    wanted = math.ceil((m - 1) * len(violating))
    common = np.bincount(secret, np.where(is_guarded[secret], 0, tally.count), domain.size)
    if len(satisfying) < max(wanted, 1) or not common.any():
        raise _too_many(asked, len(violating), len(satisfying))
    chosen = satisfying[np.argsort(-(having[satisfying] / size[satisfying]), kind="stable")[: max(wanted, 1)]]
    drawn = chosen[rng.integers(0, len(chosen), len(violating))]
    keep = np.zeros(len(size), np.int64)
    keep[:] = having
    keep[violating] = having[drawn] * size[violating] // size[drawn]  # rounded down: never above one in m
    # Guarded records of each group in random order; those after the first ones that stay are falsified.
    at = np.flatnonzero(guarded)
    at = at[np.lexsort((rng.random(len(at)), group[at]))]
    rank = np.arange(len(at)) - np.searchsorted(group[at], group[at])
    false = at[rank >= keep[group[at]]]
    first_cell = np.zeros(domain.size, np.int32)
    present, first = np.unique(secret, return_index=True)
    first_cell[present] = first
    told[false] = first_cell[rng.choice(domain.size, len(false), p=common / common.sum())]
    notes["falsified values"] = len(false)
    notes["falsified groups"] = len(violating)
    notes["groups they hide among"] = len(violating) + len(chosen)
    return told, notes


def _too_many(asked: MConfidentiality, violating: int, satisfying: int) -> InfeasibleError:
    return InfeasibleError(
        "E301",
        f"too many groups have more guarded values of '{asked.column}' than one in {asked.m:g} for false ones to hide "
        "among the others",
        details=[f"{plural(violating, 'group')} would have to be falsified; {satisfying} would not."],
        hint="Guard fewer values, lower  m, or form larger groups:  - k-anonymity: {k: 20}",
    )

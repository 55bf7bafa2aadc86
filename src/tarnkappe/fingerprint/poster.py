"""The poster's mode: any patterns, each with its own suppressed records; only for who knows what that risks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tarnkappe.algorithms.fulldomain.search import cuts_at
from tarnkappe.algorithms.recoding import recode
from tarnkappe.errors import RefusedError
from tarnkappe.fingerprint.joint import JointPrivacy, joint_of_signatures, joint_privacy
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED
from tarnkappe.plan import Plan
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class PairReport:
    """What pairs of recipients learn together."""

    pairs: int
    #: The share of pairs after which somebody stands alone.
    alone: float
    #: The share of pairs for which some criterion no longer holds.
    broken: float
    #: The mean share of records in groups that are too small.
    below: float
    everybody: JointPrivacy


def poster_plans(
    tally: Tally, goal: Goal, patterns: Sequence[Sequence[int]], *, acknowledged: bool
) -> tuple[tuple[Plan, ...], PairReport]:
    """The release of every pattern, and what recipients learn who pool two of them, or all.

    Refused unless it is acknowledged that the promise holds for single copies only: the report says how badly it fails
    for pairs.
    """
    floors = np.array([d.floor for d in tally.quasi_domains])
    plans = []
    for pattern in patterns:
        levels = tuple(int(x) for x in np.asarray(pattern) - floors)
        plans.append(Plan.of(tally, goal, recode(tally, cuts_at(tally, levels))))
    report = pair_report(plans)
    if report.broken and not acknowledged:
        raise RefusedError(
            "E605",
            f"{report.broken:.0%} of all pairs of recipients would break the promise by pooling their copies",
            details=[f"After {report.alone:.0%} of the pairs somebody stands alone."],
            hint='Use one base for all copies:  kind="marks"   or say  acknowledged=True',
        )
    return tuple(plans), report


def pair_report(plans: Sequence[Plan]) -> PairReport:
    """What all pairs of releases, and all of them together, tell."""
    groups = [p.grouping.group - SUPPRESSED for p in plans]
    found = [
        joint_of_signatures(plans[0], np.column_stack([groups[a], groups[b]]))
        for a, b in combinations(range(len(plans)), 2)
    ]
    n = max(len(found), 1)
    return PairReport(
        pairs=len(found),
        alone=sum(f.effective_k == 1 for f in found) / n,
        broken=sum(not f.ok for f in found) / n,
        below=sum(f.below for f in found) / n,
        everybody=joint_privacy(plans),
    )

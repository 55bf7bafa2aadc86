"""What several releases of the same records tell together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.criteria.base import Verdict
from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.io import open_source
from tarnkappe.plan import Plan
from tarnkappe.tally import distinct_rows


@dataclass(frozen=True)
class JointPrivacy:
    """What somebody learns who has several releases and can tell which rows belong together.

    `effective_k` is the size of the smallest group of records that all releases show alike, `below` the share of
    records in groups smaller than `k`, `risk` the mean chance to pick the right record.
    """

    k: int
    effective_k: int
    below: float
    risk: float
    verdicts: tuple[Verdict, ...]
    n_records: int

    @property
    def ok(self) -> bool:
        """Whether every criterion still holds."""
        return all(v.ok for v in self.verdicts)


def joint_privacy(plans: Sequence[Plan], goal: Goal | None = None) -> JointPrivacy:
    r"""The privacy of several releases together, at worst: rows can be matched across them.

    Records that no release tells apart share a signature :math:`(e_1(r), \dots, e_c(r))` of their groups; that a record
    is suppressed in one of them is part of it. The goal (by default that of the first release) is evaluated on the
    groups of equal signatures. For nested patterns without suppression these are the groups of their meet.

    >>> import polars as pl
    >>> from tarnkappe import Job, KAnonymity, decide, suppress
    >>> from tarnkappe.algorithms.fulldomain.search import cuts_at
    >>> from tarnkappe.algorithms.recoding import recode
    >>> people = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]})
    >>> job = Job(quasi={"a": suppress(), "b": suppress()}, criteria=[KAnonymity(2)])
    >>> tally = decide(job, people).plan.tally
    >>> one, other = (Plan.of(tally, job.goal, recode(tally, cuts_at(tally, levels))) for levels in [(0, 1), (1, 0)])
    >>> joint_privacy([one]).effective_k, joint_privacy([one, other]).effective_k
    (2, 1)
    """
    if not plans:
        raise JobError("E106", "there is no release to look at", hint="joint_privacy([decided.plan, …])")
    tally = plans[0].tally
    if any(not isinstance(p, Plan) or p.grouping.splits_cells for p in plans):
        raise JobError(
            "E111",
            "releases are compared that keep equal records together; these do not",
            hint=algorithm("flash"),
        )
    if any(p.tally.n_cells != tally.n_cells or not np.array_equal(p.tally.quasi, tally.quasi) for p in plans):
        raise JobError("E111", "the releases are of different records", hint="Decide all of them from the same data.")
    signature = np.column_stack([p.grouping.group - SUPPRESSED for p in plans])
    return joint_of_signatures(plans[0], signature, goal)


def joint_of_signatures(plan: Plan, signature: Codes, goal: Goal | None = None) -> JointPrivacy:
    """The same from the group of every cell in every release, where 0 is suppressed."""
    tally, goal = plan.tally, goal or plan.goal
    rank, first = distinct_rows(list(signature.T), [int(c.max(initial=0)) + 1 for c in signature.T])
    hidden = (signature[first] == 0).all(axis=1)
    new = np.where(hidden, SUPPRESSED, np.cumsum(~hidden) - 1).astype(np.int32)
    grouping = Grouping.of_cells(tally, new[rank], int((~hidden).sum()))
    stats = goal.stats(tally, grouping)
    size = stats.size
    n = int(size.sum())
    k = goal.min_size
    return JointPrivacy(
        k=k,
        effective_k=int(size.min(initial=n)),
        below=float(size[size < k].sum() / max(n, 1)),
        risk=float(len(size) / max(n, 1)),
        verdicts=goal.verdicts(stats),
        n_records=n,
    )


def unaligned_candidates(one: Plan, other: Plan) -> Counts:
    r"""How many records may be a person's at most, for who cannot match rows of two releases but knows the person.

    .. math:: \sum_s \min(n_1(s), n_2(s))

    over the sensitive values s that both groups of the person have, for every combination of groups that somebody is
    in: as many records of one group can be the same as records of the other. Without sensitive columns it is the
    smaller of both groups.
    """
    tally = one.tally
    secret, values = tally.joint
    a, b = one.grouping.group, other.grouping.group
    both = (a >= 0) & (b >= 0) & (tally.count > 0)
    _, first = distinct_rows([a[both], b[both]], [one.n_groups, other.n_groups])
    pairs = np.column_stack([a[both][first], b[both][first]])
    out = np.zeros(len(pairs), np.int64)
    for s in range(len(values)):
        here = secret == s
        one_has, other_has = (
            np.bincount(group[here & (group >= 0)], tally.count[here & (group >= 0)], n).astype(np.int64)
            for group, n in ((a, one.n_groups), (b, other.n_groups))
        )
        out += np.minimum(one_has[pairs[:, 0]], other_has[pairs[:, 1]])
    return out


def alignability(data: Any, columns: Sequence[str]) -> float:
    """The share of records that are alone with what columns besides the quasi-identifiers say.

    Where it is high, rows of two copies can be matched by these columns, however copies are shuffled.

    >>> import polars as pl
    >>> alignability(pl.DataFrame({"income": [1, 2, 2, 3]}), ["income"])
    0.5
    """
    if not columns:
        return 0.0
    sizes = open_source(data).read(list(columns)).group_by(list(columns)).len()["len"].to_numpy()
    return float((sizes == 1).sum() / max(sizes.sum(), 1))

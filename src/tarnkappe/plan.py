"""The plan: groups as they will look when published, checked before anything is written."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tarnkappe.goal import Goal
from tarnkappe.groups import Boxes, Grouping, GroupStats
from tarnkappe.publish.labels import Labels, publish_boxes
from tarnkappe.tally import Codes, Counts, Tally, distinct_rows


@dataclass(frozen=True, eq=False)
class Plan:
    """Which records form which group and what each group publishes; every group satisfies the goal."""

    tally: Tally
    goal: Goal
    grouping: Grouping
    boxes: Boxes
    labels: tuple[Labels, ...]

    @classmethod
    def of(cls, tally: Tally, goal: Goal, grouping: Grouping, missing: Collection[str] = ()) -> Plan:
        """Pool groups that would look the same, and suppress what then violates the goal, within its limit.

        `missing` are texts that stand for a missing value: a label that reads like one of them is one.
        """
        boxes = grouping.boxes(tally)
        labels = publish_boxes(boxes, tally.quasi_domains, missing)
        same, first = distinct_rows([x.code + 1 for x in labels], [len(x.texts) + 1 for x in labels])
        pooled = grouping.relabel(same, len(first))
        keys = np.column_stack([x.code[first] + 1 for x in labels])
        settled = suppress_leftovers(tally, pooled, goal, keys)
        if settled is None:
            ok = goal.satisfied(goal.stats(tally, pooled, keys=keys))
            raise goal.infeasible(tally, int(pooled.quota[~np.append(ok, False)[pooled.group]].sum()))
        boxes = settled.boxes(tally)
        return cls(tally, goal, settled, boxes, publish_boxes(boxes, tally.quasi_domains, missing))

    @property
    def n_groups(self) -> int:
        """Number of groups published."""
        return self.grouping.n_groups

    @property
    def n_published(self) -> int:
        """Number of records published."""
        return self.tally.n_records - self.grouping.suppressed

    @cached_property
    def sizes(self) -> Counts:
        """Records per group."""
        kept = self.grouping.group >= 0
        sizes = np.bincount(self.grouping.group[kept], self.grouping.quota[kept], self.n_groups)
        return sizes.astype(np.int64)

    @cached_property
    def stats(self) -> GroupStats:
        """The statistics of the published groups, compared with the published table."""
        keys = np.column_stack([x.code + 1 for x in self.labels])
        return self.goal.stats(self.tally, self.grouping, keys=keys)


def suppress_leftovers(tally: Tally, grouping: Grouping, goal: Goal, keys: Codes | None = None) -> Grouping | None:
    """Suppress the groups that violate the goal; None if that needs more records than the goal allows.

    Criteria that compare a group with the table must hold against the input's distribution, and against that of the
    published records too, because that is the one an attacker sees. Suppression shifts it, so the check is repeated
    until it changes nothing. `keys` are the labels of the groups (see `Goal.stats`).
    """
    budget = goal.budget(tally.n_records)
    tables = goal.table_distributions(tally)
    while grouping.n_groups and grouping.suppressed <= budget:
        ok = goal.satisfied(goal.stats(tally, grouping, tables, keys))
        if grouping.suppressed and goal.compares_with_table:
            ok &= goal.satisfied(goal.stats(tally, grouping, keys=keys))
        if ok.all():
            return grouping
        if any(c.judges_empty_groups for c in goal.criteria):
            return None
        grouping = grouping.without(~ok)
        keys = None if keys is None else keys[ok]
    return None

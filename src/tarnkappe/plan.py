"""The plan: groups as they will look when published, checked before anything is written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.criteria.base import Verdict
from tarnkappe.crossing import Crossed, cross
from tarnkappe.deals import Deal
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, AnyDraft, Grouping, GroupStats, Note
from tarnkappe.kernels.engines.dealing import gathered, occurrences
from tarnkappe.publish.form import Form, GroupFigure, Labelled
from tarnkappe.publish.labels import Labels, labels_of_numbers
from tarnkappe.publish.numbered import Numbered
from tarnkappe.publish.sheets import free_name
from tarnkappe.schema import Schema
from tarnkappe.securing import secured
from tarnkappe.tally import Tally, distinct_rows
from tarnkappe.threads import map_threads

#: Sizes, and how many groups have each.
Distribution = tuple[tuple[int, int], ...]


def size_distribution(of: Counts) -> Distribution:
    """Group sizes and how many groups have each."""
    if of.max(initial=0) <= len(of):  # most groups are small: no need to sort them
        counts = np.bincount(of)
        sizes = np.flatnonzero(counts)
        counts = counts[sizes]
    else:
        sizes, counts = np.unique(of, return_counts=True)
    return tuple(zip(sizes.tolist(), counts.tolist(), strict=True))


class Planned(ABC):
    """What is ready to be written, whatever its groups say."""

    tally: Tally
    goal: Goal

    @property
    @abstractmethod
    def form(self) -> Form:
        """What the groups say."""

    @property
    @abstractmethod
    def notes(self) -> Mapping[str, Note]:
        """Facts about the search."""

    @property
    @abstractmethod
    def n_groups(self) -> int:
        """Number of groups published."""

    @property
    @abstractmethod
    def suppressed(self) -> int:
        """Records of the input that are not published."""

    @property
    @abstractmethod
    def sizes(self) -> Counts:
        """Records per group."""

    @property
    def n_published(self) -> int:
        """Number of records published."""
        return self.tally.n_records - self.suppressed

    @property
    def sizes_before(self) -> Distribution:
        """Records per combination of quasi-identifiers in the data, and how many combinations have each number."""
        return size_distribution(self.tally.tuple_sizes[self.tally.tuple_sizes > 0])

    @property
    def remarks(self) -> Mapping[str, Floats]:
        """Numbers about each group that only the publisher may see."""
        return {}

    def redrawn(self, rng: np.random.Generator) -> Self:
        """The same groups, with whatever tells them apart by lot drawn anew."""
        return self


@dataclass(frozen=True, eq=False)
class Plan(Planned):
    """Which records form which group and what each group publishes; every group satisfies the goal.

    With a public table there may be groups of people none of whom is in the data. They are checked, but not published:
    `everybody` and its labels include them (after the others), `grouping`, `boxes` and `labels` do not.
    """

    tally: Tally
    goal: Goal
    grouping: Grouping
    boxes: Boxes
    labels: tuple[Labels, ...]
    everybody: Grouping
    everybody_labels: tuple[Labels, ...]

    @classmethod
    def of(cls, tally: Tally, goal: Goal, grouping: Grouping, missing: Collection[str] = ()) -> Plan:
        """Pool groups that would look the same, and suppress what then violates the goal, within its limit.

        What would be published above the highest level of a column is suppressed too.

        `missing` are texts that stand for a missing value: a label that reads like one of them is one.
        """
        grouping.require_whole(tally)
        grouping = secured(tally, grouping, goal)
        labels = _labels(tally, grouping, missing)
        same, first = distinct_rows([x.code + 1 for x in labels], [len(x.texts) + 1 for x in labels])
        pooled = grouping.relabel(same, len(first))
        keys = np.column_stack([x.code[first] + 1 for x in labels])
        if tally.has_ceilings:
            allowed = pooled.boxes(tally).below_ceilings(tally.quasi_domains)
            pooled, keys = pooled.without(~allowed), keys[allowed]
        settled = suppress_leftovers(tally, pooled, goal, keys)
        if settled is None:
            ok = goal.satisfied(goal.stats(tally, pooled, keys=keys))
            lost = int(pooled.quota[~np.append(ok, False)[pooled.group]].sum())
            raise goal.infeasible(tally, lost, enough=goal.judges_groups_alone)
        everybody, grouping = _inhabited_first(settled)
        boxes = grouping.boxes(tally)
        labels = grouping.form.labels(boxes, tally.quasi_domains, missing)
        if everybody is grouping:
            return cls(tally, goal, grouping, boxes, labels, everybody, labels)
        all_labels = _labels(tally, everybody, missing)
        return cls(tally, goal, grouping, boxes, labels, everybody, all_labels)

    @property
    def form(self) -> Labelled:
        """What the groups say."""
        return self.grouping.form

    @property
    def notes(self) -> Mapping[str, Note]:
        """Facts about the search."""
        return self.grouping.notes

    @property
    def suppressed(self) -> int:
        """Records of the input that are not published."""
        return self.grouping.suppressed

    @property
    def n_groups(self) -> int:
        """Number of groups published."""
        return self.grouping.n_groups

    @property
    def remarks(self) -> Mapping[str, Floats]:
        """Numbers about each group that only the publisher may see."""
        return self.grouping.form.remarks

    @cached_property
    def sizes(self) -> Counts:
        """Records per group."""
        return _sizes(self.grouping)

    @cached_property
    def crossed(self) -> tuple[Crossed, ...]:
        """What became of the values of each quasi-identifier."""
        return cross(self.tally, self.grouping, self.boxes, self.labels)

    @cached_property
    def figures(self) -> Mapping[str, GroupFigure]:
        """Numbers about each group that stand beside its labels."""
        return self.form.figures(self.tally, self.grouping)

    def published_in(self, j: int) -> tuple[Boxes, Labels]:
        """All that is published in a quasi-identifier: boxes, of which only this column matters, and their labels."""
        return self.boxes, self.labels[j]

    def figure_names(self, schema: Schema) -> dict[str, str]:
        """The column in which each figure stands: its name, unless the data have a column of that name."""
        return {name: free_name(name, schema.published) for name in self.figures}

    def shown(self, schema: Schema) -> dict[str, Labels]:
        """What groups publish, by column: labels of the quasi-identifiers, then figures."""
        labels = dict(zip((c.name for c in schema.quasi), self.labels, strict=True))
        names = self.figure_names(schema)
        return labels | {names[name]: labels_of_numbers(figure.values) for name, figure in self.figures.items()}

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """All columns of the release, in their order."""
        return (*schema.published, *self.figure_names(schema).values())

    @cached_property
    def stats(self) -> GroupStats:
        """The statistics of all groups that were checked, compared with the published table."""
        keys = np.column_stack([x.code + 1 for x in self.everybody_labels])
        return self.goal.stats(self.tally, self.everybody, keys=keys)


@dataclass(frozen=True, eq=False)
class DealtPlan(Planned):
    """Records dealt to numbered groups; every group satisfies the goal."""

    tally: Tally
    goal: Goal
    deal: Deal
    #: How many records of each cell are published.
    published: Counts

    @classmethod
    def of(cls, tally: Tally, goal: Goal, deal: Deal) -> DealtPlan:
        """Check what was dealt: no record invented, not too many left out, every criterion satisfied."""
        plan = cls(tally, goal, deal, deal.require_whole(tally))
        if not deal.n_groups or plan.suppressed > goal.budget(tally.n_records):
            raise goal.infeasible(tally, plan.suppressed if deal.n_groups else None)
        baselines = [goal.table_distributions(tally)]  # of the input, and of what is published if that is less
        if plan.suppressed and goal.compares_with_table:
            baselines.append(plan.distributions)
        for tables in baselines:
            if not all(v.ok for v in plan.form.verdicts(plan, tables)):
                raise goal.infeasible(tally, plan.suppressed, enough=False)
        return plan

    @property
    def form(self) -> Numbered:
        """What the groups say."""
        return self.deal.form

    @property
    def notes(self) -> Mapping[str, Note]:
        """Facts about the search."""
        return self.deal.notes

    @property
    def n_groups(self) -> int:
        """Number of groups published."""
        return self.deal.n_groups

    @property
    def suppressed(self) -> int:
        """Records of the input that are not published."""
        return self.tally.n_records - self.deal.n_records

    @property
    def sizes(self) -> Counts:
        """Records per group."""
        return self.deal.size

    def redrawn(self, rng: np.random.Generator) -> Self:
        """The same groups under other numbers, their records in another order."""
        return replace(self, deal=self.deal.mixed(rng))

    @cached_property
    def distributions(self) -> dict[str, Counts]:
        """How often each value of the columns that criteria look at is published."""
        out = {}
        for name in self.goal.columns:
            s = self.tally.sensitive_index(name)
            size = self.tally.sensitive_domains[s].size
            often = self.published if not self._falsified(name) else self._told_often
            out[name] = np.bincount(self.tally.sensitive[:, s], often, minlength=size).astype(np.int64)
        return out

    def _falsified(self, column: str) -> bool:
        """Whether records may publish other values of a column than their own."""
        return self.deal.told is not None and column == getattr(self.form.falsifies, "name", None)

    @cached_property
    def _told_often(self) -> Counts:
        """How often records publish the sensitive value of each cell."""
        assert self.deal.told is not None, "some values are falsified"
        found: Counts = occurrences(self.deal.told, self.tally.n_cells)
        return found

    def stats(
        self, first: int, after: int, tables: Mapping[str, Counts] | None = None, beside: Codes | None = None
    ) -> GroupStats:
        """The statistics of a run of groups, compared with these distributions or with what is published.

        Where what stands `beside` a secret (a code for every cell) narrows groups down, they are divided by it.
        """
        deal, tally = self.deal, self.tally
        run = slice(deal.starts[first], deal.starts[after])
        cells = deal.cell[run]
        sensitive = {}
        for name in self.goal.columns:
            s = tally.sensitive_index(name)
            shown = deal.told[run] if deal.told is not None and self._falsified(name) else cells
            sensitive[name] = (gathered(self._secrets[name], shown), tally.sensitive_domains[s])
        joint = None
        if self.goal.joint:
            codes, values = tally.joint
            joint = (tally.sensitive_domains, codes[cells], values)
        compared = self.distributions if tables is None else tables
        raised, secret = None, deal.form.raises
        if deal.raised is not None and secret is not None:
            raised = {secret.name: (deal.raised[deal.starts[first] : deal.starts[after]], secret)}
        if beside is None:
            starts = deal.starts[first : after + 1] - deal.starts[first]
            return GroupStats.of_runs(starts, sensitive, joint=joint, tables=compared, raised=raised)
        group = deal.groups_in(first, after) - first
        group, _ = distinct_rows([group, beside[cells]], [after - first, int(beside.max(initial=0)) + 1])
        one = np.ones(len(cells), np.int64)
        return GroupStats.from_cells(group, one, sensitive, joint=joint, tables=compared, raised=raised)

    def verdicts(
        self, goal: Goal, tables: Mapping[str, Counts] | None = None, beside: Codes | None = None
    ) -> tuple[Verdict, ...]:
        """What the criteria of a goal find in all groups; see `stats`."""
        found = map_threads(lambda run: goal.verdicts(self.stats(*run, tables, beside)), self.deal.chunks())
        return goal.merged(found)

    @cached_property
    def _secrets(self) -> dict[str, Codes]:
        """The sensitive value of each cell, by column."""
        places = {name: self.tally.sensitive_index(name) for name in self.goal.columns}
        return {name: np.ascontiguousarray(self.tally.sensitive[:, s]) for name, s in places.items()}

    def stats_alike(self, look: Codes) -> GroupStats:
        """The sizes of groups of those who look alike: a number for every cell, -1 if it is not published."""
        return GroupStats.from_cells(look, self.published)

    def combinations(self, names: Sequence[str]) -> tuple[Codes, Codes]:
        """The combination of sensitive values that each cell has, numbered in their order; and a cell that has each."""
        places = [self.tally.sensitive_index(name) for name in names]
        if not places:
            return np.zeros(self.tally.n_cells, np.int32), np.zeros(1, np.int32)
        columns = [self.tally.sensitive[:, s] for s in places]
        return distinct_rows(columns, [self.tally.sensitive_domains[s].size for s in places])


#: What is ready to be written.
AnyPlan = Plan | DealtPlan


def _labels(tally: Tally, grouping: Grouping, missing: Collection[str]) -> tuple[Labels, ...]:
    """What the groups publish."""
    return grouping.form.labels(grouping.boxes(tally), tally.quasi_domains, missing)


def _sizes(grouping: Grouping) -> Counts:
    """Records per group."""
    kept = grouping.group >= 0
    return np.bincount(grouping.group[kept], grouping.quota[kept], grouping.n_groups).astype(np.int64)


def _inhabited_first(grouping: Grouping) -> tuple[Grouping, Grouping]:
    """The groups with those that have records first, and these alone; without empty ones both are what was given."""
    empty = _sizes(grouping) == 0
    if not empty.any():
        return grouping, grouping
    n_inhabited = int((~empty).sum())
    place = np.where(empty, n_inhabited + np.cumsum(empty) - 1, np.cumsum(~empty) - 1).astype(np.int32)
    ordered = grouping.relabel(place, grouping.n_groups)
    return ordered, ordered.without(np.arange(grouping.n_groups) >= n_inhabited)


def suppress_leftovers(tally: Tally, grouping: AnyDraft, goal: Goal, keys: Codes | None = None) -> AnyDraft | None:
    """Suppress the groups that violate the goal; None if that needs more records than the goal allows.

    Criteria that compare a group with the table must hold against the input's distribution, and against that of the
    published records too, because that is the one an attacker sees. Suppression shifts it, so the check is repeated
    until it changes nothing. `keys` are the labels of the groups (see `Goal.stats`).

    Where a criterion also speaks about people who are not in the data, leaving somebody out would break it.
    """
    left_out = grouping.cell[grouping.group == SUPPRESSED]
    if goal.judges_empty_groups and tally.population is not None and tally.population[left_out].any():
        return None
    budget = goal.budget(tally.n_records)
    tables = goal.table_distributions(tally)
    while grouping.n_groups and grouping.suppressed <= budget:
        ok = goal.satisfied(goal.stats(tally, grouping, tables, keys))
        if grouping.suppressed and goal.compares_with_table:
            ok &= goal.satisfied(goal.stats(tally, grouping, keys=keys))
        if ok.all():
            return grouping if grouping.suppressed < tally.n_records else None  # a release of nobody is no release
        if goal.judges_empty_groups:
            return None
        grouping = grouping.without(~ok)
        keys = None if keys is None else keys[ok]
    return None

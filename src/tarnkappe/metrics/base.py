"""What every loss metric is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.goal import Goal
from tarnkappe.plan import AnyPlan, Plan
from tarnkappe.publish.boxes import BoxForm
from tarnkappe.publish.form import Form, Labelled
from tarnkappe.publish.numbered import Numbered
from tarnkappe.tally import Domain, Tally
from tarnkappe.wording import count, percent


class Metric(ABC):
    """A number that says what a release cost. Metrics of like name differ in the literature: each says its formula."""

    name: ClassVar[str]
    title: ClassVar[str]
    goal: ClassVar[Literal["minimise", "maximise"]]
    #: One plain sentence with ``{value}``, ``{percent}`` or ``{count}``, for the report.
    sentence: ClassVar[str]
    #: Whether it follows from the release alone. A figure that also depends on the original values narrows them down
    #: for somebody who knows those of everybody else, so it stays with the publisher.
    follows_from_release: ClassVar[bool] = False

    #: The forms that it can read.
    reads: ClassVar[tuple[type[Form], ...]] = (Labelled,)

    @classmethod
    def measures_boxes(cls) -> bool:
        """Whether it can measure what generalisation publishes; a search for that cannot go by any other metric."""
        return issubclass(BoxForm, cls.reads)

    @abstractmethod
    def score(self, plan: Any) -> float:
        """The metric of a plan of one of the forms that it reads."""

    def applies(self, plan: AnyPlan) -> bool:
        """Whether the plan has what the metric needs."""
        return isinstance(plan.form, self.reads)

    def say(self, value: float, plan: AnyPlan | None = None) -> str:
        """The score in one plain sentence; what it is to be compared with may depend on the plan."""
        whole = count(round(value)) if math.isfinite(value) else str(value)
        return self.sentence.format(value=value, percent=percent(value), count=whole)


class SizeMetric(Metric):
    """A metric of the sizes of groups alone."""

    follows_from_release: ClassVar = True
    reads: ClassVar = (Labelled, Numbered)

    @abstractmethod
    def of_sizes(self, sizes: Counts, suppressed: int, goal: Goal) -> float:
        """The metric of groups of these sizes with so many records suppressed."""

    def score(self, plan: AnyPlan) -> float:
        """The metric of a plan."""
        return self.of_sizes(plan.sizes, plan.suppressed, plan.goal)


class ColumnLoss(Metric):
    """A metric that adds up what each record loses in each column; losing more is never better.

    It measures what labels cover, so it says nothing of centres.

    Searches rely on the parts: what a record of each leaf costs if it is published as a given node, what it costs if it
    is suppressed, and how the sums of the columns become the score.
    """

    reads: ClassVar = (BoxForm,)

    @abstractmethod
    def leaf_costs(self, domain: Domain, node: Codes, counts: Counts) -> Floats:
        """What a record of each leaf loses if leaf ``i`` is published as ``node[i]``.

        `counts` says how many records have each leaf.
        """

    @abstractmethod
    def suppressed_costs(self, domain: Domain, counts: Counts) -> Floats:
        """What a record of each leaf loses if it is suppressed."""

    @abstractmethod
    def combine(self, sums: Floats, tally: Tally) -> Floats:
        """The score, given the sums over all records of each column's costs (the last axis)."""


class CellLoss(ColumnLoss):
    """A metric that adds up the loss of single cells: weighted mean over quasi-identifiers, mean over all records.

    A suppressed record has lost everything: 1 in every cell.
    """

    @abstractmethod
    def cell_loss(self, boxes: Boxes, j: int, domain: Domain) -> Floats:
        """The loss of quasi-identifier `j` for each group, between 0 and 1."""

    def node_costs(self, domain: Domain) -> Floats:
        """The loss of publishing each node of a column's taxonomy."""
        nodes = np.arange(domain.taxonomy.n_nodes, dtype=np.int32)[:, None]
        return self.cell_loss(Boxes.of_nodes(nodes, [domain]), 0, domain)

    def leaf_costs(self, domain: Domain, node: Codes, counts: Counts) -> Floats:
        """The loss of the node that each leaf is published as."""
        return self.node_costs(domain)[node]

    def suppressed_costs(self, domain: Domain, counts: Counts) -> Floats:
        """Everything."""
        return np.ones(domain.size)

    @staticmethod
    def measured(boxes: Boxes, j: int, domain: Domain, by_count: Floats, unit: float = 0.0) -> Floats:
        """Numeric ranges by extent, ``(max - min) / (MAX - MIN + unit)``; everything else as counted."""
        if domain.values is None:
            return by_count
        by_extent = boxes.extent(j, domain) / ((domain.extent + unit) or 1.0)
        return np.where(domain.is_range[boxes.node[:, j]], by_extent, by_count)

    def column_sums(self, plan: Plan) -> Floats:
        """The loss of each quasi-identifier, added up over all records of the input."""
        losses = [self.cell_loss(plan.boxes, j, domain) for j, domain in enumerate(plan.tally.quasi_domains)]
        return np.array([float((loss * plan.sizes).sum() + plan.suppressed) for loss in losses])

    def column_scores(self, plan: Plan) -> dict[str, float]:
        """The mean loss of each quasi-identifier over all records of the input."""
        means = self.column_sums(plan) / plan.tally.n_records
        return {domain.name: float(mean) for domain, mean in zip(plan.tally.quasi_domains, means, strict=True)}

    def combine(self, sums: Floats, tally: Tally) -> Floats:
        """The weighted mean of the columns' losses."""
        return weighted_mean(sums / tally.n_records, tally)

    def score(self, plan: Plan) -> float:
        """The score of the columns' losses."""
        return float(self.combine(self.column_sums(plan), plan.tally))


def weighted_mean(values: Floats, tally: Tally) -> Floats:
    """The mean over quasi-identifiers (the last axis), by their weights."""
    mean: Floats = values @ tally.weights
    return mean

"""What every loss metric is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np

from tarnkappe.groups import Boxes
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Floats


class Metric(ABC):
    """A number that says what a release cost. Metrics of like name differ in the literature: each says its formula."""

    name: ClassVar[str]
    title: ClassVar[str]
    goal: ClassVar[Literal["minimise", "maximise"]]
    #: One plain sentence with ``{value}``, for the report.
    sentence: ClassVar[str]

    @abstractmethod
    def score(self, plan: Plan) -> float:
        """The metric of a plan."""

    def say(self, value: float) -> str:
        """The score in one plain sentence."""
        return self.sentence.format(value=value)


class CellLoss(Metric):
    """A metric that adds up the loss of single cells: weighted mean over quasi-identifiers, mean over all records.

    A suppressed record has lost everything: 1 in every cell.
    """

    @abstractmethod
    def cell_loss(self, boxes: Boxes, j: int, domain: Domain) -> Floats:
        """The loss of quasi-identifier `j` for each group, between 0 and 1."""

    @staticmethod
    def measured(boxes: Boxes, j: int, domain: Domain, by_count: Floats, unit: float = 0.0) -> Floats:
        """Numeric ranges by extent, ``(max - min) / (MAX - MIN + unit)``; everything else as counted."""
        if domain.values is None:
            return by_count
        by_extent = boxes.extent(j, domain) / ((domain.extent + unit) or 1.0)
        return np.where(domain.is_range[boxes.node[:, j]], by_extent, by_count)

    def column_scores(self, plan: Plan) -> dict[str, float]:
        """The mean loss of each quasi-identifier over all records of the input."""
        n = plan.tally.n_records
        out = {}
        for j, domain in enumerate(plan.tally.quasi_domains):
            loss = self.cell_loss(plan.boxes, j, domain)
            out[domain.name] = float((loss * plan.sizes).sum() + plan.grouping.suppressed) / n
        return out

    def score(self, plan: Plan) -> float:
        """The weighted mean of the columns' losses."""
        weights = [d.weight for d in plan.tally.quasi_domains]
        return float(np.average(list(self.column_scores(plan).values()), weights=weights))

"""Minimal distortion."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.metrics.base import ColumnLoss
from tarnkappe.metrics.steps import generalisation_steps, leaf_depths, leaf_steps
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally


class MinimalDistortion(ColumnLoss):
    r"""Number of generalisation steps, each of each cell counting one.

    A cell raised by two levels counts two; a suppressed record counts the way from each of its values to the root. A
    numeric column without a taxonomy has one level: its range.

    References
    ----------
    .. [Sama01] Samarati. "Protecting respondents' identities in microdata release." TKDE 13(6), 2001.
    """

    name: ClassVar = "minimal-distortion"
    title: ClassVar = "Minimal distortion (MD)"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "{count} generalisation steps were made in all cells together."

    def leaf_costs(self, domain: Domain, node: Codes, counts: Counts) -> Floats:
        """The steps that each leaf goes up."""
        return leaf_steps(domain, node)

    def suppressed_costs(self, domain: Domain, counts: Counts) -> Floats:
        """The steps to the root."""
        return leaf_depths(domain)

    def combine(self, sums: Floats, tally: Tally) -> Floats:
        """The number of steps in all columns."""
        total: Floats = sums.sum(axis=-1)
        return total

    def score(self, plan: Plan) -> float:
        """The number of steps in all columns."""
        return float(sum(steps for steps, _ in generalisation_steps(plan).values()))

"""Loss metrics: one file each. A new file with a `Metric` in it is found by itself."""

from __future__ import annotations

from tarnkappe.metrics.base import CellLoss, Metric
from tarnkappe.plan import Plan
from tarnkappe.registry import registered

__all__ = ["CellLoss", "Metric", "all_metrics", "score_plan"]


def all_metrics() -> dict[str, Metric]:
    """All metrics by name."""
    return {name: cls() for name, cls in registered(__name__, Metric).items()}  # type: ignore[type-abstract]


def score_plan(plan: Plan) -> dict[str, float]:
    """Every metric of a plan."""
    return {name: metric.score(plan) for name, metric in all_metrics().items()}

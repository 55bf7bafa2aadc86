"""Loss metrics: one file each. A new file with a `Metric` in it is found by itself."""

from __future__ import annotations

from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.metrics.base import CellLoss, ColumnLoss, Metric, SizeMetric
from tarnkappe.metrics.classification import Classification
from tarnkappe.plan import AnyPlan
from tarnkappe.registry import registered

__all__ = ["CellLoss", "ColumnLoss", "Metric", "SizeMetric", "all_metrics", "metric_named", "score_plan"]


def all_metrics() -> dict[str, Metric]:
    """All metrics by name."""
    return {name: cls() for name, cls in registered(__name__, Metric).items()}  # type: ignore[type-abstract]


def metric_named(name: str, target: str | None = None) -> Metric:
    """One metric, or a `JobError` that lists those that exist; `target` is for the classification metric.

    >>> metric_named("loss").title
    'Loss (geometric mean)'
    """
    known = all_metrics()
    if name not in known:
        raise JobError(
            "E110",
            f"there is no metric '{name}'{did_you_mean(name, known)}",
            hint=f"Metrics: {', '.join(sorted(known))}.",
        )
    return Classification(target) if name == Classification.name else known[name]


def score_plan(plan: AnyPlan, target: str | None = None) -> dict[str, float]:
    """Every metric that applies to a plan; with a `target` also how well it is still told apart."""
    metrics = (metric_named(name, target) for name in all_metrics())
    return {metric.name: metric.score(plan) for metric in metrics if metric.applies(plan)}

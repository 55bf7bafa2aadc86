"""What was done to each column, for report, terminal and notebook."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tarnkappe.kernels.recoding import count_labels, count_values
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.metrics.sse import SquaredError
from tarnkappe.plan import Plan
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain

_MOST_EXAMPLES = 3

#: Values that fewer records share are no examples.
_RARE = 10

_UNCHANGED = "published unchanged: no group needed to coarsen it"


@dataclass(frozen=True)
class Example:
    """One value before and after, with the number of records it stands for."""

    before: str
    after: str
    records: int


@dataclass(frozen=True)
class ColumnSummary:
    """What was done to one column of the input."""

    name: str
    role: str
    done: str
    because: str | None = None
    loss: float | None = None
    labels_before: int | None = None
    labels_after: int | None = None
    examples: tuple[Example, ...] = ()

    @property
    def kept(self) -> float | None:
        """How much of its detail is left; a value that stands for others may be farther from them than their mean."""
        return None if self.loss is None else max(1 - self.loss, 0.0)


def summarise_columns(plan: Plan, schema: Schema) -> tuple[ColumnSummary, ...]:
    """What was done to each column; examples show only values that enough records share to be harmless."""
    loss = (LossMetric() if plan.grouping.centres is None else SquaredError()).column_scores(plan)
    done = {
        "identifier": "removed: names a person directly",
        "drop": "removed: not needed",
        "subject": "removed: the key of a person",
        "sensitive": "published unchanged inside its group",
        "keep": "published unchanged",
    }
    out = []
    for column in schema.columns:
        if column.role != "quasi":
            out.append(ColumnSummary(column.name, column.role, done[column.role], column.because))
            continue
        j = [c.name for c in schema.quasi].index(column.name)
        out.append(
            ColumnSummary(
                column.name,
                "quasi",
                _method(plan, j, column),
                column.because,
                loss[column.name],
                _distinct_before(plan, j),
                len(plan.labels[j].texts) + int((plan.labels[j].code < 0).any()),
                _examples(plan, j),
            )
        )
    return tuple(out)


def _distinct_before(plan: Plan, j: int) -> int:
    """How many different values a quasi-identifier has in the data."""
    hidden = plan.tally.quasi_domains[j].hidden
    if hidden is not None:
        return hidden.distinct
    return int((np.bincount(plan.tally.quasi[:, j], plan.tally.count) > 0).sum())


def _method(plan: Plan, j: int, column: Column) -> str:
    """How a quasi-identifier was coarsened, in words.

    Readers are told too. So where the values of others decide which levels there are, nothing is said about levels.
    """
    domain, centres = plan.tally.quasi_domains[j], plan.grouping.centres
    if centres is not None:
        return f"replaced by the {centres.operators[j]} of each group"
    lo, hi, node = (values[:, j] for values in (plan.boxes.lo, plan.boxes.hi, plan.boxes.node))
    tree = domain.taxonomy
    if column.taxonomy is None or column.taxonomy.follows_data:
        return _method_by_labels(plan, j)
    if np.all((lo > hi) | (node == tree.leaf_nodes[np.minimum(lo, domain.size - 1)])):
        return (
            f"generalised to its lowest level, {domain.floor} of {domain.floor + tree.height}, for everybody"
            if domain.floor
            else _UNCHANGED
        )
    if plan.grouping.fixed is None:
        return _by_group(domain)
    if np.all((lo == tree.lo[node]) & (hi == tree.hi[node])):
        levels = [i for i, nodes in enumerate(tree.ancestors) if np.array_equal(nodes[lo], node)]
        if levels:
            return f"generalised to level {domain.floor + levels[0]} of {domain.floor + tree.height} for everybody"
    if _is_alike(plan, j):
        pieces = "sets" if domain.sets else "intervals"
        return f"{f'cut into {pieces}' if domain.is_range.any() else 'generalised value by value'}, alike for everybody"
    return "generalised as far as each group needed it"


def _method_by_labels(plan: Plan, j: int) -> str:
    """How a quasi-identifier was coarsened whose taxonomy depends on the data, as far as its labels tell."""
    domain, labels = plan.tally.quasi_domains[j], plan.labels[j]
    if not domain.floor and set(labels.texts) <= set(domain.taxonomy.leaves):
        return _UNCHANGED
    if plan.grouping.fixed is None:
        return _by_group(domain)
    if domain.is_range.any() and not domain.sets and _is_alike(plan, j):
        return "cut into intervals, alike for everybody"
    return "generalised as far as needed"


def _by_group(domain: Domain) -> str:
    """What each group publishes by itself."""
    if domain.sets:
        return "sets of values {a | b} per group"
    if domain.is_binary:
        return "0/1 where a group has both"
    return "intervals [min max] per group" if domain.is_range.any() else "lowest common category per group"


def _is_alike(plan: Plan, j: int) -> bool:
    """Whether no two labels of a column share a value, so that every value is published in the same way everywhere."""
    ends = np.unique(np.column_stack([plan.boxes.lo[:, j], plan.boxes.hi[:, j]]), axis=0)
    return bool(np.all(ends[1:, 0] > np.maximum.accumulate(ends[:, 1])[:-1]))


def _examples(plan: Plan, j: int) -> tuple[Example, ...]:
    """The commonest values of a column and what most of their records became, if enough share it to be said aloud."""
    grouping, domain, labels = plan.grouping, plan.tally.quasi_domains[j], plan.labels[j]
    pieces = (plan.tally.quasi, j, grouping.cell, grouping.group, grouping.quota)
    enough = max(plan.goal.min_size, _RARE)
    out: list[Example] = []
    for value in np.argsort(-count_values(*pieces, domain.size), kind="stable")[:_MOST_EXAMPLES]:
        records = count_labels(*pieces, value, labels.code, len(labels.texts))
        most = int(np.argmax(records))
        if records[most] >= enough and value != domain.missing:
            after = "" if most == len(labels.texts) else labels.texts[most]
            out.append(Example(domain.taxonomy.leaves[value], after, int(records[most])))
    return tuple(out)

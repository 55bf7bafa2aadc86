"""What was done to each column, for report, terminal and notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tarnkappe.groups import SUPPRESSED
from tarnkappe.masks.base import Mask
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.metrics.sse import SquaredError
from tarnkappe.parts import PartedPlan
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.publish.boxes import BoxForm, told_exactly
from tarnkappe.publish.centres import Centres
from tarnkappe.schema import Schema

_MOST_EXAMPLES = 3

#: Values that fewer records share are no examples.
_RARE = 10


@dataclass(frozen=True)
class Example:
    """One value before and after, with the number of records it stands for."""

    before: str
    after: str
    records: int


@dataclass(frozen=True)
class Said:
    """How much the cells of a published column say, as anybody can read from its labels."""

    #: Cells that say the value itself, a range or a category it is in, and nothing.
    exact: int
    coarser: int
    nothing: int
    #: Half of the ranges of a column of numbers are at most so wide.
    width: float | None = None

    @property
    def cells(self) -> int:
        """All of them."""
        return self.exact + self.coarser + self.nothing


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
    #: Whether a mask changed its values.
    masked: bool = False
    said: Said | None = None

    @property
    def kept(self) -> float | None:
        """How much of its detail is left; a value that stands for others may be farther from them than their mean."""
        return None if self.loss is None else max(1 - self.loss, 0.0)


#: What is done to columns, whatever groups say.
DONE = {
    "identifier": "removed: names a person directly",
    "drop": "removed: not needed",
    "subject": "removed: the key of a person",
    "household": "removed: the key of a household",
    "weight": "removed: how many people a record stands for",
    "sensitive": "published unchanged inside its group",
    "keep": "published unchanged",
}


def summarise_columns(plan: AnyPlan | PartedPlan, schema: Schema) -> tuple[ColumnSummary, ...]:
    """What was done to each column; examples show only values that enough records share to be harmless."""
    if isinstance(plan, DealtPlan):
        done = {c.name: plan.form.done(c) if c.name in schema.published else DONE[c.role] for c in schema.columns}
        return tuple(ColumnSummary(c.name, c.role, done[c.name], c.because) for c in schema.columns)
    form = plan.form
    if isinstance(plan, PartedPlan):
        loss = plan.column_scores(LossMetric())
    else:
        loss = (SquaredError() if isinstance(form, Centres) else LossMetric()).column_scores(plan)
    out = []
    for column in schema.columns:
        if column.role != "quasi":
            out.append(ColumnSummary(column.name, column.role, DONE[column.role], column.because))
            continue
        j = [c.name for c in schema.quasi].index(column.name)
        boxes, labels = plan.published_in(j)
        out.append(
            ColumnSummary(
                column.name,
                "quasi",
                form.done(j, column, plan.tally.quasi_domains[j], boxes, labels),
                column.because,
                loss[column.name],
                _distinct_before(plan, j),
                len(labels.texts) + int((labels.code < 0).any()),
                _examples(plan, j) if isinstance(plan, Plan) else (),
                said=_said(plan, j) if isinstance(plan, Plan) else None,
            )
        )
    return tuple(out)


def with_masks(columns: Sequence[ColumnSummary], masks: Sequence[Mask]) -> tuple[ColumnSummary, ...]:
    """The same with what masks did to columns: their values were changed, and no group hides them."""
    done = {name: mask.done for mask in masks for name in mask.changes}
    return tuple(replace(c, done=f"changed: {done[c.name]}", masked=True) if c.name in done else c for c in columns)


def _distinct_before(plan: Plan | PartedPlan, j: int) -> int:
    """How many different values a quasi-identifier has in the data."""
    hidden = plan.tally.quasi_domains[j].hidden
    if hidden is not None:
        return hidden.distinct
    return int(np.count_nonzero(plan.tally.value_counts[j]))


def _said(plan: Plan, j: int) -> Said | None:
    """How many records of a quasi-identifier say how much; None where groups say centres."""
    if not isinstance(plan.form, BoxForm):
        return None
    boxes, domain, sizes = plan.boxes, plan.tally.quasi_domains[j], plan.sizes
    exact, nothing = told_exactly(boxes, j, domain)
    exact |= plan.labels[j].code < 0  # missing in the data, and so it stands there
    coarser = ~exact & ~nothing
    width = None
    ranges = coarser & boxes.publishes_range(j, domain)
    if domain.values is not None and ranges.any():
        extent = domain.values[boxes.hi[ranges, j]] - domain.values[boxes.lo[ranges, j]]
        order = np.argsort(extent, kind="stable")
        before = np.cumsum(sizes[ranges][order])
        width = float(extent[order][np.searchsorted(before, before[-1] / 2)])
    cells = [int(sizes[part].sum()) for part in (exact, coarser, nothing)]
    return Said(cells[0], cells[1], cells[2], width)


def _examples(plan: Plan, j: int) -> tuple[Example, ...]:
    """The commonest values of a column and what most of their records became, if enough share it to be said aloud."""
    domain, labels, crossed = plan.tally.quasi_domains[j], plan.labels[j], plan.crossed[j]
    shown = crossed.group != SUPPRESSED
    code, records = crossed.code[shown], crossed.records[shown]
    label = labels.code[crossed.group[shown]]
    enough = max(plan.goal.min_size, _RARE)
    out: list[Example] = []
    for value in np.argsort(-np.bincount(code, records, domain.size), kind="stable")[:_MOST_EXAMPLES]:
        here = code == value
        became = np.bincount(label[here] + 1, records[here], len(labels.texts) + 1)  # the missing value comes first
        became = np.append(became[1:], became[0])
        most = int(np.argmax(became))
        if became[most] >= enough and value != domain.missing:
            after = "" if most == len(labels.texts) else labels.texts[most]
            out.append(Example(domain.taxonomy.leaves[value], after, int(became[most])))
    return tuple(out)

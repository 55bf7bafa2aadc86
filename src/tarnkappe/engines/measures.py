"""What criteria measure by: the order, the numbers or the taxonomy of a column. None of them is ever made up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from tarnkappe.criteria.base import Criterion
from tarnkappe.errors import DataError, JobError
from tarnkappe.fixes import Fix, role, say
from tarnkappe.goal import Goal
from tarnkappe.io import Source
from tarnkappe.schema import Column
from tarnkappe.taxonomy.labels import on_one_scale
from tarnkappe.taxonomy.orders import Order

#: The distance that needs no order and no taxonomy.
_EQUAL = Fix("distance: equal", 'distance="equal"')

#: Types whose values have an order of their own, which is also that of their texts.
_ORDERED = (pl.Date, pl.Datetime, pl.Time)


def require_measure(criterion: Criterion, column: Column) -> None:
    """Refuse a criterion that measures by something which the declaration of its column rules out."""
    builder = column.taxonomy
    if criterion.measured_by == "numbers" and builder is not None:
        raise JobError(
            "E111",
            f"{criterion.name} measures by the numbers of '{column.name}', which is measured by its taxonomy",
            hint=role(column.name, "sensitive", "numeric"),
        )
    if criterion.measured_by == "taxonomy" and builder is None:
        raise JobError(
            "E111",
            f"{criterion.name} with distance: hierarchical needs a taxonomy for '{column.name}'",
            hint=say(
                "{}   or  {}",
                Fix(f"{column.name}: {{role: sensitive, taxonomy: NAME}}", f'sensitive={{"{column.name}": tree(…)}}'),
                _EQUAL,
            ),
        )
    if criterion.measured_by == "order" and builder is not None and not builder.ordered:
        raise _without_order(criterion, column, f"a taxonomy of kind '{builder.kind}' does not say it")


def measured(columns: Iterable[Column], goal: Goal, source: Source) -> list[Column]:
    """The columns as the criteria of a goal can measure them; an error where they cannot.

    Where an order or numbers are needed and the column is not declared to hold numbers, its values decide: if all of
    them are numbers they are read as such. Texts are never put into an order that nobody stated.
    """
    found = list(columns)
    for criterion in goal.criteria:
        if criterion.measured_by != "names":
            found = [_measured(c, criterion, source) if c.name == criterion.sensitive_column else c for c in found]
    return found


def _measured(column: Column, criterion: Criterion, source: Source) -> Column:
    require_measure(criterion, column)
    unsaid = column.taxonomy is None or (isinstance(column.taxonomy, Order) and column.taxonomy.values is None)
    if column.kind == "numeric" or criterion.measured_by == "taxonomy" or not unsaid:
        return column
    if column.name not in source.columns:  # its absence is told by whoever reads it
        return column
    if _holds_numbers(source, column.name):
        return replace(column, kind="numeric")
    if criterion.measured_by == "numbers" or isinstance(source.types([column.name])[column.name], _ORDERED):
        return column
    if column.taxonomy is not None:
        if on_one_scale(source.cells([column.name]).values[0].drop_nulls().cast(pl.String)):
            return column
        raise _without_order(criterion, column, "its taxonomy lists no values, and they differ in more than one number")
    raise _without_order(criterion, column, "nothing says it, and not all of its values are numbers")


def _holds_numbers(source: Source, column: str) -> bool:
    """Whether every value of a column is a number."""
    values = source.cells([column]).values[0]
    try:
        source.numeric(values, column)
    except DataError:
        return False
    return True


def _without_order(criterion: Criterion, column: Column, why: str) -> JobError:
    return JobError(
        "E111",
        f"{criterion.name} with distance: ordered measures by the order of '{column.name}', but {why}",
        hint=say(
            "{}   or  {}",
            Fix(
                f"{column.name}: {{role: sensitive, taxonomy: {{kind: order, values: [low, middle, high]}}}}",
                f'sensitive={{"{column.name}": ordered("low", "middle", "high")}}',
            ),
            _EQUAL,
        ),
    )

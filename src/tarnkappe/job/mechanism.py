"""What a release whose promise lies in how it is made must not contain."""

from __future__ import annotations

from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.schema import Column, Schema
from tarnkappe.taxonomy.builders import Order


def require_data_independence(schema: Schema, goal: Goal) -> None:
    """Refuse columns through which the data reach such a release past the mechanism.

    A column that is kept is published without being counted, and a taxonomy computed from the values says something
    about records that are not published.
    """
    if not goal.is_mechanism:
        return
    names = ", ".join(c.name for c in goal.criteria if c.scope == "mechanism")
    for column in schema.with_role("keep"):
        raise JobError(
            "E111",
            f"{names} cannot cover '{column.name}', which is published as it is",
            hint=f"{column.name}: {{role: sensitive}}   or  {{role: drop}}",
        )
    for column in schema.quasi:
        if _depends_on_data(column):
            raise JobError(
                "E111",
                f"{names} needs a taxonomy for '{column.name}' that does not depend on the data",
                hint=f"{column.name}: {{role: quasi, taxonomy: {{kind: tree, tree: …}}}}   "
                "(or a file, intervals, prefix, dates, suppress)",
            )


def _depends_on_data(column: Column) -> bool:
    """Whether other records decide how a value of the column looks when it is generalised."""
    builder = column.taxonomy
    return builder is not None and (builder.follows_data or (isinstance(builder, Order) and builder.values is None))

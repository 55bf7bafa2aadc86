"""What a release whose promise lies in how it is made must not depend on: any one record, besides its own rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm, role, say
from tarnkappe.goal import Goal
from tarnkappe.schema import KEYS, Column, Schema


def independent(schema: Schema, goal: Goal, types: Mapping[str, pl.DataType]) -> Schema:
    """The schema as such a release needs it; columns through which the data reach it past the mechanism are refused.

    A column that is kept is published without being counted. A taxonomy that leaves a setting to the data lets one
    record change how others look. A person with several records is in the release several times, but the promise is
    about one record. A missing value is always a value of its own, whether one occurs or not. `types` are those of the
    columns that are published unchanged: one record with a fraction makes whole numbers floats for all.

    Whether there is a release must not depend on a record either. So what a quasi-identifier cannot hold (a text among
    numbers, a value that its taxonomy lacks) counts as missing, and sensitive values are texts, whatever they are.
    """
    names = ", ".join(c.name for c in goal.criteria if c.scope == "mechanism")
    for column in schema.with_role(*KEYS):
        raise JobError(
            "E111",
            f"{names} speaks about single records, but '{column.name}' says that a person may have several",
            details=["Whoever has several records would be protected less than promised."],
            hint=say("Give data with one record per person, and  {}", role(column.name, "identifier")),
        )
    for column in schema.with_role("keep"):
        raise JobError(
            "E111",
            f"{names} cannot cover '{column.name}', which is published as it is",
            hint=say("{}   or  {}", role(column.name, "sensitive"), role(column.name, "drop")),
        )
    for column in schema.sensitive:
        if types[column.name].is_float():
            raise JobError(
                "E111",
                f"{names} cannot publish '{column.name}' as floats: one record with a fraction would turn the whole "
                "numbers of all others into floats, and show",
                hint=f"Give '{column.name}' as texts, as in a CSV file, or as whole numbers.",
            )
    for column in schema.quasi:
        _require_fixed(column, names)
        if column.min_level:
            raise JobError(
                "E111",
                f"{names} has the level of '{column.name}' fixed in advance, so a lowest one means nothing",
                hint=algorithm("sdgs", levels={column.name: column.min_level}),
            )
        if getattr(column.taxonomy, "trim", False):
            raise JobError(
                "E111",
                f"{names} cannot trim the values of '{column.name}': one record with a blank would stop the run",
                hint="Remove the blanks from the data, and  trim: true  from the taxonomy.",
            )
    columns = [
        replace(c, lenient=True)
        if c.role == "quasi"
        else replace(c, kind="categorical", taxonomy=None)
        if c.role == "sensitive"
        else c
        for c in schema.columns
    ]
    return Schema(columns, schema.missing_rule or "own-value")


def _require_fixed(column: Column, names: str) -> None:
    """Refuse a quasi-identifier of which other records decide how a value looks when it is generalised."""
    builder, what = column.taxonomy, f"{names} needs a taxonomy for '{column.name}' that does not depend on the data"
    if builder is None:
        taxonomy = "{kind: intervals, widths: [5, 10, 20], whole: true}"
    elif builder.follows_data:
        taxonomy = "{kind: tree, tree: …}"
    elif builder.left_to_the_data is None:
        return
    else:
        what += f": without  {builder.left_to_the_data}  one record can change how all others look"
        taxonomy = f"{{kind: {builder.kind}, …, {builder.left_to_the_data}}}"
    raise JobError("E111", what, hint=f"{column.name}: {{role: quasi, taxonomy: {taxonomy}}}")

"""Names and texts in SQL, written so that they are nothing but names and texts."""

from __future__ import annotations

from collections.abc import Sequence


def name(text: str) -> str:
    """A column, table or schema, whatever signs are in its name.

    >>> print(name('x"; drop table y'))
    "x""; drop table y"
    """
    return '"' + text.replace('"', '""') + '"'


def dotted(schema: str | None, table: str) -> str:
    """A table, perhaps in a schema.

    >>> dotted("public", "people"), dotted(None, "a.b")
    ('"public"."people"', '"a.b"')
    """
    return name(table) if schema is None else f"{name(schema)}.{name(table)}"


def literal(text: str) -> str:
    """A text.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def selected(expressions: Sequence[str], relation: str) -> str:
    """The rows of some columns, which are then called c0, c1 and so on."""
    listed = ", ".join(f"{expression} AS c{i}" for i, expression in enumerate(expressions))
    return f"SELECT {listed} FROM {relation}"


def grouped(expressions: Sequence[str], relation: str) -> str:
    """How often every combination of some columns occurs: one aggregate, whatever the number of rows."""
    keys = ", ".join(str(i + 1) for i in range(len(expressions)))
    listed = ", ".join(f"{expression} AS c{i}" for i, expression in enumerate(expressions))
    return f"SELECT {listed}, count(*) AS n FROM {relation} GROUP BY {keys}"

"""The names of the columns of a table: those that a file does not have, and those that no table may have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tarnkappe.errors import DataError

#: What an index that R or pandas wrote without a name is called, as pandas does when it reads one.
INDEX = "Unnamed: 0"


def index_named(header: Sequence[str]) -> list[str]:
    """The header of a CSV file, with a name for its first column if that alone has none.

    >>> index_named(["", "age"]), index_named(["age", "", ""])
    (['Unnamed: 0', 'age'], ['age', '', ''])
    """
    first, *others = header
    return [INDEX if first == "" and INDEX not in others else first, *others] if others else list(header)


def check_columns(columns: Sequence[str], name: str) -> None:
    """Refuse a table without columns, with an empty column name, or with a name that stands twice."""
    if not columns:
        raise DataError("E402", f"'{name}' has no columns", where=name, hint="Give a table with a header and rows.")
    if re.fullmatch("sep=.?", columns[0].lower()):
        raise DataError(
            "E405",
            f"the first line of '{name}' tells Excel the delimiter, and is no header",
            where=f"{name}:1",
            hint="Remove that line; the delimiter is found out, or stated:  delimiter: ';'",
        )
    empty = [i for i, column in enumerate(columns, start=1) if not column.strip()]
    if empty:
        raise DataError(
            "E405",
            f"column {empty[0]} of '{name}' has no name",
            where=name,
            hint="Name it in the header. Row numbers written by pandas go away with  df.to_csv(path, index=False).",
        )
    marked = [i for i, column in enumerate(columns, start=1) if column.startswith("\ufeff")]
    if marked:
        raise DataError(
            "E405",
            f"the name of column {marked[0]} of '{name}' begins with a byte order mark (U+FEFF), which no reader shows",
            where=name,
            hint="Rename the column.",
        )
    pattern = next((column for column in columns if _looks_like_pattern(column)), None)
    if pattern is not None:
        raise DataError(
            "E405",
            f"'{name}' has a column named '{pattern}', which Polars would take for a pattern of names",
            where=name,
            hint="Rename the column.",
        )
    twice = [column for column, n in Counter(columns).items() if n > 1]
    if twice:
        shown = ", ".join(f"'{column}'" for column in twice[:5])
        raise DataError(
            "E405",
            f"'{name}' has {'a column' if len(twice) == 1 else 'columns'} more than once: {shown}",
            where=name,
            hint="Rename them so that every column has a name of its own.",
        )


def _looks_like_pattern(column: str) -> bool:
    """Whether Polars would read the name as a pattern, so that one column could silently stand for others."""
    return column == "*" or (column.startswith("^") and column.endswith("$"))

"""What a release answers: an estimate, and the bounds that hold for certain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from tarnkappe.publish.sheets import free_name
from tarnkappe.wording import count


@dataclass(frozen=True)
class Estimate:
    """One figure: what is expected, and between which bounds the truth about the published records lies.

    `value` is None where the release gives no estimate, `low` and `high` are None where it sets no bound. `group` are
    the values of the columns that a query groups by; None is the missing value.
    """

    value: float | None
    low: float | None
    high: float | None
    group: tuple[str | None, ...] = ()

    @classmethod
    def of(cls, figure: tuple[float, float, float], group: tuple[str | None, ...] = ()) -> Estimate:
        """A figure without what is not known."""
        value, low, high = (x if math.isfinite(x) else None for x in figure)
        return cls(value, low, high, group)

    @property
    def is_exact(self) -> bool:
        """Whether the bounds leave no doubt."""
        return self.low is not None and self.low == self.high

    def __str__(self) -> str:
        if self.is_exact:
            return f"{number_text(self.low)} exactly"
        value = "no estimate" if self.value is None else f"about {number_text(self.value)}"
        if self.low is None and self.high is None:
            return f"{value}, no bounds"
        if self.low is None or self.high is None:
            end = f"at most {number_text(self.high)}" if self.low is None else f"at least {number_text(self.low)}"
            return f"{value}, {end}"
        return f"{value}, between {number_text(self.low)} and {number_text(self.high)}"


@dataclass(frozen=True)
class Answer:
    """What a release answers to a query; `notes` say what the estimates take for granted."""

    query: str
    by: tuple[str, ...]
    rows: tuple[Estimate, ...]
    records: int
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> float | None:
        """The estimate of a query that does not group."""
        return self._only.value

    @property
    def low(self) -> float | None:
        """The lower bound of a query that does not group."""
        return self._only.low

    @property
    def high(self) -> float | None:
        """The upper bound of a query that does not group."""
        return self._only.high

    @property
    def _only(self) -> Estimate:
        if self.by:
            raise ValueError("the query has 'group by': its estimates are in 'rows' and 'table'")
        return self.rows[0]

    @property
    def table(self) -> pl.DataFrame:
        """The estimates as a table, one row for each group."""
        columns: dict[str, Any] = {name: [row.group[i] for row in self.rows] for i, name in enumerate(self.by)}
        types: dict[str, Any] = dict.fromkeys(columns, pl.String)
        for name in ("value", "low", "high"):
            free = free_name(name, columns)
            columns[free], types[free] = [getattr(row, name) for row in self.rows], pl.Float64
        return pl.DataFrame(columns, schema=types)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``."""
        rows = [
            {"group": dict(zip(self.by, row.group, strict=True)), "value": row.value, "low": row.low, "high": row.high}
            for row in self.rows
        ]
        return {"query": self.query, "records": self.records, "rows": rows, "notes": list(self.notes)}

    def __str__(self) -> str:
        shown = [(" · ".join("(missing)" if x is None else x for x in row.group), str(row)) for row in self.rows]
        lines = [f"{group}  {text}" if group else text for group, text in shown]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def number_text(number: float | None) -> str:
    """A figure for people: whole numbers with blanks, others with a few digits.

    >>> number_text(12345.0), number_text(0.3333333), number_text(1234.56)
    ('12 345', '0.333', '1 234.6')
    """
    if number is None:
        return "unknown"
    if float(number).is_integer():
        return count(int(number))
    return f"{number:.3g}" if abs(number) < 100 else f"{number:,.1f}".replace(",", " ")

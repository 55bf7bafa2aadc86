"""Columns that number the rows."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import FEWEST, Detector, Finding, Sight


class RowOrder(Detector):
    """Numbers that rise or fall with every row give back the order of the records, which a release must not tell."""

    name: ClassVar = "row-order"
    title: ClassVar = "numbers of rows"
    evidence: ClassVar = f"the first rows hold numbers that rise, or fall, from each to the next; at least {FEWEST}"
    tells: ClassVar = "which"
    hipaa: ClassVar = (18,)

    def share(self, sight: Sight) -> float:
        """1 if every number is larger than the one before, or every one smaller."""
        numbers = sight.numbers
        if numbers is None or len(numbers) < FEWEST:
            return 0.0
        steps = numbers.diff().drop_nulls()
        return float(bool((steps > 0).all()) or bool((steps < 0).all()))

    def find(self, sight: Sight) -> Finding | None:
        """Only the values tell."""
        return Finding(self.name, self.tells, True, "it numbers the rows") if self.share(sight) else None

"""Columns in which nearly every record has a value of its own."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.looks.base import ALL_DIFFERENT, FEWEST, Detector, Finding, Sight


class AllDifferent(Detector):
    """Whatever the values mean: whoever knows one of them knows whose record it is."""

    name: ClassVar = "all-different"
    title: ClassVar = "values that tell every record apart"
    evidence: ClassVar = f"more than {ALL_DIFFERENT:.0%} of at least {FEWEST} values are different"
    tells: ClassVar = "which"
    hipaa: ClassVar = (18,)

    def share(self, sight: Sight) -> float:
        """Different values per row that has one."""
        return sight.differs

    def find(self, sight: Sight) -> Finding | None:
        """Counted over as many rows as are known."""
        if not sight.all_different:
            return None
        return Finding(self.name, self.tells, True, "nearly all of its values are different")

"""Rounding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np

from tarnkappe.masks.base import Chance, ColumnMask, Fitted, Held, Kept, MaskCard, as_series, is_whole, unfit
from tarnkappe.masks.columns import Columns
from tarnkappe.params import param
from tarnkappe.wording import stated

#: Multiples of the base that floating-point numbers tell apart, and how far off computed ones may be, of their size.
_MOST, _OFF = 2.0**50, 1e-15

#: How far off a mean may be that is computed in another order.
_SUM_OFF = 1e-12


@dataclass(frozen=True)
class Rounding(ColumnMask):
    r"""Every number becomes the nearest multiple of a base.

    .. math:: x' = b \lfloor x / b + 1/2 \rfloor

    O(records).

    References
    ----------
    .. [HDF12] Hundepool, Domingo-Ferrer, Franconi, Giessing, Schulte Nordholt, Spicer, de Wolf. "Statistical
       Disclosure Control." Wiley 2012, section 3.3.
    """

    name: ClassVar = "rounding"
    title: ClassVar = "rounding"
    card: ClassVar = MaskCard(
        changes="every number becomes the nearest multiple of a base.",
        keeps="no number moves by more than half the base; all are multiples of it.",
        does_not="hide a person with a number far from all others, nor make groups of any size.",
        not_for="outliers: combine it with top coding of another column, or coarsen the column as a quasi-identifier.",
    )

    base: float = param(doc="What all numbers become a multiple of.", gt=0, example=100)

    @property
    def computes_with(self) -> tuple[str, ...]:
        """What it changes."""
        return self.changes

    @property
    def done(self) -> str:
        """In words."""
        return f"rounded to multiples of {stated(self.base)}"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        return (f"every number of {self.column} to within {stated(self.base / 2)}",)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Round all numbers."""
        numbers = data.numbers(self.column)
        x = data.floats(self.column)
        if (np.abs(x) > _MOST * self.base).any():
            what = f"numbers of '{self.column}' are so large that multiples of {stated(self.base)} cannot be told apart"
            raise unfit(self, what, data.source, "A larger  base.")
        digits = max(-int(Decimal(str(self.base)).normalize().as_tuple().exponent), 0)
        made = np.round(np.floor(x / self.base + 0.5) * self.base, digits)
        whole = is_whole(numbers) and digits == 0
        return Held([as_series(self, data, self.column, made, whole=whole)])

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """All are multiples, and the mean is where it may be."""
        x = after.floats(self.column)
        x = x[~np.isnan(x)]
        ratio = x / self.base
        off = float((np.abs(ratio - np.round(ratio)) - _OFF * np.abs(ratio)).max(initial=0))
        yield Kept(f"{self.column} holds multiples of {stated(self.base)}", off, 1e-6)
        y = before.floats(self.column)
        if len(x):
            shift = abs(float(x.mean() - np.nanmean(y)))
            allowed = self.base / 2 * (1 + 1e-6) + _SUM_OFF * float(np.abs(x).max())
            yield Kept(f"mean of {self.column} to within half the base", shift, allowed)

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Nobody's number moves by more than half the base."""
        x, z = before.floats(self.column), after.floats(self.column)
        moved = np.abs(z - x) - _OFF * np.abs(x)
        far = float(np.nanmax(moved)) if (~np.isnan(moved)).any() else 0.0
        yield Kept(f"every number of {self.column} to within half the base", far, self.base / 2 * (1 + 1e-6))

"""Multiplicative noise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.errors import JobError
from tarnkappe.masks.base import SIGMAS, Chance, ColumnsMask, Fitted, Held, Kept, MaskCard, as_series, is_whole
from tarnkappe.masks.columns import Columns
from tarnkappe.params import param
from tarnkappe.wording import stated

#: What a bounded sum of chance may be off beside six standard deviations, in steps of its largest part (Bernstein).
_STEPS = 14.0


@dataclass(frozen=True)
class MultiplicativeNoise(ColumnsMask):
    r"""Every number is multiplied by a factor near one, but never too near.

    .. math:: z = x (1 + s u), \quad s \in \{-1, 1\}, \quad u \sim U(least, most)

    Large numbers move by more than small ones, zeros and signs stay, and every number that is not zero moves by at
    least the smaller percentage. The factor is one on average. O(records · columns).

    References
    ----------
    .. [EZS98] Evans, Zayatz, Slanta. "Using noise for disclosure limitation of establishment tabular data." Journal of
       Official Statistics 1998.
    """

    name: ClassVar = "multiplicative-noise"
    title: ClassVar = "multiplicative noise"
    card: ClassVar = MaskCard(
        changes="every number grows or shrinks by a random percentage between two bounds.",
        keeps="means to sampling error; zeros, signs, and the size of every number to within the larger percentage.",
        does_not="hide a number that is far larger than all others: ten percent more or less is still the largest.",
        not_for="numbers around zero, where a percentage is next to nothing.",
    )

    most_percent: float = param(doc="Percent by which a number changes at most.", gt=0, le=100, example=15)
    least_percent: float = param(0.0, doc="Percent by which a number changes at least.", ge=0, le=100)
    keep_whole: bool = param(True, doc="Whether whole numbers stay whole.")

    def __post_init__(self) -> None:
        """Check that there is something between the bounds."""
        super().__post_init__()
        if self.least_percent > self.most_percent:
            raise JobError(
                "E110", "'least_percent' is above 'most_percent'", hint=f"least_percent: {stated(self.most_percent)}"
            )

    @property
    def computes_with(self) -> tuple[str, ...]:
        """What it changes."""
        return self.changes

    @property
    def done(self) -> str:
        """In words."""
        return f"multiplied by noise: {stated(self.least_percent)} to {stated(self.most_percent)} % more or less"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        return (
            f"means of {', '.join(self.columns)} to sampling error",
            f"every number of {', '.join(self.columns)} to within {stated(self.most_percent)} %",
        )

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Draw the factors of all records."""
        made = []
        for name in self.columns:
            x = data.floats(name)
            sign = np.where(chance.rng.random(len(x)) < 0.5, -1.0, 1.0)
            factor = 1 + sign * chance.rng.uniform(self.least_percent, self.most_percent, len(x)) / 100
            whole = self.keep_whole and is_whole(data.numbers(name))
            z = np.floor(x * factor + chance.rng.random(len(x))) if whole else x * factor
            made.append(as_series(self, data, name, z, whole=whole, by_chance=True))
        return Held(made)

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Means to sampling error."""
        for name in self.columns:
            x, z = before.floats(name), after.floats(name)
            x, z = x[~np.isnan(x)], z[~np.isnan(z)]
            yield Kept(f"missing values of {name}", abs(len(x) - len(z)))
            if not len(x) or len(x) != len(z):
                continue
            low, high = self.least_percent / 100, self.most_percent / 100
            lot = 1.0 if self.keep_whole and is_whole(before.numbers(name)) else 0.0
            variance = float((x * x).sum()) * (low * low + low * high + high * high) / 3 + lot * len(x) / 4
            largest = float(np.abs(x).max()) * high + lot
            allowed = (SIGMAS * math.sqrt(variance) + _STEPS * largest) / len(x) * (1 + 1e-9)
            yield Kept(f"mean of {name}", abs(float(x.mean() - z.mean())), allowed)

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Nobody's number moves by more, or by less, than it may."""
        for name in self.columns:
            x, z = before.floats(name), after.floats(name)
            known = ~np.isnan(x)
            moved, size = np.abs(z - x)[known], np.abs(x)[known]
            lot = 2.0 if self.keep_whole and is_whole(before.numbers(name)) else 0.0
            bad = (moved > size * self.most_percent / 100 * (1 + 1e-9) + lot) | (
                moved < size * self.least_percent / 100 * (1 - 1e-9) - lot
            )
            yield Kept(f"every number of {name} to within {stated(self.most_percent)} %", int(bad.sum()))
            moved = moved[size > 0] / size[size > 0]
            if not lot and len(moved):
                low, high = self.least_percent / 100, self.most_percent / 100
                expected = (low + high) / 2
                spread = SIGMAS * (high - low) / math.sqrt(12 * len(moved)) + _STEPS * (high - low) / len(moved)
                yield Kept(f"size of the noise in {name}", abs(float(moved.mean()) - expected), spread + 1e-9)

"""Top and bottom coding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.errors import JobError
from tarnkappe.fixes import assignment
from tarnkappe.masks.base import Chance, ColumnMask, Fitted, Held, Kept, MaskCard, as_series, is_whole, unfit
from tarnkappe.masks.columns import Columns
from tarnkappe.params import param
from tarnkappe.wording import stated

#: A mean of fewer records is nearly the value of each.
_FEWEST = 3


@dataclass(frozen=True)
class TopBottomCoding(ColumnMask):
    r"""Numbers above a threshold are published as the threshold, or as the mean of those above it; the same below one.

    .. math:: x' = \min(\max(x, bottom), top)

    Thresholds are given, or follow from the share of records beyond them. O(records log records).

    References
    ----------
    .. [HDF12] Hundepool, Domingo-Ferrer, Franconi, Giessing, Schulte Nordholt, Spicer, de Wolf. "Statistical
       Disclosure Control." Wiley 2012, section 3.3.
    """

    name: ClassVar = "top-bottom-coding"
    title: ClassVar = "top and bottom coding"
    card: ClassVar = MaskCard(
        changes="numbers beyond a threshold become the threshold, or the mean of all beyond it.",
        keeps="every number between the thresholds; with means also the sum of the column.",
        does_not="change anything between the thresholds.",
        not_for="columns whose common values identify people too: coarsen them.",
    )

    top: float | None = param(None, doc="Numbers above it are coded.")
    bottom: float | None = param(None, doc="Numbers below it are coded.")
    top_percent: float | None = param(None, doc="Percent of the records with the largest numbers.", gt=0, le=50)
    bottom_percent: float | None = param(None, doc="Percent of the records with the smallest numbers.", gt=0, le=50)
    by: str = param("threshold", doc="What coded numbers become.", choices=("threshold", "mean"))

    def __post_init__(self) -> None:
        """Check that there is one threshold or two, each said once."""
        super().__post_init__()
        if (self.top is not None and self.top_percent is not None) or (
            self.bottom is not None and self.bottom_percent is not None
        ):
            raise JobError(
                "E110", "a threshold is given as a number or in percent, not both", hint=assignment("top_percent", 1)
            )
        if self.top is None and self.top_percent is None and self.bottom is None and self.bottom_percent is None:
            raise JobError("E110", f"{self.name} needs a threshold", hint=assignment("top_percent", 1))
        if self.top is not None and self.bottom is not None and self.bottom > self.top:
            raise JobError("E110", "'bottom' is above 'top'", hint=assignment("bottom", self.top))

    @property
    def computes_with(self) -> tuple[str, ...]:
        """What it changes."""
        return self.changes

    @property
    def done(self) -> str:
        """In words."""
        ends = []
        for end, number, share in (("top", self.top, self.top_percent), ("bottom", self.bottom, self.bottom_percent)):
            if number is not None:
                ends.append(f"{end}-coded at {stated(number)}")
            elif share is not None:
                ends.append(f"{end}-coded, {stated(share)} % of the records")
        return f"{' and '.join(ends)}, by the {self.by}"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        between = f"every number of {self.column} between the thresholds"
        return (between, f"mean of {self.column}") if self.by == "mean" else (between,)

    def _beyond(self, x: Floats) -> tuple[Flags, Flags, float, float]:
        """Which numbers are above and below, and the thresholds."""
        known = x[~np.isnan(x)]
        top, bottom = np.inf, -np.inf
        if self.top is not None or (self.top_percent is not None and len(known)):
            top = self.top if self.top is not None else float(np.percentile(known, 100 - self.top_percent))  # type: ignore[operator]
        if self.bottom is not None or (self.bottom_percent is not None and len(known)):
            bottom = self.bottom if self.bottom is not None else float(np.percentile(known, self.bottom_percent))  # type: ignore[arg-type]
        if self.top is None and np.isfinite(top):  # a threshold that is in the data, so that nothing is made up
            top = float(known[known <= top].max(initial=known.min()))
        if self.bottom is None and np.isfinite(bottom):
            bottom = float(known[known >= bottom].min(initial=known.max()))
        return x > top, x < bottom, top, bottom

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Code all numbers beyond the thresholds."""
        x = data.floats(self.column)
        above, below, top, bottom = self._beyond(x)
        made, whole = x.copy(), is_whole(data.numbers(self.column))
        for beyond, threshold in ((above, top), (below, bottom)):
            n = int(beyond.sum())
            if not n:
                continue
            if self.by == "mean" and n < _FEWEST:
                hint = f"A threshold with at least {_FEWEST} records beyond it, or  by: threshold"
                raise unfit(self, "the mean beyond a threshold would be that of one or two people", data.source, hint)
            made[beyond] = x[beyond].mean() if self.by == "mean" else threshold
            whole &= float(made[beyond][0]).is_integer()
        return Held([as_series(self, data, self.column, made, whole=whole)])

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Nothing is beyond what it may be, and the mean is the same if it is meant to be."""
        x, y = before.floats(self.column), after.floats(self.column)
        _, _, top, bottom = self._beyond(x)
        x, y = x[~np.isnan(x)], y[~np.isnan(y)]
        if not len(x) or len(x) != len(y):
            yield Kept(f"as many numbers of {self.column} as before", abs(len(x) - len(y)))
            return
        if self.by == "threshold":
            yield Kept(f"no number of {self.column} beyond a threshold", int(((y > top) | (y < bottom)).sum()))
        else:
            off = abs(float(x.mean() - y.mean()))
            yield Kept(f"mean of {self.column}", off, 1e-9 * max(float(np.abs(x).max()), 1.0))
        inside = (x <= top) & (x >= bottom)
        lost = np.sort(x[inside])
        found = np.sort(y[(y <= top) & (y >= bottom)])
        rest = 0 if self.by == "mean" else len(x) - len(lost)
        n_off = abs(len(found) - len(lost) - rest)
        if self.by == "mean" and not n_off:
            n_off = int((lost != found).sum())
        yield Kept(f"every number of {self.column} between the thresholds", n_off)

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Whoever is not beyond a threshold has the number they had."""
        x, y = before.floats(self.column), after.floats(self.column)
        above, below, _, _ = self._beyond(x)
        same = (x == y) | (np.isnan(x) & np.isnan(y)) | above | below
        yield Kept(f"every record's own {self.column} between the thresholds", int((~same).sum()))

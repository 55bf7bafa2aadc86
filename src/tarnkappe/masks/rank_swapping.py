"""Rank swapping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.masks.base import Chance, ColumnsMask, Fitted, Held, Kept, MaskCard, exchanged, unfit
from tarnkappe.masks.columns import Columns, differing
from tarnkappe.params import param
from tarnkappe.wording import stated


@dataclass(frozen=True)
class RankSwapping(ColumnsMask):
    r"""Numbers are exchanged between records of about the same rank, in each column by itself.

    A column is sorted; every rank i that is still free is exchanged with a free rank j. With `tails` bounded,

    .. math:: i < j \le i + p n / 100,

    which is what the papers call rank swapping. Whoever knows p intersects the windows of all columns, though, and
    finds few candidates (rank intersection). With light tails the distance is drawn from a geometric distribution whose
    mean is half the window: most are near, none is ruled out, so windows exclude nobody. Missing values stay where they
    are; a last rank without a partner keeps its value. O(records · window) and O(records log records) for each column.

    References
    ----------
    .. [Moo96] Moore. "Controlled data-swapping techniques for masking public use microdata sets." U.S. Bureau of the
       Census 1996.
    .. [NHT08] Nin, Herranz, Torra. "Rethinking rank swapping to decrease disclosure risk." Data & Knowledge Engineering
       2008.
    """

    name: ClassVar = "rank-swapping"
    title: ClassVar = "rank swapping"
    card: ClassVar = MaskCard(
        changes="every number becomes that of another record with about the same rank.",
        keeps="every number, and how often it occurs; with bounded tails nobody moves farther than the window.",
        does_not="withstand who knows the window and intersects it in several columns, unless tails are light.",
        not_for="columns that follow from each other, such as income and tax: their relation is blurred.",
    )

    window_percent: float = param(doc="How far ranks may be apart, in percent of the records.", gt=0, le=100, example=5)
    tails: str = param("light", doc="Whether ranks are never farther apart, or rarely.", choices=("light", "bounded"))

    @property
    def done(self) -> str:
        """In words."""
        how = "within" if self.tails == "bounded" else "mostly within"
        return f"values exchanged between records {how} {stated(self.window_percent)} % of the ranks"

    @property
    def keeps(self) -> tuple[str, ...]:
        """In words."""
        return (f"all values of {', '.join(self.columns)}, and how often each occurs",)

    def _window(self, n: int) -> int:
        return max(int(self.window_percent / 100 * n), 1)

    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Exchange the values of each column."""
        from tarnkappe.kernels.masks.swapping import swap_at_distance, swap_in_window

        made = []
        for name in self.columns:
            x, values = data.floats(name), data.values(name)
            known = np.flatnonzero(~np.isnan(x))
            n, rng = len(known), chance.rng
            if n < 2 or (x[known] == x[known[0]]).all():
                what = f"'{name}' has fewer than two different numbers to exchange"
                raise unfit(self, what, data.source, "Leave the column out of  columns.")
            # Records with the same number come in random order: which of them is exchanged is left to chance.
            shuffled = known[rng.permutation(n)]
            order = shuffled[np.argsort(x[shuffled], kind="stable")]
            window = self._window(n)
            if self.tails == "bounded":
                partner = swap_in_window(n, window, rng.random(n))
            else:
                partner = swap_at_distance(n, rng.geometric(min(2 / (window + 1), 1.0), n))
            row = np.arange(data.n)
            row[order] = order[partner]
            made.append(values.gather(row).alias(name))
        return Held(made)

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Every value occurs as often as before."""
        for name in self.columns:
            yield Kept(f"values of {name}, and how often each occurs", differing([name], before, after))

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """Nobody moves farther than the window, if it is bounded; missing values stay."""
        for name in self.columns:
            x, z = before.floats(name), after.floats(name)
            known = ~np.isnan(x)
            yield Kept(f"missing values of {name}", int((known != ~np.isnan(z)).sum()))
            yield exchanged(name, x[known], z[known])
            if self.tails == "bounded" and (known == ~np.isnan(z)).all():
                ranks = np.sort(x[known])
                low, high = np.minimum(x, z)[known], np.maximum(x, z)[known]
                between = np.searchsorted(ranks, high) - np.searchsorted(ranks, low, "right")
                most = int(between.max(initial=0))
                yield Kept(f"ranks of {name} to within the window", most, self._window(int(known.sum())))

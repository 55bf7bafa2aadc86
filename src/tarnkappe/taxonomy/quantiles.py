"""Intervals that follow the distribution: as many records in each, round bounds, and open ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import TaxonomyError
from tarnkappe.fixes import one_by_one, say
from tarnkappe.params import param
from tarnkappe.taxonomy.base import Counts, TaxonomyBuilder, Values
from tarnkappe.taxonomy.computed import Scale, exact_numbers, interval_meaning
from tarnkappe.taxonomy.tree import ANY, Taxonomy

#: A bound may be moved by this part of an interval's records to a rounder number.
_SLACK = 4


@dataclass(frozen=True)
class Quantiles(TaxonomyBuilder):
    """Numbers in intervals that hold about as many records each, with round bounds.

    The first and the last interval are open, so neither the smallest nor the largest number of the table is
    published, and no tail is thin. A value that fills an interval alone stays itself. The levels of a numeric column
    that has no taxonomy where levels are needed. They depend on the data, so differential privacy refuses them.

    >>> Quantiles(parts=[4, 2]).build([18, 23, 31, 38, 46, 52, 67, 93], "age", [1] * 8).paths()[-1]
    ('93', '≥60', '≥40', '*')
    """

    kind: ClassVar[str] = "quantiles"
    name: ClassVar[str] = kind
    numeric: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    follows_data: ClassVar[bool] = True

    parts: tuple[int, ...] = param(
        (16, 8, 4, 2), doc="How many intervals each level has, each a divisor of the one before.", ge=2
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        finer = zip(self.parts, self.parts[1:], strict=False)
        if not self.parts or any(fine % coarse or fine == coarse for fine, coarse in finer):
            raise TaxonomyError(
                "E203",
                "the parts of quantiles must divide each other",
                hint=say("{}   (from fine to coarse)", one_by_one("quantiles", 16, 8, 4, 2)),
            )

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The values in numeric order, below the intervals that hold them."""
        texts, exact, places = exact_numbers(values, column, counts)
        order = sorted(range(len(texts)), key=lambda i: (exact[i], texts[i]))
        numbers = [exact[i] for i in order]
        records = np.ones(len(texts), np.int64) if counts is None else np.asarray(counts, np.int64)
        upto = np.cumsum(records[order])
        scale = Scale(0, None, None, places)
        bounds = _bounds(numbers, upto, self.parts[0])
        levels: list[list[str]] = []
        last: list[int] = []
        for parts in self.parts:
            step = self.parts[0] // parts
            here = sorted({bound for i, bound in bounds.items() if i % step == 0})
            if here and here != last and len(here) + 1 < len(numbers):
                enough = int(upto[-1]) // (2 * self.parts[0])
                levels.append(_names(scale, here, numbers, upto, [texts[i] for i in order], enough))
            last = here
        return Taxonomy.from_paths((texts[i], *(level[at] for level in levels), ANY) for at, i in enumerate(order))

    def meaning(self, label: str) -> str | None:
        """The bounds of the interval."""
        return interval_meaning(label)


def _bounds(numbers: Sequence[int], upto: NDArray[np.int64], parts: int) -> dict[int, int]:
    """Where interval ``i`` begins, for every ``i`` but the first; `upto` counts the records of the numbers so far."""
    total, out = int(upto[-1]), {}
    for i in range(1, parts) if len(numbers) > 1 else ():
        wanted, slack = i * total / parts, total / (parts * _SLACK)
        first, last = np.searchsorted(upto, [wanted - slack, wanted + slack], side="left")
        last = min(int(last), len(numbers) - 1) - 1
        first = min(int(first), len(numbers) - 2)
        if last < first:  # no number ends there: the nearest one does
            near = {max(first - 1, 0), first}
            first = last = min(near, key=lambda at: abs(upto[at] - wanted))
        out[i] = _roundest(numbers[first], numbers[last + 1])
    return out


def _roundest(above: int, upto: int) -> int:
    """The roundest whole number ``above < x <= upto``, the one in the middle if there are several.

    >>> _roundest(17, 23), _roundest(38, 39), _roundest(101, 612)
    (20, 39, 500)
    """
    size: int = 10 ** len(str(max(abs(above), abs(upto))))
    while True:
        for step in (size, size // 2, size // 5):
            if step and upto // step * step > above:
                least, most = above // step + 1, upto // step
                return (least + most) // 2 * step
        size //= 10


def _names(
    scale: Scale, bounds: list[int], numbers: list[int], upto: NDArray[np.int64], texts: list[str], enough: int
) -> list[str]:
    """The name of the interval that holds each number."""
    part = np.searchsorted(bounds, numbers, side="right")
    ends: list[int | None] = [None, *bounds, None]
    names = [scale.name(ends[i], ends[i + 1]) for i in range(len(bounds) + 1)]
    first = np.searchsorted(part, np.arange(len(names) + 1))
    so_far = np.append(0, upto)[first]
    for i in np.flatnonzero((np.diff(first) == 1) & (np.diff(so_far) >= max(enough, 1))):
        names[i] = texts[first[i]]
    return [names[i] for i in part]

"""Intervals between numbers of one's own choice, such as the ages that a law names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import ClassVar

import numpy as np

from tarnkappe.errors import TaxonomyError
from tarnkappe.fixes import one_by_one
from tarnkappe.params import param
from tarnkappe.taxonomy.base import Counts, TaxonomyBuilder, Values
from tarnkappe.taxonomy.computed import Scale, exact_numbers, interval_meaning, require_whole, require_whole_bounds
from tarnkappe.taxonomy.labels import written_decimal
from tarnkappe.taxonomy.tree import ANY, Taxonomy


@dataclass(frozen=True)
class Cuts(TaxonomyBuilder):
    """Numbers in intervals between given cuts, the first and the last of them open.

    A cut belongs to the interval that begins there. Every further level keeps every second cut of the one before.
    The cuts are declared, not taken from the data, so differential privacy takes them.

    >>> print(*Cuts(at=[18, 30, 67]).build([17, 18, 93], "age").paths(), sep="; ")
    ('17', '<18', '<30', '*'); ('18', '18-29', '<30', '*'); ('93', '≥67', '≥30', '*')
    """

    kind: ClassVar[str] = "cuts"
    name: ClassVar[str] = kind
    numeric: ClassVar[bool] = True
    ordered: ClassVar[bool] = True

    at: tuple[float, ...] = param(doc="Where an interval ends and the next begins, in ascending order.")
    whole: bool | None = param(
        None, doc="Whether all numbers are whole: true writes 18-29, false [18, 30); the values decide if not given."
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if not self.at or any(high <= low for low, high in pairwise(self.at)):
            raise TaxonomyError(
                "E203", "cuts must be given in ascending order, each once", hint=one_by_one("cuts", 18, 30, 67)
            )
        require_whole_bounds(self.whole, self._settings)

    @property
    def _settings(self) -> list[Decimal]:
        """The cuts as exact numbers."""
        return [written_decimal(cut) for cut in self.at]

    @property
    def n_levels(self) -> int:
        """One per halving of the cuts, and the root."""
        return len(self.at).bit_length() + 1

    @property
    def left_to_the_data(self) -> str | None:
        """Whether a number with decimals changes how all intervals are written."""
        return "whole: true" if self.whole is None else None

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The values in numeric order, below the intervals that hold them."""
        settings = self._settings
        texts, scaled, places = exact_numbers(values, column, counts, settings)
        cuts, exact = scaled[: len(settings)], scaled[len(settings) :]
        if self.whole:
            require_whole(texts, [number % 10**places > 0 for number in exact], column, counts)
        scale = Scale(0, None, None, places, self.whole)
        order = sorted(range(len(texts)), key=lambda i: (exact[i], texts[i]))
        numbers = [exact[i] for i in order]
        levels = []
        while cuts:
            ends = [None, *cuts, None]
            names = [scale.name(low, high) for low, high in pairwise(ends)]
            levels.append([names[part] for part in np.searchsorted(cuts, numbers, side="right").tolist()])
            cuts = cuts[1::2]
        return Taxonomy.from_paths((texts[i], *(level[at] for level in levels), ANY) for at, i in enumerate(order))

    def meaning(self, label: str) -> str | None:
        """The bounds of the interval."""
        return interval_meaning(label)

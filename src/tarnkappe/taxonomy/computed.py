"""Taxonomies computed from the values themselves: intervals of numbers, prefixes of codes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from tarnkappe.errors import TaxonomyError
from tarnkappe.fixes import Fix, assignment, one_by_one, say
from tarnkappe.params import param
from tarnkappe.taxonomy.base import Counts, TaxonomyBuilder, Values, texts_of
from tarnkappe.taxonomy.coverage import MOST_EXAMPLES, not_covered
from tarnkappe.taxonomy.labels import as_decimal, number_label, scaled_integers, scaled_text, shown, written_decimal
from tarnkappe.taxonomy.tree import ANY, Taxonomy


@dataclass(frozen=True)
class Intervals(TaxonomyBuilder):
    """Numbers in intervals of growing width; what lies below `bottom` or from `top` on is one group each.

    Intervals are counted from `start` and hold their lower bound: with width 5 from 0 they are 0-4, 5-9, ... for
    whole numbers and [0, 5), [5, 10), ... for others. Arithmetic is exact in decimals.

    >>> print(*Intervals(widths=[5, 10], top=80).build([17, 21, 93], "age").paths(), sep="; ")
    ('17', '15-19', '10-19', '*'); ('21', '20-24', '20-29', '*'); ('93', '≥80', '≥80', '*')
    """

    kind: ClassVar[str] = "intervals"
    name: ClassVar[str] = kind
    numeric: ClassVar[bool] = True
    ordered: ClassVar[bool] = True

    widths: tuple[float, ...] = param(
        doc="Width of the intervals per level, each a multiple of the one before.", gt=0.0
    )
    start: float | None = param(None, doc="Where intervals are counted from; 0 if not given.")
    bottom: float | None = param(None, doc="All numbers below it form one group.")
    top: float | None = param(None, doc="All numbers from it on form one group.")
    whole: bool | None = param(
        None, doc="Whether all numbers are whole: true writes 20-29, false [20, 30); the values decide if not given."
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if not self.widths:
            raise TaxonomyError("E203", "intervals need at least one width", hint=one_by_one("intervals", 5, 10, 20))
        exact, _ = scaled_integers(written_decimal(width) for width in self.widths)
        for before, width, given in zip(exact, exact[1:], self.widths[1:], strict=False):
            if width <= before or width % before:
                raise TaxonomyError(
                    "E203",
                    f"width {number_label(given)} is not a multiple of the width before it, so intervals would overlap",
                    hint=say("{}   (each a multiple of the one before)", one_by_one("intervals", 5, 10, 20)),
                )
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise TaxonomyError(
                "E203", "'bottom' must be less than 'top'", hint=Fix("bottom: 20, top: 80", "bottom=20, top=80")
            )
        require_whole_bounds(self.whole, self._settings)

    @property
    def _settings(self) -> list[Decimal]:
        """Widths, start, bottom and top as exact numbers; those not given as 0."""
        return [written_decimal(s) for s in (*self.widths, self.start or 0.0, self.bottom or 0.0, self.top or 0.0)]

    @property
    def n_levels(self) -> int:
        """One per width, and the root."""
        return len(self.widths) + 1

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
        if self.whole:
            unit = 10**places
            require_whole(texts, [number % unit > 0 for number in scaled[len(settings) :]], column, counts)
        widths = scaled[: len(self.widths)]
        start, bottom, top = scaled[len(widths) : len(settings)]
        cut = Scale(
            start, None if self.bottom is None else bottom, None if self.top is None else top, places, self.whole
        )
        exact = scaled[len(settings) :]
        order = sorted(range(len(texts)), key=lambda i: (exact[i], texts[i]))
        bounds = [[cut.interval(exact[i], width) for width in widths] for i in order]
        names = {interval: cut.name(*interval) for interval in set(itertools.chain.from_iterable(bounds))}
        rows = zip(order, bounds, strict=True)
        return Taxonomy.from_paths((texts[i], *(names[interval] for interval in row), ANY) for i, row in rows)

    def meaning(self, label: str) -> str | None:
        """The bounds of the interval."""
        return interval_meaning(label)


def interval_meaning(label: str) -> str:
    """What the name of an interval says, with either decimal sign.

    >>> interval_meaning("<20"), interval_meaning("20-24"), interval_meaning("[0,5; 1)")
    ('Less than 20.', '20 to 24, both included.', '0,5 or more, and less than 1.')
    """
    if label.startswith("<"):
        return f"Less than {label[1:]}."
    if label.startswith("≥"):
        return f"{label[1:]} or more."
    if label.startswith("["):
        low, high = re.split("[,;] ", label[1:-1])
        return f"{low} or more, and less than {high}."
    ends = label.split(" to ") if " to " in label else label.split("-") if label[0] != "-" else [label]
    return f"{ends[0]} to {ends[1]}, both included." if len(ends) == 2 else "The value itself."


def exact_numbers(
    values: Values, column: str, counts: Counts | None, settings: Sequence[Decimal] = ()
) -> tuple[list[str], list[int], int]:
    """The texts of a column's values; `settings` and values as integers in units of ``10**-places``; and `places`."""
    texts = texts_of(values, column)
    parsed = [as_decimal(text) for text in texts]
    unknown = [i for i, number in enumerate(parsed) if number is None]
    if unknown:
        examples = ", ".join(shown(texts[i]) for i in unknown[:MOST_EXAMPLES])
        raise not_covered(
            column,
            texts,
            unknown,
            counts,
            reason=lambda _: "not a number",
            what="the interval taxonomy",
            hint=f"If they stand for a missing value, write under 'data':  missing: [{examples}]",
        )
    return texts, *scaled_integers([*settings, *(number for number in parsed if number is not None)])


def require_whole_bounds(whole: bool | None, bounds: Iterable[Decimal]) -> None:
    """Refuse bounds with decimals where all numbers are said to be whole."""
    if whole and scaled_integers(bounds)[1]:
        raise TaxonomyError(
            "E203",
            "intervals of whole numbers begin and end at whole numbers",
            hint=say("{}   (they are then written as [20, 22.5))", assignment("whole", False)),
        )


def require_whole(texts: Sequence[str], broken: Sequence[bool], column: str, counts: Counts | None) -> None:
    """Refuse numbers with decimals where whole ones were promised."""
    if any(broken):
        raise not_covered(
            column,
            texts,
            [i for i, found in enumerate(broken) if found],
            counts,
            reason=lambda _: "not a whole number",
            what="the interval taxonomy",
            hint=say("{}   (intervals are then written as [20, 30))", assignment("whole", False)),
        )


@dataclass(frozen=True)
class Scale:
    """Cuts a scale of exact numbers (integers in units of ``10**-places``) into intervals and names them."""

    start: int
    bottom: int | None
    top: int | None
    places: int
    #: Whether all numbers are whole; if nobody says it, those at hand tell.
    whole: bool | None = None

    def interval(self, number: int, width: int) -> tuple[int | None, int | None]:
        """The interval ``lo <= x < hi`` of a width that holds a number; None where it is open."""
        if self.bottom is not None and number < self.bottom:
            return None, self.bottom
        if self.top is not None and number >= self.top:
            return self.top, None
        lo = self.start + (number - self.start) // width * width
        hi = lo + width
        return (
            lo if self.bottom is None else max(lo, self.bottom),
            hi if self.top is None else min(hi, self.top),
        )

    def name(self, lo: int | None, hi: int | None) -> str:
        """What an interval is called."""
        first = "" if lo is None else scaled_text(lo, self.places)
        end = "" if hi is None else scaled_text(hi, self.places)
        if lo is None:
            return f"<{end}"
        if hi is None:
            return f"≥{first}"
        if self.places if self.whole is None else not self.whole:
            return f"[{first}, {end})"
        if hi - lo == 1:
            return first
        return f"{first}-{hi - 1}" if lo >= 0 else f"{first} to {hi - 1}"


@dataclass(frozen=True)
class Prefix(TaxonomyBuilder):
    """Codes of which fewer and fewer leading characters stay; the rest is masked with ``*``.

    >>> Prefix(keep=[4, 2]).build(["22765", "01"], "zip").paths()
    [('01', '01***', '01***', '*'), ('22765', '2276*', '22***', '*')]
    """

    kind: ClassVar[str] = "prefix"
    name: ClassVar[str] = kind

    keep: tuple[int, ...] = param(doc="How many leading characters stay per level, decreasing.", ge=1)
    length: int | None = param(None, doc="How long codes are with their mask; the longest decides if not given.", ge=1)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if not self.keep:
            raise TaxonomyError(
                "E203", "a prefix taxonomy needs at least one length", hint=one_by_one("prefix", 4, 3, 2)
            )
        if list(self.keep) != sorted(set(self.keep), reverse=True):
            hint = one_by_one("prefix", *sorted(set(self.keep), reverse=True))
            raise TaxonomyError("E203", "'keep' must decrease from level to level", hint=hint)

    @property
    def n_levels(self) -> int:
        """One per prefix, and the root."""
        return len(self.keep) + 1

    @property
    def left_to_the_data(self) -> str | None:
        """How long the mask of all codes is, which the longest code decides."""
        return "length: 5" if self.length is None else None

    def build(
        self,
        values: Values,
        column: str,
        counts: Counts | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
    ) -> Taxonomy:
        """The codes in alphabetic order, below their prefixes."""
        texts = sorted(texts_of(values, column))
        width = self.length or max(map(len, texts))
        return Taxonomy.from_paths([(code, *(code[:n].ljust(width, ANY) for n in self.keep), ANY) for code in texts])

    def meaning(self, label: str) -> str | None:
        """The characters that stayed."""
        return f"Begins with {label.rstrip(ANY)}."

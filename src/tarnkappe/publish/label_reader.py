"""What a published text says: the values of the domain that it stands for, also where another tool wrote it."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tarnkappe.arrays import Codes
from tarnkappe.publish.notation import EITHER, range_ends, set_values
from tarnkappe.tally import Domain

#: Codes ``first .. last`` of a domain.
Span = tuple[int, int]

_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
#: How other tools write intervals: 20-29, 1970-80, [20, 30), ]20,30], 20 to 29, 20..29.
_BETWEEN = re.compile(rf"({_NUMBER}) ?(?:-|–|—|\.\.|to|bis) ?({_NUMBER})")
_BRACKETED = re.compile(rf"([\[\](])\s*({_NUMBER})\s*(?:[,;:–-]|\s)\s*({_NUMBER})\s*([\[\])])")
_BELOW = re.compile(rf"(<=|≤|<)\s*({_NUMBER})")
_ABOVE = re.compile(rf"(>=|≥|>)\s*({_NUMBER})")
_OR_MORE = re.compile(rf"({_NUMBER})\s*\+")
_MASKED = re.compile(r"(.*?[^*])(\*+)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class LabelReader:
    """Reads the labels of one quasi-identifier.

    A label is a value, a node of the taxonomy, a range ``[a b]`` or a set ``{a | b}``. An empty cell is the missing
    value; where the domain has none, it could be anything. A `foreign` table may also say ``20-29``, ``[20, 30)``,
    ``≥80`` or ``227**``, and its ranges may end between two values that are known.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> read = LabelReader(Domain("x", Taxonomy.from_nested({"A": ["a1", "a2"], "B": ["b1"]})))
    >>> [read.leaves(text).tolist() for text in ("A", "b1", "*", None)]
    [[0, 1], [2], [0, 1, 2], [0, 1, 2]]
    >>> read = LabelReader(Domain("age", Taxonomy.scale(["20", "25", "31", "80"])), foreign=True)
    >>> [read.leaves(text).tolist() for text in ("20-29", "[19 40]", "(25, 80]", "<25", "80+", "2*")]
    [[0, 1], [0, 1, 2], [2, 3], [0], [3], [0, 1]]
    """

    domain: Domain
    foreign: bool = False

    def leaves(self, text: str | None) -> Codes | None:
        """The codes that a label stands for, in ascending order; None if it is no label of this domain."""
        spans = self.spans(text)
        if spans is None:
            return None
        return np.sort(
            np.concatenate([np.arange(a, b + 1, dtype=np.int32) for a, b in spans] or [np.zeros(0, np.int32)])
        )

    def spans(self, text: str | None) -> tuple[Span, ...] | None:
        """The codes that a label stands for as runs that do not touch each other; None if it is no label."""
        tree, missing, last = self.domain.taxonomy, self.domain.missing, self.domain.size - 1
        if text is None:
            return ((0, last),) if missing < 0 else ((missing, missing),)
        if text in self._nodes:
            node = self._nodes[text]
            return ((int(tree.lo[node]), int(tree.hi[node])),)
        if text == EITHER and self.domain.is_binary:
            return _runs(np.flatnonzero(self.domain.known).tolist())
        ends = range_ends(text)
        if ends is not None:
            low, high = (self.domain.code_of.get(end) for end in ends)
            if low is not None and high is not None:
                return ((low, high),)
            return self._foreign(text)
        listed = set_values(text)
        if listed is not None:
            members = [self.domain.code_of.get(value, -1) for value in listed]
            return None if -1 in members else _runs(sorted(set(members)))
        with suppress(ValueError):  # a number written in another way, such as 3.0 for 3
            code = self._numbers.get(self._number(text))
            return None if code is None else ((code, code),)
        return self._foreign(text)

    def _foreign(self, text: str) -> tuple[Span, ...] | None:
        """What a text of another tool stands for; an interval without any known value stands for none of them."""
        if not self.foreign:
            return None
        found = foreign_interval(text, self.domain.decimal)
        if found is not None and self._scale[0]:
            low, high, with_low, with_high = found
            numbers, codes = self._scale
            first = (bisect_left if with_low else bisect_right)(numbers, low)
            last = (bisect_right if with_high else bisect_left)(numbers, high)
            return _runs(sorted(codes[first:last]))
        masked = _MASKED.fullmatch(text)
        if masked:
            begun = [(code, value) for value, code in self.domain.code_of.items() if value.startswith(masked[1])]
            as_long = [code for code, value in begun if len(value) == len(text)]
            return _runs(sorted(as_long or [code for code, _ in begun]))
        return None

    @cached_property
    def _nodes(self) -> dict[str, int]:
        """The highest node of each name: nodes are numbered from the root down."""
        return {label: node for node, label in reversed(list(enumerate(self.domain.taxonomy.labels)))}

    @cached_property
    def _numbers(self) -> dict[float, int]:
        """The code of each value that is a number."""
        out = {}
        for leaf, code in self.domain.code_of.items():
            with suppress(ValueError):
                out[self._number(leaf)] = code
        return out

    @cached_property
    def _scale(self) -> tuple[list[float], list[int]]:
        """The values that are numbers in ascending order, and their codes."""
        found = sorted((number, code) for number, code in self._numbers.items() if math.isfinite(number))
        return [number for number, _ in found], [code for _, code in found]

    def _number(self, text: str) -> float:
        return float(text.replace(self.domain.decimal, "."))


def foreign_interval(text: str, decimal: str = ".") -> tuple[float, float, bool, bool] | None:
    """The ends of an interval as other tools write it, and whether each belongs to it; None if it is none.

    >>> foreign_interval("20-29"), foreign_interval("1970-80"), foreign_interval("[20, 30)")
    ((20.0, 29.0, True, True), (1970.0, 1980.0, True, True), (20.0, 30.0, True, False))
    """

    def number(part: str) -> float:
        return float(part.replace(decimal, ".").replace(",", "."))

    plain = text.strip()
    if found := _BETWEEN.fullmatch(plain):
        low, high = found[1], found[2]
        if number(high) < number(low) and high.isdigit() and len(high) < len(low):  # 1970-80
            high = low[: len(low) - len(high)] + high
        return number(low), number(high), True, True
    if found := _BRACKETED.fullmatch(plain):
        return number(found[2]), number(found[3]), found[1] == "[", found[4] == "]"
    if found := _BELOW.fullmatch(plain):
        return -math.inf, number(found[2]), True, found[1] != "<"
    if found := _ABOVE.fullmatch(plain):
        return number(found[2]), math.inf, found[1] != ">", True
    if found := _OR_MORE.fullmatch(plain):
        return number(found[1]), math.inf, True, True
    return None


def _runs(codes: list[int]) -> tuple[Span, ...]:
    """Ascending codes as runs that do not touch each other."""
    if not codes:
        return ()
    breaks = [i for i in range(1, len(codes)) if codes[i] != codes[i - 1] + 1]
    starts, ends = [0, *breaks], [*breaks, len(codes)]
    return tuple((codes[a], codes[b - 1]) for a, b in zip(starts, ends, strict=True))

"""What a published text says: the values of the domain that it stands for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tarnkappe.arrays import Codes
from tarnkappe.publish.notation import EITHER, range_ends, set_values
from tarnkappe.tally import Domain


@dataclass(frozen=True, eq=False)
class LabelReader:
    """Reads the labels of one quasi-identifier.

    A label is a value, a node of the taxonomy, a range ``[a b]`` or a set ``{a | b}``. An empty cell is the missing
    value; where the domain has none, it could be anything.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> read = LabelReader(Domain("x", Taxonomy.from_nested({"A": ["a1", "a2"], "B": ["b1"]})))
    >>> [read.leaves(text).tolist() for text in ("A", "b1", "*", None)]
    [[0, 1], [2], [0, 1, 2], [0, 1, 2]]
    """

    domain: Domain

    def leaves(self, text: str | None) -> Codes | None:
        """The codes that a label stands for, in ascending order; None if it is no label of this domain."""
        tree, missing = self.domain.taxonomy, self.domain.missing
        everything = self._everything
        if text is None:
            return everything if missing < 0 else everything[[missing]]
        if text in self._nodes:
            node = self._nodes[text]
            return everything[tree.lo[node] : tree.hi[node] + 1]
        if text == EITHER and self.domain.is_binary:
            return everything[self.domain.known]
        ends = range_ends(text)
        if ends is not None:
            low, high = (self.domain.code_of.get(end) for end in ends)
            return None if low is None or high is None else everything[low : high + 1]
        listed = set_values(text)
        if listed is not None:
            members = [self.domain.code_of.get(value, -1) for value in listed]
            return None if -1 in members else np.sort(np.array(members, np.int32))
        with suppress(ValueError):  # a number written in another way, such as 3.0 for 3
            code = self._numbers.get(self._number(text))
            return None if code is None else everything[[code]]
        return None

    @cached_property
    def _everything(self) -> Codes:
        """All codes; labels are parts of it, so that many of them take no more room than one."""
        return np.arange(self.domain.size, dtype=np.int32)

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

    def _number(self, text: str) -> float:
        return float(text.replace(self.domain.decimal, "."))

"""Labels to values: what a published text stands for, read from the text alone.

This is the way back from `tarnkappe.publish.labels`, written separately, so that a mistake in one of them shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import zip_longest

import numpy as np

from tarnkappe.arrays import Codes, Flags
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.notation import EITHER, range_ends, set_values
from tarnkappe.tally import Domain

#: Leaves ``first .. last`` of a taxonomy.
Span = tuple[int, int]

_NOTHING: Span = (1, 0)


def covers(labels: Labels, domain: Domain, group: Codes, leaf: Codes, missing_texts: Collection[str] = ()) -> Flags:
    """Whether what each group publishes is true of the value beside it.

    `group` and `leaf` go together: one entry for every cell that a group holds.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> age = Domain("age", Taxonomy.scale(["20", "25", "30"]))
    >>> labels = Labels(("[20 25]", "30"), np.array([0, 1], np.int32))
    >>> covers(labels, age, np.array([0, 0, 1, 1]), np.array([0, 1, 2, 0])).tolist()
    [True, True, True, False]
    """
    reading = _Reading(domain)
    spans = [list(reading.spans(text)) for text in labels.texts]
    spans.append(list(reading.missing(missing_texts)))  # where the code is -1
    code = labels.code[group]
    ok = np.zeros(len(leaf), np.bool_)
    if domain.wildcard:
        ok |= leaf == domain.missing  # a missing wildcard could be anything
    for meaning in zip_longest(*spans, fillvalue=_NOTHING):  # most texts have one meaning, sets as many as values
        first, last = np.array(meaning, np.int32).T
        ok |= (first[code] <= leaf) & (leaf <= last[code])
        if ok.all():
            break
    return ok


class _Reading:
    """The texts that may stand for values of a domain."""

    def __init__(self, domain: Domain) -> None:
        tree = domain.taxonomy
        self._leaf = {text: code for code, text in enumerate(tree.leaves) if code != domain.missing}
        self._nodes: dict[str, list[Span]] = {}
        for text, first, last in zip(tree.labels, tree.lo.tolist(), tree.hi.tolist(), strict=True):
            self._nodes.setdefault(text, []).append((first, last))
        self._missing = domain.missing
        self._binary = domain.is_binary

    def spans(self, text: str) -> Iterator[Span]:
        """The leaves that a text stands for: those of a node, of a range, or of a set, if it can be read as one."""
        yield from self._nodes.get(text, ())
        if text == EITHER and self._binary:
            yield self._leaf["0"], self._leaf["1"]
        ends = range_ends(text)
        if ends is not None and self._leaf.keys() >= set(ends):
            yield self._leaf[ends[0]], self._leaf[ends[1]]
        for value in set_values(text) or ():
            if value in self._leaf:
                yield self._leaf[value], self._leaf[value]

    def missing(self, missing_texts: Collection[str]) -> Iterator[Span]:
        """What an empty cell stands for: the missing value, and a label that reads like one."""
        if self._missing >= 0:
            yield self._missing, self._missing
        for text in missing_texts:
            yield from self.spans(text)

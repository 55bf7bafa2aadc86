"""Groups publish boxes: the interval, the set of values or the taxonomy node that covers their records."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Flags
from tarnkappe.boxes import Boxes
from tarnkappe.publish.form import Held, Labelled, Meaning
from tarnkappe.publish.labels import Labels, publish_boxes
from tarnkappe.publish.notation import EITHER, list_text, set_values
from tarnkappe.publish.reading import covers
from tarnkappe.schema import Column
from tarnkappe.tally import Domain, distinct_rows

_ANYTHING, _ITSELF = "Any value: nothing is said.", "The value itself."
_UNCHANGED = "published unchanged: no group needed to coarsen it"


class BoxForm(Labelled):
    """What all forms have in common that publish boxes."""

    name: ClassVar = "boxes"
    hides: ClassVar = frozenset({"identity", "presence", "secret"})
    changes: ClassVar = "coarsened where needed"

    @classmethod
    def proved(cls, kept: str | None) -> str:
        """Labels are true of every record, and so is what is kept of it."""
        return cls.truth if kept is None else f"labels and {kept} true of every record"

    def covering(self, boxes: Boxes) -> FixedBoxes:
        """Boxes of which no cell decides."""
        return FixedBoxes(boxes)

    def united(self, new: Codes, n_groups: int, domains: Sequence[Domain]) -> BoxForm:
        """What groups say after group ``g`` became a part of ``new[g]``: no more than its parts did."""
        return self if self.fixed is None else FixedBoxes(self.fixed.united(new, n_groups, domains))

    def labels(self, boxes: Boxes, domains: Sequence[Domain], missing: Collection[str] = ()) -> tuple[Labels, ...]:
        """The labels of the boxes."""
        return publish_boxes(boxes, tuple(domains), missing)

    def done(self, j: int, column: Column, domain: Domain, boxes: Boxes, labels: Labels) -> str:
        """How far a column was coarsened: not at all, to a level, or as each group needed it.

        Where the values of others decide which levels there are, nothing is said about levels.
        """
        if column.taxonomy is None or column.taxonomy.follows_data:
            return self._as_labels_tell(j, domain, boxes, labels)
        lo, hi, node = (values[:, j] for values in (boxes.lo, boxes.hi, boxes.node))
        tree = domain.taxonomy
        if np.all((lo > hi) | (node == tree.leaf_nodes[np.minimum(lo, domain.size - 1)])):
            return (
                f"generalised to its lowest level, {domain.floor} of {domain.floor + tree.height}, for everybody"
                if domain.floor
                else _UNCHANGED
            )
        return self._coarsened(j, domain, boxes)

    def _as_labels_tell(self, j: int, domain: Domain, boxes: Boxes, labels: Labels) -> str:
        """How a column was coarsened whose taxonomy depends on the data, as far as its labels tell."""
        if not domain.floor and set(labels.texts) <= set(domain.taxonomy.leaves):
            return _UNCHANGED
        return self._by_labels(j, domain, boxes)

    @abstractmethod
    def _coarsened(self, j: int, domain: Domain, boxes: Boxes) -> str: ...

    @abstractmethod
    def _by_labels(self, j: int, domain: Domain, boxes: Boxes) -> str: ...

    def meanings(self, j: int, column: Column, domain: Domain, boxes: Boxes, labels: Labels) -> Iterator[Meaning]:
        """The labels in the order of the values they stand for; of their texts, if records decide about that order."""
        spread = boxes.publishes_range(j, domain)
        tree, node = domain.taxonomy, boxes.node[:, j]
        low, high = np.where(spread, boxes.lo[:, j], tree.lo[node]), np.where(spread, boxes.hi[:, j], tree.hi[node])
        sizes = [len(labels.texts) + 1, tree.n_nodes, domain.size, domain.size]
        _, first = distinct_rows([labels.code + 1, node, low, high], sizes)
        order = np.lexsort((-high[first], low[first]))
        if column.taxonomy is not None and column.taxonomy.follows_data and not column.taxonomy.ordered:
            order = np.array(sorted(range(len(first)), key=lambda i: _text_of(labels, int(first[i]))), np.int64)
        said: dict[str | None, list[str]] = {}
        for group in first[order]:
            label = labels.texts[labels.code[group]] if labels.code[group] >= 0 else None
            words = "Missing in the data."
            if label is not None:
                words = _meaning(label, group, boxes, j, domain, column, bool(spread[group]))
            said.setdefault(label, []).append(words)
        yield from ((label, one_meaning(words)) for label, words in said.items())

    def untrue(self, j: int, domain: Domain, boxes: Boxes, labels: Labels, held: Held, missing: Collection[str]) -> int:
        """Groups whose label does not cover a value that it stands for."""
        return len(np.unique(held.group[~covers(labels, domain, held.group, held.value, missing)]))


@dataclass(frozen=True, eq=False)
class TightBoxes(BoxForm):
    """Boxes that lie tight around the cells of their groups."""

    def relabel(self, new: Codes, n_groups: int) -> TightBoxes:
        """Boxes follow from the cells, whatever the groups are called."""
        return self

    @classmethod
    def joined(cls, parts: Sequence[Labelled]) -> TightBoxes:
        """Boxes follow from the cells."""
        return TIGHT

    def _coarsened(self, j: int, domain: Domain, boxes: Boxes) -> str:
        if domain.sets:
            return "sets of values {a | b} per group"
        if domain.is_binary:
            return "0/1 where a group has both"
        return "intervals [min max] per group" if domain.is_range.any() else "lowest common category per group"

    def _by_labels(self, j: int, domain: Domain, boxes: Boxes) -> str:
        return self._coarsened(j, domain, boxes)


#: What groups publish unless something else was decided.
TIGHT = TightBoxes()


@dataclass(frozen=True, eq=False)
class FixedBoxes(BoxForm):
    """Boxes that an algorithm fixed, because it recodes a value in the same way everywhere."""

    fixed: Boxes

    def relabel(self, new: Codes, n_groups: int) -> FixedBoxes:
        """The boxes after groups were renamed."""
        return FixedBoxes(self.fixed.relabel(new, n_groups))

    @classmethod
    def joined(cls, parts: Sequence[Labelled]) -> FixedBoxes:
        """All boxes; parts without groups have none."""
        return FixedBoxes(Boxes.joined([part.fixed for part in parts if part.fixed is not None]))

    def _coarsened(self, j: int, domain: Domain, boxes: Boxes) -> str:
        lo, hi, node = (values[:, j] for values in (boxes.lo, boxes.hi, boxes.node))
        tree = domain.taxonomy
        if np.all((lo == tree.lo[node]) & (hi == tree.hi[node])):
            levels = [i for i, nodes in enumerate(tree.ancestors) if np.array_equal(nodes[lo], node)]
            if levels:
                return f"generalised to level {domain.floor + levels[0]} of {domain.floor + tree.height} for everybody"
        if _is_alike(j, boxes):
            pieces = "sets" if domain.sets else "intervals"
            how = f"cut into {pieces}" if domain.is_range.any() else "generalised value by value"
            return f"{how}, alike for everybody"
        return "generalised as far as each group needed it"

    def _by_labels(self, j: int, domain: Domain, boxes: Boxes) -> str:
        if domain.is_range.any() and not domain.sets and _is_alike(j, boxes):
            return "cut into intervals, alike for everybody"
        return "generalised as far as needed"


def _text_of(labels: Labels, group: int) -> tuple[bool, str]:
    """What a group publishes, for sorting; a gap comes last."""
    code = labels.code[group]
    return bool(code < 0), "" if code < 0 else labels.texts[code]


def _is_alike(j: int, boxes: Boxes) -> bool:
    """Whether no two labels of a column share a value, so that every value is published in the same way everywhere."""
    ends = np.unique(np.column_stack([boxes.lo[:, j], boxes.hi[:, j]]), axis=0)
    return bool(np.all(ends[1:, 0] > np.maximum.accumulate(ends[:, 1])[:-1]))


def told_exactly(boxes: Boxes, j: int, domain: Domain) -> tuple[Flags, Flags]:
    """Which groups tell the value itself in quasi-identifier `j`, and which tell nothing; all others tell a part."""
    tree, node = domain.taxonomy, boxes.node[:, j]
    spread = boxes.publishes_range(j, domain)
    nothing = ~spread & (node == 0)
    leaf = (tree.lo[node] == tree.hi[node]) & (node == tree.leaf_nodes[tree.lo[node]])
    return ~spread & ~nothing & leaf & (not domain.floor), nothing


def lowest_meanings(codes: Codes, column: Column, domain: Domain) -> Iterator[Meaning]:
    """What the labels of a column mean of which everybody has that of the lowest level; `codes` are those published."""
    tree = domain.taxonomy
    present = [int(code) for code in np.unique(codes)]
    if column.taxonomy is not None and column.taxonomy.follows_data and not column.taxonomy.ordered:
        present.sort(key=lambda code: (code == domain.missing, tree.leaves[code]))
    for code in present:
        if code == domain.missing:
            yield None, "Missing in the data."
        else:
            yield tree.leaves[code], _meaning_of(tree.leaves[code], int(tree.leaf_nodes[code]), column, domain)


def one_meaning(words: Sequence[str]) -> str:
    """What a label means that stands for several things, as where a value is called like a group of others.

    >>> one_meaning(["The value itself.", "Begins with 227."])
    'Begins with 227.'
    """
    different = list(dict.fromkeys(words))
    if _ANYTHING in different:
        return _ANYTHING
    if len(different) == 2 and _ITSELF in different and any(w.startswith("Begins with ") for w in different):
        different.remove(_ITSELF)
    return different[0] if len(different) == 1 else "Several values or groups of values are called so."


def _meaning(label: str, group: int, boxes: Boxes, j: int, domain: Domain, column: Column, spread: bool) -> str:
    tree = domain.taxonomy
    if spread and label == EITHER:
        return "0 or 1."
    if spread and domain.sets:
        return f"One of: {list_text(set_values(label) or ())}."
    if spread:
        ends = f"{tree.leaves[boxes.lo[group, j]]} to {tree.leaves[boxes.hi[group, j]]}, both included"
        return f"{ends}." if domain.values is not None else f"{ends}, in the order of the column."
    return _meaning_of(label, int(boxes.node[group, j]), column, domain)


def _meaning_of(label: str, node: int, column: Column, domain: Domain) -> str:
    tree = domain.taxonomy
    if node == 0:
        return _ANYTHING
    if tree.lo[node] == tree.hi[node] and not domain.floor and node == tree.leaf_nodes[tree.lo[node]]:
        return _ITSELF
    said = None if column.taxonomy is None else column.taxonomy.meaning(label)
    if said is not None:
        return said
    # Which values lie below it is not said: some of them may belong to few people, or to nobody who is published.
    return "A category in the taxonomy of the column."

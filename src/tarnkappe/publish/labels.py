"""Boxes to labels: the text a group publishes in each quasi-identifier."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.enumerated import text_column
from tarnkappe.kernels.engines.dealing import gathered
from tarnkappe.publish.notation import EITHER, range_text, set_text
from tarnkappe.tally import Domain, distinct_rows

if TYPE_CHECKING:  # whoever writes a criterion needs no frames
    import polars as pl


@dataclass(frozen=True, eq=False)
class Labels:
    """One column's published texts, and which of them each group has (-1: the missing value).

    Only texts that some group publishes are listed: an unused one would ride along in the header of a file. Where they
    are numbers, `numbers` holds them, and the column is written as numbers.
    """

    texts: tuple[str, ...]
    code: Codes
    numbers: pl.Series | None = None

    def at(self, groups: Codes) -> pl.Series:
        """The column for records that belong to these groups; the missing value is null."""
        code = gathered(self.code, groups)
        if self.numbers is None:
            return text_column(code, self.texts)
        return self.numbers.extend_constant(None, 1).gather(np.where(code < 0, len(self.texts), code))


def labels_of_numbers(values: Floats) -> Labels:
    """The labels of groups that publish these numbers; as whole numbers, if they are."""
    import polars as pl

    distinct, code = np.unique(values, return_inverse=True)
    numbers = pl.Series(distinct)
    numbers = numbers.cast(pl.Int64) if bool(np.all(np.mod(distinct, 1) == 0)) else numbers
    return Labels(tuple(str(x) for x in numbers.to_list()), code.astype(np.int32), numbers)


def labels_of(boxes: Boxes, j: int, domain: Domain, missing_texts: Collection[str] = ()) -> Labels:
    """The labels of quasi-identifier `j` for all groups.

    One value publishes itself, an interval of a range ``[min max]``, a set its values ``{a | b}``, anything else the
    label of its node. A group whose cells are all missing publishes the missing value, and so does a label that reads
    like one of `missing_texts`.
    """
    tree, lo, hi, node = domain.taxonomy, boxes.lo[:, j], boxes.hi[:, j], boxes.node[:, j]
    missing = (lo > hi) | ((lo == hi) & (lo == domain.missing))
    spread = boxes.publishes_range(j, domain)
    texts = np.array([*tree.labels, None], dtype=object)
    leaves = np.array(tree.leaves, dtype=object)
    # A key for each way of being published: the node (the last one stands for missing), then what is inside it.
    outer = np.where(missing, tree.n_nodes, node)
    if j in boxes.members:
        sets, inner = np.unique(np.where(spread, boxes.members[j], 0), return_inverse=True)
        way, first = distinct_rows([outer, inner], [tree.n_nodes + 1, len(sets)])
        inside = [set_text(_members(leaves, int(sets[i]))) for i in inner[first]]
    else:
        low, high = np.where(spread, lo, 0), np.where(spread, hi, 0)
        way, first = distinct_rows([outer, low, high], [tree.n_nodes + 1, domain.size, domain.size])
        ends = zip(leaves[low[first]], leaves[high[first]], strict=True)
        inside = [EITHER if domain.is_binary else range_text(a, b) for a, b in ends]
    return _distinct(np.where(spread[first], np.array(inside, dtype=object), texts[outer[first]]), way, missing_texts)


def _members(leaves: NDArray[Any], bits: int) -> list[str]:
    return [leaves[i] for i in range(bits.bit_length()) if bits >> i & 1]


def _distinct(texts: NDArray[Any], way: Codes, missing_texts: Collection[str]) -> Labels:
    """Equal texts become one label: what looks the same is the same to whoever reads the release."""
    order: dict[str, int] = {}
    code = np.array(
        [-1 if t is None or t in missing_texts else order.setdefault(t, len(order)) for t in texts], np.int32
    )
    return Labels(tuple(order), code[way])


def publish_boxes(boxes: Boxes, domains: tuple[Domain, ...], missing_texts: Collection[str] = ()) -> tuple[Labels, ...]:
    """The labels of all quasi-identifiers."""
    return tuple(labels_of(boxes, j, domain, missing_texts) for j, domain in enumerate(domains))

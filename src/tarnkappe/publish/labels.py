"""Boxes to labels: the text a group publishes in each quasi-identifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.groups import Boxes
from tarnkappe.tally import Codes, Domain, distinct_rows

#: Beyond this many different labels a column is written as plain text: an enumeration would only bloat the header.
_ENUM_LIMIT = 1 << 16


@dataclass(frozen=True, eq=False)
class Labels:
    """One column's published texts, and which of them each group has (-1: the missing value).

    Only texts that some group publishes are listed: an unused one would ride along in the header of a file.
    """

    texts: tuple[str, ...]
    code: Codes

    def at(self, groups: Codes) -> pl.Series:
        """The column for records that belong to these groups; the missing value is null."""
        code = self.code[groups]
        if len(self.texts) > _ENUM_LIMIT:
            text = pl.Series([*self.texts, None], dtype=pl.String)
            return text.gather(np.where(code < 0, len(self.texts), code))
        physical = pl.Series(code)
        if (code < 0).any():
            physical = pl.select(pl.when(physical >= 0).then(physical)).to_series()
        return physical.cat.to(pl.Enum(self.texts))


def labels_of(domain: Domain, lo: Codes, hi: Codes, node: Codes) -> Labels:
    """The labels of one quasi-identifier for all groups.

    One value publishes itself, an interval of a range ``[min max]``, anything else the label of its node. A group whose
    cells are all missing publishes the missing value.
    """
    tree = domain.taxonomy
    missing = (lo > hi) | ((lo == hi) & (lo == domain.missing))
    interval = domain.is_range[node] & (lo < hi)
    # A key for each way of being published: interval of codes, node, or missing (node -1).
    low = np.where(interval, lo, np.where(missing, 0, node + 1))
    high = np.where(interval, hi, 0)
    way, first = distinct_rows([interval, low, high], [2, tree.n_nodes + 1, domain.size])
    leaves = np.array(tree.leaves, dtype=object)
    texts = np.array([None, *tree.labels], dtype=object)[low[first]]
    at = first[interval[first]]
    texts[interval[first]] = [f"[{a} {b}]" for a, b in zip(leaves[lo[at]], leaves[hi[at]], strict=True)]
    return _distinct(texts, way)


def _distinct(texts: NDArray[Any], way: Codes) -> Labels:
    """Equal texts become one label: what looks the same is the same to whoever reads the release."""
    order: dict[str, int] = {}
    code = np.array([-1 if t is None else order.setdefault(t, len(order)) for t in texts], np.int32)
    return Labels(tuple(order), code[way])


def publish_boxes(boxes: Boxes, domains: tuple[Domain, ...]) -> tuple[Labels, ...]:
    """The labels of all quasi-identifiers."""
    return tuple(labels_of(d, boxes.lo[:, j], boxes.hi[:, j], boxes.node[:, j]) for j, d in enumerate(domains))

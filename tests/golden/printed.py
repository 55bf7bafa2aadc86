"""Small tables as printed in a text, turned into what criteria read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.groups import Grouping, GroupStats
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy


def stats_of_printed(
    rows: Sequence[Sequence[str]], *sensitive: Taxonomy | Sequence[str], names: Sequence[str] = ("s", "s2")
) -> GroupStats:
    """Statistics of a printed table: rows that look the same form a group.

    The last columns are sensitive, one for each domain given (a taxonomy, or values in their order).
    """
    n = len(sensitive)
    looks = [tuple(row[: len(row) - n]) for row in rows]
    order = list(dict.fromkeys(looks))
    group = np.array([order.index(look) for look in looks])
    columns = {}
    for i, domain in enumerate(sensitive):
        tree = domain if isinstance(domain, Taxonomy) else Taxonomy.scale(list(domain))
        codes = np.array([tree.leaves.index(row[len(row) - n + i]) for row in rows], np.int32)
        columns[names[i]] = (codes, Domain(names[i], tree))
    return GroupStats.from_cells(group, np.ones(len(rows), np.int64), columns)


def tally_of(rows: Sequence[Sequence[str]], trees: Sequence[Taxonomy]) -> Tally:
    """The tally of a raw table without sensitive columns."""
    codes = [np.array([tree.leaves.index(row[j]) for row in rows]) for j, tree in enumerate(trees)]
    return count_cells(codes, [], [Domain(f"q{j}", tree) for j, tree in enumerate(trees)], [])[0]


def at_levels(tally: Tally, levels: Sequence[int]) -> Grouping:
    """The full-domain generalisation of a tally to one level per quasi-identifier."""
    return recode(tally, [Cut.at_level(d, at) for d, at in zip(tally.quasi_domains, levels, strict=True)])

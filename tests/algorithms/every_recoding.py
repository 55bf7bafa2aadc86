"""All subtree recodings of a small table, one by one: what exact searches are compared with.

Nothing here knows about refinements, bounds or kernels: a recoding of a column is a list of sets of codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tarnkappe.boxes import Boxes
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.metrics import CellLoss
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Domain, Tally

Parts = tuple[tuple[int, ...], ...]


def column_recodings(domain: Domain, present: list[int], node: int = 0) -> set[Parts]:
    """Every way to publish the codes of a node: as the node, cut into intervals, or as its children are published."""
    tree = domain.taxonomy
    codes = tuple(c for c in present if tree.lo[node] <= c <= tree.hi[node])
    if not codes:
        return {()}
    out: set[Parts] = {(codes,)}
    if tree.ranges[node]:
        for cuts in product([False, True], repeat=len(codes) - 1):
            parts = [[codes[0]]]
            for cut, code in zip(cuts, codes[1:], strict=True):
                if cut:
                    parts.append([])
                parts[-1].append(code)
            out.add(tuple(map(tuple, parts)))
        return out
    children = [v for v in range(1, tree.n_nodes) if tree.parent[v] == node]
    if children:
        for chosen in product(*(column_recodings(domain, present, v) for v in children)):
            out.add(tuple(part for parts in chosen for part in parts))
    return out


def recodings(tally: Tally) -> Iterator[tuple[Parts, ...]]:
    """Every recoding of all columns."""
    columns = [
        sorted(column_recodings(domain, sorted(set(tally.quasi[:, j].tolist()))))
        for j, domain in enumerate(tally.quasi_domains)
    ]
    return product(*columns)


def settled(tally: Tally, goal: Goal, recoding: tuple[Parts, ...]) -> Grouping | None:
    """The groups of a recoding with the violating ones suppressed; None if that is not allowed."""
    part_of = [{code: i for i, part in enumerate(parts) for code in part} for parts in recoding]
    keys = [tuple(p[int(c)] for p, c in zip(part_of, row, strict=True)) for row in tally.quasi]
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    group = np.array([numbers[key] for key in keys], np.int32)
    return suppress_leftovers(tally, Grouping.of_cells(tally, group, len(numbers)), goal)


def discernibility(tally: Tally, grouping: Grouping) -> int:
    """Squares of the sizes, and the size of the table per suppressed record."""
    total = tally.n_records * grouping.suppressed
    for g in range(grouping.n_groups):
        total += int(grouping.quota[grouping.group == g].sum()) ** 2
    return total


def misclassified(tally: Tally, grouping: Grouping, target: str) -> int:
    """Suppressed records, and those outside the majority of their group."""
    codes = tally.sensitive[:, tally.sensitive_index(target)]
    total = grouping.suppressed
    for g in range(grouping.n_groups):
        mine = grouping.group == g
        found = np.bincount(codes[grouping.cell[mine]], weights=grouping.quota[mine])
        total += int(found.sum() - found.max())
    return total


def mean_loss(tally: Tally, grouping: Grouping, recoding: tuple[Parts, ...], metric: CellLoss) -> float:
    """The weighted mean loss of a cell, each part published as tightly as possible; 1 where it is suppressed."""
    losses = []
    for j, (domain, parts) in enumerate(zip(tally.quasi_domains, recoding, strict=True)):
        of_code = {}
        for part in parts:
            lo, hi = np.array([part[0]], np.int32), np.array([part[-1]], np.int32)
            members = {0: np.array([sum(1 << c for c in part)], np.uint64)} if domain.sets else {}
            box = Boxes(lo[:, None], hi[:, None], domain.nodes(lo, hi)[:, None], members)
            of_code.update(dict.fromkeys(part, float(metric.cell_loss(box, 0, domain)[0])))
        loss = np.array([of_code[int(c)] for c in tally.quasi[:, j]])
        kept = grouping.group >= 0
        losses.append(float((np.where(kept, loss, 1.0) * grouping.quota).sum()) / tally.n_records)
    return float(np.average(losses, weights=[d.weight for d in tally.quasi_domains]))

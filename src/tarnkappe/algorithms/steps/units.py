"""The tally as local recoding sees it: only the columns that the goal looks at, parts of it, and a ruler for boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.widths import Ruler
from tarnkappe.tally import Domain, Tally, begins_run, distinct_rows


def ruler_of(domains: Sequence[Domain]) -> Ruler:
    """What kernels need to know to measure boxes: the weighted widths of `Domain.widths` as flat arrays."""
    sizes = [d.size for d in domains]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    total = int(start[-1])
    plain = np.array([bool(d.is_range[0]) for d in domains])
    rows = max(1, *(1 if p else len(d.taxonomy.split_minima) for d, p in zip(domains, plain, strict=True)))
    place, share = np.zeros(total), np.zeros(total)
    scaled, depth = np.zeros(total, np.bool_), np.zeros(total, np.int32)
    minima = np.zeros((rows, total), np.int32)
    for domain, first, end, is_plain in zip(domains, start[:-1], start[1:], plain, strict=True):
        place[first:end] = domain.positions * (domain.weight / (domain.extent or 1.0))
        if is_plain:
            continue
        tree = domain.taxonomy
        depth[first:end], node = tree.splits
        share[first:end] = (tree.leaf_counts[node] - 1) * (domain.weight / max(domain.size - 1, 1))
        scaled[first:end] = domain.is_range[node]
        minima[: len(tree.split_minima), first:end] = tree.split_minima + first
    wild = np.array([d.missing if d.wildcard else -1 for d in domains], np.int32)
    return Ruler(start, place, share, scaled, depth, minima, plain, wild)


def project(tally: Tally, goal: Goal) -> tuple[Tally, Codes]:
    """The tally without the columns that the goal does not look at, and its cell for each cell of the full one.

    Records that differ in nothing the goal can see are interchangeable.
    """
    kept = [s for s, d in enumerate(tally.sensitive_domains) if goal.joint or d.name in goal.columns]
    if len(kept) == len(tally.sensitive_domains):
        return tally, np.arange(tally.n_cells, dtype=np.int32)
    columns = [*tally.quasi.T, *tally.sensitive[:, kept].T]
    domains = tuple(tally.sensitive_domains[s] for s in kept)
    owner, first = distinct_rows(columns, [d.size for d in (*tally.quasi_domains, *domains)])
    count = np.bincount(owner, weights=tally.count, minlength=len(first)).astype(np.int64)
    quasi, sensitive = np.ascontiguousarray(tally.quasi[first]), np.ascontiguousarray(tally.sensitive[first][:, kept])
    return replace(tally, quasi=quasi, sensitive=sensitive, count=count, sensitive_domains=domains), owner


def deal_out(tally: Tally, owner: Codes, grouping: Grouping) -> Grouping:
    """A grouping of the projected tally as one of the full tally: records of a cell are dealt out in order."""
    order = np.argsort(owner, kind="stable")
    cells_end, pieces_end = np.cumsum(tally.count[order]), np.cumsum(grouping.quota)
    ends = np.union1d(cells_end, pieces_end)
    cell = order[np.searchsorted(cells_end, ends)].astype(np.int32)
    group = grouping.group[np.searchsorted(pieces_end, ends)]
    return tidy(cell, group, np.diff(ends, prepend=0), grouping.n_groups)


def tidy(cell: Codes, group: Codes, quota: Counts, n_groups: int) -> Grouping:
    """Pieces as a grouping: sorted by cell, each cell once per group."""
    kind, first = distinct_rows([cell, group + 1], [int(cell.max(initial=0)) + 1, n_groups + 1])
    total = np.bincount(kind, weights=quota, minlength=len(first)).astype(np.int64)
    return Grouping(cell[first], group[first], total, n_groups)


def select(tally: Tally, chosen: NDArray[np.bool_], count: Counts | None = None) -> tuple[Tally, Codes]:
    """The tally of some cells only, or of a part of their records, and which cells these are."""
    cells = np.flatnonzero(chosen).astype(np.int32)
    records = tally.count if count is None else count
    return replace(tally, quasi=tally.quasi[cells], sensitive=tally.sensitive[cells], count=records[cells]), cells


def tuples_of(tally: Tally) -> Codes:
    """The number of every cell's combination of quasi-identifiers."""
    return np.cumsum(begins_run(tally.quasi), dtype=np.int32) - np.int32(1)


def first_of_tuples(tally: Tally) -> Counts:
    """The first cell of every combination of quasi-identifiers."""
    return np.flatnonzero(np.diff(tuples_of(tally), prepend=-1))


def secret_values(tally: Tally, goal: Goal) -> tuple[Codes, int]:
    """What the goal sees of each cell besides the quasi-identifiers, as one code, and how many there are."""
    columns = [s for s, d in enumerate(tally.sensitive_domains) if goal.joint or d.name in goal.columns]
    if not columns:
        return np.zeros(tally.n_cells, np.int32), 1
    sizes = [tally.sensitive_domains[s].size for s in columns]
    value, first = distinct_rows([tally.sensitive[:, s] for s in columns], sizes)
    return value, len(first)

"""Random releases: groups that publish labels, for criteria that no single group decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tarnkappe.criteria.base import Criterion
from tarnkappe.groups import GroupStats
from tarnkappe.tally import distinct_rows
from tarnkappe.testing.shared import counted_domains, require, sensitive_domain

#: The quasi-identifiers of random tables, and how many labels each may have in a random release.
QUASI = {"age": 8, "city": 6, "grade": 3}


def random_release(criterion: Criterion, rng: np.random.Generator) -> GroupStats:
    """Groups with distinct labels, of sizes from one record to a thousand."""
    unknown = [name for name in criterion.quasi_identifiers if name not in QUASI]
    require(not unknown, f"random releases have the quasi-identifiers {', '.join(QUASI)}, not {', '.join(unknown)}")
    combinations = np.indices(tuple(QUASI.values())).reshape(len(QUASI), -1).T
    n = int(rng.integers(1, len(combinations)))
    keys = rng.permutation(combinations)[:n].astype(np.int32)
    domains = [*counted_domains([criterion], 40).values()] or [sensitive_domain("a sensitive column", 40)]
    size = np.exp(rng.uniform(0, rng.uniform(0.5, 7), n)).astype(np.int64)
    group = np.repeat(np.arange(n), size)
    columns = [rng.integers(0, d.size, len(group)).astype(np.int32) for d in domains]
    code, first = distinct_rows(columns, [d.size for d in domains])
    return GroupStats.from_cells(
        group,
        np.ones(len(group), np.int64),
        {d.name: (column, d) for d, column in zip(domains, columns, strict=True)},
        joint=(tuple(domains), code, np.column_stack(columns)[first]),
        keys=keys,
        quasi=tuple(QUASI),
    )


def coarser(stats: GroupStats, rng: np.random.Generator) -> GroupStats:
    """The release with pairs of labels of one quasi-identifier made one."""
    assert stats.keys is not None
    keys = stats.keys.copy()
    spread = np.flatnonzero(keys.max(axis=0) > keys.min(axis=0))
    j = int(rng.choice(spread))
    keys[:, j] //= 2
    into, first = distinct_rows(list(keys.T), [int(column.max()) + 1 for column in keys.T])
    return replace(stats.pooled(into), keys=keys[first])

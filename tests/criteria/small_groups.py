"""Statistics of small groups written out by hand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from tarnkappe.groups import GroupStats
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

Counted = Mapping[Hashable, int]


def named(groups: Sequence[Counted], table: Counted | None = None, tree: Taxonomy | None = None) -> GroupStats:
    """Groups of counts per name in the column ``s``, compared with a table (their sum if none is given)."""
    if tree is None:
        names = sorted({str(v) for g in (*groups, table or {}) for v in g})
        tree = Taxonomy.from_nested(names)
    domain = Domain("s", tree)
    return _stats(groups, domain, domain.code_of, table)


def numeric(groups: Sequence[Counted], missing: bool = False) -> GroupStats:
    """Groups of counts per number in the column ``s``; None is a missing one."""
    values = sorted({float(v) for g in groups for v in g if v is not None})  # type: ignore[arg-type]
    tree, positions = Taxonomy.scale([repr(v) for v in values]), np.array(values)
    code_of: dict[Hashable, int] = {v: i for i, v in enumerate(values)}
    if missing:
        tree, positions = tree.with_missing("?"), np.append(positions, np.nan)
        code_of[None] = tree.n_leaves - 1
    return _stats(groups, Domain("s", tree, positions if values else None, code_of.get(None, -1)), code_of)


def guarded(groups: Sequence[Sequence[tuple[str, str | None]]], tree: Taxonomy) -> GroupStats:
    """Groups of records (value, guarding node) in the columns ``s`` and ``guard``."""
    nodes = sorted({node for records in groups for _, node in records if node is not None})
    secret = Domain("s", tree)
    tree = Taxonomy.scale(nodes).with_missing("?")
    guard = Domain("guard", tree, missing=tree.n_leaves - 1, aside=True)
    cells = [(g, *record) for g, records in enumerate(groups) for record in records]
    group = np.array([g for g, _, _ in cells], np.int32)
    value = np.array([secret.code_of[v] for _, v, _ in cells], np.int32)
    node = np.array([guard.missing if n is None else nodes.index(n) for _, _, n in cells], np.int32)
    meaning, joint = np.unique(np.column_stack([value, node]), axis=0, return_inverse=True)
    return GroupStats.from_cells(
        group,
        np.ones(len(cells), np.int64),
        {"s": (value, secret), "guard": (node, guard)},
        joint=((secret, guard), joint.reshape(-1).astype(np.int32), meaning.astype(np.int32)),
    )


def _stats(
    groups: Sequence[Counted], domain: Domain, code_of: Mapping[Hashable, int], table: Counted | None = None
) -> GroupStats:
    cells = [(g, code_of[v], c) for g, counts in enumerate(groups) for v, c in counts.items() if c]
    group, value, count = (np.array(column) for column in zip(*cells, strict=True))
    tables = None
    if table is not None:
        tables = {"s": np.zeros(domain.size, np.int64)}
        for v, c in table.items():
            tables["s"][code_of[v]] = c
    return GroupStats.from_cells(group, count, {"s": (value.astype(np.int32), domain)}, tables=tables)

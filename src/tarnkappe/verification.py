"""The independent check: recounts a published table from its own values and evaluates the goal again.

Nothing of the plan is used here. Groups are found by Polars from the texts that stand in the table, not by the kernels
that formed them, so a mistake in deciding, labelling or writing shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tarnkappe.criteria.base import Verdict
from tarnkappe.engines.encode import encode_again, encode_sensitive, read_kind
from tarnkappe.errors import DataError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Source, is_text
from tarnkappe.schema import Column
from tarnkappe.tally import Codes, Counts, Domain
from tarnkappe.threads import map_threads


@dataclass(frozen=True, eq=False)
class Verification:
    """What was found in a published table."""

    columns: tuple[str, ...]
    n_records: int
    sizes: Counts
    verdicts: tuple[Verdict, ...]

    @property
    def ok(self) -> bool:
        """Whether every criterion holds in every group."""
        return all(v.ok for v in self.verdicts)


def verify_table(
    source: Source,
    quasi: Sequence[str],
    sensitive: Sequence[Column],
    goal: Goal,
    domains: Mapping[str, Domain] | None = None,
) -> Verification:
    """Regroup a table by the values of its quasi-identifiers and check every criterion of the goal.

    A missing cell is a value of its own here: whoever reads the table sees that it is empty. `domains` are those of the
    input, if it is known: they fix the taxonomies, and no other sensitive value may have appeared.
    """
    needed = [c for c in sensitive if c.name in goal.columns or goal.joint]
    frame = source.read([*quasi, *(c.name for c in needed)])
    keys = pl.DataFrame(map_threads(lambda name: _compact(frame[name]), quasi))
    columns: dict[str, tuple[Codes, Domain]] = {}
    for column in needed:
        series = read_kind(frame[column.name], column, source)
        if domains is None:
            columns[column.name] = encode_sensitive(series, column)
            continue
        codes = encode_again(series, column, domains[column.name])
        if codes.min(initial=0) < 0:
            raise _failed(source.name, [f"'{column.name}' has values that the input does not have"])
        columns[column.name] = codes, domains[column.name]
    values = pl.DataFrame({name: codes.astype(np.int32) for name, (codes, _) in columns.items()})
    stats = _recount(keys, values, {name: domain for name, (_, domain) in columns.items()}, joint=goal.joint)
    return Verification(source.columns, keys.height, stats.size, goal.verdicts(stats))


def _compact(series: pl.Series) -> pl.Series:
    """Texts as categories: the same groups for a fraction of the memory."""
    return series.cast(pl.Categorical) if is_text(series.dtype) else series


def _recount(keys: pl.DataFrame, values: pl.DataFrame, domains: dict[str, Domain], *, joint: bool) -> GroupStats:
    """Count records per (quasi…, sensitive…) cell, then gather the cells of each group."""
    quasi = [f"_quasi{j}" for j in range(keys.width)]  # names of our own, whatever the columns are called
    names = [f"_value{s}" for s in range(values.width)]
    keys.columns = quasi
    if not domains:
        sizes = keys.group_by(quasi).len("_records")["_records"].to_numpy().astype(np.int64)
        return GroupStats.from_cells(np.arange(len(sizes)), sizes)
    values.columns = names
    table = pl.concat([keys, values], how="horizontal")
    cells = table.group_by([*quasi, *names]).len("_records")
    groups = cells.group_by(quasi).agg(*names, "_records")
    lengths = groups["_records"].list.len().to_numpy()
    group = np.repeat(np.arange(groups.height, dtype=np.int32), lengths)
    records = groups["_records"].explode().to_numpy().astype(np.int64)
    codes = {name: groups[n].explode().to_numpy() for name, n in zip(domains, names, strict=True)}
    combined = None
    if joint:
        rows = np.column_stack(list(codes.values()))
        distinct, code = np.unique(rows, axis=0, return_inverse=True)
        combined = tuple(domains.values()), code.reshape(-1).astype(np.int32), distinct.astype(np.int32)
    return GroupStats.from_cells(group, records, {n: (codes[n], domains[n]) for n in domains}, combined)


def require_release(found: Verification, published: Sequence[str], sizes: Counts, where: str) -> None:
    """Refuse a written table that breaks a promise or is not what was planned: columns, records, groups, criteria."""
    problems = []
    if found.columns != tuple(published):
        problems.append(f"columns are {', '.join(found.columns)} instead of {', '.join(published)}")
    if found.n_records != int(sizes.sum()):
        problems.append(f"{found.n_records} records instead of {int(sizes.sum())}")
    elif not np.array_equal(np.sort(found.sizes), np.sort(sizes)):
        problems.append("the groups found are not the groups planned")
    for v in found.verdicts:
        if not v.ok:
            on = f" on '{v.column}'" if v.column else ""
            problems.append(f"{v.violating_groups} groups violate {v.asked}{on} (worst: {v.reached:.4g})")
    if problems:
        raise _failed(where, problems)


def _failed(where: str, problems: Sequence[str]) -> VerificationError:
    return VerificationError(
        "E501",
        "verification failed: the release was NOT written",
        where=where,
        details=problems,
        hint="This is a bug in Tarnkappe or a damaged disk. Please report it; no file was left behind.",
    )


def unreadable(where: str, error: DataError) -> VerificationError:
    """The failure of a written table that cannot even be read."""
    return _failed(where, [f"the written file cannot be read back: {error.message}"])

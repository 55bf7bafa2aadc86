"""Whether a release is true: labels cover the values they stand for, and everybody has their own values beside them.

A release may protect everybody and still publish one person's age as another's. What is planned is compared with the
tally, and what was written with what is planned, cell by cell; labels are read from their texts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.engines.ledger import Ledger
from tarnkappe.groups import SUPPRESSED
from tarnkappe.io import Source
from tarnkappe.kernels.crossing import balanced
from tarnkappe.kernels.histograms import group_order
from tarnkappe.plan import Plan
from tarnkappe.publish.form import Held
from tarnkappe.publish.labels import Labels
from tarnkappe.schema import Schema
from tarnkappe.tally import distinct_rows
from tarnkappe.threads import map_threads, share_out
from tarnkappe.wording import plural

_GROUP = "group"


class _Rows(NamedTuple):
    """Rows that stand for some records each: their group (-1: of none), and their code in some columns."""

    group: Codes
    codes: Sequence[Codes]
    records: Counts


def untrue_labels(plan: Plan, missing: Collection[str] = ()) -> list[str]:
    """What is wrong with the labels of a plan, in words: some value that its group's label does not cover, or no mean.

    `missing` are the texts that stand for a missing value. One comparison per cell and column.
    """
    kept = plan.grouping.group != SUPPRESSED
    cell, group, records = plan.grouping.cell[kept], plan.grouping.group[kept], plan.grouping.quota[kept]
    domains = plan.tally.quasi_domains

    def wrong(j: int) -> int:
        held = Held(group, plan.tally.quasi[cell, j], records)
        return plan.grouping.form.untrue(j, domains[j], plan.boxes, plan.labels[j], held, missing)

    return [
        f"labels of '{domain.name}' are not true of the values they stand for, in {plural(groups, 'group')}"
        for domain, groups in zip(domains, map_threads(wrong, range(len(domains))), strict=True)
        if groups
    ]


def untrue_cells(
    plan: Plan, source: Source, looks: pl.DataFrame, look: Codes, records: Counts, secrets: Mapping[str, Codes]
) -> list[str]:
    """What is wrong with the cells of a written table, in words.

    Row ``i`` of the table has the texts of the quasi-identifiers that stand in row ``look[i]`` of `looks`, stands for
    ``records[i]`` records, and has the codes ``secrets[…][i]``. Every group must have as many records with each
    combination of secrets as its cells have.
    """
    domains = plan.tally.quasi_domains
    codes = [_label_codes(looks[d.name], x, source) for d, x in zip(domains, plan.labels, strict=True)]
    strange = [d.name for d, code in zip(domains, codes, strict=True) if (code < -1).any()]
    if strange:
        return [f"'{strange[0]}' has labels that no group publishes"]
    quasi = [f"q{j}" for j in range(len(codes))]
    groups = pl.DataFrame({q: x.code for q, x in zip(quasi, plan.labels, strict=True)}).with_row_index(_GROUP)
    shown = pl.DataFrame(dict(zip(quasi, codes, strict=True)))
    group = shown.join(groups, on=quasi, how="left", maintain_order="left")[_GROUP]
    if group.null_count():
        return ["some records have labels that no group publishes together"]
    places = [plan.tally.sensitive_index(name) for name in secrets]
    sizes = [plan.tally.sensitive_domains[s].size for s in places]
    found = _Rows(group.to_numpy().astype(np.int32)[look], [*secrets.values()], records)
    cell = plan.grouping.cell
    planned = _Rows(plan.grouping.group, [plan.tally.sensitive[cell, s] for s in places], plan.grouping.quota)
    if _as_many_of_each(found, planned, plan.n_groups, sizes):
        return []
    return ["sensitive values do not stand with the labels of those who have them"]


def _as_many_of_each(one: _Rows, other: _Rows, n_groups: int, sizes: Sequence[int]) -> bool:
    """Whether every group has as many records of every kind in both; codes of column ``j`` are below ``sizes[j]``."""
    kinds, n_kinds = _kinds(one, other, sizes)
    (starts, order), (other_starts, other_order) = (group_order(rows.group, n_groups) for rows in (one, other))
    sides = starts, order, kinds[0], one.records, other_starts, other_order, kinds[1], other.records
    alike: list[bool] = []

    def compare(first: int, after: int) -> None:
        alike.append(balanced(*sides, first, after, np.zeros(n_kinds, np.int64)))

    share_out(compare, starts + other_starts)
    return all(alike)


def _kinds(one: _Rows, other: _Rows, sizes: Sequence[int]) -> tuple[tuple[Codes, Codes], int]:
    """A number for every combination of codes, the same in both, and how many there are at most."""
    if not sizes:
        return (np.zeros(len(one.group), np.int32), np.zeros(len(other.group), np.int32)), 1
    if len(sizes) == 1:
        return (np.ascontiguousarray(one.codes[0]), np.ascontiguousarray(other.codes[0])), sizes[0]
    kind, first = distinct_rows([np.concatenate(both) for both in zip(one.codes, other.codes, strict=True)], sizes)
    n = len(one.group)
    return (kind[:n], kind[n:]), len(first)


def untrue_figures(plan: Plan, schema: Schema, source: Source) -> list[str]:
    """What is wrong with the figures of groups in a written table, in words; nothing if there are none.

    Records with the same labels must have the same figures: whoever has others would form a group of their own.
    """
    names = plan.figure_names(schema)
    if not names:
        return []
    domains = plan.tally.quasi_domains
    cells = source.cells([*(d.name for d in domains), *names.values()])
    frame = cells.frame()
    codes = {f"q{j}": _label_codes(frame[d.name], plan.labels[j], source) for j, d in enumerate(domains)}
    groups = pl.DataFrame({f"q{j}": x.code for j, x in enumerate(plan.labels)}).with_row_index(_GROUP)
    found = pl.DataFrame(codes).join(groups, on=list(codes), how="left", maintain_order="left")[_GROUP]
    if found.null_count() or not np.array_equal(np.sort(found.to_numpy()), np.arange(plan.n_groups)):
        return ["groups do not have one figure each"]
    order = np.argsort(found.to_numpy())
    told = {}
    for name, column in names.items():
        planned = pl.Series(plan.figures[name].values)
        read = source.numeric(frame[column]).cast(pl.Float64).gather(order)
        # What happens to look like a marker of missing values reads as one.
        marked = planned.is_in(pl.Series(source.missing, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls())
        told[name] = pl.select(pl.when(read.is_null() & marked).then(planned).otherwise(read)).to_series().to_numpy()
    return list(plan.form.untrue_figures(plan.tally, plan.grouping, told, cells.count[order]))


def _label_codes(series: pl.Series, labels: Labels, source: Source) -> Codes:
    """Which label each text is; -1 for a missing one, -2 for none of them."""
    if labels.numbers is None and isinstance(series.dtype, pl.Enum):  # looked up once per text, not once per cell
        texts = pl.Series([*series.dtype.categories, None], dtype=pl.String)
        of_text: Codes = _label_codes(texts, labels, source)
        at = series.to_physical().cast(pl.Int64).fill_null(len(texts) - 1).to_numpy()
        return np.ascontiguousarray(of_text[at])
    if labels.numbers is None:
        values, known = series.cast(pl.String), pl.Series(labels.texts, dtype=pl.String)
    else:
        values = source.numeric(series).cast(pl.Float64) + 0.0
        known = labels.numbers.cast(pl.Float64)
    place = pl.DataFrame({"value": known, "place": np.arange(len(known), dtype=np.int32)})
    found = values.alias("value").to_frame().join(place, on="value", how="left", maintain_order="left")["place"]
    return np.where(values.is_null().to_numpy(), -1, found.fill_null(-2).to_numpy()).astype(np.int32)


def untrue_records(labels: Mapping[str, pl.DataType], source: Source, ledger: Ledger | None) -> list[str]:
    """What is wrong with the columns that passed through, in words; nothing if there are none.

    `labels` are the types of the labels by quasi-identifier.
    """
    if ledger is None:
        return []
    problems = []
    if not ledger.as_planned:
        problems.append("records went to groups that their cells were not planned for")
    if source.fingerprint(labels, ledger.carried) != ledger.rows:
        problems.append("what was kept unchanged does not stand with the labels of those whose it is")
    return problems

"""Whether a release is true: labels cover the values they stand for, and everybody has their own values beside them.

A release may protect everybody and still publish one person's age as another's. What is planned is compared with the
tally, and what was written with what is planned, cell by cell; labels are read from their texts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.engines.ledger import Ledger
from tarnkappe.groups import SUPPRESSED
from tarnkappe.io import Source
from tarnkappe.plan import Plan
from tarnkappe.publish.labels import Labels
from tarnkappe.schema import Schema
from tarnkappe.wording import plural

_GROUP, _RECORDS = "group", "records"


def untrue_labels(plan: Plan, missing: Collection[str] = ()) -> list[str]:
    """What is wrong with the labels of a plan, in words: some value that its group's label does not cover.

    `missing` are the texts that stand for a missing value. One comparison per cell and column.
    """
    kept = plan.grouping.group != SUPPRESSED
    cell, group = plan.grouping.cell[kept], plan.grouping.group[kept]
    problems = []
    for j, (domain, labels) in enumerate(zip(plan.tally.quasi_domains, plan.labels, strict=True)):
        held = group, plan.tally.quasi[cell, j]
        wrong = plan.grouping.form.untrue(j, domain, plan.boxes, labels, held, missing)
        if wrong:
            problems.append(
                f"labels of '{domain.name}' do not cover the values they stand for, in {plural(wrong, 'group')}"
            )
    return problems


def untrue_cells(
    plan: Plan, source: Source, keys: pl.DataFrame, records: Counts, secrets: Mapping[str, Codes]
) -> list[str]:
    """What is wrong with the cells of a written table, in words.

    Row ``i`` of `keys` has the texts of the quasi-identifiers and stands for ``records[i]`` records, which have the
    codes ``secrets[…][i]``. Every group must have as many records with each combination of secrets as its cells have.
    """
    domains = plan.tally.quasi_domains
    codes = [_label_codes(keys[d.name], x, source) for d, x in zip(domains, plan.labels, strict=True)]
    strange = [d.name for d, code in zip(domains, codes, strict=True) if (code < -1).any()]
    if strange:
        return [f"'{strange[0]}' has labels that no group publishes"]
    places = [plan.tally.sensitive_index(name) for name in secrets]
    quasi, secret = [f"q{j}" for j in range(len(codes))], [f"s{s}" for s in places]
    groups = pl.DataFrame({q: x.code for q, x in zip(quasi, plan.labels, strict=True)}).with_row_index(_GROUP)
    rows = dict(zip([*quasi, *secret], [*codes, *secrets.values()], strict=True))
    found = pl.DataFrame({**rows, _RECORDS: records}).join(groups, on=quasi, how="left")
    if found[_GROUP].null_count():
        return ["some records have labels that no group publishes together"]
    written = _counted(found, [_GROUP, *secret])
    del found, rows, codes  # there may be millions of them
    grouping = plan.grouping
    kept = np.flatnonzero((grouping.group != SUPPRESSED) & (grouping.quota > 0))
    of_piece = {name: plan.tally.sensitive[grouping.cell[kept], s] for name, s in zip(secret, places, strict=True)}
    planned = pl.DataFrame({_GROUP: grouping.group[kept], **of_piece, _RECORDS: grouping.quota[kept]})
    if written.equals(_counted(planned, [_GROUP, *secret])):
        return []
    return ["sensitive values do not stand with the labels of those who have them"]


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


def _counted(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    types = [*(pl.col(name).cast(pl.Int32) for name in names), pl.col(_RECORDS).cast(pl.Int64)]
    return rows.lazy().select(types).group_by(names).agg(pl.col(_RECORDS).sum()).sort(names).collect()


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

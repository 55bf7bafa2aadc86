"""The groups of a table, found by the texts in it: what was read is numbered, encoded and counted, without any plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.engines.encode import encode_again, encode_sensitive, read_kind
from tarnkappe.enumerated import text_column
from tarnkappe.errors import VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Cells, Source, is_text
from tarnkappe.io.kept import restored
from tarnkappe.schema import KEYS, Column
from tarnkappe.tally import Domain
from tarnkappe.threads import map_threads

#: Numbers that a word can hold.
_WORD = 1 << 62

#: By column: the different values that stand in it, and which of them every row has.
ReadBack = Mapping[str, tuple[pl.Series, Codes]]


def as_they_were(cells: Cells, types: Mapping[str, pl.DataType], decimal: str) -> ReadBack:
    """What stands in the columns of a table, in the types of the input where a file holds their texts."""
    found = map_threads(lambda name: _as_it_was(*cells.used(name), types.get(name), decimal), cells.names)
    return dict(zip(cells.names, found, strict=True))


def _as_it_was(values: pl.Series, code: Codes, type_: pl.DataType | None, decimal: str) -> tuple[pl.Series, Codes]:
    """Distinct values of a column, and which of them every row has; in the type that it had, if that was not text."""
    if type_ is None or is_text(type_):
        return values, code
    typed = values.to_frame("value").select(restored("value", values.dtype, type_, decimal).alias("value"))
    listed = typed.unique(maintain_order=True).with_row_index("place")
    place = typed.join(listed, on="value", how="left", nulls_equal=True, maintain_order="left")["place"]
    return listed["value"].alias(values.name), place.to_numpy().astype(np.int32)[code]


def encoded(
    read: ReadBack,
    records: Counts,
    needed: Sequence[Column],
    source: Source,
    domains: Mapping[str, Domain] | None = None,
) -> dict[str, tuple[Codes, Domain]]:
    """The codes of columns of a published table, and what they mean: what they meant in the input if that is known.

    What a text means is asked once per text, not once per row.
    """
    counted: dict[str, tuple[Codes, Domain]] = {}
    for column in needed:
        values, code = read[column.name]
        series = read_kind(values, column, source, distinct=column.name in source.columns)
        if domains is None or column.role in KEYS:  # people go under other numbers in each release
            weights = np.bincount(code, records, len(values)).astype(np.int64)
            codes, domain = encode_sensitive(series, column, weights)
        else:
            domain = domains[column.name]
            codes = encode_again(series, column, domain)
            if codes.min(initial=0) < 0:
                raise failed(source.name, [f"'{column.name}' has values that the input does not have"])
        counted[column.name] = codes.astype(np.int32)[code], domain
    return counted


def numbered(columns: ReadBack) -> tuple[pl.DataFrame, Codes]:
    """The different rows of some columns, and which of them every row is; both found by Polars.

    Of rows that come one after another and are alike, Polars sees the first.
    """
    words = as_words([(code, len(values)) for values, code in columns.values()])
    begins = np.zeros(len(words[0]), np.bool_)
    begins[:1] = True
    for word in words:
        begins[1:] |= word[1:] != word[:-1]
    heads = np.flatnonzero(begins)
    keys = [f"_word{i}" for i in range(len(words))]
    runs = pl.DataFrame({key: word[heads] for key, word in zip(keys, words, strict=True)})
    first = runs.with_columns(pl.Series("_row", heads)).unique(keys, keep="first", maintain_order=True)
    known = first.select(keys).with_row_index("_group")
    group = runs.join(known, on=keys, how="left", maintain_order="left")["_group"].to_numpy().astype(np.int32)
    at = first["_row"].to_numpy()
    labels = [_gathered(values, code[at]).alias(name) for name, (values, code) in columns.items()]
    return pl.DataFrame(labels), np.repeat(group, np.diff(heads, append=len(begins)))


def as_words(columns: Sequence[tuple[Codes, int]]) -> list[Counts]:
    """Rows of codes, each below its number, as rows of as few words as hold them.

    >>> [word.tolist() for word in as_words([(np.array([1, 0]), 2), (np.array([3, 4]), 10)])]
    [[13, 4]]
    """
    words: list[Counts] = []
    room = _WORD
    for code, size in columns:
        room *= max(size, 1)
        if room >= _WORD:
            words.append(code.astype(np.int64))
            room = max(size, 1)
        else:
            words[-1] *= max(size, 1)
            words[-1] += code
    return words


def _gathered(values: pl.Series, code: Codes) -> pl.Series:
    """The value of each code; texts as categories, which take a fraction of the memory."""
    if not is_text(values.dtype):
        return values.gather(code)
    known = values.is_not_null().to_numpy()
    place = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
    return text_column(place[code], values.filter(pl.Series(known)).cast(pl.String))


def recounted(
    labels: pl.DataFrame,
    group: Codes,
    records: Counts,
    counted: Mapping[str, tuple[Codes, Domain]],
    goal: Goal,
    population: pl.DataFrame | None,
    wildcard: bool = False,
    tables: Mapping[str, Counts] | None = None,
) -> tuple[GroupStats, pl.DataFrame]:
    """Gather the rows of each group: row ``i`` stands for ``records[i]`` records of group ``group[i]``.

    Returns what was counted and the labels of the groups. Where these are not all rows of a table, `tables` says how
    often each value occurs in it.
    """
    names = labels.columns
    quasi = [f"_quasi{j}" for j in range(labels.width)]  # names of our own, whatever the columns are called
    labels = labels.rename(dict(zip(names, quasi, strict=True)))
    codes = {name: values for name, (values, _) in counted.items()}
    if wildcard:
        row, group = _could_be(labels, group)
        records, codes = records[row], {name: values[row] for name, values in codes.items()}
    people = None
    if population is not None:
        n_groups = labels.height
        labels, per_group = _people(labels, population, names)
        absent = len(per_group) - n_groups  # groups of people none of whom is in the table
        group = np.append(group, np.arange(n_groups, len(per_group), dtype=np.int32))
        records = np.append(records, np.zeros(absent, np.int64))
        codes = {name: np.append(values, np.zeros(absent, np.int32)) for name, values in codes.items()}
        people = np.zeros(len(group), np.int64)
        people[np.unique(group, return_index=True)[1]] = per_group
    domains = {name: domain for name, (_, domain) in counted.items()}
    combined = None
    if goal.joint and codes:
        distinct, code = np.unique(np.column_stack(list(codes.values())), axis=0, return_inverse=True)
        combined = tuple(domains.values()), code.reshape(-1).astype(np.int32), distinct.astype(np.int32)
    numbers = np.column_stack([_numbers(labels[q]) for q in quasi]) if "projection" in goal.scopes else None
    sensitive = {name: (codes[name], domains[name]) for name in domains}
    stats = GroupStats.from_cells(
        group, records, sensitive, joint=combined, tables=tables, population=people, keys=numbers, quasi=names
    )
    return stats, labels.rename(dict(zip(quasi, names, strict=True)))


def _could_be(labels: pl.DataFrame, group: Codes) -> tuple[Codes, Codes]:
    """Which rows could belong to which groups if a missing label may be any: row and group of every such pair.

    Labels are joined pattern by pattern, a pattern being the columns that are missing; there are few of them.
    """
    numbered = labels.with_row_index("_group")
    patterns = _by_pattern(numbered, labels.columns)
    pairs = []
    for missing, some in patterns:
        for also_missing, others in patterns:
            on = [q for q in labels.columns if q not in missing and q not in also_missing]
            there = others.select(pl.col("_group").alias("_could"), *on)
            joined = some.join(there, on=on) if on else some.join(there, how="cross")
            pairs.append(joined.select("_group", "_could"))
    could = pl.concat(pairs).sort("_group", "_could")
    rows = pl.DataFrame({"_row": np.arange(len(group), dtype=np.int64), "_group": group.astype(np.uint32)})
    matched = rows.join(could, on="_group")
    return matched["_row"].to_numpy(), matched["_could"].to_numpy().astype(np.int32)


def _by_pattern(numbered: pl.DataFrame, columns: Sequence[str]) -> list[tuple[list[str], pl.DataFrame]]:
    """The rows in parts that lack the same columns, with those columns."""
    lacking = numbered.select(pl.concat_list(pl.col(q).is_null() for q in columns)).to_series()
    parts = []
    for pattern in lacking.unique().to_list():
        missing = [q for q, is_null in zip(columns, pattern, strict=True) if is_null]
        alike = numbered.filter(
            pl.all_horizontal(pl.col(q).is_null() if q in missing else pl.col(q).is_not_null() for q in columns)
        )
        parts.append((missing, alike))
    return parts


def _people(labels: pl.DataFrame, population: pl.DataFrame, names: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
    """People of the public table per group; groups that only the public table has follow after the others."""
    found = labels.cast(pl.String)
    public = population.select(
        *(pl.col(name).cast(pl.String).alias(q) for q, name in zip(labels.columns, names, strict=True)),
        pl.first().cast(pl.Int64).alias("_people"),
    )
    public = public.group_by(labels.columns).agg(pl.col("_people").sum())
    matched = found.join(public, on=labels.columns, how="left", nulls_equal=True, maintain_order="left")
    absent = public.join(found, on=labels.columns, how="anti", nulls_equal=True)
    people = pl.concat([matched["_people"].fill_null(0), absent["_people"]])
    return pl.concat([found, absent.select(labels.columns)]), people.to_numpy()


def _numbers(labels: pl.Series) -> Codes:
    """The same number for the same label, 0 for a missing one."""
    physical = labels.cast(pl.String).cast(pl.Categorical).to_physical().cast(pl.Int64) + 1
    return np.unique(physical.fill_null(0).to_numpy(), return_inverse=True)[1].astype(np.int32)


def failed(where: str, problems: Sequence[str]) -> VerificationError:
    """The error about a written table that is not what it must be."""
    return VerificationError(
        "E501",
        "verification failed: the release was NOT written",
        where=where,
        details=problems,
        hint="This is a bug in Tarnkappe or a damaged disk. Please report it; no file was left behind.",
    )

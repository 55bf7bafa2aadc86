"""Columns to codes: builds a column's domain from its values and encodes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.errors import DataError, JobError
from tarnkappe.fixes import of_column, setting
from tarnkappe.io import Source
from tarnkappe.io.kept import one_of_a_kind
from tarnkappe.io.numbers import only_numbers
from tarnkappe.io.texts import as_text
from tarnkappe.publish.notation import with_decimal_comma
from tarnkappe.schema import Column, MissingRule
from tarnkappe.tally import Domain, Hidden
from tarnkappe.taxonomy import Taxonomy
from tarnkappe.taxonomy.labels import number_labels

#: How the missing value is called inside a taxonomy; it is published as an empty cell.
MISSING_LABEL = "(missing)"


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column in ascending order, how often each occurs, and which one every record has.

    The code of a missing value is the number of distinct values.
    """

    distinct: pl.Series
    counts: NDArray[np.int64]
    code: NDArray[Any]
    n_missing: int

    @classmethod
    def of(cls, series: pl.Series, weights: NDArray[np.int64] | None = None) -> Values:
        """Find the distinct values of a column; integers of a small range and texts without sorting the records.

        If entry ``i`` stands for several records, ``weights[i]`` says for how many.
        """
        n_missing = series.null_count() if weights is None else int(weights[series.is_null().to_numpy()].sum())
        has_gaps = series.null_count() > 0
        distinct = series.drop_nulls().unique().sort()
        if series.dtype == pl.String:
            code = series.cast(pl.Enum(distinct)).to_physical()
        elif series.dtype.is_integer() and len(distinct) and distinct[-1] - distinct[0] < max(len(series), 1 << 16):
            lowest = distinct[0]
            place = np.zeros(distinct[-1] - lowest + 1, np.int32)
            place[(distinct - lowest).to_numpy()] = np.arange(len(distinct))
            known = (series.fill_null(lowest) - lowest).to_numpy()
            code = pl.Series(place[known])
            code = pl.select(pl.when(series.is_not_null()).then(code)).to_series() if has_gaps else code
        else:
            found = np.searchsorted(distinct.to_numpy(), series.fill_null(0).to_numpy())
            code = pl.Series(found.astype(np.int32))
            code = pl.select(pl.when(series.is_not_null()).then(code)).to_series() if has_gaps else code
        if has_gaps:
            code = code.cast(pl.Int32).fill_null(len(distinct))
        codes = code.to_numpy()
        counts = np.bincount(codes, weights, minlength=len(distinct) + 1)[: len(distinct)]
        return cls(distinct, counts.astype(np.int64), codes, n_missing)


def read_kind(series: pl.Series, column: Column, source: Source, *, distinct: bool = False) -> pl.Series:
    """The column, or its `distinct` values, as numbers or as text, as its declaration says."""
    if column.kind == "numeric":
        if column.lenient:
            series = only_numbers(series, source.decimal)
        numbers = source.numeric(series, column.name, distinct=distinct)
        return numbers.to_frame().select(one_of_a_kind(pl.first(), numbers.dtype)).to_series()
    return series.to_frame().select(as_text(pl.first(), series.dtype)).to_series()


def stacked(records: pl.Series, people: pl.Series) -> pl.Series:
    """Two series one below the other, in a type that holds the values of both."""
    return pl.concat([records.to_frame("x"), people.to_frame("x")], how="vertical_relaxed")["x"]


def encode_quasi(
    series: pl.Series,
    column: Column,
    rule: MissingRule | None,
    others: dict[str, list[str]],
    where: str,
    weights: NDArray[np.int64] | None = None,
    *,
    decimal: str = ".",
) -> tuple[NDArray[Any], Domain]:
    """Encode a quasi-identifier along its taxonomy; `others` helps to say that a taxonomy belongs elsewhere.

    Numbers are published with the `decimal` sign of the data.
    """
    if column.lenient:
        series = _known(series, column)
    values = Values.of(series, weights)
    if values.n_missing and rule is None:
        n = values.n_missing
        raise DataError(
            "E407",
            f"column '{column.name}' has {n} missing value{'s' if n > 1 else ''} "
            f"and the job does not say what {'they match' if n > 1 else 'it matches'}",
            where=where,
            details=[
                "own-value: a missing cell is a value of its own; an attacker may know that it is missing.",
                "wildcard: a missing cell could be anything; it joins any group and is published with its value.",
            ],
            hint=setting("Add under 'data':  missing_rule: own-value", "missing_rule", "own-value"),
        )
    wildcard = rule == "wildcard"
    codes, domain = _encode(values, column, others, column.weight, wildcard, where, decimal)
    if column.max_level is None:
        return codes, domain
    highest = min(column.max_level - domain.floor, domain.taxonomy.height)
    return codes, replace(domain, max_level=highest, as_it_is=column.as_it_is)


def _known(series: pl.Series, column: Column) -> pl.Series:
    """The values that the taxonomy of a column covers; the others count as missing."""
    distinct = series.drop_nulls().unique()
    given = distinct.to_numpy() if column.kind == "numeric" else distinct.to_list()
    unknown = [] if column.taxonomy is None or not len(given) else column.taxonomy.unknown(given, column.name)
    if not unknown:
        return series
    other = pl.first().is_in(distinct.gather(unknown).implode())
    return series.to_frame().select(pl.when(~other).then(pl.first()).alias(series.name)).to_series()


def encode_sensitive(
    series: pl.Series, column: Column, weights: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], Domain]:
    """Encode a sensitive column, or one that is only counted; a missing value is a value of its own."""
    codes, domain = _encode(Values.of(series, weights), column, {})
    return codes, replace(domain, aside=column.role != "sensitive")


def encode_again(series: pl.Series, column: Column, domain: Domain) -> NDArray[Any]:
    """Encode a sensitive column in a domain that is known already; -1 for a value that is not in it."""
    values = Values.of(series)
    leaf = {label: i for i, label in enumerate(domain.taxonomy.leaves) if i != domain.missing}
    place = [leaf.get(text, -1) for text in _leaf_texts(values, column)]
    codes: NDArray[Any] = np.array([*place, domain.missing], np.int32)[values.code]
    return codes


def encode_nodes(series: pl.Series, column: Column, domain: Domain | None) -> tuple[NDArray[Any], Domain]:
    """The node of each label of a column that is coarsened value by value; -1 for a label that it does not have.

    Without a domain that is known already, the declared taxonomy of the column tells its labels.
    """
    domain = domain or _declared(column, has_gaps=series.null_count() > 0)
    tree = domain.taxonomy
    place = {label: node for node, label in reversed(list(enumerate(tree.labels)))}
    values = Values.of(series)
    missing = int(tree.leaf_nodes[domain.missing]) if domain.missing >= 0 else 0  # a gap that nobody has says nothing
    nodes = [place.get(text, -1) for text in values.distinct.cast(pl.String).to_list()]
    return np.array([*nodes, missing], np.int32)[values.code], domain


def _declared(column: Column, *, has_gaps: bool) -> Domain:
    """The domain of a column whose values are not at hand, as far as its taxonomy is declared."""
    if column.taxonomy is None or column.taxonomy.follows_data:
        raise DataError(
            "E403",
            f"what the labels of '{column.name}' stand for is not declared: its taxonomy depends on the data",
            hint=f"{column.name}: {{role: sensitive, taxonomy: {{kind: file, path: FILE.csv}}}}",
        )
    tree = column.taxonomy.build([], column.name, np.zeros(0, np.int64), others={})
    missing = tree.n_leaves if has_gaps else -1
    tree = tree.with_missing(MISSING_LABEL) if has_gaps else tree
    return Domain(column.name, tree, None, missing, aside=column.role != "sensitive")


def _leaf_texts(values: Values, column: Column) -> list[str]:
    """The leaf that stands for each distinct value."""
    given = values.distinct.to_numpy() if column.kind == "numeric" else values.distinct.to_list()
    if column.taxonomy is not None and len(given):
        return column.taxonomy.published(given)
    return number_labels(values.distinct.to_numpy()) if column.kind == "numeric" else values.distinct.to_list()


def _encode(
    values: Values,
    column: Column,
    others: dict[str, list[str]],
    weight: float = 1.0,
    wildcard: bool = False,
    where: str | None = None,
    decimal: str = ".",
) -> tuple[NDArray[Any], Domain]:
    numeric = column.kind == "numeric"
    texts = _leaf_texts(values, column)
    positions = None
    if column.taxonomy is None or not texts:  # nothing but missing values needs no taxonomy
        tree = Taxonomy.scale(texts)
        place = np.arange(len(texts), dtype=np.int32)
        positions = values.distinct.to_numpy().astype(np.float64) if numeric and texts else None
    else:
        given = values.distinct.to_numpy() if numeric else values.distinct.to_list()
        tree = column.taxonomy.build(given, column.name, values.counts, others=others)
        leaf = {label: i for i, label in enumerate(tree.leaves)}
        place = np.array([leaf[t] for t in texts], np.int32)
        if tree.ranges[0] and numeric:
            positions = np.array([float(t) for t in tree.leaves])
    if numeric and decimal == ",":
        tree = _with_decimal_comma(tree, column)
    hidden = None
    if column.min_level and texts:
        tree, place, hidden = _floored(tree, place, values.counts, column, where)
        positions = None
    missing = -1
    if values.n_missing:
        missing = tree.n_leaves
        label = MISSING_LABEL
        while label in tree.labels:
            label = f"({label})"
        tree = tree.with_missing(label)
        place = np.append(place, np.int32(missing)).astype(np.int32)
        positions = None if positions is None else np.append(positions, np.nan)
        hidden = None if hidden is None else _with_one_more(hidden)
    sets = column.taxonomy is not None and column.taxonomy.sets and bool(texts)
    domain = Domain(
        column.name,
        tree,
        positions,
        missing,
        wildcard and missing >= 0,
        weight,
        sets and hidden is None,
        hidden=hidden,
        decimal=decimal if numeric else ".",
        n_levels=None if column.taxonomy is None else column.taxonomy.n_levels,
    )
    unchanged = bool(np.array_equal(place, np.arange(len(place))))
    # A list of distinct values may begin with a missing one that no record has; its code means nothing.
    return (values.code if unchanged else place[np.minimum(values.code, len(place) - 1)]), domain


def _with_decimal_comma(tree: Taxonomy, column: Column) -> Taxonomy:
    """The taxonomy with numbers as the data write them; what the steward called a group of them stays as it is."""
    named = column.taxonomy is not None and not column.taxonomy.numeric
    numbers = set(tree.leaf_nodes.tolist() if named else range(1, tree.n_nodes))
    labels = (with_decimal_comma(label) if v in numbers else label for v, label in enumerate(tree.labels))
    return replace(tree, labels=tuple(labels))


def _floored(
    tree: Taxonomy, place: NDArray[np.int32], counts: NDArray[np.int64], column: Column, where: str | None
) -> tuple[Taxonomy, NDArray[np.int32], Hidden]:
    """The taxonomy cut off below the lowest level of a column, where each value went, and what that hides.

    This is what makes a floor hold for every algorithm: values below it have the same code, so nobody can tell them
    apart, and no label below it exists.
    """
    level = column.min_level
    if level > tree.height:
        raise JobError(
            "E110",
            f"the taxonomy of '{column.name}' has no level {level}, its highest is {tree.height}",
            where=where,
            hint=of_column(column.name, "min_level", tree.height),
        )
    raised, leaf = tree.raised(level)
    code, size = leaf[place], raised.n_leaves
    records = np.bincount(code, counts, size)
    steps = tree.depth[tree.leaf_nodes[place]] - raised.depth[raised.leaf_nodes[code]]
    bits = np.log2(np.maximum(records[code], 1)) - np.log2(np.maximum(counts, 1))
    some = np.maximum(records, 1)
    hidden = Hidden(
        level,
        len(place),
        np.bincount(leaf, minlength=size).astype(np.int64),
        np.bincount(code, counts * steps, size) / some,
        np.bincount(code, counts * bits, size) / some,
    )
    return raised, code, hidden


def _with_one_more(hidden: Hidden) -> Hidden:
    """With a code for the missing value, below which there is nothing."""
    return Hidden(
        hidden.levels,
        hidden.distinct + 1,
        np.append(hidden.values, 1),
        np.append(hidden.steps, 0.0),
        np.append(hidden.bits, 0.0),
    )

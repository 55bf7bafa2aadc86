"""From distinct rows to the tally: the domains of the columns, and the cells along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.engines.encode import encode_quasi, encode_sensitive, read_kind, stacked
from tarnkappe.io import Cells, Source, is_text
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain, Tally, count_cells, with_population
from tarnkappe.threads import map_threads

#: Distinct values of a column that are looked at to recognise a taxonomy of another one.
_EXAMPLES = 1000


def tally_of_cells(
    cells: Cells,
    source: Source,
    schema: Schema,
    aside: Sequence[Column] = (),
    people: Cells | None = None,
    population: Source | None = None,
) -> tuple[Tally, Codes]:
    """The tally of a table whose distinct rows are `cells`; also returns the tally's cell of each of them.

    `people` are the distinct rows of a public table in the quasi-identifiers.
    """
    columns = [*schema.quasi, *schema.sensitive, *aside]
    values = {c.name: _distinct(cells, c.name) for c in columns}
    public = None if people is None else {c.name: _distinct(people, c.name) for c in schema.quasi}
    encoded = encode_values(columns, values, source, schema, public, population)
    quasi, counted = encoded[: len(schema.quasi)], encoded[len(schema.quasi) :]
    domains = [domain for _, domain in quasi]

    def along(given: Cells, column: Column, codes: NDArray[Any], skip: int = 0) -> NDArray[Any]:
        j = given.names.index(column.name)
        return codes[skip : skip + len(given.values[j])][given.codes[:, j]]

    tally, cell = count_cells(
        [along(cells, c, codes) for c, (codes, _) in zip(schema.quasi, quasi, strict=True)],
        [along(cells, c, codes) for c, (codes, _) in zip([*schema.sensitive, *aside], counted, strict=True)],
        domains,
        [domain for _, domain in counted],
        cells.count,
    )
    if people is None:
        return tally, cell
    shown = []
    for column, (codes, _) in zip(schema.quasi, quasi, strict=True):
        own = len(cells.values[cells.names.index(column.name)])
        shown.append(along(people, column, codes, own))
    everybody, _ = count_cells(shown, [], domains, [], people.count)
    tally, moved = with_population(tally, everybody)
    return tally, moved[cell]


#: Values of a column, the missing one first, and how many records have each.
Distinct = tuple[pl.Series, NDArray[np.int64]]


def encode_values(
    columns: Sequence[Column],
    values: Mapping[str, Distinct],
    source: Source,
    schema: Schema,
    public: Mapping[str, Distinct] | None = None,
    population: Source | None = None,
) -> list[tuple[NDArray[Any], Domain]]:
    """The code of every value of some columns, and what codes mean; values of a public table come after the others."""
    others = {name: _examples(given) for name, (given, _) in values.items()}

    def encode(column: Column) -> tuple[NDArray[Any], Domain]:
        given, weights = values[column.name]
        series = read_kind(given, column, source, distinct=True)
        if column.role != "quasi":
            return encode_sensitive(series, column, weights)
        where = source.name
        if public is not None and population is not None:
            shown, further = public[column.name]
            series = stacked(series, read_kind(shown, column, population, distinct=True))
            weights = np.concatenate([weights, further])
            where = f"{where} or {population.name}"
        return encode_quasi(series, column, schema.missing_rule, others, where, weights, decimal=source.decimal)

    return map_threads(encode, columns)


def _distinct(cells: Cells, name: str) -> Distinct:
    """The values of a column, the missing one first, and how many records have each."""
    j = cells.names.index(name)
    counts = np.bincount(cells.codes[:, j], cells.count, minlength=len(cells.values[j]))
    return cells.values[j], counts.astype(np.int64)


def _examples(values: pl.Series) -> list[str]:
    """A bounded list of distinct values, enough to recognise a taxonomy that belongs to another column."""
    return values.drop_nulls().cast(pl.String).head(_EXAMPLES).to_list() if is_text(values.dtype) else []

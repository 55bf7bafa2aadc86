"""The values of cells as they are published where nothing is coarsened."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.boxes import Boxes
from tarnkappe.enumerated import text_column
from tarnkappe.io import is_text
from tarnkappe.io.kept import restored
from tarnkappe.kernels.engines.dealing import gathered
from tarnkappe.publish.labels import labels_of
from tarnkappe.publish.totals import leaf_numbers
from tarnkappe.schema import Schema
from tarnkappe.tally import Domain, Tally


class CellValues:
    """The columns of cells as they are published where nothing is coarsened: every value as it is in the data.

    `types` are those of the columns in the data, `missing` the texts that stand for a missing value there. A column
    with a floor publishes the labels of its lowest level.
    """

    def __init__(
        self, tally: Tally, schema: Schema, types: Mapping[str, pl.DataType], missing: Collection[str] = ()
    ) -> None:
        """Look up what every code of every column publishes."""
        self.missing = missing
        #: What each cell has in a column: the place of a value, in few bytes because they are read in any order.
        self._shown: dict[str, tuple[NDArray[np.signedinteger], pl.Series]] = {}
        quasi = zip(tally.quasi_domains, tally.quasi.T, strict=True)
        counted = zip(tally.sensitive_domains, tally.sensitive.T, strict=True)
        for domain, of_cell in (*quasi, *counted):
            if domain.name in schema.published:
                codes = of_cell
                numeric = schema[domain.name].kind == "numeric"
                values = _of_codes(domain, types.get(domain.name), missing, numeric=numeric)
                if is_text(values.dtype):  # in the order in which a file lists them
                    place = (values.rank("dense").cast(pl.Int32) - 1).fill_null(-1).to_numpy()
                    values = values.drop_nulls().unique().sort()
                    codes = place[codes]
                self._shown[domain.name] = codes.astype(np.min_scalar_type(-max(len(values), 1))), values

    def at(self, name: str, cells: Codes) -> pl.Series:
        """The values of records that have these cells."""
        place, values = self._shown[name]
        found = gathered(place, cells)
        if is_text(values.dtype):
            return text_column(found, values).alias(name)
        if values.dtype == pl.Int64 and not values.null_count():
            return pl.Series(name, gathered(values.to_numpy(), found))
        return values.gather(found).alias(name)


def _of_codes(domain: Domain, type_: pl.DataType | None, missing: Collection[str], *, numeric: bool) -> pl.Series:
    """The value of every code: numbers as numbers, all else in the type it had."""
    name = domain.name
    if numeric and not domain.floor:
        return leaf_numbers(domain).alias(name)
    texts = pl.Series(name, leaf_texts(domain, missing), dtype=pl.String)
    if domain.floor or type_ is None or is_text(type_):
        return texts
    return texts.to_frame().select(restored(name, pl.String(), type_, domain.decimal).alias(name)).to_series()


def leaf_texts(domain: Domain, missing: Collection[str] = ()) -> list[str | None]:
    """What each value of a column publishes by itself; None for the missing one."""
    leaves = np.arange(domain.size, dtype=np.int32)[:, None]
    boxes = Boxes(leaves, leaves, domain.taxonomy.leaf_nodes[leaves].astype(np.int32))
    labels = labels_of(boxes, 0, domain, missing)
    return [None if code < 0 else labels.texts[code] for code in labels.code]

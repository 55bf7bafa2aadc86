"""Columns of texts read as codes: what a text means is asked once per text, not once per record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.io.base import Source
from tarnkappe.publish.labels import text_column


@dataclass(frozen=True, eq=False)
class Coded:
    """A column: its distinct values in ascending order, the missing one before them, and which of them records have."""

    values: pl.Series
    code: NDArray[np.int32]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many records have each value."""
        return np.bincount(self.code, minlength=len(self.values))

    def texts(self) -> pl.Series:
        """The column itself, as an enumeration unless it has very many values."""
        return text_column(self.code - np.int32(1), self.values[1:]).alias(self.values.name)


def read_coded(
    source: Source, columns: Sequence[str], repeating: Collection[str]
) -> tuple[dict[str, Coded], pl.DataFrame]:
    """Read columns of a table: those whose texts are `repeating` as codes, the others as they are.

    Polars reads such texts as categories, so that no text is looked at twice; missing markers are missing values.
    """
    names = list(dict.fromkeys(columns))
    categories = {name: pl.Categories.random() for name in names if name in repeating}
    types = {name: pl.Categorical(listed) for name, listed in categories.items()}
    alive = [pl.Series(dtype=t) for t in types.values()]  # Polars forgets categories that no column has any more
    stored = source.types([name for name in names if name not in types])
    select = [pl.col(name).to_physical() for name in types]
    select += [source.shown(name, t).alias(name) for name, t in stored.items()]
    frame = pl.concat(source.batches(names, types, select), rechunk=True)
    if names and frame.height != source.n_rows:
        raise source.unreadable()
    coded = {name: _coded(source, listed.to_series().alias(name), frame[name]) for name, listed in categories.items()}
    del alive
    return coded, frame.drop(list(categories))


def _coded(source: Source, listed: pl.Series, category: pl.Series) -> Coded:
    """The values of a column, sorted, of the categories that Polars lists and those that records have."""
    has_gaps = category.null_count() > 0
    physical = category.fill_null(len(listed)).to_numpy() if has_gaps else category.to_numpy()
    occurs = np.bincount(physical, minlength=len(listed) + 1)[: len(listed)] > 0
    meant = source.cleaned(listed)  # Polars also lists texts that it only compared with
    distinct = meant.filter(pl.Series(occurs)).drop_nulls().unique().sort()
    of_text = pl.DataFrame({"value": distinct, "code": np.arange(1, len(distinct) + 1, dtype=np.int32)})
    found = meant.alias("value").to_frame().join(of_text, on="value", how="left", maintain_order="left")["code"]
    code = np.append(found.fill_null(0).to_numpy(), np.int32(0)).astype(np.int32)  # the last one for missing cells
    values = pl.concat([pl.Series([None], dtype=pl.String), distinct.cast(pl.String)]).alias(listed.name)
    return Coded(values, code[physical])

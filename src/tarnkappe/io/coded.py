"""Columns of texts read as codes: what a text means is asked once per text, not once per record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.enumerated import text_column
from tarnkappe.io.base import Source
from tarnkappe.kernels.engines.dealing import gathered

if TYPE_CHECKING:
    from tarnkappe.io.csvcodes import Numbered


@dataclass(frozen=True, eq=False)
class Coded:
    """A column: its distinct values in ascending order, the missing one before them, and how many records have each."""

    values: pl.Series
    counts: Counts
    #: What every record has, given what each value has; of the records no more than that is kept.
    each: Callable[[NDArray[Any]], NDArray[Any]]

    def texts(self) -> pl.Series:
        """The column itself, as an enumeration unless it has very many values."""
        place = self.each(np.arange(-1, len(self.values) - 1, dtype=np.int32))
        return text_column(place, self.values[1:]).alias(self.values.name)


def read_coded(
    source: Source, columns: Sequence[str], repeating: Collection[str]
) -> tuple[dict[str, Coded], pl.DataFrame]:
    """Read columns of a table: those whose texts are `repeating` as codes, the others as they are.

    Unless the source has a swifter way, Polars reads such texts as categories, so that no text is looked at twice;
    missing markers are missing values.
    """
    names = list(dict.fromkeys(columns))
    swift = _numbered(source, [name for name in names if name in repeating])
    others = [name for name in names if name not in swift]
    categories = {name: pl.Categories.random() for name in others if name in repeating}
    types = {name: pl.Categorical(listed) for name, listed in categories.items()}
    alive = [pl.Series(dtype=t) for t in types.values()]  # Polars forgets categories that no column has any more
    stored = source.types([name for name in others if name not in types])
    select = [pl.col(name).to_physical() for name in types]
    select += [source.shown(name, t).alias(name) for name, t in stored.items()]
    if not others:
        return swift, pl.DataFrame()
    frame = pl.concat(source.batches(others, types, select), rechunk=True)
    if frame.height != source.n_rows:
        raise source.unreadable()
    coded = {name: _coded(source, listed.to_series().alias(name), frame[name]) for name, listed in categories.items()}
    del alive
    return swift | coded, frame.drop(list(categories))


def _numbered(source: Source, names: Sequence[str]) -> dict[str, Coded]:
    """The columns in a way of the source's own, if it has one."""
    found = source.numbered(names) if names else None
    if found is None:
        return {}
    known = [
        _known(source, found.texts.alias(name), counts, int(n_missing))
        for name, counts, n_missing in zip(names, found.counts, found.n_missing, strict=True)
    ]
    return {
        name: Coded(values, counts, partial(_of_numbers, found, j, of_text))
        for j, (name, (values, counts, of_text)) in enumerate(zip(names, known, strict=True))
    }


def _of_numbers(found: Numbered, j: int, of_text: Codes, of_value: NDArray[Any]) -> NDArray[Any]:
    return found.column(j, of_value[of_text], of_value[0])


def _coded(source: Source, listed: pl.Series, category: pl.Series) -> Coded:
    """A column of categories, which Polars lists."""
    n = len(listed)
    physical = category.fill_null(n).to_numpy() if category.null_count() > 0 else category.to_numpy()
    occurs = np.bincount(physical, minlength=n + 1)
    values, counts, of_text = _known(source, listed, occurs[:n], int(occurs[n]))
    code = np.append(of_text, np.int32(0))[physical]
    return Coded(values, counts, lambda of_value: gathered(of_value, code))


def _known(source: Source, texts: pl.Series, occurs: Counts, n_missing: int) -> tuple[pl.Series, Counts, Codes]:
    """The values of a column, sorted, how many records have each, and the code of every text that is stored in it.

    Not every text that is listed occurs, and several of them may mean the same.
    """
    meant = source.cleaned(texts)
    distinct = meant.filter(pl.Series(occurs > 0)).drop_nulls().unique().sort()
    of_value = pl.DataFrame({"value": distinct, "code": np.arange(1, len(distinct) + 1, dtype=np.int32)})
    found = meant.alias("value").to_frame().join(of_value, on="value", how="left", maintain_order="left")["code"]
    code = found.fill_null(0).to_numpy().astype(np.int32)
    counts = np.zeros(len(distinct) + 1, np.int64)
    counts[0] = n_missing
    np.add.at(counts, code, occurs)
    values = pl.concat([pl.Series([None], dtype=pl.String), distinct.cast(pl.String)]).alias(texts.name)
    return values, counts, code

"""Masked data: a table that looks like the original, with some columns changed on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from tarnkappe.io import Source
from tarnkappe.io.views import SourceView
from tarnkappe.masks.base import Fitted

#: Names that no column has: a name that is blank is refused in tables.
_ROW, _MADE, _WORDS, _NEED = " ", "  ", "\t", "\n"

#: Records that are masked together: what is made of them on the way stays near the processor.
_FEW = 1 << 17


class MaskedSource(SourceView):
    """The original with some of its columns changed, row by row in its own order.

    Whoever reads it, by whatever engine, finds the same values: they depend on the row, not on the batch it is in.
    """

    def __init__(self, original: Source, fitted: Sequence[Fitted]) -> None:
        """Look like the original."""
        super().__init__(original)
        self._makers = {name: one for one in fitted for name in one.types}

    def with_original(self, column: str) -> MaskedSource:
        """The same, but for one column that is as it was."""
        out = MaskedSource(self.original, ())
        out._makers = {name: one for name, one in self._makers.items() if name != column}
        return out

    @property
    def original(self) -> Source:
        """The data as they were."""
        return self.inner

    @property
    def held(self) -> list[str]:
        """The changed columns that are in memory, whoever reads them or not."""
        return [series.name for one in dict.fromkeys(self._makers.values()) for series in one.held]

    def line_of(self, row: int) -> int | None:
        """Where a row stands in the original."""
        return self.original.line_of(row)

    def sample(self, columns: Sequence[str], n: int) -> pl.DataFrame:
        """The first `n` rows of these columns; missing markers are null."""
        asked = self._known(columns)
        makers = self.makers_of(asked)
        needs = [name for one in makers for name in one.needs]
        plain = [name for name in asked if name not in self._makers]
        given = self.original.sample([*dict.fromkeys([*(plain or asked[:1]), *needs])], n)
        rows = np.arange(given.height)
        made = [self.cleaned(series) for one in makers for series in one.at(rows, given.select(one.needs))]
        return pl.DataFrame([*(given[name] for name in plain), *made]).select(asked)

    def batches_with_words(
        self, columns: Sequence[str], select: Sequence[pl.Expr], watched: Sequence[str]
    ) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """What `select` makes of the columns, in their order, and beside it a word for every original value.

        The words are those of the columns that are `watched`; see `Source.row_words`.
        """
        asked = self._known(columns)
        makers = self.makers_of(asked)
        needs = list(dict.fromkeys(name for one in makers for name in one.needs))
        plain = [name for name in asked if name not in self._makers]
        read = [*dict.fromkeys([*(plain or asked[:1]), *needs, *watched])]
        names = [f"{_WORDS}{j}" for j in range(len(watched))]
        word = [self.original.row_words([name]).alias(a) for a, name in zip(names, watched, strict=True)]
        given = [self.original.shown(name, t).alias(f"{_NEED}{name}") for name, t in self.original.types(needs).items()]
        at = 0
        # Not by `_scan`, which has Polars ask Python for a few rows at a time.
        for batch in self.original.batches(read, {}, [*map(pl.col, plain or asked[:1]), *given, *word], _FEW):
            inputs = batch.select(pl.col(f"{_NEED}{name}").alias(name) for name in needs)
            rows = np.arange(at, at + batch.height)
            made = [series for one in makers for series in one.at(rows, inputs.select(one.needs))]
            seen = batch.select(pl.col(a).alias(name) for a, name in zip(names, watched, strict=True))
            yield pl.DataFrame([*(batch[name] for name in plain), *made]).select(select), seen
            at += batch.height

    def makers_of(self, columns: Sequence[str]) -> list[Fitted]:
        """The masks that change any of these columns, as they were fitted."""
        return list(dict.fromkeys(self._makers[name] for name in columns if name in self._makers))

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        makers = self.makers_of(columns)
        if not makers:
            return self.original._scan(columns)
        plain = [name for name in columns if name not in self._makers]
        needs = list(dict.fromkeys(name for one in makers for name in one.needs))
        types = self.original.types(needs)
        frame = self.original._scan([*dict.fromkeys([*(plain or columns[:1]), *needs])]).with_row_index(_ROW)
        shown = [self.original.shown(name, t).alias(f"n{j}") for j, (name, t) in enumerate(types.items())]
        made_types = {name: one.types[name] for one in makers for name in one.types}

        def make(rows: pl.Series) -> pl.Series:
            given = rows.struct.unnest()
            at = given[_ROW].to_numpy()
            inputs = pl.DataFrame([given[f"n{j}"].alias(name) for j, name in enumerate(needs)])
            made = [series for one in makers for series in one.at(at, inputs.select(one.needs))]
            return pl.DataFrame(made).to_struct(_MADE)

        made = pl.struct(_ROW, *shown).map_batches(make, return_dtype=pl.Struct(made_types), is_elementwise=True)
        frame = frame.with_columns(made.alias(_MADE))
        out = [
            pl.col(_MADE).struct.field(name).alias(name) if name in self._makers else pl.col(name) for name in columns
        ]
        return frame.select(out)

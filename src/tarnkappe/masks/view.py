"""Masked data: a table that looks like the original, with some columns changed on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from tarnkappe.io import Source
from tarnkappe.io.cells import BATCH
from tarnkappe.io.views import SourceView
from tarnkappe.masks.base import Fitted

#: Names that no column has: a name that is blank is refused in tables.
_ROW, _MADE, _WORDS = " ", "  ", "\t"


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

    def batches_with_words(
        self, columns: Sequence[str], select: Sequence[pl.Expr], watched: Sequence[str]
    ) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """What `select` makes of the columns, in their order, and beside it a word for every original value.

        The words are those of the columns that are `watched`; see `Source.row_words`.
        """
        names = [f"{_WORDS}{j}" for j in range(len(watched))]
        word = [self.original.row_words([name]).alias(a) for a, name in zip(names, watched, strict=True)]
        frame = self._made(self._known(columns), watched, word).select(*select, *names)
        try:
            for batch in frame.collect_batches(chunk_size=BATCH, engine="streaming"):
                yield batch.drop(names), batch.select(pl.col(a).alias(n) for a, n in zip(names, watched, strict=True))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise self.unreadable() from None  # their own words may quote values

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return self._made(columns)

    def _made(self, columns: list[str], also: Sequence[str] = (), beside: Sequence[pl.Expr] = ()) -> pl.LazyFrame:
        """The columns, changed; and `beside` them what comes of columns of the original that are read `also`."""
        makers = list(dict.fromkeys(self._makers[name] for name in columns if name in self._makers))
        if not makers:
            return self.original._scan([*dict.fromkeys([*columns, *also])]).select(*map(pl.col, columns), *beside)
        plain = [name for name in columns if name not in self._makers]
        needs = list(dict.fromkeys(name for one in makers for name in one.needs))
        types = self.original.types(needs)
        frame = self.original._scan([*dict.fromkeys([*(plain or columns[:1]), *needs, *also])]).with_row_index(_ROW)
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
        return frame.select(*out, *beside)

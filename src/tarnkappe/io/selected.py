"""Records that a filter leaves, with columns that are computed: what a job says about its data, on any source."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.io.base import Source
from tarnkappe.io.expression_values import WHOLE, Compiled
from tarnkappe.io.expressions import Expression
from tarnkappe.io.reading import Reading
from tarnkappe.io.texts import is_text
from tarnkappe.io.views import SourceView

#: A column of our own beside those of a table.
_KEPT = " kept"

#: What derived whole numbers are stored as.
_OF_COLUMNS = (pl.Int64(), pl.UInt64())


class SelectedSource(SourceView):
    """The records of another source for which an expression is true, and further columns.

    A record for which the filter cannot tell, because a value is missing, is left out, as in SQL.
    """

    def __init__(self, inner: Source, reading: Reading) -> None:
        """Read the expressions, and look once whether all of their texts can be read."""
        self.inner = inner
        types = inner._stored_types()
        self._filter = None if reading.filter is None else self._compiled(reading.filter, types)
        if self._filter is not None and self._filter.kind != "truth":
            raise DataError(
                "E473",
                f"the filter  {reading.filter}  is not a comparison",
                where=inner.name,
                hint='data: {filter: "age >= 18"}',
            )
        self._derived = {name: self._compiled(text, types) for name, text in reading.derive.items()}
        for name in self._derived:
            if name in inner.columns:
                raise DataError(
                    "E473",
                    f"'{name}' cannot be derived: '{inner.name}' has a column of that name",
                    where=inner.name,
                    hint=f"derive: {{{name}_2: ...}}   and  {name}: {{role: drop}}",
                )
        self._wide = [name for name, told in self._derived.items() if self._type(told, types) == WHOLE]
        super().__init__(inner, columns=[*inner.columns, *self._derived], n_rows=self._count())

    def _compiled(self, text: str, types: Mapping[str, pl.DataType]) -> Compiled:
        plain = {name: t for name, t in types.items() if name not in self.inner.odd}

        def column(name: str) -> pl.Expr:
            found = pl.col(name)  # no name is a pattern, which opening the source has made sure of
            return self.inner._meant(found.cast(pl.String)) if is_text(plain[name]) else found

        # Where columns have types, text is text.
        loose = all(is_text(t) for t in types.values())
        return Expression(
            text, plain, column, decimal=self.inner.decimal, loose=loose, where=self.inner.name
        ).compiled()

    @staticmethod
    def _type(told: Compiled, types: Mapping[str, pl.DataType]) -> pl.DataType:
        return pl.LazyFrame(schema=dict(types)).select(told.expr.alias("0")).collect_schema()["0"]

    def _count(self) -> int:
        """How many records are left; texts that cannot be read as what the expressions need are an error.

        Derived whole numbers get the bits that columns have, if they fit.
        """
        told = [c for c in (self._filter, *self._derived.values()) if c is not None]
        columns = list(dict.fromkeys(name for c in told for name in c.columns)) or [self.inner.columns[0]]
        kept = pl.len() if self._filter is None else pl.col(_KEPT).sum()
        chosen = [] if self._filter is None else [self._filter.expr.fill_null(False).alias(_KEPT)]
        bad = {name: expr for c in told for name, expr in c.unreadable.items()}
        left = pl.lit(True) if self._filter is None else pl.col(_KEPT)
        fits = [self._fits(self._derived[name].expr, dtype) | ~left for name in self._wide for dtype in _OF_COLUMNS]
        asked = [kept, *bad.values(), *(fit.all() for fit in fits)]
        wanted = [expr.alias(str(j)) for j, expr in enumerate(asked)]
        try:
            found = self.inner._scan(columns).with_columns(chosen).select(wanted).collect(engine="streaming").row(0)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            raise self.inner.unreadable() from None  # their own words may quote values
        for name, n in zip(bad, found[1 : len(bad) + 1], strict=True):
            if n:
                raise DataError(
                    "E474",
                    f"{n} of the values of '{name}' cannot be read as the number or day that an expression needs",
                    where=self.inner.name,
                    hint='data: {missing: ["", "n/a"]}   if a text stands for a gap; else compare with texts',
                )
        if self._filter is not None and found[0] == 0:
            raise DataError(
                "E402",
                f"the filter leaves no record of '{self.inner.name}'",
                where=self.inner.name,
                hint=f"Check  {self._filter.text}",
            )
        told_of_fits = iter(found[len(bad) + 1 :])
        for name in self._wide:
            fit = [next(told_of_fits) for _ in _OF_COLUMNS]
            self._derived[name] = self._derived[name].of_type(next(compress(_OF_COLUMNS, fit), WHOLE))
        return int(found[0])

    @staticmethod
    def _fits(expr: pl.Expr, dtype: pl.DataType) -> pl.Expr:
        return expr.is_null() | expr.cast(dtype, strict=False).is_not_null()

    @property
    def format(self) -> str:
        """The format of the source, and that not all of it is read."""
        told = [self.inner.format]
        told += [] if self._filter is None else [f"only {self._filter.text}"]
        told += [] if not self._derived else [f"with {', '.join(self._derived)}"]
        return ", ".join(told)

    def unreadable(self) -> DataError:
        """The error of the source."""
        return self.inner.unreadable()

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        derived = {name: self._derived[name] for name in columns if name in self._derived}
        needed = [name for name in columns if name not in derived]
        told = [*derived.values(), *([] if self._filter is None else [self._filter])]
        needed += [name for c in told for name in c.columns]
        frame = self.inner._scan(list(dict.fromkeys(needed)) or [self.inner.columns[0]])
        if self._filter is not None:
            frame = frame.filter(self._filter.expr)
        # Not selected at once: a column that is the same for all records would then have one row.
        return frame.with_columns(told.expr.alias(name) for name, told in derived.items()).select(columns)

"""Whether the tables of a release are true whose groups have numbers: under each stands what was dealt to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.engines.ledger import pair_words
from tarnkappe.engines.values import leaf_texts
from tarnkappe.io import Source
from tarnkappe.io.kept import MODULUS
from tarnkappe.plan import DealtPlan
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.sheets import Strand
from tarnkappe.publish.totals import leaf_numbers
from tarnkappe.regrouping import looked_up, runs
from tarnkappe.schema import Schema
from tarnkappe.tally import Domain, distinct_rows

#: A column of our own beside those of a table; a name that is blank is refused in tables.
_PLACE = " "


def untrue_sheets(
    plan: DealtPlan, schema: Schema, tables: Mapping[str, Source], missing: Sequence[str] = ()
) -> list[str]:
    """What is wrong with the tables of a release, in words: under some number stands what was not dealt to it.

    Columns that stay together on a record (a strand) are read from their texts and must stand, together, as often under
    each number as records that have them were dealt to that group. Sums of one word per record tell.
    """
    reading = plan.form.reading(schema)
    problems = plan.form.untrue(plan, missing)
    for strand in plan.form.strands(schema):
        planned = _Planned(plan, schema, strand, tables[strand.sheet], missing)
        found = 0
        counts = [] if strand.count is None else [strand.count]
        for run in runs(tables[strand.sheet], reading.number, [*strand.columns, *counts]):
            word = pair_words(planned.places(run.rows), run.number.astype(np.int32))
            if strand.count is not None:
                word = word * run.rows[strand.count].cast(pl.Int64).to_numpy().astype(np.uint64)
            found += int(word.sum(dtype=np.uint64))
        if found % MODULUS != planned.words():
            names = ", ".join(f"'{name}'" for name in strand.columns)
            problems.append(f"{names} do not stand under the numbers of those who have them")
    return problems


class _Planned:
    """What a strand must hold: the combinations that its columns may have, and how they were dealt."""

    def __init__(self, plan: DealtPlan, schema: Schema, strand: Strand, source: Source, missing: Sequence[str]) -> None:
        self._plan, self._source = plan, source
        self._columns = dict(zip(strand.columns, _shown(plan, schema, strand, source, missing), strict=True))
        codes = [column.of_cell for column in self._columns.values()]
        self._of_cell, first = distinct_rows([c + 1 for c in codes], [int(c.max(initial=0)) + 2 for c in codes])
        known = {name: code[first] for name, code in zip(strand.columns, codes, strict=True)}
        self._known = pl.DataFrame(known).with_columns(pl.Series(_PLACE, np.arange(len(first), dtype=np.int32)))

    def places(self, rows: pl.DataFrame) -> Codes:
        """The combination that each row has; -1 if the input has none like it."""
        names = list(self._columns)
        found = pl.DataFrame({n: x.read(self._source.cleaned(rows[n])) for n, x in self._columns.items()})
        return found.join(self._known, on=names, how="left", maintain_order="left")[_PLACE].fill_null(-1).to_numpy()

    def words(self) -> int:
        """The sum of one word per record dealt, by its number and by what it has."""
        total, deal = 0, self._plan.deal
        for first, after in deal.chunks():
            cells = deal.cell[deal.starts[first] : deal.starts[after]]
            total += int(pair_words(self._of_cell[cells], deal.groups_in(first, after) + 1).sum(dtype=np.uint64))
        return total % MODULUS


def _domain(plan: DealtPlan, name: str) -> Domain:
    return next(d for d in (*plan.tally.quasi_domains, *plan.tally.sensitive_domains) if d.name == name)


def _codes(plan: DealtPlan, name: str) -> Codes:
    names = [d.name for d in plan.tally.quasi_domains]
    if name in names:
        return plan.tally.quasi[:, names.index(name)]
    return plan.tally.sensitive[:, plan.tally.sensitive_index(name)]


def _shown(
    plan: DealtPlan, schema: Schema, strand: Strand, source: Source, missing: Sequence[str]
) -> list[_Numbers | _Texts | _Labels]:
    """How the columns of a strand stand in its table."""
    if strand.recoded is not None:
        return [_Labels(labels, strand.recoded.box) for labels in strand.recoded.labels(missing)]
    out: list[_Numbers | _Texts | _Labels] = []
    for name in strand.of_data:
        domain, codes = _domain(plan, name), _codes(plan, name)
        numbers = schema[name].kind == "numeric" and not domain.floor
        out.append(_Numbers(domain, codes, source) if numbers else _Texts(domain, codes, missing))
    return out


class _Texts:
    """How the values of a column stand in a table, and which value of the input each of them is.

    `of_cell` is a code for every cell; values that look alike in a table have the same.
    """

    def __init__(self, domain: Domain, codes: Codes, missing: Sequence[str]) -> None:
        shown = pl.Series("value", leaf_texts(domain, missing), dtype=pl.String)
        self._known = _first_places(shown)
        self.of_cell: Codes = looked_up(shown, self._known)[codes]

    def read(self, values: pl.Series) -> Codes:
        """The code of every value; -1 if the input has none like it."""
        return looked_up(values.cast(pl.String), self._known)


class _Numbers:
    """How the numbers of a column stand in a table, as `_Texts`: however they are written, equal ones are one."""

    def __init__(self, domain: Domain, codes: Codes, source: Source) -> None:
        self._source = source
        shown = leaf_numbers(domain).alias("value")
        self._known = _first_places(shown)
        self.of_cell: Codes = looked_up(shown, self._known)[codes]

    def read(self, values: pl.Series) -> Codes:
        """The code of every number; -1 if the input has none like it."""
        numbers = self._source.numeric(values)
        if self._known.schema["value"].is_float():
            return looked_up(numbers.cast(pl.Float64) + 0.0, self._known)
        broken = (numbers % 1 != 0).fill_null(False).to_numpy()  # whole numbers would be made of them
        found: Codes = np.where(broken, -1, looked_up(numbers, self._known)).astype(np.int32)
        return found


def _first_places(shown: pl.Series) -> pl.DataFrame:
    """Where each of some values stands first."""
    places = pl.DataFrame([shown, pl.Series(_PLACE, np.arange(len(shown), dtype=np.int32))])
    return places.group_by("value").agg(pl.col(_PLACE).min())


class _Labels:
    """How the labels of a column stand in a table: `of_cell` is that of every cell, -1 for a missing one."""

    def __init__(self, labels: Labels, box: Codes) -> None:
        texts = pl.Series("value", labels.texts, dtype=pl.String)
        self._known = pl.DataFrame([texts, pl.Series(_PLACE, np.arange(len(texts), dtype=np.int32))])
        self.of_cell: Codes = labels.code[box]

    def read(self, values: pl.Series) -> Codes:
        """The label of every text, -1 for a missing one, -2 if there is none like it."""
        code = looked_up(values.cast(pl.String), self._known)
        return np.where(values.is_null().to_numpy(), -1, np.where(code < 0, -2, code)).astype(np.int32)

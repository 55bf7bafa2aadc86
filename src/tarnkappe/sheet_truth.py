"""Whether the tables of a release are true whose groups have numbers: under each stands what was dealt to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.engines.encode import encode_nodes
from tarnkappe.engines.ledger import pair_words
from tarnkappe.engines.values import leaf_texts
from tarnkappe.io import Source
from tarnkappe.io.kept import MODULUS
from tarnkappe.plan import DealtPlan
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.regenerated import points_of, wrong_moments
from tarnkappe.publish.sheets import MAIN, Reading, Strand
from tarnkappe.regrouping import kept_numbers, looked_up, runs
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain, distinct_rows
from tarnkappe.verification import Evidence

#: A column of our own beside those of a table; a name that is blank is refused in tables.
_PLACE = " "


def untrue_sheets(
    plan: DealtPlan,
    schema: Schema,
    tables: Mapping[str, Source],
    missing: Sequence[str] = (),
    evidence: Evidence | None = None,
) -> list[str]:
    """What is wrong with the tables of a release, in words: under some number stands what was not dealt to it.

    Columns that stay together on a record (a strand) are read from their texts and must stand, together, as often under
    each number as records that have them were dealt to that group. Sums of one word per record tell.
    """
    reading = plan.form.reading(schema)
    problems = plan.form.untrue(plan, missing)
    numbers = kept_numbers(evidence or Evidence(), reading, tables[MAIN])
    for strand in plan.form.strands(schema):
        if strand.drawn is not None:
            problems += _untrue_moments(plan, strand, tables[strand.sheet], reading.number, numbers)
            continue
        planned = _Planned(plan, strand, tables[strand.sheet], missing)
        found = 0
        counts = [] if strand.count is None else [strand.count]
        for run in runs(tables[strand.sheet], reading.number, [*strand.columns, *counts], numbers):
            word = pair_words(planned.places(run.rows), run.number.astype(np.int32))
            if strand.count is not None:
                word = word * run.rows[strand.count].cast(pl.Int64).to_numpy().astype(np.uint64)
            found += int(word.sum(dtype=np.uint64))
        if found % MODULUS != planned.words():
            names = ", ".join(f"'{name}'" for name in strand.columns)
            problems.append(f"{names} do not stand under the numbers of those who have them")
    if evidence is not None and evidence.witness is not None:
        problems += _untrue_witness(plan, tables[MAIN], reading, evidence.witness)
    return problems


def _untrue_moments(
    plan: DealtPlan, strand: Strand, source: Source, number: str, numbers: pl.Series | None
) -> list[str]:
    """What is wrong with the moments of numbers that were drawn anew, in words."""
    (run,) = runs(source, number, strand.columns, numbers) if numbers is not None else (None,)
    if run is None or not np.array_equal(run.number, plan.deal.groups_in(0, plan.n_groups) + 1):
        return ["groups do not have as many records as were dealt to them"]
    after = np.column_stack(
        [source.numeric(source.cleaned(run.rows[name])).cast(pl.Float64).to_numpy() for name in strand.columns]
    )
    assert strand.drawn is not None
    return wrong_moments(points_of(plan), after, run.group, strand.drawn)


def _untrue_witness(plan: DealtPlan, source: Source, reading: Reading, witness: pl.DataFrame) -> list[str]:
    """What is wrong with what is kept about the rows of the first table: groups have other people, or other values.

    People go under other numbers in each release, so only how many of them a group has is looked at.
    """
    if witness.height != plan.n_published:
        return ["what is kept beside the records is not about as many of them"]
    if reading.hidden:  # what is kept are the numbers, which everything else was looked at by
        return []
    numbers = np.concatenate([run.number for run in runs(source, reading.number, ())])
    group = plan.deal.groups_in(0, plan.n_groups) + 1
    problems = []
    for name in witness.columns:
        s = plan.tally.sensitive_index(name)
        codes, domain = plan.tally.sensitive[plan.deal.cell, s], plan.tally.sensitive_domains[s]
        if witness[name].dtype.is_integer():
            found = [_different(numbers, witness[name].to_numpy()), _different(group, codes)]
        else:
            texts = pl.Series([*domain.taxonomy.leaves, None], dtype=pl.String)
            known = texts.gather(np.where(domain.known[codes], codes, len(texts) - 1))
            found = [_together(numbers, witness[name]), _together(group, known)]
        if not found[0].equals(found[1]):
            problems.append(f"'{name}', which is kept beside the records, is not that of their groups")
    return problems


def _together(group: Codes, values: pl.Series) -> pl.DataFrame:
    """How often each value stands under each number."""
    rows = pl.DataFrame({"group": group.astype(np.int64), "value": values})
    return rows.group_by("group", "value").len().sort("group", "value")


def _different(group: Codes, people: Codes) -> pl.DataFrame:
    """How many different people stand under each number."""
    rows = pl.DataFrame({"group": group.astype(np.int64), "person": people})
    return rows.group_by("group").agg(pl.col("person").n_unique()).sort("group")


class _Planned:
    """What a strand must hold: the combinations that its columns may have, and how they were dealt."""

    def __init__(self, plan: DealtPlan, strand: Strand, source: Source, missing: Sequence[str]) -> None:
        self._plan, self._source = plan, source
        self._raised = None if strand.raised is None else strand.raised.taxonomy.n_nodes
        self._columns = dict(zip(strand.columns, _shown(plan, strand, source, missing), strict=True))
        if self._raised is not None:  # every node may stand there
            self._known = pl.DataFrame({strand.columns[0]: np.arange(self._raised, dtype=np.int32)})
            self._known = self._known.with_columns(pl.Series(_PLACE, np.arange(self._raised, dtype=np.int32)))
            return
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
            run = slice(deal.starts[first], deal.starts[after])
            raised = None if self._raised is None else deal.raised
            places = self._of_cell[deal.cell[run]] if raised is None else raised[run]
            total += int(pair_words(places, deal.groups_in(first, after) + 1).sum(dtype=np.uint64))
        return total % MODULUS


def _domain(plan: DealtPlan, name: str) -> Domain:
    return next(d for d in (*plan.tally.quasi_domains, *plan.tally.sensitive_domains) if d.name == name)


def _codes(plan: DealtPlan, name: str) -> Codes:
    names = [d.name for d in plan.tally.quasi_domains]
    if name in names:
        return plan.tally.quasi[:, names.index(name)]
    return plan.tally.sensitive[:, plan.tally.sensitive_index(name)]


def _shown(
    plan: DealtPlan, strand: Strand, source: Source, missing: Sequence[str]
) -> Sequence[_Texts | _Labels | _Nodes]:
    """How the columns of a strand stand in its table."""
    if strand.raised is not None:
        return [_Nodes(strand.raised)]
    if strand.recoded is not None:
        return [_Labels(labels, strand.recoded.box) for labels in strand.recoded.labels(missing)]
    return [_Texts(_domain(plan, name), _codes(plan, name), source, missing) for name in strand.of_data]


class _Texts:
    """How the values of a column stand in a table, and which value of the input each of them is.

    `of_cell` is a code for every cell; values that look alike in a table have the same.
    """

    def __init__(self, domain: Domain, codes: Codes, source: Source, missing: Sequence[str]) -> None:
        self._source = source
        self._numbers = domain.values is not None and not domain.floor
        if self._numbers:
            shown = pl.Series("value", domain.positions).fill_nan(None)
        else:
            shown = pl.Series("value", leaf_texts(domain, missing), dtype=pl.String)
        places = pl.DataFrame([shown, pl.Series(_PLACE, np.arange(len(shown), dtype=np.int32))])
        self._known = places.group_by("value").agg(pl.col(_PLACE).min())
        self.of_cell: Codes = looked_up(shown, self._known)[codes]

    def read(self, values: pl.Series) -> Codes:
        """The code of every value; -1 if the input has none like it."""
        shown = self._source.numeric(values).cast(pl.Float64) + 0.0 if self._numbers else values.cast(pl.String)
        return looked_up(shown, self._known)


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


class _Nodes:
    """How the nodes of a taxonomy stand in a table, each by its label."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self.of_cell: Codes = np.zeros(0, np.int32)

    def read(self, values: pl.Series) -> Codes:
        """The node of every label; -1 if there is none like it."""
        nodes, _ = encode_nodes(values.cast(pl.String), Column(self._domain.name, "sensitive"), self._domain)
        return nodes.astype(np.int32)

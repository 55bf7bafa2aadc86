"""Whether the tables of a release are true whose groups have numbers: under each stands what was dealt to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.engines.encode import encode_nodes
from tarnkappe.engines.values import leaf_texts
from tarnkappe.io import Source
from tarnkappe.io.kept import MODULUS
from tarnkappe.io.lookup import Lookup
from tarnkappe.kernels.engines.words import add_digit, sum_of_dealt_words, sum_of_words
from tarnkappe.plan import DealtPlan
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.regenerated import points_of, wrong_moments
from tarnkappe.publish.sheets import MAIN, Strand
from tarnkappe.publish.totals import leaf_numbers
from tarnkappe.schema import Column, Schema
from tarnkappe.sheet_runs import Run, Watcher
from tarnkappe.tally import Domain, distinct_rows
from tarnkappe.threads import map_threads
from tarnkappe.verification import Evidence

#: So many combinations have a table of their places, whether they occur or not.
_FEW = 1 << 20

#: A column of our own beside those of a table; a name that is blank is refused in tables.
_PLACE = " "


def truth_of(
    plan: DealtPlan,
    schema: Schema,
    tables: Mapping[str, Source],
    missing: Sequence[str] = (),
    evidence: Evidence | None = None,
) -> dict[str, list[Watcher]]:
    """Watchers of the tables of a release who find out whether under some number stands what was not dealt to it.

    Columns that stay together on a record (a strand) are read from their texts and must stand, together, as often under
    each number as records that have them were dealt to that group. Sums of one word per record tell.
    """
    watchers: dict[str, list[Watcher]] = {}
    for strand in plan.form.strands(schema):
        source = tables[strand.sheet]
        watcher: Watcher
        if strand.drawn is not None:
            watcher = _TruthOfMoments(plan, strand, source)
        else:
            watcher = _Truth(plan, schema, strand, source, missing)
        watchers.setdefault(strand.sheet, []).append(watcher)
    # Where numbers are not published, they are what is kept, and everything else is looked at by them.
    if evidence is not None and evidence.witness is not None and not plan.form.reading(schema).hidden:
        watchers.setdefault(MAIN, []).append(_TruthOfWitness(plan, evidence.witness))
    return watchers


class _TruthOfMoments:
    """Whether numbers that were drawn anew have the moments of those they stand for, group by group."""

    def __init__(self, plan: DealtPlan, strand: Strand, source: Source) -> None:
        self._plan, self._strand, self._source = plan, strand, source
        self.columns = strand.columns
        self._runs: list[Run] = []

    def see(self, run: Run) -> None:
        """Remember the rows; there is but one run of them."""
        self._runs.append(run)

    def wrong(self) -> Iterator[str]:
        """Which groups have other sizes or moments."""
        plan, source, drawn = self._plan, self._source, self._strand.drawn
        if len(self._runs) != 1 or not np.array_equal(self._runs[0].number, plan.deal.groups_in(0, plan.n_groups) + 1):
            yield "groups do not have as many records as were dealt to them"
            return
        (run,) = self._runs
        assert drawn is not None
        read = [source.numeric(source.cleaned(run.rows[name])).cast(pl.Float64).to_numpy() for name in self.columns]
        yield from wrong_moments(points_of(plan), np.column_stack(read), run.group, drawn)


class _TruthOfWitness:
    """Whether what is kept about the rows of the first table is true: groups have their people, and their values.

    People go under other numbers in each release, so only how many of them a group has is looked at.
    """

    columns: Sequence[str] = ()

    def __init__(self, plan: DealtPlan, witness: pl.DataFrame) -> None:
        self._plan, self._witness = plan, witness
        self._numbers: list[Counts] = []

    def see(self, run: Run) -> None:
        """Remember the numbers of the rows."""
        self._numbers.append(run.number)

    def wrong(self) -> Iterator[str]:
        """What is kept about other records, or about other groups."""
        plan, witness = self._plan, self._witness
        if witness.height != plan.n_published:
            yield "what is kept beside the records is not about as many of them"
            return
        numbers, group = np.concatenate(self._numbers), plan.deal.groups_in(0, plan.n_groups) + 1
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
                yield f"'{name}', which is kept beside the records, is not that of their groups"


def _together(group: Codes | Counts, values: pl.Series) -> pl.DataFrame:
    """How often each value stands under each number."""
    rows = pl.DataFrame({"group": group.astype(np.int64), "value": values})
    return rows.group_by("group", "value").len().sort("group", "value")


def _different(group: Codes | Counts, people: Codes) -> pl.DataFrame:
    """How many different people stand under each number."""
    rows = pl.DataFrame({"group": group.astype(np.int64), "person": people})
    return rows.group_by("group").agg(pl.col("person").n_unique()).sort("group")


class _Truth:
    """Whether a strand holds what it must: the combinations that its columns may have, as they were dealt."""

    def __init__(self, plan: DealtPlan, schema: Schema, strand: Strand, source: Source, missing: Sequence[str]) -> None:
        self._plan, self._strand = plan, strand
        self.columns = [*strand.columns, *([] if strand.count is None else [strand.count])]
        self._found = 0
        self._strange = False
        self._shown = dict(zip(strand.columns, _shown(plan, schema, strand, source, missing), strict=True))
        if strand.raised is not None:  # every node may stand there
            self._place = _Combinations([np.arange(strand.raised.taxonomy.n_nodes, dtype=np.int32)])
            return
        codes = [column.of_cell for column in self._shown.values()]
        self._of_cell, first = distinct_rows([c + 1 for c in codes], [int(c.max(initial=0)) + 2 for c in codes])
        self._place = _Combinations([code[first] for code in codes])

    def see(self, run: Run) -> None:
        """Add up the words of some rows."""
        number = run.numbers
        if number[0] < 1 or number[-1] > self._plan.n_groups:
            self._strange = True
            return
        place = self._place([run.looked_up(name, shown.read) for name, shown in self._shown.items()])
        count = np.zeros(0, np.int64) if self._strand.count is None else run.records(self._strand.count)
        self._found += int(sum_of_words(place, run.starts, number, count))

    def wrong(self) -> Iterator[str]:
        """That some record is not where it should be."""
        if self._strange or self._found % MODULUS != self._planned():
            names = ", ".join(f"'{name}'" for name in self._strand.columns)
            yield f"{names} do not stand under the numbers of those who have them"

    def _planned(self) -> int:
        """The sum of one word per record dealt, by its number and by what it has."""
        deal = self._plan.deal

        if self._strand.raised is None:
            told = deal.told if self._strand.falsified else None
            of_value, values = self._of_cell, deal.cell if told is None else told
        else:  # the nodes that records publish are the combinations
            assert deal.raised is not None
            of_value, values = np.arange(self._strand.raised.taxonomy.n_nodes, dtype=np.int32), deal.raised

        def words(run: tuple[int, int]) -> int:
            return int(sum_of_dealt_words(of_value, values, deal.starts, *run))

        return sum(map_threads(words, deal.chunks())) % MODULUS


class _Combinations:
    """Where combinations of codes stand in a list of them; -1 if they do not. Codes begin at -1."""

    def __init__(self, known: Sequence[Codes]) -> None:
        self._bases = [int(codes.max(initial=-1)) + 2 for codes in known]
        places = np.arange(len(known[0]) if known else 0, dtype=np.int32)
        self._table = None
        if prod(self._bases) <= max(_FEW, 4 * len(places)):
            self._table = np.full(prod(self._bases) + 1, -1, np.int32)  # the last one for those that do not occur
            self._table[self._keys(known)] = places
        else:
            self._known = pl.DataFrame(_named(known)).with_columns(pl.Series(_PLACE, places))

    def __call__(self, codes: Sequence[Codes]) -> Codes:
        """The place of every combination."""
        if self._table is not None:
            place: Codes = self._table[self._keys(codes)]
            return place
        found, names = pl.DataFrame(_named(codes)), list(_named(codes))
        return found.join(self._known, on=names, how="left", maintain_order="left")[_PLACE].fill_null(-1).to_numpy()

    def _keys(self, codes: Sequence[Codes]) -> Counts:
        keys = np.zeros(len(codes[0]) if codes else 0, np.int64)
        for code, base in zip(codes, self._bases, strict=True):
            add_digit(keys, code + np.int32(1), base)
        return keys


def _named(columns: Sequence[Codes]) -> dict[str, Codes]:
    return {f"c{j}": codes for j, codes in enumerate(columns)}


def _domain(plan: DealtPlan, name: str) -> Domain:
    return next(d for d in (*plan.tally.quasi_domains, *plan.tally.sensitive_domains) if d.name == name)


def _codes(plan: DealtPlan, name: str) -> Codes:
    names = [d.name for d in plan.tally.quasi_domains]
    if name in names:
        return plan.tally.quasi[:, names.index(name)]
    return plan.tally.sensitive[:, plan.tally.sensitive_index(name)]


def _shown(
    plan: DealtPlan, schema: Schema, strand: Strand, source: Source, missing: Sequence[str]
) -> Sequence[_Texts | _Numbers | _Labels | _Nodes]:
    """How the columns of a strand stand in its table."""
    if strand.raised is not None:
        return [_Nodes(strand.raised, source)]
    if strand.recoded is not None:
        return [_Labels(labels, strand.recoded.box, source) for labels in strand.recoded.labels(missing)]
    out: list[_Numbers | _Texts] = []
    for name in strand.of_data:
        domain, codes = _domain(plan, name), _codes(plan, name)
        numbers = schema[name].kind == "numeric" and not domain.floor
        out.append(_Numbers(domain, codes, source) if numbers else _Texts(domain, codes, source, missing))
    return out


class _Texts:
    """How the values of a column stand in a table, and which value of the input each of them is.

    `of_cell` is a code for every cell; values that look alike in a table have the same.
    """

    def __init__(self, domain: Domain, codes: Codes, source: Source, missing: Sequence[str]) -> None:
        self._source = source
        shown = pl.Series("value", leaf_texts(domain, missing), dtype=pl.String)
        self._find = _first_places(shown)
        self.of_cell: Codes = self._find(shown)[codes]

    def read(self, values: pl.Series) -> Codes:
        """The code of every value as it is stored; -1 if the input has none like it."""
        return self._find(self._source.cleaned(values).cast(pl.String))


class _Numbers:
    """How the numbers of a column stand in a table, as `_Texts`: however they are written, equal ones are one."""

    def __init__(self, domain: Domain, codes: Codes, source: Source) -> None:
        self._source = source
        shown = leaf_numbers(domain).alias("value")
        self._find = _first_places(shown)
        self.of_cell: Codes = self._find(shown)[codes]

    def read(self, values: pl.Series) -> Codes:
        """The code of every number as it is stored; -1 if the input has none like it."""
        numbers = self._source.numeric(self._source.cleaned(values))
        if self._find.dtype.is_float():
            return self._find(numbers.cast(pl.Float64) + 0.0)
        if numbers.dtype.is_integer():
            return self._find(numbers)
        broken = (numbers % 1 != 0).fill_null(False).to_numpy()  # whole numbers would be made of them
        found: Codes = np.where(broken, -1, self._find(numbers)).astype(np.int32)
        return found


def _first_places(shown: pl.Series) -> Lookup:
    """Where each of some values stands first."""
    places = pl.DataFrame([shown, pl.Series(_PLACE, np.arange(len(shown), dtype=np.int32))])
    known = places.group_by("value").agg(pl.col(_PLACE).min())
    return Lookup(known["value"], known[_PLACE].to_numpy())


class _Labels:
    """How the labels of a column stand in a table: `of_cell` is that of every cell, -1 for a missing one."""

    def __init__(self, labels: Labels, box: Codes, source: Source) -> None:
        texts = pl.Series("value", [*labels.texts, None], dtype=pl.String)
        # The missing one has a place of its own while it is looked up: -1 is what is not found.
        self._missing = len(labels.texts)
        self._source = source
        self._find = Lookup(texts, np.arange(len(texts), dtype=np.int32))
        self.of_cell: Codes = labels.code[box]

    def read(self, values: pl.Series) -> Codes:
        """The label of every text as it is stored, -1 for a missing one, -2 if there is none like it."""
        code = self._find(self._source.cleaned(values).cast(pl.String))
        return np.where(code == self._missing, -1, np.where(code < 0, -2, code)).astype(np.int32)


class _Nodes:
    """How the nodes of a taxonomy stand in a table, each by its label."""

    def __init__(self, domain: Domain, source: Source) -> None:
        self._domain, self._source = domain, source
        self.of_cell: Codes = np.zeros(0, np.int32)

    def read(self, values: pl.Series) -> Codes:
        """The node of every label as it is stored; -1 if there is none like it."""
        texts = self._source.cleaned(values).cast(pl.String)
        nodes, _ = encode_nodes(texts, Column(self._domain.name, "sensitive"), self._domain)
        return nodes.astype(np.int32)

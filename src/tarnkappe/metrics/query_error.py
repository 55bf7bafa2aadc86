"""Query error: how far off counts are that readers estimate from a release.

It is no `Metric` that every run computes: it takes a workload, chance and a second or two, so it is measured on demand
(`query_error`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Flags, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.deals import Deal
from tarnkappe.errors import JobError
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.publish.centres import Centres
from tarnkappe.publish.sheets import Strand
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain, Tally

#: The values that a query asks for in each column, by the name of the column: yes or no for every code.
Predicates = Mapping[str, Flags]


@dataclass(frozen=True)
class Workload:
    """Generated COUNT queries: how many, on how many quasi-identifiers, and how many records each is to find.

    A query asks for some values of `predicates` random quasi-identifiers, and of the sensitive column. In each of these
    d columns it asks for ``ceil(|A| * selectivity^(1/d))`` of the |A| values: neighbours where values are ordered, any
    others elsewhere. If columns were independent and evenly spread, it would find a share `selectivity` of the records.
    """

    queries: int = 1_000
    predicates: int = 2
    selectivity: float = 0.05
    #: Counts below this share of the records are taken for it, or missing one of three records would weigh like half of
    #: the table.
    sanity: float = 0.001

    def __post_init__(self) -> None:
        if self.queries < 1 or self.predicates < 1 or not 0 < self.selectivity <= 1 or not 0 < self.sanity <= 1:
            raise JobError(
                "E110",
                "a workload needs queries and predicates of at least 1, selectivity and sanity above 0 and at most 1",
                hint="Workload(queries=1000, predicates=2, selectivity=0.05, sanity=0.001)",
            )


@dataclass(frozen=True, eq=False)
class QueryError:
    r"""The relative errors of a workload: ``|estimate - count| / max(count, sanity * n)`` for every query.

    The count is that of the input; the estimate is what a reader gets who takes values to be spread evenly over their
    labels, and torn columns to be independent within a group.
    """

    workload: Workload
    actual: Floats
    estimated: Floats
    n_records: int

    @cached_property
    def relative(self) -> Floats:
        """The relative error of every query."""
        least = self.workload.sanity * self.n_records
        return np.abs(self.estimated - self.actual) / np.maximum(self.actual, least)

    @property
    def median(self) -> float:
        """Half of the queries are off by less."""
        return float(np.median(self.relative))

    @property
    def mean(self) -> float:
        """The mean relative error."""
        return float(self.relative.mean())


def measure(
    plan: AnyPlan,
    workload: Workload,
    rng: np.random.Generator,
    column: str | None = None,
    asked_of: Tally | None = None,
) -> QueryError:
    """The query error of a plan of any form; nothing is written for it.

    `column` is the sensitive column of the queries: the first that a criterion looks at, if not given. `asked_of` are
    the same cells under other taxonomies: plans that were made with different ones then get the same queries.
    """
    tally = plan.tally
    cells = _Cells(tally)
    answering = _Torn(plan, cells) if isinstance(plan, DealtPlan) else _Whole(plan, cells)
    secret = _secret(plan, column)
    actual, estimated = np.empty(workload.queries), np.empty(workload.queries)
    for i in range(workload.queries):
        query = random_query(asked_of or tally, secret, workload, rng)
        actual[i] = cells.counted(query)
        estimated[i] = answering.estimate(query)
    return QueryError(workload, actual, estimated, tally.n_records)


def _secret(plan: AnyPlan, column: str | None) -> Domain | None:
    """The sensitive column that is asked about; None if there is none."""
    domains = {d.name: d for d in plan.tally.sensitive_domains}
    if column is not None and column not in domains:
        raise JobError("E105", f"'{column}' is no sensitive column", hint=f"Sensitive columns: {', '.join(domains)}.")
    shown = [d.name for d in plan.tally.sensitive_domains if not d.aside]
    names = [column] if column is not None else [*(n for n in plan.goal.columns if n in shown), *shown]
    return domains[names[0]] if names else None


def random_query(tally: Tally, secret: Domain | None, workload: Workload, rng: np.random.Generator) -> Predicates:
    """One random query."""
    domains = tally.quasi_domains
    if workload.predicates > len(domains):
        raise JobError(
            "E110",
            f"a query cannot ask about {workload.predicates} of {len(domains)} quasi-identifiers",
            hint=f"Workload(predicates={len(domains)})",
        )
    chosen = [domains[j] for j in rng.choice(len(domains), workload.predicates, replace=False)]
    chosen += [] if secret is None else [secret]
    share = workload.selectivity ** (1 / len(chosen))
    return {domain.name: _some_values(domain, share, rng) for domain in chosen}


def _some_values(domain: Domain, share: float, rng: np.random.Generator) -> Flags:
    """So large a part of the values of a column."""
    known = np.flatnonzero(domain.known)
    wanted = np.zeros(domain.size, np.bool_)
    n = math.ceil(len(known) * share)
    if domain.is_line:
        first = int(rng.integers(len(known) - n + 1))
        wanted[known[first : first + n]] = True
    else:
        wanted[rng.choice(known, n, replace=False)] = True
    return wanted


class _Cells:
    """The cells of the input, column by column."""

    def __init__(self, tally: Tally) -> None:
        quasi = zip(tally.quasi_domains, tally.quasi.T, strict=True)
        others = zip(tally.sensitive_domains, tally.sensitive.T, strict=True)
        # As places, which numpy looks up without converting them first.
        self.codes = {d.name: np.ascontiguousarray(codes, np.intp) for d, codes in (*quasi, *others)}
        self._count = tally.count

    def matching(self, query: Predicates) -> Flags:
        """Which cells match."""
        found: Flags = np.logical_and.reduce([wanted[self.codes[name]] for name, wanted in query.items()])
        return found

    def counted(self, query: Predicates) -> float:
        """How many records of the input match."""
        return float(self._count[self.matching(query)].sum())


class _Answering(ABC):
    """Estimates counts from what groups say."""

    @abstractmethod
    def estimate(self, query: Predicates) -> float:
        """How many records a reader would estimate."""


class _Whole(_Answering):
    """Records stay whole: of a group, as many match as have the sensitive value, times the share of its labels."""

    def __init__(self, plan: Plan, cells: _Cells) -> None:
        self._cells = cells
        tally, grouping = plan.tally, plan.grouping
        kept = grouping.group >= 0
        self._tally, self._n_groups = tally, plan.n_groups
        self._cell, self._group, self._quota = grouping.cell[kept], grouping.group[kept], grouping.quota[kept]
        self._sizes = plan.sizes.astype(np.float64)
        form = plan.form
        self._shares: _Shares = (
            _CentreShares(form, tally) if isinstance(form, Centres) else _BoxShares(plan.boxes, tally.quasi_domains)
        )

    def estimate(self, query: Predicates) -> float:
        """Sum over all groups."""
        names = [d.name for d in self._tally.quasi_domains]
        secrets = [name for name in query if name not in names]
        matching: Floats = self._sizes
        if secrets:
            wanted = self._cells.matching({name: query[name] for name in secrets})
            quota = np.where(wanted[self._cell], self._quota, 0.0)
            matching = np.bincount(self._group, quota, self._n_groups).astype(np.float64, copy=False)
        for name in set(query) - set(secrets):
            matching = matching * self._shares.of(names.index(name), query[name])
        return float(matching.sum())


class _Shares(ABC):
    """The part of what each group says in a quasi-identifier that is asked for."""

    @abstractmethod
    def of(self, j: int, wanted: Flags) -> Floats:
        """Per group, for quasi-identifier `j`."""


class _BoxShares(_Shares):
    """Values are spread evenly over the label of a group."""

    def __init__(self, boxes: Boxes, domains: Sequence[Domain]) -> None:
        self._boxes, self._domains = boxes, domains
        self._ends: dict[int, tuple[Codes, Codes]] = {}

    def of(self, j: int, wanted: Flags) -> Floats:
        """How many of the values that the label covers."""
        boxes, domain = self._boxes, self._domains[j]
        first, last = self._covered(j)
        before = np.append(0, np.cumsum(wanted))
        share: Floats = (before[last + 1] - before[first]) / (last - first + 1)
        if j not in boxes.members:
            return share
        bits = np.uint64(sum(1 << int(code) for code in np.flatnonzero(wanted)))
        members = boxes.members[j]
        in_set = np.bitwise_count(members & bits) / np.maximum(np.bitwise_count(members), 1)
        return np.where(boxes.publishes_range(j, domain), in_set, share)

    def _covered(self, j: int) -> tuple[Codes, Codes]:
        """The first and the last value that each label covers."""
        if j not in self._ends:
            boxes, domain = self._boxes, self._domains[j]
            lo, hi, node = boxes.lo[:, j], boxes.hi[:, j], boxes.node[:, j]
            spread = boxes.publishes_range(j, domain)
            first, last = np.where(spread, lo, domain.taxonomy.lo[node]), np.where(spread, hi, domain.taxonomy.hi[node])
            unknown = lo > hi  # nothing but missing wildcards
            self._ends[j] = np.where(unknown, domain.missing, first), np.where(unknown, domain.missing, last)
        return self._ends[j]


class _CentreShares(_Shares):
    """A centre is taken for the value of everybody."""

    def __init__(self, form: Centres, tally: Tally) -> None:
        self._values, self._domains = form.values, tally.quasi_domains

    def of(self, j: int, wanted: Flags) -> Floats:
        """1 where the centre is asked for: a value itself, or a number between the neighbours that are."""
        centre, domain = self._values[:, j], self._domains[j]
        known = ~np.isnan(centre)
        if domain.values is None:
            code = np.where(known, centre, 0).astype(np.int64)
            return (known & wanted[code]).astype(np.float64)
        asked = domain.values[wanted]
        inside: Floats = (known & (centre >= asked.min()) & (centre <= asked.max())).astype(np.float64)
        return inside


@dataclass(frozen=True, eq=False)
class _TornStrand:
    """Columns that stay together on a record, and the labels of those that are coarsened there."""

    names: tuple[str, ...]
    labelled: tuple[str, ...]
    labels: _BoxShares | None
    box: Codes

    @classmethod
    def of(cls, strand: Strand, deal: Deal) -> _TornStrand:
        """A strand with the box of every record."""
        recoded = strand.recoded
        if recoded is None:
            return cls(strand.columns, (), None, deal.cell)
        labels = _BoxShares(recoded.boxes, recoded.domains)
        return cls(strand.columns, recoded.names, labels, recoded.box[deal.cell])


class _Torn(_Answering):
    """Strands of a group are torn from each other: what matches in each of them is independent of the others."""

    def __init__(self, plan: DealtPlan, cells: _Cells) -> None:
        self._cells = cells
        tally, deal = plan.tally, plan.deal
        self._tally, self._cell = tally, deal.cell
        self._starts, self._sizes = deal.starts[:-1], deal.size.astype(np.float64)
        self._strands = [_TornStrand.of(strand, deal) for strand in plan.form.strands(_schema(tally))]
        self._records: dict[str, NDArray[np.intp]] = {}
        self._raises, self._raised = plan.form.raises, deal.raised
        self._falsified, self._told = getattr(plan.form.falsifies, "name", None), deal.told

    def estimate(self, query: Predicates) -> float:
        """Sum over all groups of their size times the share of each strand that matches."""
        left, found = set(query), self._sizes
        while left:
            # Of strands with as many of the columns, labels of fewer quasi-identifiers are finer.
            strand = max(self._strands, key=lambda s: (len(left & {*s.names}), -len(s.names)))
            asked = sorted(left & {*strand.names})
            if not asked:
                raise JobError("E105", f"'{min(left)}' is not published", hint="Ask about published columns.")
            found = found * (self._matching(strand, asked, query) / self._sizes)
            left -= set(asked)
        return float(found.sum())

    def _matching(self, strand: _TornStrand, names: list[str], query: Predicates) -> Floats:
        """How many records of every group match in some columns that stay together."""
        share = np.ones(len(self._cell))
        match = np.ones(len(self._cell), np.bool_)
        exact = True
        for name in names:
            if strand.labels is not None and name in strand.labelled:
                share *= strand.labels.of(strand.labelled.index(name), query[name])[strand.box]
                exact = False
            elif self._raises is not None and self._raised is not None and name == self._raises.name:
                share *= _share_of_nodes(self._raises, query[name])[self._raised]
                exact = False
            else:
                match &= query[name][self._codes_of(name)]
        if exact:
            return np.add.reduceat(match, self._starts, dtype=np.int64).astype(np.float64)
        return np.add.reduceat(share * match, self._starts)

    def _codes_of(self, name: str) -> NDArray[np.intp]:
        """The code of every record in a column."""
        if name not in self._records:
            told = self._told if name == self._falsified else None
            self._records[name] = self._cells.codes[name][self._cell if told is None else told]
        return self._records[name]


def _share_of_nodes(domain: Domain, wanted: Flags) -> Floats:
    """Which share of the values below each node of a taxonomy is asked for."""
    before = np.append(0, np.cumsum(wanted))
    asked = before[domain.taxonomy.hi + 1] - before[domain.taxonomy.lo]
    share: Floats = asked / (domain.taxonomy.hi - domain.taxonomy.lo + 1)
    return share


def _schema(tally: Tally) -> Schema:
    """The columns by their roles, which is all that strands depend on."""
    quasi = [Column(d.name, "quasi", "numeric") for d in tally.quasi_domains]
    return Schema([*quasi, *(Column(d.name, "sensitive") for d in tally.sensitive_domains if not d.aside)])

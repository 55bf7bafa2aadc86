"""A decided job, ready to be rewritten, and recounted once it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.companions import (
    originals_table,
    population_table,
)
from tarnkappe.engines.base import Engine, Writer
from tarnkappe.engines.parts import Parts
from tarnkappe.engines.values import CellValues
from tarnkappe.errors import JobError, Notice
from tarnkappe.fixes import setting
from tarnkappe.guards import (
    refuse_identifiers,
)
from tarnkappe.in_parts import recount_parts
from tarnkappe.io import Source
from tarnkappe.masks.masked import Masked, require_kept
from tarnkappe.parts import PartedPlan
from tarnkappe.phases import Phases
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.publish.sheets import MAIN
from tarnkappe.regrouping import verify_sheets
from tarnkappe.schema import KEYS, Column, Schema
from tarnkappe.sheet_truth import truth_of
from tarnkappe.tally import Domain, Tally
from tarnkappe.threads import Pending, in_background
from tarnkappe.truth import untrue_figures, untrue_labels, untrue_records
from tarnkappe.verification import Evidence, Verification, require_release, verify_table

#: Purposes of chance besides deciding, which takes the seed as it is. No two share a stream.
_REWRITING, _NUMBERING, _ATTACKING = 1, 2, 3


def _chance(seed: int, purpose: int, copy: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(purpose, copy))))


@dataclass(frozen=True, eq=False)
class Checked:
    """What is known before anything is decided."""

    source: Source
    schema: Schema
    tally: Tally
    notices: tuple[Notice, ...]
    population: Source | None = None
    #: The data before masks were put on them, if the job has some; `source` is then what they look like afterwards.
    masked: Masked | None = None

    @property
    def original(self) -> Source:
        """The data as they were given."""
        return self.source if self.masked is None else self.masked.original


@dataclass(frozen=True)
class Table:
    """One table of a release: its name (the first has none), its columns, and what a row of it is."""

    name: str
    columns: tuple[str, ...]
    about: str


#: Opens a table of a release, by its name, for writing.
WriteTo = Callable[[str], AbstractContextManager[Writer]]


@dataclass(frozen=True, eq=False)
class Run:
    """A decided job, ready to be rewritten."""

    checked: Checked
    engine: Engine
    #: The algorithm that decided: the job's, or the one that it chose.
    algorithm: Algorithm
    why: str | None
    plan: AnyPlan | PartedPlan
    seed: int
    clock: Phases
    #: The texts that stand for a missing value.
    missing: tuple[str, ...]
    #: The digest of the input, which takes a core of its own while groups are formed and written.
    digest: Pending[str]
    #: Which of the releases of this decision it is.
    copy: int = 0

    @property
    def plan_here(self) -> AnyPlan:
        """The plan with all its groups; a job that needs them is not decided in parts."""
        assert not isinstance(self.plan, PartedPlan), "groups in parts are not held here"
        return self.plan

    @cached_property
    def chance(self) -> np.random.Generator:
        """What decides by lot when records are rewritten: another stream than the one that groups were formed with."""
        return _chance(self.seed, _REWRITING, self.copy)

    def chance_of_attacks(self) -> np.random.Generator:
        """What decides by lot when the release is attacked: the same each time."""
        return _chance(self.seed, _ATTACKING, self.copy)

    def prepared(self, copy: int = 0) -> Run:
        """One of any number of releases of the same decision: numbers and order are drawn anew for each."""
        return replace(self, copy=copy, plan=self.plan.redrawn(_chance(self.seed, _NUMBERING, copy)))

    @cached_property
    def _way(self) -> _Way:
        """How groups that say what these do are written and found again."""
        if isinstance(self.plan, PartedPlan):
            return _InParts(self, self.plan)
        return _ByLabels(self, self.plan) if isinstance(self.plan, Plan) else _ByNumbers(self, self.plan)

    def rewrite(self, write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        """Write all tables; what verification needs besides them is handed over."""
        self.clock.begin("write")
        return self._way.rewrite(write_to)

    def verify(
        self, written: Mapping[str, Source], described: Sequence[Table], where: str, evidence: Evidence
    ) -> Verification:
        """Read back what was written; an exception unless it is what was promised."""
        self.clock.begin("verify")
        found = self.recount(written, evidence)
        columns = tuple(column for table in described for column in table.columns)
        require_release(found, columns, self.plan.sizes, where, self.checked.population)
        coarsened = self.plan.form.coarsens
        for name, source in written.items():
            # Once more: in random order any sample shows all of it.
            count = self._way.counts.get(name)
            refuse_identifiers(
                source, self.checked.schema.columns, coarsened=coarsened, labelled=coarsened, count=count
            )
        if self.checked.masked is not None:
            masked, main = self.checked.masked, written[MAIN]
            # Figures of all records can be computed from a table that has a row for each of them.
            whole = main.n_rows == masked.original.n_rows and set(masked.columns) <= set(main.columns)
            grouped = [c.name for c in self.checked.schema.columns if c.role == "quasi"]
            require_kept(masked.found(main, everybody=whole, coarsened=grouped), where)
            found = replace(found, proved=(*found.proved, "what masks leave as it was, recomputed"))
        return found

    def recount(self, written: Mapping[str, Source], evidence: Evidence) -> Verification:
        """What tables hold that should be those that were planned."""
        schema, tally = self.checked.schema, self.plan.tally
        domains = {d.name: d for d in tally.sensitive_domains}
        columns = [c for c in schema.columns if c.name in domains]
        types = self.checked.source.types([c.name for c in schema.sensitive])
        found = self._way.recount(written, evidence, columns, domains, types)
        return replace(found, proved=tuple(self._proved(found, evidence)))

    def told(self) -> dict[str, Any]:
        """What a manifest tells about how groups are found, and about values that were changed."""
        return self._way.told() | ({} if self.checked.masked is None else self.checked.masked.told())

    def numbers_among(self, columns: Sequence[str]) -> set[str]:
        """Those of the columns of a table that hold numbers."""
        return self._way.numbers_among(columns)

    def _proved(self, found: Verification, evidence: Evidence) -> Iterator[str]:
        """What a table was found to be beside keeping its criteria: said only if it was looked at."""
        identifiers = {c.name for c in self.checked.schema.columns if c.role in ("identifier", *KEYS)}
        if identifiers and not identifiers & set(found.columns):
            yield "no identifier columns"
        if not found.untrue:
            kept = "kept values" if self.checked.masked is None else "values that no mask changes"
            yield self.plan.form.proved(kept if evidence.ledger is not None else None)


class _Way(ABC):
    """How a plan is written and recounted: by the labels of its groups, or by their numbers."""

    @abstractmethod
    def rewrite(self, write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        """Write all tables."""

    @abstractmethod
    def recount(
        self,
        written: Mapping[str, Source],
        evidence: Evidence,
        columns: Sequence[Column],
        domains: Mapping[str, Domain],
        types: Mapping[str, pl.DataType],
    ) -> Verification:
        """Find the groups of tables, and hold them to the plan; `columns` are the sensitive ones."""

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """What a manifest tells about how groups are found."""

    @abstractmethod
    def numbers_among(self, columns: Sequence[str]) -> set[str]:
        """Those of the columns of a table that hold numbers."""

    @property
    def counts(self) -> Mapping[str, str]:
        """The columns that say how many records a row stands for, by the name of their table."""
        return {}


@dataclass(frozen=True, eq=False)
class _ByLabels(_Way):
    """Records are rewritten one by one into one table; groups are what looks alike there."""

    run: Run
    plan: Plan

    def rewrite(self, write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        run, plan, schema = self.run, self.plan, self.run.checked.schema
        with write_to(MAIN) as writer:
            done = run.engine.rewrite(plan, schema, writer, run.chance)
        witness = done.witness if done.witness.width else None
        table = Table(MAIN, plan.columns(schema), "One row for every person.")
        return (table,), Evidence(witness, population_table(plan), done.ledger, originals_table(plan))

    def recount(
        self,
        written: Mapping[str, Source],
        evidence: Evidence,
        columns: Sequence[Column],
        domains: Mapping[str, Domain],
        types: Mapping[str, pl.DataType],
    ) -> Verification:
        run, plan, schema, table = self.run, self.plan, self.run.checked.schema, written[MAIN]
        names = [c.name for c in schema.quasi]
        step = run.clock.step
        labels = in_background(lambda: untrue_labels(plan, run.missing))  # asks about the plan, not the table
        found = verify_table(table, names, columns, plan.goal, domains, evidence, step, plan=plan, types=types)
        if found.columns == plan.columns(schema):
            types_of_labels = {
                domain.name: pl.String() if x.numbers is None else x.numbers.dtype
                for domain, x in zip(plan.tally.quasi_domains, plan.labels, strict=True)
            }
            lies = labels.result() + untrue_records(types_of_labels, table, evidence.ledger)
            lies += untrue_figures(plan, schema, table)
            found = replace(found, untrue=(*found.untrue, *lies))
        return found

    def told(self) -> dict[str, Any]:
        return {}

    def numbers_among(self, columns: Sequence[str]) -> set[str]:
        return {name for name, label in self.plan.shown(self.run.checked.schema).items() if label.numbers is not None}


@dataclass(frozen=True, eq=False)
class _InParts(_Way):
    """Groups were decided in parts, where they are written and recounted too."""

    run: Run
    plan: PartedPlan

    @property
    def _parts(self) -> Parts:
        assert self.run.engine.parts is not None, "the cells are in parts"
        return self.run.engine.parts

    def rewrite(self, write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        run, schema = self.run, self.run.checked.schema
        with write_to(MAIN) as writer:
            ledger = self._parts.rewrite(schema, schema.published, writer, self.plan.n_published, run.chance)
        return (Table(MAIN, schema.published, "One row for every person."),), Evidence(ledger=ledger)

    def recount(
        self,
        written: Mapping[str, Source],
        evidence: Evidence,
        columns: Sequence[Column],
        domains: Mapping[str, Domain],
        types: Mapping[str, pl.DataType],
    ) -> Verification:
        schema, table = self.run.checked.schema, written[MAIN]
        found = recount_parts(self._parts, self.plan, table, schema, types)
        lies = untrue_records({c.name: pl.String() for c in schema.quasi}, table, evidence.ledger)
        return replace(found, untrue=(*found.untrue, *lies))

    def told(self) -> dict[str, Any]:
        return {}

    def numbers_among(self, columns: Sequence[str]) -> set[str]:
        return set()


@dataclass(frozen=True, eq=False)
class _ByNumbers(_Way):
    """Tables follow from the plan alone; groups are what has the same number."""

    run: Run
    plan: DealtPlan

    def rewrite(self, write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        run, plan, schema = self.run, self.plan, self.run.checked.schema
        values = CellValues(plan.tally, schema, run.checked.source.types(schema.published), run.missing)
        sheets = plan.form.sheets(plan, schema, values, run.chance)
        # The notes of the publisher are about rows as they are drawn, so the same chance decides once more.
        witness = plan.form.witness(plan, _chance(run.seed, _REWRITING, run.copy))
        if witness is not None and not run.engine.keeps_order:
            raise JobError(
                "E111",
                f"{run.algorithm.name} keeps notes about every row, and {run.engine.name} writes rows in any order",
                hint=setting("engine: streaming", "engine", "streaming"),
            )
        with ExitStack() as opened:
            run.engine.write([(sheet, opened.enter_context(write_to(sheet.name))) for sheet in sheets])
        return tuple(Table(sheet.name, sheet.columns, sheet.about) for sheet in sheets), Evidence(witness)

    def recount(
        self,
        written: Mapping[str, Source],
        evidence: Evidence,
        columns: Sequence[Column],
        domains: Mapping[str, Domain],
        types: Mapping[str, pl.DataType],
    ) -> Verification:
        plan, schema, missing = self.plan, self.run.checked.schema, self.run.missing
        watchers, reading = truth_of(plan, schema, written, missing, evidence), plan.form.reading(schema)
        found = verify_sheets(written, reading, columns, plan.goal, domains, types, evidence, watchers)
        return replace(found, untrue=(*plan.form.untrue(plan, missing), *found.untrue))

    def told(self) -> dict[str, Any]:
        form, schema = self.plan.form, self.run.checked.schema
        strands = [strand.as_dict() for strand in form.strands(schema)]
        return {"reading": form.reading(schema).as_dict(), "strands": strands, "caution": form.caution}

    def numbers_among(self, columns: Sequence[str]) -> set[str]:
        schema, form = self.run.checked.schema, self.plan.form
        told = {column: name for s in form.strands(schema) for column, name in zip(s.columns, s.of_data, strict=True)}
        numbers = {*columns} - {*told}  # what is not of the data are numbers of groups and counts
        if not form.coarsens or form.draws:
            numbers |= {column for column, name in told.items() if schema[name].kind == "numeric"}
        return numbers

    @property
    def counts(self) -> Mapping[str, str]:
        strands = self.plan.form.strands(self.run.checked.schema)
        return {strand.sheet: strand.count for strand in strands if strand.count is not None}

"""A decided job, ready to be rewritten, and recounted once it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.companions import (
    originals_table,
    population_table,
)
from tarnkappe.engines.base import Engine, Writer
from tarnkappe.engines.values import CellValues
from tarnkappe.errors import JobError, Notice
from tarnkappe.fixes import setting
from tarnkappe.guards import (
    refuse_identifiers,
)
from tarnkappe.io import Source
from tarnkappe.phases import Phases
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.publish.sheets import MAIN, Sheet
from tarnkappe.regrouping import verify_sheets
from tarnkappe.schema import Schema
from tarnkappe.sheet_truth import truth_of
from tarnkappe.tally import Tally
from tarnkappe.threads import Pending
from tarnkappe.truth import untrue_figures, untrue_labels, untrue_records
from tarnkappe.verification import Evidence, Verification, require_release, verify_table

#: Purposes of chance besides deciding, which takes the seed as it is. No two share a stream.
_REWRITING, _NUMBERING, _WITNESSING, _ATTACKING = 1, 2, 3, 4


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
    plan: AnyPlan
    seed: int
    clock: Phases
    #: The texts that stand for a missing value.
    missing: tuple[str, ...]
    #: The digest of the input, which takes a core of its own while groups are formed and written.
    digest: Pending[str]
    #: Which of the releases of this decision it is.
    copy: int = 0

    @cached_property
    def chance(self) -> np.random.Generator:
        """What decides by lot when records are rewritten: another stream than the one that groups were formed with."""
        return _chance(self.seed, _REWRITING, self.copy)

    def chance_of_attacks(self) -> np.random.Generator:
        """What decides by lot when the release is attacked: the same each time."""
        return _chance(self.seed, _ATTACKING, self.copy)

    def prepared(self, copy: int = 0) -> Run:
        """One of any number of releases of the same decision: numbers and order are drawn anew for each."""
        run = replace(self, copy=copy)
        if isinstance(run.plan, DealtPlan):
            run = replace(run, plan=replace(run.plan, deal=run.plan.deal.mixed(_chance(run.seed, _NUMBERING, copy))))
        return run

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """The tables that follow from the plan alone; none if records are rewritten one by one."""
        plan = self.plan
        if isinstance(plan, Plan):
            return ()
        source, schema = self.checked.source, self.checked.schema
        values = CellValues(plan.tally, schema, source.types(schema.published), self.missing)
        return plan.form.sheets(plan, schema, values, self.chance)

    def rewrite(self, write_to: WriteTo) -> tuple[tuple[Table, ...], Evidence]:
        """Write all tables; what verification needs besides them is handed over."""
        self.clock.begin("write")
        if isinstance(self.plan, Plan):
            with write_to(MAIN) as writer:
                done = self.engine.rewrite(self.plan, self.checked.schema, writer, self.chance)
            witness = done.witness if done.witness.width else None
            table = Table(MAIN, self.plan.columns(self.checked.schema), "One row for every person.")
            return (table,), Evidence(witness, population_table(self.plan), done.ledger, originals_table(self.plan))
        witness = self.plan.form.witness(self.plan, _chance(self.seed, _WITNESSING, self.copy))
        if witness is not None and not self.engine.keeps_order:
            raise JobError(
                "E111",
                f"{self.algorithm.name} keeps notes about every row, and {self.engine.name} writes rows in any order",
                hint=setting("engine: streaming", "engine", "streaming"),
            )
        with ExitStack() as opened:
            self.engine.write([(sheet, opened.enter_context(write_to(sheet.name))) for sheet in self.sheets])
        tables = tuple(Table(sheet.name, sheet.columns, sheet.about) for sheet in self.sheets)
        return tables, Evidence(witness)

    def verify(self, written: Mapping[str, Source], where: str, evidence: Evidence) -> Verification:
        """Read back what was written; an exception unless it is what was promised."""
        self.clock.begin("verify")
        found = self.recount(written, evidence)
        if isinstance(self.plan, DealtPlan):
            columns = tuple(column for sheet in self.sheets for column in sheet.columns)
        else:
            columns = self.plan.columns(self.checked.schema)
        require_release(found, columns, self.plan.sizes, where, self.checked.population)
        coarsened = self.plan.form.coarsens
        for source in written.values():
            # Once more: in random order any sample shows all of it.
            refuse_identifiers(source, self.checked.schema, coarsened=coarsened, labelled=coarsened)
        return found

    def recount(self, written: Mapping[str, Source], evidence: Evidence) -> Verification:
        """What tables hold that should be those that were planned."""
        schema, plan, goal = self.checked.schema, self.plan, self.plan.goal
        domains = {d.name: d for d in plan.tally.sensitive_domains}
        columns = [c for c in schema.columns if c.name in domains]
        types = self.checked.source.types([c.name for c in schema.sensitive])
        if isinstance(plan, DealtPlan):
            reading = plan.form.reading(schema)
            watchers = truth_of(plan, schema, written, self.missing, evidence)
            found = verify_sheets(written, reading, columns, goal, domains, types, evidence, watchers)
            found = replace(found, untrue=(*plan.form.untrue(plan, self.missing), *found.untrue))
            return replace(found, proved=tuple(_proved(found, schema, evidence, draws=plan.form.draws)))
        names = [c.name for c in schema.quasi]
        step = self.clock.step
        table = written[MAIN]
        found = verify_table(table, names, columns, goal, domains, evidence, step, plan=plan, types=types)
        if found.columns == plan.columns(schema):
            lies = untrue_labels(plan, self.missing) + untrue_records(plan, table, evidence.ledger)
            lies += untrue_figures(plan, schema, table)
            found = replace(found, untrue=(*found.untrue, *lies))
        return replace(found, proved=tuple(_proved(found, schema, evidence)))


def _proved(found: Verification, schema: Schema, evidence: Evidence, *, draws: bool = False) -> Iterator[str]:
    """What a table was found to be beside keeping its criteria: said only if it was looked at."""
    identifiers = {c.name for c in schema.columns if c.role in ("identifier", "subject")}
    if identifiers and not identifiers & set(found.columns):
        yield "no identifier columns"
    if not found.untrue:
        kept = "" if evidence.ledger is None else " and kept values"
        yield "means and covariances of every group kept" if draws else f"labels{kept} true of every record"

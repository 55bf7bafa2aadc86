"""Publish tables that are joined by a key, so that nobody stands out in all of them together."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tarnkappe.bundling import publish_in_memory, publish_to
from tarnkappe.io import Staging, like
from tarnkappe.job.given import seed_of
from tarnkappe.job.places import OutputSettings
from tarnkappe.multirelational.files import TablesJob
from tarnkappe.multirelational.model import MultiJob, MultiRelease
from tarnkappe.multirelational.plan import TablesPlan, decide_levels
from tarnkappe.multirelational.published import Chance, TablesDraft
from tarnkappe.params import SEED_BITS
from tarnkappe.phases import Phases, Progress
from tarnkappe.taxonomy.builders import File


def anonymize_multirelational(
    job: MultiJob | TablesJob, tables: Mapping[str, Any], *, seed: int | None = None, progress: Progress | None = None
) -> MultiRelease:
    """Anonymise joined tables in memory; `tables` are files or frames by name, and frames of the same kind come back.

    All quasi-identifiers of all tables are generalised, each to one level, until all but a few persons share what is
    seen of them with ``k - 1`` others; those few are suppressed in all tables. The key becomes a random number that
    still joins the tables.

    Differs from the paper in: the paper clusters persons and generalises each cluster by itself (MiRaCle); here every
    column has one level for everybody. Multisets are compared as well as sets.

    References
    ----------
    .. [NeCN07] Nergiz, Clifton, Nergiz. "Multirelational k-anonymity." ICDE 2007.
    """
    return decide_multirelational(job, tables, seed=seed, progress=progress).publish()


def run_multirelational(
    job: MultiJob | TablesJob,
    tables: Mapping[str, Any],
    folder: str | Path,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> MultiRelease:
    """Anonymise joined tables into a folder: nothing appears there unless all written files were checked together.

    The folder is refused if it holds a table, a taxonomy, or one of the further `inputs`.
    """
    about = job.job if isinstance(job, TablesJob) else job
    with Staging(folder, overwrite=overwrite, inputs=[*_inputs(about, tables), *inputs]) as stage:
        decided = decide_multirelational(job, tables, seed=seed, progress=progress)
        return publish_to(stage, decided.draft(), Path(folder), decided.clock)


@dataclass(frozen=True, eq=False)
class DecidedTables:
    """Levels that were decided, and not published yet: any number of releases can be made of them.

    Each `copy` has new keys and an order of its own.
    """

    plan: TablesPlan
    given: TablesJob
    data: Mapping[str, Any]
    seed: int
    clock: Phases

    def publish(self, folder: str | Path | None = None, *, copy: int = 0, overwrite: bool = False) -> MultiRelease:
        """Write a release and check it: into a folder, or in memory if none is given."""
        if folder is None:
            return publish_in_memory(self.draft(copy), self.clock, lambda name, frame: like(self.data[name], frame))
        with Staging(folder, overwrite=overwrite, inputs=_inputs(self.plan.job, self.data)) as stage:
            return publish_to(stage, self.draft(copy), Path(folder), self.clock)

    def draft(self, copy: int = 0) -> TablesDraft:
        """The tables of one of these releases, not written yet."""
        root = np.random.SeedSequence(self.seed)
        stream = np.random.Philox(root if copy == 0 else root.spawn(copy)[-1])
        chance = Chance.drawn(np.random.Generator(stream), self.plan.kept)
        return TablesDraft(self.plan, self.given, self.data, self.seed, chance)


def decide_multirelational(
    job: MultiJob | TablesJob, tables: Mapping[str, Any], *, seed: int | None = None, progress: Progress | None = None
) -> DecidedTables:
    """Read joined tables and find levels; nothing is published yet."""
    given = job if isinstance(job, TablesJob) else TablesJob(job, {}, OutputSettings())
    clock = Phases(progress)
    plan = decide_levels(given.job, tables, clock)
    seeds = (seed_of(seed), given.seed, secrets.randbits(SEED_BITS))
    return DecidedTables(plan, given, tables, next(s for s in seeds if s is not None), clock)


def _inputs(job: MultiJob, tables: Mapping[str, Any]) -> list[str | Path]:
    """The files that a job reads."""
    files = [data for data in tables.values() if isinstance(data, (str, Path))]
    taxonomies = [c.taxonomy for r in job.relations for c in r.columns()]
    return [*files, *(t.path for t in taxonomies if isinstance(t, File))]

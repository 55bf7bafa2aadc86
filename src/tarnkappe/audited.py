"""What was asked about a table, ours or not, and what was found in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.criteria import Criterion
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.errors import JobError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.io import CsvDialect, Source, open_source
from tarnkappe.io.databases import Address
from tarnkappe.io.folders import MANIFEST, ReleaseFolder, read_manifest
from tarnkappe.job.files import load_job
from tarnkappe.schema import MissingRule
from tarnkappe.verification import Verification

#: What stands in a cell that says nothing, here and in most other tools.
STAR = "*"


@dataclass(frozen=True)
class Reading:
    """How a table is to be read, and what its empty and suppressed cells mean; what is not said is detected."""

    dialect: CsvDialect = field(default_factory=CsvDialect)
    missing_rule: MissingRule = "own-value"
    #: The text that stands in every quasi-identifier of a record that is suppressed but not removed.
    suppressed: str | None = None


@dataclass(frozen=True)
class WorstGroup:
    """A group that breaks a criterion, or reaches least of it: its records, what it reaches, and what it publishes."""

    criterion: str
    column: str | None
    records: int
    reached: float
    labels: dict[str, str | None]


@dataclass(frozen=True, eq=False)
class Audit:
    """What was asked about a table, and what was found."""

    file: str
    description: str
    quasi: tuple[str, ...]
    origin: str | None
    goal: Goal
    found: Verification
    reading: Reading
    #: Criteria that cannot be checked, and what that would need.
    unchecked: tuple[tuple[Criterion, str], ...] = ()
    sha256: str | None = None
    same_as_manifest: bool | None = None

    @property
    def asks(self) -> bool:
        """Whether anything was promised; otherwise the verdicts only say what is reached."""
        return self.origin is not None

    @property
    def is_broken(self) -> bool:
        """Whether something that was checked does not hold."""
        return self.same_as_manifest is False or (self.asks and not self.found.ok)

    @property
    def ok(self) -> bool:
        """Whether all that was promised was checked, and holds."""
        return not self.is_broken and not self.unchecked

    @property
    def smallest_group(self) -> int:
        """Records in the smallest group; none if all records are suppressed."""
        return int(self.found.sizes.min()) if len(self.found.sizes) else 0

    @property
    def n_starred(self) -> int:
        """Records with nothing but a star in every quasi-identifier, which count as a group like any other."""
        stats, labels = self.found.stats, self.found.labels
        if stats is None or labels is None:
            return 0
        stars = labels.select(pl.all_horizontal(pl.all().cast(pl.String) == STAR)).to_series().fill_null(value=False)
        return int(stats.size[stars.to_numpy()].sum())

    @property
    def reached(self) -> dict[str, float]:
        """What the worst group reaches, by the letter of the criterion and the column, if nothing was asked."""
        letters = {KAnonymity.name: "k", LDiversity.name: "l", TCloseness.name: "t"}
        out = {}
        for criterion, verdict in zip(self.goal.criteria, self.found.verdicts, strict=True):
            of = f" of {verdict.column}" if verdict.column else ""
            by = " by order" if criterion.measured_by == "order" else ""
            out[f"{letters.get(criterion.name, criterion.name)}{of}{by}"] = verdict.reached
        return out

    def worst_groups(self, most: int) -> list[WorstGroup]:
        """At most so many groups that break each criterion, worst first; if nothing was asked, those at the least."""
        stats, labels = self.found.stats, self.found.labels
        if stats is None or labels is None:
            return []
        out = []
        for criterion in self.goal.criteria:
            meant = np.flatnonzero((stats.size > 0) & ~(self.asks & criterion.satisfied(stats)))
            level = criterion.level(stats)[meant] if not criterion.others_known else np.zeros(len(meant))
            for at in np.argsort(level if criterion.compared == "at least" else -level, kind="stable")[:most].tolist():
                texts = labels[int(meant[at])].select(pl.all().cast(pl.String)).row(0, named=True)
                size = int(stats.size[meant[at]])
                out.append(WorstGroup(criterion.name, criterion.sensitive_column, size, float(level[at]), texts))
        return out

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``; without labels."""
        return {
            "ok": self.ok,
            "file": self.file,
            "criteria_from": self.origin,
            "quasi_identifiers": list(self.quasi),
            "records": self.found.n_records,
            "suppressed": self.found.n_suppressed,
            "missing_rule": self.reading.missing_rule,
            "groups": len(self.found.sizes),
            "smallest_group": self.smallest_group,
            "reached": self.reached,
            "verdicts": [asdict(v) for v in self.found.verdicts],
            "unchecked": [{"criterion": c.name, "asked": c.asked, "needs": what} for c, what in self.unchecked],
            "sha256": self.sha256,
            "sha256_matches_manifest": self.same_as_manifest,
        }


@contextmanager
def belonging(table: Path) -> Iterator[None]:
    """Say of a table that does not go with what was kept about it what is the matter: it was written long ago."""
    try:
        yield
    except VerificationError as error:
        raise VerificationError(
            "E505",
            "the table is not the one that its private folder was kept for: one of them was changed",
            where=str(table),
            details=error.details,
            hint="Take both as they were written, or make the release anew.",
        ) from error


def open_audited(path: Path, dialect: CsvDialect, missing: tuple[str, ...], address: str | None = None) -> Source:
    """A table to check: at an address, or where its name stands; a release may have its table in a database."""
    manifest = read_manifest(path.with_name(MANIFEST)) if address is None and not path.exists() else None
    if manifest is not None and "database" in manifest:
        folder = ReleaseFolder.around(path)
        kept = None if folder is None or folder.job is None else load_job(folder.job).output.database
        if kept is None:
            raise JobError(
                "E108",
                "the table of this release is in a database, and only its private folder says in which",
                where=str(path.with_name(MANIFEST)),
                hint="Give its address:  tarnkappe verify 'postgresql://USER@HOST/DATABASE#TABLE' --quasi age --k 5",
            )
        from tarnkappe.io.databases.source import DatabaseSource, digest_told

        source = DatabaseSource(replace(Address.of(kept), table=path.name), missing)
        source.digested = digest_told(manifest)
        return source
    return open_source(path if address is None else address, dialect, missing)

"""A bundle: tables that are published and checked together, such as joined tables or the parts of sets of items.

A `Release` is about records of one table. What is about persons in several tables, or about sets, promises other things
and is checked in other ways; all that goes with such tables (manifests, report, folder, verification) is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from tarnkappe.codebook import Entry
from tarnkappe.columns import ColumnSummary
from tarnkappe.criteria.base import Card, Verdict
from tarnkappe.errors import Notice, VerificationError
from tarnkappe.masks.base import MaskCard
from tarnkappe.publish.sheets import MAIN
from tarnkappe.wording import plural


@dataclass(frozen=True)
class Found:
    """What a check of written tables found: what they reach, and what is wrong with them."""

    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything is as it should be."""
        return not self.problems and all(v.ok for v in self.verdicts)

    def required(self, where: str, what: str = "group") -> Found:
        """The same; an exception unless the tables are what was promised. `what` is said to break a criterion."""
        if self.ok:
            return self
        broken = [
            f"{v.asked}: {plural(v.violating_groups, f'{what} breaks', f'{what}s break')} it"
            for v in self.verdicts
            if not v.ok
        ]
        raise VerificationError(
            "E501",
            "verification failed: the release was NOT written",
            where=where,
            details=[*broken, *self.problems],
            hint="This is a bug in Tarnkappe or a damaged disk. Please report it; no file was left behind.",
        )


@dataclass(frozen=True)
class Checking:
    """How tables were verified, in words: what was done, who can do it again, and what the verdicts tell."""

    how: str
    who: str = "This command compares the tables with their manifest and evaluates every criterion:"
    caption: str = "What was asked, and what was reached"


#: What is true of every release, unless a ledger says otherwise.
COMBINED = "Another release about the same people can be combined with this one."


@dataclass(frozen=True)
class Story:
    """What a report says about a bundle in words: the promise, who it is about, and what it rests on."""

    #: The promise in one sentence that goes on after "Verified:".
    promise: str
    #: What an attacker is assumed to know, in one sentence.
    attacker: str
    #: What each criterion is called in print and protects from, by its name.
    cards: Mapping[str, tuple[str, Card | MaskCard]]
    #: What has to be true for the promise to mean what it says: titles and sentences.
    assumptions: tuple[tuple[str, str], ...]
    #: What joins the tables, in one sentence; nothing if the table with a row for every person stands alone.
    joined: str = ""
    #: How the tables were verified, where that was not by counting groups again.
    checked: Checking | None = None
    #: Figures beside the verdict that follow from the published tables: name, number, note.
    figures: tuple[tuple[str, int, str], ...] = ()
    #: The same for the publisher only.
    secret_figures: tuple[tuple[str, str, str], ...] = ()
    #: What else it cost than columns that were removed, in sentences; what follows from the published tables.
    costs: tuple[str, ...] = ()
    #: What can be combined with the release, in one sentence.
    combined: str = COMBINED


@dataclass(frozen=True, eq=False, repr=False)
class Bundle:
    """A verified release of tables that belong together. It exists only if they were read back and checked.

    `tables` are the tables by name if it is in memory; the first has no name, or is that of persons.
    """

    verdicts: tuple[Verdict, ...]
    public_manifest: dict[str, Any]
    private_manifest: dict[str, Any]
    story: Story
    columns: tuple[ColumnSummary, ...] = ()
    notices: tuple[Notice, ...] = ()
    codebook: tuple[Entry, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def table(self) -> Any:
        """The first table, if the release is in memory."""
        return self.tables.get(MAIN, next(iter(self.tables.values()), None))

    @property
    def title(self) -> str:
        """What the release is called."""
        return str(self.public_manifest["title"])

    @property
    def purpose(self) -> str:
        """What the data are for."""
        return str(self.public_manifest.get("purpose") or "")

    def for_readers(self) -> Self:
        """The release as its readers may see it: what follows from the tables and the job, and nothing else."""
        return replace(
            self,
            columns=tuple(replace(c, loss=None, labels_before=None, examples=()) for c in self.columns),
            notices=tuple(n for n in self.notices if not n.internal),
            story=replace(self.story, secret_figures=()),
            private_manifest={},
        )

    def as_dict(self) -> dict[str, Any]:
        """The public facts as plain data, for ``--json``."""
        return {**self.public_manifest, "folder": None if self.folder is None else str(self.folder)}

    def __repr__(self) -> str:
        asked = " · ".join(v.asked for v in self.verdicts)
        return f"<{type(self).__name__}: {plural(len(self.public_manifest['tables']), 'table')}, {asked}>"

    def _repr_html_(self) -> str:
        from tarnkappe.report import render_bundle_fragment

        return render_bundle_fragment(self)

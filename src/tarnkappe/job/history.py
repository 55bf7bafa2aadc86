"""The section ``history`` of a job: where it is noted who was in which release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.fixes import setting
from tarnkappe.params import Declared, param

#: A section to start from.
HISTORY_FIX = setting(
    "history: {ledger: private/ledger.jsonl, subject: COLUMN}",
    "history",
    "HistorySettings('private/ledger.jsonl', 'COLUMN')",
)


@dataclass(frozen=True)
class HistorySettings(Declared):
    """Where releases of the same people are noted, and what tells people apart.

    >>> HistorySettings("private/ledger.jsonl", "patient").subject
    'patient'
    """

    ledger: str = param(doc="The ledger of releases, a file in a private place, relative to the job file.")
    subject: str = param(doc="The column that says who a record is about; it is not published.")
    because: str | None = param(
        None, doc="Why a release may appear although it and earlier ones together are below the goal."
    )

    def at(self, ledger: str | None) -> HistorySettings:
        """The same with the ledger somewhere else."""
        return replace(self, ledger=ledger or self.ledger)


def history_of(given: HistorySettings | Mapping[str, Any] | None) -> HistorySettings | None:
    """The settings, however they were given to Python."""
    if given is None or isinstance(given, HistorySettings):
        return given
    if isinstance(given, Mapping):
        try:
            return HistorySettings(**{key: str(v) if isinstance(v, Path) else v for key, v in given.items()})
        except TypeError:
            pass
    raise JobError("E110", "'history' names a ledger and the column of persons", hint=HISTORY_FIX)

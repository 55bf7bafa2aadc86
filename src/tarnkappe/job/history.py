"""The section ``history`` of a job: where it is noted who was in which release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix, say, setting
from tarnkappe.goal import Goal
from tarnkappe.params import Declared, param

#: A section to start from.
HISTORY_FIX = Fix(
    "history: {ledger: private/ledger.jsonl, subject: COLUMN}",
    'history=HistorySettings("private/ledger.jsonl", "COLUMN")',
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

    earlier: tuple[str, ...] = param(
        (),
        doc="Folders of earlier releases of these people; those that the ledger does not know are entered first.",
        example=("release-2025",),
    )
    together: str = param(
        "refuse",
        doc="What becomes of a release that is below the goal together with earlier ones: it is refused, or its groups "
        "are pooled until all releases together keep the goal.",
        choices=("refuse", "pool"),
    )

    def at(self, ledger: str | None, earlier: Iterable[str | None]) -> HistorySettings:
        """The same with the ledger and the earlier releases somewhere else."""
        return replace(self, ledger=ledger or self.ledger, earlier=tuple(path for path in earlier if path is not None))


def require_one_machine(engine: str) -> None:
    """Refuse a history on Spark: people are recognised in the order of the records, which Spark does not have."""
    if engine == "spark":
        what = "a history of people is kept by one machine, not by Spark"
        raise JobError("E111", what, hint=setting("engine: streaming", "engine", "streaming"))


def require_comparable(goal: Goal) -> None:
    """Refuse a history under a mechanism: whether a release appears, or is pooled, would tell of people."""
    if goal.is_mechanism:
        what = f"whether a release keeps the goal beside earlier ones depends on the data, which {goal.asked} does not "
        what += "allow"
        raise JobError(
            "E111",
            what,
            hint=say("Remove  {}  from the job; of several such releases ε and δ add up.", Fix("history:", "history=")),
        )


def history_of(given: HistorySettings | Mapping[str, Any] | None) -> HistorySettings | None:
    """The settings, however they were given to Python."""
    if given is None or isinstance(given, HistorySettings):
        return given
    if isinstance(given, Mapping):
        try:
            texts: dict[str, Any] = {key: str(v) if isinstance(v, Path) else v for key, v in given.items()}
            if not isinstance(texts.get("earlier", ()), str):
                texts["earlier"] = tuple(str(folder) for folder in texts.get("earlier", ()))
            return HistorySettings(**texts)
        except TypeError:
            pass
    raise JobError("E110", "'history' names a ledger and the column of persons", hint=HISTORY_FIX)

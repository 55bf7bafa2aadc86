"""Earlier releases that a ledger does not know yet: decided once more from what their publisher kept, and entered."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import DataError, TarnkappeError
from tarnkappe.history.keeping import foreign, line_of, placed, residents_of
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import PERSON
from tarnkappe.io.digests import digest_of
from tarnkappe.io.folders import MANIFEST, ReleaseFolder, read_manifest
from tarnkappe.job import Job
from tarnkappe.job.files import load_job
from tarnkappe.job.history import HistorySettings
from tarnkappe.job.model import replace_job
from tarnkappe.pipeline import decide


def enter_earlier(settings: HistorySettings, folders: Iterable[str], target: str | Path | None = None) -> list[int]:
    """Enter releases that were made without a ledger, or with another one; the numbers of those that were unknown.

    Who was in which group is not in a release. So its job is carried out once more, from the job file and the seed in
    its folder to keep and from the data that this names. If the same table comes of it, byte by byte, these are its
    groups. Nothing is judged: these releases are out.
    """
    with Ledger.opened(settings.ledger, target) as opened:
        ledger, numbers = opened, []
        for folder in folders:
            if line_of(ledger, folder) is None:
                ledger = _entered(ledger, settings, Path(folder).expanduser().absolute())
                numbers.append(len(ledger.lines))
        return numbers


def _entered(ledger: Ledger, settings: HistorySettings, folder: Path) -> Ledger:
    kept, told = ReleaseFolder(folder), read_manifest(ReleaseFolder(folder).manifest)
    if kept.job is None or told is None:
        raise foreign(folder, "is not in the ledger, and its folder to keep has no job file", "Keep  do-not-share/.")
    if _was_changed(kept, told):  # then readers have another table than the one that comes of the job
        raise foreign(folder, "was changed since it was published", "Take its folder from a backup.")
    try:
        job = replace_job(load_job(kept.job), history=None)
        # The seed is that of the run, which most job files leave to chance.
        decided = decide(job, job.data.path, seed=(read_manifest(kept.private / MANIFEST) or {}).get("seed"))
        # Beside the ledger, where people's data may lie; not where all programs leave their files.
        beside = Path(settings.ledger).expanduser().absolute().parent
        with tempfile.TemporaryDirectory(prefix=".tarnkappe-earlier-", dir=beside) as place:
            made = decided.publish(Path(place) / "release")
        run, ledger_job = decided.run, replace_job(job, history=settings)
        now = residents_of(settings, ledger, ledger_job, run)
    except TarnkappeError as error:
        raise _unrepeatable(folder, f"{error.code} {error.message}") from error
    if made.public_manifest.get("sha256") != told.get("sha256"):
        raise _unrepeatable(
            folder, "the data, the seed or the program are not what they were: another table comes of it"
        )
    places = placed(now, run)
    entered = ledger.announce(
        places.join(now.secrets(ledger), on=PERSON, how="left"),
        folder=str(folder),
        source=ledger.hash("input", decided.digest),
        table=str(told["sha256"]),
        people=places.height,
        asked=run.plan.goal.asked,
        least=run.plan.goal.min_size,
    )
    return entered.appeared()


def _was_changed(kept: ReleaseFolder, told: Mapping[str, Any]) -> bool:
    """Whether the table that lies in a folder is another one than its manifest tells; it need not lie there."""
    table = kept.table
    if table is None or not table.is_file() or "database" in told:
        return False
    return digest_of(table) != told.get("sha256")


def _unrepeatable(folder: Path, why: str) -> DataError:
    hint = "Put its data where its job file names them, or say what is known:  history: {because: WHY}  without it."
    return DataError(
        "E448", "the earlier release cannot be made once more", where=str(folder), details=[why], hint=hint
    )


def with_earlier(job: Job, target: str | Path | None = None) -> None:
    """Enter the earlier releases that a job names, before it is carried out."""
    if job.history is not None and job.history.earlier:
        enter_earlier(job.history, job.history.earlier, target)

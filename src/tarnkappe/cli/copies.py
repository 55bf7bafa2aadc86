"""What the commands about traceable copies share: their files, keys and folders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.errors import JobError, RefusedError

if TYPE_CHECKING:
    from tarnkappe.fingerprint.keys import DatasetKey, Key
    from tarnkappe.fingerprint.planning import Planned
    from tarnkappe.fingerprint.scheme import Scheme

#: A command that makes a proof.
HOW_TO_PROVE = "tarnkappe fingerprint prove --plan PLAN --key KEYFILE -o proof.json"

#: Letters of a folder's name that come from the name of a recipient.
_LONGEST_FOLDER = 80


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What goes wrong when a file is written, in our words; whoever is interrupted later is told that it was."""
    from tarnkappe.appeared import has_taken

    try:
        yield
        has_taken(path)
    except OSError as error:
        reason = error.strerror or "it cannot be written"
        raise RefusedError("E603", f"cannot write: {reason}", where=str(path), hint="Choose another place.") from None


def write_patterns(planned: Planned, path: Path, n_clusters: int) -> None:
    """All patterns with their figures and the cluster of each, the best cluster first."""
    import polars as pl

    from tarnkappe.fingerprint.candidates import Candidates, clusters

    found = Candidates.of(planned.decided.plan.tally, planned.decided.plan.goal)
    rows = found.rows()
    for number, cluster in enumerate(clusters(found, n_clusters), 1):
        for i in cluster.members.tolist():
            rows[i]["cluster"] = number
    told = [{**row, "levels": " ".join(map(str, row["levels"]))} for row in rows]
    with writing(path):
        pl.DataFrame(told).sort("cluster", "loss").write_csv(path)


def planned_copies(
    job: Path,
    data: str | None,
    settings: list[str] | None,
    key: Key,
    recipients: int,
    colluders: int,
    alpha: float,
    kind: str,
    select: str = "frameproof",
    kept: Scheme | None = None,
) -> Planned:
    """Plan the copies of a job file's data, or repeat a plan that was kept."""
    from tarnkappe.cli.jobs import fixes_for, job_for
    from tarnkappe.fingerprint.planning import plan_copies

    loaded = job_for(job, data, settings)
    with fixes_for(job, loaded):
        return plan_copies(
            loaded,
            loaded.data.path,
            key,
            recipients=recipients,
            colluders=colluders,
            alpha=alpha,
            kind=kind,  # type: ignore[arg-type]
            select=select,  # type: ignore[arg-type]
            base=None if kept is None else kept.base,
            patterns=None if kept is None else kept.patterns,
            dataset=None if kept is None else kept.dataset,
        )


def json_object(path: Path | None, hint: str) -> dict[str, dict[str, str]] | None:
    """The object in a JSON file, if one is named."""
    if path is None:
        return None
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        read = None
    if not isinstance(read, dict):
        raise JobError("E107", "the file is not a JSON object, or cannot be read", where=str(path), hint=hint)
    return read


def labels_in(path: Path | None) -> dict[str, dict[str, str]] | None:
    """What renamed labels stand for, by column, if a file says so."""
    hint = '{"sex": {"1": "Male"}}   (column, label of the leak, label of the copies)'
    read = json_object(path, hint)
    for names in (read or {}).values():
        if not isinstance(names, dict) or not all(isinstance(label, str) for label in names.values()):
            raise JobError("E107", "the file does not say what labels stand for", where=str(path), hint=hint)
    return read


def key_or_proof(key: Path | None, proof: Path | None, scheme: Scheme) -> Key | DatasetKey:
    """The key of the publisher, or that of the data set which a proof reveals."""
    from tarnkappe.fingerprint.keys import Key
    from tarnkappe.fingerprint.proof import check_proof

    if proof is None:
        return Key.load(key)
    if key is not None:
        raise JobError("E108", "--key and --proof exclude each other", hint="--proof proof.json")
    return check_proof(json_object(proof, HOW_TO_PROVE) or {}, scheme.commitment)


def folders_of(recipients: Iterable[str]) -> dict[str, str]:
    """A folder for each recipient: what is no letter or digit becomes a dash, and no two share one.

    >>> folders_of(["Hospital A/B", "hospital a b", "!"])
    {'Hospital A/B': 'hospital-a-b', 'hospital a b': 'hospital-a-b-2', '!': 'copy'}
    """
    import re

    found: dict[str, str] = {}
    for recipient in recipients:
        plain = re.sub(r"[^\w]+", "-", recipient.casefold()).strip("-")[:_LONGEST_FOLDER] or "copy"
        same = (plain if n == 1 else f"{plain}-{n}" for n in count(1))
        found.setdefault(recipient, next(name for name in same if name not in found.values()))
    return found


def refuse_existing(folder: Path, overwrite: bool) -> None:
    """Refuse a folder that is there already, before the copies of others are made."""
    if not overwrite and folder.is_dir() and any(folder.iterdir()):
        raise RefusedError(
            "E601", f"'{folder.name}' exists already", where=str(folder), hint="Replace it with  --overwrite"
        )

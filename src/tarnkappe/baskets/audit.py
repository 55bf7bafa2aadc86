"""Check sets of items that were published, ours or not."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.baskets.form import MAIN, Found
from tarnkappe.baskets.published import CLUSTERS, check_tables
from tarnkappe.criteria.base import Verdict
from tarnkappe.errors import DataError, JobError
from tarnkappe.io import open_source
from tarnkappe.io.folders import MANIFEST, ReleaseFolder, dialect_told, manifest_of, read_manifest
from tarnkappe.job.items import KEY, Items


def verify_items(
    data: Any, column: str, *, k: int, m: int = 2, separator: str = ";", key: str | None = None
) -> Verdict:
    """Check whether any at most `m` items of a person fit at least `k` persons, in a file or a frame, ours or not.

    >>> baskets = pl.DataFrame({"basket": ["milk;beer", "milk;beer", "milk"]})
    >>> verify_items(baskets, "basket", k=2).ok
    True
    >>> verify_items(baskets, "basket", k=3).violating_groups  # {beer} and {milk, beer}
    2
    """
    items = Items(column, k, m, separator, key)
    with open_source(data) as source:
        wanted = [column] if key is None else [key, column]
        return check_tables({MAIN: source.read(wanted)}, items).verdicts[0]


@dataclass(frozen=True, eq=False)
class ItemsAudit:
    """What was found in the folder of a release of sets of items."""

    file: str
    description: str
    found: Found
    same_as_manifest: bool

    @property
    def ok(self) -> bool:
        """Whether the tables keep the promise, and are those of the manifest."""
        return self.found.ok and self.same_as_manifest

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data, for ``--json``."""
        return {
            "ok": self.ok,
            "file": self.file,
            "criteria_from": MANIFEST,
            "verdicts": [asdict(v) for v in self.found.verdicts],
            "problems": list(self.found.problems),
            "sha256_matches_manifest": self.same_as_manifest,
        }


def items_manifest(path: str | Path) -> tuple[Path, dict[str, Any]] | None:
    """The first table of a release of sets of items and its manifest, if a folder or a file is of such a release."""
    given = Path(path)
    if given.is_dir():
        told = read_manifest(ReleaseFolder(given).manifest)
        table = ReleaseFolder(given).table
    else:
        told, table = manifest_of(given), given
    return (table, told) if told is not None and table is not None and KEY in told else None


def audit_items(path: str | Path) -> ItemsAudit:
    """Check the folder of a release, or its first table with the manifest beside it."""
    known = items_manifest(path)
    if known is None:
        raise JobError("E107", f"'{path}' is no release of sets of items", hint="tarnkappe verify FOLDER")
    table, manifest = known
    try:
        items = Items(**manifest[KEY])
        told = {str(t["name"]): (str(t["file"]), str(t["sha256"])) for t in manifest["tables"]}
        told[MAIN], told[CLUSTERS if items.algorithm == "disassociation" else MAIN]
    except (KeyError, TypeError, JobError) as error:
        raise DataError(
            "E408",
            "the manifest was changed by hand",
            where=str(table.with_name(MANIFEST)),
            hint="Take the original one.",
        ) from error
    dialect, missing = dialect_told(manifest)
    with ExitStack() as stack:
        sources = {
            n: stack.enter_context(open_source(table.with_name(f), dialect, missing)) for n, (f, _) in told.items()
        }
        tables: Mapping[str, pl.DataFrame] = {n: s.read(s.columns) for n, s in sources.items()}
        found = check_tables(tables, items)
        same = all(sources[name].sha256 == digest for name, (_, digest) in told.items())
        return ItemsAudit(str(table), sources[MAIN].description, found, same)

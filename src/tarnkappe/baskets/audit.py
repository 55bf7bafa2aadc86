"""Check sets of items that were published, ours or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tarnkappe.baskets.form import MAIN
from tarnkappe.baskets.published import CLUSTERS, UNIT, check_tables
from tarnkappe.bundling import BundleAudit, audit_tables, changed_by_hand, manifest_with
from tarnkappe.criteria.base import Verdict
from tarnkappe.errors import JobError
from tarnkappe.io import open_source
from tarnkappe.job.items import KEY, Items


def verify_items(
    data: Any, column: str, *, k: int, m: int = 2, separator: str = ";", key: str | None = None
) -> Verdict:
    """Check whether any at most `m` items of a person fit at least `k` persons, in a file or a frame, ours or not.

    >>> import polars as pl
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


def audit_items(path: str | Path) -> BundleAudit:
    """Check the folder of a release, or its first table with the manifest beside it."""
    known = manifest_with(path, KEY)
    if known is None:
        raise JobError("E107", f"'{path}' is no release of sets of items", hint="tarnkappe verify FOLDER")
    table, manifest = known
    try:
        items = Items(**manifest[KEY])
    except (TypeError, JobError) as error:
        raise changed_by_hand(table) from error
    needed = (MAIN, CLUSTERS) if items.algorithm == "disassociation" else (MAIN,)
    return audit_tables(table, manifest, lambda tables: check_tables(tables, items), needed, UNIT)

"""Check noisy counts that were published: cells that the job fixed, all of them, with whole numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.bundle import Found
from tarnkappe.bundling import BundleAudit, audit_tables, changed_by_hand, manifest_with
from tarnkappe.criteria.base import Verdict
from tarnkappe.errors import JobError
from tarnkappe.histograms.counting import cells_of, count_name, table_names
from tarnkappe.job.histogram import KEY, Histogram
from tarnkappe.wording import plural, stated

#: What the promise is called, and what is said to break it.
NAME, TITLE, UNIT = "epsilon-differential-privacy", "ε-differential privacy", "table"


def check_tables(tables: Mapping[str, pl.DataFrame], asked: Histogram) -> Found:
    """Whether tables have exactly the cells that the job fixes, so that their counts are all that depends on records.

    That there is noise in the counts no table can show; what all tables spend follows from how it was drawn.
    """
    wrong = {name: list(_wrong(tables.get(name), asked, i)) for i, name in enumerate(table_names(asked))}
    further = [f"there is a table '{name}' that the job does not ask for" for name in tables if name not in wrong]
    broken = sum(bool(problems) for problems in wrong.values())
    says = f"ε ≤ {stated(asked.epsilon)}, cells fixed in advance"
    ok = not broken and asked.spent <= asked.epsilon
    verdict = Verdict(NAME, None, says, asked.spent, ok, broken)
    return Found((verdict,), (*(p for problems in wrong.values() for p in problems), *further))


def _wrong(table: pl.DataFrame | None, asked: Histogram, i: int) -> Iterator[str]:
    """What is wrong with the cells of one table, in words."""
    columns = asked.wanted[i]
    what = f"the table by {', '.join(columns)}" if columns else "the table of everybody"
    if table is None:
        yield f"{what} is missing"
        return
    count = count_name(columns)
    if table.columns != [*columns, count]:
        yield f"{what} has other columns"
        return
    cells = cells_of(columns, asked.bins)
    if not table.select(pl.col(columns).cast(pl.String)).equals(cells) if columns else table.height != 1:
        yield f"{what} does not have the cells that the job fixes"
    numbers = table[count].cast(pl.Float64, strict=False)
    odd = int((numbers.is_null() | (numbers != numbers.floor())).fill_null(value=True).sum())
    if odd:
        yield f"{what} has {plural(odd, 'count')} that are no whole numbers"
    elif asked.clip and (numbers < 0).any():
        yield f"{what} has counts below 0, and none were to be"


def audit_histogram(path: str | Path) -> BundleAudit:
    """Check a folder of noisy counts, or its first table with the manifest beside it."""
    found = manifest_with(path, KEY)
    if found is None:
        raise JobError("E108", f"'{path}' is no release of noisy counts", hint="tarnkappe verify FOLDER")
    table, manifest = found
    asked = _asked(table, manifest)
    names = tuple(table_names(asked))
    unseen = "that the noise was drawn as it had to be: no table shows it"
    return audit_tables(table, manifest, lambda tables: check_tables(tables, asked), names, UNIT, unseen)


def _asked(table: Path, manifest: Mapping[str, Any]) -> Histogram:
    """What the manifest says was asked for; it may have been changed by hand."""
    try:
        told = manifest[KEY]
        names = ("columns", "epsilon", "tables", "person", "most", "clip")
        return Histogram(**{name: told[name] for name in names})
    except (KeyError, TypeError, JobError) as error:
        raise changed_by_hand(table) from error

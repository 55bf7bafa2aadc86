"""Check the folder of a release of made-up people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.bundle import Found
from tarnkappe.bundling import BundleAudit, audit_tables, changed_by_hand, manifest_with
from tarnkappe.criteria.base import Verdict
from tarnkappe.errors import JobError
from tarnkappe.job.synthetic import KEY, METHODS
from tarnkappe.publish.sheets import MAIN
from tarnkappe.synthetic.domains import Coded, Names, Numbers
from tarnkappe.synthetic.release import UNIT


def audit_synthetic(path: str | Path) -> BundleAudit:
    """Check that a table is the one of its manifest, and holds nothing but declared values.

    The promise itself lies in how rows were drawn, and no table shows that.
    """
    known = manifest_with(path, KEY)
    if known is None:
        raise JobError("E107", f"'{path}' is no release of made-up people", hint="tarnkappe verify FOLDER")
    table, manifest = known
    try:
        told = manifest[KEY]
        if told["method"] not in METHODS:
            raise KeyError(told["method"])
        rows, columns = next((t["rows"], t["columns"]) for t in manifest["tables"] if t["name"] == MAIN)
        domains = [_domain(name, d) for name, d in told.get("columns", {}).items()]
    except (TypeError, KeyError, ValueError, StopIteration) as error:
        raise changed_by_hand(table) from error

    def check(tables: Mapping[str, pl.DataFrame]) -> Found:
        return _check(tables[MAIN], rows, columns, domains, told["method"])

    unseen = "made-up people: the promise lies in how they were drawn"
    return audit_tables(table, manifest, check, (MAIN,), UNIT, unseen)


def _check(table: pl.DataFrame, rows: int, columns: list[str], domains: list[Coded], method: str) -> Found:
    if table.columns != columns or table.height != rows:
        return Found((), ("the table has other columns or another number of rows than its manifest says",))
    problems = []
    strangers = 0
    for domain in domains:
        series = table[domain.name]
        if isinstance(domain, Numbers) and series.dtype == pl.String:
            series = series.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        strangers += domain.strangers(series)
    if method == "alpha-beta" and table.n_unique() != table.height:
        problems.append("a record stands twice")
    asked = "cells with other than declared values = 0"
    verdicts = (
        (Verdict("declared-values", None, asked, float(strangers), strangers == 0, strangers),) if domains else ()
    )
    return Found(verdicts, tuple(problems))


def _domain(name: str, told: Mapping[str, Any]) -> Coded:
    """A domain from what a manifest says about it."""
    if "values" in told:
        texts = tuple(str(v) for v in told["values"])
        missing = len(texts) if told["missing"] else -1
        return Names(name, missing, texts, max(missing, 0))
    step = float(told["step"])
    lo, hi = (np.array([round(float(told[end]) / step)]) for end in ("low", "high"))
    return Numbers(name, 1 if told["missing"] else -1, lo, hi, step, 0)

"""What anybody can count in a release of a series: groups in which every secret stands once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.bundle import Found
from tarnkappe.bundling import BundleAudit, audit_tables, changed_by_hand, manifest_with
from tarnkappe.criteria.base import Card, Verdict
from tarnkappe.job.series import KEY
from tarnkappe.publish.sheets import MAIN
from tarnkappe.wording import plural

#: The criterion as it is named in manifests and reports.
NAME, TITLE = "m-invariance", "m-invariance"
CARD = Card(
    protects_from="comparing releases: who joins, leaves or stays is among the same m secrets in all of them.",
    does_not="hide who is in the data, or stop somebody who knows that secrets are related.",
    typical="3 to 10, at most the number of values of the column.",
    cost="moderate; counterfeits where people leave whose secrets are rare.",
)

#: The column with the number of a group, the one with a number of counterfeits, and the table that it stands in.
GROUP, COUNT, FALSE = "group", "counterfeits", "counterfeits"

#: The set of secrets that a person is among, as one text.
SIGNATURE = "signature"

_BETWEEN, _MISSING = "\x1f", "\x00"


def signature_text(values: Iterable[str | None]) -> str:
    """A set of values as one text.

    >>> signature_texts(signature_text(["flu", None, "asthma"]))
    (None, 'asthma', 'flu')
    """
    return _BETWEEN.join(sorted(_MISSING if v is None else v for v in values))


def signature_texts(text: str) -> tuple[str | None, ...]:
    """The values of a signature."""
    return tuple(None if v == _MISSING else v for v in text.split(_BETWEEN))


def signatures_in(table: pl.DataFrame, group: str, secret: str) -> pl.DataFrame:
    """The signature of every group of a table, as it was written."""
    values = pl.col(secret).cast(pl.String).fill_null(_MISSING).sort().str.join(_BETWEEN)
    return table.group_by(pl.col(group).cast(pl.Int64)).agg(values.alias(SIGNATURE))


def check_tables(tables: Mapping[str, pl.DataFrame], m: int, group: str, secret: str, quasi: Sequence[str]) -> Found:
    """Whether every group has at least m secrets, each once, and looks the same in all its rows."""
    table, false = tables[MAIN], tables[FALSE]
    if [*table.columns] != [group, *quasi, secret] or [*false.columns] != [group, COUNT]:
        return Found((), ("the columns are not those that were promised",))
    one_look = (pl.col(q).n_unique() == 1 for q in quasi)
    groups = table.group_by(group).agg(
        pl.len().alias("rows"),
        pl.col(secret).n_unique().alias("values"),
        pl.all_horizontal(pl.lit(True), *one_look).alias("alike"),
    )
    numbers = false.with_columns(pl.col(COUNT).cast(pl.Int64, strict=False))
    beside = groups.join(numbers, on=group, how="full", coalesce=True)
    mixed = groups.filter(~pl.col("alike")).height
    repeated = groups.filter(pl.col("values") < pl.col("rows")).height
    right = (pl.col(COUNT) >= 0) & (pl.col(COUNT) < pl.col("rows"))
    wrong = beside.filter(~right.fill_null(False)).height
    problems = [
        f"{plural(n, f'group {one}', f'groups {many}')}"
        for n, one, many in (
            (mixed, "has rows that look different", "have rows that look different"),
            (repeated, "has a secret twice", "have a secret twice"),
            (wrong + false.height - false[group].n_unique(), "has wrong counterfeits", "have wrong counterfeits"),
        )
        if n
    ]
    few = groups.filter(pl.col("values") < m).height
    reached = float(groups["values"].min() or 0)  # type: ignore[arg-type]
    verdict = Verdict(NAME, secret, f"m-invariance ≥ {m}", reached, few == 0 and groups.height > 0, few)
    return Found((verdict,), tuple(problems))


def audit_series(path: str | Path) -> BundleAudit:
    """Check the folder of one release of a series, or its first table with the manifest beside it."""
    found = manifest_with(path, KEY)
    assert found is not None, "the caller looked at the manifest"
    table, manifest = found
    told: Any = manifest[KEY]
    try:
        m, secret, group = int(told["m"]), str(told["column"]), str(told["group"])
        quasi = [str(name) for name in told["quasi"]]
    except (KeyError, TypeError, ValueError) as error:
        raise changed_by_hand(table) from error

    def check(tables: Mapping[str, pl.DataFrame]) -> Found:
        return check_tables(tables, m, group, secret, quasi)

    unseen = "that everybody is among the same secrets as in earlier releases: only the ledger knows who is who"
    return audit_tables(table, manifest, check, (MAIN, FALSE), unseen=unseen)

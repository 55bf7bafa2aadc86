"""No column that points at people is published unless somebody has said why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

import polars as pl

from tarnkappe.errors import Notice, RefusedError
from tarnkappe.fixes import role
from tarnkappe.io import Source, is_text
from tarnkappe.looks import SAMPLE, Finding, Sight, findings
from tarnkappe.looks.base import FEWEST
from tarnkappe.looks.identifiers.free_text import FreeText
from tarnkappe.schema import Column
from tarnkappe.taxonomy.builders import Frequency, Suppress
from tarnkappe.taxonomy.orders import Order

#: The role that a column ought to have, and how it is coarsened.
_ROLES: dict[str, tuple[str, str | None]] = {
    "who": ("identifier", None),
    "which": ("drop", None),
    "known": ("quasi", "suppress"),
}

#: Taxonomies that say nothing about the values of a column; an order or a set does if it lists them.
_MERELY_POOLING = (Suppress, Frequency)

_WHAT = {
    "who": "seems to identify people",
    "which": "tells records apart",
    "known": "would tell what others know",
}


def refuse_identifiers(
    source: Source,
    columns: Iterable[Column],
    *,
    coarsened: bool = True,
    labelled: bool = False,
    by_name: bool = False,
    count: str | None = None,
) -> None:
    """Stop before a column that points at people is published, unless the job says why it may be.

    What is published unchanged must not name people, tell records apart, or repeat what others know. A
    quasi-identifier is coarsened until people share it, so only what names them matters there, free text among it: a
    person with several records shares a value with nobody else. If its taxonomy says more than that values may be
    pooled, somebody has looked at them, and only what they show counts. Where quasi-identifiers are published as they
    are (`coarsened` is false), they must not tell records apart either. A table that is `labelled` has sets and ranges
    there, which may be as long as free text. Columns that a table does not have are left out. Where one record must not
    decide whether there is a release, columns are judged `by_name` only. A column `count` says how many records a row
    stands for.
    """
    unexcused = [c for c in columns if not c.because and c.name in source.columns]
    for column, found in _found(source, unexcused, coarsened=coarsened, by_name=by_name, count=count):
        if labelled and column.role == "quasi" and found.kind == FreeText.name:
            continue
        unchanged = "" if column.role == "quasi" and coarsened else " unchanged"
        raise RefusedError(
            "E604",
            f"column '{column.name}' would be published{unchanged} ({column.role}) but {_WHAT[found.tells]}: "
            f"{found.reason}",
            where=source.name,
            details=[
                "If it has to be published, say why; the reason is recorded and printed in both reports:",
                f'{column.name}: {{role: {column.role}, …, because: "who has reviewed it, and why it is harmless"}}'
                f'   (in Python: because={{"{column.name}": "…"}})',
            ],
            hint=role(column.name, *_ROLES[found.tells]),
        )


def refuse_unmasked(
    source: Source, columns: Iterable[Column], declared: Iterable[Column], untouched: Collection[str]
) -> None:
    """Stop before a column that points at people is published because a mask changes it, and the mask does nothing.

    Only a reason that was `declared` counts for columns that are `untouched`.
    """
    reasons = {c.name: c.because for c in declared}
    left = [replace(c, because=reasons.get(c.name)) for c in columns if c.name in untouched]
    refuse_identifiers(source, left, coarsened=False)


def notices_about_reasons(source: Source, columns: Iterable[Column], *, coarsened: bool = True) -> tuple[Notice, ...]:
    """Alerts about columns that point at people and are published for a reason that the job states."""
    excused = [c for c in columns if c.because and c.name in source.columns]
    return tuple(
        Notice(
            "W609",
            f"'{column.name}' is published although it {_WHAT[found.tells]} ({found.reason}); the reason given: "
            f"{column.because}",
            hint=str(role(column.name, *_ROLES[found.tells])),
        )
        for column, found in _found(source, excused, coarsened=coarsened)
    )


def _found(
    source: Source, columns: Iterable[Column], *, coarsened: bool, by_name: bool = False, count: str | None = None
) -> Iterator[tuple[Column, Finding]]:
    """The columns that are published and ought not to be, each with the worst that speaks against it."""
    doubtful = [c for c in columns if c.role in ("quasi", "sensitive", "keep")]
    if not doubtful:
        return
    names = [c.name for c in doubtful]
    sample = source.sample(names if count is None else [*names, count], 0 if by_name else SAMPLE)
    if count is not None:  # twice tells already that a value is not one record's
        times = pl.col(count).cast(pl.UInt32).clip(1, 2)
        sample = sample.select(pl.col(names).repeat_by(times)).explode(names)
    for column in doubtful:
        found = [f for f in _findings(source, column, sample[column.name]) if _matters(f, column, coarsened=coarsened)]
        if found:
            yield column, found[0]


def _matters(found: Finding, column: Column, *, coarsened: bool) -> bool:
    if column.role != "quasi":
        return True
    if not coarsened:
        return found.tells != "known"  # that others know it is what the role says
    looked_at = column.taxonomy is not None and not isinstance(column.taxonomy, _MERELY_POOLING)
    if isinstance(column.taxonomy, Order):
        looked_at = column.taxonomy.values is not None
    if found.kind == FreeText.name:
        return not looked_at
    return found.tells == "who" and (found.by_content or not looked_at)


def _findings(source: Source, column: Column, sample: pl.Series) -> tuple[Finding, ...]:
    """What the detectors find in a column; whether its values are all different is counted over all rows."""
    ranges = False
    if column.kind == "numeric" and is_text(sample.dtype):
        # A text among the numbers makes no name of them; it is refused as such when the column is read.
        numbers = sample.str.strip_chars().cast(pl.Float64, strict=False)
        # Ranges are labels of a table that was written, and no telephone numbers.
        ranges = column.role == "quasi" and numbers.null_count() == len(numbers)
        sample = sample if ranges else numbers
    sight = Sight.of(column.name, sample)
    if sight.all_different and len(sample) >= SAMPLE:
        sight = Sight.of(column.name, sample, *_counted(source, column.name))
    return tuple(found for found in findings(sight) if not ranges or found.tells == "which")


def _counted(source: Source, column: str) -> tuple[int, int]:
    """How many values of a whole column are different, and how many rows it has, the missing ones among both."""
    return source.n_distinct([column])[column], max(source.n_rows, FEWEST)

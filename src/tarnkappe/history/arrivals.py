"""Who comes, stays and comes back in the next release of a series, and who may not be in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.errors import DataError, InfeasibleError
from tarnkappe.fixes import setting
from tarnkappe.history.invariance import NEW, Republished, Signature
from tarnkappe.history.keeping import withdrew
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import PERSON, RECORDS
from tarnkappe.history.unique import (
    SIGNATURE,
    signature_texts,
)
from tarnkappe.io import Source
from tarnkappe.job.series import Series
from tarnkappe.wording import count, percent, plural


def earlier(
    now: pl.DataFrame, before: pl.DataFrame, texts: pl.Series, name: str, secret: pl.Series, source: Source
) -> tuple[Codes, list[Signature], pl.Series]:
    """The signature of everybody who was published before, all signatures, and all secrets that stand in them.

    Somebody who left and comes back still has a signature: it belongs to the person, not to a row.
    """
    met = now.select(PERSON, secret.alias("now")).join(before, on=PERSON, how="left", maintain_order="left")
    other = met.filter(pl.col(name).is_not_null() & (pl.col(name) != pl.col("now"))).height
    if other:
        raise DataError(
            "E449",
            f"{plural(other, 'person has', 'people have')} another secret than in an earlier release",
            where=source.name,
            hint="Leave them out: m-invariance protects secrets that do not change.",
        )
    distinct = met[SIGNATURE].drop_nulls().unique().sort()
    sets = [signature_texts(text) for text in distinct.to_list()]
    held = set(texts.to_list())
    further = sorted({t for s in sets for t in s} - held, key=lambda t: (t is None, t or ""))
    texts = pl.concat([texts, pl.Series(further, dtype=pl.String)])
    code = {text: i for i, text in enumerate(texts.to_list())}
    place = pl.DataFrame({SIGNATURE: distinct, "i": pl.Series(range(len(distinct)), dtype=pl.Int32)})
    owner = met.select(SIGNATURE).join(place, on=SIGNATURE, how="left", maintain_order="left")["i"].fill_null(NEW)
    return owner.to_numpy().astype(np.int32), [tuple(sorted(code[t] for t in s)) for s in sets], texts


def require_as_many(known: Sequence[Signature], series: Series) -> None:
    """Refuse a larger m than people were promised before: their secrets stay the same, and so do not become more."""
    fewest = min((len(signature) for signature in known), default=series.m)
    if fewest < series.m:
        raise DataError(
            "E448",
            f"people in the data were published among {plural(fewest, 'secret')}, and stay among these: m = {series.m} "
            "asks for more",
            where=series.ledger,
            hint=setting(f"series: {{m: {fewest}}}", "m", fewest),
        )


def require_single(now: pl.DataFrame, source: Source) -> None:
    """Refuse persons with several records: each would be a person of its own to who counts secrets."""
    records, people = int(now[RECORDS].sum()), now[PERSON].n_unique()
    if records > people:
        raise DataError(
            "E446",
            f"{plural(records - people, 'record repeats', 'records repeat')} the key of a person, and a series has one "
            "record for each",
            where=source.name,
            hint="Keep one record of every person, or join them.",
        )


def require_present(ledger: Ledger, now: pl.DataFrame, source: Source, series: Series) -> None:
    """Refuse people who withdrew."""
    back = now.join(ledger.withdrawn(), on=PERSON, how="semi").height
    if back:
        raise withdrew(back, source.name, series.ledger)


def require_few(made: Republished, series: Series) -> None:
    """Refuse a release with too many counterfeits."""
    false, rows = int(made.counterfeits.sum()), int(made.sizes.sum())
    if false > series.max_counterfeits * rows:
        share = percent(false / rows)
        raise InfeasibleError(
            "E301",
            f"{plural(false, 'counterfeit')} of {count(rows)} rows ({share}) would be needed, allowed are "
            f"{percent(series.max_counterfeits)}",
            details=["Too many people left since the last release, or a secret is too common among those who joined."],
            hint=setting(
                f"series: {{max_counterfeits: {np.ceil(1000 * false / rows) / 1000:g}}}",
                "max_counterfeits",
                float(np.ceil(1000 * false / rows) / 1000),
            ),
        )

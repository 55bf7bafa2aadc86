"""Releases of people who come and go, so that everybody stays among the same secrets in all of them (m-invariance)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts
from tarnkappe.bundling import publish_in_memory, publish_to
from tarnkappe.errors import DataError
from tarnkappe.fixes import setting
from tarnkappe.guards import admitted
from tarnkappe.history.arrivals import earlier, require_as_many, require_few, require_present, require_single
from tarnkappe.history.drafting import SeriesDraft, SeriesRelease, grouping_of, hashed_secrets
from tarnkappe.history.invariance import NEW, Signature, republish
from tarnkappe.history.keeping import settled
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import CELL, RECORDS, Residents, secret_name
from tarnkappe.history.unique import (
    SIGNATURE,
)
from tarnkappe.io import Staging, like, open_source
from tarnkappe.job import Job
from tarnkappe.job.given import data_and_folder
from tarnkappe.job.series import Series, SeriesJob, series_of
from tarnkappe.kernels.hilbert import hilbert_keys
from tarnkappe.params import SEED_BITS
from tarnkappe.phases import Phases, Progress
from tarnkappe.publish.boxes import TIGHT
from tarnkappe.tally import Tally

#: Bits of all columns together on the curve.
_CURVE_BITS = 62


def run_series(
    job: SeriesJob,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> SeriesRelease:
    """Publish the next release of a series into a folder, and note in its ledger who is among which secrets."""
    data, target = data_and_folder(data, folder, job.job.data, job.job.output)
    clock = Phases(progress)
    read = [data] if isinstance(data, (str, Path)) else []
    with Ledger.opened(job.series.ledger, target) as ledger:
        announced = ledger
        staging = Staging(target, overwrite=overwrite, inputs=[*read, job.series.ledger, *inputs])
        with settled(lambda: announced), staging as stage:
            draft = _decide(job, data, ledger, seed, clock)
            release = publish_to(stage, draft, Path(target), clock)
            announced = ledger.announce(
                draft.state(),
                folder=str(Path(target).absolute()),
                source=ledger.hash("input", draft.source.sha256),
                table=str(release.public_manifest["sha256"]),
                people=draft.now.height,
                asked=job.series.asked,
                least=job.series.m,
            )
    return release


def anonymize_series(
    job: SeriesJob, data: Any, *, seed: int | None = None, progress: Progress | None = None
) -> SeriesRelease:
    """The next release of a series in memory: it is compared with those before, but not noted."""
    clock = Phases(progress)
    with Ledger.opened(job.series.ledger) as ledger:
        return publish_in_memory(_decide(job, data, ledger, seed, clock), clock, lambda _, table: like(data, table))


def republish_people(
    data: Any,
    *,
    m: int,
    subject: str,
    ledger: str | Path,
    folder: str | Path,
    max_counterfeits: float = 0.1,
    overwrite: bool = False,
    seed: int | None = None,
    **columns: Any,
) -> SeriesRelease:
    """Publish the next release of a series with m-invariance; `columns` are those of a `Job`: quasi, sensitive, drop.

    Whoever has all releases, and knows who is in which of them, finds everybody among the same at least `m` secrets.

    >>> import tempfile
    >>> import tarnkappe as tk
    >>> place = Path(tempfile.mkdtemp())
    >>> first = pl.DataFrame({"who": list("abcd"), "age": [21, 22, 41, 44], "ill": ["flu", "gout", "flu", "gout"]})
    >>> how = {"m": 2, "subject": "who", "ledger": place / "ledger", "max_counterfeits": 0.3, "seed": 1}
    >>> how |= {"quasi": {"age": tk.numeric()}, "sensitive": ["ill"], "identifiers": ["who"]}
    >>> one = republish_people(first, **how, folder=place / "one")
    >>> two = republish_people(first[1:], **how, folder=place / "two")
    >>> two.public_manifest["counterfeits"]
    1

    References
    ----------
    .. [XiTa07] Xiao, Tao. "m-invariance: towards privacy preserving re-publication of dynamic datasets." SIGMOD 2007.
    """
    from tarnkappe.criteria.k_anonymity import KAnonymity

    job = Job(**columns, criteria=KAnonymity(1))
    made = series_of(Series(m, subject, str(ledger), max_counterfeits), job)
    return run_series(made, data, folder, seed=seed, overwrite=overwrite)


def _decide(job: SeriesJob, data: Any, ledger: Ledger, seed: int | None, clock: Phases) -> SeriesDraft:
    """Read the data, find out who was published before, and form groups."""
    clock.begin("read")
    inner, series = job.job, job.series
    source = open_source(data, inner.data.dialect, inner.data.missing)
    schema = admitted(inner, source)
    residents = Residents.of(source, schema, series.subject, ledger)
    tally, now = residents.tally, residents.frame
    require_single(now, source)
    clock.begin("decide")
    seed = next(s for s in (seed, inner.seed, secrets.randbits(SEED_BITS)) if s is not None)
    secret = inner.goal.columns[0]
    before = ledger.groups_of(ledger.releases[-1]) if ledger.releases else None
    if before is not None and (SIGNATURE not in before.columns or secret_name(secret) not in before.columns):
        raise DataError(
            "E448",
            "the earlier release in the ledger does not belong to this series",
            where=series.ledger,
            hint=setting("series: {ledger: private/SERIES.jsonl}", "ledger", "private/SERIES.jsonl"),
        )
    require_present(ledger, now, source, series)
    domain = tally.sensitive_domains[0]
    texts = pl.Series(
        [None if code == domain.missing else t for code, t in enumerate(domain.taxonomy.leaves)], dtype=pl.String
    )
    value = tally.sensitive[now[CELL].to_numpy(), 0].astype(np.int32)
    owner = np.full(len(value), NEW, np.int32)
    known: list[Signature] = []
    if before is not None:
        owner, known, texts = earlier(
            now, before, texts, secret_name(secret), hashed_secrets(ledger, secret, texts).gather(value), source
        )
        require_as_many(known, series)
    rank = _ranks(tally)[now[CELL].to_numpy()]
    tie = np.random.Generator(np.random.Philox(seed)).permutation(len(value))
    rank = np.argsort(np.lexsort((tie, rank)))  # equal people in an order drawn by lot
    made = republish(value, owner, rank, known, series.m, len(texts))
    require_few(made, series)
    chance = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(1,))))
    number = chance.permutation(made.n_groups)
    now = now.with_columns(pl.Series("group", made.group)).drop(RECORDS)
    boxes = grouping_of(tally, now, made).boxes(tally)
    labels = TIGHT.labels(boxes, tally.quasi_domains, inner.data.missing or ("",))
    return SeriesDraft(job, data, source, schema, tally, ledger, now, before, made, texts, labels, number, seed)


def _ranks(tally: Tally) -> Counts:
    """Where each cell lies on a curve through the quasi-identifiers."""
    q = max(1, min(tally.quasi.shape[1], _CURVE_BITS))
    bits = min(16, _CURVE_BITS // q)
    size = np.array([max(d.size - 1, 1) for d in tally.quasi_domains[:q]])
    grid = (tally.quasi[:, :q] * ((1 << bits) - 1) // size).astype(np.uint32)
    return hilbert_keys(np.ascontiguousarray(grid), bits).astype(np.int64)

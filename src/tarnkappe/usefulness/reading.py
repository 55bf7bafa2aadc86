"""An original table and what was released of it: what every label of the release covers, read from its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.engines.cells import tally_of_cells
from tarnkappe.engines.encode import encode_again, read_kind
from tarnkappe.errors import JobError, RefusedError, did_you_mean
from tarnkappe.fixes import known_columns, say
from tarnkappe.io import Source, open_source
from tarnkappe.io.folders import ReleaseFolder, dialect_told, manifest_of, read_manifest, require_records
from tarnkappe.io.reading import file_only
from tarnkappe.job import Job
from tarnkappe.job.files import load_job
from tarnkappe.job.model import Coarsening, column_of
from tarnkappe.risks.reading import is_numeric, table_of
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain, Tally, distinct_rows
from tarnkappe.taxonomy import suppress
from tarnkappe.usefulness.labels import PublishedLabels, read_labels


@dataclass(frozen=True, eq=False)
class Pair:
    """An original table, counted, and a release of it, read.

    A group is what looks alike in the quasi-identifiers of the release. ``others[name]`` are the codes, in the domains
    of the tally, of a column that was published beside them: row i of the release has `records[i]` records, belongs to
    `group[i]`, and its value is ``others[name][i]`` (-1: a value that the original does not have).
    """

    tally: Tally
    columns: tuple[Column, ...]
    labels: tuple[PublishedLabels, ...]
    group: Codes
    records: Counts
    others: Mapping[str, Codes]
    n_groups: int
    names: tuple[str, str]
    #: The smallest group that the job allows.
    least: int = 1
    #: The numbers of a column beside the quasi-identifiers, row by row, also those that the original does not have.
    numbers: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(d.name for d in self.tally.quasi_domains)

    @cached_property
    def sizes(self) -> Counts:
        """Records of every group."""
        return np.bincount(self.group, self.records, self.n_groups).astype(np.int64)

    @property
    def n_original(self) -> int:
        """Records of the original."""
        return self.tally.n_records

    @property
    def n_published(self) -> int:
        """Records of the release."""
        return int(self.records.sum())

    @property
    def suppressed(self) -> int:
        """Records of the original that the release lacks."""
        return max(self.n_original - self.n_published, 0)

    @property
    def is_centred(self) -> bool:
        """Whether some quasi-identifier publishes numbers that nobody need have."""
        return any(x.is_centred for x in self.labels)

    @cached_property
    def boxes(self) -> Boxes:
        """What every group covers."""
        shape = (self.n_groups, len(self.labels))
        lo, hi, node = (np.zeros(shape, np.int32) for _ in range(3))
        members = {}
        for j, published in enumerate(self.labels):
            domain = published.domain
            first, last = published.first, published.last
            covering = domain.nodes(first, last)
            said = np.array([-1 if x.node is None else x.node for x in published.labels], np.int32)
            at = published.code
            lo[:, j], hi[:, j] = first[at], last[at]
            node[:, j] = np.where(said >= 0, said, covering)[at]
            if domain.sets:
                bits = [np.bitwise_or.reduce(np.uint64(1) << x.leaves.astype(np.uint64)) for x in published.labels]
                members[j] = np.array(bits, np.uint64)[at]
        return Boxes(lo, hi, node, members)

    def other_domain(self, name: str) -> Domain:
        """The domain of a column beside the quasi-identifiers."""
        return self.tally.sensitive_domains[self.tally.sensitive_index(name)]

    def original_codes(self, name: str) -> Codes:
        """The code of every cell of the original in a column."""
        if name in self.quasi:
            return self.tally.quasi[:, self.quasi.index(name)]
        return self.tally.sensitive[:, self.tally.sensitive_index(name)]

    def histogram(self, name: str) -> Counts:
        """How often each value of a column beside the quasi-identifiers stands in every group."""
        codes = self.others[name]
        known, size = codes >= 0, self.other_domain(name).size
        flat = self.group[known].astype(np.int64) * size + codes[known]
        return np.bincount(flat, self.records[known], self.n_groups * size).reshape(-1, size).astype(np.int64)


def open_pair(
    original: Any,
    release: Any,
    quasi: Iterable[str] | Mapping[str, Coarsening] | None = None,
    job: Job | str | Path | None = None,
) -> Pair:
    """Read an original and a release of it; what is not said about columns comes from the manifest or the tables.

    Without a job or a mapping a column of numbers is a scale, and any other has no levels but itself and nothing. Then
    labels of other tools are read too: ranges such as ``20-29`` or ``>= 60``, and masks such as ``537**``.
    """
    plan = job if isinstance(job, Job) else _kept_job(release) if job is None else load_job(job)
    first, second = _opened(original, plan), _released(release, plan)
    with first as before, second as after:
        columns = _columns(before, after, quasi, plan, release)
        names = [c.name for c in columns]
        beside = [n for n in before.columns if n in after.columns and n not in names]
        others = [Column(n, "sensitive", "numeric" if is_numeric(before, n) else "categorical") for n in beside]
        schema = Schema([*columns, *others], "own-value")
        tally, _ = tally_of_cells(before.cells([*names, *beside]), before, schema)
        return replace(_read(tally, columns, others, before, after), least=1 if plan is None else plan.goal.min_size)


def _read(tally: Tally, columns: Sequence[Column], others: Sequence[Column], before: Source, after: Source) -> Pair:
    names, beside = [c.name for c in columns], [c.name for c in others]
    cells = after.cells([*names, *beside])
    texts, codes = [], []
    for j in range(len(names)):
        found, code = _in_order(cells.values[j].cast(pl.String), cells.codes[:, j])
        texts.append(found)
        codes.append(code)
    shown, numbers = {}, {}
    for j, column in enumerate(others, len(names)):
        values = read_kind(cells.values[j], column, after, distinct=True)
        domain = tally.sensitive_domains[j - len(names)]
        shown[column.name] = encode_again(values, column, domain)[cells.codes[:, j]].astype(np.int32)
        if domain.values is not None:
            numbers[column.name] = values.cast(pl.Float64, strict=False).to_numpy()[cells.codes[:, j]]
    order = np.lexsort([*reversed(list(shown.values())), *reversed(codes)])  # however the table was counted
    group, one = distinct_rows([code[order] for code in codes], [len(found) for found in texts])
    labels = [
        PublishedLabels(domain, read_labels(found, column, domain, after), code[order][one])
        for found, code, column, domain in zip(texts, codes, columns, tally.quasi_domains, strict=True)
    ]
    return Pair(
        tally,
        tuple(columns),
        tuple(labels),
        group.astype(np.int32),
        cells.count[order].astype(np.int64),
        {name: found[order] for name, found in shown.items()},
        len(one),
        (before.name, after.name),
        numbers={name: found[order] for name, found in numbers.items()},
    )


def _in_order(values: pl.Series, codes: Codes) -> tuple[list[str | None], Codes]:
    """The texts that occur, in their order, the missing one first; and which of them every row has."""
    used, code = np.unique(codes, return_inverse=True)
    texts = values.gather(used)
    order = texts.arg_sort(nulls_last=False).to_numpy()
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return texts.gather(order).to_list(), place[code]


def _opened(data: Any, plan: Job | None) -> Source:
    if isinstance(data, Source):
        return data
    if not isinstance(data, (str, Path)) or plan is None:
        return open_source(data)
    return open_source(data, plan.data.dialect, plan.data.missing)


def _kept_job(release: Any) -> Job | None:
    """The job that the publisher keeps beside a release, if it is there."""
    if not isinstance(release, (str, Path)) or not Path(release).is_dir():
        return None
    kept = ReleaseFolder(Path(release)).job
    require_records(read_manifest(ReleaseFolder(Path(release)).manifest), Path(release))
    return None if kept is None else load_job(kept)


def _released(data: Any, plan: Job | None) -> Source:
    if isinstance(data, Source):
        return data
    if not isinstance(data, (str, Path)):
        return open_source(data)
    path = table_of(Path(data))
    manifest = manifest_of(path)
    if manifest is not None and "reading" in manifest:
        raise several_tables(str(path))
    dialect, missing = dialect_told(manifest, None if plan is None else file_only(plan.data.dialect))
    return open_source(path, dialect, missing)


def several_tables(where: str | None) -> RefusedError:
    """The refusal of a release whose groups have numbers."""
    return RefusedError(
        "E609",
        "the release has several tables whose groups have numbers: its labels say nothing about single records",
        where=where,
        hint="tk.query_error(job.anonymize(data), rng=rng)   (how far off readers' counts are)",
    )


def _columns(
    before: Source,
    after: Source,
    quasi: Iterable[str] | Mapping[str, Coarsening] | None,
    plan: Job | None,
    release: Any,
) -> list[Column]:
    """The quasi-identifiers and how they may be coarsened."""
    if isinstance(quasi, Mapping):
        columns = [column_of(name, "quasi", how) for name, how in quasi.items()]
    elif quasi is None and plan is not None:
        columns = _declared(plan)
    else:
        declared = {} if plan is None else {c.name: c for c in _declared(plan)}
        names = (
            _changed(before, after, release) if quasi is None else [quasi] if isinstance(quasi, str) else list(quasi)
        )
        columns = [declared.get(n) or _guessed(before, n) for n in names if _known(n, before, after)]
    for column in columns:
        _known(column.name, before, after)
    if not columns:
        raise JobError(
            "E106",
            "nothing in the release differs from the original, and nothing says what was coarsened",
            where=after.name,
            hint=say("{}   (the columns that were coarsened)", known_columns(["age", "sex"])),
        )
    return columns


def _declared(plan: Job) -> list[Column]:
    """The quasi-identifiers of a job, with the levels that its algorithm gives them."""
    return list(plan.schema([c.name for c in plan.columns]).quasi)


def _known(name: str, before: Source, after: Source) -> bool:
    for source in (before, after):
        if name not in source.columns:
            raise JobError(
                "E105",
                f"'{name}' is no column of {source.name}{did_you_mean(name, source.columns)}",
                where=source.name,
                hint=say("Name columns that both tables have:  {}", known_columns(["age", "sex"])),
            )
    return True


def _changed(before: Source, after: Source, release: Any) -> list[str]:
    """The quasi-identifiers of the manifest, or the columns that have values in the release that the original lacks."""
    manifest = manifest_of(table_of(Path(release))) if isinstance(release, (str, Path)) else None
    if manifest is not None and isinstance(manifest.get("quasi_identifiers"), list):
        return [str(name) for name in manifest["quasi_identifiers"]]
    out = []
    for name in before.columns:
        if name in after.columns:
            old = before.read([name])[name].unique().cast(pl.String)
            new = after.read([name])[name].unique().cast(pl.String)
            if not new.is_in(old.implode()).fill_null(value=True).all():
                out.append(name)
    return out


def _guessed(source: Source, name: str) -> Column:
    """A column of numbers is a scale, any other has no levels."""
    return Column(name, "quasi", "numeric") if is_numeric(source, name) else column_of(name, "quasi", suppress())

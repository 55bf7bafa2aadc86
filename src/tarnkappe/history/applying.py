"""An earlier recoding applied to other data, so that both releases speak the same language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.algorithms.fulldomain.ola import OLA
from tarnkappe.arrays import Flags
from tarnkappe.engines.encode import read_kind
from tarnkappe.errors import DataError, JobError, Notice
from tarnkappe.io import Source, open_source
from tarnkappe.io.databases.address import file_of
from tarnkappe.io.folders import GROUPS, RECODING, ReleaseFolder
from tarnkappe.io.formats import release_format
from tarnkappe.job import Job
from tarnkappe.job.given import data_and_folder
from tarnkappe.job.history import HistorySettings
from tarnkappe.job.model import replace_job
from tarnkappe.kernels.history.recoding_boxes import first_fitting
from tarnkappe.phases import Progress
from tarnkappe.pipeline import decide
from tarnkappe.publication import about
from tarnkappe.recoding import COLUMN, FIRST, LABEL, LAST
from tarnkappe.release import Release
from tarnkappe.schema import Column
from tarnkappe.taxonomy import suppress
from tarnkappe.taxonomy.tree import ANY
from tarnkappe.wording import plural

#: What becomes of records with a value that the recoding does not know.
Unseen = Literal["refuse", "suppress"]
UNSEEN: tuple[Unseen, ...] = get_args(Unseen)


@dataclass(frozen=True, eq=False)
class Recoding:
    """Which values became which label, column by column; and the groups, if a value may have several labels."""

    table: pl.DataFrame
    groups: pl.DataFrame | None = None

    @classmethod
    def read(cls, path: str | Path) -> Recoding:
        """A file that was written with a release, or the folder of that release."""
        given = Path(path)
        file = ReleaseFolder(given).private / RECODING if given.is_dir() else given
        try:
            table = pl.read_csv(file, infer_schema=False).fill_null("")
        except (OSError, pl.exceptions.PolarsError) as error:
            raise JobError(
                "E107",
                "the recoding cannot be read",
                where=str(file),
                hint="output: {recoding: true}   in the job of the earlier release writes it",
            ) from error
        if table.columns != [COLUMN, LABEL, FIRST, LAST]:
            raise DataError(
                "E448",
                "this is no recoding of an earlier release",
                where=str(file),
                hint=f"RELEASE/do-not-share/{RECODING}",
            )
        beside = file.with_name(GROUPS)
        return cls(table, pl.read_parquet(beside) if beside.is_file() else None)


def apply_recoding(
    recoding: str | Path | Recoding,
    job: Job,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    unseen: Unseen = "refuse",
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Publish other data with the labels of an earlier release; the goal of the job is checked on what is written.

    Every record gets the labels that its values had, or would have had by the taxonomies of the job. Groups that are
    too small then are suppressed, within the limit of the job. Records with a value that no label covers are refused,
    or left out and counted (``unseen="suppress"``).
    """
    if unseen not in UNSEEN:
        raise JobError("E110", f"'unseen' must be one of {', '.join(UNSEEN)}", hint="--unseen suppress")
    data, target = data_and_folder(data, folder, job.data, job.output)
    known = recoding if isinstance(recoding, Recoding) else Recoding.read(recoding)
    with open_source(data, job.data.dialect, job.data.missing) as source:
        schema = job.schema(source.columns, source.name)
        table = source.read([c.name for c in schema.columns if c.role != "drop"])
        labels, fits, sizes = _labelled(known, schema.quasi, table, source, job)
        given = about(source)
    n = int((~fits).sum())
    if n and unseen == "refuse":
        raise DataError(
            "E448",
            f"{plural(n, 'record has a value', 'records have values')} that the earlier release does not know",
            where=str(data) if isinstance(data, (str, Path)) else None,
            hint="--unseen suppress   leaves them out and says how many",
        )
    if n == len(fits):
        raise DataError(
            "E448", "the earlier recoding knows none of the records", hint="Take the recoding of these data."
        )
    labelled = table.with_columns(**labels).filter(pl.Series(fits))
    if job.output.format is None and isinstance(data, (str, Path)):  # a labelled frame has no format of its own
        job = replace_job(job, output=replace(job.output, format=release_format(Path(data))))

    def told(release: Release) -> Release:
        words = f"{plural(n, 'record was', 'records were')} left out: a value is unknown to the earlier recoding"
        notices = (*release.notices, Notice("W654", words, internal=True)) if n else release.notices
        # What was before are the data that were given, not their labels.
        before: dict[str, Any] = {"sizes_before": sizes, "unique_before": dict(sizes).get(1, 0), "exposing": ()}
        private = {**release.private_manifest, "input": given}
        return replace(release, notices=notices, private_manifest=private, **before)

    file = file_of(data)
    how: dict[str, Any] = {"seed": seed, "overwrite": overwrite, "progress": progress, "told": told}
    how["inputs"] = () if file is None else (file,)
    return publish_labelled(job, labelled, target, history=job.history, **how)


def publish_labelled(
    job: Job,
    table: pl.DataFrame,
    folder: str | Path | None,
    *,
    history: HistorySettings | None = None,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    told: Callable[[Release], Release] | None = None,
    inputs: Iterable[str | Path] = (),
) -> Release:
    """Publish a table whose quasi-identifiers are labels already: as they are, or not at all."""
    columns = tuple(_as_it_is(c) if c.role == "quasi" else c for c in job.columns if c.name in table.columns)
    rest = {"missing_rule": job.missing_rule or "own-value", "history": history}
    made = replace_job(job, columns=columns, algorithm=OLA(), output=replace(job.output, recoding=False), **rest)
    decided = decide(made, table, seed=seed, progress=progress)
    return decided.publish(folder, overwrite=overwrite, told=told, inputs=inputs)


def _as_it_is(column: Column) -> Column:
    """A quasi-identifier whose labels are published as they are, or not at all."""
    return replace(column, kind="categorical", taxonomy=suppress(), min_level=0, max_level=0, as_it_is="label")


def _labelled(
    known: Recoding, quasi: tuple[Column, ...], table: pl.DataFrame, source: Source, job: Job
) -> tuple[Mapping[str, pl.Series], Flags, tuple[tuple[int, int], ...]]:
    """The labels of all records by column, which records have labels in all of them, and how many of these were alike.

    The last are sizes of groups with the same values, and how many groups had each.
    """
    codes, looks = [], []
    for column in quasi:
        rows = known.table.filter(pl.col(COLUMN) == column.name)
        if not rows.height:
            raise DataError(
                "E448",
                f"the earlier recoding has no column '{column.name}'",
                hint="Take the recoding of these columns.",
            )
        values = read_kind(table[column.name], column, source)
        distinct = values.unique().sort()
        at = distinct.search_sorted(values.fill_null(distinct.drop_nulls()[0])) if distinct.drop_nulls().len() else None
        place = np.zeros(len(values), np.int64) if at is None else at.to_numpy().astype(np.int64)
        if distinct.null_count():
            place = np.where(values.is_null().to_numpy(), 0, place)
        codes.append(place)
        looks.append(_Look.of(column, rows, distinct))
    rows_, back, times = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True, return_counts=True)
    chosen = _global(looks, rows_) if all(k.single for k in looks) else _local(known, looks, rows_, job)
    back = back.reshape(-1)
    out = {
        column.name: pl.Series(look.labels, dtype=pl.String).gather(np.maximum(chosen[:, j], 0)[back])
        for j, (column, look) in enumerate(zip(quasi, looks, strict=True))
    }
    complete: Flags = np.all(chosen >= 0, axis=1)
    sizes = zip(*(x.tolist() for x in np.unique(times[complete], return_counts=True)), strict=True)
    return out, complete[back], tuple(sizes)


@dataclass(frozen=True, eq=False)
class _Look:
    """The labels of one column, and which of them fit each distinct value."""

    name: str
    labels: list[str]
    fits: NDArray[np.bool_]

    @property
    def single(self) -> bool:
        """Whether every value has at most one label."""
        return bool((self.fits.sum(axis=1) <= 1).all())

    @classmethod
    def of(cls, column: Column, rows: pl.DataFrame, distinct: pl.Series) -> _Look:
        labels = rows[LABEL].unique(maintain_order=True).to_list()
        code = {label: i for i, label in enumerate(labels)}
        of_row = np.array([code[label] for label in rows[LABEL].to_list()], np.int64)
        fits = np.zeros((len(distinct), len(labels)), np.bool_)
        numeric = column.kind == "numeric"
        if numeric:
            points = distinct.cast(pl.Float64).fill_null(np.nan).to_numpy()
            ends = [rows[name].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy() for name in (FIRST, LAST)]
            for low, high, label in zip(*ends, of_row, strict=True):  # one round for every label, not for every record
                fits[:, label] |= (low <= points) & (points <= high)
        else:
            place = {text: i for i, text in enumerate(distinct.cast(pl.String).to_list())}
            at = np.array([place.get(text, -1) for text in rows[FIRST].to_list()], np.int64)
            fits[at[at >= 0], of_row[at >= 0]] = True
        _by_taxonomy(column, distinct, code, fits)
        return cls(column.name, labels, fits)


def _by_taxonomy(column: Column, distinct: pl.Series, code: Mapping[str, int], fits: NDArray[np.bool_]) -> None:
    """Let labels fit values that the taxonomy of the column puts below them, also such as no record had before."""
    if ANY in code:
        fits[:, code[ANY]] = True
    builder = column.taxonomy
    known = distinct.drop_nulls()
    if builder is None or builder.follows_data or not len(known):
        return
    given = known.to_numpy() if column.kind == "numeric" else known.to_list()
    strange = set(builder.unknown(given, column.name))
    kept = [i for i in range(len(known)) if i not in strange]
    values = known.gather(kept)
    given = values.to_numpy() if column.kind == "numeric" else values.to_list()
    if not kept:
        return
    tree = builder.build(given, column.name, np.ones(len(kept), np.int64), others={})
    texts = builder.published(given)
    leaf = {label: i for i, label in enumerate(tree.leaves)}
    first = distinct.null_count() and 1
    at = np.array(kept) + int(first)
    leaves = np.array([leaf[t] for t in texts], np.int64)
    for label, i in code.items():  # a label that stands for a node of the tree fits all that is below it
        for node in [v for v, text in enumerate(tree.labels) if text == label]:
            fits[at[(tree.lo[node] <= leaves) & (leaves <= tree.hi[node])], i] = True


def _global(looks: list[_Look], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The one label of every value, -1 for none."""
    return np.stack(
        [np.where(k.fits.any(axis=1), k.fits.argmax(axis=1), -1)[rows[:, j]] for j, k in enumerate(looks)], axis=1
    )


def _local(known: Recoding, looks: list[_Look], rows: NDArray[np.int64], job: Job) -> NDArray[np.int64]:
    """The labels of the first group that fits each row, where a value has other labels in other groups."""
    if known.groups is None:
        raise DataError(
            "E448",
            "the earlier release gives a value several labels, and its groups are not beside the recoding",
            hint=f"Keep  {GROUPS}  of the earlier release beside  {RECODING}.",
        )
    boxes = np.empty((known.groups.height, len(looks)), np.int64)
    for j, look in enumerate(looks):
        code = {label: i for i, label in enumerate(look.labels)}
        texts = known.groups[look.name].cast(pl.String)
        boxes[:, j] = [code.get(text, -1) for text in texts.to_list()]
    boxes = boxes[(boxes >= 0).all(axis=1)]
    steps = np.array([len(k.labels) for k in looks], np.int64)
    sizes = np.array([k.fits.size for k in looks], np.int64)
    fits = np.concatenate([k.fits.reshape(-1) for k in looks])
    out = np.empty(len(rows), np.int64)
    first_fitting(rows * steps, boxes, np.cumsum(sizes) - sizes, fits, out)
    return np.where(out[:, None] >= 0, boxes[out], -1)

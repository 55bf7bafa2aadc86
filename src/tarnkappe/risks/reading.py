"""What is asked about: the table, the columns that others know, and who said so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.algorithms import all_algorithms
from tarnkappe.arrays import Codes
from tarnkappe.errors import JobError, RefusedError, did_you_mean
from tarnkappe.fixes import known_columns
from tarnkappe.io import CsvDialect, Source, open_source
from tarnkappe.io.folders import ReleaseFolder, dialect_told, manifest_of, require_records
from tarnkappe.io.reading import file_only
from tarnkappe.job import Job
from tarnkappe.job.files import load_job
from tarnkappe.job.given import named
from tarnkappe.job.model import Coarsening, column_of
from tarnkappe.job.suggest import suggest
from tarnkappe.publish.centres import Centres
from tarnkappe.publish.sliced import Sliced
from tarnkappe.risks.subsets import Combinations
from tarnkappe.schema import Column


@dataclass(frozen=True, eq=False)
class Asked:
    """A table and the quasi-identifiers to look at; with a job or a mapping also how they are coarsened."""

    source: Source
    quasi: tuple[str, ...]
    columns: tuple[Column, ...]
    origin: str
    #: Why the frequencies of combinations say nothing about this table; None if they do.
    perturbed: str | None


def _dialect(plan: Job, path: Path) -> CsvDialect:
    """How a table is read: the data of the job as it says, another table without its filter and derived columns."""
    same = plan.data.path is not None and Path(plan.data.path).resolve() == path.resolve()
    return plan.data.dialect if same else file_only(plan.data.dialect)


def asked(
    data: Any, quasi: Iterable[str] | Mapping[str, Coarsening] | None, job: Job | str | Path | None, *, perturbed: bool
) -> Asked:
    """Open what is asked about; the quasi-identifiers are those given, of the job, of the manifest, or suggested."""
    path = None if isinstance(data, Source) or not isinstance(data, (str, Path)) else table_of(Path(data))
    manifest = None if path is None else manifest_of(path)
    if path is not None and not quasi and job is None:
        require_records(manifest, Path(data))
    told = None if isinstance(job, Job) or job is None else load_job(job)
    plan = job if isinstance(job, Job) else told
    if isinstance(data, Source):
        source = data
    elif path is None:
        source = open_source(data)
    else:
        dialect, missing = dialect_told(manifest, None if plan is None else _dialect(plan, path))
        source = open_source(path, dialect, missing if plan is None else plan.data.missing)
    columns: tuple[Column, ...] = ()
    if isinstance(quasi, Mapping):
        columns = tuple(column_of(name, "quasi", how) for name, how in quasi.items())
        names, origin = tuple(quasi), "given"
    elif quasi is not None and (listed := [quasi] if isinstance(quasi, str) else list(quasi)):
        names, origin = tuple(dict.fromkeys(listed)), "given"
        if plan is not None:
            columns = _levels(c for c in plan.columns if c.name in names and c.role == "quasi")
    elif plan is not None:
        columns = _levels(c for c in plan.columns if c.role == "quasi")
        names, origin = tuple(c.name for c in columns), "the job"
    elif manifest is not None and isinstance(manifest.get("quasi_identifiers"), list):
        names, origin = tuple(str(name) for name in manifest["quasi_identifiers"]), "the manifest"
    else:
        names, origin = tuple(s.column for s in suggest(source) if s.role == "quasi"), "suggested"
    _require_columns(names, source)
    return Asked(source, names, columns, origin, _why_perturbed(manifest, stated=perturbed))


def _levels(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Columns with all levels of their taxonomies."""
    return tuple(replace(c, min_level=0, max_level=None) for c in columns)


def table_of(path: Path) -> Path:
    """The table of a release folder, or the file itself."""
    if not path.is_dir() or any(path.glob("part-*")):
        return path
    table = ReleaseFolder(path).table
    if table is None:
        raise JobError("E108", f"'{path}' is no release folder", hint="tarnkappe risk FILE.csv --quasi age,sex")
    return table


def _require_columns(names: Sequence[str], source: Source) -> None:
    if not names:
        raise JobError(
            "E106",
            "nothing says which columns others may know, and no column looks like one",
            where=source.name,
            hint=known_columns(source.columns),
        )
    for name in names:
        if name not in source.columns:
            raise JobError(
                "E105",
                f"'{name}' is no column of the table{did_you_mean(name, source.columns)}",
                where=source.name,
                hint=named(name, source.columns, otherwise=known_columns(source.columns)),
            )


def _why_perturbed(manifest: dict[str, Any] | None, *, stated: bool) -> str | None:
    """Why counting combinations would say nothing true about people, in words; None if it does not."""
    if stated:
        return "its values were changed, as you say, so what is rare in it need not be rare among people"
    told = manifest.get("algorithm") if manifest else None
    made = all_algorithms().get(str(told.get("name"))) if isinstance(told, dict) else None
    form = manifest.get("form") if manifest else None
    if form == Centres.name or (made is not None and issubclass(made.publishes, Centres)):
        return "it publishes centres: nobody has the published values, so whom they are like cannot be counted"
    if form == Sliced.name or (made is not None and issubclass(made.publishes, Sliced)):
        return "its columns were torn apart within groups, so a row is nobody's combination of values"
    return None


def refused(why: str, where: str) -> RefusedError:
    """The refusal to count combinations of a table whose values were changed."""
    return RefusedError(
        "E609",
        f"the frequency of combinations says nothing about this table: {why}",
        where=where,
        hint="tarnkappe risk RELEASE --original ORIGINAL   (how near its numbers are to those of people)",
    )


def combinations_of(source: Source, quasi: Sequence[str]) -> Combinations:
    """The distinct combinations of some columns and how many records have each."""
    cells = source.cells(list(quasi))
    codes = cells.codes - cells.codes.min(axis=0)  # code 0 is the missing value, which most columns do not have
    return Combinations(tuple(quasi), np.ascontiguousarray(codes, np.int32), cells.count.astype(np.int64), cells)


def numbered(source: Source, columns: Sequence[str]) -> Codes:
    """For every row the number of its combination of values."""
    frame = source.read(list(columns))
    struct = frame.select(pl.struct(pl.all()).rank("dense"))
    return (struct.to_series().to_numpy() - 1).astype(np.int32)


def is_numeric(source: Source, name: str) -> bool:
    """Whether all known values of a column are numbers, and none is a code such as 01234."""
    series = source.read([name])[name]
    if series.dtype.is_numeric():
        return True
    text = series.drop_nulls().unique().cast(pl.String)
    if not len(text) or text.str.contains(r"^[+-]?0\d").any():
        return False
    numbers = text.str.replace_all(source.decimal, ".", literal=True).cast(pl.Float64, strict=False)
    return bool(numbers.is_finite().fill_null(value=False).all())

"""Job files to jobs and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.effort import EFFORTS, with_effort
from tarnkappe.choice import Auto
from tarnkappe.criteria import Criterion, all_criteria, criterion_class
from tarnkappe.engines.settings import ENGINES, EngineSettings
from tarnkappe.errors import JobError, TarnkappeError, did_you_mean
from tarnkappe.io import CsvDialect
from tarnkappe.job.given import algorithm_of, seconds_of, share_of
from tarnkappe.job.model import DataSettings, Job, OutputSettings, Population, require_column, require_target
from tarnkappe.job.text import PlacedDict, apply_settings, dump_yaml, read_job_file, read_job_text
from tarnkappe.params import Declared, bind, json_schema, param, parameters, place
from tarnkappe.registry import registered
from tarnkappe.schema import KINDS, MISSING_RULES, ROLES, Column, Schema
from tarnkappe.taxonomy import TaxonomyBuilder, builder_from
from tarnkappe.taxonomy.builders import File

VERSION = 1

#: What may happen to columns that the job does not name.
REST = ("keep", "drop")


@dataclass(frozen=True)
class _Top(Declared):
    """The keys of a job file."""

    columns: Any = param(doc="Every column of the data with its role, such as  age: {role: quasi, type: numeric}.")
    criteria: Any = param(doc="What every group must satisfy, a list such as  - k-anonymity: {k: 5}.")
    version: int = param(VERSION, doc="Version of this file's layout.", ge=VERSION, le=VERSION)
    title: str | None = param(None, doc="What the release is, printed in the report.")
    purpose: str | None = param(None, doc="What the data are for, printed in the report.")
    data: Any = param(None, doc="Where the data are and how to read them.")
    population: Any = param(None, doc="A public table that the people in the data come from, and how to read it.")
    taxonomies: Any = param(None, doc="Taxonomies by name, for columns to refer to.")
    rest: str | None = param(
        None, doc="Role of all columns that are not named; without it every column must be.", choices=REST
    )
    limits: Any = param(None, doc="How much may be given up.")
    algorithm: Any = param(None, doc="How groups are found: a name, or a mapping with name and parameters.")
    effort: str | float | None = param(
        None,
        doc="How much work goes into lower loss: a word, or a multiple of the normal work.",
        choices=tuple(EFFORTS),
        gt=0,
    )
    output: Any = param(None, doc="Where the release goes.")
    engine: str = param("auto", doc="Where records are counted and rewritten.", choices=ENGINES)
    master: str | None = param(None, doc="Where Spark runs, such as local[*], spark://host:7077 or yarn.")
    memory: Any = param(None, doc="How much memory the process may take, such as 2GB.")
    seed: int | None = param(None, doc="Makes the run repeatable. Keep it secret: it undoes the shuffling.", ge=0)


@dataclass(frozen=True)
class _Population(Declared):
    """The section ``population``."""

    path: str | None = param(None, doc="The file, relative to the job file.")
    encoding: str | None = param(None, doc="Text encoding; detected if not given.")
    delimiter: str | None = param(None, doc="What separates fields; detected if not given.")
    quote: str | None = param(None, doc="What encloses fields; detected if not given.")
    decimal: str | None = param(None, doc="Decimal sign; detected if not given.")
    header: bool | None = param(
        None, doc="Whether the first line names the columns; detected if not given. Else they are called 1, 2, 3 …"
    )
    spreadsheet_safe: bool = param(False, doc="Whether formulas have an apostrophe before them, as in safe releases.")
    missing: tuple[str, ...] = param(("",), doc="Texts that stand for a missing value.")


@dataclass(frozen=True)
class _Data(_Population):
    """The section ``data``."""

    missing_rule: str | None = param(None, doc="How a missing cell matches others.", choices=MISSING_RULES)


@dataclass(frozen=True)
class _Column(Declared):
    """One entry of ``columns``."""

    role: str = param(doc="What the column is to the people in it.", choices=ROLES)
    type: str = param("categorical", doc="Whether values are names or numbers.", choices=KINDS)
    taxonomy: Any = param(None, doc="Name of a taxonomy, or its declaration; 'suppress' needs none.")
    weight: float = param(1.0, doc="How much detail of this column matters.", gt=0)
    min_level: int = param(0, doc="Lowest level of the taxonomy that may be published; 0 are the values.", ge=0)
    max_level: int | None = param(None, doc="Highest level that may be published; the root if not given.", ge=0)
    because: str | None = param(None, doc="Why the column has this role.")


@dataclass(frozen=True)
class _Limits(Declared):
    """The section ``limits``."""

    suppressed_rows: Any = param(0.0, doc="Largest share of records that may be left out, such as 2%.")
    time: Any = param(None, doc="Time after which a search ends with the best release so far, such as 10min.")


@dataclass(frozen=True)
class _Output(Declared):
    """The section ``output``."""

    folder: str | None = param(None, doc="Folder of the release, relative to the job file.")
    format: str | None = param(
        None, doc="Format of the table; that of the input if not given.", choices=("csv", "parquet")
    )
    spreadsheet_safe: bool = param(
        False, doc="Put an apostrophe before texts of a CSV file that a spreadsheet would run as formulas."
    )


def load_job(path: str | Path, settings: Iterable[str] = ()) -> Job:
    """Read a job file, with ``key=value`` overrides."""
    with _written():
        data = read_job_file(path)
        apply_settings(data, settings)
        return job_from_data(data, Path(path).parent)


def job_from_text(text: str, name: str = "job", folder: str | Path = ".") -> Job:
    """A job from the text of a job file."""
    with _written():
        return job_from_data(read_job_text(text, name), Path(folder))


def job_from_data(raw: Mapping[str, Any], folder: Path) -> Job:
    """A job from the plain data of a job file; paths are relative to `folder`."""
    if "items" in raw:
        what, hint = "this job file is about sets of items, not records", "tarnkappe run JOB.yaml"
        raise JobError("E102", what, where=place(raw, "items"), hint=hint)
    top = bind(_Top, raw, "the job file")
    data = bind(_Data, _section(raw, "data"), "'data'")
    output = bind(_Output, _section(raw, "output"), "'output'")
    limits = bind(_Limits, _section(raw, "limits"), "'limits'")
    population = bind(_Population, _section(raw, "population"), "'population'")
    columns = _columns(raw, folder)
    with _at(place(raw, "columns")):
        schema = Schema(columns)
    criteria = [_criterion(item, raw, schema) for item in _list(raw, "criteria")]
    share = share_of(limits.suppressed_rows, place(_section(raw, "limits"), "suppressed_rows"))
    algorithm = algorithm_of(top.algorithm, place(raw, "algorithm"))
    with _at(place(raw, "algorithm")):
        require_target(algorithm, schema)
    with _at(place(raw, "effort")):
        algorithm = with_effort(algorithm, top.effort)
    with _at(place(raw, "engine")):
        engine = EngineSettings(top.engine, top.master, None if top.memory is None else str(top.memory))
    target = _resolve(output.folder, folder, place(_section(raw, "output"), "folder"))
    with _at(place(raw, "criteria")):
        return Job(
            columns=columns,
            keep="rest" if top.rest == "keep" else (),
            drop="rest" if top.rest == "drop" else (),
            criteria=criteria,
            max_suppressed=share,
            time_limit=seconds_of(limits.time, place(_section(raw, "limits"), "time")),
            algorithm=algorithm,
            missing_rule=data.missing_rule,  # type: ignore[arg-type]
            seed=top.seed,
            title=top.title or "",
            purpose=top.purpose or "",
            data=DataSettings(*_reading(data, raw, "data", folder)),
            output=OutputSettings(target, output.format, output.spreadsheet_safe),
            population=Population(*_reading(population, raw, "population", folder)) if "population" in raw else None,
            engine=engine,
        )


def _reading(
    section: _Population, raw: Mapping[str, Any], key: str, folder: Path
) -> tuple[str | None, CsvDialect, tuple[str, ...]]:
    """Where a table is and how to read it."""
    with _at(place(raw, key)):
        dialect = CsvDialect(**{p.name: getattr(section, p.name) for p in parameters(CsvDialect)})
    return _resolve(section.path, folder, place(_section(raw, key), "path")), dialect, section.missing


@contextmanager
def _written() -> Iterator[None]:
    """Let errors speak the language of job files, also to somebody who reads one from Python."""
    try:
        yield
    except TarnkappeError as error:
        error.in_job_file = True
        raise


@contextmanager
def _at(where: str | None) -> Iterator[None]:
    """Give errors that do not know their place the given one."""
    try:
        yield
    except JobError as error:
        error.where = error.where or where
        raise


#: One line of each section, to start from.
_EXAMPLES = {
    "columns": "age: {role: quasi, type: numeric}",
    "data": "path: census.csv",
    "limits": "suppressed_rows: 2%",
    "output": "folder: release",
    "population": "path: register.csv",
    "taxonomies": "sex: {kind: suppress}",
}


def _section(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    section = raw.get(key)
    if section is None:
        return PlacedDict(place(raw, key) or "")
    if not isinstance(section, Mapping):
        raise JobError(
            "E110",
            f"'{key}' must be a mapping of keys to values",
            where=place(raw, key),
            hint=f"{key}:\n  {_EXAMPLES[key]}",
        )
    return section


def _list(raw: Mapping[str, Any], key: str) -> list[Any]:
    items = raw.get(key) or []
    if not isinstance(items, list):
        raise JobError(
            "E110", f"'{key}' must be a list", where=place(raw, key), hint=f"{key}:\n  - k-anonymity: {{k: 5}}"
        )
    return items


def _resolve(path: str | None, folder: Path, where: str | None) -> str | None:
    if "\0" in (path or ""):
        raise JobError("E110", "a path cannot hold the character NUL", where=where, hint="Remove the  \\0  from it.")
    return path if path is None or "://" in path else str(folder / path)


def _relative(path: str | None, folder: Path | None) -> str | None:
    """The path as it is written in a file that lies in a folder: the inverse of `_resolve`."""
    if path is None or folder is None or "://" in path:
        return path
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return path


def _columns(raw: Mapping[str, Any], folder: Path) -> list[Column]:
    section = _section(raw, "columns")
    declared = _section(raw, "taxonomies")
    taxonomies = {
        name: builder_from(body, name, place(declared, name), folder=folder) for name, body in declared.items()
    }
    out = []
    for name, given in section.items():
        where = place(section, name)
        body = {"role": given} if isinstance(given, str) else given
        if not isinstance(body, Mapping):
            raise JobError("E110", f"column '{name}' needs a role", where=where, hint=f"{name}: {{role: drop}}")
        spec = bind(_Column, body, f"column '{name}'")
        with _at(where):
            taxonomy = _taxonomy(spec.taxonomy, name, taxonomies, place(body, "taxonomy"), folder)
            kind = "numeric" if taxonomy is not None and taxonomy.numeric else spec.type
            rest = spec.weight, spec.because, spec.min_level, spec.max_level
            out.append(Column(name, spec.role, kind, taxonomy, *rest))  # type: ignore[arg-type]
    return out


def _taxonomy(
    given: Any, column: str, known: Mapping[str, TaxonomyBuilder], where: str | None, folder: Path
) -> TaxonomyBuilder | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        return builder_from(given, column, where, folder=folder)
    if given in known:
        return known[given]
    if given == "suppress":
        return builder_from({"kind": "suppress"}, "suppress", where)
    raise JobError(
        "E105",
        f"column '{column}' refers to taxonomy '{given}', which is not declared{did_you_mean(str(given), known)}",
        where=where,
        hint=f"Declared taxonomies: {', '.join(known) or 'none'}; 'suppress' is always there.",
    )


def _criterion(item: Any, raw: Mapping[str, Any], schema: Schema) -> Criterion:
    where = place(item) if isinstance(item, Mapping) else place(raw, "criteria")
    if not isinstance(item, Mapping) or len(item) != 1:
        raise JobError("E110", "a criterion is one name with its parameters", where=where, hint="- k-anonymity: {k: 5}")
    ((name, body),) = item.items()
    body = PlacedDict(where or "") if body is None else body
    if not isinstance(body, Mapping):
        raise JobError("E110", f"criterion '{name}' needs a mapping of parameters", where=where, hint="{k: 5}")
    criterion = bind(criterion_class(name, place(item, name)), body, f"criterion '{name}'")
    with _at(where):
        require_column(criterion, schema)
    return criterion


def job_to_yaml(job: Job, folder: str | Path | None = None) -> str:
    """A job as the text of a job file; reading it gives the same job.

    `folder` is where the file will lie: paths are then written relative to it. Without one they stay as they are.
    """
    beside = None if folder is None else Path(folder)
    data: dict[str, Any] = {"version": VERSION}
    if job.title:
        data["title"] = job.title
    if job.purpose:
        data["purpose"] = job.purpose
    data["data"] = _without_none({**_reading_data(job.data, beside), "missing_rule": job.missing_rule})
    if job.population is not None:
        data["population"] = _reading_data(job.population, beside)
    data["columns"] = {c.name: _column_data(c, beside) for c in job.columns}
    if job.rest is not None:
        data["rest"] = job.rest
    data["criteria"] = [{c.name: _changed(c)} for c in job.goal.criteria]
    limits = {"suppressed_rows": job.goal.max_suppressed or None, "time": job.time_limit and f"{job.time_limit:g}s"}
    data["limits"] = _without_none(limits)
    data["algorithm"] = {"name": job.algorithm.name, **_changed(job.algorithm)}
    data["output"] = _without_none(
        {
            "folder": _relative(job.output.folder, beside),
            "format": job.output.format,
            "spreadsheet_safe": job.output.spreadsheet_safe or None,
        }
    )
    if job.engine != EngineSettings():
        data |= _without_none({"engine": job.engine.name, "master": job.engine.master, "memory": job.engine.memory})
    if job.seed is not None:
        data["seed"] = job.seed
    return dump_yaml({key: value for key, value in data.items() if value not in ({}, [])})


def _reading_data(table: DataSettings, folder: Path | None) -> dict[str, Any]:
    reading = {"path": _relative(table.path, folder), **_changed(table.dialect)}
    if table.missing != ("",):
        reading["missing"] = list(table.missing)
    return _without_none(reading)


def _column_data(column: Column, folder: Path | None) -> dict[str, Any]:
    out: dict[str, Any] = {"role": column.role}
    if column.kind == "numeric" and not (column.taxonomy and column.taxonomy.numeric):
        out["type"] = "numeric"
    if column.taxonomy is not None:
        settings = {"kind": column.taxonomy.name, **_changed(column.taxonomy)}
        if isinstance(column.taxonomy, File):
            settings["path"] = _relative(column.taxonomy.path, folder)
        out["taxonomy"] = "suppress" if settings == {"kind": "suppress"} else settings
    usual = {"weight": 1, "min_level": 0, "max_level": None, "because": None}
    return out | {key: getattr(column, key) for key, value in usual.items() if getattr(column, key) != value}


def _changed(declared: Declared) -> dict[str, Any]:
    """The parameters that differ from their defaults, as plain data."""
    out = {}
    for p in parameters(type(declared)):
        value = getattr(declared, p.name)
        if value != p.default:
            out[p.name] = list(value) if isinstance(value, tuple) else value
    return out


def _without_none(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def job_json_schema() -> dict[str, Any]:
    """The JSON schema of job files, for editors."""
    schema = json_schema(_Top)
    sections = schema["properties"]
    builders = [_with_kind(cls, name) for name, cls in registered("tarnkappe.taxonomy", TaxonomyBuilder).items()]  # type: ignore[type-abstract]
    taxonomy = {"anyOf": [{"type": "string"}, *builders]}
    column = json_schema(_Column)
    column["properties"]["taxonomy"] = taxonomy
    sections["columns"] = {
        "type": "object",
        "additionalProperties": {"anyOf": [{"enum": list(ROLES)}, column]},
    }
    sections["taxonomies"] = {"type": "object", "additionalProperties": {"anyOf": builders}}
    sections["criteria"] = {
        "type": "array",
        "items": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {name: json_schema(cls) for name, cls in all_criteria().items()},
        },
    }
    known: dict[str, type] = {Auto.name: Auto, **all_algorithms()}
    algorithms = [_with_kind(cls, name, "name") for name, cls in known.items()]
    sections["algorithm"] = {"anyOf": [{"enum": list(known)}, *algorithms]}
    for key, cls in (("data", _Data), ("population", _Population), ("limits", _Limits), ("output", _Output)):
        sections[key] = json_schema(cls)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tarnkappe job",
        **schema,
    }


def _with_kind(cls: type, name: str, key: str = "kind") -> dict[str, Any]:
    schema = json_schema(cls)
    schema["properties"] = {key: {"const": name}, **schema["properties"]}
    schema["required"] = [key, *schema["required"]]
    return schema

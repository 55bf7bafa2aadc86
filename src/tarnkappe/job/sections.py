"""Sections of job files, and how they are read and written; jobs about other things share them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tarnkappe.attacks import Attack, attack_class
from tarnkappe.attacks.base import SequelAttack
from tarnkappe.criteria import Criterion, criterion_class
from tarnkappe.errors import DataError, JobError, TarnkappeError, closest, did_you_mean
from tarnkappe.fixes import role
from tarnkappe.io import CsvDialect
from tarnkappe.io.databases import Address, is_database
from tarnkappe.io.formats import WRITTEN
from tarnkappe.io.reading import Reading, file_only
from tarnkappe.job.attacks import ATTACK_FIX
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.job.text import PlacedDict
from tarnkappe.params import Declared, bind, param, parameters, place
from tarnkappe.schema import KINDS, MISSING_RULES, ROLES, Column
from tarnkappe.solution_frames import WHICH
from tarnkappe.taxonomy import TaxonomyBuilder, builder_from
from tarnkappe.taxonomy.builders import File, file_meant


def like_reading(name: str) -> Any:
    """A parameter of a section that says what one of `Reading` does."""
    found = next(p for p in parameters(Reading) if p.name == name)
    return param(found.default, doc=found.doc, example=found.example)


@dataclass(frozen=True)
class PopulationSection(Declared):
    """The section ``population``."""

    path: str | None = param(None, doc="The file, relative to the job file.")
    database: str | None = param(
        None, doc="A database instead of a file: postgresql://USER@HOST/DATABASE, duckdb:///FILE or sqlite:///FILE."
    )
    schema: str | None = param(None, doc="The schema of the database that holds the table.")
    table: str | None = param(None, doc="The table of the database.")
    query: str | None = param(None, doc="One SELECT, instead of a table of the database.")
    encoding: str | None = param(None, doc="Text encoding; detected if not given.")
    delimiter: str | None = param(None, doc="What separates fields; detected if not given.")
    quote: str | None = param(None, doc="What encloses fields; detected if not given.")
    decimal: str | None = param(None, doc="Decimal sign; detected if not given.")
    header: bool | None = param(
        None, doc="Whether the first line names the columns; detected if not given. Else they are called 1, 2, 3 …"
    )
    spreadsheet_safe: bool = param(False, doc="Whether formulas have an apostrophe before them, as in safe releases.")
    missing: tuple[str, ...] = param(("",), doc="Texts that stand for a missing value.")
    sheet: str | None = like_reading("sheet")
    labels: bool = like_reading("labels")
    layout: str | None = like_reading("layout")
    positions: Mapping[str, str] = like_reading("positions")
    codes: Mapping[str, str] = like_reading("codes")
    filter: str | None = like_reading("filter")
    derive: Mapping[str, str] = like_reading("derive")


@dataclass(frozen=True)
class DataSection(PopulationSection):
    """The section ``data``."""

    missing_rule: str | None = param(None, doc="How a missing cell matches others.", choices=MISSING_RULES)


@dataclass(frozen=True)
class ColumnSection(Declared):
    """One entry of ``columns``."""

    role: str = param(doc="What the column is to the people in it.", choices=ROLES, example="quasi")
    type: str = param("categorical", doc="Whether values are names or numbers.", choices=KINDS)
    taxonomy: Any = param(None, doc="Name of a taxonomy, or its declaration; 'suppress' needs none.")
    weight: float = param(1.0, doc="How much detail of this column matters.", gt=0)
    min_level: int = param(0, doc="Lowest level of the taxonomy that may be published; 0 are the values.", ge=0)
    max_level: int | None = param(None, doc="Highest level that may be published; the root if not given.", ge=0)
    because: str | None = param(None, doc="Why the column has this role.")


@dataclass(frozen=True)
class LimitsSection(Declared):
    """The section ``limits``."""

    suppressed_rows: Any = param(0.0, doc="Largest share of records that may be left out, such as 2%.")
    time: Any = param(None, doc="Time after which a search ends with the best release so far, such as 10min.")


@dataclass(frozen=True)
class OutputSection(Declared):
    """The section ``output``."""

    folder: str | None = param(None, doc="Folder of the release, relative to the job file.")
    format: str | None = param(None, doc="Format of the table; that of the input if not given.", choices=WRITTEN)
    spreadsheet_safe: bool = param(
        False, doc="Put an apostrophe before texts of a CSV file that a spreadsheet would run as formulas."
    )


@dataclass(frozen=True)
class RecordsOutputSection(OutputSection):
    """The section ``output`` of a job about records."""

    solutions: str | None = param(
        None,
        doc="Write solutions.parquet for yourself: the releases that full-domain generalisation could make, those that "
        "satisfy the job or all, with their figures.",
        choices=WHICH,
    )
    recoding: bool = param(
        False, doc="Write recoding.csv for yourself: which values became which label, for  tarnkappe apply."
    )
    database: str | None = param(
        None, doc="A database that is to hold the table; reports and manifests go to the folder all the same."
    )
    schema: str | None = param(None, doc="The schema of the database that is to hold the table.")
    table: str | None = param(None, doc="What the table is to be called in the database.")


def reading(
    section: PopulationSection, raw: Mapping[str, Any], key: str, folder: Path
) -> tuple[str | None, CsvDialect, tuple[str, ...]]:
    """Where a table is and how to read it."""
    with at(place(raw, key)):
        said = Reading(**{p.name: getattr(section, p.name) for p in parameters(Reading)})
        path = _from_database(section, folder)
    dialect = file_only(said)
    if said != replace(Reading(), **dialect.get_params()):
        codes = {name: str(folder / path) for name, path in said.codes.items()}
        dialect = replace(said, layout=resolved(said.layout, folder, place(raw, key)), codes=codes)
    return path or resolved(section.path, folder, place(section_of(raw, key), "path")), dialect, section.missing


def _from_database(section: PopulationSection | RecordsOutputSection, folder: Path) -> str | None:
    """The address of a table, if a section names one; files of databases are relative to the job file."""
    given = [key for key in ("schema", "table", "query") if getattr(section, key, None) is not None]
    if section.database is None:
        if given:
            what = f"'{given[0]}' is about a database, and none is named"
            raise JobError("E103", what, hint="database: postgresql://USER@HOST/DATABASE")
        return None
    if isinstance(section, PopulationSection) and section.path is not None:
        raise JobError(
            "E110", "data come from a file or from a database: 'path' excludes 'database'", hint="table: NAME"
        )
    return Address(section.database, **{key: getattr(section, key) for key in given}).beside(folder).text


def _in_database(address: str | None, folder: Path | None) -> dict[str, Any]:
    """The address of a table, as a section of a job file says it."""
    if address is None:
        return {}
    told = Address.of(address).relative_to(folder)
    return {"database": told.uri, "schema": told.schema, "table": told.table, "query": told.query}


def output_database(section: RecordsOutputSection, raw: Mapping[str, Any], folder: Path) -> str | None:
    """The table of a database that a release goes to, if a job names one."""
    with at(place(raw, "output")):
        return _from_database(section, folder)


@contextmanager
def written() -> Iterator[None]:
    """Let errors speak the language of job files, also to somebody who reads one from Python."""
    try:
        yield
    except TarnkappeError as error:
        error.in_job_file = True
        raise


@contextmanager
def at(where: str | None) -> Iterator[None]:
    """Give errors that do not know their place the given one."""
    try:
        yield
    except (JobError, DataError) as error:
        error.where = error.where or where
        raise


#: One line of each section, to start from.
_EXAMPLES = {
    "columns": "age: {role: quasi, type: numeric}",
    "compare": "algorithms: [mondrian, hilb]",
    "data": "path: census.csv",
    "history": "ledger: private/ledger.jsonl\n  subject: COLUMN",
    "limits": "suppressed_rows: 2%",
    "output": "folder: release",
    "population": "path: register.csv",
    "taxonomies": "sex: {kind: suppress}",
}


def section_of(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A section of a job file, empty if it is not there."""
    found = raw.get(key)
    if found is None:
        return PlacedDict(place(raw, key) or "")
    if not isinstance(found, Mapping):
        raise JobError(
            "E110",
            f"'{key}' must be a mapping of keys to values",
            where=place(raw, key),
            hint=f"{key}:\n  {_EXAMPLES[key]}",
        )
    return found


#: One entry of each section that is a list, to start from.
_CRITERION = "k-anonymity: {k: 5}"
_ITEMS = {"attacks": "homogeneity: {margin: 0.01}", "masks": "rounding: {column: income, base: 100}"}


def listed(raw: Mapping[str, Any], key: str) -> list[Any]:
    """The entries of a section that is a list."""
    items = raw.get(key) or []
    if not isinstance(items, list):
        raise JobError(
            "E110", f"'{key}' must be a list", where=place(raw, key), hint=f"{key}:\n  - {_ITEMS.get(key, _CRITERION)}"
        )
    return items


def criteria_listed(raw: Mapping[str, Any]) -> list[tuple[Criterion, str | None]]:
    """The criteria of a job file, and where each stands."""
    out = []
    for item in listed(raw, "criteria"):
        where = place(item) if isinstance(item, Mapping) else place(raw, "criteria")
        if not isinstance(item, Mapping) or len(item) != 1:
            what = "a criterion is one name with its parameters"
            raise JobError("E110", what, where=where, hint="- k-anonymity: {k: 5}")
        ((name, body),) = item.items()
        body = PlacedDict(where or "") if body is None else body
        if not isinstance(body, Mapping):
            raise JobError("E110", f"criterion '{name}' needs a mapping of parameters", where=where, hint="{k: 5}")
        out.append((bind(criterion_class(name, place(item, name)), body, f"criterion '{name}'"), where))
    return out


def resolved(path: str | None, folder: Path, where: str | None) -> str | None:
    """A path of a job file, relative to the folder it lies in."""
    if "\0" in (path or ""):
        raise JobError("E110", "a path cannot hold the character NUL", where=where, hint="Remove the  \\0  from it.")
    return path if path is None or "://" in path else str(folder / path)


def relative(path: str | None, folder: Path | None) -> str | None:
    """The path as it is written in a file that lies in a folder: the inverse of `resolved`."""
    if path is None or folder is None or "://" in path:
        return path
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return path


def columns_of(raw: Mapping[str, Any], folder: Path) -> list[Column]:
    """The columns that a job file, or a table of one, declares; `taxonomies` stand beside them."""
    section = section_of(raw, "columns")
    declared = section_of(raw, "taxonomies")
    taxonomies = {
        name: builder_from(body, name, place(declared, name), folder=folder) for name, body in declared.items()
    }
    out = []
    for name, given in section.items():
        where = place(section, name)
        body = PlacedDict(where or "") if isinstance(given, str) else given
        if isinstance(given, str):
            body["role"] = given
            _require_role(name, given, where)
        if not isinstance(body, Mapping):
            raise JobError("E110", f"column '{name}' needs a role", where=where, hint=f"{name}: {{role: drop}}")
        spec = bind(ColumnSection, body, f"column '{name}'")
        with at(where):
            taxonomy = _taxonomy(spec.taxonomy, name, taxonomies, place(body, "taxonomy"), folder)
            kind = "numeric" if taxonomy is not None and taxonomy.numeric else spec.type
            rest = spec.weight, spec.because, spec.min_level, spec.max_level
            out.append(Column(name, spec.role, kind, taxonomy, *rest))  # type: ignore[arg-type]
    return out


def _require_role(column: str, given: str, where: str | None) -> None:
    """Refuse what is no role, with one that may be meant."""
    if given not in ROLES:
        meant = "quasi" if given == "numeric" else closest(given, ROLES) or "drop"
        how = "numeric" if given == "numeric" else "suppress" if meant == "quasi" else None
        what = f"column '{column}' cannot have the role '{given}'{did_you_mean(given, ROLES)}"
        raise JobError(
            "E110", what, where=where, details=[f"Roles are: {', '.join(ROLES)}."], hint=role(column, meant, how)
        )


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
    meant = file_meant(given)
    declared = f"Declared taxonomies: {', '.join(known) or 'none'}; 'suppress' is always there."
    raise JobError(
        "E105",
        f"column '{column}' refers to taxonomy '{given}', which is not declared{did_you_mean(str(given), known)}",
        where=where,
        hint=declared if meant is None else f"taxonomy: {meant}",
    )


def reading_data(table: DataSettings, folder: Path | None) -> dict[str, Any]:
    """Where a table is and how to read it, as a job file says it."""
    where = _in_database(table.path, folder) if is_database(table.path) else {"path": relative(table.path, folder)}
    reading = {**where, **changed(table.dialect)}
    if "layout" in reading:
        reading["layout"] = relative(reading["layout"], folder)
    if "codes" in reading:
        reading["codes"] = {name: relative(path, folder) for name, path in reading["codes"].items()}
    if table.missing != ("",):
        reading["missing"] = list(table.missing)
    return without_none(reading)


def changed_output(output: OutputSettings, folder: Path | None) -> dict[str, Any]:
    """Where a release goes, as a job file says it."""
    return without_none(
        {
            "folder": relative(output.folder, folder),
            "format": output.format,
            "spreadsheet_safe": output.spreadsheet_safe or None,
            "solutions": output.solutions,
            "recoding": output.recoding or None,
            **_in_database(output.database, folder),
        }
    )


def changed(declared: Declared) -> dict[str, Any]:
    """The parameters that differ from their defaults, as plain data."""
    out = {}
    for p in parameters(type(declared)):
        value = getattr(declared, p.name)
        if value != p.default:
            out[p.name] = list(value) if isinstance(value, tuple) else value
    return out


def column_data(column: Column, folder: Path | None) -> dict[str, Any]:
    """A column as a job file declares it."""
    out: dict[str, Any] = {"role": column.role}
    if column.kind == "numeric" and not (column.taxonomy and column.taxonomy.numeric):
        out["type"] = "numeric"
    if column.taxonomy is not None:
        settings = {"kind": column.taxonomy.name, **changed(column.taxonomy)}
        if isinstance(column.taxonomy, File):
            settings["path"] = relative(column.taxonomy.path, folder)
        out["taxonomy"] = "suppress" if settings == {"kind": "suppress"} else settings
    usual = {"weight": 1, "min_level": 0, "max_level": None, "because": None}
    return out | {key: getattr(column, key) for key, value in usual.items() if getattr(column, key) != value}


def without_none(data: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that have a value."""
    return {key: value for key, value in data.items() if value is not None}


def attack_from(item: Any, raw: Mapping[str, Any], folder: Path) -> Attack:
    """An entry of the section ``attacks`` of a job file: a name, or a name with its parameters.

    What it names as an earlier release is relative to `folder`.
    """
    where = place(item) if isinstance(item, Mapping) else place(raw, "attacks")
    if isinstance(item, str):
        return attack_class(item, where)()
    if not isinstance(item, Mapping) or len(item) != 1:
        raise JobError("E110", "an attack is one name with its parameters", where=where, hint=ATTACK_FIX)
    ((name, body),) = item.items()
    body = PlacedDict(where or "") if body is None else body
    if not isinstance(body, Mapping):
        raise JobError("E110", f"attack '{name}' needs a mapping of parameters", where=where, hint="{margin: 0.01}")
    made = bind(attack_class(name, place(item, name)), body, f"attack '{name}'")
    if isinstance(made, SequelAttack):
        return replace(made, earlier=resolved(made.earlier, folder, place(body, "earlier")))
    return made


def attack_data(attack: Attack, folder: Path | None) -> dict[str, Any]:
    """An attack as it is written in a job file that lies in a folder."""
    settings = changed(attack)
    if isinstance(attack, SequelAttack) and attack.earlier is not None:
        settings["earlier"] = relative(attack.earlier, folder)
    return {attack.name: settings}

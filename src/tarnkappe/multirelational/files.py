"""Job files about several tables that are joined by a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.job import numeric
from tarnkappe.job.files import VERSION
from tarnkappe.job.given import share_of
from tarnkappe.job.model import Coarsening
from tarnkappe.job.places import OutputSettings
from tarnkappe.job.sections import (
    OutputSection,
    at,
    changed_output,
    column_data,
    columns_of,
    criteria_listed,
    relative,
    resolved,
    section_of,
    without_none,
    written,
)
from tarnkappe.job.text import PlacedDict, apply_settings, dump_yaml, read_job_file
from tarnkappe.multirelational.model import MultiJob, Relation, Rows
from tarnkappe.params import Declared, bind, param, place, seed_param
from tarnkappe.schema import Column

#: The key that makes a job file one about several tables.
KEY = "tables"


@dataclass(frozen=True)
class _Top(Declared):
    """The keys of a job file about several tables."""

    tables: Any = param(doc="The tables by name, each with its path and its columns.")
    key: str = param(doc="The column that says whose row it is; all tables have it, and it is replaced.")
    persons: str = param(doc="The table that has one row for every person.")
    criteria: Any = param(doc="k-anonymity, and frequency-l-diversity of columns such as visits.diagnosis.")
    version: int = param(VERSION, doc="Version of this file's layout.", ge=VERSION, le=VERSION)
    title: str | None = param(None, doc="What the release is, printed in the report.")
    purpose: str | None = param(None, doc="What the data are for, printed in the report.")
    taxonomies: Any = param(None, doc="Taxonomies by name, for columns to refer to.")
    data: Any = param(None, doc="How missing values match.")
    limits: Any = param(None, doc="How much may be given up.")
    output: Any = param(None, doc="Where the release goes.")
    seed: int | None = seed_param("shuffling")


@dataclass(frozen=True)
class _Table(Declared):
    """One entry of ``tables``."""

    path: str = param(doc="The file, relative to the job file.")
    columns: Any = param(doc="Every column of the table with its role; the key needs none.")
    rows: str = param(
        "multiset",
        doc="Whether an attacker knows how many rows of each kind a person has, or only which kinds.",
        choices=get_args(Rows),
    )
    rest: str | None = param(None, doc="What happens to columns that are not named.", choices=("drop",))


@dataclass(frozen=True)
class _Data(Declared):
    """The section ``data`` of a job about several tables."""

    missing_rule: str | None = param(None, doc="How a missing cell matches others.", choices=("own-value",))


@dataclass(frozen=True)
class _Limits(Declared):
    """The section ``limits`` of a job about several tables."""

    suppressed_rows: Any = param(0.0, doc="Largest share of persons that may be left out, such as 2%.")


@dataclass(frozen=True)
class TablesJob:
    """A job about several tables, and where they are."""

    job: MultiJob
    paths: Mapping[str, str]
    output: OutputSettings
    seed: int | None = None
    title: str = ""
    purpose: str = ""

    def to_yaml(self, folder: str | Path | None = None) -> str:
        """The job as the text of a job file that will lie in `folder`; paths are relative to that."""
        beside, job = None if folder is None else Path(folder), self.job
        asked: list[Any] = [{KAnonymity.name: {"k": job.k}}]
        for relation in job.relations:
            for column, l in relation.diversity.items():  # noqa: E741
                asked.append({FrequencyLDiversity.name: {"column": f"{relation.name}.{column}", "l": l}})
        output = changed_output(self.output, beside)
        data = {
            "version": VERSION,
            "title": self.title or None,
            "purpose": self.purpose or None,
            "key": job.key,
            "persons": job.person.name,
            KEY: {r.name: _table_data(r, self.paths.get(r.name), beside) for r in job.relations},
            "criteria": asked,
            "data": {"missing_rule": job.missing_rule} if job.missing_rule else None,
            "limits": {"suppressed_rows": job.goal.max_suppressed} if job.goal.max_suppressed else None,
            "output": output or None,
            "seed": self.seed,
        }
        return dump_yaml(without_none(data))


def _table_data(relation: Relation, path: str | None, folder: Path | None) -> dict[str, Any]:
    """One entry of ``tables``; a table that was a frame has no path."""
    columns: dict[str, Any] = {c.name: column_data(c, folder) for c in relation.published_columns()}
    columns |= {} if relation.drop == "rest" else {name: {"role": "drop"} for name in relation.drop}
    rest = "drop" if relation.drop == "rest" else None
    rows = relation.rows if relation.rows != "multiset" else None
    return without_none({"path": relative(path, folder), "rows": rows, "rest": rest, "columns": columns})


def load_tables_job(path: str | Path, settings: Iterable[str] = ()) -> TablesJob:
    """Read a job file about several tables, with ``key=value`` overrides."""
    with written():
        raw = read_job_file(path)
        apply_settings(raw, settings)
        return _job(raw, Path(path).parent)


def _job(raw: Mapping[str, Any], folder: Path) -> TablesJob:
    top = bind(_Top, raw, "a job file about several tables")
    data = bind(_Data, section_of(raw, "data"), "'data'")
    limits = bind(_Limits, section_of(raw, "limits"), "'limits'")
    output = bind(OutputSection, section_of(raw, "output"), "'output'")
    tables = raw[KEY]
    if not isinstance(tables, Mapping) or not tables:
        raise JobError(
            "E110",
            "'tables' must be a mapping of names to tables",
            where=place(raw, KEY),
            hint="tables:\n  people: {path: people.csv, columns: {age: {role: quasi, type: numeric}}}",
        )
    if top.persons not in tables:
        raise JobError(
            "E105",
            f"there is no table '{top.persons}'{did_you_mean(top.persons, tables)}",
            where=place(raw, "persons"),
            hint=f"persons: {next(iter(tables))}",
        )
    k, diversity = _promised(raw, tables)
    relations, paths = {}, {}
    for name, body in tables.items():
        with at(place(tables, name)):
            relations[name], paths[name] = _relation(str(name), body, raw, folder, diversity)
    share = share_of(limits.suppressed_rows, place(section_of(raw, "limits"), "suppressed_rows"))
    person = relations.pop(top.persons)
    with at(place(raw, KEY)):
        job = MultiJob(top.key, person, relations.values(), k, share, data.missing_rule)  # type: ignore[arg-type]
    target = resolved(output.folder, folder, place(section_of(raw, "output"), "folder"))
    settings = OutputSettings(target, output.format, output.spreadsheet_safe)
    return TablesJob(job, paths, settings, top.seed, top.title or "", top.purpose or "")


def _relation(
    name: str, body: Any, raw: Mapping[str, Any], folder: Path, diversity: Mapping[tuple[str, str], float]
) -> tuple[Relation, str]:
    """One table, and where it is."""
    if not isinstance(body, Mapping):
        raise JobError("E110", f"table '{name}' needs a path and columns", hint=f"{name}: {{path: {name}.csv, …}}")
    spec = bind(_Table, body, f"table '{name}'")
    declared = PlacedDict(place(body) or "")
    declared.update({"columns": body["columns"], "taxonomies": raw.get("taxonomies")})
    declared.places = getattr(body, "places", {})
    columns = columns_of(declared, folder)
    for column in columns:
        if column.role not in ("quasi", "sensitive", "drop", "identifier"):
            raise JobError(
                "E111",
                f"column '{column.name}' of '{name}' cannot be {column.role}: several tables have quasi-identifiers, "
                "sensitive columns and columns that are left out",
                hint=f"{column.name}: {{role: drop}}",
            )
    strange = [column for table, column in diversity if table == name and _role(columns, column) != "sensitive"]
    if strange:
        raise JobError(
            "E105",
            f"a criterion looks at '{name}.{strange[0]}', which is no sensitive column",
            hint=f"{strange[0]}: {{role: sensitive}}",
        )
    relation = Relation(
        name,
        quasi={c.name: _coarsening(c, name) for c in columns if c.role == "quasi"},
        sensitive={c.name: diversity.get((name, c.name)) for c in columns if c.role == "sensitive"},
        drop="rest" if spec.rest == "drop" else [c.name for c in columns if c.role in ("drop", "identifier")],
        rows=spec.rows,  # type: ignore[arg-type]
        because={c.name: c.because for c in columns if c.because and c.role in ("quasi", "sensitive")},
    )
    path = resolved(spec.path, folder, place(body, "path"))
    assert path is not None
    return relation, path


def _coarsening(column: Column, table: str) -> Coarsening:
    """How a quasi-identifier may be coarsened."""
    if column.min_level or column.max_level is not None or column.weight != 1:
        raise JobError(
            "E111",
            f"'{table}.{column.name}': several tables know no weights and no lowest or highest levels",
            hint=f"{column.name}: {{role: quasi, …}}   without weight, min_level and max_level",
        )
    return numeric() if column.taxonomy is None else column.taxonomy


def _role(columns: Iterable[Column], name: str) -> str | None:
    return next((c.role for c in columns if c.name == name), None)


def _promised(raw: Mapping[str, Any], tables: Mapping[str, Any]) -> tuple[int, dict[tuple[str, str], float]]:
    """The k, and the l of columns by table and name."""
    found: dict[str, Any] = {}
    diversity: dict[tuple[str, str], float] = {}
    for criterion, where in criteria_listed(raw):
        if isinstance(criterion, KAnonymity):
            found["k"] = max(criterion.k, found.get("k", 1))
        elif isinstance(criterion, FrequencyLDiversity) and not criterion.know_others:
            table, _, column = criterion.column.partition(".")
            if table not in tables or not column:
                raise JobError(
                    "E105",
                    f"'{criterion.column}' is no column of a table",
                    where=where,
                    hint=f"- frequency-l-diversity: {{column: {next(iter(tables))}.COLUMN, l: 3}}",
                )
            diversity[table, column] = max(criterion.l, diversity.get((table, column), 1))
        else:
            raise JobError(
                "E111",
                f"{criterion.name} is not known for several tables, only k-anonymity and frequency-l-diversity are",
                where=where,
                hint="- k-anonymity: {k: 5}",
            )
    if "k" not in found:
        raise JobError("E106", "the job has no k-anonymity", where=place(raw, "criteria"), hint="- k-anonymity: {k: 5}")
    return found["k"], diversity

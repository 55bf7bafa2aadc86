"""Job files to jobs and back."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.effort import EFFORTS, with_effort
from tarnkappe.attacks import all_attacks
from tarnkappe.choice import Auto
from tarnkappe.criteria import all_criteria
from tarnkappe.engines.settings import ENGINES, EngineSettings
from tarnkappe.errors import JobError
from tarnkappe.job.given import algorithm_of, seconds_of, share_of
from tarnkappe.job.history import HistorySettings
from tarnkappe.job.masks import mask_data, mask_from, masks_json_schema, refuse_linkage
from tarnkappe.job.model import Job, require_column, require_target
from tarnkappe.job.places import DataSettings, OutputSettings, Population
from tarnkappe.job.sections import (
    ColumnSection,
    DataSection,
    LimitsSection,
    PopulationSection,
    RecordsOutputSection,
    at,
    attack_data,
    attack_from,
    changed,
    changed_output,
    column_data,
    columns_of,
    criteria_listed,
    listed,
    output_database,
    reading,
    reading_data,
    relative,
    resolved,
    section_of,
    without_none,
    written,
)
from tarnkappe.job.text import apply_settings, dump_yaml, read_job_file, read_job_text
from tarnkappe.masks import all_masks
from tarnkappe.params import Declared, bind, json_schema, param, place, seed_param
from tarnkappe.registry import registered
from tarnkappe.schema import ROLES, Schema
from tarnkappe.taxonomy import TaxonomyBuilder

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
    attacks: Any = param(
        None, doc="What the written release must withstand, a list such as  - homogeneity: {margin: 0.01}."
    )
    masks: Any = param(
        None,
        doc="How values are changed before they are counted, a list such as  - rounding: {column: income, base: 100}.",
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
    history: Any = param(None, doc="The ledger of releases about the same people, and what tells people apart.")
    seed: int | None = seed_param("shuffling")
    compare: Any = param(None, doc="Algorithms, settings and seeds that  tarnkappe compare  tries.")


#: Sections of a job file, and what their keys are.
_SECTIONS: dict[str, type[Declared]] = {
    "data": DataSection,
    "population": PopulationSection,
    "limits": LimitsSection,
    "output": RecordsOutputSection,
    "history": HistorySettings,
}

_RUN_ONLY = "only run takes it; --dry-run writes nothing"
_CHECK_AND_RUN = "only check and run take it"

#: Keys of job files about something else than the records of one table: what that is, and which commands take them.
_NOT_RECORDS = {
    "append_to": ("a batch of new people", _RUN_ONLY),
    "editions": ("several editions", _RUN_ONLY),
    "histogram": ("noisy counts, not records", _CHECK_AND_RUN),
    "items": ("sets of items, not records", _CHECK_AND_RUN),
    "series": ("a series of releases", _RUN_ONLY),
    "synthetic": ("made-up people", _CHECK_AND_RUN),
    "tables": ("several tables, not one", _RUN_ONLY),
}


def load_job(path: str | Path, settings: Iterable[str] = ()) -> Job:
    """Read a job file, with ``key=value`` overrides."""
    with written():
        data = read_job_file(path)
        apply_settings(data, settings)
        return job_from_data(data, Path(path).parent)


def job_from_text(text: str, name: str = "job", folder: str | Path = ".") -> Job:
    """A job from the text of a job file."""
    with written():
        return job_from_data(read_job_text(text, name), Path(folder))


def job_from_data(raw: Mapping[str, Any], folder: Path) -> Job:
    """A job from the plain data of a job file; paths are relative to `folder`."""
    for key, (what, told) in _NOT_RECORDS.items():
        if key in raw:
            where = place(raw, key)
            file = (where or "").rpartition(":")[0]
            hint = (
                f"tarnkappe run {shlex.quote(file)}   ({told})"
                if file
                else f"Write  {key}:  into a job file of its own."
            )
            raise JobError("E102", f"this job file is about {what}", where=where, hint=hint)
    top = bind(_Top, raw, "the job file", sections=_SECTIONS)
    data = bind(DataSection, section_of(raw, "data"), "'data'")
    output = bind(RecordsOutputSection, section_of(raw, "output"), "'output'")
    limits = bind(LimitsSection, section_of(raw, "limits"), "'limits'")
    population = bind(PopulationSection, section_of(raw, "population"), "'population'")
    columns = columns_of(raw, folder)
    with at(place(raw, "columns")):
        schema = Schema(columns)
    refuse_linkage(listed(raw, "criteria"))
    criteria = []
    for criterion, where in criteria_listed(raw):
        with at(where):
            require_column(criterion, schema)
        criteria.append(criterion)
    share = share_of(limits.suppressed_rows, place(section_of(raw, "limits"), "suppressed_rows"))
    algorithm = algorithm_of(top.algorithm, place(raw, "algorithm"))
    with at(place(raw, "algorithm")):
        require_target(algorithm, schema)
    with at(place(raw, "effort")):
        algorithm = with_effort(algorithm, top.effort)
    with at(place(raw, "engine")):
        engine = EngineSettings(top.engine, top.master, None if top.memory is None else str(top.memory))
    database = output_database(output, raw, folder)
    target = resolved(output.folder, folder, place(section_of(raw, "output"), "folder"))
    with at(place(raw, "criteria")):
        return Job(
            columns=columns,
            keep="rest" if top.rest == "keep" else (),
            drop="rest" if top.rest == "drop" else (),
            criteria=criteria,
            max_suppressed=share,
            time_limit=seconds_of(limits.time, place(section_of(raw, "limits"), "time")),
            algorithm=algorithm,
            missing_rule=data.missing_rule,  # type: ignore[arg-type]
            seed=top.seed,
            title=top.title or "",
            purpose=top.purpose or "",
            data=DataSettings(*reading(data, raw, "data", folder)),
            output=OutputSettings(
                target, output.format, output.spreadsheet_safe, output.solutions, output.recoding, database
            ),
            population=Population(*reading(population, raw, "population", folder)) if "population" in raw else None,
            engine=engine,
            attacks=[attack_from(item, raw, folder) for item in listed(raw, "attacks")],
            masks=[mask_from(item, raw, folder) for item in listed(raw, "masks")],
            history=history_from(raw, folder),
        )


def history_from(raw: Mapping[str, Any], folder: Path) -> HistorySettings | None:
    """The section ``history`` of a job file, if there is one."""
    if raw.get("history") is None:
        return None
    section = section_of(raw, "history")
    found = bind(HistorySettings, section, "'history'")
    earlier = [resolved(path, folder, place(section, "earlier")) for path in found.earlier]
    return found.at(resolved(found.ledger, folder, place(section, "ledger")), earlier)


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
    data["data"] = without_none({**reading_data(job.data, beside), "missing_rule": job.missing_rule})
    if job.population is not None:
        data["population"] = reading_data(job.population, beside)
    data["columns"] = {c.name: column_data(c, beside) for c in job.columns}
    if job.rest is not None:
        data["rest"] = job.rest
    data["criteria"] = [{c.name: changed(c)} for c in job.goal.criteria]
    data["attacks"] = [attack_data(a, beside) for a in job.attacks]
    data["masks"] = [mask_data(mask, beside) for mask in job.masks]
    limits = {"suppressed_rows": job.goal.max_suppressed or None, "time": job.time_limit and f"{job.time_limit:g}s"}
    data["limits"] = without_none(limits)
    data["algorithm"] = {"name": job.algorithm.name, **changed(job.algorithm)}
    data["output"] = changed_output(job.output, beside)
    if job.engine != EngineSettings():
        data |= without_none({"engine": job.engine.name, "master": job.engine.master, "memory": job.engine.memory})
    if job.history is not None:
        places = job.history.at(
            relative(job.history.ledger, beside), [relative(path, beside) for path in job.history.earlier]
        )
        data["history"] = changed(places)
    if job.seed is not None:
        data["seed"] = job.seed
    return dump_yaml({key: value for key, value in data.items() if value not in ({}, [])})


def job_json_schema() -> dict[str, Any]:
    """The JSON schema of job files, for editors."""
    schema = json_schema(_Top)
    sections = schema["properties"]
    builders = [with_kind(cls, name) for name, cls in registered("tarnkappe.taxonomy", TaxonomyBuilder).items()]  # type: ignore[type-abstract]
    taxonomy = {"anyOf": [{"type": "string"}, *builders]}
    column = json_schema(ColumnSection)
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
    of_attacks = {name: json_schema(cls) for name, cls in all_attacks().items()}
    one_of_them = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": False}
    named = {"anyOf": [{"enum": list(of_attacks)}, {**one_of_them, "properties": of_attacks}]}
    sections["attacks"] = {"type": "array", "items": named}
    sections["masks"] = masks_json_schema(all_masks())
    known: dict[str, type] = {Auto.name: Auto, **all_algorithms()}
    algorithms = [with_kind(cls, name, "name") for name, cls in known.items()]
    sections["algorithm"] = {"anyOf": [{"enum": list(known)}, *algorithms]}
    sections |= {key: json_schema(cls) for key, cls in _SECTIONS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tarnkappe job",
        **schema,
    }


def with_kind(cls: type, name: str, key: str = "kind") -> dict[str, Any]:
    """The schema of a declared class that is chosen by its name."""
    schema = json_schema(cls)
    schema["properties"] = {key: {"const": name}, **schema["properties"]}
    schema["required"] = [key, *schema["required"]]
    return schema

"""Jobs about sets of items: one column with a set per person, or rows with a person and an item each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, Notice
from tarnkappe.fixes import setting
from tarnkappe.job.files import VERSION, with_kind
from tarnkappe.job.loading import data_and_output, job_in, job_text, mapping_in
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.job.sections import (
    OutputSection,
    PopulationSection,
    at,
    changed,
    relative,
    resolved,
)
from tarnkappe.job.text import PlacedDict
from tarnkappe.params import Declared, bind, json_schema, param, place, seed_param
from tarnkappe.registry import registered
from tarnkappe.taxonomy import TaxonomyBuilder, builder_from, from_file
from tarnkappe.taxonomy.builders import File

#: The key that makes a job file one about sets of items.
KEY = "items"

#: How sets of items are protected.
ALGORITHMS = ("apriori", "disassociation")


@dataclass(frozen=True)
class Items(Declared):
    """The section ``items``: where the sets are, and what is promised about them."""

    column: str = param(doc="The column with the items: a set per row, or one item per row if there is a key.")
    k: int = param(doc="Least number of persons who have the same items.", ge=2, example=5)
    m: int = param(2, doc="How many items of a person somebody may know.", ge=1, le=20)
    separator: str = param(";", doc="What stands between the items of a set.")
    key: str | None = param(None, doc="The column that says whose item a row is, if there is a row for each item.")
    taxonomy: Any = param(None, doc="How items are coarsened: a file, or a declaration; without it they are removed.")
    remove: bool = param(False, doc="Whether items may be removed where that loses less than coarsening.")
    algorithm: str = param("apriori", doc="How the sets are protected.", choices=ALGORITHMS)
    cluster: int | None = param(None, doc="Most persons of a cluster of disassociation; 6 k if not given.", ge=2)
    because: str | None = param(None, doc="Why items may be published that look as if they pointed at people.")

    def __post_init__(self) -> None:
        """Check the parameters, and that they go together."""
        super().__post_init__()
        if not self.separator:
            raise JobError("E110", "'separator' must not be empty", hint='separator: ";"')
        if self.key == self.column:
            raise JobError(
                "E110",
                f"'{self.key}' cannot hold both the persons and the items",
                hint=setting("key: person", "key", "person"),
            )
        if self.algorithm == "disassociation" and self.taxonomy is not None:
            raise JobError(
                "E111",
                "disassociation publishes items as they are, so it has no use for a taxonomy",
                hint=setting("algorithm: apriori", "algorithm", "apriori"),
            )
        if self.cluster is not None and (self.algorithm != "disassociation" or self.cluster < self.k):
            what = "is a setting of disassociation" if self.algorithm != "disassociation" else "must be at least k"
            raise JobError("E110", f"'cluster' {what}", hint="Leave it out.")

    @property
    def builder(self) -> TaxonomyBuilder | None:
        """How items are coarsened."""
        return self.taxonomy if isinstance(self.taxonomy, TaxonomyBuilder) else None

    @property
    def asked(self) -> str:
        """The promise in short."""
        return (
            f"persons who share any {self.m} items ≥ {self.k}"
            if self.m > 1
            else f"persons who share an item ≥ {self.k}"
        )


@dataclass(frozen=True)
class _Top(Declared):
    """The keys of a job file about sets of items."""

    items: Any = param(doc="Where the sets of items are, and what is promised about them.")
    version: int = param(VERSION, doc="Version of this file's layout.", ge=VERSION, le=VERSION)
    title: str | None = param(None, doc="What the release is.")
    purpose: str | None = param(None, doc="What the data are for.")
    data: Any = param(None, doc="Where the data are and how to read them.")
    output: Any = param(None, doc="Where the release goes.")
    seed: int | None = seed_param("shuffling")


@dataclass(frozen=True)
class ItemsJob:
    """Everything about a release of sets of items."""

    items: Items
    data: DataSettings = field(default_factory=DataSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    seed: int | None = None
    title: str = ""
    purpose: str = ""

    def notices(self) -> tuple[Notice, ...]:
        """Warnings about the job itself."""
        if self.items.k >= 3:
            return ()
        hint = "Authorities usually ask for 5 or more, 10 for public files."
        return (Notice("W601", f"as few as {self.items.k} persons may share what is known", hint=hint),)

    def to_yaml(self, folder: str | Path | None = None) -> str:
        """The job as the text of a job file that will lie in `folder`; paths are relative to that."""
        beside = None if folder is None else Path(folder)
        section = changed(self.items)
        if self.items.builder is not None:
            section["taxonomy"] = {"kind": self.items.builder.name, **changed(self.items.builder)}
            if isinstance(self.items.builder, File):
                section["taxonomy"]["path"] = relative(self.items.builder.path, beside)
        sections: dict[str, Any] = {
            KEY: section,
        }
        return job_text(self, beside, sections)


def load_items_job(path: str | Path, settings: Iterable[str] = ()) -> ItemsJob:
    """Read a job file about sets of items, with ``key=value`` overrides."""
    return job_in(path, settings, items_job_from_data)


def items_job_from_data(raw: Mapping[str, Any], folder: Path) -> ItemsJob:
    """A job from the plain data of a job file; paths are relative to `folder`."""
    top = bind(_Top, raw, "a job file about sets of items")
    data, output = data_and_output(raw, folder)
    section = mapping_in(raw, KEY, '{column: basket, separator: ";", k: 5, m: 2}')
    with at(place(raw, KEY)):
        items = bind(Items, _with_taxonomy(section, folder), f"'{KEY}'")
    return ItemsJob(
        items,
        data,
        output,
        top.seed,
        top.title or "",
        top.purpose or "",
    )


def _with_taxonomy(section: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """The section with its taxonomy as a builder; a text is the path of a file."""
    given = section.get("taxonomy")
    if given is None:
        return section
    where = place(section, "taxonomy")
    out = PlacedDict(place(section) or "")
    out.update(section)
    out.places = getattr(section, "places", {})
    if isinstance(given, str):
        out["taxonomy"] = from_file(resolved(given, folder, where) or given)
    else:
        out["taxonomy"] = builder_from(given, str(section.get("column", KEY)), where, folder=folder)
    return out


def items_json_schema() -> dict[str, Any]:
    """The JSON schema of job files about sets of items, for editors."""
    schema = json_schema(_Top)
    items = json_schema(Items)
    builders = [with_kind(cls, name) for name, cls in registered("tarnkappe.taxonomy", TaxonomyBuilder).items()]  # type: ignore[type-abstract]
    items["properties"]["taxonomy"] |= {"anyOf": [{"type": "string"}, *builders]}
    schema["properties"] |= {KEY: items, "data": json_schema(PopulationSection), "output": json_schema(OutputSection)}
    return {"title": "Tarnkappe job about sets of items", **schema}

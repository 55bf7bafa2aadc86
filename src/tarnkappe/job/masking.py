"""Jobs that only mask: values are changed, and nothing is grouped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, Notice
from tarnkappe.fixes import Fix
from tarnkappe.job.files import REST, VERSION
from tarnkappe.job.loading import data_and_output, job_in, job_text
from tarnkappe.job.masks import (
    MASK_FIX,
    as_masked,
    mask_data,
    mask_from,
    masks_json_schema,
    notices_about_masks,
    require_maskable,
)
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.job.sections import (
    ColumnSection,
    OutputSection,
    PopulationSection,
    changed,
    column_data,
    columns_of,
    listed,
    section_of,
)
from tarnkappe.job.text import PlacedDict
from tarnkappe.masks import Mask, all_masks
from tarnkappe.masks.linkage import MaxLinkage
from tarnkappe.params import Declared, bind, json_schema, param, place, seed_param
from tarnkappe.schema import ROLES, Column, Role, Schema

#: The key of a manifest that is about masks and nothing else.
KEY = "masking"

#: Roles of columns that are published.
_PUBLISHED = ("quasi", "sensitive", "keep")


@dataclass(frozen=True)
class _Top(Declared):
    """The keys of a job file that only masks."""

    columns: Any = param(doc="Every column of the data with its role, such as  income: {role: sensitive}.")
    masks: Any = param(doc="How values are changed, a list such as  - rounding: {column: income, base: 100}.")
    criteria: Any = param(None, doc="What the written table must keep:  - max-linkage: {share: 0.05}  or nothing.")
    version: int = param(VERSION, doc="Version of this file's layout.", ge=VERSION, le=VERSION)
    title: str | None = param(None, doc="What the release is.")
    purpose: str | None = param(None, doc="What the data are for.")
    data: Any = param(None, doc="Where the data are and how to read them.")
    taxonomies: Any = param(None, doc="Taxonomies by name; masks do not look at them.")
    rest: str | None = param(None, doc="Role of all columns that are not named.", choices=REST)
    output: Any = param(None, doc="Where the release goes.")
    engine: str = param(
        "auto", doc="Masks go over the records in batches, whatever it is.", choices=("auto", "memory", "streaming")
    )
    seed: int | None = seed_param("masks")


@dataclass(frozen=True)
class MaskingJob:
    """Everything about a release whose values are changed and not grouped.

    >>> from tarnkappe import Column, Rounding
    >>> MaskingJob((Column("income", "sensitive"),), (Rounding("income", base=100),)).notices()[0].code
    'W642'
    """

    columns: tuple[Column, ...]
    masks: tuple[Mask, ...]
    linkage: MaxLinkage | None = None
    rest: Role | None = None
    data: DataSettings = field(default_factory=DataSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    seed: int | None = None
    title: str = ""
    purpose: str = ""

    def __post_init__(self) -> None:
        """Refuse masks of columns that must not be changed."""
        if not self.masks:
            raise JobError("E103", "a job that only masks needs a mask", hint=MASK_FIX)
        require_maskable(self.masks, self.columns, complete=self.rest is None, grouping=False)

    def published(self, columns: Iterable[str], where: str | None = None) -> tuple[Column, ...]:
        """The columns of the release, in the order of the data; every column of the data must have a role."""
        present, known = list(columns), {c.name: c for c in self.columns}
        if self.rest is not None:
            known |= {name: Column(name, self.rest) for name in present if name not in known}
        _require_match(known, present, where)
        require_maskable(self.masks, known.values(), complete=True, grouping=False)
        made = (as_masked(known[name], self.masks) for name in present)
        return tuple(c for c in made if c.role in _PUBLISHED)

    def notices(self) -> tuple[Notice, ...]:
        """Warnings about the job itself."""
        out = notices_about_masks(self.masks, grouping=False)
        masked = {name for mask in self.masks for name in mask.changes}
        for column in self.columns:
            if column.role == "quasi" and column.name not in masked:
                words = f"'{column.name}' is a quasi-identifier and is published as it is: nobody is hidden by groups"
                out.append(Notice("W641", words, hint="Add under 'criteria':  - k-anonymity: {k: 5}"))
        return tuple(out)

    def to_yaml(self, folder: str | Path | None = None) -> str:
        """The job as the text of a job file that will lie in `folder`; paths are relative to that."""
        beside = None if folder is None else Path(folder)
        sections: dict[str, Any] = {
            "columns": {c.name: column_data(c, beside) for c in self.columns},
            "rest": self.rest,
            "masks": [mask_data(mask, beside) for mask in self.masks],
            "criteria": None if self.linkage is None else [{self.linkage.name: changed(self.linkage)}],
        }
        return job_text(self, beside, {key: value for key, value in sections.items() if value not in ({}, [])})


def _require_match(known: Mapping[str, Column], present: list[str], where: str | None) -> None:
    """Refuse data whose columns are not those of the job; no group is formed, so none need be a quasi-identifier."""
    stand_in = Column(" ", "quasi", "numeric")  # a schema needs one, and no table has a column of that name
    Schema([*known.values(), stand_in]).require_match([*present, stand_in.name], where)


def is_masking(raw: Mapping[str, Any]) -> bool:
    """Whether a job file only masks: it has masks, and no criterion about groups."""
    criteria = raw.get("criteria") or []
    named = (
        [next(iter(c), None) if isinstance(c, Mapping) else c for c in criteria] if isinstance(criteria, list) else [""]
    )
    return "masks" in raw and all(name == MaxLinkage.name for name in named)


def load_masking_job(path: str | Path, settings: Iterable[str] = ()) -> MaskingJob:
    """Read a job file that only masks, with ``key=value`` overrides."""
    return job_in(path, settings, masking_job_from_data)


def masking_job_from_data(raw: Mapping[str, Any], folder: Path) -> MaskingJob:
    """A job from the plain data of a job file; paths are relative to `folder`."""
    top = bind(_Top, raw, "a job file that only masks")
    data, output = data_and_output(raw, folder)
    return MaskingJob(
        columns=tuple(columns_of(_with_taxonomies(raw), folder)),
        masks=tuple(mask_from(item, raw, folder) for item in listed(raw, "masks")),
        linkage=_linkage(raw),
        rest=top.rest,  # type: ignore[arg-type]
        data=data,
        output=output,
        seed=top.seed,
        title=top.title or "",
        purpose=top.purpose or "",
    )


def _linkage(raw: Mapping[str, Any]) -> MaxLinkage | None:
    items = listed(raw, "criteria")
    if not items:
        return None
    where = place(items[0])
    if len(items) > 1:
        raise JobError("E110", "one criterion is enough for masks", where=where, hint="- max-linkage: {share: 0.05}")
    body = items[0][MaxLinkage.name]
    body = PlacedDict(where or "") if body is None else body
    if not isinstance(body, Mapping):
        hint = Fix("- max-linkage: {share: 0.05}", "linkage=MaxLinkage(share=0.05)")
        raise JobError("E110", "max-linkage needs a mapping of parameters", where=where, hint=hint)
    return bind(MaxLinkage, body, "criterion 'max-linkage'")


def _with_taxonomies(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The job file with a taxonomy for every quasi-identifier that has none: nothing is coarsened."""
    columns = section_of(raw, "columns")
    out, made = PlacedDict(place(raw) or ""), PlacedDict(place(columns) or "")
    made.places = getattr(columns, "places", {})
    for name, given in columns.items():
        body = {"role": given} if isinstance(given, str) else given
        if isinstance(body, Mapping) and body.get("role") == "quasi" and body.get("type") != "numeric":
            body = {"taxonomy": "suppress", **body}
        made[name] = body
    out.update(raw)
    out.places = getattr(raw, "places", {})
    out["columns"] = made
    return out


def masking_json_schema() -> dict[str, Any]:
    """The JSON schema of job files that only mask, for editors."""
    schema = json_schema(_Top)
    column = {"anyOf": [{"enum": list(ROLES)}, json_schema(ColumnSection)]}
    linkage = {
        "type": "object",
        "additionalProperties": False,
        "properties": {MaxLinkage.name: json_schema(MaxLinkage)},
    }
    schema["properties"] |= {
        "columns": {"type": "object", "additionalProperties": column},
        "masks": masks_json_schema(all_masks()),
        "criteria": {"type": "array", "items": linkage},
        "data": json_schema(PopulationSection),
        "output": json_schema(OutputSection),
    }
    return {"title": "Tarnkappe job that only masks", **schema}

"""Reading job files that are not about records: what all of them have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tarnkappe.errors import JobError
from tarnkappe.job.files import VERSION
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.job.sections import (
    OutputSection,
    PopulationSection,
    changed_output,
    reading,
    reading_data,
    resolved,
    section_of,
    without_none,
    written,
)
from tarnkappe.job.text import apply_settings, dump_yaml, read_job_file
from tarnkappe.params import bind, place

T = TypeVar("T")


def job_in(path: str | Path, settings: Iterable[str], make: Callable[[Mapping[str, Any], Path], T]) -> T:
    """Read a job file, with ``key=value`` overrides; `make` gets its plain data and the folder of paths."""
    with written():
        raw = read_job_file(path)
        apply_settings(raw, settings)
        return make(raw, Path(path).parent)


def data_and_output(raw: Mapping[str, Any], folder: Path) -> tuple[DataSettings, OutputSettings]:
    """Where the data of a job are and where its release goes, for jobs that are not about records."""
    data = bind(PopulationSection, section_of(raw, "data"), "'data'")
    output = bind(OutputSection, section_of(raw, "output"), "'output'")
    target = resolved(output.folder, folder, place(section_of(raw, "output"), "folder"))
    return (
        DataSettings(*reading(data, raw, "data", folder)),
        OutputSettings(target, output.format, output.spreadsheet_safe),
    )


def mapping_in(raw: Mapping[str, Any], key: str, example: str) -> Mapping[str, Any]:
    """A section that must be there and hold keys; `example` is one that may be pasted."""
    section = raw[key]
    if not isinstance(section, Mapping):
        raise JobError(
            "E110", f"'{key}' must be a mapping of keys to values", where=place(raw, key), hint=f"{key}: {example}"
        )
    return section


class _Job(Protocol):
    """What all such jobs have."""

    @property
    def data(self) -> DataSettings: ...

    @property
    def output(self) -> OutputSettings: ...

    @property
    def seed(self) -> int | None: ...

    @property
    def title(self) -> str: ...

    @property
    def purpose(self) -> str: ...


def job_text(job: _Job, beside: Path | None, sections: Mapping[str, Any]) -> str:
    """A job as the text of a job file in a folder: its own sections between what all such files have."""
    data = {
        "version": VERSION,
        "title": job.title or None,
        "purpose": job.purpose or None,
        "data": reading_data(job.data, beside),
        **sections,
        "output": changed_output(job.output, beside),
        "seed": job.seed,
    }
    return dump_yaml(without_none(data))

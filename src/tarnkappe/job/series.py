"""Jobs about a series: one release after another of people who come and go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import JobError, Notice
from tarnkappe.fixes import role, setting
from tarnkappe.job.files import job_from_data
from tarnkappe.job.model import Job, replace_job
from tarnkappe.job.sections import at, changed, columns_of, relative, resolved, section_of, written
from tarnkappe.job.text import apply_settings, dump_yaml, read_job_file, read_job_text
from tarnkappe.params import Declared, bind, param, place

#: The key that makes a job file one about a series.
KEY = "series"


@dataclass(frozen=True)
class Series(Declared):
    """The section ``series``: what is promised to people over all releases, and where it is noted who they are.

    >>> Series(3, "patient", "private/ledger.jsonl").asked
    'm-invariance ≥ 3'
    """

    m: int = param(doc="Least number of different secrets that everybody is among, in all releases.", ge=2, example=3)
    subject: str = param(doc="The column that says who a record is about; it is not published.")
    ledger: str = param(doc="The ledger of the series, a file in a private place, relative to the job file.")
    max_counterfeits: float = param(0.1, doc="Largest share of published rows that may be counterfeits.", ge=0, le=1)

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"m-invariance ≥ {self.m}"


@dataclass(frozen=True)
class SeriesJob:
    """Everything about one release of a series: `job` has columns, data and output; its criterion follows from m."""

    series: Series
    job: Job

    def __post_init__(self) -> None:
        """Refuse what a series cannot publish."""
        secret = self.job.goal.columns
        named = [c for c in self.job.columns if c.role == "sensitive"]
        if len(named) != 1 or secret != (named[0].name,):
            what = "no sensitive column" if not named else f"{len(named)} sensitive columns"
            raise JobError(
                "E111", f"a series is about one secret, and the job has {what}", hint=role("NAME", "sensitive")
            )
        kept = [c.name for c in self.job.columns if c.role == "keep"]
        if kept or self.job.rest == "keep":
            name = kept[0] if kept else "the rest"
            raise JobError(
                "E111",
                f"counterfeits have no value in '{name}', so it would tell who they are",
                hint=role(name, "drop") if kept else "rest: drop",
            )

    def notices(self) -> tuple[Notice, ...]:
        """Warnings about the job itself."""
        if self.series.m >= 3:
            return ()
        return (Notice("W601", f"everybody is among as few as {self.series.m} secrets"),)

    def to_yaml(self, folder: str | Path | None = None) -> str:
        """The job as the text of a job file that will lie in `folder`."""
        beside = None if folder is None else Path(folder)
        raw = dict(read_job_text(self.job.to_yaml(folder), "job"))
        del raw["criteria"]
        raw.pop("algorithm", None)
        section = changed(self.series) | {"ledger": relative(self.series.ledger, beside)}
        return dump_yaml({**raw, KEY: section})


def load_series_job(path: str | Path, settings: Iterable[str] = ()) -> SeriesJob:
    """Read a job file about a series, with ``key=value`` overrides."""
    with written():
        raw = read_job_file(path)
        apply_settings(raw, settings)
        return series_job_from_data(raw, Path(path).parent)


def series_job_from_data(raw: Mapping[str, Any], folder: Path) -> SeriesJob:
    """A job from the plain data of a job file; paths are relative to `folder`."""
    section = section_of(raw, KEY)
    series = bind(Series, section, f"'{KEY}'")
    series = replace(series, ledger=resolved(series.ledger, folder, place(section, "ledger")) or series.ledger)
    for key in ("criteria", "algorithm", "history", "population", "attacks", "engine"):
        if raw.get(key) is not None:
            raise JobError(
                "E111",
                f"a series has no '{key}': its promise is m, and its ledger that of the section '{KEY}'",
                where=place(raw, key),
                hint=f"Remove  {key}.",
            )
    with at(place(raw, "columns")):
        secrets = [c.name for c in columns_of(raw, folder) if c.role == "sensitive"]
        if len(secrets) != 1:
            what = f"{len(secrets)} sensitive columns" if secrets else "no sensitive column"
            raise JobError(
                "E111", f"a series is about one secret, and the job has {what}", hint=role("NAME", "sensitive")
            )
    rest = {key: value for key, value in raw.items() if key not in (KEY, "criteria")}
    with at(place(raw, KEY)):
        job = job_from_data({**rest, "criteria": [{"l-diversity": {"column": secrets[0], "l": series.m}}]}, folder)
        return SeriesJob(series, job)


def series_of(series: Series, job: Job) -> SeriesJob:
    """A job of Python as one of a series: whatever it promises, the promise of the series takes its place."""
    secrets = [c.name for c in job.columns if c.role == "sensitive"]
    goal = replace_job(job, goal=job.goal.about([LDiversity(column=secrets[0], l=series.m)])) if secrets else job
    return SeriesJob(series, goal)


#: What a job without the section lacks.
SERIES_FIX = setting(
    "series: {m: 3, subject: COLUMN, ledger: private/ledger.jsonl}", "series", "Series(3, 'COLUMN', …)"
)

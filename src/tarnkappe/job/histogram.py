"""Jobs about noisy counts: tables whose cells the job fixes, published with noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, Notice, did_you_mean
from tarnkappe.job.bins import Bins, bins_from
from tarnkappe.job.files import VERSION
from tarnkappe.job.loading import data_and_output, job_in, job_text, mapping_in
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.job.sections import (
    OutputSection,
    PopulationSection,
    at,
    changed,
)
from tarnkappe.mechanisms import granted_epsilon
from tarnkappe.params import Declared, bind, json_schema, param, place, seed_param

#: The key that makes a job file one about noisy counts.
KEY = "histogram"

#: Cells of one table.
_MOST_CELLS = 5_000_000

#: Above it, somebody who knows everybody else is nearly certain about the last one.
_LARGE = 3.0


@dataclass(frozen=True)
class Histogram(Declared):
    """The section ``histogram``: what is counted, in which cells, and with how much noise."""

    columns: Any = param(doc="The columns to count by, with their bins: values, ranges of numbers, or a tree.")
    epsilon: float = param(doc="How much the odds of what is published may change with one person.", gt=0, example=1.0)
    tables: Any = param(None, doc="The tables, each a list of columns ([] counts everybody); one of all if not given.")
    person: str | None = param(None, doc="The key of a person who may have several records.")
    most: int = param(1, doc="How many records of a person are counted at most; only with  person.", ge=1)
    clip: bool = param(False, doc="Whether counts below 0 are published as 0; sums are too high then.")

    def __post_init__(self) -> None:
        """Check that the tables can be made."""
        super().__post_init__()
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise JobError("E110", "'columns' must name columns and their bins", hint="columns: {sex: [f, m]}")
        try:
            granted_epsilon(self.share)
        except ValueError as error:
            raise JobError("E110", "'epsilon' is too small for any noise to be drawn", hint="epsilon: 1.0") from error
        if self.most > 1 and self.person is None:
            raise JobError(
                "E110", "'most' counts records of a person, and nobody says whose they are", hint="person: ID"
            )
        if self.person in self.columns:
            raise JobError("E110", "the key of a person cannot be counted by", hint="person: ID")
        cells = max(math.prod(self.bins[name].size for name in table) for table in self.wanted)
        if cells > _MOST_CELLS:
            raise JobError(
                "E110",
                f"a table would have {cells} cells, at most {_MOST_CELLS} can be published",
                hint="Name fewer columns in each of the  tables, or use wider bins.",
            )

    @cached_property
    def bins(self) -> dict[str, Bins]:
        """The bins of every column."""
        return {str(name): bins_from(str(name), declared) for name, declared in self.columns.items()}

    @cached_property
    def wanted(self) -> tuple[tuple[str, ...], ...]:
        """The columns of every table."""
        if self.tables is None:
            return (tuple(self.bins),)
        if not isinstance(self.tables, (list, tuple)) or not self.tables:
            raise JobError("E110", "'tables' must be a list of lists of columns", hint="tables: [[age, sex], [age]]")
        out = []
        for table in self.tables:
            if not isinstance(table, (list, tuple)) or len(set(table)) < len(table):
                raise JobError("E110", "a table is a list of columns, each once", hint="tables: [[age, sex], [age]]")
            for name in table:
                if name not in self.bins:
                    guess = did_you_mean(str(name), self.bins)
                    raise JobError("E105", f"'tables' names '{name}', which has no bins{guess}", hint=f"{name}: [a, b]")
            out.append(tuple(str(name) for name in table))
        return tuple(out)

    @property
    def share(self) -> float:
        """The epsilon of each table: all of them together spend no more than the whole, rounding included."""
        n, whole = len(self.wanted), Fraction(str(float(self.epsilon)))
        share = float(whole / n)
        while Fraction(str(share)) * n > whole:
            share = math.nextafter(share, 0)
        return share

    @property
    def spent(self) -> float:
        """What all tables spend together."""
        return float(granted_epsilon(self.share) * len(self.wanted))

    @property
    def half_width(self) -> int:
        """In nineteen of twenty cells the noise is no larger."""
        a = math.exp(-float(granted_epsilon(self.share)) / self.most)
        if a < 1e-12:
            return 0
        return max(math.ceil(math.log(0.05 * (1 + a) / 2) / math.log(a)) - 1, 0)


@dataclass(frozen=True)
class _Top(Declared):
    """The keys of a job file about noisy counts."""

    histogram: Any = param(doc="What is counted, in which cells, and with how much noise.")
    version: int = param(VERSION, doc="Version of this file's layout.", ge=VERSION, le=VERSION)
    title: str | None = param(None, doc="What the release is.")
    purpose: str | None = param(None, doc="What the data are for.")
    data: Any = param(None, doc="Where the data are and how to read them.")
    output: Any = param(None, doc="Where the release goes.")
    seed: int | None = seed_param("noise")


@dataclass(frozen=True)
class HistogramJob:
    """Everything about a release of noisy counts."""

    histogram: Histogram
    data: DataSettings = field(default_factory=DataSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    seed: int | None = None
    title: str = ""
    purpose: str = ""

    def notices(self) -> tuple[Notice, ...]:
        """Warnings about the job itself."""
        if self.histogram.epsilon <= _LARGE:
            return ()
        odds = f"{math.exp(min(self.histogram.epsilon, 50)):.0f}"
        hint = "Usual are 0.1 to 2."
        return (Notice("W650", f"epsilon is large: the odds may change by a factor of {odds}", hint=hint),)

    def to_yaml(self, folder: str | Path | None = None) -> str:
        """The job as the text of a job file that will lie in `folder`; paths are relative to that."""
        beside = None if folder is None else Path(folder)
        sections: dict[str, Any] = {
            KEY: {**changed(self.histogram), "columns": dict(self.histogram.columns)},
        }
        return job_text(self, beside, sections)


def load_histogram_job(path: str | Path, settings: Iterable[str] = ()) -> HistogramJob:
    """Read a job file about noisy counts, with ``key=value`` overrides."""
    return job_in(path, settings, histogram_job_from_data)


def histogram_job_from_data(raw: Mapping[str, Any], folder: Path) -> HistogramJob:
    """A job from the plain data of a job file; paths are relative to `folder`."""
    top = bind(_Top, raw, "a job file about noisy counts")
    data, output = data_and_output(raw, folder)
    section = mapping_in(raw, KEY, "{epsilon: 1.0, columns: {sex: [f, m]}}")
    with at(place(raw, KEY)):
        asked = bind(Histogram, section, f"'{KEY}'")
    return HistogramJob(
        asked,
        data,
        output,
        top.seed,
        top.title or "",
        top.purpose or "",
    )


def histogram_json_schema() -> dict[str, Any]:
    """The JSON schema of job files about noisy counts, for editors."""
    schema = json_schema(_Top)
    section = json_schema(Histogram)
    schema["properties"] |= {KEY: section, "data": json_schema(PopulationSection), "output": json_schema(OutputSection)}
    return {"title": "Tarnkappe job about noisy counts", **schema}

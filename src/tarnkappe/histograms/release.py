"""Publish counts with noise, so that hardly anything depends on whether a person is in the data."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts
from tarnkappe.bundle import Bundle, Checking, Found, Story
from tarnkappe.bundling import BundleDraft, Place, public_facts, publish_in_memory, publish_to
from tarnkappe.codebook import Entry
from tarnkappe.columns import ColumnSummary
from tarnkappe.companions import file_name, sheet_file
from tarnkappe.criteria.base import Card
from tarnkappe.histograms.audit import NAME, TITLE, UNIT, check_tables
from tarnkappe.histograms.counting import as_tables, count_name, noisy, table_names, true_counts
from tarnkappe.io import CsvDialect, Source, Staging, like, open_source
from tarnkappe.io.dialect import stated_dialect
from tarnkappe.io.source import is_csv
from tarnkappe.job.bins import OTHER
from tarnkappe.job.given import by_name, data_and_folder
from tarnkappe.job.histogram import KEY, Histogram, HistogramJob
from tarnkappe.job.places import DataSettings, OutputSettings
from tarnkappe.params import SEED_BITS
from tarnkappe.phases import Phases, Progress
from tarnkappe.wording import at_most, count, plural, stated

#: Purposes of chance: which records of a person are counted, and the noise. No two share a stream.
_CHOOSING, _NOISE = 1, 2

CARD = Card(
    protects_from="learning from the counts whether a person is in the data, or what is true of this person, whatever "
    "else the attacker knows.",
    does_not="hide what is true of many people; and noise covers small counts.",
    typical="epsilon 0.1 to 2.",
    cost="every count is wrong by a few; the more tables, the more.",
)


@dataclass(frozen=True, eq=False, repr=False)
class HistogramRelease(Bundle):
    """A release of noisy counts; it exists only if it was checked. The first of its `tables` has no name."""


def noisy_counts(
    data: Any,
    columns: Mapping[str, Any],
    *,
    epsilon: float,
    tables: Sequence[Sequence[str]] | None = None,
    person: str | None = None,
    most: int = 1,
    clip: bool = False,
    folder: str | Path | None = None,
    overwrite: bool = False,
    seed: int | None = None,
) -> HistogramRelease:
    """Count records in cells that are fixed without a look at the data, and publish the counts with noise.

    `columns` says for each column which values are counted together: a list of values, a range of numbers with a width,
    or a tree and a level. What is not named is counted as other. Each of the `tables` is a list of columns; all of them
    together are `epsilon`-differentially private. With the key of a `person`, at most so many records of each are
    counted, and it is persons who are protected; without, records. With a `folder` the release is written there.

    >>> people = pl.DataFrame({"age": [31, 35, 62, 70], "sex": ["f", "m", "f", "x"]})
    >>> bins = {"age": {"from": 0, "to": 100, "width": 50}, "sex": ["f", "m"]}
    >>> release = noisy_counts(people, bins, epsilon=1.0, tables=[["sex"], ["age"]], seed=1)
    >>> release.table["sex"].to_list()
    ['f', 'm', '(other)']
    >>> release.verdicts[0].reached
    1.0

    References
    ----------
    .. [DMNS06] Dwork, McSherry, Nissim, Smith. "Calibrating noise to sensitivity in private data analysis." TCC 2006.
    .. [GhRS09] Ghosh, Roughgarden, Sundararajan. "Universally utility-maximizing privacy mechanisms." STOC 2009.
    """
    wanted = None if tables is None else [list(table) for table in tables]
    asked = Histogram(by_name(columns, "columns", '"sex": ["f", "m"]'), epsilon, wanted, person, most, clip)
    path = str(data) if isinstance(data, (str, Path)) else None
    job = HistogramJob(asked, DataSettings(path), OutputSettings(None if folder is None else str(folder)), seed)
    if folder is not None:
        return run_histogram(job, data, overwrite=overwrite)
    return count_in_memory(job, data)


def count_in_memory(job: HistogramJob, data: Any, *, progress: Progress | None = None) -> HistogramRelease:
    """Publish noisy counts as frames of the kind that was given; they are checked like files."""
    clock = Phases(progress)
    return publish_in_memory(_decide(job, data, clock), clock, lambda _, table: like(data, table))


def run_histogram(
    job: HistogramJob,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> HistogramRelease:
    """Publish noisy counts into a folder: nothing appears there unless what was written was read back and checked."""
    data, target = data_and_folder(data, folder, job.data, job.output)
    job = replace(job, output=replace(job.output, folder=str(target)), seed=job.seed if seed is None else seed)
    read = [data] if isinstance(data, (str, Path)) else []
    with Staging(target, overwrite=overwrite, inputs=[*read, *inputs]) as stage:
        clock = Phases(progress)
        return publish_to(stage, _decide(job, data, clock), Path(target), clock)


@dataclass(frozen=True, eq=False)
class _Draft(BundleDraft[HistogramRelease]):
    """Counts with their noise, and where they came from."""

    job: HistogramJob
    data: Any
    source: Source
    shown: list[Counts]
    seed: int

    unit = UNIT

    def tables(self) -> dict[str, pl.DataFrame]:
        """The noisy counts."""
        return as_tables(self.shown, self.job.histogram)

    def check(self, tables: Mapping[str, pl.DataFrame]) -> Found:
        """Whether tables have the cells that were fixed, and the noisy counts that were drawn."""
        asked = self.job.histogram
        found = check_tables(tables, asked)
        problems = list(found.problems)
        for name, columns, drawn in zip(table_names(asked), asked.wanted, self.shown, strict=True):
            column = count_name(columns)
            if not problems and not np.array_equal(tables[name][column].cast(pl.Int64).to_numpy(), drawn):
                problems.append("a table has other counts than were drawn")
        return Found(found.verdicts, tuple(problems))

    def codebook(self) -> tuple[Entry, ...]:
        """What the labels mean."""
        asked = self.job.histogram
        used = list(dict.fromkeys(name for table in asked.wanted for name in table))
        out = [
            Entry(name, "", label, _meaning(label, bool(asked.bins[name].edges)))
            for name in used
            for label in asked.bins[name].labels
        ]
        said = f"How many records, with noise. In 19 of 20 cells the noise is at most {asked.half_width}."
        out += [Entry(name, "", "", said) for name in dict.fromkeys(count_name(table) for table in asked.wanted)]
        return tuple(out)

    def bundle(self, tables: Mapping[str, pl.DataFrame], found: Found, codebook: tuple[Entry, ...]) -> HistogramRelease:
        """What is known about counts that were checked; to readers nothing that follows from a record."""
        asked, job, source = self.job.histogram, self.job, self.source
        told = {
            "columns": {name: bins.declared for name, bins in asked.bins.items()},
            "epsilon": asked.epsilon,
            "tables": [list(table) for table in asked.wanted],
            "person": asked.person,
            "most": asked.most,
            "clip": asked.clip,
            "noise": {"distribution": "two-sided geometric", "epsilon": asked.share, "sensitivity": asked.most},
            "half_width_95": asked.half_width,
        }
        abouts = {
            name: f"Noisy counts by {', '.join(columns)}." if columns else "The noisy number of all records."
            for name, columns in zip(table_names(asked), asked.wanted, strict=True)
        }
        read = {"name": source.name, "sha256": source.sha256, "description": source.description}
        title = job.title or "Noisy counts"
        return HistogramRelease(
            found.verdicts,
            public_facts(title, job.purpose, {KEY: told}, found, _caution(asked), tables, abouts),
            {"seed": self.seed, "input": read},
            self._story(),
            tuple(ColumnSummary(name, "counted", "counted in bins that the job fixes") for name in asked.bins),
            job.notices(),
            codebook,
        )

    def _story(self) -> Story:
        asked = self.job.histogram
        who = "person" if asked.person else "record"
        return Story(
            promise=f"all cells that the job fixes, with noise for ε = {stated(asked.epsilon)} for any one {who}.",
            attacker="somebody who knows everything about everybody else: with or without any one person, no tables "
            f"are more than {at_most(float(np.exp(asked.epsilon)))} times as likely.",
            checked=Checking(
                "The published tables were read back: they have the cells that the job fixes, and the counts that were "
                "drawn. That there is noise in them no table can show; it lies in how they were made."
            ),
            cards={NAME: (TITLE, CARD)},
            joined="The tables are about the same people; each has noise of its own." if len(asked.wanted) > 1 else "",
            assumptions=(
                (
                    f"One {who} is counted at most {plural(asked.most, 'time')} in each table.",
                    "Where a person has more records, the person is protected less."
                    if asked.person is None
                    else "Further records of a person are left out by lot.",
                ),
                ("The bins were fixed without a look at the data.", "Whoever tries several and keeps the best, tells."),
                (
                    "Nothing else is published about the same people.",
                    "What several releases spend adds up; replacing a person by another is two changes.",
                ),
            ),
            costs=(f"Every count has noise, which is at most {asked.half_width} in 19 of 20 cells.",),
            figures=(
                ("Tables", len(asked.wanted), "of noisy counts"),
                ("Noise", asked.half_width, "at most, in 19 of 20 cells"),
            ),
            secret_figures=(("Records", count(self.source.n_rows), "in the data"),),
        )

    def place(self, table: str) -> Place:
        """A file for each table, written in the usual way: how the data are written is known from records."""
        name, format_ = file_name(self.job.output, self.data)
        return Place(sheet_file(name, table), format_, CsvDialect(spreadsheet_safe=self.spreadsheet_safe))

    def job_text(self, folder: Path) -> str:
        """The job as it was carried out."""
        path = str(self.data) if isinstance(self.data, (str, Path)) else None
        return replace(self.job, data=replace(self.job.data, path=path)).to_yaml(folder)

    @property
    def spreadsheet_safe(self) -> bool:
        """As the job asks for."""
        return self.job.output.spreadsheet_safe


def _meaning(label: str, numbers: bool) -> str:
    if label == OTHER:
        return "Everything else: other values, and missing ones."
    return "From the first number up to, but without, the second." if numbers else "The value, or what lies below it."


def _caution(asked: Histogram) -> str:
    below = "Counts that the noise had made negative stand as 0, so sums are too high." if asked.clip else ""
    return (
        f"Any count may be off: noise was added that is at most {asked.half_width} in 19 of 20 cells. Tables do not "
        f"add up to each other, and counts may be negative. {below}"
    ).strip()


def _decide(job: HistogramJob, data: Any, clock: Phases) -> _Draft:
    """Count, and draw the noise."""
    clock.begin("read")
    file = Path(data).expanduser() if isinstance(data, (str, Path)) else None
    dialect = stated_dialect(job.data.dialect, file if file is not None and is_csv(file) else None)
    source = open_source(data, dialect, job.data.missing)
    seed = secrets.randbits(SEED_BITS) if job.seed is None else job.seed
    entropy = [seed, _digest(source)]
    counts = true_counts(source, job.histogram, _chance(entropy, _CHOOSING))
    clock.begin("decide")
    return _Draft(job, data, source, noisy(counts, job.histogram, _chance(entropy, _NOISE)), seed)


def _digest(source: Source) -> int:
    """What makes the noise of other data other noise: whoever sees two tables made with one seed could take it off."""
    return int(source.sha256[:32], 16)


def _chance(entropy: list[int], purpose: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(entropy, spawn_key=(purpose,))))

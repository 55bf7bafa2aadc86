"""The grid of a comparison: one job, with other algorithms, other parameters and several seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.job import Job
from tarnkappe.job.files import job_from_data
from tarnkappe.job.model import replace_job
from tarnkappe.job.places import OutputSettings
from tarnkappe.job.sections import at, resolved, section_of, written
from tarnkappe.job.text import PlacedDict, apply_settings, dump_yaml, read_job_file, read_job_text
from tarnkappe.metrics import metric_named
from tarnkappe.params import Declared, bind, param, place

#: The section of a job file, or of a file of its own, that declares a grid.
KEY = "compare"

#: What may be asked about the risk of being found: the highest of all records, or their mean.
RISKS = ("average", "highest")


@dataclass(frozen=True)
class CompareSection(Declared):
    """The section ``compare``."""

    job: str | None = param(None, doc="The job file that is varied, if this is no job file itself.")
    algorithms: Any = param(None, doc="Algorithms, by name or with parameters; the job's own if not given.")
    vary: Any = param(None, doc="Settings and the values to try, such as  criteria.k: [2, 5, 10].")
    seeds: Any = param(1, doc="How many seeds are tried, or a list of them.")
    loss: str = param("lm", doc="The metric on the map.")
    risk: str = param(
        "average", doc="The risk on the map: of an average record, or of the most exposed.", choices=RISKS
    )


@dataclass(frozen=True, eq=False)
class Point:
    """One job of a grid, with one seed."""

    job: Job
    algorithm: str
    varied: Mapping[str, Any]
    seed: int
    #: The job as text, without what decides about no figure; the same for all seeds.
    text: str

    @property
    def label(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        """What points that differ in their seeds only have in common."""
        return self.algorithm, tuple(self.varied.items())

    def key(self, data: str) -> str:
        """What the point is known by when a comparison goes on: everything that decides about its figures.

        `data` is the digest of the data.
        """
        return sha256(f"{data}\n{self.text}\n{self.seed}".encode()).hexdigest()[:24]


@dataclass(frozen=True, eq=False)
class Grid:
    """A job, what is varied about it, and what the map shows."""

    raw: PlacedDict
    folder: Path
    algorithms: tuple[Any, ...]
    vary: Mapping[str, Sequence[Any]]
    seeds: tuple[int, ...]
    loss: str = "lm"
    risk: str = "average"

    @classmethod
    def load(cls, path: str | Path, settings: Iterable[str] = (), **changes: Any) -> Grid:
        """The grid that a job file, or a file of its own, declares; `changes` go before what it says."""
        with written():
            raw, folder = read_job_file(path), Path(path).parent
            section = _section(raw, changes)
            if section.job is not None:
                target = resolved(section.job, folder, place(section_of(raw, KEY), "job"))
                assert target is not None
                raw, folder = read_job_file(target), Path(target).parent
            apply_settings(raw, settings)
            return cls._of(raw, folder, section)

    @classmethod
    def of(cls, job: Job, **changes: Any) -> Grid:
        """The grid around a job of Python."""
        raw = read_job_text(job.to_yaml(), "job")
        return cls._of(raw, Path(), _section(raw, changes))

    @classmethod
    def _of(cls, raw: PlacedDict, folder: Path, section: CompareSection) -> Grid:
        raw.pop(KEY, None)
        algorithms = section.algorithms if section.algorithms is not None else [raw.get("algorithm")]
        if not isinstance(algorithms, list) or not algorithms:
            raise JobError("E110", "'algorithms' must be a list", hint="algorithms: [mondrian, hilb]")
        metric_named(section.loss)
        return cls(
            raw, folder, tuple(algorithms), _varied(section.vary), _seeds(section.seeds), section.loss, section.risk
        )

    def points(self) -> Iterator[Point]:
        """All jobs of the grid, those of an algorithm one after the other."""
        for algorithm, values in product(self.algorithms, product(*self.vary.values())):
            varied = dict(zip(self.vary, values, strict=True))
            job = self._job(algorithm, varied)
            text = replace_job(job, output=OutputSettings(), seed=None).to_yaml()
            for seed in self.seeds:
                yield Point(job, _name(algorithm, job), varied, seed, text)

    def _job(self, algorithm: Any, varied: Mapping[str, Any]) -> Job:
        raw = deepcopy(self.raw)
        if algorithm is not None:
            raw["algorithm"] = algorithm
            raw.places["algorithm"] = f"{KEY}: algorithms"
        apply_settings(raw, (f"{key}={_text(value)}" for key, value in varied.items()), f"{KEY}: vary")
        return job_from_data(raw, self.folder)


def _section(raw: Mapping[str, Any], changes: Mapping[str, Any]) -> CompareSection:
    section = bind(CompareSection, section_of(raw, KEY), f"'{KEY}'")
    given = {name: value for name, value in changes.items() if value is not None}
    with at("compare"):
        return replace(section, **given)


def _varied(given: Any) -> dict[str, list[Any]]:
    """Settings with the values to try."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise JobError("E110", "'vary' must name settings with lists of values", hint="vary: {criteria.k: [2, 5, 10]}")
    out = {}
    for key, values in given.items():
        if not isinstance(values, (list, tuple, range)) or not len(values):
            raise JobError("E110", f"'{key}' needs a list of values", hint=f"vary: {{{key}: [2, 5, 10]}}")
        out[str(key)] = list(values)
    return out


def _seeds(given: Any) -> tuple[int, ...]:
    """The seeds to try: 1 to n, or those listed."""
    seeds = list(range(1, given + 1)) if isinstance(given, int) and not isinstance(given, bool) else given
    whole = isinstance(seeds, (list, tuple)) and all(isinstance(s, int) and s >= 0 for s in seeds)
    if not whole or not seeds or len(set(seeds)) < len(seeds):
        raise JobError("E110", "'seeds' must be a number of seeds, or a list of different ones", hint="seeds: 3")
    return tuple(seeds)


def _name(algorithm: Any, job: Job) -> str:
    """What an algorithm of the grid is called: its name, and the parameters that were given."""
    if not isinstance(algorithm, Mapping):
        return job.algorithm.name
    told = ", ".join(f"{key} {value}" for key, value in algorithm.items() if key != "name")
    return f"{job.algorithm.name} ({told})" if told else job.algorithm.name


def _text(value: Any) -> str:
    """A value as it is written on the right of ``--set``."""
    return dump_yaml(value).removesuffix("\n").removesuffix("\n...") if not isinstance(value, str) else f'"{value}"'

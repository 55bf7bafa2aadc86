"""Jobs about made-up people: which columns they have, how they are drawn, and what is promised about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, Notice
from tarnkappe.fixes import Fix
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
    section_of,
)
from tarnkappe.params import Declared, bind, json_schema, param, place, seed_param
from tarnkappe.registry import registered
from tarnkappe.taxonomy import TaxonomyBuilder, builder_from, from_file
from tarnkappe.taxonomy.builders import File

#: The key that makes a job file one about made-up people.
KEY = "synthetic"

#: How made-up people are drawn, and the settings that each way has beside the common ones.
METHODS: dict[str, tuple[str, ...]] = {
    "trees": ("k", "bins", "pruning"),
    "copula": ("k", "bins"),
    "marginals": ("epsilon", "delta"),
    "diffgen": ("epsilon", "target", "steps"),
    "alpha-beta": ("d", "gamma"),
}
#: What each setting must have if it is not given; None must be given.
_USUAL: dict[str, Any] = {"k": 10, "bins": 50, "pruning": 0.0001, "delta": 0.0, "steps": 8}

_EXAMPLE: dict[str, Any] = {"epsilon": 1.0, "target": "illness", "d": 0.001, "gamma": 0.2}


@dataclass(frozen=True)
class Synthetic(Declared):
    """The section ``synthetic``: how made-up people are drawn."""

    method: str = param(doc="How they are drawn.", choices=tuple(METHODS), example="trees")
    records: int | None = param(None, doc="How many; about as many as there are people if not given.", ge=1)
    k: int | None = param(None, doc="Least number of people behind every drawn value; 10 if not given.", ge=2)
    bins: int | None = param(None, doc="Most intervals of a column of numbers; 50 if not given.", ge=2, le=1000)
    pruning: float | None = param(
        None, doc="Least share of the disorder that a split of a tree must take away; 0.0001 if not given.", ge=0
    )
    epsilon: float | None = param(None, doc="How much the odds of a release may change with one person.", gt=0)
    delta: float | None = param(
        None,
        doc="The chance that this fails, far below one over the number of people; none if not given.",
        gt=0,
        le=0.01,
    )
    target: str | None = param(None, doc="The column that people will be classified by.")
    steps: int | None = param(None, doc="How often a value is specialised; 8 if not given.", ge=1, le=100)
    d: float | None = param(None, doc="How likely an attacker may think at most that somebody is in the data.", gt=0)
    gamma: float | None = param(None, doc="How likely they may think it at most after seeing the release.", gt=0, le=1)
    audit: bool = param(True, doc="Whether the method is tried on half of the people, to see if they are found.")

    def __post_init__(self) -> None:
        """Check the parameters, and that the method has them."""
        super().__post_init__()
        own = METHODS[self.method]
        for name in {n for names in METHODS.values() for n in names}:
            given = getattr(self, name) is not None
            if given and name not in own:
                theirs = ", ".join(m for m, names in METHODS.items() if name in names)
                raise JobError("E110", f"'{name}' is a setting of {theirs}, not of {self.method}", hint="Leave it out.")
            if not given and name in own and name not in _USUAL:
                raise JobError(
                    "E103",
                    f"{self.method} needs '{name}'",
                    hint=Fix(
                        f"{KEY}: {{method: {self.method}, {name}: {_EXAMPLE[name]}}}", f"{name}={_EXAMPLE[name]!r}"
                    ),
                )
        if self.d is not None and self.gamma is not None and self.d >= self.gamma:
            raise JobError(
                "E110",
                "'gamma' must be above 'd': what an attacker believes cannot be kept below what they believed before",
                hint=f"d: {self.gamma / 100:g}",
            )
        if self.method == "alpha-beta" and self.records is not None:
            raise JobError("E110", "chance decides how many records alpha-beta publishes", hint="Leave out  records.")

    def setting(self, name: str) -> Any:
        """A setting, or what is usual if it was not given."""
        given = getattr(self, name)
        return _USUAL[name] if given is None else given

    @property
    def is_mechanism(self) -> bool:
        """Whether the promise lies in how records are drawn: nothing that is told may depend on one person."""
        return self.method in ("marginals", "diffgen", "alpha-beta")


@dataclass(frozen=True)
class SyntheticColumn(Declared):
    """One entry of ``columns``: what values made-up people may have."""

    type: str = param("categorical", doc="Whether values are names or numbers.", choices=("categorical", "numeric"))
    values: tuple[str, ...] | None = param(None, doc="All values there are, whether they occur or not.")
    taxonomy: Any = param(None, doc="A tree of all values there are, or a file with one.")
    low: float | None = param(None, doc="The least number; smaller ones count as this one.")
    high: float | None = param(None, doc="The largest number; larger ones count as this one.")
    width: float | None = param(None, doc="How wide intervals of numbers are.", gt=0)
    step: float | None = param(None, doc="What numbers are multiples of; 1 if they are whole.", gt=0)

    def __post_init__(self) -> None:
        """Check that the settings go together."""
        super().__post_init__()
        numbers = [n for n in ("low", "high", "width", "step") if getattr(self, n) is not None]
        if numbers and self.type == "categorical":
            if self.values is not None or self.taxonomy is not None:
                raise JobError("E110", f"'{numbers[0]}' is about numbers, and names are listed", hint="Leave it out.")
            object.__setattr__(self, "type", "numeric")
        if self.type == "numeric" and (self.values is not None or self.taxonomy is not None):
            raise JobError("E110", "numbers are not listed", hint="low: 0, high: 99, width: 5")
        if self.values is not None and (not self.values or len(set(self.values)) < len(self.values)):
            raise JobError("E110", "'values' must name every value once", hint="values: [female, male]")
        if self.values is not None and self.taxonomy is not None:
            raise JobError("E110", "a taxonomy has all values already", hint="Leave out  values.")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise JobError("E110", "'low' must not be above 'high'", hint=f"low: {self.high:g}, high: {self.low:g}")
        for name in ("low", "high", "width"):
            value, step = getattr(self, name), self.step or 1.0
            if value is not None and abs(value / step - round(value / step)) > 1e-9:
                raise JobError("E110", f"'{name}' must be a multiple of 'step', {step:g}", hint="step: 0.1")

    @property
    def is_declared(self) -> bool:
        """Whether its values are known without a look at the data."""
        if self.type == "numeric":
            return None not in (self.low, self.high, self.width)
        return self.values is not None or self.taxonomy is not None


@dataclass(frozen=True)
class BudgetSection(Declared):
    """The section ``budget``: how much of the same people may be told over all releases."""

    file: str = param(doc="The file that remembers what was spent, relative to the job file.")
    dataset: str = param(doc="What the people are called there; all releases about them share one budget.")
    epsilon: float = param(doc="How much may be spent on them over all releases.", gt=0, example=3.0)
    delta: float = param(0.0, doc="The chance that this fails, over all releases.", ge=0, le=0.01)


@dataclass(frozen=True)
class _Top(Declared):
    """The keys of a job file about made-up people."""

    synthetic: Any = param(doc="How made-up people are drawn.")
    columns: Any = param(None, doc="Every column with its values, such as  sex: [female, male], or the word drop.")
    rest: str | None = param(
        None,
        doc="What is done about columns that are not named: dropped, or kept with what values the data have.",
        choices=("drop", "keep"),
    )
    budget: Any = param(None, doc="How much of the same people may be told over all releases.")
    version: int = param(VERSION, doc="Version of this file's layout.", ge=VERSION, le=VERSION)
    title: str | None = param(None, doc="What the release is.")
    purpose: str | None = param(None, doc="What the data are for.")
    data: Any = param(None, doc="Where the data are and how to read them.")
    output: Any = param(None, doc="Where the release goes.")
    seed: int | None = seed_param("noise")


@dataclass(frozen=True)
class SyntheticJob:
    """Everything about a release of made-up people; a column that is None is dropped."""

    synthetic: Synthetic
    columns: Mapping[str, SyntheticColumn | None] = field(default_factory=dict)
    rest: str | None = None
    budget: BudgetSection | None = None
    data: DataSettings = field(default_factory=DataSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    seed: int | None = None
    title: str = ""
    purpose: str = ""

    def __post_init__(self) -> None:
        """Refuse what would let the data past the mechanism."""
        if self.budget is not None and self.synthetic.epsilon is None:
            raise JobError(
                "E111",
                f"{self.synthetic.method} spends no epsilon, so there is no budget to keep",
                hint=f"Leave out  budget,  or  {KEY}: {{method: marginals, epsilon: 1.0}}",
            )
        if not self.synthetic.is_mechanism:
            return
        if self.rest == "keep":
            raise JobError(
                "E111",
                f"{self.synthetic.method} needs all values of a column written down, and 'rest: keep' looks them up",
                hint="rest: drop",
            )
        for name, column in self.columns.items():
            if column is not None and not column.is_declared:
                raise undeclared(name, column, self.synthetic.method)

    def notices(self) -> tuple[Notice, ...]:
        """Warnings about the job itself."""
        if self.synthetic.is_mechanism:
            high = self.synthetic.epsilon is not None and self.synthetic.epsilon > 5
            about = (
                f"epsilon = {self.synthetic.epsilon:g} lets one person change the odds of a release a lot"
                if high
                else ""
            )
            return (Notice("W657", about, hint="Usual are 0.5 to 2."),) if high else ()
        return (
            Notice(
                "W656",
                f"{self.synthetic.method}: nothing is promised to rare people: that they are in the data may show",
                hint=f"{KEY}: {{method: marginals, epsilon: 1.0}}   promises it",
            ),
        )

    def to_yaml(self, folder: str | Path | None = None) -> str:
        """The job as the text of a job file that will lie in `folder`; paths are relative to that."""
        beside = None if folder is None else Path(folder)
        sections: dict[str, Any] = {
            KEY: changed(self.synthetic),
            "columns": {name: _column_data(c, beside) for name, c in self.columns.items()} or None,
            "rest": self.rest,
            "budget": None
            if self.budget is None
            else {**changed(self.budget), "file": relative(self.budget.file, beside)},
        }
        return job_text(self, beside, sections)


def undeclared(name: str, column: SyntheticColumn, method: str) -> JobError:
    """A column whose values a mechanism would have to look up in the data."""
    python = '"low": 0, "high": 99, "width": 5' if column.type == "numeric" else '"values": ["a", "b"]'
    line = "{low: 0, high: 99, width: 5}" if column.type == "numeric" else "{values: [a, b]}"
    return JobError(
        "E111",
        f"{method} needs all values of '{name}' written down: looked up in the data, they would tell who is there",
        hint=Fix(f"{name}: {line}   or a taxonomy", f'columns={{"{name}": {{{python}}}}}'),
    )


def column_from(given: Any, name: str, where: str | None = None, folder: Path | None = None) -> SyntheticColumn | None:
    """A column as it may be declared: drop, numeric, categorical, a list of values, a taxonomy, or settings."""
    with at(where):
        if given is None or given == "drop":
            return None
        if given in ("numeric", "categorical"):
            return SyntheticColumn(type=given)
        if isinstance(given, TaxonomyBuilder):
            return SyntheticColumn(taxonomy=given)
        if isinstance(given, (list, tuple)):
            return SyntheticColumn(values=tuple(str(v) for v in given))
        if isinstance(given, SyntheticColumn):
            return given
        if not isinstance(given, Mapping):
            raise JobError(
                "E110",
                f"column '{name}' must be drop, numeric, categorical, a list of values or settings",
                where=where,
                hint=f"{name}: categorical",
            )
        settings = dict(given)
        raw = settings.get("taxonomy")
        if isinstance(raw, str):
            settings["taxonomy"] = from_file(resolved(raw, folder or Path(), where) or raw)
        elif isinstance(raw, Mapping):
            settings["taxonomy"] = builder_from(raw, name, where, folder=folder)
        if isinstance(settings.get("values"), (list, tuple)):
            settings["values"] = tuple(str(v) for v in settings["values"])
        return bind(SyntheticColumn, settings, f"column '{name}'")


def _column_data(column: SyntheticColumn | None, folder: Path | None) -> Any:
    if column is None:
        return "drop"
    out = changed(column)
    if isinstance(column.taxonomy, TaxonomyBuilder):
        out["taxonomy"] = {"kind": column.taxonomy.name, **changed(column.taxonomy)}
        if isinstance(column.taxonomy, File):
            out["taxonomy"]["path"] = relative(column.taxonomy.path, folder)
    return out or "categorical"


def load_synthetic_job(path: str | Path, settings: Iterable[str] = ()) -> SyntheticJob:
    """Read a job file about made-up people, with ``key=value`` overrides."""
    return job_in(path, settings, synthetic_job_from_data)


def synthetic_job_from_data(raw: Mapping[str, Any], folder: Path) -> SyntheticJob:
    """A job from the plain data of a job file; paths are relative to `folder`."""
    top = bind(_Top, raw, "a job file about made-up people")
    data, output = data_and_output(raw, folder)
    section = mapping_in(raw, KEY, "{method: trees, k: 10}")
    with at(place(raw, KEY)):
        synthetic = bind(Synthetic, section, f"'{KEY}'")
    declared = section_of(raw, "columns")
    columns = {name: column_from(body, name, place(declared, name), folder) for name, body in declared.items()}
    budget = None
    if raw.get("budget") is not None:
        asked = mapping_in(raw, "budget", "{file: budget.jsonl, dataset: census, epsilon: 3.0}")
        given = bind(BudgetSection, asked, "'budget'")
        where = resolved(given.file, folder, place(raw["budget"], "file"))
        budget = BudgetSection(where or given.file, given.dataset, given.epsilon, given.delta)
    with at(place(raw, KEY)):
        return SyntheticJob(
            synthetic,
            columns,
            top.rest,
            budget,
            data,
            output,
            top.seed,
            top.title or "",
            top.purpose or "",
        )


def synthetic_json_schema() -> dict[str, Any]:
    """The JSON schema of job files about made-up people, for editors."""
    schema = json_schema(_Top)
    column = json_schema(SyntheticColumn)
    builders = [with_kind(cls, name) for name, cls in registered("tarnkappe.taxonomy", TaxonomyBuilder).items()]  # type: ignore[type-abstract]
    column["properties"]["taxonomy"] = {"anyOf": [{"type": "string"}, *builders]}
    values = {"type": "array", "items": {"type": ["string", "number", "boolean"]}}
    columns = {"anyOf": [{"enum": ["drop", "numeric", "categorical"]}, values, column]}
    schema["properties"] |= {
        KEY: json_schema(Synthetic),
        "columns": {"type": "object", "additionalProperties": columns},
        "budget": json_schema(BudgetSection),
        "data": json_schema(PopulationSection),
        "output": json_schema(OutputSection),
    }
    return {"title": "Tarnkappe job about made-up people", **schema}

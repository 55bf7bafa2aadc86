"""The job: what a data steward asks for, independent of where it was written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarnkappe.algorithms import Algorithm
from tarnkappe.algorithms.effort import with_effort
from tarnkappe.attacks import Attack
from tarnkappe.criteria import Criterion
from tarnkappe.engines.measures import require_measure
from tarnkappe.engines.settings import EngineSettings
from tarnkappe.errors import JobError, Notice, did_you_mean
from tarnkappe.fixes import DROP_REST, Fix, role, say, setting
from tarnkappe.goal import Goal
from tarnkappe.job.attacks import attacks_of, require_attackable
from tarnkappe.job.given import (
    algorithm_of,
    by_name,
    criteria_of,
    name_of,
    named,
    names_of,
    one_of,
    refused,
    seconds_of,
    seed_of,
    share_of,
    shown,
)
from tarnkappe.job.history import HistorySettings, history_of, require_comparable, require_one_machine
from tarnkappe.job.masks import masked_columns, masks_of, notices_about_masks, require_masks
from tarnkappe.job.places import DataSettings, OutputSettings, Population
from tarnkappe.masks import Mask
from tarnkappe.schema import MISSING_RULES, Column, MissingRule, Role, Schema
from tarnkappe.taxonomy import Taxonomy, TaxonomyBuilder, tree
from tarnkappe.taxonomy.quantiles import Quantiles
from tarnkappe.wording import plural

if TYPE_CHECKING:
    from tarnkappe.io import Data
    from tarnkappe.release import Release


class Numeric:
    """Marks a quasi-identifier of the Python API as numeric, generalised to ``[min max]``."""

    def __repr__(self) -> str:
        return "numeric()"


def numeric() -> Numeric:
    """A quasi-identifier that holds numbers and has no taxonomy: groups publish ``[min max]``."""
    return Numeric()


#: What may be written where something else was given.
_COLUMNS = Fix("age: {role: quasi, type: numeric}", 'columns=[Column("age", "quasi", "numeric")]')
_RULE = setting("data: {missing_rule: own-value}", "missing_rule", "own-value")
_DATA = setting("data: {path: census.csv}", "data", "census.csv")
_OUTPUT = setting("output: {folder: release}", "output", "release")

#: How the Python API says what a column's values may become.
Coarsening = TaxonomyBuilder | Taxonomy | Numeric


@dataclass(frozen=True, init=False, repr=False)
class Job:
    """Roles, taxonomies, criteria and limits: everything that decides what a release may say.

    >>> from tarnkappe import Job, KAnonymity, numeric, suppress
    >>> job = Job(quasi={"age": numeric(), "sex": suppress()}, sensitive=["illness"], criteria=[KAnonymity(2)])
    >>> job.schema(["age", "sex", "illness"]).published
    ('age', 'sex', 'illness')
    """

    columns: tuple[Column, ...]
    rest: Role | None
    goal: Goal
    algorithm: Algorithm
    time_limit: float | None
    missing_rule: MissingRule | None
    seed: int | None
    title: str
    purpose: str
    data: DataSettings
    output: OutputSettings
    population: Population | None
    engine: EngineSettings
    attacks: tuple[Attack, ...]
    masks: tuple[Mask, ...]
    history: HistorySettings | None

    def __init__(
        self,
        *,
        quasi: Mapping[str, Coarsening] | None = None,
        identifiers: Iterable[str] = (),
        sensitive: Iterable[str] | Mapping[str, Coarsening | None] = (),
        keep: Iterable[str] | str = (),
        drop: Iterable[str] | str = (),
        subject: str | None = None,
        criteria: Iterable[Criterion] | Criterion,
        max_suppressed: float | str = 0.0,
        time_limit: float | str | None = None,
        algorithm: Algorithm | Mapping[str, Any] | str | None = None,
        effort: str | float | None = None,
        missing_rule: MissingRule | None = None,
        weights: Mapping[str, float] | None = None,
        min_level: Mapping[str, int] | None = None,
        max_level: Mapping[str, int] | None = None,
        because: Mapping[str, str] | None = None,
        columns: Iterable[Column] = (),
        seed: int | None = None,
        title: str = "",
        purpose: str = "",
        data: DataSettings | str | Path | None = None,
        output: OutputSettings | str | Path | None = None,
        population: Population | Data | None = None,
        engine: EngineSettings | str | None = None,
        attacks: Iterable[Attack | str] | Attack | str = (),
        masks: Iterable[Mask] | Mask = (),
        history: HistorySettings | Mapping[str, Any] | None = None,
    ) -> None:
        """Describe the columns by role; ``keep="rest"`` or ``drop="rest"`` says what happens to columns not named.

        `columns` takes ready-made `Column` objects instead of, or besides, the shorthands. `because` gives reasons
        for the roles of columns; those that point at people are published only with one. `subject` is the key of a
        person who may have several records. `population` is a public table, as a file or a data frame, that the people
        in the data come from; it has the quasi-identifiers under the same names. `engine` is where records are
        counted and rewritten: auto, memory, streaming or spark. `min_level` and `max_level` bound the levels of
        quasi-identifiers, by column, whatever the algorithm. `effort` is how much work an algorithm that improves
        its groups puts into lower loss: quick, normal, best, or a multiple of the normal work. `time_limit`, such as
        ``"10min"``, stops a search with the best release so far; what it finds then depends on the machine.
        `attacks` are carried out on the written release, which is not made if one beats its baseline by too much.
        `masks` change values of columns that are no quasi-identifiers before anything is counted.
        `history` names the ledger of releases, and the column by which people are recognised in several of them.
        """
        made = [one_of(c, "columns", Column, _COLUMNS) for c in one_of(columns, "columns", Iterable, _COLUMNS)]
        weight = by_name(weights or {}, "weights", '"age": 2.0')
        for name, how in by_name(quasi or {}, "quasi", '"age": numeric()').items():
            made.append(column_of(name, "quasi", how, weight.pop(name, 1.0)))
        if weight:
            raise _no_role("weights", next(iter(weight)), made, "quasi", "numeric")
        described = by_name(sensitive, "sensitive", "") if isinstance(sensitive, Mapping) else {}
        described |= dict.fromkeys([] if described else names_of(sensitive, "sensitive"))
        made.extend(column_of(name, "sensitive", how, 1.0) for name, how in described.items())
        made.extend(Column(name, "identifier") for name in names_of(identifiers, "identifiers"))
        made.extend([] if subject is None else [Column(name_of(subject, "subject"), "subject")])
        rest: Role | None = None
        if keep == "rest" and drop == "rest":
            raise refused("only one of 'keep' and 'drop' can take the rest of the columns", DROP_REST)
        others: tuple[tuple[Role, Any], ...] = (("keep", keep), ("drop", drop))
        for other, names in others:
            if isinstance(names, str) and names == "rest":
                rest = other
            else:
                made.extend(Column(name, other) for name in names_of(names, other))
        for key, levels in (("min_level", min_level), ("max_level", max_level)):
            bounds = by_name(levels or {}, key, '"age": 1')
            made = [replace(c, **{key: bounds.pop(c.name)}) if c.name in bounds else c for c in made]
            if bounds:
                raise _no_role(key, next(iter(bounds)), made, "quasi", "numeric")
        reasons = by_name(because or {}, "because", '"ward": "an internal code, reviewed by the board"')
        made = [replace(c, because=reasons.pop(c.name)) if c.name in reasons else c for c in made]
        if reasons:
            raise _no_role("because", next(iter(reasons)), made, "keep")
        if missing_rule is not None and missing_rule not in MISSING_RULES:
            raise refused(f"'missing_rule' must be one of {', '.join(MISSING_RULES)}, got {shown(missing_rule)}", _RULE)
        if isinstance(data, (str, Path)):
            data = DataSettings(str(data))
        if isinstance(output, (str, Path)):
            output = OutputSettings(str(output))
        values: dict[str, Any] = {
            "columns": tuple(made),
            "rest": rest,
            "goal": Goal(criteria_of(criteria), share_of(max_suppressed)),
            "algorithm": with_effort(algorithm_of(algorithm), effort),
            "time_limit": seconds_of(time_limit),
            "missing_rule": missing_rule,
            "seed": seed_of(seed),
            "title": one_of(title, "title", str, setting("title: Census", "title", "Census")),
            "purpose": one_of(purpose, "purpose", str, setting("purpose: teaching", "purpose", "teaching")),
            "data": one_of(data or DataSettings(), "data", DataSettings, _DATA),
            "output": one_of(output or OutputSettings(), "output", OutputSettings, _OUTPUT),
            "population": _population(population),
            "engine": engine if isinstance(engine, EngineSettings) else EngineSettings(engine or "auto"),
            "attacks": attacks_of(attacks),
            "masks": masks_of(masks),
            "history": history_of(history),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        schema = Schema(self.columns, self.missing_rule)
        for criterion in self.goal.criteria:
            require_column(criterion, schema, complete=self.rest is None)
        require_target(self.algorithm, schema, complete=self.rest is None)
        require_attackable(self.attacks, schema, self.goal, public_table=self.population is not None)
        require_masks(self.masks, self.columns, self.goal, self.engine, complete=self.rest is None)
        if self.history is not None:
            require_comparable(self.goal)
            require_one_machine(self.engine.name)

    def schema(self, columns: Iterable[str], where: str | None = None) -> Schema:
        """The schema for data with these columns, in their order; every column must have a role."""
        present = list(columns)
        known = {c.name: c for c in self.columns}
        everything = dict(known)
        if self.rest is not None:
            everything.update({name: Column(name, self.rest) for name in present if name not in known})
        Schema(everything.values()).require_match(present, where)
        everything = masked_columns(self.masks, everything)
        schema = Schema((self._with_levels(everything[name]) for name in present), self.missing_rule)
        for criterion in self.goal.criteria:
            require_column(criterion, schema)
        require_target(self.algorithm, schema)
        return schema

    def _with_levels(self, column: Column) -> Column:
        """The column, with levels that follow its distribution if it needs some and nobody said which."""
        plain = column.role == "quasi" and column.kind == "numeric" and column.taxonomy is None
        needed = self.algorithm.publishes_levels or column.min_level > 0 or column.max_level is not None
        return replace(column, taxonomy=Quantiles()) if plain and needed and not self.goal.is_mechanism else column

    def undecided(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Those of the columns of some data that have no role yet."""
        roles = {c.name: c.role for c in self.columns}
        return tuple(name for name in columns if roles.get(name, self.rest or "undecided") == "undecided")

    def aside(self, schema: Schema) -> tuple[Column, ...]:
        """The columns that must be counted although they are no secrets: a person key, a target."""
        named = dict.fromkeys((*self.goal.columns, *self.algorithm.columns))
        return tuple(schema[name] for name in named if schema[name].role != "sensitive")

    @property
    def known_by(self) -> str | None:
        """The column by which its history knows people."""
        return None if self.history is None else self.history.subject

    def notices(self) -> tuple[Notice, ...]:
        """Warnings about the job itself."""
        out = []
        smallest = self.goal.min_size
        if smallest < 3:
            out.append(
                Notice(
                    "W601",
                    f"groups may be as small as {plural(smallest, 'record')}",
                    hint="Authorities usually ask for 5 or more, 10 for public files.",
                )
            )
        if self.goal.is_mechanism:  # it covers every published value
            return tuple(out)
        out += notices_about_masks(self.masks, grouping=True)
        guarded = set(self.goal.columns)
        for column in self.columns:
            if column.role == "sensitive" and column.name not in guarded:
                out.append(
                    Notice(
                        "W602",
                        f"no criterion protects '{column.name}': a whole group may share the same value",
                        hint=f"Add  - l-diversity: {{column: {column.name}, l: 2}}.",
                    )
                )
        return tuple(out)

    def __str__(self) -> str:
        from tarnkappe.summary import as_text, job_rows

        return as_text(self.title or "Job", job_rows(self))

    def __repr__(self) -> str:
        return f"<Job: {self.goal.asked}>"

    def anonymize(self, data: Any, *, seed: int | None = None) -> Release:
        """Anonymise a data frame or a file in memory; the release holds the same kind of frame as was given."""
        from tarnkappe.pipeline import anonymize

        return anonymize(self, data, seed=seed)

    def check(self, data: Any) -> tuple[Notice, ...]:
        """Problems as an exception, warnings as a result: whether `anonymize` would start."""
        from tarnkappe.pipeline import check

        return check(self, data).notices

    @classmethod
    def from_yaml(cls, path: str | Path, settings: Iterable[str] = ()) -> Job:
        """Read a job file; `settings` are ``key=value`` overrides."""
        from tarnkappe.job.files import load_job

        if not isinstance(path, (str, Path)):
            such = Fix("tarnkappe run JOB.yaml", 'Job.from_yaml("job.yaml")')
            raise refused(f"a job file is named by its path, got {shown(path)}", such)
        return load_job(path, settings)

    def to_yaml(self, folder: str | Path | None = None) -> str:
        """The job as the text of a job file that will lie in `folder`; paths are relative to that."""
        from tarnkappe.job.files import job_to_yaml

        return job_to_yaml(self, folder)

    def with_seed(self, seed: int | None) -> Job:
        """The same job with another seed."""
        return replace_job(self, seed=seed)


def require_column(criterion: Criterion, schema: Schema, *, complete: bool = True) -> None:
    """Refuse a criterion about columns that have the wrong role, or lack the taxonomy it measures by.

    A schema that is not `complete` may lack columns that the data will turn out to have.
    """
    column = criterion.sensitive_column
    for name in criterion.columns:
        if name != column:
            _require_counted(criterion.name, name, schema, complete)
    quasi = [c.name for c in schema.quasi]
    for name in criterion.quasi_identifiers:
        if name not in quasi:
            raise JobError(
                "E105",
                f"{criterion.name} looks at '{name}', which is no quasi-identifier{did_you_mean(name, quasi)}",
                hint=f"Quasi-identifiers of the job: {', '.join(quasi)}.",
            )
    if column is None:
        return
    names = [c.name for c in schema.sensitive]
    if column not in names:
        raise JobError(
            "E105",
            f"{criterion.name} looks at '{column}', which is no sensitive column{did_you_mean(column, names)}",
            hint=named(column, names, otherwise=role(column, "sensitive")),
        )
    if criterion.measured_by == "numbers" and schema[column].kind != "numeric":
        raise JobError(
            "E111",
            f"{criterion.name} measures by the numbers of '{column}', which is not declared to hold any",
            hint=role(column, "sensitive", "numeric"),
        )
    require_measure(criterion, schema[column])


def require_target(algorithm: Algorithm, schema: Schema, *, complete: bool = True) -> None:
    """Refuse an algorithm that works towards a column which does not exist or has the wrong role."""
    for name in algorithm.columns:
        _require_counted(algorithm.name, name, schema, complete)


def _require_counted(who: str, name: str, schema: Schema, complete: bool) -> None:
    """Refuse a column whose values cannot be counted beside the quasi-identifiers."""
    names = [c.name for c in schema.columns]
    if name not in names:
        if complete:
            raise JobError(
                "E105",
                f"{who} looks at '{name}', which is no column of the job{did_you_mean(name, names)}",
                hint=f"Columns of the job: {', '.join(names[:20])}.",
            )
        return
    if schema[name].role == "quasi":
        raise JobError(
            "E111",
            f"{who} looks at the values of '{name}', but those of a quasi-identifier are coarsened",
            hint=say("{}   or another column", role(name, "sensitive")),
        )
    if schema[name].role == "identifier":
        raise JobError(
            "E111",
            f"{who} looks at '{name}', but a direct identifier is removed before anything is counted",
            hint=role(name, "subject"),
        )


def replace_job(job: Job, **changes: Any) -> Job:
    """A copy of a job with some of its fields changed."""
    made = object.__new__(Job)
    for name in Job.__dataclass_fields__:
        object.__setattr__(made, name, changes.get(name, getattr(job, name)))
    return made


def _no_role(argument: str, name: str, made: Iterable[Column], role_: str, how: str | None = None) -> JobError:
    """A setting of a column that nobody gave the role for which it means something."""
    known = [c.name for c in made]
    fix = named(name, known, otherwise=role(name, role_, how))
    return refused(f"'{argument}' names '{name}', which is no column with such a role{did_you_mean(name, known)}", fix)


def _population(given: Population | Data | None) -> Population | None:
    """A public table, however it was given."""
    if given is None or isinstance(given, Population):
        return given
    if isinstance(given, (str, Path)):
        return Population(str(given))
    from tarnkappe.io.frames import frame_kind

    if frame_kind(given) is not None:
        return Population(frame=given)
    such = setting("population: {path: register.csv}", "population", "register.csv")
    raise refused(f"'population' must be a file or a data frame, got {shown(given)}", such)


def column_of(name: str, role_: Role, how: Coarsening | None, weight: float = 1.0) -> Column:
    """A column of the Python API."""
    if isinstance(how, Numeric):
        return Column(name, role_, "numeric", None, weight)
    if isinstance(how, Taxonomy):
        how = tree(how.nested())
    if how is not None and not isinstance(how, TaxonomyBuilder):
        raise refused(
            f"column '{name}' needs a taxonomy or numeric(), got {shown(how)}",
            say("{}   or  {}", role(name, role_, "suppress"), role(name, role_, "numeric")),
        )
    kind = "numeric" if how is not None and how.numeric else "categorical"
    return Column(name, role_, kind, how, weight)  # type: ignore[arg-type]

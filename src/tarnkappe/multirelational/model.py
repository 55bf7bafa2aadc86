"""What is asked for when people are spread over several tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from tarnkappe.bundle import Bundle
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import DataError, JobError, Notice, did_you_mean
from tarnkappe.goal import Goal
from tarnkappe.io.folders import lies_beside
from tarnkappe.job.model import Coarsening, column_of
from tarnkappe.schema import Column, MissingRule

#: What an attacker knows of a person's rows: every one of them, or only which kinds there are.
Rows = Literal["multiset", "set"]

#: Below so many persons who look the same, a warning is due.
_FEW = 3


@dataclass(frozen=True, init=False)
class Relation:
    """One table: its quasi-identifiers, its sensitive columns, and what is left out.

    `quasi` says how each column may be coarsened; for a check of published tables its names are enough. `sensitive`
    are columns that are published as they are. With ``{"diagnosis": 3}`` at most one third of the persons who look the
    same may have any one diagnosis.

    `rows` matters for a satellite. With ``"multiset"`` an attacker is assumed to know how many rows of each kind a
    person has, with ``"set"`` only which kinds; then rows of a person that look the same are published once.

    A column that seems to point at people is refused unless `because` says why it may be published.

    >>> Relation("visits", quasi=["month"], sensitive={"diagnosis": 3}).published
    ('month', 'diagnosis')
    """

    name: str
    quasi: Mapping[str, Coarsening | None]
    sensitive: Mapping[str, float | None]
    drop: tuple[str, ...] | Literal["rest"]
    rows: Rows
    because: Mapping[str, str]

    def __init__(
        self,
        name: str,
        quasi: Mapping[str, Coarsening] | Iterable[str] = (),
        sensitive: Mapping[str, float | None] | Iterable[str] = (),
        drop: Iterable[str] | Literal["rest"] = (),
        rows: Rows = "multiset",
        because: Mapping[str, str] | None = None,
    ) -> None:
        """Describe a table by the roles of its columns; the key needs none."""
        values = {
            "name": name,
            "quasi": dict(quasi) if isinstance(quasi, Mapping) else dict.fromkeys(quasi),
            "sensitive": dict(sensitive) if isinstance(sensitive, Mapping) else dict.fromkeys(sensitive),
            "drop": "rest" if drop == "rest" else tuple(drop),
            "rows": rows,
            "because": dict(because or {}),
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)
        if rows not in get_args(Rows):
            raise JobError("E110", f"'rows' must be multiset or set, got {rows!r}", hint='rows="multiset"')
        for column, share in self.diversity.items():
            if isinstance(share, bool) or not share >= 1:
                raise JobError(
                    "E110",
                    f"the l of '{column}' must be at least 1, got {share!r}",
                    hint=f'sensitive={{"{column}": 2}}',
                )
        twice = [c for c in self.published if (c in self.quasi) + (c in self.sensitive) > 1]
        if twice:
            raise JobError("E104", f"column '{twice[0]}' of '{name}' has two roles")
        unknown = [c for c in self.because if c not in self.published]
        if unknown:
            raise JobError(
                "E110",
                f"'because' names '{unknown[0]}', which '{name}' does not publish",
                hint=f'because={{"{next(iter(self.published), "ward")}": "an internal code, reviewed by the board"}}',
            )

    @property
    def diversity(self) -> dict[str, float]:
        """The l of each sensitive column that has one."""
        return {column: share for column, share in self.sensitive.items() if share is not None}

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that are published beside the key."""
        return (*self.quasi, *self.sensitive)

    def columns(self) -> list[Column]:
        """The quasi-identifiers as columns with their taxonomies."""
        made = [column_of(name, "quasi", how) for name, how in self.quasi.items()]
        return [replace(column, because=self.because.get(column.name)) for column in made]

    def published_columns(self) -> list[Column]:
        """All columns that are published beside the key, with the reasons given for them."""
        secret = [Column(name, "sensitive", because=self.because.get(name)) for name in self.sensitive]
        return [*self.columns(), *secret]

    def in_order(self, present: Sequence[str], key: str) -> list[str]:
        """The published columns in the order of a table, the key among them; every column must have a role."""
        for name in (key, *self.published):
            if name not in present:
                raise DataError(
                    "E410",
                    f"table '{self.name}' has no column '{name}'{did_you_mean(name, present)}",
                    hint="Its columns are: " + ", ".join(present[:20]) + ".",
                )
        known = {key, *self.published, *self.drop} if self.drop != "rest" else set(present)
        unclassified = [name for name in present if name not in known]
        if unclassified:
            raise JobError(
                "E101",
                f"column '{unclassified[0]}' of '{self.name}' has no role",
                hint=f'Relation("{self.name}", …, drop="rest")',
            )
        return [name for name in present if name == key or name in self.published]


@dataclass(frozen=True, init=False)
class MultiJob:
    """A person table, satellites joined to it by a key, and how many persons must look the same in all of them.

    Persons who do not are suppressed in all tables, at most the share `max_suppressed` of them.
    """

    key: str
    person: Relation
    satellites: tuple[Relation, ...]
    goal: Goal
    missing_rule: MissingRule | None

    def __init__(
        self,
        key: str,
        person: Relation,
        satellites: Iterable[Relation],
        k: int,
        max_suppressed: float = 0.0,
        missing_rule: MissingRule | None = None,
    ) -> None:
        """Name the key column, which all tables have, and describe the tables."""
        values = {
            "key": key,
            "person": person,
            "satellites": tuple(satellites),
            "goal": Goal([KAnonymity(k)], max_suppressed),
            "missing_rule": missing_rule,
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)
        names = [r.name for r in self.relations]
        nameless = [name for name in names if not lies_beside(name)]
        if nameless:
            raise JobError(
                "E110",
                f"'{nameless[0]}' cannot be the name of a table, nor of its file",
                hint="Call it such as  visits.",
            )
        if len({name.casefold() for name in names}) < len(names):  # some disks do not tell them apart
            raise JobError("E104", "two tables have the same name", hint="Give every table a name of its own.")
        if not any(r.quasi for r in self.relations):
            raise JobError(
                "E106",
                "no column is a quasi-identifier, so there is nothing to protect",
                hint=f'Relation("{person.name}", quasi={{"age": numeric()}})',
            )
        for relation in self.relations:
            if key in relation.published:
                raise JobError(
                    "E111",
                    f"'{key}' is the key, which is replaced; it cannot be published by '{relation.name}'",
                    hint="Leave it out of quasi and sensitive.",
                )
        if missing_rule == "wildcard":
            raise JobError("E111", "joined tables cannot treat missing values as wildcards", hint="own-value")

    @property
    def k(self) -> int:
        """How many persons must look the same."""
        return self.goal.min_size

    @property
    def relations(self) -> tuple[Relation, ...]:
        """All tables, the person table first."""
        return (self.person, *self.satellites)

    def notices(self) -> tuple[Notice, ...]:
        """Warnings about the job itself."""
        if self.k >= _FEW:
            return ()
        hint = "Authorities usually ask for 5 or more, 10 for public files."
        return (Notice("W601", f"as few as {self.k} persons may look the same", hint=hint),)


@dataclass(frozen=True, eq=False, repr=False)
class MultiRelease(Bundle):
    """Verified tables that may be shared, and what they cost."""

    #: The level of every quasi-identifier by table.
    levels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: How much detail a column has lost on average, between 0 and 1. For the publisher only.
    loss: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    n_persons: int = 0
    n_suppressed: int = 0
    n_groups: int = 0

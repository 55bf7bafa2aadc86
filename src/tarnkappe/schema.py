"""What the columns of a table are: their roles, kinds and weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from tarnkappe.errors import DataError, JobError, closest, did_you_mean
from tarnkappe.fixes import DROP_REST, Fix, assignment, of_column, role, say
from tarnkappe.taxonomy.base import TaxonomyBuilder
from tarnkappe.taxonomy.builders import Suppress

Role = Literal[
    "identifier", "quasi", "sensitive", "keep", "drop", "subject", "household", "weight", "stratum", "undecided"
]
Kind = Literal["categorical", "numeric"]
MissingRule = Literal["own-value", "wildcard"]

#: What is published as it is or not at all: a stratum, or labels that were given.
AsItIs = Literal["stratum", "label"]

ROLES: tuple[str, ...] = get_args(Role)
KINDS: tuple[str, ...] = get_args(Kind)
MISSING_RULES: tuple[str, ...] = get_args(MissingRule)


class RoleMeaning(NamedTuple):
    """What a column of a role is and what becomes of it, in words; read as a whole, whoever writes a job is told."""

    #: Of any release.
    about: str
    #: Of releases whose groups have labels.
    labelled: str = ""
    #: What the job must say besides.
    asked: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, self))


#: What every role means, for `tarnkappe explain`, the job file and the report.
ROLE_MEANINGS: dict[str, RoleMeaning] = {
    "identifier": RoleMeaning("Names a person directly (name, insurance number). Always removed."),
    "quasi": RoleMeaning(
        "Known to others and identifying in combination (age, postcode, sex).", "Coarsened until groups form."
    ),
    "sensitive": RoleMeaning(
        "What nobody may learn about a person (diagnosis, income).", "Published unchanged inside safe groups."
    ),
    "keep": RoleMeaning(
        "Published unchanged, because outsiders are not expected to know it of a person.",
        asked="Say why with `because`.",
    ),
    "drop": RoleMeaning("Not needed by the users of the release. Removed."),
    "subject": RoleMeaning(
        "The key of a person who may have several records. Removed; criteria that name it count people by it."
    ),
    "household": RoleMeaning("The key of a household. Removed; criteria that name it count households by it."),
    "weight": RoleMeaning("How many people a record of a survey stands for. Removed; criteria that name it add it up."),
    "stratum": RoleMeaning(
        "A part of the population that was drawn by itself. Published as it is, and no group mixes two of them."
    ),
    "undecided": RoleMeaning("Nobody has chosen a role yet. The job does not run before somebody has."),
}

#: Roles of keys: what several records share, which go under other numbers in each release.
KEYS: tuple[Role, ...] = ("subject", "household")

#: What a text must consist of at least to be a reason: letters, and different ones among them.
_FEWEST_LETTERS, _FEWEST_DIFFERENT = 10, 6


def is_reason(text: str) -> bool:
    """Whether a text is long enough to be a reason.

    >>> is_reason("x"), is_reason("reviewed …"), is_reason("internal code, reviewed 2026-11-10")
    (False, False, True)
    """
    words = re.findall(r"[^\W\d_]+", text)
    letters = "".join(words)
    spaced = len(words) > 1 or not text.isascii()  # some scripts write whole sentences without a space
    return spaced and len(letters) >= _FEWEST_LETTERS and len(set(letters)) >= _FEWEST_DIFFERENT


#: Columns that a message names.
_MOST_SHOWN = 8


class UndecidedError(JobError):
    """Columns have no role."""

    #: Whether the job seems to name one of them, but spells it otherwise or in another place.
    misspelt = False


def undecided_error(
    columns: Sequence[str], seen: Sequence[str] = (), where: str | None = None, absent: Sequence[str] = ()
) -> UndecidedError:
    """The error about columns that have no role; `seen` says what each of the first ones looks like.

    Columns of the job that the data do not have (`absent`) may be misspelt.
    """
    n = len(columns)
    shown = columns[:_MOST_SHOWN]
    looks = [f"{name}: {words}" for name, words in zip(shown, seen, strict=False)]
    looks += [f"The job names '{c}', which the data do not have{did_you_mean(c, columns)}." for c in absent[:3]]
    meant = next(((c, name) for c in absent if (name := closest(c, columns)) is not None), None)
    hint: str | Fix = say("Add  {}   (or the role it has).", role(columns[0], "drop"))
    if n > 1:
        hint = say("Add  {}   (or its role), or for all of them at once  {}", role(columns[0], "drop"), DROP_REST)
    if "rest" in absent:
        hint = say("Write  {}", DROP_REST)
    elif meant is not None:
        hint = f"Write  {meant[1]}  in place of  {meant[0]}"
    error = UndecidedError(
        "E101",
        f"{n} column{'s have' if n > 1 else ' has'} no role: {', '.join(shown)}" + (" …" if n > len(shown) else ""),
        where=where,
        details=[*looks, f"Every column needs one of: {', '.join(r for r in ROLES if r != 'undecided')}."],
        hint=hint,
    )
    error.misspelt = meant is not None or "rest" in absent
    return error


@dataclass(frozen=True)
class Column:
    """One column: its role, how its values are read, and how they may be coarsened.

    A categorical quasi-identifier needs a taxonomy; a numeric one is generalised to ``[min max]`` unless it has one.
    No algorithm publishes a quasi-identifier below `min_level` of its taxonomy, or above `max_level`. A numeric one
    without a taxonomy then has the levels of `quantiles`. In a `lenient` column, what it cannot hold counts as missing,
    where others refuse it.
    """

    name: str
    role: Role
    kind: Kind = "categorical"
    taxonomy: TaxonomyBuilder | None = None
    weight: float = 1.0
    because: str | None = None
    min_level: int = 0
    max_level: int | None = None
    lenient: bool = False
    as_it_is: AsItIs | None = None

    def __post_init__(self) -> None:
        """Refuse a quasi-identifier that nobody said how to coarsen, and settings and reasons that mean nothing.

        A stratum is a quasi-identifier that is never coarsened: groups of two strata would have to be.
        """
        if self.role == "stratum":
            settled = {"role": "quasi", "taxonomy": Suppress(), "max_level": 0, "as_it_is": "stratum"}
            for name, value in settled.items():
                object.__setattr__(self, name, value)
        if self.role == "weight":
            object.__setattr__(self, "kind", "numeric")
        for what, given, known in (("role", self.role, ROLES), ("kind", self.kind, KINDS)):
            if given not in known:
                guess = did_you_mean(str(given), known)
                raise JobError(
                    "E110",
                    f"the {what} of '{self.name}' must be one of {', '.join(known)}, got {given!r}{guess}",
                    hint=role(str(self.name), "drop"),
                )
        if self.taxonomy is not None and not isinstance(self.taxonomy, TaxonomyBuilder):
            raise JobError(
                "E110",
                f"the taxonomy of '{self.name}' must be made by a function such as suppress(), got a "
                f"{type(self.taxonomy).__name__}",
                hint=say("{}   or  {}", role(self.name, "quasi", "suppress"), role(self.name, "quasi", "numeric")),
            )
        if isinstance(self.weight, bool) or not isinstance(self.weight, (int, float)) or not self.weight > 0:
            raise JobError(
                "E110",
                f"the weight of '{self.name}' must be a number above 0, got {self.weight!r}",
                hint=of_column(self.name, "weight", 2, "weights"),
            )
        if self.because is not None and not is_reason(self.because):
            raise JobError(
                "E110",
                f"'because' of column '{self.name}' is too short to be a reason",
                details=["It is recorded and printed in the reports, for those who ask why the column was published."],
                hint=of_column(self.name, "because", "ward codes are internal, reviewed by A. Meyer"),
            )
        for key, level in (("min_level", self.min_level), ("max_level", self.max_level)):
            if level is not None and (type(level) is not int or level < 0):
                raise JobError(
                    "E110",
                    f"'{key}' of '{self.name}' must be a whole number of at least 0, got {level!r}",
                    hint=of_column(self.name, key, 1),
                )
        if (self.min_level or self.max_level is not None) and self.role != "quasi":
            raise JobError(
                "E110",
                f"'{self.name}' has levels, but only a quasi-identifier is generalised",
                hint=say("{}   or remove  min_level  and  max_level.", role(self.name, "quasi")),
            )
        if self.min_level and self.taxonomy is not None and self.taxonomy.admits_unknown:
            raise JobError(
                "E110",
                f"'{self.name}' has a lowest level, but values that its taxonomy lacks have no levels",
                hint=say(
                    "{}   (and add the values to the taxonomy), or remove  min_level.",
                    assignment("on_unknown", "error"),
                ),
            )
        if self.max_level is not None and self.min_level > self.max_level:
            raise JobError(
                "E110",
                f"the levels of '{self.name}' contradict each other: at least {self.min_level}, at most "
                f"{self.max_level}",
                hint=of_column(self.name, "min_level", self.max_level),
            )
        if self.role == "quasi" and self.kind == "categorical" and self.taxonomy is None:
            raise JobError(
                "E112",
                f"quasi-identifier '{self.name}' has no taxonomy",
                hint=say(
                    "{}   or, if it holds numbers,  {}",
                    role(self.name, "quasi", "suppress"),
                    role(self.name, "quasi", "numeric"),
                ),
            )


@dataclass(frozen=True)
class Schema:
    """The columns of a table, every one with a role.

    >>> Schema([Column("age", "quasi", "numeric"), Column("name", "identifier")]).published
    ('age',)
    """

    columns: tuple[Column, ...]
    missing_rule: MissingRule | None = None
    _by_name: dict[str, Column] = field(init=False, repr=False, compare=False)

    def __init__(self, columns: Iterable[Column], missing_rule: MissingRule | None = None) -> None:
        """Take the columns in the order in which they are to be published."""
        object.__setattr__(self, "columns", tuple(columns))
        object.__setattr__(self, "missing_rule", missing_rule)
        object.__setattr__(self, "_by_name", {c.name: c for c in self.columns})
        if len(self._by_name) < len(self.columns):
            raise self._two_roles()
        if not self.quasi and not self.with_role("undecided"):  # those may still become some
            raise JobError(
                "E106",
                "no column is a quasi-identifier, so there is nothing to protect",
                hint=say(
                    "Name every column that others may know about a person, such as  {}",
                    role("age", "quasi", "numeric"),
                ),
            )

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    def with_role(self, *roles: Role) -> tuple[Column, ...]:
        """The columns that have one of these roles, in order."""
        return tuple(c for c in self.columns if c.role in roles)

    def _two_roles(self) -> JobError:
        name = next(name for name, n in Counter(c.name for c in self.columns).items() if n > 1)
        roles = [c.role for c in self.columns if c.name == name]
        what = " and ".join(f"'{r}'" for r in dict.fromkeys(roles)) if len({*roles}) > 1 else f"'{roles[0]}' twice"
        return JobError("E104", f"column '{name}' is named as {what}", hint=f"Name '{name}' in one of them only.")

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The quasi-identifiers."""
        return self.with_role("quasi")

    @property
    def sensitive(self) -> tuple[Column, ...]:
        """The sensitive columns."""
        return self.with_role("sensitive")

    @property
    def published(self) -> tuple[str, ...]:
        """Names of the columns that may appear in a release, in order; nothing else ever does."""
        return tuple(c.name for c in self.with_role("quasi", "sensitive", "keep"))

    def require_match(self, columns: Iterable[str], where: str | None = None) -> None:
        """Refuse data with a column that has no role, or without a column the schema names."""
        present = list(columns)
        undecided = [c for c in present if c not in self._by_name or self._by_name[c].role == "undecided"]
        absent = [c.name for c in self.columns if c.name not in present]
        if undecided:
            raise undecided_error(undecided, where=where, absent=absent)
        if absent:
            raise DataError(
                "E410",
                f"the data have no column '{absent[0]}'{did_you_mean(absent[0], present)}",
                where=where,
                hint="Columns of the data: " + ", ".join(present[:20]) + ".",
            )

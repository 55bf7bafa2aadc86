"""What every attack is, and what it finds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from tarnkappe.fixes import Fix, criterion, setting
from tarnkappe.params import Declared, param
from tarnkappe.wording import percent

if TYPE_CHECKING:
    from tarnkappe.attacks.scene import Scene

#: What an attack needs besides the release: a sensitive column, one that holds numbers, people and what is known about
#: them, a column that tells who is who, another release, a public table, people who are certainly not in the data,
#: columns of numbers, rows that hold all quasi-identifiers of a person, and rows that hold the secret too.
Need = Literal[
    "quasi", "sensitive", "known", "secrets", "key", "other", "population", "holdout", "numbers", "whole", "rows"
]

#: Each need in words, and how it is met on the command line and in Python.
NEEDS: dict[Need, tuple[str, str | Fix]] = {
    "quasi": ("the quasi-identifiers", setting("--quasi age,sex", "quasi", ["age", "sex"])),
    "sensitive": ("a sensitive column", setting("--sensitive illness", "sensitive", ["illness"])),
    "known": ("a table of people that an attacker has", setting("--known voters.csv", "known", "voters.csv")),
    "secrets": (
        "the true secrets of people, to check guesses with",
        setting("--known original.csv", "known", "original.csv"),
    ),
    "key": (
        "a column that tells who is who, in the release and in the table of people",
        setting("--key id", "key", "id"),
    ),
    "other": ("another release of the same people", setting("--other earlier.csv", "others", ["earlier.csv"])),
    "population": (
        "the public table that people come from",
        setting("--population register.csv", "population", "register.csv"),
    ),
    "holdout": ("people who are certainly not in the data", setting("--holdout others.csv", "holdout", "others.csv")),
    "whole": ("records whose quasi-identifiers stand together", "a release that does not tear them apart"),
    "rows": ("secrets that stand on the rows of people", "a release of one table with labels"),
    "numbers": (
        "columns of numbers that stand as numbers in both tables",
        Fix("--quasi income,age --known original.csv", 'quasi=["income", "age"], known="original.csv"'),
    ),
}

#: What leaves 5 % of the normal distribution outside.
_Z = 1.959963984540054


class Remedy:
    """A criterion that protects; ``NAME`` stands for the column that is attacked.

    >>> str(Remedy("t-closeness", column="NAME", t=0.2))
    't-closeness: {column: NAME, t: 0.2}'
    """

    def __init__(self, name: str, **parameters: Any) -> None:
        """The criterion by its name, and what it asks."""
        self.name, self.parameters = name, parameters

    def __str__(self) -> str:
        return criterion(self.name, "", **self.parameters).in_job.removeprefix("- ")

    def about(self, column: str | None) -> dict[str, Any]:
        """What it asks of a column."""
        return {key: column or value if value == "NAME" else value for key, value in self.parameters.items()}


@dataclass(frozen=True)
class AttackCard:
    """Plain words about an attack, for `tarnkappe explain`, the docs and the command."""

    #: What the attacker knows, and does.
    attacker: str
    #: What it means if it succeeds.
    success: str
    #: What the rate is compared with.
    baseline: str
    #: What protects from it: a criterion, or what is to be done.
    remedy: str | Remedy


@dataclass(frozen=True)
class Finding:
    """How often an attack succeeded, and how often a guess without it would have.

    `rate` is ``successes / trials``, and lies between `low` and `high` for 95 of 100 samples of people (Wilson).
    `baseline` is what somebody reaches who does not have the release, or guesses at random; `control` what the attack
    itself reaches where it should not succeed. `sentence` says it in words, without any value of a person.
    """

    attack: str
    column: str | None
    successes: float
    trials: int
    baseline: float
    sentence: str
    margin: float = 0.0
    control: float | None = None
    #: Whether the rate of a release that is safe varies by chance around the baseline.
    by_chance: bool = False
    #: Further figures by name.
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """The share of trials that succeeded."""
        return self.successes / self.trials if self.trials else 0.0

    @property
    def low(self) -> float:
        """The lower end of the confidence interval."""
        return wilson(self.successes, self.trials)[0]

    @property
    def high(self) -> float:
        """The upper end of the confidence interval."""
        return wilson(self.successes, self.trials)[1]

    @property
    def beats_baseline(self) -> bool:
        """Whether the attack succeeds more often than the baseline by more than the margin.

        Where the rate of a safe release varies by chance, the whole confidence interval must be above it.
        """
        reached = self.low if self.by_chance else self.rate
        return reached - self.baseline > self.margin + 1e-9

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        told = asdict(self)
        return {**told, "rate": self.rate, "low": self.low, "high": self.high, "beats_baseline": self.beats_baseline}

    def __str__(self) -> str:
        on = f" ({self.column})" if self.column else ""
        between = f"{percent(self.low)} to {percent(self.high)}"
        return f"{self.attack}{on}: {percent(self.rate)} ({between}), baseline {percent(self.baseline)}"


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """The confidence interval of Wilson for a share, 95 %.

    >>> [round(x, 4) for x in wilson(5, 10)], wilson(0, 0)
    ([0.2366, 0.7634], (0.0, 1.0))
    """
    if trials == 0:
        return 0.0, 1.0
    share, z2 = successes / trials, _Z * _Z
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z / (1 + z2 / trials) * math.sqrt(max(share * (1 - share), 0) / trials + z2 / (4 * trials * trials))
    return max(middle - half, 0.0) if successes > 0 else 0.0, min(middle + half, 1.0) if successes < trials else 1.0


@dataclass(frozen=True)
class Attack(Declared, ABC):
    """Something that a reader of a release may try, carried out and counted.

    A subclass is a frozen dataclass in a file of its own. It declares its parameters with `param`, what it `needs`
    besides the release, and carries itself out on a scene: the release and what else an attacker has.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    card: ClassVar[AttackCard]
    needs: ClassVar[tuple[Need, ...]] = ()
    #: What it finds out about people: who a record is about, whether they are in the data, or what is secret.
    finds: ClassVar[Literal["identity", "presence", "secret"]] = "secret"
    #: Whether the rate of a release that is safe varies by chance around the baseline.
    by_chance: ClassVar[bool] = False

    margin: float = param(
        0.0, doc="By how much it may beat its baseline; more is no release, in a job.", ge=0, le=1, kw_only=True
    )

    @abstractmethod
    def carry_out(self, scene: Scene) -> Finding:
        """Attack, and count how often it succeeds."""

    def findings(self, scene: Scene) -> list[Finding]:
        """What it finds on a scene."""
        return [self.carry_out(scene)]

    def lacks(self, scene: Scene) -> Need | None:
        """What it needs and the scene does not have, if anything."""
        return next((need for need in self.needs if not scene.has(need)), None)

    def told_publicly(self) -> dict[str, Any]:
        """The parameters that readers of a release may know."""
        return self.get_params()

    @property
    def sensitive_column(self) -> str | None:
        """The sensitive column it is about, if it was said."""
        return getattr(self, "column", None)

    def found(
        self,
        successes: float,
        trials: int,
        baseline: float,
        sentence: str,
        *,
        control: float | None = None,
        column: str | None = None,
        figures: Mapping[str, float] | None = None,
    ) -> Finding:
        """What this attack found."""
        return Finding(
            self.name,
            column,
            float(successes),
            int(trials),
            float(baseline),
            sentence,
            self.margin,
            None if control is None else float(control),
            self.by_chance,
            {name: float(value) for name, value in (figures or {}).items()},
        )


@dataclass(frozen=True)
class SecretAttack(Attack):
    """An attack on the values of one sensitive column."""

    needs: ClassVar[tuple[Need, ...]] = ("quasi", "sensitive")

    column: str | None = param(
        None, doc="The sensitive column; each of them in turn if none is named.", refers_to="sensitive"
    )

    def findings(self, scene: Scene) -> list[Finding]:
        """What it finds on a scene, in each of the sensitive columns unless one was named."""
        if self.column is not None:
            return [self.carry_out(scene)]
        return [replace(self, column=name).carry_out(scene) for name in scene.secrets]

    def of(self, scene: Scene) -> str:
        """The sensitive column in this scene."""
        return self.column or scene.secrets[0]


@dataclass(frozen=True)
class SequelAttack(SecretAttack):
    """An attack on a release that follows an earlier one about the same people."""

    earlier: str | None = param(
        None, doc="The earlier release, a file or a folder; in a job file relative to that.", example="release-2025"
    )

    def told_publicly(self) -> dict[str, Any]:
        """All but where the earlier release lies."""
        return {name: value for name, value in self.get_params().items() if name != "earlier"}

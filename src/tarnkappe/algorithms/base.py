"""What every algorithm is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self

import numpy as np

from tarnkappe.algorithms.watch import NOBODY, Watch
from tarnkappe.criteria.base import Scope
from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm, say, setting
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import Declared, referring
from tarnkappe.publish.boxes import BoxForm
from tarnkappe.publish.centres import Centres
from tarnkappe.publish.form import HIDDEN_WORDS, Form, Secret
from tarnkappe.tally import Tally
from tarnkappe.wording import plural

#: Why an algorithm cannot promise what it was not made for, and which one can.
_FOREIGN: dict[Scope, tuple[str, str]] = {
    "group": ("it forms its groups without asking about them", "mondrian"),
    "projection": ("single groups do not decide about it", "flash"),
    "table": ("single groups do not decide about it", "flash"),
    "method": ("it forms groups by looking at the sensitive values, which betrays them", "mask"),
    "mechanism": ("groups formed by looking at the data break its promise", "sdgs"),
}

Scheme = Literal["full-domain", "subtree", "multidimensional", "local", "microaggregation", "bucketization"]


@dataclass(frozen=True)
class Algorithm(Declared, ABC):
    """Decides which cells form a group. Pure: a tally in, a grouping out, no I/O.

    A subclass is a frozen dataclass in a file of its own. It asks the goal about groups and never looks at a criterion
    itself, so it works with all of them, present and future.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    scheme: ClassVar[Scheme]
    summary: ClassVar[str]
    #: What its groups say; a promise that this form cannot keep is refused before anything is counted.
    publishes: ClassVar[type[Form]] = BoxForm
    #: Whether it finds correct groups for criteria that pooling can break.
    handles_non_monotone: ClassVar[bool] = False
    #: What may decide about a criterion (see `Criterion.scope`).
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group"})
    #: Whether it works with a public table, whose cells may have no records.
    handles_population: ClassVar[bool] = False
    #: Whether it generalises; otherwise a value is published as it is or not at all.
    generalises: ClassVar[bool] = True
    #: Whether it can leave a missing cell open to any group (``missing_rule: wildcard``).
    handles_wildcards: ClassVar[bool] = False

    #: Whether parts of a table that is cut along a curve can be decided one by one: it publishes boxes that lie tight
    #: around the cells of their groups, and how one group is recoded says nothing about the next.
    decides_parts: ClassVar[bool] = False

    #: The most records it takes, where its time may grow with their square, and the name of one that takes more.
    most_records: ClassVar[int | None] = None
    for_more: ClassVar[str] = "mondrian"
    #: What may find groups where it finds nothing but one, as it is written in a job.
    for_groups: ClassVar[str] = "mondrian"
    #: Whether it asks the watch itself wherever it could end; others are ended where they ask the goal about groups.
    asks_watch: ClassVar[bool] = False
    #: Who looks after the search; no parameter, and no part of what an algorithm is.
    watch: Watch = field(default=NOBODY, kw_only=True, compare=False, repr=False)

    @abstractmethod
    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """A grouping in which every group satisfies the goal, or an `InfeasibleError`."""

    def promised(self, goal: Goal, n_quasi: int) -> Goal:
        """The goal with what this algorithm promises besides, as criteria that a release of it is checked for.

        `n_quasi` is the number of quasi-identifiers.
        """
        return goal

    def all_in_one(self, tally: Tally) -> Grouping | None:
        """All records in one group as this algorithm publishes it; None if it cannot say such a thing."""
        return Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)

    def watched(self, watch: Watch) -> Self:
        """The same algorithm under somebody's eyes."""
        return replace(self, watch=watch)

    def chosen_for(self, tally: Tally, goal: Goal) -> Algorithm:
        """The algorithm that decides about a table: itself, unless it chooses among others."""
        return self

    def why(self, tally: Tally, goal: Goal) -> str | None:
        """Which algorithm it chose and why, if it chooses."""
        return None

    @property
    def publishes_levels(self) -> bool:
        """Whether it publishes every value of a column at the same level, so that it searches among the levels."""
        return self.scheme == "full-domain"

    @property
    def publishes_centres(self) -> bool:
        """Whether this algorithm, with its parameters, publishes centres of groups."""
        return issubclass(self.publishes, Centres)

    @property
    def takes_population(self) -> bool:
        """Whether this algorithm, with its parameters, works with a public table."""
        return self.handles_population

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns besides the quasi-identifiers whose values must be counted for it, such as a target."""
        return referring(self, "sensitive", "predicted", "counted")

    @property
    def predicted_column(self) -> str | None:
        """The column that readers of the release want to predict, if groups are formed for them."""
        return next(iter(referring(self, "predicted")), None)

    def search_size(self, tally: Tally) -> str:
        """What it searches among, in words, and how many records it takes where that is limited."""
        among = f"groups of {plural(tally.n_cells, 'cell')}"
        if self.most_records is None:
            return among
        slow = "slow, at worst with the square of the records"
        return f"{among}; {slow}, so {self.most_records} of them at most (for more: {self.for_more})"

    def memory(self, tally: Tally) -> int:
        """About how many bytes it takes besides its working arrays: the cells it decides about."""
        return tally.quasi.nbytes + tally.sensitive.nbytes + tally.count.nbytes

    def require_kept(self, goal: Goal) -> None:
        """Refuse a criterion that protects what this algorithm publishes; no look at the data is needed for that."""
        for criterion in goal.criteria:
            if criterion.centre_column is not None and not self.publishes_centres:
                raise JobError(
                    "E111",
                    f"{self.name} cannot promise {criterion.name}: it is about centres, and it publishes "
                    f"{self.publishes.name}",
                    hint=say("Choose an algorithm that publishes centres:  {}", algorithm("mdav")),
                )
            bare = criterion.protects - self.publishes.hides
            if bare:
                raise JobError(
                    "E111",
                    f"{self.name} cannot promise {criterion.name}: it publishes {self.publishes.name}, which hide "
                    f"{_listed(self.publishes.hides)} and not {_listed(bare)}",
                    hint=say("Drop the criterion, or choose an algorithm that generalises:  {}", algorithm("mondrian")),
                )

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Refuse what this algorithm cannot do, before it starts."""
        if self.most_records is not None and tally.n_records > self.most_records:
            raise JobError(
                "E111",
                f"{self.name} would take too long: it is for at most {self.most_records} records",
                hint=say("Choose another algorithm:  {}", algorithm(self.for_more)),
            )
        foreign = [c for c in goal.criteria if c.decided_on not in self.scopes]
        if foreign:
            reason, other = _FOREIGN[foreign[0].decided_on]
            names = ", ".join(c.name for c in foreign if c.decided_on == foreign[0].decided_on)
            raise JobError(
                "E111",
                f"{self.name} cannot guarantee {names}: {reason}",
                hint=say("Choose another algorithm:  {}", algorithm(other)),
            )
        if tally.population is not None and not self.takes_population:
            settings = " with these parameters" if self.handles_population else ""
            raise JobError(
                "E111",
                f"{self.name}{settings} cannot work with a public table",
                hint=say("Choose another algorithm:  {}", algorithm("flash")),
            )
        if not goal.monotone and not self.handles_non_monotone:
            names = ", ".join(c.name for c in goal.criteria if not c.is_monotone)
            raise JobError(
                "E111",
                f"{self.name} cannot guarantee {names}: pooling groups may break it",
                hint=say("Choose an algorithm that checks whole releases:  {}", algorithm("flash")),
            )
        if not self.handles_wildcards and any(d.wildcard for d in tally.quasi_domains):
            raise JobError(
                "E111",
                f"{self.name} cannot treat missing values as wildcards",
                hint=say(
                    "Set  {}  or  {}",
                    setting("missing_rule: own-value", "missing_rule", "own-value"),
                    algorithm("mondrian"),
                ),
            )


def _listed(hidden: frozenset[Secret]) -> str:
    return " and ".join(words for what, words in HIDDEN_WORDS.items() if what in hidden)

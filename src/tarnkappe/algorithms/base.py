"""What every algorithm is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import Declared
from tarnkappe.tally import Tally

Scheme = Literal["full-domain", "multidimensional"]


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
    #: Whether it finds correct groups for criteria that pooling can break.
    handles_non_monotone: ClassVar[bool] = False
    #: Whether it can leave a missing cell open to any group (``missing_rule: wildcard``).
    handles_wildcards: ClassVar[bool] = False

    @abstractmethod
    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """A grouping in which every group satisfies the goal, or an `InfeasibleError`."""

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Refuse what this algorithm cannot do, before it starts."""
        if not goal.monotone and not self.handles_non_monotone:
            names = ", ".join(c.name for c in goal.criteria if not c.monotone)
            raise JobError(
                "E111",
                f"{self.name} cannot guarantee {names}: pooling groups may break it",
                hint="Choose an algorithm that handles criteria which are not monotone.",
            )
        if not self.handles_wildcards and any(d.wildcard for d in tally.quasi_domains):
            raise JobError(
                "E111",
                f"{self.name} cannot treat missing values as wildcards",
                hint="Set  missing_rule: own-value  or  algorithm: {name: mondrian}.",
            )

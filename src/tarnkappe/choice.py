"""``algorithm: auto``: the algorithm that suits the situation; no algorithm itself, but a choice among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.effort import Improving
from tarnkappe.criteria.base import Scope
from tarnkappe.errors import JobError, LimitError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class Rule:
    """An algorithm, when it is the one to take, and why."""

    algorithm: str
    why: str
    when: Callable[[Auto, Tally, Goal], bool] = lambda auto, tally, goal: True


def _beyond_groups(tally: Tally, goal: Goal) -> bool:
    """Whether more than single groups, each by itself and safe to pool, decides about the goal."""
    return not goal.monotone or goal.scopes != {"group"} or tally.population is not None


#: From so many records in a group on, dividing the table loses less than growing groups of neighbours: on the generated
#: census of 20 000 records 12 % less at k = 50, 15 % at k = 100, 14 % at k = 200; at k = 10 it loses 2 % more.
_LARGE_GROUPS = 50

#: The first rule that applies and whose algorithm can keep the promise decides. None claims more than was measured or
#: follows from how its algorithm works.
RULES = (
    Rule("sdgs", "only a mechanism can promise this", lambda a, t, g: g.is_mechanism),
    Rule("mdav", "centres were asked for, and it is quick at any size", lambda a, t, g: a.publish == "centres"),
    Rule(
        "flash",
        "more than single groups decides about the criteria, and it checks whole releases",
        lambda a, t, g: _beyond_groups(t, g),
    ),
    Rule(
        "best-first",
        "more than single groups decides about the criteria, and the lattice is too large for an exact search",
        lambda a, t, g: _beyond_groups(t, g),
    ),
    Rule(
        "top-down-greedy",
        f"groups have {_LARGE_GROUPS} records or more; where it was measured, such groups lost less when the table was "
        "divided than when they were made of neighbours on a curve, as hilb does",
        lambda a, t, g: g.decided_by_size and g.min_size >= _LARGE_GROUPS,
    ),
    Rule("hilb", "it starts from the groups of Mondrian, among others, and takes what loses least"),
    Rule("mondrian", "it can keep every promise about single groups"),
)


@dataclass(frozen=True)
class Auto(Improving):
    """Take the algorithm that suits the table and the goal, and say why.

    What decides is what the goal asks for and what groups shall publish, never a value of a record. The
    rules stand in one table, `RULES`; what the chosen one promises, it promises.
    """

    name: ClassVar = "auto"
    title: ClassVar = "Automatic choice"
    scheme: ClassVar = "local"
    summary: ClassVar = "Takes the algorithm that suits the table and the goal, and says which one and why."
    handles_non_monotone: ClassVar = True
    handles_population: ClassVar = True
    handles_wildcards: ClassVar = True
    decides_parts: ClassVar = True
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection", "table", "mechanism"})

    publish: str = param(
        "ranges",
        doc="What a group publishes: ranges and categories, or the centre of its values.",
        choices=("ranges", "centres"),
    )

    @property
    def publishes_centres(self) -> bool:
        """If it is asked for."""
        return self.publish == "centres"

    def chosen(self, tally: Tally, goal: Goal) -> tuple[Algorithm, str]:
        """The algorithm to take, and why."""
        refused: JobError | LimitError | None = None
        for rule in RULES:
            if not rule.when(self, tally, goal):
                continue
            made = algorithm_class(rule.algorithm)()
            if isinstance(made, Improving):
                made = replace(made, effort=self.effort)
            try:
                made.require_supported(tally, goal)
            except (JobError, LimitError) as error:
                refused = refused or error
                continue
            return made.watched(self.watch), rule.why
        assert refused is not None, "the last rule always applies"
        raise refused

    def chosen_for(self, tally: Tally, goal: Goal) -> Algorithm:
        """The algorithm that is taken for a table and a goal."""
        return self.chosen(tally, goal)[0]

    def why(self, tally: Tally, goal: Goal) -> str:
        """The choice in words."""
        made, reason = self.chosen(tally, goal)
        return f"{made.name}: {reason}"

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Refuse what no algorithm of the rules can do."""
        self.chosen(tally, goal)

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """What the algorithm that was chosen decides."""
        return self.chosen_for(tally, goal).decide(tally, goal, rng=rng)

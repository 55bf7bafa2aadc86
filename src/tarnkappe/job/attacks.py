"""The attacks that a release must withstand before it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tarnkappe.attacks import Attack, attack_class
from tarnkappe.attacks.base import NEEDS, Need, SequelAttack
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import Fix, role, say
from tarnkappe.goal import Goal
from tarnkappe.job.given import named, refused, shown
from tarnkappe.schema import Schema

#: What a run has: the data, the table it wrote, and a public table if the job names one.
_THERE: frozenset[Need] = frozenset(NEEDS) - {"key", "other", "holdout"}

#: A public table that people come from.
_POPULATION_FIX = Fix("population: {path: REGISTER.csv}", 'population="REGISTER.csv"')

ATTACK_FIX = Fix("- homogeneity: {margin: 0.01}", "attacks=[Homogeneity(margin=0.01)]")


def attacks_of(given: Any) -> tuple[Attack, ...]:
    """The attacks of a job: several, or one, each by itself or by its name.

    >>> attacks_of("homogeneity")[0].margin
    0.0
    """
    several = given if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)) else (given,)
    out = []
    for item in several:
        made = attack_class(item)() if isinstance(item, str) else item
        if not isinstance(made, Attack):
            raise refused(f"'attacks' must be attacks, got {shown(item)}", ATTACK_FIX)
        out.append(made)
    return tuple(out)


def require_attackable(attacks: Iterable[Attack], schema: Schema, goal: Goal, *, public_table: bool) -> None:
    """Refuse attacks that a run cannot carry out by itself, or whose outcome would tell what a mechanism hides."""
    names = [c.name for c in schema.sensitive]
    for one in attacks:
        if goal.is_mechanism:
            raise JobError(
                "E111",
                f"whether a release withstands '{one.name}' depends on the data, which {goal.asked} does not allow",
                hint=say(
                    "Remove  {}  from the job; what a mechanism hides needs no test on one table.",
                    Fix("attacks:", "attacks="),
                ),
            )
        there = _THERE | {"other"} if isinstance(one, SequelAttack) and one.earlier is not None else _THERE
        lacking = next((need for need in one.needs if need not in there), None)
        if lacking is None and "population" in one.needs and not public_table:
            lacking = "population"
        if lacking is not None:
            hint = _POPULATION_FIX if lacking == "population" else say("{}   (afterwards)", _afterwards(one, lacking))
            if lacking == "other":
                hint = say("{}  or  {}", hint, earlier_fix(one))
            raise JobError(
                "E111",
                f"the attack '{one.name}' needs {NEEDS[lacking][0]}, which a job does not have",
                hint=hint,
            )
        column = one.sensitive_column
        if column is not None and column not in names:
            raise JobError(
                "E105",
                f"{one.name} looks at '{column}', which is no sensitive column{did_you_mean(column, names)}",
                hint=named(column, names, otherwise=role(column, "sensitive")),
            )


def earlier_fix(one: Attack) -> Fix:
    """An attack with the earlier release that it needs."""
    return Fix(f"- {one.name}: {{earlier: release-2025}}", f'{type(one).__name__}(earlier="release-2025")')


def _afterwards(one: Attack, lacking: Need) -> Fix:
    """The attack on a release that is there, with what a job does not have."""
    needed = NEEDS[lacking][1]
    in_python = needed.in_python if isinstance(needed, Fix) else needed
    return Fix(f"tarnkappe attack {one.name} RELEASE {needed}", f'attack("{one.name}", "RELEASE", {in_python})')

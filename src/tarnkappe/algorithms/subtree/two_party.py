"""Top-down specialisation of a table whose columns are held by several parties that do not show them to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tarnkappe.algorithms.recoding import Cut
from tarnkappe.algorithms.subtree.party import Party
from tarnkappe.algorithms.subtree.specialisation import by_size, specialise
from tarnkappe.arrays import Codes, Counts
from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.tally import Domain


@dataclass(frozen=True, eq=False)
class Holding:
    """The columns of one party: a row of codes per person, in the order of the common key."""

    codes: Codes
    domains: tuple[Domain, ...]


def specialise_together(
    holdings: Sequence[Holding], classes: tuple[Codes, int], count: Counts, goal: Goal, *, granularity: str = "sibling"
) -> list[list[Cut]]:
    """How each party recodes its columns so that the joined table satisfies the goal; as if one party held them all.

    Rows with the same position are the same person (or `count` persons that agree in everything). Everybody knows the
    class of each row and which rows are in one group. A party tells the others the score of its best specialisation,
    and, if that is the best of all, which rows of which groups come apart. Codes, values and taxonomies stay where they
    are. Of equal offers the one of the party named first is taken.

    The goal must be one that group sizes decide, such as k-anonymity: for others somebody would have to see more.

    References
    ----------
    .. [WaFD05] Wang, Fung, Dong. "Integrating private databases for data analysis." IEEE ISI 2005.
    .. [MFWH09] Mohammed, Fung, Wang, Hung. "Privacy-preserving data mashup." EDBT 2009.
    """
    n_records = int(count.sum())
    require_sizes(goal, n_records)
    parties = [
        Party(
            h.codes,
            h.domains,
            count,
            classes,
            min_size=goal.min_size,
            budget=goal.budget(n_records),
            granularity=granularity,
        )
        for h in holdings
    ]
    specialise(parties, by_size)
    return [party.cuts() for party in parties]


def require_sizes(goal: Goal, n_records: int) -> None:
    """Refuse a goal that parties cannot check together, or that so many records cannot reach."""
    if not goal.decided_by_size:
        names = ", ".join(c.name for c in goal.criteria if not c.decided_by_size)
        raise JobError(
            "E111",
            f"parties that do not show their columns cannot check {names} together",
            hint="criteria:\n  - k-anonymity: {k: 5}",
        )
    if n_records < goal.min_size:
        raise JobError(
            "E110", f"{n_records} records cannot form a group of {goal.min_size}", hint="- k-anonymity: {k: 2}"
        )

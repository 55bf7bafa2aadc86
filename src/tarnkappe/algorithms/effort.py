"""How much work an algorithm puts into improving its groups, counted in work and never in seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm as by_name
from tarnkappe.fixes import say
from tarnkappe.params import param

#: The efforts that have a name, as multiples of the usual work.
EFFORTS = {"quick": 0.25, "normal": 1.0, "best": 8.0}


@dataclass(frozen=True)
class Effort:
    """A multiple of the usual work per cell: the same table, seed and effort give the same groups on any machine.

    It knows nothing of the size of the table, so that the work is linear in it and no size changes the method.

    >>> Effort.of("best").of_usual(16)
    128
    >>> Effort.of(0.5).of_usual(16)
    8
    """

    times: float

    @classmethod
    def of(cls, given: str | float) -> Effort:
        """An effort by its name or as a number."""
        return cls(EFFORTS[given] if isinstance(given, str) else given)

    def of_usual(self, usual: float, least: int = 1) -> int:
        """So many steps, neighbours or tries, where `usual` is the number at normal effort."""
        return max(least, round(usual * self.times))


#: The usual work.
NORMAL = Effort(1.0)


@dataclass(frozen=True)
class Improving(Algorithm):
    """An algorithm that can go on improving what it has found.

    Where it has a parameter that counts its work, such as generations, that is what it does at normal effort.
    """

    asks_watch: ClassVar = True

    effort: str | float = param(
        "normal",
        doc="How much work goes into lower loss: a word, or a multiple of the normal work.",
        choices=tuple(EFFORTS),
        gt=0,
        kw_only=True,
    )

    @property
    def work(self) -> Effort:
        """The effort as a multiple."""
        return Effort.of(self.effort)


def with_effort(algorithm: Algorithm, effort: str | float | None) -> Algorithm:
    """The algorithm with this effort; an error if it has nothing to put it into, or was given another one."""
    if effort is None:
        return algorithm
    if not isinstance(algorithm, Improving):
        raise JobError(
            "E111",
            f"{algorithm.name} does not search on for lower loss, so an effort changes nothing",
            hint=say("Remove  effort, or choose an algorithm that improves its groups:  {}", by_name("hilb")),
        )
    wanted = replace(algorithm, effort=effort)
    usual = type(algorithm).__dataclass_fields__["effort"].default
    if algorithm.effort not in (usual, wanted.effort):
        raise JobError(
            "E110",
            f"the job asks for effort {wanted.effort} and its algorithm for {algorithm.effort}",
            hint=say("{}   without another  effort", by_name(algorithm.name, effort=wanted.effort)),
        )
    return wanted

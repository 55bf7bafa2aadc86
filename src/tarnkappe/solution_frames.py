"""The solution space of a job as frames: every release that full-domain generalisation could make, with its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, get_args

import polars as pl

from tarnkappe.algorithms.fulldomain.solutions import Solution, Solutions
from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.tally import Tally

#: Which nodes are told: those that satisfy the goal, or all that there are.
Which = Literal["satisfying", "all"]
WHICH: tuple[Which, ...] = get_args(Which)

#: Nodes in a frame.
_BATCH = 1000


def solution_frames(
    tally: Tally, goal: Goal, which: Which = "satisfying", batch: int = _BATCH
) -> Iterator[pl.DataFrame]:
    """All nodes of the lattice of a tally that satisfy a goal, or all there are; see `tarnkappe.solutions`."""
    if which not in WHICH:
        raise JobError("E110", f"'which' must be satisfying or all, got {which!r}", hint='which="satisfying"')
    space = Solutions(tally, goal)
    found = space.satisfying() if which == "satisfying" else space.every()
    names = [d.name for d in tally.quasi_domains]
    return (_frame(names, some) for some in iter(lambda: list(islice(found, batch)), []))


def _frame(names: Sequence[str], told: Sequence[Solution]) -> pl.DataFrame:
    levels = {f"level of {name}": [s.levels[j] for s in told] for j, name in enumerate(names)}
    plain = ("ok", "suppressed", "groups", "smallest", "smallest_class", "level_share", "group_mean")
    figures = {name: [getattr(s, name) for s in told] for name in plain}
    scores = {name: [s.scores[name] for s in told] for name in told[0].scores}
    return pl.DataFrame({**levels, **figures, **scores})

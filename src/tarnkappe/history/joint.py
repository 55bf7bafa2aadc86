"""What several releases say together: the groups that remain when each person's groups are intersected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tarnkappe.criteria.base import Criterion, Verdict
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.goal import Goal
from tarnkappe.groups import Draft
from tarnkappe.history.places import ABSENT, CELL, PERSON, PLACE, RECORDS, Residents, secret_name
from tarnkappe.wording import plural

_CLASS = "class"


@dataclass(frozen=True)
class Left:
    """Those who were in earlier releases and are in this one no more: what their leaving tells about them."""

    people: int
    #: The fewest who left what is one group to whoever has all releases, and the fewest values that such people have.
    together: int
    values: int


@dataclass(frozen=True)
class Joint:
    """The joint answer of a release and of earlier ones about the same people.

    People are alike if they are in the same groups of all releases; not being in one counts as a group too, because
    others may know who joined and who left. Every criterion of the goal is evaluated on these groups.
    """

    numbers: tuple[int, ...]
    #: People of this release who are in an earlier one, or were.
    common: int
    same_input: bool
    verdicts: tuple[Verdict, ...]
    #: What this release reaches alone, by the same way of looking at groups.
    alone: tuple[Verdict, ...]
    #: The joint k, and l and t of every sensitive column.
    figures: tuple[Verdict, ...]
    #: Criteria that say nothing about intersected groups, such as those about a public table.
    silent: tuple[str, ...]
    left: Left | None
    #: Whether those who left left too few together.
    left_too_few: bool

    @property
    def ok(self) -> bool:
        """Whether all releases together keep what this one promises."""
        return not self.broken and not self.left_too_few

    @property
    def broken(self) -> tuple[Verdict, ...]:
        """What all releases together break and this one alone does not, or not so often.

        Where cells are divided or people have several records, groups are looked at more closely than a reader can:
        then even one release alone may seem to break what it keeps.
        """
        pairs = zip(self.verdicts, self.alone, strict=True)
        return tuple(
            v for v, a in pairs if not v.ok and (v.reached, v.violating_groups) != (a.reached, a.violating_groups)
        )

    @property
    def told(self) -> str:
        """The joint figures in one line."""
        parts = [f"{_letter(v)}{f' ({v.column})' if v.column else ''} = {v.reached:.4g}" for v in self.figures]
        return ", ".join(parts)

    def details(self) -> list[str]:
        """What is below the goal, in lines."""
        lines = [
            f"{v.asked}{f' ({v.column})' if v.column else ''}: together they reach {v.reached:.4g}, "
            f"{plural(v.violating_groups, 'joint group breaks', 'joint groups break')} it."
            for v in self.broken
        ]
        if self.left is not None and self.left_too_few:
            lines.append(
                f"{plural(self.left.people, 'person', 'people')} left; from some group no more than "
                f"{self.left.together} at a time, with {plural(self.left.values, 'value')} between them."
            )
        return lines


def joint_answer(
    now: Residents,
    places: pl.DataFrame,
    earlier: Sequence[tuple[int, pl.DataFrame]],
    goal: Goal,
    *,
    same_input: bool,
) -> Joint:
    """Intersect the groups of this release with those of earlier ones (their numbers, and who was where)."""
    names = [f"place {number}" for number, _ in earlier]
    both = _classes(places, earlier)
    present = both.filter(pl.col("place") != ABSENT)
    common = present.filter(pl.any_horizontal(pl.col(name) != ABSENT for name in names)).height
    draft = _draft(now, present.select(PERSON, _CLASS))
    alone = _draft(now, places.select(PERSON, pl.col(PLACE).alias(_CLASS)))
    heard = [c for c in goal.criteria if _speaks(c)]
    columns = [d.name for d in now.tally.sensitive_domains if not d.aside]
    wanted = [
        KAnonymity(2),
        *(c for name in columns for c in (LDiversity(column=name, l=2), TCloseness(column=name, t=1.0))),
    ]
    left = _left(both, earlier, columns)
    return Joint(
        tuple(number for number, _ in earlier),
        common,
        same_input,
        _verdicts(now, draft, goal.about(heard)) if heard else (),
        _verdicts(now, alone, goal.about(heard)) if heard else (),
        _verdicts(now, draft, Goal(wanted)),
        tuple(c.name for c in goal.criteria if not _speaks(c)),
        left,
        left is not None and (left.together < goal.min_size or (bool(columns) and left.values < _least_values(goal))),
    )


def violating(
    now: Residents, places: pl.DataFrame, earlier: Sequence[tuple[int, pl.DataFrame]], goal: Goal
) -> pl.DataFrame:
    """The people of this release who are in joint groups that break the goal."""
    present = _classes(places, earlier).filter(pl.col("place") != ABSENT).select(PERSON, _CLASS)
    heard = [c for c in goal.criteria if _speaks(c)]
    if not heard:
        return present.clear()
    present = present.with_columns((pl.col(_CLASS).rank("dense") - 1).cast(pl.Int32).alias(_CLASS))
    asked, draft = goal.about(heard), _draft(now, present)
    ok = asked.satisfied(asked.stats(now.tally, draft, asked.table_distributions(now.tally)))
    return present.filter(~pl.Series(ok).gather(present[_CLASS].to_numpy()))


def _classes(places: pl.DataFrame, earlier: Sequence[tuple[int, pl.DataFrame]]) -> pl.DataFrame:
    """Everybody with the place in every release, and the joint group."""
    names = [f"place {number}" for number, _ in earlier]
    both = places.rename({PLACE: "place"})
    for name, (_, frame) in zip(names, earlier, strict=True):
        both = both.join(frame.select(PERSON, pl.col(PLACE).alias(name)), on=PERSON, how="full", coalesce=True)
    both = both.with_columns(pl.col("place", *names).fill_null(ABSENT))
    return both.with_columns(pl.struct("place", *names).rank("dense").cast(pl.Int32).alias(_CLASS))


def _speaks(criterion: Criterion) -> bool:
    """Whether a criterion can be asked about intersected groups."""
    alone = criterion.decided_on == "group" and not criterion.needs_population
    return alone and criterion.centre_column is None


def _least_values(goal: Goal) -> int:
    return max((c.enough_different or 1 for c in goal.criteria if isinstance(c, LDiversity)), default=1)


def _draft(now: Residents, present: pl.DataFrame) -> Draft:
    """The joint groups as pieces of cells."""
    pieces = now.frame.join(present, on=PERSON)
    pieces = pieces.with_columns((pl.col(_CLASS).rank("dense") - 1).cast(pl.Int32).alias("group"))
    pieces = pieces.group_by(CELL, "group").agg(pl.col(RECORDS).sum()).sort(CELL, "group")
    cell, group, quota = (pieces[name].to_numpy() for name in (CELL, "group", RECORDS))
    n = int(group.max(initial=-1)) + 1
    return Draft(cell.astype(np.int32), group.astype(np.int32), quota.astype(np.int64), n)


def _verdicts(now: Residents, draft: Draft, goal: Goal) -> tuple[Verdict, ...]:
    return goal.verdicts(goal.stats(now.tally, draft, goal.table_distributions(now.tally)))


def _left(both: pl.DataFrame, earlier: Sequence[tuple[int, pl.DataFrame]], columns: Sequence[str]) -> Left | None:
    """What is known about those who are no longer there, by the last release that they were in."""
    gone = both.filter(pl.col("place") == ABSENT).select(PERSON, _CLASS)
    if not gone.height:
        return None
    sizes = gone.group_by(_CLASS).len()
    least = 0
    for name in [secret_name(c) for c in columns]:
        known = [frame.select(PERSON, name) for _, frame in earlier if name in frame.columns]
        if known:
            last = pl.concat(known).unique(PERSON, keep="last", maintain_order=True)
            per = gone.join(last, on=PERSON).group_by(_CLASS).agg(pl.col(name).n_unique().alias("n"))
            fewest = int(per["n"].min() or 0)  # type: ignore[arg-type]
            least = fewest if least == 0 else min(least, fewest)
    return Left(gone.height, int(sizes["len"].min() or 0), least)  # type: ignore[arg-type]


def _letter(verdict: Verdict) -> str:
    return verdict.criterion[0]

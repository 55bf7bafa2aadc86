"""What to relax when no release satisfies the criteria: changes to a job, each tried on the table before it is told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.criteria.xy_privacy import XYPrivacy
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix, Relaxation, criterion, role, say
from tarnkappe.groups import GroupStats
from tarnkappe.params import parameters
from tarnkappe.wording import count

#: As many ways out are told as one reads.
MOST_TOLD = 3

#: What is usually asked for at least.
_USUAL_K = 5


def relaxations(criteria: Sequence[Criterion], together: GroupStats) -> list[Relaxation]:
    """Ways to weaken criteria that not even all records in one group satisfy; `together` is that group.

    After each of them that one group satisfies all that is still asked, so a release exists.
    """
    failing = [c for c in criteria if not _holds([c], together)]
    if not failing:
        return []
    n = int(together.size.sum())
    out = []
    weaker = {c: _weakest(c, together) for c in failing}
    if all(w is not None for w in weaker.values()):
        fixes = [written(w) for w in weaker.values() if w is not None]
        fix = say("  and  ".join(["{}"] * len(fixes)), *fixes)
        everyone = f"all {count(n)} records in one group satisfy" if n > 1 else "the only record satisfies"
        out.append(Relaxation(fix, f"{everyone} it, which is the least that is left"))
    for c, (parts, words) in product(failing, ((2, "two"), (4, "four"))):
        less = with_threshold(c, n // parts) if c.decided_by_size and n >= 2 * parts else None
        others = [weaker.get(o) or o for o in criteria if o is not c]
        if less is not None and _holds([less, *others], together):
            fixes = [written(less), *(written(w) for o, w in weaker.items() if o is not c and w is not None)]
            fix = say("  and  ".join(["{}"] * len(fixes)), *fixes)
            out.append(Relaxation(fix, f"{count(n)} records are enough for {words} groups"))
    column = failing[0].sensitive_column
    about = [c for c in criteria if column in c.columns]
    remaining = [c for c in criteria if c not in about]
    if column is not None:  # people go on being counted, or the job that names their key is refused
        halves = (_about_people(c, together) for c in about)
        remaining += [c for c in halves if c is not None and c.y != column and c not in remaining]
    if column is not None and not remaining:  # then people are to be hidden at least
        remaining = [KAnonymity(min(_USUAL_K, n))]
    if column is not None and remaining and _holds(remaining, together):
        kept = _listed(remaining)
        out.append(Relaxation(kept, f"nothing limits then what a group tells about '{column}'"))
        out.append(Relaxation(say("{}  and  {}", role(column, "drop"), kept), f"'{column}' is not published at all"))
    return out[:MOST_TOLD]


def _holds(criteria: Sequence[Criterion], stats: GroupStats) -> bool:
    return all(bool(c.satisfied(stats).all()) for c in criteria)


def _about_people(criterion: Criterion, together: GroupStats) -> XYAnonymity | None:
    """What is left of a criterion that counts people if nothing is said about their secrets."""
    if isinstance(criterion, XYPrivacy):
        return criterion.anonymity
    subject = criterion.person_column
    if subject is None:
        return None
    people = int(np.diff(together.histograms[subject].indptr)[0])
    return XYAnonymity(subject, min(_USUAL_K, people))


def _weakest(criterion: Criterion, stats: GroupStats) -> Criterion | None:
    """The criterion, just weak enough for all records; None if no parameter decides how strong it is."""
    short = criterion.supply(stats)
    if short is not None and 0 < short.there < getattr(criterion, short.parameter):
        criterion = replace(criterion, **{short.parameter: short.there})
        if _holds([criterion], stats):
            return criterion
    made = with_threshold(criterion, criterion.worst_level(stats))
    return made if made is not None and _holds([made], stats) else None


def with_threshold(criterion: Criterion, level: float) -> Criterion | None:
    """The criterion with another threshold, rounded to its weak side; None if no threshold is as weak as the level."""
    if not math.isfinite(level):
        return None
    for p in parameters(type(criterion)):
        value = getattr(criterion, p.name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        sign = -1 if criterion.compared == "at least" else 1
        if value > 1 and level > 0 and 1 / float(value) == criterion.threshold:  # a share of one in so many
            sign, level = -sign, 1 / level
        elif float(value) != criterion.threshold:
            continue
        steps = 1 if isinstance(value, int) else 1000
        rounded = sign * -(-sign * level * steps // 1) / steps
        try:
            return replace(criterion, **{p.name: type(value)(rounded)})
        except JobError:  # no value that the parameter may have is as weak as that
            return None
    return None


def written(given: Criterion) -> Fix:
    """A criterion as it is written in a job file and in Python, without what needs not be said."""
    told = {p.name: getattr(given, p.name) for p in parameters(type(given)) if getattr(given, p.name) != p.default}
    return criterion(given.name, type(given).__name__, **told)


def _listed(criteria: Sequence[Criterion]) -> Fix:
    """All criteria of a job."""
    made = [written(c) for c in criteria]
    job = "criteria: [" + ", ".join("{" + fix.in_job.removeprefix("- ") + "}" for fix in made) + "]"
    return Fix(job, "criteria=[" + ", ".join(fix.in_python for fix in made) + "]")

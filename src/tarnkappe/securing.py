"""Centres that keep their distance from the records they stand for, where a goal asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tarnkappe.arrays import Counts, Floats
from tarnkappe.criteria.security_ratio import SecurityRatio
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.kernels.microaggregation.securing import secure_values
from tarnkappe.publish.centres import Centres
from tarnkappe.tally import Domain, Tally

#: Decimal places of a moved number beyond those of its column: with all digits it would tell from which record it
#: keeps its distance.
_PLACES = 2


def secured(tally: Tally, grouping: Grouping, goal: Goal) -> Grouping:
    """The same groups, with what they publish moved away from their records where a security ratio asks for it.

    Of the numbers that satisfy it, the nearest to a group's mean from below and from above are taken by turns, so that
    the mean of the column hardly moves (see `SecureKWard`).
    """
    asked = [c for c in goal.criteria if isinstance(c, SecurityRatio)]
    if not asked:
        return grouping
    form = grouping.form
    if not isinstance(form, Centres):
        raise JobError(
            "E111",
            f"{asked[0].name} is about centres, and these groups publish {form.name}",
            hint="Choose an algorithm that publishes centres:  algorithm: mdav",
        )
    published = form.values.copy()
    for criterion in asked:
        j = _place(criterion, tally.quasi_domains)
        values, starts = _by_group(tally, grouping, j)
        domain = tally.quasi_domains[j]
        power = 0.0 if domain.decimals is None else float(domain.decimals[1] * 10**_PLACES)
        before = np.ascontiguousarray(published[:, j])
        published[:, j] = secure_values(values, starts, before, criterion.epsilon, criterion.gamma, power)[0]
    same = (published == form.values) | (np.isnan(published) & np.isnan(form.values))
    notes = {**grouping.notes, "values moved away from records": int((~same).sum())}
    return replace(grouping, form=replace(form, values=published, shifted=form.shifted or not same.all()), notes=notes)


def _place(criterion: SecurityRatio, domains: Iterable[Domain]) -> int:
    """Where the column of a criterion stands among the quasi-identifiers."""
    known = list(domains)
    names = [d.name for d in known]
    if criterion.column not in names:
        raise JobError(
            "E105",
            f"{criterion.name} looks at '{criterion.column}', which is no quasi-identifier"
            f"{did_you_mean(criterion.column, names)}",
            hint=f"Quasi-identifiers of the job: {', '.join(names)}.",
        )
    place = names.index(criterion.column)
    if known[place].values is None:
        raise JobError(
            "E111",
            f"{criterion.name} measures distances, and '{criterion.column}' holds no numbers",
            hint=f"Numbers: {', '.join(d.name for d in known if d.values is not None) or 'none'}.",
        )
    return place


def _by_group(tally: Tally, grouping: Grouping, j: int) -> tuple[Floats, Counts]:
    """The known values of all published records, group by group, and where each group begins."""
    kept = (grouping.group != SUPPRESSED) & tally.quasi_domains[j].known[tally.quasi[grouping.cell, j]]
    group, quota = grouping.group[kept], grouping.quota[kept]
    order = np.argsort(group, kind="stable")
    values = tally.quasi_domains[j].positions[tally.quasi[grouping.cell[kept], j]]
    size = np.bincount(group, quota, grouping.n_groups).astype(np.int64)
    return np.repeat(values[order], quota[order]), np.append(0, np.cumsum(size))

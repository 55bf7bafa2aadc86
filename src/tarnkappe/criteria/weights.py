"""What criteria ask of sampling weights: how many people the records of a group stand for."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Counts, Floats
from tarnkappe.criteria.base import Criterion
from tarnkappe.errors import DataError, JobError
from tarnkappe.fixes import role
from tarnkappe.groups import GroupStats
from tarnkappe.tally import Domain

#: Binary digits of the lower half of a weight, which has at most 53.
_HALF = 26


def people_of(stats: GroupStats, column: str) -> Floats:
    """The sum of the weights of each group; decimals as whole numbers, so that no order of records decides."""
    h = stats.histograms[column]
    group = np.repeat(np.arange(stats.n_groups), np.diff(h.indptr))
    if h.domain.decimals is None:
        weights: Floats = h.counts * np.nan_to_num(h.domain.positions)[h.codes]
        return np.bincount(group, weights, stats.n_groups).astype(np.float64)
    whole, power = h.domain.decimals
    if int(whole.max(initial=0)) * int(stats.size.sum()) < 1 << 63:
        return _summed(group, h.counts * whole[h.codes], stats.n_groups) / power
    # Millions of weights with nine decimals are more than 64 bits hold: the upper and the lower digits by themselves.
    upper = _summed(group, h.counts * (whole >> _HALF)[h.codes], stats.n_groups)
    lower = _summed(group, h.counts * (whole & ((1 << _HALF) - 1))[h.codes], stats.n_groups)
    return ((upper.astype(object) * (1 << _HALF) + lower) / power).astype(np.float64)


def _summed(group: Counts, values: Counts, n_groups: int) -> Counts:
    """The sum of the values of each group, in whole numbers."""
    sums = np.zeros(n_groups, np.int64)
    np.add.at(sums, group, values)
    return sums


def require_weights(criterion: Criterion, domain: Domain) -> None:
    """Refuse weights that are none: every record stands at least for itself."""
    if domain.values is None:
        raise JobError(
            "E111",
            f"{criterion.name} adds up the weights in '{domain.name}', which is not declared to hold numbers",
            hint=role(domain.name, "weight"),
        )
    known = np.nan_to_num(domain.positions)[domain.known]
    if domain.missing >= 0 or (known < 1).any() or not np.isfinite(known).all():
        raise DataError(
            "E436",
            f"'{domain.name}' has weights below 1, or none: every record stands at least for itself",
            hint="Give the column of sampling weights, in which a record stands for 1 person or more.",
        )

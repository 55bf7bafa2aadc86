"""Centres of groups: the mean, median or most central value of their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tarnkappe.arrays import SMALLEST, Codes, Counts, Floats
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.kernels.microaggregation.points import round_evenly
from tarnkappe.publish.centres import Centres
from tarnkappe.space import Block, Tree
from tarnkappe.tally import Domain, Tally

#: What a group may publish of a column.
OPERATORS = ("mean", "median", "mode")


def operators_of(tally: Tally, default: str, given: Mapping[str, str]) -> tuple[str, ...]:
    """The operator of each quasi-identifier: as asked for, if its values allow it.

    Numbers may have any; ranks have no mean, so they take the median; nominal values take the mode.
    """
    out = []
    for domain in tally.quasi_domains:
        asked = given.get(domain.name, default)
        if not domain.is_line:
            asked = "mode"
        elif domain.values is None and asked == "mean":
            asked = "median"
        out.append(asked)
    return tuple(out)


def centres_of(
    tally: Tally, grouping: Grouping, operators: Sequence[str], decimals: int | None = None, *, whole: bool = False
) -> Centres:
    """The centre of every group.

    Missing values do not count, unless a group has nothing else. A mean is rounded to `decimals` places beyond those of
    the column, if that is given. With `whole`, means of whole numbers become whole numbers, up or down, so that the
    total of the column changes by less than one group's size.
    """
    kept = grouping.group != SUPPRESSED
    cell, group, quota = grouping.cell[kept], grouping.group[kept], grouping.quota[kept]
    values, rounded = np.empty((grouping.n_groups, len(operators))), [0.0] * len(operators)
    for j, (domain, operator) in enumerate(zip(tally.quasi_domains, operators, strict=True)):
        code = tally.quasi[cell, j]
        known = np.flatnonzero(domain.known[code])
        pieces = (code[known], group[known], quota[known], grouping.n_groups)
        if operator == "mean":
            to_whole = whole and domain.is_integer
            values[:, j] = _means(domain, *pieces, decimals, to_whole)
            rounded[j] = _most_rounded(domain, decimals, to_whole)
        elif operator == "median":
            values[:, j] = _medians(domain, *pieces)
        else:
            values[:, j] = _modes(Block.of_column(tally, j), *pieces)
    return Centres(values, tuple(operators), rounded=tuple(rounded))


def _means(
    domain: Domain, code: Codes, group: Codes, quota: Counts, n_groups: int, decimals: int | None, whole: bool
) -> Floats:
    size = np.bincount(group, quota, n_groups).astype(np.float64)
    low, high = np.full(n_groups, domain.size - 1), np.zeros(n_groups, np.int64)
    np.minimum.at(low, group, code)
    np.maximum.at(high, group, code)
    origin = domain.positions[low]  # of the group itself: sums that are small lose no digits, whatever others have
    total = np.bincount(group, quota * (domain.positions[code] - origin[group]), n_groups)
    with np.errstate(invalid="ignore"):
        mean: Floats = total / size + origin
    # Beside very large numbers small ones are lost in a sum; no mean lies outside of what it is the mean of.
    mean = np.clip(mean, domain.positions[low], domain.positions[high])
    mean[np.abs(mean) < SMALLEST] = 0.0  # as nobody could read it back
    if whole:
        rounded: Floats = round_evenly(mean, size)
        return rounded
    if decimals is None:
        return mean
    places = _places(domain)
    return mean if places is None else np.round(mean, places + decimals)


def _most_rounded(domain: Domain, decimals: int | None, whole: bool) -> float:
    """How far rounding takes a mean at most."""
    if whole:
        return 1.0
    places = _places(domain)
    rounding = 0.0 if decimals is None or places is None else 0.5 * 10.0 ** -(places + decimals)
    return max(rounding, SMALLEST)


def _places(domain: Domain) -> int | None:
    """Decimal places of a column's values; None if there are too many to count."""
    found = domain.decimals
    return None if found is None else len(str(found[1])) - 1


def _medians(domain: Domain, code: Codes, group: Codes, quota: Counts, n_groups: int) -> Floats:
    """The middle value of each group; of two the smaller, so that it is one that occurs."""
    order = np.lexsort((code, group))
    group, code, quota = group[order], code[order], quota[order]
    so_far = np.cumsum(quota)
    starts = np.searchsorted(group, np.arange(n_groups))
    ends = np.searchsorted(group, np.arange(n_groups), side="right")
    before = np.append(0, so_far)[starts]
    size = np.append(0, so_far)[ends] - before
    out = np.full(n_groups, np.nan)
    some = size > 0
    middle = np.searchsorted(so_far, before[some] + (size[some] + 1) // 2)
    out[some] = code[middle] if domain.values is None else domain.positions[code[middle]]
    return out


def _modes(block: Block, code: Codes, group: Codes, quota: Counts, n_groups: int) -> Floats:
    """The value of each group that is nearest to all of its values; of equals the commonest.

    For nominal values this is the mode by marginality: the sum of squared distances to all values of a group is least
    where the distance to their mean is. Numbers have no marginality, the commonest counts.
    """
    domain = block.domain
    kind, which = np.unique(group.astype(np.int64) * domain.size + code, return_inverse=True)
    owner, value = kind // domain.size, (kind % domain.size).astype(np.int32)
    records = np.bincount(which, quota, len(kind)).astype(np.int64)
    far = block.from_own_means(owner, value, records) if isinstance(block, Tree) else np.zeros(len(kind))
    order = np.lexsort((value, -records, np.round(far, 12), owner))
    best = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
    out = np.full(n_groups, np.nan)
    out[owner[best]] = value[best] if domain.values is None else domain.positions[value[best]]
    return out

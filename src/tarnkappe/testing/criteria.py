"""The laws of criteria."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.criteria.base import BoolArray, Criterion, FloatArray
from tarnkappe.groups import GroupStats
from tarnkappe.tally import Counts
from tarnkappe.testing.shared import OTHER, require, same, sensitive_domain

#: Levels closer to the threshold than this may fall on either side: a criterion may decide in integers.
_TIE = 1e-9


def check_criterion(criterion: Criterion, *, seed: int = 0, merges: int = 4000) -> None:
    """Check a criterion on random groups and `merges` random unions of them; raises an `AssertionError`.

    Checked are: one finite or infinite level per group; the same answer every time, with the statistics left alone;
    levels that depend on the group and the table only, not on the order of cells or on other groups; the same level for
    pooled statistics as for those of the whole; `satisfied` and `verdict` that agree with level and threshold;
    `min_size`; and, where they are declared, `monotone`, `absorbing` and `decided_by_size`.

    Random groups must have a chance: choose parameters that some groups of up to a few thousand records satisfy.

    >>> from tarnkappe.criteria.k_anonymity import KAnonymity
    >>> check_criterion(KAnonymity(5))
    """
    name = criterion.name
    require(criterion.sense in {"at least", "at most", "below"}, f"{name} has an unknown sense '{criterion.sense}'")
    require(
        isinstance(criterion.min_size, int) and criterion.min_size >= 1,
        f"the min_size of {name} must be a whole number of at least 1, not {criterion.min_size!r}",
    )
    require(
        criterion.monotone or not criterion.is_absorbing,
        f"{name} is declared absorbing but not monotone; a criterion that absorbs any group absorbs satisfied ones",
    )
    rng = np.random.default_rng(seed)
    sample = _RandomGroups(criterion, rng)
    stats = sample.stats(sample.counts)
    ok = _check_answers(criterion, stats)
    _check_invariance(criterion, sample, stats)
    satisfied = np.flatnonzero(ok)
    require(
        len(satisfied) >= 10,
        f"hardly any of {len(ok)} random groups satisfies {name}, so nothing can be checked; "
        "choose parameters that more groups satisfy",
    )
    smallest = int(stats.size[satisfied].min())
    require(
        smallest >= criterion.min_size,
        f"the min_size of {name} is {criterion.min_size}, but a group of {smallest} records satisfies it",
    )
    require(
        not criterion.decided_by_size or np.array_equal(ok, stats.size >= criterion.min_size),
        f"{name} is declared to be decided by size, but its min_size does not tell which groups satisfy it",
    )
    if criterion.monotone:
        sample.check_merges(satisfied, satisfied, merges, "monotone", "two groups that satisfy it")
    if criterion.is_absorbing:
        everyone = np.arange(len(ok))
        sample.check_merges(satisfied, everyone, merges, "absorbing", "a group that satisfies it and any other")


def _check_answers(criterion: Criterion, stats: GroupStats) -> BoolArray:
    """One level per group, pure, and consistent with `satisfied` and `verdict`; returns which groups are satisfied."""
    name = criterion.name
    before = _snapshot(stats)
    level = np.array(criterion.level(stats))
    ok = np.array(criterion.satisfied(stats))
    require(
        level.shape == (stats.n_groups,),
        f"the level of {name} must have one number per group: {stats.n_groups} groups, shape {level.shape}",
    )
    require(np.issubdtype(level.dtype, np.floating), f"the level of {name} must be floats, not {level.dtype}")
    require(not np.isnan(level).any(), f"the level of {name} is not a number for some groups")
    require(
        ok.shape == (stats.n_groups,) and ok.dtype == np.bool_,
        f"{name}.satisfied must give one truth value per group",
    )
    again = np.array(criterion.level(stats)), np.array(criterion.satisfied(stats))
    require(
        np.array_equal(level, again[0]) and np.array_equal(ok, again[1]),
        f"{name} gives another answer when asked twice about the same groups",
    )
    require(same(before, _snapshot(stats)), f"{name} changes the statistics it is given")

    if criterion.others_known:
        assert criterion.sensitive_column is not None
        parts, owner = stats.refined(criterion.sensitive_column)
        level = np.array(criterion.level(parts))
    else:
        owner = np.arange(stats.n_groups, dtype=np.int32)
    above = (level - criterion.threshold) * (1.0 if criterion.sense == "at least" else -1.0)
    slack = _TIE * max(1.0, abs(criterion.threshold))
    clearly_bad = np.bincount(owner[above < -slack], minlength=stats.n_groups) > 0
    clearly_good = np.bincount(owner[above <= slack], minlength=stats.n_groups) == 0
    require(
        not ok[clearly_bad].any() and ok[clearly_good].all(),
        f"{name}.satisfied contradicts its level: groups must have a level {criterion.sense} {criterion.threshold:g}",
    )
    verdict = criterion.verdict(stats)
    worst = float(level.min() if criterion.sense == "at least" else level.max())
    require(
        verdict.ok == bool(ok.all()) and verdict.violating_groups == int((~ok).sum()) and verdict.reached == worst,
        f"the verdict of {name} contradicts its levels",
    )
    return ok


def _check_invariance(criterion: Criterion, sample: _RandomGroups, stats: GroupStats) -> None:
    """A level depends on its group and on the table, on nothing else."""
    name, rng = criterion.name, sample.rng
    level = np.array(criterion.level(stats))
    n = len(level)

    shuffled = sample.stats(sample.counts, shuffle=True)
    require(
        _close(criterion.level(shuffled), level)
        and np.array_equal(criterion.satisfied(shuffled), criterion.satisfied(stats)),
        f"the level of {name} depends on the order of the cells",
    )
    order = rng.permutation(n)
    require(
        _close(criterion.level(sample.stats(sample.counts[order])), level[order]),
        f"the level of {name} depends on the order of the groups",
    )
    some = np.flatnonzero(rng.random(n) < 0.5)
    require(
        _close(criterion.level(sample.stats(sample.counts[some])), level[some]),
        f"the level of a group under {name} depends on the other groups",
    )
    into = rng.permutation(np.arange(n) // 3)
    whole = np.zeros((int(into.max()) + 1, *sample.counts.shape[1:]), np.int64)
    np.add.at(whole, into, sample.counts)
    require(
        _close(criterion.level(stats.pooled(into)), np.array(criterion.level(sample.stats(whole)))),
        f"the level of {name} differs between pooled statistics and those of the whole",
    )


class _RandomGroups:
    """Random groups as counts per (group, sensitive value, value of another column), from tiny to table-like."""

    def __init__(self, criterion: Criterion, rng: np.random.Generator, n_groups: int = 1500) -> None:
        self.criterion = criterion
        self.rng = rng
        self.column = criterion.sensitive_column or "a sensitive column"
        n_values = min(max(12, 2 * criterion.min_size), 128)
        n_others = 2
        self.domains = sensitive_domain(self.column, n_values), sensitive_domain(OTHER, n_others)

        size = np.exp(rng.uniform(0, np.log(max(2000, 20 * criterion.min_size)), n_groups)).astype(np.int64)
        mix = rng.uniform(0.5, 1.5, n_values * n_others)
        mix /= mix.sum()
        # A small concentration gives lopsided groups, a large one gives groups like the table.
        concentration = np.exp(rng.uniform(np.log(0.3), np.log(1e5), n_groups))
        share = rng.standard_gamma(concentration[:, None] * mix) + 1e-300
        counts = rng.multinomial(size, share / share.sum(axis=1, keepdims=True))
        # The most varied groups there are: every value at most once. They are what `min_size` must not rule out.
        rank = rng.random((4 * n_values, n_values)).argsort(axis=1).argsort(axis=1)
        varied = np.zeros((len(rank), n_values, n_others), np.int64)
        varied[:, :, 0] = rank < np.repeat(np.arange(1, n_values + 1), 4)[:, None]
        counts = np.concatenate([varied, counts.reshape(n_groups, n_values, n_others)])
        # Some groups with exactly the mix of the table, whatever else is known: however strict, these satisfy.
        alike = np.repeat(counts.sum(axis=(0, 2))[None, :, None], n_others, axis=2)
        self.counts: Counts = np.concatenate([counts, *[alike] * 12])
        whole = self.counts.sum(axis=0)
        self.tables = {self.column: whole.sum(axis=1), OTHER: whole.sum(axis=0)}

    def stats(self, counts: Counts, *, shuffle: bool = False) -> GroupStats:
        """The statistics of groups, compared with the table; shuffled, cells and joint codes come in another order."""
        group, value, other = np.nonzero(counts)
        count = counts[group, value, other]
        n_values, n_others = counts.shape[1:]
        number = np.arange(n_values * n_others)
        if shuffle:
            number = self.rng.permutation(number)
            order = self.rng.permutation(len(group))
            group, value, other, count = group[order], value[order], other[order], count[order]
        meaning = np.empty((len(number), 2), np.int32)
        meaning[number] = np.argwhere(np.ones((n_values, n_others)))
        return GroupStats.from_cells(
            group,
            count,
            {
                self.column: (value.astype(np.int32), self.domains[0]),
                OTHER: (other.astype(np.int32), self.domains[1]),
            },
            (tuple(self.domains), number[value * n_others + other].astype(np.int32), meaning),
            self.tables,
        )

    def check_merges(self, first: NDArray[np.intp], second: NDArray[np.intp], merges: int, law: str, what: str) -> None:
        """Pool random pairs, and pool the result once more; all must satisfy the criterion."""
        a, b, c = self.rng.choice(first, merges), self.rng.choice(second, merges), self.rng.choice(second, merges)
        pairs = self.counts[a] + self.counts[b]
        for counts, last in ((pairs, b), (pairs + self.counts[c], c)):
            bad = np.flatnonzero(~self.criterion.satisfied(self.stats(counts)))
            if len(bad):
                one, other = self.counts[last[bad[0]]], counts[bad[0]] - self.counts[last[bad[0]]]
                raise AssertionError(
                    f"{self.criterion.name} is declared {law}, but pooling {what} breaks it: "
                    f"{_show(other)} and {_show(one)} records per value"
                )


def _show(counts: Counts) -> list[int]:
    """The counts per value of the first column, without zeros."""
    per_value = counts.sum(axis=1)
    return [int(c) for c in per_value[per_value > 0]]


def _snapshot(stats: GroupStats) -> list[NDArray[Any]]:
    """Copies of all arrays a criterion could change."""
    arrays = [stats.size]
    for h in stats.histograms.values():
        arrays += [h.indptr, h.counts, h.table, h.codes.astype(np.int64)]
    if stats.joint is not None:
        arrays += [stats.joint.indptr, stats.joint.counts, stats.joint.codes.astype(np.int64)]
    return [a.copy() for a in arrays]


def _close(one: Any, two: FloatArray) -> bool:
    """Whether levels agree up to rounding."""
    return np.shape(one) == two.shape and bool(np.allclose(one, two, rtol=1e-9, atol=1e-12))

"""The laws of criteria."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.criteria.base import Criterion
from tarnkappe.groups import GroupStats
from tarnkappe.testing.releases import coarser, random_release
from tarnkappe.testing.shared import OTHER, counted_domains, require, same, sensitive_domain

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
    name, sense = criterion.name, criterion.compared
    require(sense in {"at least", "at most", "below"}, f"{name} has an unknown sense '{sense}'")
    require(
        isinstance(criterion.min_size, int) and criterion.min_size >= 1,
        f"the min_size of {name} must be a whole number of at least 1, not {criterion.min_size!r}",
    )
    require(
        criterion.is_monotone or not criterion.is_absorbing,
        f"{name} is declared absorbing but not monotone; a criterion that absorbs any group absorbs satisfied ones",
    )
    rng = np.random.default_rng(seed)
    if criterion.decided_on != "group":
        check_releases(criterion, rng)
        return
    sample = _RandomGroups(criterion, rng)
    stats = sample.stats(sample.counts)
    ok = check_answers(criterion, stats)
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
    if criterion.is_monotone:
        sample.check_merges(satisfied, satisfied, merges, "monotone", "two groups that satisfy it")
    if criterion.is_absorbing:
        everyone = np.arange(len(ok))
        sample.check_merges(satisfied, everyone, merges, "absorbing", "a group that satisfies it and any other")


def check_answers(criterion: Criterion, stats: GroupStats) -> Flags:
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
    above = (level - criterion.threshold) * (1.0 if criterion.compared == "at least" else -1.0)
    slack = _TIE * max(1.0, abs(criterion.threshold))
    if criterion.decided_on == "table":  # single groups are only told which of them to suppress
        agrees = not ok.all() if (above < -slack).any() else ok.all() or (above <= slack).any()
    else:
        clearly_bad = np.bincount(owner[above < -slack], minlength=stats.n_groups) > 0
        clearly_good = np.bincount(owner[above <= slack], minlength=stats.n_groups) == 0
        agrees = not ok[clearly_bad].any() and ok[clearly_good].all()
    require(
        agrees,
        f"{name}.satisfied contradicts its level: groups must have one {criterion.compared} {criterion.threshold:g}",
    )
    verdict = criterion.verdict(stats)
    worst = float(level.min() if criterion.compared == "at least" else level.max())
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


def check_releases(criterion: Criterion, rng: np.random.Generator, releases: int = 60) -> None:
    """Check a criterion that single groups do not decide on whole random releases.

    Whatever it says must be suppressed is left out until all groups satisfy it; then no coarser labels may break it.
    """
    name, coarsened = criterion.name, 0
    for _ in range(releases):
        stats = random_release(criterion, rng)
        check_answers(criterion, stats)
        assert stats.keys is not None
        order = rng.permutation(stats.n_groups)
        same_groups = replace(stats.pooled(np.argsort(order)), keys=stats.keys[order])
        require(
            _close(criterion.level(same_groups), np.array(criterion.level(stats))[order]),
            f"the level of {name} depends on the order of the groups",
        )
        ok = criterion.satisfied(stats)
        while stats.n_groups and not ok.all():
            stats = stats.kept(ok)
            ok = criterion.satisfied(stats) if stats.n_groups else ok
        while stats.n_groups > 1 and criterion.is_monotone:
            stats = coarser(stats, rng)
            coarsened += 1
            require(
                criterion.satisfied(stats).all(),
                f"{name} is declared monotone, but a release that satisfies it does not when its labels are coarsened",
            )
    require(
        coarsened > 0 or not criterion.is_monotone,
        f"no random release satisfies {name} in more than one group, so nothing is checked; choose other parameters",
    )


class _RandomGroups:
    """Random groups as counts per (group, sensitive value, value of another column), from tiny to table-like."""

    def __init__(self, criterion: Criterion, rng: np.random.Generator, n_groups: int = 1500) -> None:
        self.criterion = criterion
        self.rng = rng
        n_values = min(max(12, 2 * criterion.min_size), 128)
        domains = [*counted_domains([criterion], n_values).values()]
        if not domains:
            domains.append(sensitive_domain("a sensitive column", n_values))
        if len(domains) == 1:
            domains.append(sensitive_domain(OTHER, 2))
        self.domains = tuple(domains)
        self.column, self.other = (d.name for d in domains)
        n_others = domains[1].size

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
        varied[:, :, -1] = rank < np.repeat(np.arange(1, n_values + 1), 4)[:, None]
        counts = np.concatenate([varied, counts.reshape(n_groups, n_values, n_others)])
        if n_others == n_values:  # people who have one value each, all of them different
            counts = np.concatenate([counts, varied.max(axis=2)[:, :, None] * np.eye(n_values, dtype=np.int64)])
        # Some groups with exactly the mix of the table, whatever else is known: however strict, these satisfy.
        alike = np.repeat(counts.sum(axis=(0, 2))[None, :, None], n_others, axis=2)
        counts = np.concatenate([counts, *[alike] * 12])
        whole = counts.sum(axis=0)
        self.tables = {self.column: whole.sum(axis=1), self.other: whole.sum(axis=0)}
        #: Per group the records of each cell, and last the people of a public table: what is pooled adds up.
        self.counts: Counts = np.column_stack([counts.reshape(len(counts), -1), self._people(counts.sum(axis=(1, 2)))])

    def _people(self, size: Counts) -> Counts:
        """People of a public table for groups of these sizes: several times as many, often in a simple ratio."""
        simple = np.array([(1, 1), (5, 3), (2, 1), (5, 1), (20, 1)])[self.rng.integers(0, 5, len(size))]
        more = size + (size * np.exp(self.rng.uniform(-3, 4, len(size)))).astype(np.int64)
        is_simple = (self.rng.random(len(size)) < 0.5) & (size % simple[:, 1] == 0)
        return np.where(is_simple, size * simple[:, 0] // simple[:, 1], more)

    def stats(self, counts: Counts, *, shuffle: bool = False) -> GroupStats:
        """The statistics of groups, compared with the table; shuffled, cells and joint codes come in another order."""
        n_values, n_others = (d.size for d in self.domains)
        people, counts = counts[:, -1], counts[:, :-1].reshape(-1, n_values, n_others)
        group, value, other = np.nonzero(counts)
        count = counts[group, value, other]
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
                self.other: (other.astype(np.int32), self.domains[1]),
            },
            joint=(self.domains, number[value * n_others + other].astype(np.int32), meaning),
            tables=self.tables,
            population=_at_first(group, people) if self.criterion.needs_population else None,
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
                    f"{self._show(other)} and {self._show(one)} records per value"
                )

    def _show(self, counts: Counts) -> list[int]:
        """The counts per value of the first column, without zeros."""
        per_value = counts[:-1].reshape(self.domains[0].size, -1).sum(axis=1)
        return [int(c) for c in per_value[per_value > 0]]


def _at_first(group: NDArray[np.intp], people: Counts) -> Counts:
    """The people of each group at the first of its cells, none at the others."""
    out = np.zeros(len(group), np.int64)
    present, first = np.unique(group, return_index=True)
    out[first] = people[present]
    return out


def _snapshot(stats: GroupStats) -> list[NDArray[Any]]:
    """Copies of all arrays a criterion could change."""
    arrays = [stats.size]
    for h in stats.histograms.values():
        arrays += [h.indptr, h.counts, h.table, h.codes.astype(np.int64)]
    if stats.joint is not None:
        arrays += [stats.joint.indptr, stats.joint.counts, stats.joint.codes.astype(np.int64)]
    return [a.copy() for a in arrays]


def _close(one: Any, two: Floats) -> bool:
    """Whether levels agree up to rounding."""
    return np.shape(one) == two.shape and bool(np.allclose(one, two, rtol=1e-9, atol=1e-12))

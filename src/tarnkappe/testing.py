"""Laws that every criterion and every algorithm must obey, to be run on one's own classes.

A test of a new criterion or algorithm is one line::

    check_criterion(MyCriterion("disease", l=3))
    check_algorithm(MyAlgorithm(), Goal([KAnonymity(5), LDiversity("disease", 3)]))

Both draw random tables from `seed` and raise an `AssertionError` that says which law is broken.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.criteria.base import BoolArray, Criterion, FloatArray
from tarnkappe.errors import InfeasibleError, JobError, TarnkappeError
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping, GroupStats
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.plan import Plan
from tarnkappe.tally import Counts, Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

__all__ = ["check_algorithm", "check_criterion"]

#: Levels closer to the threshold than this may fall on either side: a criterion may decide in integers.
_TIE = 1e-9

#: How much of its detail an algorithm may take from a table of well separated clusters (one big group takes all).
_SEPARABLE_LOSS = 0.3

_OTHER = "another sensitive column"


def _require(holds: Any, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


# --- criteria ---------------------------------------------------------------------------------------------------------


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
    _require(criterion.sense in {"at least", "at most", "below"}, f"{name} has an unknown sense '{criterion.sense}'")
    _require(
        isinstance(criterion.min_size, int) and criterion.min_size >= 1,
        f"the min_size of {name} must be a whole number of at least 1, not {criterion.min_size!r}",
    )
    _require(
        criterion.monotone or not criterion.is_absorbing,
        f"{name} is declared absorbing but not monotone; a criterion that absorbs any group absorbs satisfied ones",
    )
    rng = np.random.default_rng(seed)
    sample = _RandomGroups(criterion, rng)
    stats = sample.stats(sample.counts)
    ok = _check_answers(criterion, stats)
    _check_invariance(criterion, sample, stats)
    satisfied = np.flatnonzero(ok)
    _require(
        len(satisfied) >= 10,
        f"hardly any of {len(ok)} random groups satisfies {name}, so nothing can be checked; "
        "choose parameters that more groups satisfy",
    )
    smallest = int(stats.size[satisfied].min())
    _require(
        smallest >= criterion.min_size,
        f"the min_size of {name} is {criterion.min_size}, but a group of {smallest} records satisfies it",
    )
    _require(
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
    _require(
        level.shape == (stats.n_groups,),
        f"the level of {name} must have one number per group: {stats.n_groups} groups, shape {level.shape}",
    )
    _require(np.issubdtype(level.dtype, np.floating), f"the level of {name} must be floats, not {level.dtype}")
    _require(not np.isnan(level).any(), f"the level of {name} is not a number for some groups")
    _require(
        ok.shape == (stats.n_groups,) and ok.dtype == np.bool_,
        f"{name}.satisfied must give one truth value per group",
    )
    again = np.array(criterion.level(stats)), np.array(criterion.satisfied(stats))
    _require(
        np.array_equal(level, again[0]) and np.array_equal(ok, again[1]),
        f"{name} gives another answer when asked twice about the same groups",
    )
    _require(_same(before, _snapshot(stats)), f"{name} changes the statistics it is given")

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
    _require(
        not ok[clearly_bad].any() and ok[clearly_good].all(),
        f"{name}.satisfied contradicts its level: groups must have a level {criterion.sense} {criterion.threshold:g}",
    )
    verdict = criterion.verdict(stats)
    worst = float(level.min() if criterion.sense == "at least" else level.max())
    _require(
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
    _require(
        _close(criterion.level(shuffled), level)
        and np.array_equal(criterion.satisfied(shuffled), criterion.satisfied(stats)),
        f"the level of {name} depends on the order of the cells",
    )
    order = rng.permutation(n)
    _require(
        _close(criterion.level(sample.stats(sample.counts[order])), level[order]),
        f"the level of {name} depends on the order of the groups",
    )
    some = np.flatnonzero(rng.random(n) < 0.5)
    _require(
        _close(criterion.level(sample.stats(sample.counts[some])), level[some]),
        f"the level of a group under {name} depends on the other groups",
    )
    into = rng.permutation(np.arange(n) // 3)
    whole = np.zeros((int(into.max()) + 1, *sample.counts.shape[1:]), np.int64)
    np.add.at(whole, into, sample.counts)
    _require(
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
        self.domains = _sensitive_domain(self.column, n_values), _sensitive_domain(_OTHER, n_others)

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
        self.tables = {self.column: whole.sum(axis=1), _OTHER: whole.sum(axis=0)}

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
                _OTHER: (other.astype(np.int32), self.domains[1]),
            },
            ((self.column, _OTHER), number[value * n_others + other].astype(np.int32), meaning),
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


def _sensitive_domain(name: str, size: int) -> Domain:
    """Values in a ragged tree: families of three, and the last value right under the root."""
    families = range((size + 1) // 3)
    labels = ["*", *(f"family {i}" for i in families), *(f"value {i}" for i in range(size))]
    parents = [-1, *(0 for _ in families), *(1 + i // 3 for i in range(size - 1)), 0]
    return Domain(name, Taxonomy.from_parents(labels, parents))


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


def _same(one: list[NDArray[Any]], two: list[NDArray[Any]]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def _close(one: Any, two: FloatArray) -> bool:
    """Whether levels agree up to rounding."""
    return np.shape(one) == two.shape and bool(np.allclose(one, two, rtol=1e-9, atol=1e-12))


# --- algorithms -------------------------------------------------------------------------------------------------------


def check_algorithm(algorithm: Algorithm, goal: Goal, *, seed: int = 0, tables: int = 20) -> None:
    """Check an algorithm on random tables and on well separated clusters; raises an `AssertionError`.

    Checked are: every group satisfies the goal, is not empty, and covers its records; the quotas of each cell add up to
    its count; suppression stays within the limit; the same seed gives the same grouping; the tally is left alone; what
    cannot be done raises an `InfeasibleError`, and what can be done does not; and clusters that satisfy the goal by
    themselves are told apart, because one big group would pass all the rest.

    >>> from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
    >>> from tarnkappe.criteria.k_anonymity import KAnonymity
    >>> check_algorithm(Mondrian(), Goal([KAnonymity(3)]), tables=2)
    """
    name = algorithm.name
    rng = np.random.default_rng(seed)
    if not goal.monotone and not algorithm.handles_non_monotone:
        _check_refused(algorithm, _random_tally(rng, goal, wildcard=False), goal, "criteria that pooling can break")
        return
    if not algorithm.handles_wildcards:
        _check_refused(algorithm, _random_tally(rng, goal, wildcard=True), goal, "missing values as wildcards")
    done = 0
    for i in range(tables):
        tally = _random_tally(rng, goal, wildcard=algorithm.handles_wildcards and i % 2 == 1)
        done += _check_decision(algorithm, goal, tally, seed + i)
    _require(
        done > 0,
        f"{name} found no release for any of {tables} random tables; choose a goal that random tables can satisfy",
    )
    _check_infeasible(algorithm, goal, rng)
    _check_utility(algorithm, goal, seed)


def _decide(algorithm: Algorithm, tally: Tally, goal: Goal, seed: int) -> Grouping:
    try:
        return algorithm.decide(tally, goal, rng=np.random.default_rng(seed))
    except TarnkappeError:
        raise
    except Exception as error:
        raise AssertionError(
            f"{algorithm.name} must raise InfeasibleError where it finds no release; a table of {tally.n_records} "
            f"records made it raise {type(error).__name__}: {error}"
        ) from error


def _check_decision(algorithm: Algorithm, goal: Goal, tally: Tally, seed: int) -> bool:
    """Check one decision; whether there was one."""
    name = algorithm.name
    before: list[NDArray[Any]] = [tally.quasi.copy(), tally.sensitive.copy(), tally.count.copy()]
    together = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
    try:
        grouping = _decide(algorithm, tally, goal, seed)
    except InfeasibleError:
        _require(
            not (goal.monotone and goal.satisfied(goal.stats(tally, together)).all()),
            f"{name} gave up on a table that satisfies the goal with all records in one group",
        )
        return False
    after: list[NDArray[Any]] = [tally.quasi, tally.sensitive, tally.count]
    _require(_same(before, after), f"{name} changes the tally it is given")
    check_grouping(name, tally, goal, grouping)
    again = _decide(algorithm, tally, goal, seed)
    pieces = [[g.cell, g.group, g.quota.astype(np.int32)] for g in (grouping, again)]
    _require(_same(*pieces), f"{name} decides differently when run again with the same seed")
    return True


def check_grouping(name: str, tally: Tally, goal: Goal, grouping: Grouping) -> None:
    """Check one grouping that `name` made of a tally: no record lost, nothing violated, nothing misstated."""
    cell, group, quota = grouping.cell, grouping.group, grouping.quota
    _require(len(cell) == len(group) == len(quota), f"the pieces of {name} have arrays of different lengths")
    _require(
        len(cell) == 0 or (cell.min() >= 0 and cell.max() < tally.n_cells and np.all(np.diff(cell) >= 0)),
        f"the pieces of {name} are not sorted by cell, or name cells that do not exist",
    )
    _require(np.all(quota > 0), f"{name} made pieces without records")
    _require(
        np.array_equal(np.bincount(cell, weights=quota, minlength=tally.n_cells), tally.count),
        f"{name} lost or invented records: the quotas of a cell must add up to its count",
    )
    _require(
        np.all(group >= SUPPRESSED)
        and np.array_equal(np.unique(group[group >= 0]), np.arange(grouping.n_groups))
        and grouping.n_groups > 0,
        f"{name} must number its groups 0, 1, … without empty ones, and make at least one",
    )
    _require(
        grouping.suppressed <= goal.budget(tally.n_records),
        f"{name} suppressed {grouping.suppressed} of {tally.n_records} records, "
        f"allowed are {goal.budget(tally.n_records)}",
    )
    for tables in (goal.table_distributions(tally), None):  # against the input, and against what is published
        ok = goal.satisfied(goal.stats(tally, grouping, tables))
        _require(ok.all(), f"{int((~ok).sum())} of {len(ok)} groups of {name} violate the goal")
    boxes = grouping.boxes(tally)
    kept = group >= 0
    codes, at = tally.quasi[cell[kept]], group[kept]
    wild = np.array([d.missing if d.wildcard else -1 for d in tally.quasi_domains], np.int32)
    inside = (codes == wild) | ((boxes.lo[at] <= codes) & (codes <= boxes.hi[at]))
    _require(inside.all(), f"{name} publishes groups that do not cover their records")
    try:
        plan = Plan.of(tally, goal, grouping)
    except InfeasibleError as error:
        raise AssertionError(f"what {name} decided violates the goal once published") from error
    _require(plan.grouping.suppressed <= goal.budget(tally.n_records), f"{name} needs suppression beyond the limit")


def _check_refused(algorithm: Algorithm, tally: Tally, goal: Goal, what: str) -> None:
    try:
        _decide(algorithm, tally, goal, 0)
    except JobError:
        return
    raise AssertionError(f"{algorithm.name} says that it cannot handle {what}, but does not refuse them")


def _check_infeasible(algorithm: Algorithm, goal: Goal, rng: np.random.Generator) -> None:
    """No records, or fewer than any group needs: there is no release, whatever may be suppressed."""
    for n in {0, goal.min_size - 1}:
        tally = _random_tally(rng, goal, wildcard=False, n_records=n)
        try:
            _decide(algorithm, tally, goal, 0)
        except InfeasibleError:
            continue
        raise AssertionError(
            f"{algorithm.name} made a release of {n} records, although the goal needs {goal.min_size} in a group"
        )


def _check_utility(algorithm: Algorithm, goal: Goal, seed: int) -> None:
    """Clusters that satisfy the goal by themselves and are far apart must not be thrown together."""
    tally, n_clusters = _separable_tally(goal)
    grouping = _decide(algorithm, tally, goal, seed)
    check_grouping(algorithm.name, tally, goal, grouping)
    _require(
        grouping.n_groups > 1,
        f"{algorithm.name} makes one big group of {n_clusters} clusters that satisfy the goal by themselves",
    )
    loss = LossMetric().score(Plan.of(tally, goal, grouping))
    _require(
        loss <= _SEPARABLE_LOSS,
        f"{algorithm.name} does not tell {n_clusters} separate clusters apart: it loses {loss:.0%} of their detail, "
        f"at most {_SEPARABLE_LOSS:.0%} is needed",
    )


def _sensitive_domains(goal: Goal, size: int) -> list[Domain]:
    """A domain for each column the goal looks at, and one more if the attacker is to know the others."""
    names = [*goal.columns, *([_OTHER] if goal.joint and len(goal.columns) == 1 else [])]
    return [_sensitive_domain(name, size) for name in names]


def _random_tally(rng: np.random.Generator, goal: Goal, *, wildcard: bool, n_records: int | None = None) -> Tally:
    """A table with a numeric, a hierarchical and an ordered quasi-identifier, the last with missing values."""
    n = n_records
    if n is None:
        low, high = max(1, goal.min_size // 2), min(max(200, 40 * goal.min_size), 4000)
        n = int(np.exp(rng.uniform(np.log(low), np.log(high))))
    values = np.cumsum(rng.integers(1, 6, 30)).astype(np.float64)
    grades = Taxonomy.scale(["low", "middle", "high", "top"]).with_missing("unknown")
    quasi = [
        Domain("age", Taxonomy.scale([f"{v:g}" for v in values]), values),
        _sensitive_domain("city", 10),
        Domain("grade", grades, missing=4, wildcard=wildcard),
    ]
    sensitive = _sensitive_domains(goal, int(rng.integers(4, max(6, min(2 * goal.min_size, 40)))))
    columns = [rng.choice(d.size, n, p=rng.dirichlet(np.full(d.size, 3.0))) for d in (*quasi, *sensitive)]
    for s in range(len(quasi), len(columns)):  # a secret that depends on the age is harder to keep
        follows = rng.random(n) < rng.choice([0.0, 0.3])
        columns[s] = np.where(follows, columns[0] % sensitive[0].size, columns[s])
    return count_cells(columns[: len(quasi)], columns[len(quasi) :], quasi, sensitive)[0]


def _separable_tally(goal: Goal, n_clusters: int = 8, n_points: int = 5) -> tuple[Tally, int]:
    """Clusters with the same sensitive values, each in a subtree of its own in both quasi-identifiers."""
    for size in (4, 8, 16, 32, 64):
        sensitive = _sensitive_domains(goal, size)
        if size ** len(sensitive) > 5000:
            break
        every = np.array(list(product(range(size), repeat=len(sensitive))))  # each combination of values once
        for doubled in range(12):
            secrets = np.tile(every, (2**doubled, 1))
            tally = _clusters(secrets, sensitive, n_clusters, n_points)
            in_tree = tally.quasi[:, 0] // n_points
            alone = goal.stats(tally, Grouping.of_cells(tally, in_tree, n_clusters))
            if goal.satisfied(alone).all():
                return tally, n_clusters
            if len(secrets) > 4 * goal.min_size + 100:
                break
    raise AssertionError("no cluster of moderate size satisfies the goal; choose a weaker one")


def _clusters(secrets: Counts, sensitive: list[Domain], n_clusters: int, n_points: int) -> Tally:
    """Every cluster holds all the secrets, dealt out to its points."""
    quasi = []
    for column in ("a", "b"):
        tree = {f"{column}{c}": [f"{column}{c}.{p}" for p in range(n_points)] for c in range(n_clusters)}
        quasi.append(Domain(column, Taxonomy.from_nested(tree)))
    n = len(secrets)
    cluster = np.repeat(np.arange(n_clusters), n)
    point = np.tile(np.arange(n) % n_points, n_clusters)
    first = cluster * n_points + point
    second = (n_clusters - 1 - cluster) * n_points + (2 * point) % n_points
    columns = [np.tile(secrets[:, s], n_clusters) for s in range(len(sensitive))]
    return count_cells([first, second], columns, quasi, sensitive)[0]

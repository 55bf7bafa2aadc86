"""The laws of algorithms."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.last_resort import planned
from tarnkappe.algorithms.microaggregation.centres import centres_of
from tarnkappe.arrays import Counts
from tarnkappe.errors import InfeasibleError, JobError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.metrics.sse import SquaredError
from tarnkappe.plan import Plan
from tarnkappe.publish.centres import Centres
from tarnkappe.tally import Domain, Tally, count_cells, with_population
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing.dealing import check_dealing
from tarnkappe.testing.shared import OTHER, attempted, counted_domains, require, same, sensitive_domain

#: How much of its detail an algorithm may take from a table of well separated clusters (one big group takes all).
_SEPARABLE_LOSS = 0.3

#: The same for centres: groups of a fixed size cannot follow clusters of another.
_SEPARABLE_VARIANCE = 0.9


def check_algorithm(algorithm: Algorithm, goal: Goal, *, seed: int = 0, tables: int = 20) -> None:
    """Check an algorithm on random tables and on well separated clusters; raises an `AssertionError`.

    Checked are: every group satisfies the goal, is not empty, and covers its records; the quotas of each cell add up to
    its count; centres are missing only where all values are; suppression stays within the limit; the same seed gives
    the same grouping; the tally is left alone; what cannot be done raises an `InfeasibleError`, and what can be done
    does not, even if nothing but one group of all records is left; and clusters that satisfy the goal by themselves are
    told apart, because one big group would pass all the rest.

    >>> from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
    >>> from tarnkappe.criteria.k_anonymity import KAnonymity
    >>> check_algorithm(Mondrian(), Goal([KAnonymity(3)]), tables=2)
    """
    name = algorithm.name
    rng = np.random.default_rng(seed)
    random = partial(_random_tally, rng, goal, algorithm)
    if isinstance(algorithm, Bucketization):
        check_dealing(algorithm, goal, partial(random, wildcard=False), seed=seed, tables=tables)
        return
    if not goal.monotone and not algorithm.handles_non_monotone:
        _check_refused(algorithm, random(wildcard=False), goal, "criteria that pooling can break")
        return
    if not goal.scopes <= algorithm.scopes:
        _check_refused(algorithm, random(wildcard=False), goal, "criteria that no single group decides")
        return
    if goal.needs_population and not algorithm.takes_population:
        _check_refused(algorithm, random(wildcard=False), goal, "a public table")
        return
    if not algorithm.handles_wildcards:
        _check_refused(algorithm, random(wildcard=True), goal, "missing values as wildcards")
    done = 0
    for i in range(tables):
        tally = random(wildcard=algorithm.handles_wildcards and i % 2 == 1)
        done += _check_decision(algorithm, goal, tally, seed + i)
    require(
        done > 0,
        f"{name} found no release for any of {tables} random tables; choose a goal that random tables can satisfy",
    )
    for i in range(tables // 2):  # few records: mostly, nothing but one group of all is left
        few = goal.min_size + int(rng.integers(0, goal.min_size + 3))
        tight = random(wildcard=algorithm.handles_wildcards and i % 2 == 1, n_records=few)
        _check_decision(algorithm, goal, tight, seed + i)
    _check_infeasible(algorithm, goal, rng)
    if algorithm.generalises:  # clusters of like values cannot be told apart by who knows single values only
        _check_utility(algorithm, goal, seed)


def _decide(algorithm: Algorithm, tally: Tally, goal: Goal, seed: int) -> Grouping:
    rng = np.random.default_rng(seed)
    return attempted(algorithm.name, tally.n_records, lambda: algorithm.decide(tally, goal, rng=rng))


def _check_decision(algorithm: Algorithm, goal: Goal, tally: Tally, seed: int) -> bool:
    """Check one decision; whether there was one."""
    name, goal = algorithm.name, algorithm.promised(goal, len(tally.quasi_domains))
    before: list[NDArray[Any]] = [tally.quasi.copy(), tally.sensitive.copy(), tally.count.copy()]
    try:
        grouping = _decide(algorithm, tally, goal, seed)
    except InfeasibleError:
        require(
            not (goal.monotone and goal.satisfied(goal.together(tally)).all()),
            f"{name} gave up on a table that satisfies the goal with all records in one group",
        )
        _check_last_resort(algorithm, goal, tally, seed)
        return False
    after: list[NDArray[Any]] = [tally.quasi, tally.sensitive, tally.count]
    require(same(before, after), f"{name} changes the tally it is given")
    check_grouping(name, tally, goal, grouping)
    again = _decide(algorithm, tally, goal, seed)
    pieces = [[g.cell, g.group, g.quota.astype(np.int32)] for g in (grouping, again)]
    require(same(*pieces), f"{name} decides differently when run again with the same seed")
    _check_last_resort(algorithm, goal, tally, seed)
    return True


def _check_last_resort(algorithm: Algorithm, goal: Goal, tally: Tally, seed: int) -> None:
    """Where all records in one group satisfy the goal and can be published, there is a plan, whatever was decided."""
    together = algorithm.all_in_one(tally)
    if together is None or not goal.satisfied(goal.together(tally)).all():
        return
    for what, decide in (
        ("after its own decision", lambda: _decide(algorithm, tally, goal, seed)),
        ("after giving up", lambda: _gives_up(goal, tally)),
    ):
        try:
            planned(algorithm, tally, goal, decide)
        except InfeasibleError as error:
            raise AssertionError(
                f"{algorithm.name} cannot publish all records in one group, {what}: {error.message}"
            ) from error


def _gives_up(goal: Goal, tally: Tally) -> Grouping:
    raise goal.infeasible(tally)


def check_grouping(name: str, tally: Tally, goal: Goal, grouping: Grouping) -> None:
    """Check one grouping that `name` made of a tally: no record lost, nothing violated, nothing misstated."""
    group = grouping.group
    try:
        grouping.require_whole(tally)
    except VerificationError as error:
        raise AssertionError(f"{name}: {error.message}") from error
    require(
        np.all(group >= SUPPRESSED)
        and np.array_equal(np.unique(group[group >= 0]), np.arange(grouping.n_groups))
        and grouping.n_groups > 0,
        f"{name} must number its groups 0, 1, … without empty ones, and make at least one",
    )
    require(
        grouping.suppressed <= goal.budget(tally.n_records),
        f"{name} suppressed {grouping.suppressed} of {tally.n_records} records, "
        f"allowed are {goal.budget(tally.n_records)}",
    )
    keys = grouping.boxes(tally).keys(tally.quasi_domains)
    for tables in (goal.table_distributions(tally), None):  # against the input, and against what is published
        ok = goal.satisfied(goal.stats(tally, grouping, tables, keys))
        require(ok.all(), f"{int((~ok).sum())} of {len(ok)} groups of {name} violate the goal")
    boxes = grouping.boxes(tally)
    kept = group >= 0
    codes, at = tally.quasi[grouping.cell[kept]], group[kept]
    wild = np.array([d.missing if d.wildcard else -1 for d in tally.quasi_domains], np.int32)
    inside = (codes == wild) | ((boxes.lo[at] <= codes) & (codes <= boxes.hi[at]))
    require(inside.all(), f"{name} publishes groups that do not cover their records")
    if isinstance(grouping.form, Centres):
        _check_centres(name, tally, grouping, grouping.form)
    try:
        plan = Plan.of(tally, goal, grouping)
    except InfeasibleError as error:
        raise AssertionError(f"what {name} decided violates the goal once published") from error
    require(plan.grouping.suppressed <= goal.budget(tally.n_records), f"{name} needs suppression beyond the limit")


def _check_centres(name: str, tally: Tally, grouping: Grouping, centres: Centres) -> None:
    """Every group has a centre, in every column; it is missing only where no record of the group has a value."""
    shape = (grouping.n_groups, len(tally.quasi_domains))
    require(centres.values.shape == shape, f"{name} must publish one centre per group and quasi-identifier")
    lowest = grouping.boxes(tally).lo
    for j, domain in enumerate(tally.quasi_domains):
        some = domain.known[lowest[:, j]]  # a missing value is the last of all
        require(
            np.array_equal(np.isfinite(centres.values[:, j]), some),
            f"{name} must publish a value in '{domain.name}' for the groups that have one there, and for no others",
        )


def _check_refused(algorithm: Algorithm, tally: Tally, goal: Goal, what: str) -> None:
    try:
        _decide(algorithm, tally, goal, 0)
    except JobError:
        return
    raise AssertionError(f"{algorithm.name} says that it cannot handle {what}, but does not refuse them")


def _check_infeasible(algorithm: Algorithm, goal: Goal, rng: np.random.Generator) -> None:
    """No records, or fewer than any group needs: there is no release, whatever may be suppressed."""
    for n in {0, goal.min_size - 1}:
        tally = _random_tally(rng, goal, algorithm, wildcard=False, n_records=n)
        try:
            _decide(algorithm, tally, goal, 0)
        except InfeasibleError:
            continue
        raise AssertionError(
            f"{algorithm.name} made a release of {n} records, although the goal needs {goal.min_size} in a group"
        )


def _check_utility(algorithm: Algorithm, goal: Goal, seed: int) -> None:
    """Clusters that satisfy the goal by themselves and are far apart must not be thrown together."""
    tally, n_clusters = _separable_tally(goal, algorithm)
    grouping = _decide(algorithm, tally, goal, seed)
    check_grouping(algorithm.name, tally, goal, grouping)
    require(
        grouping.n_groups > 1,
        f"{algorithm.name} makes one big group of {n_clusters} clusters that satisfy the goal by themselves",
    )
    plan = Plan.of(tally, goal, grouping)
    if isinstance(grouping.form, Centres):
        whole = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
        whole = replace(whole, form=centres_of(tally, whole, grouping.form.operators))
        scores = [SquaredError().score(p) for p in (plan, Plan.of(tally, goal, whole))]
        loss, most = scores[0] / scores[1], _SEPARABLE_VARIANCE
    else:
        loss, most = LossMetric().score(plan), _SEPARABLE_LOSS
    require(
        loss <= most,
        f"{algorithm.name} does not tell {n_clusters} separate clusters apart: it loses {loss:.0%} of what one group "
        f"of all records loses, at most {most:.0%} is needed",
    )


def _sensitive_domains(goal: Goal, algorithm: Algorithm, size: int) -> list[Domain]:
    """A domain for each column the goal looks at, one more if the attacker is to know the others, and the target."""
    counted = counted_domains(goal.criteria, size)
    if goal.joint and len(counted) == 1:
        counted[OTHER] = sensitive_domain(OTHER, size)
    targets = [replace(sensitive_domain(c, 3), aside=True) for c in algorithm.columns if c not in counted]
    return [*counted.values(), *targets]


def _random_tally(
    rng: np.random.Generator, goal: Goal, algorithm: Algorithm, *, wildcard: bool, n_records: int | None = None
) -> Tally:
    """A table with a numeric, a hierarchical and an ordered quasi-identifier, the last with missing values."""
    n = n_records
    if n is None:
        low, high = max(1, goal.min_size // 2), min(max(200, 40 * goal.min_size), 4000)
        n = int(np.exp(rng.uniform(np.log(low), np.log(high))))
    values = np.cumsum(rng.integers(1, 6, 30)).astype(np.float64)
    grades = Taxonomy.scale(["low", "middle", "high", "top"]).with_missing("unknown")
    quasi = [
        Domain("age", Taxonomy.scale([f"{v:g}" for v in values]), values),
        sensitive_domain("city", 10),
        Domain("grade", grades, missing=4, wildcard=wildcard),
    ]
    sensitive = _sensitive_domains(goal, algorithm, int(rng.integers(4, max(6, min(2 * goal.min_size, 40)))))
    columns = [rng.choice(d.size, n, p=rng.dirichlet(np.full(d.size, 3.0))) for d in (*quasi, *sensitive)]
    for s in range(len(quasi), len(columns)):  # a secret that depends on the age is harder to keep
        follows = rng.random(n) < rng.choice([0.0, 0.3])
        columns[s] = np.where(follows, columns[0] % sensitive[s - len(quasi)].size, columns[s])
    tally = count_cells(columns[: len(quasi)], columns[len(quasi) :], quasi, sensitive)[0]
    if not goal.needs_population:
        return tally
    others = 4 * n + 50
    strangers = [rng.choice(d.size, others, p=rng.dirichlet(np.full(d.size, 3.0))) for d in quasi]
    public = [np.concatenate([known, more]) for known, more in zip(columns, strangers, strict=False)]
    return with_population(tally, count_cells(public, [], quasi, [])[0])[0]


def _separable_tally(goal: Goal, algorithm: Algorithm, n_clusters: int = 8, n_points: int = 5) -> tuple[Tally, int]:
    """Clusters with the same sensitive values, each in a subtree of its own in both quasi-identifiers."""
    populations = (1, 6, 40) if goal.needs_population else (0,)
    for size, strangers, paired in product((4, 8, 16, 32, 64), populations, (False, True)):
        sensitive = _sensitive_domains(goal, algorithm, size)
        if size ** len(sensitive) > 5000:
            break
        # Each combination of values once, or for people who may have one value only, each value once.
        values = [range(d.size) for d in sensitive]
        every = np.array(list(zip(*values, strict=False) if paired and values else product(*values)))
        for doubled in range(12):
            secrets = np.tile(every, (2**doubled, 1))
            tally = _clusters(secrets, sensitive, n_clusters, n_points, strangers if goal.needs_population else None)
            in_tree = tally.quasi[:, 0] // n_points
            clusters = Grouping.of_cells(tally, in_tree, n_clusters)
            alone = goal.stats(tally, clusters, keys=clusters.boxes(tally).keys(tally.quasi_domains))
            if goal.satisfied(alone).all():
                return tally, n_clusters
            if len(secrets) > 4 * goal.min_size + 100:
                break
    raise AssertionError("no cluster of moderate size satisfies the goal; choose a weaker one")


def _clusters(secrets: Counts, sensitive: list[Domain], n_clusters: int, n_points: int, strangers: int | None) -> Tally:
    """Every cluster holds all the secrets, dealt out to its points; a public table has as many strangers per record."""
    quasi = []
    for column in ("age", "grade"):
        tree = {f"{column}{c}": [f"{column}{c}.{p}" for p in range(n_points)] for c in range(n_clusters)}
        quasi.append(Domain(column, Taxonomy.from_nested(tree)))
    n = len(secrets)
    cluster = np.repeat(np.arange(n_clusters), n)
    point = np.tile(np.arange(n) % n_points, n_clusters)
    first = cluster * n_points + point
    second = (n_clusters - 1 - cluster) * n_points + (2 * point) % n_points
    columns = [np.tile(secrets[:, s], n_clusters) for s in range(len(sensitive))]
    tally = count_cells([first, second], columns, quasi, sensitive)[0]
    if strangers is None:
        return tally
    public = [np.tile(codes, 1 + strangers) for codes in (first, second)]
    return with_population(tally, count_cells(public, [], quasi, [])[0])[0]

"""Groups publish records that were drawn anew, with the mean and the covariances of the group and nobody's values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.publish.numbered import Numbered, numbers_of
from tarnkappe.publish.sheets import MAIN, Reading, Sheet, Strand, Values, free_name
from tarnkappe.schema import Column, Schema

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.plan import DealtPlan

#: Draws of a group whose covariances are so much wider in one direction than in another are drawn again.
_LOPSIDED = 1e4

#: How often, until the last are taken as they are.
_ATTEMPTS = 50

#: What rounding of floats may do to a mean or a covariance, as a share of the squares it is made of.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Regenerated(Numbered):
    """One table of records that were drawn from the mean and the covariances of their groups, in random order.

    Quasi-identifiers are numbers with `decimals` places. The sensitive values of a group stand beside its records in
    an order of their own. Which records were drawn together is not published.
    """

    decimals: int = 6

    name: ClassVar = "regenerated records"
    hides: ClassVar = frozenset({"identity", "secret"})
    changes: ClassVar = "drawn anew from the means and covariances of groups"
    coarsens: ClassVar = True
    draws: ClassVar = True
    truth: ClassVar = "means and covariances of every group kept"
    grouped: ClassVar = "of people whose records were drawn together"
    alike: ClassVar = "that were drawn together"
    loses: ClassVar = (
        "No record is a person's: what is kept are the mean and the covariances of every group, and with them those of "
        "the whole table. What else connects the columns is lost."
    )
    caution: ClassVar = (
        "No row is a person. The numbers of the quasi-identifiers were drawn anew, so that groups of people keep their "
        "means and covariances; they may lie outside of what is possible, such as an age below zero. Where all people "
        "of a group have the same value, that value is kept. The sensitive values are those of the group, in random "
        "order."
    )

    def sheets(self, plan: DealtPlan, schema: Schema, values: Values, rng: np.random.Generator) -> tuple[Sheet, ...]:
        """One row for every record, drawn when the table is asked for first."""
        import polars as pl

        order = rng.permutation(plan.deal.n_records)
        secret = [c.name for c in schema.sensitive]
        drawn = np.round(redrawn(points_of(plan), plan.deal.starts, rng), self.decimals) + 0.0
        names = [c.name for c in schema.columns if c.role in ("quasi", "sensitive")]
        place = {domain.name: j for j, domain in enumerate(plan.tally.quasi_domains)}
        other = plan.deal.torn(rng)

        def batches() -> Iterator[pl.DataFrame]:
            yield pl.DataFrame(
                [
                    (values.at(n, other[order]) if n in secret else pl.Series(drawn[order, place[n]])).alias(n)
                    for n in names
                ]
            )

        about = (
            "One row for every person, but no row is a person: numbers were drawn anew from the means and covariances "
            "of groups."
        )
        return (Sheet(MAIN, tuple(names), batches, about),)

    def witness(self, plan: DealtPlan, rng: np.random.Generator) -> pl.DataFrame:
        """The number of every row's group, which is not published."""
        import polars as pl

        order = rng.permutation(plan.deal.n_records)
        domains = [*plan.tally.quasi_domains, *(d for d in plan.tally.sensitive_domains if not d.aside)]
        number = free_name(self.numbers, [d.name for d in domains])  # the same as that of the published columns
        return pl.DataFrame({number: numbers_of(plan.deal, 0, plan.n_groups)[order]})

    def reading(self, schema: Schema) -> Reading:
        """Which rows belong together only the publisher knows."""
        return Reading(self.number(schema), hidden=True)

    def strands(self, schema: Schema) -> tuple[Strand, ...]:
        """The numbers that were drawn, and the sensitive values, which were moved together."""
        drawn = Strand(tuple(c.name for c in schema.quasi), drawn=self.decimals)
        secret = tuple(c.name for c in schema.sensitive)
        return (drawn, Strand(secret)) if secret else (drawn,)

    def done(self, column: Column) -> str:
        """What became of a column."""
        if column.role == "quasi":
            return "drawn anew: groups keep their means and covariances"
        return "published unchanged, but shuffled within each group"

    def further(self, schema: Schema) -> dict[str, str]:
        """There are no other columns."""
        return {}


def points_of(plan: DealtPlan) -> Floats:
    """The numbers of the quasi-identifiers of all records that are published, in the order of the deal."""
    domains = plan.tally.quasi_domains
    return np.column_stack([d.positions[plan.tally.quasi[plan.deal.cell, j]] for j, d in enumerate(domains)])


def redrawn(points: Floats, starts: Counts, rng: np.random.Generator) -> Floats:
    r"""New points for groups that lie one after the other, with the mean and the covariance matrix of each.

    With the eigenvectors :math:`v_j` of a group's covariance matrix and its eigenvalues :math:`\lambda_j`,

    .. math:: x = c(G) + \sum_j u_j v_j, \quad u_j \text{ uniform with variance } \lambda_j

    The draws of a group are then centred, and turned and stretched among each other by as much as it takes that their
    covariances are not :math:`\lambda_j` on average only. A group of n points must have at least two more than there
    are coordinates, or its new points would lie in the same plane as the old ones.

    >>> points = np.array([[0.0], [1.0], [2.0], [5.0]])
    >>> new = redrawn(points, np.array([0, 4]), np.random.default_rng(1))
    >>> bool(np.isclose(new.mean(), 2.0)), bool(np.isclose(new.var(), points.var())), bool(np.isin(new, points).any())
    (True, True, False)
    """
    out = np.empty_like(points)
    size = np.diff(starts)
    d = points.shape[1]
    for n in np.unique(size):
        rows = starts[:-1][size == n][:, None] + np.arange(n)
        own = points[rows]
        mean = own.mean(axis=1, keepdims=True)
        off = own - mean
        eigenvalues, axes = np.linalg.eigh(np.matmul(off.transpose(0, 2, 1), off) / n)
        unit = _uncorrelated(len(rows), int(n), d, rng)
        width = np.sqrt(np.maximum(eigenvalues, 0.0))
        out[rows] = mean + np.matmul(unit * width[:, None, :], axes.transpose(0, 2, 1))
    return out


def _uncorrelated(groups: int, n: int, d: int, rng: np.random.Generator) -> Floats:
    """Uniform draws for groups of n points, with mean 0, variance 1 and no correlation in each."""
    out = np.empty((groups, n, d))
    left = np.arange(groups)
    for attempt in range(_ATTEMPTS):
        drawn = rng.random((len(left), n, d)) - 0.5
        drawn -= drawn.mean(axis=1, keepdims=True)
        spread, axes = np.linalg.eigh(np.matmul(drawn.transpose(0, 2, 1), drawn) / n)
        fine = spread[:, 0] * _LOPSIDED > spread[:, -1]
        if attempt == _ATTEMPTS - 1:
            fine[:] = True
        whiten = np.matmul(axes / np.sqrt(spread)[:, None, :], axes.transpose(0, 2, 1))
        out[left[fine]] = np.matmul(drawn, whiten)[fine]
        left = left[~fine]
        if not len(left):
            break
    return out


def wrong_moments(before: Floats, after: Floats, group: Codes, decimals: int) -> list[str]:
    """What is wrong with the moments of records that were drawn anew, in words.

    Record ``i`` of `before` and of `after` belongs to ``group[i]``, from 0. Means may differ by half of the last place
    that is written, covariances by what that does to them; besides, floats are rounded.
    """
    n_groups = int(group.max(initial=-1)) + 1
    size = np.bincount(group, minlength=n_groups).astype(np.float64)

    def means(values: Floats) -> Floats:
        return np.column_stack([np.bincount(group, column, n_groups) for column in values.T]) / size[:, None]

    # Numbers far from zero lose digits: all are measured from the mean of their group before.
    middle = means(before)
    old, new = before - middle[group], after - middle[group]
    half = 0.5 * 10.0**-decimals
    square = means(old**2)
    scale = np.sqrt(square) + _ROUNDING * np.abs(middle)
    problems = []
    if np.any(np.abs(means(new)) > half + _ROUNDING * scale):
        problems.append("means of groups are not kept")
    d = before.shape[1]
    for i in range(d):
        for j in range(i, d):
            pairs = [np.column_stack([x[:, i] * x[:, j]]) for x in (old, new)]
            apart = np.abs(means(pairs[1]) - means(pairs[0]))[:, 0]
            slack = half * (scale[:, i] + scale[:, j] + half) + _ROUNDING * scale[:, i] * scale[:, j]
            if np.any(apart > slack * (1 + _ROUNDING)):
                problems.append("covariances of groups are not kept")
                return problems
    return problems

"""Which patterns to hand out: the poster's objective, its exact optimum, and what is still open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Floats
from tarnkappe.errors import JobError


@dataclass(frozen=True)
class Objective:
    r"""What the poster minimises: few copies, loss, and differences of loss between copies.

    .. math:: f(S) = w_n \Bigl(1 - \frac{n - n_{min}}{n_{max} - n_{min}}\Bigr)
              + w_\ell\, \overline{\ell}(S) + w_c\, \frac{\sigma(S)}{\overline{\ell}(S)}

    with the mean and the standard deviation of the losses of the chosen patterns. A single pattern has no differences,
    so `n_min` is at least 2.
    """

    n_min: int = 2
    n_max: int = 100
    size_weight: float = 1.0
    loss_weight: float = 1.0
    cv_weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no objective."""
        if not 2 <= self.n_min <= self.n_max:
            raise JobError(
                "E110", f"sizes must be 2 ≤ n_min ≤ n_max, got {self.n_min} and {self.n_max}", hint="n_min=2"
            )
        if min(self.size_weight, self.loss_weight, self.cv_weight) < 0:
            raise JobError("E110", "weights must not be negative", hint="size_weight=1.0")

    def size_term(self, n: NDArray[np.int64] | int) -> Floats:
        """How far a set is from the largest one."""
        share: Floats = 1.0 - (np.asarray(n) - self.n_min) / max(self.n_max - self.n_min, 1)
        return share

    def of_moments(self, n: NDArray[np.int64] | int, mean: Floats, variance: Floats) -> Floats:
        """The objective of sets with these sizes, means and variances of loss."""
        deviation = np.sqrt(np.maximum(variance, 0.0))
        cv = np.divide(deviation, mean, out=np.zeros_like(deviation), where=mean > 0)
        value: Floats = self.size_weight * self.size_term(n) + self.loss_weight * mean + self.cv_weight * cv
        return value

    def of(self, losses: Floats) -> float:
        """The objective of one set.

        >>> round(Objective(2, 4).of(np.array([0.2, 0.4])), 6)
        1.633333
        """
        values = np.asarray(losses, np.float64)
        return float(self.of_moments(len(values), values.mean(keepdims=True), values.var(keepdims=True))[0])

    @property
    def is_proved(self) -> bool:
        """Whether windows are proved to be optimal: differences must count at least as much as loss."""
        return self.cv_weight >= self.loss_weight or self.cv_weight == 0


@dataclass(frozen=True, eq=False)
class Selection:
    """Chosen patterns, by their places among the candidates, and how good the choice is.

    `bound` is a value that no choice falls below, so `gap` is at most what is left to gain, relative to it.
    """

    members: NDArray[np.int64]
    value: float
    bound: float
    mean_loss: float
    cv: float
    method: str

    @property
    def gap(self) -> float:
        """How much better the best choice could be at most, relative to the bound."""
        return max(self.value - self.bound, 0.0) / self.bound if self.bound > 0 else 0.0

    @classmethod
    def of(
        cls, members: NDArray[np.int64], losses: Floats, objective: Objective, bound: float | None, method: str
    ) -> Selection:
        """A choice and its figures; without a bound it is optimal."""
        chosen = losses[members]
        value, mean = objective.of(chosen), float(chosen.mean())
        cv = float(chosen.std()) / mean if mean > 0 else 0.0
        return cls(np.sort(members), value, value if bound is None else bound, mean, cv, method)


def best_window(losses: Floats, objective: Objective) -> Selection:
    r"""The exact optimum of the poster's objective: a run of neighbours in the order of loss.

    For losses in [0, 1] and a fixed size the objective is quasi-concave in the mean and the mean square of the chosen
    losses, and increasing in the latter; so an optimum minimises :math:`\sum (\ell - \theta)^2` for some
    :math:`\theta`, which chooses the losses nearest to it. All windows are tried with prefix sums:
    O(N log N + N · (n_max - n_min)).

    >>> chosen = best_window(np.array([0.1, 0.9, 0.5, 0.52]), Objective(2, 4, size_weight=0.1))
    >>> chosen.members.tolist(), chosen.gap
    ([2, 3], 0.0)
    """
    losses = np.asarray(losses, np.float64)
    most = min(objective.n_max, len(losses))
    if len(losses) < objective.n_min:
        raise JobError(
            "E110",
            f"{objective.n_min} patterns were asked for, and there are {len(losses)}",
            hint="Allow more suppressed records, or ask for fewer patterns.",
        )
    if losses.min() < 0 or losses.max() > 1:
        raise JobError("E110", "losses must lie between 0 and 1", hint='metric="loss"')
    order = np.argsort(losses, kind="stable")
    ranked = losses[order]
    shift = float(ranked.mean())  # squares of differences lose less to rounding than squares
    sums, shifted, squares = (np.append(0.0, np.cumsum(x)) for x in (ranked, ranked - shift, (ranked - shift) ** 2))
    best, at = np.inf, (0, 0)
    for n in range(objective.n_min, most + 1):
        mean, offset, square = ((x[n:] - x[:-n]) / n for x in (sums, shifted, squares))
        values = objective.of_moments(n, mean, square - offset**2)
        i = int(values.argmin())
        if values[i] < best:
            best, at = float(values[i]), (i, n)
    start, n = at
    return Selection.of(order[start : start + n], losses, objective, None, "exact: windows over sorted loss")

"""The analytical attack on columns that were averaged one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Flags, Floats
from tarnkappe.attacks.base import Attack, AttackCard, Finding, Need
from tarnkappe.attacks.scene import Scene, as_floats, is_numeric
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.params import param
from tarnkappe.wording import percent


@dataclass(frozen=True)
class Analytical(Attack):
    r"""From averages of neighbouring values alone, the values behind them lie between certain bounds.

    A column was averaged in groups of neighbours, so the values of a group lie between those of the group below and
    those of the group above. With the averages a < b < c of three groups in a row, and n records each, every value x of
    the middle one satisfies :math:`a \le x \le c`; and because b is their mean, no value is further above it than all
    others together can be below it:

    .. math:: \max(a,\, b - (n-1)(c-b)) \le x \le \min(c,\, b + (n-1)(b-a))

    At the ends of a column, where a neighbour is missing, the mean alone bounds that side. The attack succeeds for a
    record if this interval is at most the share ``within`` of the range of the averages. Nothing but the release is
    needed; with the data beside it, only bounds that hold count, because averages may have been made otherwise. The
    baseline is what the whole column says about anybody: nothing, unless all averages are the same.
    O(columns · records · log records).

    Differs from the paper in: bounds are those of one group and its neighbours; no system of inequalities is solved.

    References
    ----------
    .. [DOTM02] Domingo-Ferrer, Oganian, Torres, Mateo-Sanz. "On the security of microaggregation with individual
       ranking: analytical attacks." International Journal on Uncertainty, Fuzziness and Knowledge-based Systems 2002.
    """

    name: ClassVar = "analytical"
    title: ClassVar = "analytical attack"
    card: ClassVar = AttackCard(
        attacker="has the release alone, and computes between which bounds the values behind averages must lie.",
        success="the value of a record is bounded as narrowly as asked for.",
        baseline="what the whole column says about anybody.",
        remedy="larger groups, or averages of all columns together (algorithm: mdav)",
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi",)

    within: float = param(0.01, doc="How narrow, as a share of the range of the column.", ge=0, le=1, example=0.01)

    def carry_out(self, scene: Scene) -> Finding:
        """The share of cells whose bounds are that narrow."""
        columns = [c for c in scene.release.quasi if is_numeric(scene.release.frame[c])]
        if not columns:
            raise JobError(
                "E111",
                "no quasi-identifier is published as numbers",
                hint=Fix("--quasi  columns of averages", "columns of averages in  quasi"),
            )
        told = trials = plain = 0
        for name in columns:
            numbers = as_floats(scene.release.frame[name])
            numbers = numbers[~np.isnan(numbers)]
            levels, n = np.unique(numbers, return_counts=True)
            reach = float(np.ptp(levels)) if len(levels) else 0.0
            low, high = bounds(levels, n)
            narrow = np.repeat(high - low <= self.within * reach * (1 + 1e-12), n)
            if name in scene.numeric:
                narrow &= _hold(scene, name, np.repeat(low, n), np.repeat(high, n))
            told += int(narrow.sum())
            plain += len(numbers) if reach == 0 else 0
            trials += len(numbers)
        sentence = (
            f"The release alone bounds {percent(told / trials if trials else 0.0)} of the numbers behind its averages "
            f"to {percent(self.within)} of the range of their column."
        )
        return self.found(told, trials, plain / trials if trials else 0.0, sentence)


def _hold(scene: Scene, name: str, low: Floats, high: Floats) -> Flags:
    """Whether bounds hold for the values of the same rank; everywhere, if only some of the people are known."""
    assert scene.known is not None
    theirs = np.sort(as_floats(scene.known[name]))
    theirs = theirs[~np.isnan(theirs)]
    if len(theirs) != len(low):
        return np.ones(len(low), np.bool_)
    slack = 1e-9 * max(float(np.abs(theirs).max()), 1.0)
    out: Flags = (theirs >= low - slack) & (theirs <= high + slack)
    return out


def bounds(levels: Floats, n: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The interval in which all values behind each average must lie.

    >>> [ends.tolist() for ends in bounds(np.array([1.0, 2.0, 10.0]), np.array([3, 3, 3]))]
    [[-1.0, 1.0, 2.0], [2.0, 4.0, 26.0]]
    """
    below = np.append(-np.inf, levels[:-1])
    above = np.append(levels[1:], np.inf)
    others = n - 1.0
    with np.errstate(invalid="ignore"):  # nothing times infinity: a single record is its own average
        low = np.maximum(below, levels - np.where(others > 0, others * (above - levels), 0.0))
        high = np.minimum(above, levels + np.where(others > 0, others * (levels - below), 0.0))
    return low, high

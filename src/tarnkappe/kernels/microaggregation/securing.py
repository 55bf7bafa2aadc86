"""Published values that are far from enough records of their group, and the choice between one on either side."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Counts, Floats
from tarnkappe.kernels import helper, kernel


@kernel
def _far(values: Floats, x: float, epsilon: float) -> int:
    """How many values are at least epsilon away."""
    count = 0
    for v in values:
        if abs(v - x) >= epsilon:
            count += 1
    return count


@kernel
def _beyond(edge: float, side: int, power: float, more: int) -> float:
    """The number next to an edge on one side of it (-1: below) that may be published; or, with `more`, one further on.

    Numbers have a denominator of `power`; 0 means that all numbers may be published.
    """
    if power > 0.0:
        steps = np.ceil(edge * power) if side > 0 else np.floor(edge * power)
        return float((steps + side * more) / power)
    return float(np.nextafter(edge, side * np.inf)) if more > 0 else edge


@helper
def _nearest_secure(values: Floats, mean: float, epsilon: float, need: int, side: int, power: float) -> float:
    """The number nearest to the mean on one side of it from which enough values are far.

    Going away from the mean, a number becomes secure only where it leaves the reach of a value. Rounding may be wrong
    about the edge by a hair, so the numbers before and after it are tried as well. Beyond the last value all are far,
    so there is one.
    """
    best = side * np.inf
    for i in range(values.size + 1):
        edge = values[i] + side * epsilon if i < values.size else mean
        for more in (-1, 0, 1):
            x = _beyond(edge, side, power, more)
            if side * (x - mean) >= 0.0 and side * (x - best) < 0.0 and _far(values, x, epsilon) >= need:
                best = x
    return best


@kernel
def secure_values(
    values: Floats, starts: Counts, published: Floats, epsilon: float, gamma: float, power: float
) -> tuple[Floats, Floats, float]:
    """What each group publishes instead, the share of its values that are far from that, and the sum of all shifts.

    Group ``g`` has the values ``values[starts[g]:starts[g + 1]]``. Where a share of at least `gamma` is `epsilon` away
    from what it publishes, nothing changes. Otherwise it publishes the nearest number below or above its mean for which
    that holds: below if the sum of the shifts so far is not negative, else above. So that sum never exceeds the largest
    single shift.
    """
    n_groups = starts.size - 1
    out, ratio, total = published.copy(), np.ones(n_groups), 0.0
    for g in range(n_groups):
        own = values[starts[g] : starts[g + 1]]
        if own.size == 0:
            continue
        need = int(np.ceil(gamma * own.size - 1e-9))
        if _far(own, published[g], epsilon) < need:
            mean = 0.0
            for v in own:
                mean += (v - own[0]) / own.size
            mean += own[0]
            out[g] = _nearest_secure(own, mean, epsilon, need, -1 if total >= 0.0 else 1, power)
            total += (out[g] - mean) * own.size
        ratio[g] = _far(own, out[g], epsilon) / own.size
    return out, ratio, total


@kernel
def secure_sides(
    values: Floats, starts: Counts, published: Floats, epsilon: float, gamma: float, power: float
) -> tuple[Floats, Floats, Floats]:
    """For each group that falls short (see `secure_values`): its mean, and the nearest secure number on either side.

    The mean of a group that does not fall short, or has no values, is not a number.
    """
    n_groups = starts.size - 1
    means, below, above = np.full(n_groups, np.nan), np.full(n_groups, np.nan), np.full(n_groups, np.nan)
    for g in range(n_groups):
        own = values[starts[g] : starts[g + 1]]
        need = int(np.ceil(gamma * own.size - 1e-9))
        if own.size == 0 or _far(own, published[g], epsilon) >= need:
            continue
        mean = 0.0
        for v in own:
            mean += (v - own[0]) / own.size
        means[g] = mean + own[0]
        below[g] = _nearest_secure(own, means[g], epsilon, need, -1, power)
        above[g] = _nearest_secure(own, means[g], epsilon, need, 1, power)
    return means, below, above

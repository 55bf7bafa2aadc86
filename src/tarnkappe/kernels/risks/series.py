"""The mean of 1/F for a population count F of which a sample shows some."""

from __future__ import annotations

import math

from tarnkappe.arrays import Counts, Floats
from tarnkappe.kernels import kernel

#: From so many records on the series needs few terms, whatever the sampling share is.
_MANY = 40


@kernel
def mean_inverse(count: Counts, share: Floats, out: Floats) -> None:
    r"""Mean of 1/F where F is negative binomial: how often one draws with success `share` until `count` successes.

    With c = p/(1 - p) it is :math:`c \int_0^1 r^{f-1}/(c + r) dr`. Integrating by parts gives a recurrence from f to
    f + 1 that is stable for p up to 1/2, a series in 1 - p serves elsewhere.
    """
    for i in range(count.size):
        f, p = count[i], share[i]
        if p >= 1.0:
            out[i] = 1.0 / f
        elif p <= 0.5 and f < _MANY:
            c = p / (1.0 - p)
            value = c * math.log(1.0 / p)
            for j in range(1, f):
                value = c / j - c * value
            out[i] = value
        else:
            term = p / f
            value, m = 0.0, 0
            while term > 1e-17 * value:
                value += term
                m += 1
                term *= (1.0 - p) * m / (f + m)
            out[i] = value

"""The Laplace mechanism for numbers that are no counts: on a grid, so that it is the geometric one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.mechanisms.geometric import geometric_noise


def laplace_on_grid(
    values: Floats, epsilon: float, sensitivity: float, rng: np.random.Generator, *, grid: float
) -> Floats:
    r"""Values rounded to multiples of `grid`, with noise in whole steps of it.

    One record changes a value by at most `sensitivity`, so the rounded one by at most
    :math:`\lceil \text{sensitivity} / \text{grid} \rceil + 1` steps, ties and rounded divisions included. The noise is
    geometric with that many; as the grid gets finer it becomes Laplace noise of scale
    :math:`\text{sensitivity} / \varepsilon`. What is published are multiples of `grid`, whatever the values were:
    nothing shows in their last digits. Choose `grid` without looking at the data.

    >>> noisy = laplace_on_grid(np.array([0.3, 12.7]), 1.0, 2.0, np.random.default_rng(1), grid=0.5)
    >>> (noisy % 0.5).tolist()
    [0.0, 0.0]

    References
    ----------
    .. [DMNS06] Dwork, McSherry, Nissim, Smith. "Calibrating noise to sensitivity in private data analysis." TCC 2006.
    """
    if not (grid > 0 and sensitivity > 0):
        raise ValueError(f"grid and sensitivity must be above 0, got {grid!r} and {sensitivity!r}")
    steps = math.ceil(Fraction(str(sensitivity)) / Fraction(str(grid))) + 1
    rounded = np.rint(np.asarray(values, np.float64) / grid).astype(np.int64)
    return (rounded + geometric_noise(epsilon, steps, rng, len(rounded))).astype(np.float64) * grid

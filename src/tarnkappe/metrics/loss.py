"""Loss, with a geometric mean over columns."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.metrics.lm import LossMetric
from tarnkappe.tally import Tally


class Loss(LossMetric):
    r"""Share of a column's other values that a cell covers; geometric mean over columns.

    .. math:: v_j = \frac1n \sum_\text{records} \frac{c - 1}{M - 1}, \quad
              \mathrm{Loss} = \prod_j (1 + v_j)^{1/d} - 1

    for labels that cover :math:`c` of the :math:`M` leaves of column :math:`j` (numeric ranges by extent, as in LM),
    and 1 for a suppressed record. With weights the exponents are :math:`w_j / \sum w`. This is the loss that ARX
    reports (there written as :math:`(a - n/M) / (n - n/M)` with :math:`a = \sum c / M`), to be compared with it digit
    by digit.

    References
    ----------
    .. [PKKB14] Prasser, Kohlmayer, Lautenschläger, Kuhn. "ARX: a comprehensive tool for anonymizing biomedical data."
       AMIA 2014.
    """

    name: ClassVar = "loss"
    title: ClassVar = "Loss (geometric mean)"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "Columns have lost {percent} of their detail (geometric mean)."

    def combine(self, sums: Floats, tally: Tally) -> Floats:
        """The geometric mean of one plus each column's mean loss, minus one."""
        mean: Floats = np.expm1(np.log1p(sums / tally.n_records) @ tally.weights)
        return mean

"""Which of many boxes of labels holds a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.kernels import kernel


@kernel
def first_fitting(
    rows: NDArray[np.int64],
    boxes: NDArray[np.int64],
    begin: NDArray[np.int64],
    fits: NDArray[np.bool_],
    out: NDArray[np.int64],
) -> None:
    """The first box whose labels fit all values of each row, -1 if there is none.

    Row ``r`` has value ``rows[r, j]`` in column j, box ``b`` label ``boxes[b, j]``. Whether they fit is in `fits` at
    the sum of both: they count from where the column begins, values in steps of its number of labels.
    """
    for r in range(len(rows)):
        out[r] = -1
        for b in range(len(boxes)):
            ok = True
            for j in range(rows.shape[1]):
                if not fits[begin[j] + rows[r, j] + boxes[b, j]]:
                    ok = False
                    break
            if ok:
                out[r] = b
                break

"""The kinds of arrays that travel between modules, by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Numbers of values, cells or groups.
Codes = NDArray[np.int32]
#: How many there are of something, and positions in long arrays.
Counts = NDArray[np.int64]
#: Levels, losses, coordinates.
Floats = NDArray[np.float64]
#: Numbers are squared and summed over up to 10¹² records: what is larger or smaller would become infinite or nothing.
LARGEST, SMALLEST = 1e140, 1e-140
#: Yes or no for each.
Flags = NDArray[np.bool_]
#: Raw text.
Bytes = NDArray[np.uint8]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, not to be changed; kernels are compiled anew for arrays that can be."""
    seen = array.view()
    seen.flags.writeable = False
    return seen

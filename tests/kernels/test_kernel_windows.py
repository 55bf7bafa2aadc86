from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.kernels.criteria.windows import fullest_windows

histogram = st.dictionaries(st.integers(0, 9), st.integers(1, 5))
window = st.tuples(st.integers(-1, 10), st.integers(-1, 10))


@given(st.lists(st.tuples(histogram, st.lists(window, max_size=4)), max_size=5))
def test_as_counted_one_by_one(groups):
    entries = [sorted(h.items()) for h, _ in groups]
    windows = [w for _, ws in groups for w in ws]
    indptr = np.cumsum([0, *(len(e) for e in entries)]).astype(np.int64)
    window_indptr = np.cumsum([0, *(len(ws) for _, ws in groups)]).astype(np.int64)
    flat = np.array([pair for e in entries for pair in e], np.int64).reshape(-1, 2)
    ends = np.array(windows, np.int32).reshape(-1, 2)
    codes, counts = flat[:, 0].astype(np.int32), flat[:, 1].copy()
    found = fullest_windows(indptr, codes, counts, window_indptr, ends[:, 0].copy(), ends[:, 1].copy())
    expected = [
        max((sum(n for code, n in h.items() if low <= code <= high) for low, high in ws), default=0) for h, ws in groups
    ]
    assert found.tolist() == expected

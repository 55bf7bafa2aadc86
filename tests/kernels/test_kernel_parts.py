"""Functions that only kernels call are compiled as parts of them."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from called import from_python
from tarnkappe.kernels import PART, helper

where_tried = pytest.mark.skipif(not PART, reason="parts are compiled like kernels by this version of Numba")


@helper
def _times(x, y):
    return max(x, 0) * y


@helper
def _product(numbers):
    out = np.ones(1, np.int64)  # an array that comes and goes
    for i in range(numbers.size):
        out[0] = _times(out[0], numbers[i])
    return out[0]


@helper
def _countdown(n):
    return 0 if n == 0 else 1 + _countdown(n - 1)


@numba.njit
def twice(numbers):
    return _product(numbers) + _product(numbers[::-1])


@numba.njit
def thrice(numbers):
    return 3 * _product(numbers)


def test_kernels_share_parts_and_parts_have_parts():
    numbers = np.arange(1, 6)
    assert twice(numbers) == 240
    assert thrice(numbers) == 360
    assert from_python(_countdown)(7) == 7
    with pytest.raises(IndexError):  # what goes wrong in a part goes wrong in the kernel
        from_python(helper(lambda a: (a, a)[len(a)]))(np.arange(3))


@where_tried
def test_a_part_has_no_machine_code_of_its_own():
    twice(np.arange(3))
    libraries = [[one.library for one in f.overloads.values()] for f in (_times, _product, twice)]
    *parts, whole = [[library._compiled_object is not None for library in made] for made in libraries]
    assert parts == [[False], [False, False]]
    assert whole == [True]


@where_tried
def test_python_that_calls_a_part_is_told_so():
    with pytest.raises(SystemError):
        _times(2, 3)
    assert thrice(np.array([2, 2])) == 12  # kernels go on calling it


KEPT = """
import sys
import numpy as np
from tarnkappe.kernels.local.hilb_cutting import _cut, cut_line
from tarnkappe.kernels.widths import Ruler
line = np.arange(6, dtype=np.int32)[:, None]
nothing, one = np.zeros(1, np.int32), np.zeros((1, 1), np.int32)
place = np.arange(6) / 5.0
ruler = Ruler(np.array([0, 6]), place, place, np.ones(6, np.bool_), np.zeros(6, np.int32), one, np.ones(1, np.bool_),
              nothing - 1)
begins = cut_line(ruler, line, line, np.arange(7), np.arange(7), 2)
print(begins.tolist(), sum(_cut.stats.cache_hits.values()))
"""


def test_machine_code_that_is_kept_has_its_parts_in_it(tmp_path):
    """A second process runs a kernel that calls parts without compiling anything."""
    said = [
        subprocess.run(
            [sys.executable, "-c", KEPT],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert [words[-1] for words in said] == ["0", "1"]
    assert said[0][:-1] == said[1][:-1] == ["[0,", "2,", "4]"]

"""Memory that was let go of goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Many small pieces are let go of but for the last one, which keeps the C library from shrinking its heap by itself.
LETS_GO = """
import numpy as np
from pathlib import Path
from tarnkappe.freed import give_back

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

begin = held()
pieces = [np.ones(50_000, np.uint8) for _ in range(4000)]
top = np.ones(50_000, np.uint8)
full = held()
del pieces
before = held()
give_back()
print((before - begin) / (full - begin), (held() - begin) / (full - begin))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take it back by themselves")
def test_memory_that_nobody_holds_on_to_is_given_back():
    said = subprocess.run([sys.executable, "-c", LETS_GO], check=True, capture_output=True, text=True).stdout
    before, after = map(float, said.split())
    assert after < 0.2 <= before

"""The ruler of local recoding against the widths of domains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from called import from_python
from strategies import domains
from tarnkappe.algorithms.steps.units import ruler_of
from tarnkappe.kernels import widths
from tarnkappe.kernels.widths import box_widths, reach
from tarnkappe.tally import Domain

widen, widened, width = (from_python(part) for part in (widths.widen, widths.widened, widths.width))
EMPTY = (np.iinfo(np.int32).max, -1)


@st.composite
def columns(draw: st.DrawFn) -> list[Domain]:
    """One to three columns of different weights."""
    return [
        replace(draw(domains(f"q{j}")), weight=draw(st.sampled_from([1.0, 0.5, 3.0])))
        for j in range(draw(st.integers(1, 3)))
    ]


def expected(domain: Domain, lo: int, hi: int) -> float:
    """The weighted width of one interval, as the domain says it."""
    if lo > hi:
        return 0.0
    ends = np.array([lo], np.int32), np.array([hi], np.int32)
    return float(domain.widths(*ends, domain.nodes(*ends))[0]) * domain.weight


def interval(data: st.DataObject, domain: Domain) -> tuple[int, int]:
    """An interval of codes that a group can have, or an empty one; a wildcard is not part of any."""
    last = domain.size - 1 - domain.wildcard
    if last < 0 or data.draw(st.integers(0, 5)) == 0:
        return EMPTY
    lo = data.draw(st.integers(0, last))
    return lo, data.draw(st.integers(lo, last))


@given(columns(), st.data())
@settings(deadline=None)
def test_widths_are_those_of_the_domains(given_domains, data):
    ruler = ruler_of(given_domains)
    box = [interval(data, d) for d in given_domains]
    lo, hi = (np.array([ends], np.int32) for ends in zip(*box, strict=True))
    one_by_one = [expected(d, *ends) for d, ends in zip(given_domains, box, strict=True)]
    for j in range(len(box)):
        assert width(ruler, j, *box[j]) == pytest.approx(one_by_one[j], abs=1e-12)
    assert box_widths(ruler, lo, hi) == pytest.approx([sum(one_by_one)], abs=1e-12)


@given(columns(), st.data())
@settings(deadline=None)
def test_a_box_is_widened_by_a_row(given_domains, data):
    ruler = ruler_of(given_domains)
    box = [interval(data, d) for d in given_domains]
    row = np.array([data.draw(st.integers(0, d.size - 1)) for d in given_domains], np.int32)
    lo, hi = (np.array([ends], np.int32) for ends in zip(*box, strict=True))
    wider = []
    for d, (low, high), v in zip(given_domains, box, row.tolist(), strict=True):
        free = d.wildcard and v == d.missing
        wider.append((low, high) if free else (min(low, v), max(high, v)))
    total = sum(expected(d, *ends) for d, ends in zip(given_domains, wider, strict=True))
    given_box = ruler, row[None], 0, lo, hi, 0
    assert widened(*given_box, np.inf) == pytest.approx(total, abs=1e-12)
    assert (widened(*given_box, total / 2) >= total / 2) or total == 0
    table = np.empty(ruler.start[-1])
    for j in range(len(row)):
        reach(ruler, j, lo[0, j], hi[0, j], table)
        assert table[ruler.start[j] + row[j]] == pytest.approx(expected(given_domains[j], *wider[j]), abs=1e-12)
    widen(*given_box)
    assert list(zip(*lo.tolist(), *hi.tolist(), strict=True)) == wider

"""The cutting kernels against plain Python twins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from called import from_python
from grids import examples
from strategies import domains, taxonomies
from tarnkappe.kernels.histograms import counted_in_shares, room_for
from tarnkappe.kernels.multidimensional import segments as parts
from tarnkappe.kernels.multidimensional.mondrian import (
    count_halves,
    count_secrets,
    find_cuts,
    find_halves,
    segment_boxes,
    write_halves,
)
from tarnkappe.kernels.multidimensional.segments import scratch
from tarnkappe.tally import Domain

gap_depth, present_codes = from_python(parts.gap_depth), from_python(parts.present_codes)
NO_TREE = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)


def boxes_of(rows: np.ndarray, quota: np.ndarray, starts: np.ndarray, wild: int) -> tuple[np.ndarray, ...]:
    n = len(starts) - 1
    lo, hi, size = np.empty((n, 1), np.int32), np.empty((n, 1), np.int32), np.empty(n, np.int64)
    segment_boxes(rows, quota, starts, np.array([wild], np.int32), lo, hi, size, 0, n)
    return lo, hi, size


def shares(n: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two ranges of the work, as two threads would share it."""
    return (0, n // 2), (n // 2, n)


@given(taxonomies(max_nodes=20), st.data())
@settings(deadline=None)
def test_gap_depth_is_that_of_the_lowest_common_ancestor(tree, data):
    b = data.draw(st.integers(0, tree.n_leaves - 1))
    a = data.draw(st.integers(0, max(0, b - 1)))
    if a < b:
        expected = tree.depth[tree.lca(a, b)]
        assert gap_depth(a, b, tree.splits[0], tree.split_minima, -1) == expected


def test_gaps_of_a_scale_are_alike_but_for_the_missing_value():
    assert gap_depth(0, 7, *NO_TREE, 9) == gap_depth(7, 8, *NO_TREE, 9) == 1
    assert gap_depth(8, 9, *NO_TREE, 9) == 0
    assert gap_depth(8, 9, *NO_TREE, -1) == 1


codes_and_quotas = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=20)


@given(codes_and_quotas, st.booleans(), st.sampled_from([-1, 9]))
@settings(deadline=None)
def test_present_codes_are_counted_in_order(pieces, sparse, wild):
    """A code far off makes the range too wide for counting in an array, so that it sorts instead."""
    codes = [v * 1000 if sparse else v for v, _ in pieces]
    wild = wild * 1000 if sparse and wild >= 0 else wild
    quota = np.array([q for _, q in pieces], np.int64)
    expected: Counter[int] = Counter()
    for v, q in zip(codes, quota.tolist(), strict=True):
        expected[v] += q
    wild_records = expected.pop(wild, 0)
    rows = np.array(codes, np.int32).reshape(-1, 1)
    lo, hi, _ = boxes_of(rows, quota, np.array([0, len(rows)]), wild)
    n = len(rows)
    dense, values, counts = np.zeros(2 * n + 16, np.int64), np.empty(n, np.int32), np.empty(n, np.int64)
    found, wild_found = present_codes(rows, quota, 0, n, 0, lo[0, 0], hi[0, 0], wild, dense, values, counts)
    assert wild_found == wild_records
    assert list(zip(values[:found].tolist(), counts[:found].tolist(), strict=True)) == sorted(expected.items())
    assert not dense.any()


@st.composite
def segments(draw: st.DrawFn) -> tuple[Domain, np.ndarray, np.ndarray, np.ndarray]:
    """Codes of one attribute, their quotas, and segments of them."""
    domain = draw(domains())
    n = draw(st.integers(1, 25))
    codes = draw(st.lists(st.integers(0, domain.size - 1), min_size=n, max_size=n))
    quota = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    inner = draw(st.lists(st.integers(1, n - 1), max_size=3, unique=True)) if n > 1 else []
    starts = np.array([0, *sorted(inner), n], np.int64)
    return domain, np.array(codes, np.int32).reshape(-1, 1), np.array(quota, np.int64), starts


def histogram(rows: np.ndarray, quota: np.ndarray, wild: int) -> tuple[dict[int, int], int]:
    """Records per known code in ascending order, and records whose code is the wildcard."""
    counts: Counter[int] = Counter()
    for v, q in zip(rows[:, 0].tolist(), quota.tolist(), strict=True):
        counts[v] += q
    wild_records = counts.pop(wild, 0)
    return {v: c for v, c in sorted(counts.items()) if c}, wild_records


def strict_twin(domain: Domain, counts: dict[int, int], wild_records: int, torn: bool) -> list[tuple[int, int]]:
    """The cuts ``x <= median`` and ``x < median`` as (code, records on the left), the tighter one first."""
    values = list(counts)
    total = sum(counts.values())
    if not torn and len(values) > 1:
        depths = []
        for a, b in pairwise(values):
            if domain.taxonomy.ranges.any():
                depths.append(0 if b == domain.missing else 1)
            else:
                depths.append(int(domain.taxonomy.depth[domain.taxonomy.lca(a, b)]))
        gaps = [t for t, d in enumerate(depths) if d == min(depths)]
    else:
        gaps = list(range(len(values) - 1))
    below = {t: sum(counts[v] for v in values[: t + 1]) for t in gaps}
    at_or_after = [t for t in gaps if 2 * below[t] >= total][:1]
    before = [t for t in gaps if 2 * below[t] < total][-1:]

    def tightness(t: int) -> float:
        place = domain.positions
        return below[t] * (place[values[t]] - place[values[0]]) + (total - below[t]) * (
            place[values[-1]] - place[values[t + 1]]
        )

    chosen = at_or_after + before
    if len(chosen) == 2 and tightness(chosen[1]) < tightness(chosen[0]):
        chosen.reverse()
    return [(values[t + 1], below[t] + wild_records) for t in chosen]


@given(segments(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=examples(300))
def test_strict_cuts(case, torn, with_people):
    domain, rows, quota, starts = case
    if with_people:  # every other cell is that of people of whom there is no record
        quota = np.where(np.arange(len(quota)) % 2 == 0, quota, 0)
    wild = domain.missing if domain.wildcard else -1
    tree = domain.taxonomy
    lo, hi, _ = boxes_of(rows, quota, starts, wild)
    gaps = NO_TREE if tree.ranges.any() else (tree.splits[0], tree.split_minima)
    chosen = np.arange(len(starts) - 1)[::-1].copy()
    code, left = np.full((len(chosen), 2), 77, np.int32), np.zeros((len(chosen), 2), np.int64)
    shape = (domain.positions, *gaps, domain.missing, wild, torn)
    for begin, end in shares(len(chosen)):
        room = scratch(starts, chosen[begin:end])
        find_cuts(rows, quota, starts, chosen, 0, lo, hi, *shape, code, left, *room, begin, end)
    for k, s in enumerate(chosen):
        here = slice(starts[s], starts[s + 1])
        found = [(int(c), int(n)) for c, n in zip(code[k], left[k], strict=True) if c >= 0]
        assert found == strict_twin(domain, *histogram(rows[here], quota[here], wild), torn)


@given(segments())
@settings(deadline=None)
def test_relaxed_cuts_halve_the_records(case):
    domain, rows, quota, starts = case
    wild = domain.missing if domain.wildcard else -1
    lo, hi, size = boxes_of(rows, quota, starts, wild)
    chosen = np.arange(len(starts) - 1)
    code, ties, left = (
        np.full(len(chosen), 77, np.int32),
        np.zeros(len(chosen), np.int64),
        np.zeros(len(chosen), np.int64),
    )
    for begin, end in shares(len(chosen)):
        room = scratch(starts, chosen[begin:end])
        find_halves(rows, quota, starts, chosen, 0, lo, hi, wild, code, ties, left, *room, begin, end)
    for s in chosen:
        counts, wild_records = histogram(rows[starts[s] : starts[s + 1]], quota[starts[s] : starts[s + 1]], wild)
        line = [v for v, c in counts.items() for _ in range(c)]
        half = int(size[s]) // 2
        if not line or wild_records > half:
            assert code[s] == -1
            continue
        assert left[s] == half
        assert code[s] == line[half - wild_records]
        assert ties[s] == line[: half - wild_records].count(int(code[s]))


@given(segments(), st.data())
@settings(deadline=None)
def test_halves_are_the_records_left_and_right(case, data):
    domain, rows, quota, starts = case
    wild = domain.missing if domain.wildcard else -1
    n = len(starts) - 1
    code = np.array(data.draw(st.lists(st.integers(0, domain.size), min_size=n, max_size=n)), np.int32)
    ties = np.array(data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), np.int64)
    nobody = data.draw(st.lists(st.booleans(), min_size=len(quota), max_size=len(quota)))
    quota = np.where(nobody, 0, quota)  # cells of a public table that no record has
    chosen = np.arange(n)
    cuts = (chosen, np.zeros(n, np.int64), code, ties, np.array([wild], np.int32))
    pieces = np.empty(2 * n, np.int64)
    for begin, end in shares(n):
        count_halves(rows, quota, starts, *cuts, pieces, begin, end)
    bounds = np.concatenate([[0], np.cumsum(pieces)])
    m = int(bounds[-1])
    cell = np.arange(100, 100 + len(rows), dtype=np.int32)
    new_rows, records, new_cell = np.empty((m, 1), np.int32), np.empty(m, np.int64), np.empty(m, np.int32)
    for begin, end in shares(n):
        write_halves(rows, quota, cell, starts, *cuts, bounds, new_rows, records, new_cell, begin, end)
    source = new_cell - 100
    expected: list[tuple[int, int]] = []
    ends = [0]
    for s in chosen:
        sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        left_over = int(ties[s])
        for i in range(starts[s], starts[s + 1]):
            v, q = int(rows[i, 0]), int(quota[i])
            if q == 0:
                sides[0 if v == wild or v < code[s] else 1].append((i, 0))
                continue
            goes_left = q if v == wild or v < code[s] else 0
            if v != wild and v == code[s]:
                goes_left = min(q, left_over)
                left_over -= goes_left
            sides[0].extend([(i, goes_left)] if goes_left else [])
            sides[1].extend([(i, q - goes_left)] if goes_left < q else [])
        for side in sides:
            expected += side
            ends.append(len(expected))
    assert list(zip(source.tolist(), records.tolist(), strict=True)) == expected
    assert bounds.tolist() == ends
    assert records.sum() == quota.sum()
    assert np.array_equal(new_rows, rows[source])
    no_rows, again = np.empty((0, 1), np.int32), np.empty(m, np.int64)
    write_halves(rows, quota, cell, starts, *cuts, bounds, no_rows, again, new_cell, 0, n)  # without codes
    assert np.array_equal(again, records)


@given(segments(), st.data(), st.sampled_from([1, 30]))
@settings(deadline=None)
def test_secrets_are_counted_as_if_the_halves_were_made(case, data, apart):
    """Every other case has pieces of several cells, which cuts do not divide."""
    domain, rows, quota, starts = case
    n, wild = len(starts) - 1, domain.missing if domain.wildcard else -1
    together = data.draw(st.booleans())
    pieces = st.lists(st.integers(1, 4 if together else 1), min_size=len(rows), max_size=len(rows))
    bounds = np.cumsum([0, *data.draw(pieces)]).astype(np.int32)
    cell, after = bounds[:-1], np.zeros(bounds[-1], np.int32)
    after[cell] = bounds[1:]
    drawn = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=len(after), max_size=len(after))
    secret, count = np.array(data.draw(drawn), np.int64).T
    secret = (secret * apart).astype(np.int32)
    if together:
        quota = np.add.reduceat(count, cell)
    code = np.array(data.draw(st.lists(st.integers(0, domain.size), min_size=n, max_size=n)), np.int32)
    ties = np.zeros(n, np.int64) if together else np.array([data.draw(st.integers(0, 6)) for _ in range(n)], np.int64)
    cuts = (np.zeros(n, np.int64), code, ties, np.array([wild], np.int32))
    given = (rows, quota, cell, after, starts, np.arange(n), *cuts, secret, np.ascontiguousarray(count))

    def counted(begin: int, end: int, sizes: np.ndarray, *room: np.ndarray) -> tuple[int, int]:
        first = int(bounds[starts[begin]]) + begin
        seen, occurs = room_for(4 * apart + 1, groups=2)
        last = count_secrets(*given, seen, occurs, sizes, *room, first, begin, end)
        assert not seen.any()
        assert not occurs.any()
        return first, last

    def share(task: Callable[[int, int], None]) -> None:
        for begin, end in reversed(shares(n)):
            task(begin, end)

    indptr, codes, counts = counted_in_shares(counted, 2 * n, len(after) + n, share)
    expected: list[Counter[int]] = [Counter() for _ in range(2 * n)]
    for s in range(n):
        left_over = int(ties[s])
        for i in range(starts[s], starts[s + 1]):
            v, q = int(rows[i, 0]), int(quota[i])
            left = q if v == wild or v < code[s] else 0
            if v != wild and v == code[s]:
                left = min(q, left_over)
                left_over -= left
            for c in range(bounds[i], bounds[i + 1]):
                share_left = left if not together else int(count[c]) * (left > 0)
                expected[2 * s][int(secret[c])] += share_left
                expected[2 * s + 1][int(secret[c])] += (int(count[c]) if together else q) - share_left
    for g, counter in enumerate(expected):
        run = slice(indptr[g], indptr[g + 1])
        assert list(zip(codes[run].tolist(), counts[run].tolist(), strict=True)) == sorted((+counter).items())

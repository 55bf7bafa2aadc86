"""The kernels of refinements and combinations, against plain Python."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.kernels.subtree.combinations import hit_combinations
from tarnkappe.kernels.subtree.refinements import DEAD, OK, VIOLATING, bound_splits, group_rows, split_groups

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=30)
OFFSET = np.array([0, 5, 8], np.int64)


def numbered(keys: list) -> list[int]:
    """Number equal keys in order of appearance."""
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return [numbers[key] for key in keys]


@given(ROWS, st.lists(st.integers(0, 3), min_size=8, max_size=8))
@settings(deadline=None)
def test_group_rows(rows, part):
    group, first = group_rows(np.array(rows, np.int32), np.array(part, np.int32), OFFSET)
    assert group.tolist() == numbered([(part[a], part[5 + b]) for a, b in rows])
    assert first.tolist() == [group.tolist().index(g) for g in range(len(first))]


STEPS = [(0, [2]), (0, [1, 3]), (1, [1, 2]), (0, [])]


@given(ROWS, st.data())
@settings(deadline=None)
def test_split_groups(rows, data):
    group = numbered(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))))
    size = data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    starts = np.concatenate([np.array(s, np.int32) for _, s in STEPS])
    begin = np.append(0, np.cumsum([len(s) for _, s in STEPS]))
    split, first, records, bounds = split_groups(
        np.array(rows, np.int32),
        np.array(size, np.int64),
        np.array(group, np.int32),
        max(group) + 1,
        np.array([j for j, _ in STEPS], np.int32),
        begin[:-1],
        begin[1:],
        starts,
    )
    ahead = 0
    for a, (j, cuts) in enumerate(STEPS):
        keys = [(g, sum(c <= row[j] for c in cuts)) for g, row in zip(group, rows, strict=True)]
        expected = [ahead + n for n in numbered(keys)]
        assert split[a].tolist() == expected
        assert bounds[a] == ahead
        ahead = max(expected) + 1
        for s in set(expected):
            assert records[s] == sum(n for n, e in zip(size, expected, strict=True) if e == s)
            assert expected[first[s]] == s
    assert bounds[-1] == ahead == len(records)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9), st.integers(0, 50)), min_size=1, max_size=20), st.data()
)
@settings(deadline=None)
def test_bound_splits(rows, data):
    state = data.draw(st.lists(st.sampled_from([OK, VIOLATING, DEAD]), min_size=4, max_size=4))
    slot = np.array([[s for s, _, _ in rows]], np.int32)
    size, floor = np.array([n for _, n, _ in rows], np.int64), np.array([f for _, _, f in rows], np.float64)
    bound, lost = bound_splits(slot, np.array(state, np.int8), size, floor, 7.0)
    assert bound[0] == sum(7.0 * n if state[s] == DEAD else f for s, n, f in rows)
    dead = sum(n for s, n, _ in rows if state[s] == DEAD)
    forced = sum(
        min(n for t, n, _ in rows if t == s) for s in {s for s, _, _ in rows} if state[s] == VIOLATING
    )  # fmt: skip
    assert lost[0] == dead + forced


SETS = [c for n in (1, 2, 3) for c in combinations(range(4), n)]


@given(st.lists(st.sets(st.integers(0, len(SETS) - 1)), min_size=1, max_size=6), st.permutations([1.0, 2.0, 3.0, 9.0]))
@settings(deadline=None)
def test_hit_combinations(rows, weight):
    columns = np.array([[*c, *[-1] * (3 - len(c))] for c in SETS], np.int32)
    unsafe = np.array([[c in row for row in rows] for c in range(len(SETS))])
    given_up = hit_combinations(unsafe, columns, np.array(weight))
    for i, row in enumerate(rows):
        gone = set(np.flatnonzero(given_up[i]).tolist())
        assert all(gone & set(SETS[c]) for c in row), "every unsafe combination is met"
        needed = set().union(*(SETS[c] for c in row)) if row else set()
        assert gone <= needed
        minimal = [set(SETS[c]) for c in row if not any(set(SETS[d]) < set(SETS[c]) for d in row)]
        assert gone == greedy(minimal, weight)


def greedy(left: list[set[int]], weight: list[float]) -> set[int]:
    """Most sets per weight first, ties to the first column."""
    gone: set[int] = set()
    while left:
        best = max(range(len(weight)), key=lambda j: (sum(j in s for s in left) / weight[j], -j))
        gone.add(best)
        left = [s for s in left if best not in s]
    return gone

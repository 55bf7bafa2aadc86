"""What shards count adds up to what the whole table has."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import goals, groupings, tallies
from tarnkappe.algorithms.shards import Counted, Secrets, Shards, joined
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.tally import Tally

parts = st.integers(1, 7)


@given(tallies(), parts)
def test_counts_add_up(tally: Tally, n: int):
    shards = Shards.of(tally, n)
    size = tally.quasi_domains[0].size
    (found,) = shards.count(lambda s: [Counted.of([s.tally.quasi[:, 0]], (size,), s.tally.count)])
    expected = np.bincount(tally.quasi[:, 0], weights=tally.count, minlength=size)
    assert np.array_equal(found.keys[0], np.flatnonzero(expected))
    assert np.array_equal(found.count, expected[expected > 0])


@given(tallies(), parts, parts)
def test_every_cell_arrives_at_its_owner(tally: Tally, n: int, n_owners: int):
    owner = np.arange(tally.n_cells) % (n_owners + 1) - 1
    found = Shards.of(tally, n).exchange(lambda s: owner[s.cells].astype(np.int32), n_owners)
    for i, part in enumerate(found):
        assert np.array_equal(part.cells, np.flatnonzero(owner == i))
        assert np.array_equal(part.tally.quasi, tally.quasi[part.cells])
        assert np.array_equal(part.tally.sensitive, tally.sensitive[part.cells])
        assert np.array_equal(part.tally.count, tally.count[part.cells])


@given(tallies(n_sensitive=2), goals(know_others=None), parts, st.data())
def test_goals_see_the_same_in_counts_as_in_cells(tally: Tally, goal: Goal, n: int, data: st.DataObject):
    grouping = data.draw(groupings(tally))
    kept = grouping.group >= 0
    if not kept.any():
        return
    shards = Shards.of(tally, n)
    secrets = Secrets(shards, goal)
    secret = np.empty(tally.n_cells, np.int32)
    for shard in shards.shards:
        secret[shard.cells] = secrets.of(shard)
    counted = Counted.of(
        [grouping.group[kept], secret[grouping.cell[kept]]], (grouping.n_groups, len(secrets)), grouping.quota[kept]
    )
    stats = secrets.stats(*counted.keys, counted.count)
    expected = goal.stats(tally, grouping, goal.table_distributions(tally))
    assert np.array_equal(stats.size, expected.size)
    assert np.array_equal(goal.satisfied(stats), goal.satisfied(expected))


@given(tallies(), parts)
def test_groups_of_parts_are_groups_of_the_whole(tally: Tally, n: int):
    shards = Shards.of(tally, n).shards
    each = [
        Grouping.of_cells(s.tally, np.arange(s.tally.n_cells, dtype=np.int32) // 2, -(-s.tally.n_cells // 2))
        for s in shards
    ]
    whole = joined(each, shards)
    assert np.array_equal(whole.cell, np.arange(tally.n_cells))
    assert np.array_equal(np.unique(whole.group), np.arange(whole.n_groups))
    assert np.bincount(whole.group).max() <= 2

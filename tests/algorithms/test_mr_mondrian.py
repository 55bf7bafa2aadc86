"""MRMondrian and Rothko-T: the same groups as Mondrian, however the table is divided."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.algorithms.multidimensional.mr_mondrian import MRMondrian
from tarnkappe.algorithms.multidimensional.rothko_t import RothkoT
from tarnkappe.algorithms.multidimensional.sharded import ShardedMondrian
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)
BOTH = pytest.mark.parametrize("cls", [MRMondrian, RothkoT])


def same_groups(a: Grouping, b: Grouping) -> bool:
    """Whether two groupings are the same but for the numbers of their groups."""
    pairs = np.unique(np.stack([a.group, b.group]), axis=1).shape[1]
    return np.array_equal(a.cell, b.cell) and np.array_equal(a.quota, b.quota) and pairs == a.n_groups == b.n_groups


def numbers(n: int, seed: int, size: int = 40) -> Tally:
    """Two scales and a secret."""
    rng = np.random.default_rng(seed)
    values = np.arange(size, dtype=float)
    quasi = [Domain(name, Taxonomy.scale([f"{v:g}" for v in values]), values) for name in "xy"]
    secret = Domain("s", Taxonomy.scale([f"s{i}" for i in range(6)]))
    return count_cells([rng.integers(0, size, n) for _ in quasi], [rng.integers(0, 6, n)], quasi, [secret])[0]


@BOTH
@settings(max_examples=examples(60))
@given(tallies(), goals(know_others=None), st.integers(1, 30), st.integers(1, 5))
def test_the_groups_of_mondrian(cls: type[ShardedMondrian], tally: Tally, goal: Goal, part_records: int, shards: int):
    try:
        expected = Mondrian().decide(tally, goal, rng=RNG)
    except (InfeasibleError, JobError) as error:
        with pytest.raises(type(error)):
            cls(part_records, shards=shards).decide(tally, goal, rng=RNG)
        return
    found = cls(part_records, shards=shards).decide(tally, goal, rng=RNG)
    check_grouping(cls.name, tally, goal, found)
    assert same_groups(found, expected)


@BOTH
@pytest.mark.parametrize("part_records", [1, 60, 1000, 10**6])
def test_a_larger_table(cls: type[ShardedMondrian], part_records: int):
    tally = numbers(5000, 1)
    for goal in (Goal([KAnonymity(5)]), Goal([KAnonymity(5), LDiversity("s", 4)])):
        expected = Mondrian().decide(tally, goal, rng=RNG)
        assert same_groups(cls(part_records).decide(tally, goal, rng=RNG), expected)


def test_one_scan_per_level():
    """16 parts of a table need four levels; MRMondrian also counts the secrets on both sides, per attribute."""
    tally = numbers(6400, 2, size=500)
    goal = Goal([KAnonymity(2), LDiversity("s", 2)])
    scans = {cls: cls(450).decide(tally, goal, rng=RNG).notes for cls in (MRMondrian, RothkoT)}
    assert scans[RothkoT] == {"scans": 4, "parts": 16}
    assert 8 <= int(scans[MRMondrian]["scans"]) <= 4 * (1 + 2)
    assert MRMondrian(450).decide(tally, Goal([KAnonymity(2)]), rng=RNG).notes["scans"] == 4
    assert RothkoT().decide(tally, goal, rng=RNG).notes == {"scans": 0, "parts": 1}


@BOTH
def test_a_part_without_a_cut_is_a_group(cls: type[ShardedMondrian]):
    """More records than a part may have, but all alike."""
    x = Domain("x", Taxonomy.scale(["1", "2"]), np.array([1.0, 2.0]))
    tally = count_cells([np.repeat([0, 1], [50, 7])], [], [x], [])[0]
    found = cls(5).decide(tally, Goal([KAnonymity(2)]), rng=RNG)
    assert np.bincount(found.group, weights=found.quota).tolist() == [50, 7]

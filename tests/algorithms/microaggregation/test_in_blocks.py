"""Many records are grouped in blocks: every group is large enough, and neither time nor loss has a cliff."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tarnkappe.algorithms import algorithm_class, all_algorithms
from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.algorithms.microaggregation.in_blocks import blocks_of, joined
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.datasets.simulated import clustered_points
from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.metrics import metric_named
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

FAST = ("mdav", "mdav-plus", "v-mdav", "mdav-star", "condensation", "maximum-distance", "r-gather", "k-ward", "path")
GOAL = Goal([KAnonymity(10)])


def numbers(n: int) -> Tally:
    """Numbers in clusters, four columns."""
    codes, domains = [], []
    for j, column in enumerate(clustered_points(n, 4).round().T):
        values, code = np.unique(column, return_inverse=True)
        codes.append(code)
        domains.append(Domain(f"x{j}", Taxonomy.scale([f"{v:g}" for v in values]), values))
    return count_cells(codes, [], domains, [])[0]


@pytest.mark.parametrize(("n", "k", "at_once"), [(100, 3, 10), (1000, 30, 64), (257, 100, 16), (50, 3, 50)])
def test_blocks_hold_every_point_once_and_none_is_too_small(n: int, k: int, at_once: int):
    points = clustered_points(n, 3)
    blocks = blocks_of(points, k, at_once)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(n))
    assert min(map(len, blocks)) >= k
    assert max(map(len, blocks)) <= max(at_once, 2 * k)
    group = joined(n, blocks, [np.zeros(len(b), np.int32) for b in blocks])
    assert np.bincount(group).tolist() == [len(b) for b in blocks]


def test_blocks_are_as_few_as_can_be_and_lie_together():
    """With powers of two there would be eight blocks of 63 points, and work that grows with their square would jump."""
    blocks = blocks_of(np.arange(500.0)[:, None], 3, 100)
    assert [len(b) for b in blocks] == [100] * 5
    assert [b.max() - b.min() for b in blocks] == [99] * 5


@pytest.mark.full
@pytest.mark.parametrize("name", FAST)
def test_twice_the_records_cost_no_more_than_three_times_the_cpu(name: str):
    """Beyond the size of a block as well; the loss falls with the number of records, as it does without blocks."""
    algorithm = algorithm_class(name)()
    algorithm.decide(numbers(300), GOAL, rng=np.random.default_rng(1))
    seconds, losses = [], []
    for n in (10_000, 20_000, 40_000):
        tally = numbers(n)
        begin = time.process_time()
        grouping = algorithm.decide(tally, GOAL, rng=np.random.default_rng(1))
        seconds.append(time.process_time() - begin)
        losses.append(metric_named("sse").score(Plan.of(tally, GOAL, grouping)))
    assert seconds[2] < 3.5 * 3.5 * max(seconds[0], 0.2)
    assert seconds[2] < 10
    assert losses[0] > losses[1] > losses[2]


def test_what_would_take_too_long_is_refused_with_the_name_of_another():
    limited = [cls for cls in all_algorithms().values() if cls.most_records is not None]
    assert limited
    for cls in limited:
        other = algorithm_class(cls.for_more)
        assert other.most_records is None
        assert issubclass(other, Microaggregation) == issubclass(cls, Microaggregation)
        few = Tally(
            np.array([[0]], np.int32),
            np.zeros((1, 0), np.int32),
            np.array([cls.most_records + 1]),
            (Domain("x", Taxonomy.scale(["1"]), np.array([1.0])),),
            (),
        )
        with pytest.raises(JobError) as refused:
            cls().decide(few, GOAL, rng=np.random.default_rng(1))
        assert refused.value.code == "E111"
        assert cls.for_more in str(refused.value.hint)

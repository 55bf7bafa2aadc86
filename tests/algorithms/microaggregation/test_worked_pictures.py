"""The two situations that the slides on kAnonyMeans draw for k = 3: MergeAndSplit during k-means pays; it livelocks.

The pictures have no coordinates in the text, so the points here are ours; what their captions say is what is asserted.
"""

from __future__ import annotations

import numpy as np
import plain_means
import pytest
from reference_points import members, squared_error

from tarnkappe.algorithms.microaggregation.kanonymeans import KAnonyMeans
from tarnkappe.kernels.microaggregation.kmeans import AT_THE_END, CONVERGED, EVERY_ROUND, anonymous_means
from tarnkappe.kernels.microaggregation.merging_points import OUTER, merge_and_split

K = 3

#: Nine points and three first centres: k-means finds clusters of five, two and two.
PAYS = np.array([[3, 5], [3, 1], [2, 3], [4, 3], [3, 4], [5, 2], [0, 1], [6, 2], [6, 5]], float)
PAYS_STARTS = np.array([[3, 5], [6, 2], [3, 1]], float)

#: Two at 0, one at 4, three at 5: the one is nearer to the three, which leaves the two too few.
LIVELOCK = np.array([[0.0], [0.0], [4.0], [5.0], [5.0], [5.0]])


def k_means(points, centres):
    """Plain k-means until nothing changes, as clusters."""
    owner: list[int] = []
    centres = [tuple(c) for c in centres]
    while True:
        before, owner = owner, [plain_means.nearest(p, centres) for p in points]
        clusters = [[i for i, c in enumerate(owner) if c == own] for own in range(len(centres))]
        if before == owner:
            return clusters
        centres = [
            plain_means.mean([points[i] for i in c]) if c else at for c, at in zip(clusters, centres, strict=True)
        ]


def means_of(points, groups):
    return [plain_means.mean([points[i] for i in sorted(g)]) for g in groups]


def test_k_means_after_merge_and_split_pays():
    clusters = k_means(PAYS, PAYS_STARTS)
    assert sorted(map(len, clusters)) == [2, 2, 5]
    groups = plain_means.merged_and_split(PAYS, clusters, K)
    better = k_means(PAYS, means_of(PAYS, groups))
    assert all(K <= len(c) < 2 * K for c in better)  # k-anonymous without another MergeAndSplit
    assert plain_means.error(PAYS, better) == pytest.approx(50 / 3)
    assert plain_means.error(PAYS, groups) == pytest.approx(22)
    once, error = anonymous_means(PAYS, PAYS_STARTS, K, OUTER, False, AT_THE_END)
    assert (members(once), error) == (set(map(frozenset, groups)), pytest.approx(22))
    again, error = anonymous_means(PAYS, PAYS_STARTS, K, OUTER, False, CONVERGED)
    assert (members(again), error) == (set(map(frozenset, better)), pytest.approx(50 / 3))


def test_merge_and_split_during_k_means_goes_round_in_circles():
    groups = [[0, 1, 2], [3, 4, 5]]
    clusters = k_means(LIVELOCK, means_of(LIVELOCK, groups))
    assert clusters == [[0, 1], [2, 3, 4, 5]]  # k-means undoes what MergeAndSplit did
    assert set(map(frozenset, plain_means.merged_and_split(LIVELOCK, clusters, K))) == set(map(frozenset, groups))
    owner = np.array([0, 0, 1, 1, 1, 1], np.int32)
    assert members(merge_and_split(LIVELOCK, owner, 2, K, OUTER, False)) == set(map(frozenset, groups))


@pytest.mark.parametrize("when", [EVERY_ROUND, CONVERGED])
def test_the_livelock_is_noticed_and_ends_with_the_best_groups(when):
    group, error = anonymous_means(LIVELOCK, np.array([[0.0], [5.0]]), K, OUTER, False, when)
    assert members(group) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    assert error == pytest.approx(squared_error(LIVELOCK, group))
    for interleave in ("rounds", "converged"):
        found = KAnonyMeans(interleave=interleave).partition(LIVELOCK, K, np.random.default_rng(1))
        assert members(found) == members(group)

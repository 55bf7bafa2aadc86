"""Clusters: grown, merged, fed, divided, dissolved and evened out, against plain Python and against what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from called import from_python
from grids import examples
from strategies import tallies
from tarnkappe.algorithms.steps.units import ruler_of
from tarnkappe.groups import Grouping
from tarnkappe.kernels import widths
from tarnkappe.kernels.histograms import group_order
from tarnkappe.kernels.local import regrowing
from tarnkappe.kernels.local.centroids import one_pass
from tarnkappe.kernels.local.clusters import grow_clusters
from tarnkappe.kernels.local.dissolving import dissolve_groups, join_nearest
from tarnkappe.kernels.local.dividing import divide_segments
from tarnkappe.kernels.local.neighbours import MANY_PIECES, Groups, Near, Pieces, groups_around
from tarnkappe.kernels.local.partners import best_partners, feed_groups
from tarnkappe.kernels.local.regrowing import regrow
from tarnkappe.kernels.merging import pair_off
from tarnkappe.kernels.widths import Ruler, box_widths
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

widened = from_python(widths.widened)
TOP = np.iinfo(np.int32).max


def box_of(rows: np.ndarray, wild: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest box round some rows."""
    known = rows != wild
    return (
        np.where(known, rows, TOP).min(axis=0, initial=TOP).astype(np.int32),
        np.where(known, rows, -1).max(axis=0, initial=-1).astype(np.int32),
    )


def total_width(ruler: Ruler, rows: np.ndarray) -> float:
    lo, hi = box_of(rows, ruler.wild)
    return float(box_widths(ruler, lo[None], hi[None])[0])


def measured(tally: Tally, group: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Boxes, records and widths of groups of whole cells."""
    ruler = ruler_of(tally.quasi_domains)
    boxes = [box_of(tally.quasi[group == g], ruler.wild) for g in range(n)]
    lo, hi = (np.array(ends, np.int32) for ends in zip(*boxes, strict=True))
    size = np.bincount(group, weights=tally.count, minlength=n).astype(np.int64)
    return lo, hi, size, box_widths(ruler, lo, hi)


def random_groups(tally: Tally, seed: int, n: int) -> tuple[np.ndarray, int]:
    """Cells in at most `n` groups, none of them empty."""
    group = np.random.default_rng(seed).integers(0, n, tally.n_cells)
    used, group = np.unique(group, return_inverse=True)
    return group.astype(np.int32), len(used)


def all_near(n: int) -> Near:
    """Every piece is near every other."""
    line = np.arange(n, dtype=np.int32)[None]
    return Near(line, line, n)


def free_pieces(tally: Tally, smallest: int = 1) -> Pieces:
    """Cells that may go anywhere."""
    rows = tally.quasi.copy()  # as searches pass them; kernels are compiled again for arrays that are read only
    return Pieces(rows, tally.count, np.empty((tally.n_cells, 0), np.int32), np.empty(0, np.int64), smallest)


class TestGrowing:
    @given(tallies(max_records=40), st.integers(1, 6))
    @settings(deadline=None)
    def test_every_record_is_the_nearest_one(self, tally, size):
        ruler = ruler_of(tally.quasi_domains)
        value = np.zeros(tally.n_cells, np.int32)
        pieces = grow_clusters(ruler, tally.quasi, tally.count, value, np.array([size]), size, False, 10**6)
        left = tally.count.copy()
        current, members = -1, []
        for row, cluster, records in zip(*(a.tolist() for a in pieces[:3]), strict=True):
            if cluster != current:
                assert not members or len(members) == size
                current, members = cluster, []
            elif members:
                rows = tally.quasi[members]
                box = box_of(rows, ruler.wild)
                box = tuple(ends[None] for ends in box)
                reached = [widened(ruler, tally.quasi, i, *box, 0, np.inf) for i in np.flatnonzero(left)]
                assert widened(ruler, tally.quasi, row, *box, 0, np.inf) == pytest.approx(min(reached), abs=1e-9)
            members += [row] * records
            left[row] -= records
        assert np.all(left >= 0)
        assert left.sum() < size
        assert pieces[3] == tally.n_records // size

    def test_the_next_seed_is_far_from_the_last(self):
        tally = line([0, 1, 50, 51, 99, 100])
        ruler = ruler_of(tally.quasi_domains)
        row, cluster, _, made = grow_clusters(
            ruler, tally.quasi, tally.count, np.zeros(6, np.int32), np.array([2]), 2, False, 10
        )
        assert made == 3
        assert [row[cluster == c].tolist() for c in range(3)] == [[0, 1], [5, 4], [2, 3]]

    def test_no_value_more_often_than_its_cap_while_others_are_left(self):
        tally = line([0, 1, 2, 3, 4, 5])
        value = np.array([0, 0, 1, 1, 0, 1], np.int32)
        row, cluster, _, _ = grow_clusters(
            ruler_of(tally.quasi_domains), tally.quasi, tally.count, value, np.array([1, 1]), 2, False, 10
        )
        for c in range(3):
            assert sorted(value[row[cluster == c]]) == [0, 1]

    @pytest.mark.parametrize(("count", "taken"), [(4, 5), (5, 3)])
    def test_stragglers_inside_the_box_are_taken_in_if_they_are_too_few_for_a_cluster(self, count, taken):
        tally = line([0, 1, 90, 91, 92])
        counts = np.array([1, count, 1, 1, 1])
        ruler, value = ruler_of(tally.quasi_domains), np.zeros(5, np.int32)
        for absorb, records in ((False, 3), (True, taken)):
            row, _, quota, _ = grow_clusters(ruler, tally.quasi, counts, value, np.array([3]), 3, absorb, 1)
            assert set(row.tolist()) == {0, 1}
            assert quota.sum() == records


def line(values: list[int]) -> Tally:
    """Records on a scale from 0 to 100, one per value."""
    scale = Domain("x", Taxonomy.scale([str(v) for v in range(101)]), np.arange(101.0))
    return count_cells([np.array(values)], [], [scale], [])[0]


class TestMerging:
    @given(tallies(max_records=30), st.integers(0, 99))
    @settings(deadline=None)
    def test_the_cheapest_partner_is_found(self, tally, seed):
        group, n = random_groups(tally, seed, 8)
        ruler = ruler_of(tally.quasi_domains)
        lo, hi, size, total = measured(tally, group, n)
        wanted = np.arange(n)
        partner, price = np.empty(n, np.int64), np.empty(n)
        given = (ruler, all_near(tally.n_cells), group.astype(np.int64), *group_order(group, n))
        for begin, end in ((0, n // 2), (n // 2, n)):
            room = np.full(n, -1), np.empty(n, np.int64)
            best_partners(*given, lo, hi, size, total, wanted, partner, price, *room, begin, end)
        for a in range(n):
            prices = {
                b: (size[a] + size[b]) * total_width(ruler, tally.quasi[(group == a) | (group == b)])
                - size[a] * total[a]
                - size[b] * total[b]
                for b in range(n)
                if b != a
            }
            if not prices:
                assert partner[a] == -1
                continue
            assert price[a] == pytest.approx(min(prices.values()), abs=1e-9)
            assert prices[int(partner[a])] == pytest.approx(price[a], abs=1e-9)

    def test_cheapest_pairs_first_and_weak_groups_once(self):
        wanted, partner = np.array([0, 1, 2, 3]), np.array([1, 0, 1, 4])
        into = np.empty(5, np.int64)
        pair_off(wanted, partner, np.array([0, 1, 2, 3]), np.array([False, False, False, False, True]), into)
        assert into.tolist() == [1, 1, 2, 4, 4]  # 2 wanted 1, which is merged already, and waits

    def test_a_satisfied_group_takes_in_several(self):
        into = np.empty(3, np.int64)
        pair_off(np.array([0, 1]), np.array([2, 2]), np.array([0, 1]), np.array([False, False, True]), into)
        assert into.tolist() == [2, 2, 2]


class TestFeeding:
    def feed(self, values: list[int], starts: list[int], price: float, family: list[int]) -> list[tuple[int, int, int]]:
        tally = line(values)
        ruler = ruler_of(tally.quasi_domains)
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts)).astype(np.int32)
        lo, hi, size, total = measured(tally, group, len(starts) - 1)
        taken, taker = np.zeros(len(values), np.int64), np.zeros(len(values), np.int32)
        needy = np.flatnonzero(size < 2)
        givers = [np.flatnonzero(np.array(family) == family[g]) for g in needy]
        feed_groups(
            ruler,
            tally.quasi.copy(),
            tally.count,
            np.array(starts),
            lo,
            hi,
            size,
            total,
            needy,
            np.concatenate(givers),
            np.cumsum([len(g) for g in givers]),
            2,
            np.full(len(needy), price),
            taken,
            taker,
        )
        return [(i, int(taken[i]), int(taker[i])) for i in np.flatnonzero(taken)]

    def test_the_nearest_record_of_a_group_that_can_spare_it(self):
        assert self.feed([10, 12, 14, 30, 80, 82], [0, 3, 4, 6], np.inf, [0, 0, 0]) == [(2, 1, 1)]

    def test_nothing_where_merging_is_cheaper(self):
        assert self.feed([10, 12, 14, 30, 80, 82], [0, 3, 4, 6], 0.01, [0, 0, 0]) == []

    def test_nothing_from_another_family(self):
        assert self.feed([10, 12, 14, 30, 80, 82], [0, 3, 4, 6], np.inf, [0, 1, 1]) == []

    def test_nothing_from_a_group_that_has_just_enough(self):
        assert self.feed([10, 12, 30], [0, 2, 3], np.inf, [0, 0]) == []


class TestDividing:
    @given(tallies(max_records=30))
    @settings(deadline=None)
    def test_unlike_rows_are_divided(self, tally):
        ruler = ruler_of(tally.quasi_domains)
        side = np.full(tally.n_cells, -1, np.int8)
        divide_segments(ruler, tally.quasi.copy(), tally.count, np.array([0, tally.n_cells]), side, 0, 1)
        assert set(side.tolist()) <= {0, 1}
        assert (len(set(side.tolist())) == 2) == (total_width(ruler, tally.quasi) > 0)

    def test_two_clusters(self):
        tally = line([0, 3, 5, 90, 95, 99])
        side = np.empty(6, np.int8)
        divide_segments(ruler_of(tally.quasi_domains), tally.quasi.copy(), tally.count, np.array([0, 6]), side, 0, 1)
        assert len(set(side[:3].tolist())) == len(set(side[3:].tolist())) == 1
        assert side[0] != side[5]


class TestDissolving:
    @given(tallies(max_records=40), st.integers(0, 99))
    @settings(deadline=None)
    def test_the_loss_falls_and_the_books_are_kept(self, tally, seed):
        ruler = ruler_of(tally.quasi_domains)
        group, n = random_groups(tally, seed, 8)
        groups = Groups(group.astype(np.int64), *measured(tally, group, n))
        before = float(groups.size @ groups.total)
        order = np.argsort(-groups.size * groups.total)
        dissolve_groups(ruler, all_near(tally.n_cells), free_pieces(tally), groups, order, 1 << 40)
        require_books(tally, groups)
        assert float(groups.size @ groups.total) <= before + 1e-9

    def test_scattered_records_go_home(self):
        tally = line([0, 1, 2, 48, 50, 52, 98, 99, 100])
        group = np.array([0, 0, 3, 1, 3, 1, 3, 2, 2])
        groups = Groups(group, *measured(tally, group, 4))
        given = ruler_of(tally.quasi_domains), all_near(9), free_pieces(tally)
        dissolve_groups(*given, groups, np.array([3, 1, 0, 2]), 1 << 40)
        assert group.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
        assert groups.size.tolist() == [3, 3, 3, 0]

    def test_no_group_is_dissolved_beyond_the_budget(self):
        tally = line([0, 1, 2, 48, 50, 52, 98, 99, 100])
        group = np.array([0, 0, 3, 1, 3, 1, 3, 2, 2])
        groups = Groups(group, *measured(tally, group, 4))
        given = ruler_of(tally.quasi_domains), all_near(9), free_pieces(tally)
        dissolve_groups(*given, groups, np.array([3, 1, 0, 2]), -1)
        assert group.tolist() == [0, 0, 3, 1, 3, 1, 3, 2, 2]

    def test_a_piece_sees_all_groups_if_they_are_few(self):
        """Two groups of thousands of pieces: the first piece is nearest to the one, its neighbours are of the other."""
        n = 2 * MANY_PIECES
        domain = Domain("x", Taxonomy.scale([str(i) for i in range(n)]))
        rows = np.arange(n, dtype=np.int32)[:, None]
        group = (rows[:, 0] >= n // 2).astype(np.int64)
        group[0] = -1
        lo, hi = np.array([[1], [n // 2]], np.int32), np.array([[n // 2 - 1], [n - 1]], np.int32)
        ruler = ruler_of([domain])
        groups = Groups(group, lo, hi, np.bincount(group[1:]), box_widths(ruler, lo, hi))
        along = np.insert(np.arange(1, n, dtype=np.int32), 3 * n // 4, 0)
        near = Near(along[None], np.argsort(along).astype(np.int32)[None], 1)
        free = Pieces(rows, np.ones(n, np.int64), np.empty((n, 0), np.int32), np.empty(0, np.int64), 1)
        join_nearest(ruler, near, free, groups)
        assert group[0] == 0

    def test_leftovers_join_where_the_loss_rises_least(self):
        tally = line([0, 1, 3, 90, 99, 100])
        group = np.array([0, 0, -1, -1, 1, 1])
        kept = group >= 0
        lo, hi, size, total = measured(line([0, 1, 99, 100]), group[kept], 2)
        groups = Groups(group, lo, hi, size, total)
        join_nearest(ruler_of(tally.quasi_domains), all_near(6), free_pieces(tally), groups)
        assert group.tolist() == [0, 0, 0, 1, 1, 1]
        require_books(tally, groups)


def require_books(tally: Tally, groups: Groups) -> None:
    """Boxes, records and widths are those of the pieces."""
    again = Groups(groups.group, *measured(tally, groups.group, len(groups.size)))
    alive = groups.size > 0
    assert again.size.tolist() == groups.size.tolist()
    assert np.array_equal(again.lo[alive], groups.lo[alive])
    assert np.array_equal(again.hi[alive], groups.hi[alive])
    assert groups.total[alive] == pytest.approx(again.total[alive], abs=1e-9)


class TestRegrowing:
    @given(tallies(max_records=60), st.integers(1, 4), st.integers(1, 3), st.integers(0, 99), st.integers(0, 1))
    @settings(deadline=None, max_examples=examples(300))
    def test_groups_stay_large_and_mixed_and_the_loss_falls(self, tally, smallest, share, seed, window):
        """Groups that were large enough, and in which no value was too frequent, are so afterwards."""
        rng = np.random.default_rng(seed)
        group, n = random_groups(tally, seed, 6)
        value = tally.sensitive[:, :1].copy()
        pieces = free_pieces(tally, smallest)._replace(secret=value, share=np.array([share]))

        def fine(own: np.ndarray, g: int) -> bool:
            held = np.bincount(value[own == g, 0], tally.count[own == g], 1)
            return bool(held.sum() >= smallest and held.max() * share <= held.sum())

        if not all(fine(group, g) for g in range(n)):
            return
        room = max(n, tally.n_records // smallest)
        start = [np.concatenate([a, np.zeros((room - n, *a.shape[1:]), a.dtype)]) for a in measured(tally, group, n)]
        groups = Groups(group.astype(np.int64), *start)
        before = float(groups.size @ groups.total)
        order = rng.permutation(tally.n_cells).astype(np.int32)[None]
        place = np.empty_like(order)
        place[0, order[0]] = np.arange(tally.n_cells)
        near = Near(order, place, tally.n_cells if window else 1)
        given = ruler_of(tally.quasi_domains), near, pieces, groups, np.arange(n), 4, 64
        better = regrow(*given, rng.integers(0, 99, room), 10**6)
        after = float(groups.size @ groups.total)
        assert after < before if better else after == before
        alive = np.flatnonzero(groups.size)
        assert np.array_equal(np.unique(groups.group), alive)
        assert all(fine(groups.group, g) for g in alive)
        used, number = np.unique(groups.group, return_inverse=True)
        require_books(tally, Groups(number, *(a[used] for a in groups[1:])))

    def test_two_groups_across_each_other_are_untangled(self):
        tally = line([0, 1, 2, 97, 98, 99])
        group = np.array([0, 1, 0, 1, 0, 1])
        groups = Groups(group, *measured(tally, group, 2))
        given = ruler_of(tally.quasi_domains), all_near(6), free_pieces(tally, 3), groups
        assert regrow(*given, np.arange(2), 2, 64, np.zeros(2, np.int64), 10**6) == 1
        assert len(set(group[:3])) == len(set(group[3:])) == 1
        assert group[0] != group[5]

    @given(tallies(max_records=60), st.integers(0, 99), st.integers(2, 5))
    @settings(deadline=None)
    def test_a_bench_that_is_too_small_changes_nothing(self, tally, seed, together):
        """Where there is no room for some pieces, the search goes on with more of it."""
        ruler, near, pieces = ruler_of(tally.quasi_domains), all_near(tally.n_cells), free_pieces(tally, 2)
        group, n = random_groups(tally, seed, 8)
        first, ends = np.arange(n + tally.n_records) * 5 + seed, []
        for room in (1, 1000):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(regrowing, "_PIECES", room)
                start = [
                    np.append(a, np.zeros((tally.n_records, *a.shape[1:]), a.dtype), axis=0)
                    for a in measured(tally, group, n)
                ]
                groups = Groups(group.astype(np.int64), *start)
                better = regrow(ruler, near, pieces, groups, np.arange(n), together, 16, first, 10**6)
                ends.append((better, groups))
        (one, small), (other, large) = ends
        assert one == other
        assert all(np.array_equal(a, b) for a, b in zip(small, large, strict=True))

    def test_work_is_limited(self):
        tally = line([0, 1, 2, 97, 98, 99])
        group = np.array([0, 1, 0, 1, 0, 1])
        groups = Groups(group, *measured(tally, group, 2))
        given = ruler_of(tally.quasi_domains), all_near(6), free_pieces(tally, 3), groups
        assert regrow(*given, np.arange(2), 2, 64, np.zeros(2, np.int64), 35) == 0
        assert regrow(*given, np.arange(2), 2, 64, np.zeros(2, np.int64), 36) == 1


@given(tallies(max_records=40), st.integers(0, 99), st.integers(0, 3), st.integers(1, 3))
@settings(deadline=None)
def test_groups_around(tally, seed, window, curves):
    """Those of the pieces a few places further on some curve; all others, if there are none."""
    rng = np.random.default_rng(seed)
    group, n = random_groups(tally, seed, 8)
    along = np.array([rng.permutation(tally.n_cells) for _ in range(curves)], np.int32)
    place = np.argsort(along, axis=1).astype(np.int32)
    wanted, ends = rng.permutation(n)[: n // 2 + 1], np.empty(n // 2 + 1, np.int64)
    starts, members = group_order(group, n)
    given = Near(along, place, window), group.astype(np.int64), starts, members, wanted, ends
    found = np.split(groups_around(*given, n), ends[:-1])
    for g, own in zip(wanted, found, strict=True):
        near = {
            int(group[o])
            for p in np.flatnonzero(group == g)
            for t in range(curves)
            for o in along[t][max(0, place[t, p] - window) : place[t, p] + window + 1]
        } - {int(g)}
        assert len(set(own.tolist())) == len(own)
        assert set(own.tolist()) == (near or set(range(n)) - {int(g)})


class TestOnePass:
    @given(tallies(max_records=50), st.integers(1, 6), st.integers(0, 99))
    @settings(deadline=None)
    def test_clusters_are_large_enough_and_nobody_is_lost(self, tally, smallest, seed):
        k = min(max(tally.n_records // smallest, 1), tally.n_cells)
        seeds = np.sort(np.random.default_rng(seed).permutation(tally.n_cells)[:k])
        row, cluster, quota = one_pass(ruler_of(tally.quasi_domains), tally.quasi, tally.count, seeds, smallest)
        assert np.array_equal(np.bincount(row, weights=quota, minlength=tally.n_cells), tally.count)
        assert np.all(quota > 0)
        size = np.bincount(cluster, weights=quota, minlength=k)
        if tally.n_records >= k * smallest:
            assert size.min() >= smallest

    def test_near_records_are_together(self):
        tally = line([0, 1, 2, 97, 98, 99])
        row, cluster, _ = one_pass(ruler_of(tally.quasi_domains), tally.quasi, tally.count, np.array([1, 4]), 3)
        assert sorted(row[cluster == 0].tolist()) == [0, 1, 2]


def test_the_pieces_of_a_grouping_are_measured_like_boxes():
    """The helper of these tests agrees with the boxes of a grouping."""
    tally = line([3, 7, 60])
    group = np.array([0, 0, 1], np.int32)
    boxes = Grouping.of_cells(tally, group, 2).boxes(tally)
    lo, hi, _, _ = measured(tally, group, 2)
    assert np.array_equal(boxes.lo, lo)
    assert np.array_equal(boxes.hi, hi)

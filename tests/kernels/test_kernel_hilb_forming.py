"""Groups of different values: made many at a time, they are those that a plain algorithm makes record by record."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from called import from_python
from grids import examples
from strategies import tallies
from tarnkappe.algorithms.steps.units import ruler_of
from tarnkappe.kernels import widths
from tarnkappe.kernels.histograms import group_order
from tarnkappe.kernels.local.hilb_forming import Queues, form_groups, form_groups_ahead
from tarnkappe.kernels.local.hilb_staying import stay
from tarnkappe.kernels.widths import Ruler, box_widths
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

widen = from_python(widths.widen)

Group = list[int]  # the cell of each record


def queues_of(tally: Tally) -> Queues:
    """The cells of a tally, in its order, as queues of its first sensitive column."""
    value = tally.sensitive[:, 0]
    starts, place = group_order(np.ascontiguousarray(value), tally.sensitive_domains[0].size)
    return Queues(starts, place, place, tally.count[place])


def box_of(ruler: Ruler, rows: np.ndarray, cells: list[int]) -> tuple[np.ndarray, np.ndarray]:
    low = np.full((1, rows.shape[1]), np.iinfo(np.int32).max, np.int32)
    high = np.full((1, rows.shape[1]), -1, np.int32)
    for cell in cells:
        widen(ruler, rows, cell, low, high, 0)
    return low, high


def record_by_record(tally: Tally, ruler: Ruler, least: int, ahead: int) -> list[Group]:
    """Algorithm 1 on single records: greedy step, fall-back step."""
    value = tally.sensitive[:, 0].tolist()
    line = [cell for cell in range(tally.n_cells) for _ in range(tally.count[cell])]
    out = []
    while line:
        left = Counter(value[cell] for cell in line)
        groups = len(line) // least
        due = {v for v, n in left.items() if n == groups}
        assert max(left.values()) <= groups, "the rest must stay eligible"
        if ahead == 1:
            heads = {}
            for cell in line:
                heads.setdefault(value[cell], cell)
            near = sorted(heads, key=lambda v: line.index(heads[v]))
            chosen = near[:least]
            if not due <= set(chosen):
                chosen = [*due, *(v for v in near if v not in due)][: max(least, len(due))]
            group = [heads[v] for v in chosen]
        else:
            group = look_ahead(tally, ruler, line, value, due, least, ahead)
        for cell in group:
            line.remove(cell)
        out.append(group)
    return out


def look_ahead(tally, ruler, line, value, due, least, ahead) -> Group:
    offers: list[int] = []
    for cell in dict.fromkeys(line):
        if len(offers) >= ahead and len({value[c] for c in offers}) >= least:
            break
        offers.append(cell)
    offers += [next(c for c in line if value[c] == v) for v in sorted(due) if v not in {value[c] for c in offers}]
    group: Group = []
    waiting = set(due)
    while len(group) < least or waiting:
        if not group and (len(due) < least or value[line[0]] in due):
            best = line[0]
        else:
            used = {value[c] for c in group}
            allowed = [c for c in offers if value[c] not in used and (not waiting or value[c] in waiting)]
            best = min(allowed, key=lambda c: (box_widths(ruler, *box_of(ruler, tally.quasi, [*group, c]))[0], c))
        group.append(best)
        waiting.discard(value[best])
    return group


def by_look(tally: Tally, ruler: Ruler, groups: list[Group]) -> dict[tuple, Counter]:
    """Which records publish what: groups that look the same are one."""
    out: dict[tuple, Counter] = {}
    for cells in groups:
        low, high = box_of(ruler, tally.quasi, cells)
        out.setdefault((*low[0].tolist(), *high[0].tolist()), Counter()).update(cells)
    return out


def eligible(tally: Tally, least: int) -> bool:
    counts = np.bincount(tally.sensitive[:, 0], tally.count)
    return bool(counts.max() * least <= tally.n_records)


def formed(tally: Tally, ruler: Ruler, least: int, ahead: int) -> list[Group]:
    queues = queues_of(tally)
    kernel = (form_groups, ()) if ahead == 1 else (form_groups_ahead, (ahead,))
    cell, group, quota, n = kernel[0](ruler, tally.quasi[queues.cell], queues, least, *kernel[1])
    assert len({*zip(cell.tolist(), group.tolist(), strict=True)}) == len(cell)
    out: list[Group] = [[] for _ in range(n)]
    for c, g, q in zip(cell.tolist(), group.tolist(), quota.tolist(), strict=True):
        out[g] += [c] * q
    assert np.array_equal(np.bincount(cell, quota, tally.n_cells), tally.count)
    return out


@given(tallies(max_records=80), st.integers(1, 4), st.sampled_from([1, 1, 2, 3, 8, 50]))
@settings(max_examples=examples(250))
def test_made_many_at_a_time_or_record_by_record(tally, least, ahead):
    if not eligible(tally, least):
        return
    ruler = ruler_of(tally.quasi_domains)
    plain = record_by_record(tally, ruler, least, ahead)
    value = tally.sensitive[:, 0]
    for group in plain:
        assert least <= len(group) <= 2 * least - 1
        assert len(set(value[group].tolist())) == len(group)
    assert by_look(tally, ruler, formed(tally, ruler, least, ahead)) == by_look(tally, ruler, plain)


@given(tallies(max_records=200), st.integers(1, 5), st.sampled_from([1, 4, 30]))
@settings(max_examples=examples(150))
def test_every_group_could_be_divided_into_groups_of_different_values(tally, least, ahead):
    if not eligible(tally, least):
        return
    for group in formed(tally, ruler_of(tally.quasi_domains), least, ahead):
        counts = np.bincount(tally.sensitive[group, 0])
        assert counts.max() * least <= counts.sum()


def skewed(least: int, values: int, groups: int, seed: int) -> Tally:
    """One value has exactly one in `least` records, and the others the rest."""
    rng = np.random.default_rng(seed)
    others = np.arange(groups * (least - 1)) % (values - 1) + 1
    secret = np.concatenate([np.zeros(groups, np.int64), others])
    places = Domain("x", Taxonomy.scale([str(i) for i in range(40)]))
    secrets = Domain("s", Taxonomy.scale([str(i) for i in range(values)]))
    return count_cells([np.sort(rng.integers(0, 40, len(secret)))], [secret], [places], [secrets])[0]


@pytest.mark.parametrize("ahead", [1, 7])
@pytest.mark.parametrize(("least", "values"), [(2, 2), (2, 9), (5, 5), (5, 6), (5, 40), (3, 4)])
def test_one_value_in_exactly_every_lth_record(least, values, ahead):
    """Every group must take it; with as many values as that, every group is all of them."""
    tally = skewed(least, values, 30, seed=least * values)
    ruler = ruler_of(tally.quasi_domains)
    groups = formed(tally, ruler, least, ahead)
    counts = [np.bincount(tally.sensitive[g, 0], minlength=values) for g in groups]
    assert all(c[0] * least == c.sum() for c in counts)
    if values == least:
        assert all(np.all(c == c[0]) for c in counts)
    assert by_look(tally, ruler, groups) == by_look(tally, ruler, record_by_record(tally, ruler, least, ahead))


def test_time_follows_the_cells():
    """A hundred million records in a hundred cells take no longer than a hundred."""
    tally = skewed(4, 9, 25, seed=1)
    tally = replace(tally, count=tally.count * 1_000_000)
    queues = queues_of(tally)
    cell, _, quota, n = form_groups(ruler_of(tally.quasi_domains), tally.quasi[queues.cell], queues, 4)
    assert quota.sum() == 100_000_000
    assert n < 10 * tally.n_cells
    assert len(cell) < 20 * tally.n_cells


@given(tallies(max_records=120), st.integers(1, 4))
@settings(max_examples=examples(150))
def test_who_stays_could_be_grouped_and_so_could_the_rest(tally, least):
    if not eligible(tally, least):
        return
    value = tally.sensitive[:, 0]
    tuples = np.unique(tally.quasi, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((-tally.count, tuples))
    starts = np.concatenate([[0], np.cumsum(np.bincount(tuples))])
    bounds = np.array([0, len(starts) - 1])
    kept = stay(
        bounds, starts, value[order].astype(np.int32), tally.count[order], tally.sensitive_domains[0].size, least
    )
    assert np.all((kept >= 0) & (kept <= tally.count[order]))
    for t in range(len(starts) - 1):
        own = kept[starts[t] : starts[t + 1]]
        assert own.max() * least <= own.sum()
    rest = np.bincount(value[order], tally.count[order] - kept)
    assert rest.max() * least <= rest.sum()


def test_all_stay_where_all_can():
    count = np.array([2, 2, 1, 1, 3, 3], np.int64)
    value = np.array([0, 1, 2, 3, 0, 1], np.int32)
    kept = stay(np.array([0, 1, 2]), np.array([0, 4, 6]), value, count, 4, 2)
    assert kept.tolist() == count.tolist()

"""Secure k-Ward: the ratio is reached in every group, at the least cost, and the means stay where they were."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms.microaggregation.balancing import balanced
from tarnkappe.algorithms.microaggregation.k_ward import KWard
from tarnkappe.algorithms.microaggregation.secure_k_ward import SecureKWard
from tarnkappe.arrays import Floats
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.goal import Goal
from tarnkappe.kernels.microaggregation.securing import secure_values
from tarnkappe.publish.centres import Centres
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy


def share_far(values: Floats, x: float, epsilon: float) -> float:
    return float((np.abs(values - x) >= epsilon).mean())


def nearest_on_grid(values: Floats, epsilon: float, gamma: float, side: int, power: float) -> float:
    """The grid point nearest to the mean, on one side of it, that is far enough from enough values."""
    mean = float(values.mean())
    reach = float(np.ptp(values)) + 2 * epsilon + 2 / power
    grid = np.arange(np.floor((mean - reach) * power), np.ceil((mean + reach) * power) + 1) / power
    secure = [x for x in grid if side * (x - mean) >= 0 and share_far(values, x, epsilon) >= gamma - 1e-9]
    return min(secure, key=lambda x: abs(x - mean))


@pytest.mark.parametrize("power", [1.0, 10.0, 100.0])
def test_shifts_are_the_least_that_a_grid_search_finds(power: float):
    rng = np.random.default_rng(int(power))
    shifted = 0
    for trial in range(150):
        size = rng.integers(1, 8, rng.integers(1, 6))
        starts = np.append(0, np.cumsum(size))
        values = rng.integers(0, 40, starts[-1]) / rng.choice([1, 10]) + (
            rng.normal(size=starts[-1]) if trial % 2 else 0
        )
        groups = [values[a:b] for a, b in pairwise(starts)]
        published = np.array([np.round(own.mean() * power) / power for own in groups])
        epsilon, gamma = float(rng.choice([0, 0.25, 0.5, 1, 2])), float(rng.choice([0, 0.3, 0.5, 0.8, 1]))
        out, ratio, total = secure_values(values, starts, published, epsilon, gamma, power)
        shifts = [0.0]
        for own, before, after, reached in zip(groups, published, out, ratio, strict=True):
            assert reached == share_far(own, after, epsilon)
            assert reached >= gamma - 1e-9
            if share_far(own, before, epsilon) >= gamma - 1e-9:
                assert after == before
                continue
            side = -1 if sum(shifts) >= 0 else 1
            assert after == nearest_on_grid(own, epsilon, gamma, side, power)
            shifts.append((after - own.mean()) * len(own))
            shifted += 1
            assert abs(sum(shifts)) <= max(map(abs, shifts)) + 1e-9
        assert total == pytest.approx(sum(shifts), abs=1e-9)
    assert shifted > 100


def test_exact_shifts_lie_at_the_edge_of_a_record():
    rng = np.random.default_rng(9)
    for _ in range(100):
        values = rng.normal(scale=0.1, size=int(rng.integers(2, 8))) + 1e3
        mean = np.array([values.mean()])
        out, ratio, _ = secure_values(values, np.array([0, len(values)]), mean, 0.2, 1.0, 0.0)
        assert ratio[0] == 1
        assert out[0] == pytest.approx(values.min() - 0.2, abs=1e-12)


def homogeneous(n_groups: int, k: int) -> Tally:
    """Groups of almost equal records in two columns, far from each other, and a column of names."""
    rng = np.random.default_rng(1)
    columns, domains = [], []
    for name in ("income", "tax"):
        value = np.repeat(np.arange(n_groups) * 100.0, k) + np.round(rng.random(n_groups * k), 1)
        distinct, code = np.unique(value, return_inverse=True)
        columns.append(code)
        domains.append(Domain(name, Taxonomy.scale([f"{v:g}" for v in distinct]), distinct))
    domains.append(Domain("town", Taxonomy.from_nested({"north": ["a", "b"], "south": ["c", "d"]})))
    columns.append(np.repeat(np.arange(n_groups) % 4, k))
    return count_cells(columns, [], domains, [])[0]


@pytest.mark.parametrize("given", [{}, {"whole": True}, {"decimals": None}, {"decimals": 0}, {"aggregate": "median"}])
def test_homogeneous_groups_reach_the_ratio(given: dict[str, object]):
    tally, k, gamma = homogeneous(12, 4), 4, 0.75
    method = SecureKWard(epsilon=0.05, gamma=gamma, **given)
    grouping = method.decide(tally, Goal([KAnonymity(k)]), rng=np.random.default_rng(0))
    assert isinstance(grouping.form, Centres)
    assert grouping.n_groups == 12
    record, group = np.repeat(grouping.cell, grouping.quota), np.repeat(grouping.group, grouping.quota)
    ratios = []
    for j in (0, 1):
        value = tally.quasi_domains[j].positions[tally.quasi[record, j]]
        epsilon = 0.05 * float(np.std(value))
        shift = []
        for g in range(12):
            own, x = value[group == g], grouping.form.values[g, j]
            ratios.append(share_far(own, x, epsilon))
            shift.append((x - own.mean()) * len(own))
        name = tally.quasi_domains[j].name
        assert grouping.notes[f"shift of the mean of {name}"] == pytest.approx(sum(shift) / len(value))
        assert abs(sum(shift)) <= max(map(abs, shift)) + 1e-9
    assert min(ratios) >= gamma
    assert grouping.notes["smallest security ratio"] == min(ratios)
    assert grouping.notes["values shifted"] == 24
    assert set(grouping.form.values[:, 2]) == {0.0, 1.0, 2.0, 3.0}


def test_without_tolerance_it_is_k_ward():
    tally, goal = homogeneous(6, 3), Goal([KAnonymity(3)])
    secure = SecureKWard(epsilon=0).decide(tally, goal, rng=np.random.default_rng(0))
    free = SecureKWard(gamma=0, epsilon=5).decide(tally, goal, rng=np.random.default_rng(0))
    assert isinstance(secure.form, Centres)
    assert isinstance(free.form, Centres)
    assert np.array_equal(secure.form.values, free.form.values)
    assert secure.notes["values shifted"] == free.notes["values shifted"] == 0


def test_a_release_is_far_from_its_records():
    people = pl.DataFrame({"age": [30, 30, 30, 60, 60, 61, 90, 90, 90]})
    job = tk.Job(
        quasi={"age": tk.numeric()},
        criteria=[tk.KAnonymity(3)],
        algorithm=SecureKWard(epsilon=0.1, gamma=1.0),
    )
    table = job.anonymize(people, seed=1).table
    off = (people["age"].sort() - table["age"].cast(pl.Float64).sort()).abs()
    assert float(off.min()) >= 0.1 * float(people["age"].std(ddof=0))  # type: ignore[arg-type]


def test_the_publisher_sees_the_ratio_of_every_group(tmp_path):
    table = pl.DataFrame({"pay": [100, 101, 102, 500, 501, 502, 503, 900]})
    job = tk.Job(
        quasi={"pay": tk.numeric()}, criteria=[tk.KAnonymity(3)], algorithm=SecureKWard(epsilon=0.01, gamma=0.6)
    )
    release = tk.run_job(job, table, tmp_path / "out")
    groups = pl.read_parquet(tmp_path / "out/do-not-share/groups.parquet")
    assert groups.height == release.n_groups
    assert groups["security ratio of pay"].min() >= 0.6
    report = (tmp_path / "out/do-not-share/report.html").read_text(encoding="utf-8")
    assert "Security ratio of pay" in report
    assert "Shift of the mean of pay" in report
    assert "ecurity ratio" not in (tmp_path / "out/public/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", range(12))
def test_the_exact_choice_among_groups_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    lower, upper = -rng.random(n) * 5, rng.random(n) * 5
    chosen = np.where(balanced(lower, upper), upper, lower)
    every = [
        abs(sum(u if b else a for a, u, b in zip(lower, upper, bits, strict=True)))
        for bits in product((0, 1), repeat=n)
    ]
    assert abs(chosen.sum()) == pytest.approx(min(every), abs=1e-12)


@pytest.mark.parametrize("seed", range(24))
def test_the_exact_choice_counts_what_rounding_moved_where_no_group_falls_short(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([0, 0, 5, 5, 10, 20, 30], 20) + rng.choice([0, 0, 0, 1], 20)
    domain = Domain("x", Taxonomy.scale([str(v) for v in np.unique(values)]), np.unique(values).astype(np.float64))
    tally = count_cells([np.searchsorted(np.unique(values), values)], [], [domain], [])[0]
    found = SecureKWard(epsilon=0.05, gamma=0.5, balance="exact", whole=True).decide(
        tally, Goal([KAnonymity(3)]), rng=rng
    )
    epsilon, moved, choices = 0.05 * float(values.std()), 0.0, []
    group = np.repeat(found.group, found.quota)
    value = np.repeat(np.unique(values)[tally.quasi[found.cell, 0]], found.quota).astype(np.float64)
    plain = KWard(whole=True).decide(tally, Goal([KAnonymity(3)]), rng=rng).form
    assert isinstance(plain, Centres)
    for g, published in enumerate(plain.values[:, 0]):
        own = value[group == g]
        if share_far(own, published, epsilon) >= 0.5:
            moved += (published - own.mean()) * len(own)
        else:
            sides = (nearest_on_grid(own, epsilon, 0.5, side, 1.0) for side in (-1, 1))
            choices.append([(x - own.mean()) * len(own) for x in sides])
    least = min(abs(moved + sum(chosen)) for chosen in product(*choices))
    assert found.notes["choice for x exact"]
    assert abs(float(found.notes["shift of the mean of x"])) * len(values) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("n", [40, 400])
def test_the_exact_choice_moves_the_mean_no_more_than_the_heuristic(n):
    rng = np.random.default_rng(n)
    values = np.repeat(rng.integers(0, 30, n // 4), 4) * 1.0 + rng.normal(0, 0.01, n).round(3)
    texts = sorted({f"{v:g}" for v in values}, key=float)
    place = {float(t): i for i, t in enumerate(texts)}
    domain = Domain("x", Taxonomy.scale(texts), np.array([float(t) for t in texts]))
    tally = count_cells([np.array([place[float(f"{v:g}")] for v in values])], [], [domain], [])[0]
    goal, moved = Goal([KAnonymity(3)]), {}
    for balance in ("heuristic", "exact"):
        found = SecureKWard(epsilon=0.05, balance=balance).decide(tally, goal, rng=rng)
        assert found.notes["smallest security ratio"] >= 0.5
        assert found.notes["values shifted"] > 0
        moved[balance] = abs(float(found.notes["shift of the mean of x"]))
    assert moved["exact"] <= moved["heuristic"] + 1e-12
    assert found.notes["choice for x exact"] == (n == 40)

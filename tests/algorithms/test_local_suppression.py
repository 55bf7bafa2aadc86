"""Local suppression: least weight by brute force, never below k, and what the written table says."""

from __future__ import annotations

import builtins
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from every_suppression import least

import tarnkappe as tk
from strategies import published_rows
from tarnkappe.algorithms.local import local_suppression
from tarnkappe.algorithms.local.local_suppression import LocalSuppression
from tarnkappe.algorithms.local.patterns import greedy_cover, patterns_of
from tarnkappe.algorithms.steps.giving_up import Rows
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.key_anonymity import KeyAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.errors import DataError, InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.pipeline import run_job
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

OPTIMAL = LocalSuppression("optimal")
GREEDY = LocalSuppression()


def table(codes: np.ndarray, weights: list[float] | None = None) -> Tally:
    weights = weights or [1.0] * codes.shape[1]
    domains = [
        Domain("abcdef"[j], Taxonomy.from_nested([f"{'abcdef'[j]}{i}" for i in range(codes[:, j].max() + 1)]), weight=w)
        for j, w in enumerate(weights)
    ]
    return count_cells(list(codes.T), [], domains, [])[0]


def decide(algorithm: LocalSuppression, tally: Tally, goal: Goal) -> Grouping:
    found = algorithm.decide(tally, goal, rng=np.random.default_rng(0))
    check_grouping(algorithm.name, tally, goal, found)
    return found


def stars(tally: Tally, goal: Goal, found: Grouping) -> float:
    """The weight of what the published rows lack, records left out included, read off the labels."""
    weights = [d.weight for d in tally.quasi_domains]
    rows = [row for row, _ in published_rows(Plan.of(tally, goal, found))]
    missing = tally.n_records - len(rows)
    return sum(w for row in rows for w, text in zip(weights, row, strict=True) if text == "*") + missing * sum(weights)


@pytest.mark.parametrize("seed", range(24))
def test_the_optimum_is_that_of_brute_force_and_greedy_is_within_its_bound(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(4, 9)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    codes = rng.integers(0, 3, (n, d)).astype(np.int32)
    weights = rng.choice([0.5, 1.0, 2.0, 3.5], d).tolist()
    tally, goal = table(codes, weights), Goal([KAnonymity(k)])
    best = least(codes, weights, k)
    found = decide(OPTIMAL, tally, goal)
    assert found.notes["optimal"]
    assert stars(tally, goal, found) == pytest.approx(best)
    assert found.notes["weight given up"] == pytest.approx(best)
    quick = decide(GREEDY, tally, goal)
    given_up = stars(tally, goal, quick)
    assert given_up >= best - 1e-9
    assert float(quick.notes.get("least weight", 0)) <= best + 1e-9
    if quick.notes["optimal"]:
        assert given_up == pytest.approx(best)
    else:
        assert given_up <= float(quick.notes.get("times the least weight at most", np.inf)) * best + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_removing_records_is_weighed_against_giving_up_cells(seed):
    rng = np.random.default_rng(100 + seed)
    codes = rng.integers(0, 3, (7, 2)).astype(np.int32)
    tally, goal = table(codes), Goal([KAnonymity(3)], 2 / 7 + 1e-6)
    found = decide(OPTIMAL, tally, goal)
    assert found.notes["optimal"]
    assert stars(tally, goal, found) == pytest.approx(least(codes, [1.0, 1.0], 3, budget=2))
    assert stars(tally, goal, decide(GREEDY, tally, goal)) >= stars(tally, goal, found) - 1e-9


def rarest(rows: list[tuple[str | None, ...]], columns: tuple[int, ...]) -> int:
    return min(Counter(tuple(row[j] for j in columns) for row in rows).values())


@pytest.mark.parametrize("algorithm", [GREEDY, OPTIMAL], ids=["greedy", "optimal"])
@pytest.mark.parametrize("seed", range(4))
def test_chosen_keys_and_all_small_sets_are_kept(algorithm, seed):
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.5, (40, 3)) - 1, 4).astype(np.int32)
    tally = table(codes)
    for goal, sets in (
        (Goal([KeyAnonymity(3, ("a", "b")), KeyAnonymity(6, ("c",))]), [((0, 1), 3), ((2,), 6)]),
        (Goal([LKCPrivacy(2, 4)]), [(pair, 4) for pair in combinations(range(3), 2)]),
        (Goal([KAnonymity(2), LKCPrivacy(1, 5)]), [((0, 1, 2), 2), *(((j,), 5) for j in range(3))]),
    ):
        found = decide(algorithm, tally, goal)
        rows = [row for row, _ in published_rows(Plan.of(tally, goal, found))]
        assert all(rarest(rows, columns) >= k for columns, k in sets)
        assert len(set(rows)) > 1


def test_the_optimum_for_keys_is_never_heavier_than_greedy_and_lighter_than_all_columns():
    rng = np.random.default_rng(5)
    tally = table(np.minimum(rng.geometric(0.5, (30, 3)) - 1, 3).astype(np.int32))
    goal = Goal([KeyAnonymity(3, ("a", "b")), KeyAnonymity(3, ("b", "c"))])
    keys = decide(OPTIMAL, tally, goal)
    assert keys.notes["optimal"]
    assert stars(tally, goal, keys) <= stars(tally, goal, decide(GREEDY, tally, goal))
    everything = Goal([KAnonymity(3)])
    assert stars(tally, goal, keys) <= stars(tally, everything, decide(OPTIMAL, tally, everything))


def test_an_important_column_is_given_up_last():
    """One record differs in two columns from many others: it borrows, and what goes is the lighter column."""
    codes = np.array([[0, 0]] * 9 + [[0, 1]] * 9 + [[1, 0]], np.int32)
    for weights, gone in (([5.0, 1.0], 0), ([1.0, 5.0], 0)):
        tally, goal = table(codes, weights), Goal([KAnonymity(3)])
        for algorithm in (GREEDY, OPTIMAL):
            rows = Counter(row for row, _ in published_rows(Plan.of(tally, goal, decide(algorithm, tally, goal))))
            assert rows[("*", "b0")] == 3
            assert sum(n for row, n in rows.items() if row[gone] == "*") == 3
    square = np.array([[0, 0]] * 5 + [[1, 1]] * 5 + [[0, 1]], np.int32)
    for weights, gone in (([5.0, 1.0], 1), ([1.0, 5.0], 0)):
        tally, goal = table(square, weights), Goal([KAnonymity(3)])
        for algorithm in (GREEDY, OPTIMAL):
            rows = Counter(row for row, _ in published_rows(Plan.of(tally, goal, decide(algorithm, tally, goal))))
            assert {row[1 - gone] for row in rows} != {"*"}
            assert sum(n for row, n in rows.items() if row[gone] == "*") == 3


def plain_groups(codes: np.ndarray, cells: np.ndarray, quota: np.ndarray, row: np.ndarray) -> Counter:
    """The twin of the greedy kernel's promise: how many records publish what."""
    out: Counter = Counter()
    for given, n, i in zip(cells, quota, row, strict=True):
        out[tuple("*" if g else c for g, c in zip(given, codes[i].tolist(), strict=True))] += n
    return out


@pytest.mark.parametrize("seed", range(10))
def test_the_cover_loses_nobody_and_every_group_it_made_is_large_enough(seed):
    rng = np.random.default_rng(seed)
    codes = np.unique(np.minimum(rng.geometric(0.4, (60, 3)) - 1, 5), axis=0).astype(np.int32)
    size, k = rng.integers(1, 9, len(codes)), 4
    budget = int(rng.integers(0, 6))
    made = greedy_cover(codes, [6, 6, 6], size, k, np.array([1.0, 2.0, 0.7]), removal=3.7, budget=budget)
    assert np.array_equal(np.bincount(made.row, made.quota, len(codes)), size)
    assert made.quota[made.removed].sum() <= budget
    groups = plain_groups(codes, made.given_up[~made.removed], made.quota[~made.removed], made.row[~made.removed])
    assert all(n >= k for n in groups.values() if n)


def test_patterns_are_cut_where_there_are_too_many():
    few, complete = patterns_of(10, 60)
    assert not complete
    assert sorted(few.sum(axis=1).tolist()) == [1] * 10 + [2] * 45 + [10]
    assert patterns_of(3, 100)[1]


@pytest.mark.parametrize("algorithm", [GREEDY, OPTIMAL], ids=["greedy", "optimal"])
def test_the_written_table_is_k_anonymous_and_says_nothing_new(algorithm, tmp_path):
    rng = np.random.default_rng(3)
    n = 60 if algorithm is OPTIMAL else 900
    frame = pl.DataFrame(
        {
            "age": [f"{a}" for a in np.minimum(rng.geometric(0.3, n), 9)],
            "zip": [f"z{a}" for a in np.minimum(rng.geometric(0.4, n), 6)],
            "job": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "ill": rng.choice(["flu", "cold"], n),
        }
    )
    file = tmp_path / "data.csv"
    frame.write_csv(file)
    job = tk.Job(
        quasi={name: tk.suppress() for name in ("age", "zip", "job")},
        sensitive=["ill"],
        criteria=[KAnonymity(4)],
        algorithm=algorithm,
    )
    release = run_job(job, file, tmp_path / "release", seed=1)
    written = pl.read_csv(tmp_path / "release" / "public" / release.public_manifest["file"], infer_schema=False)
    keys = ["age", "zip", "job"]
    assert written.group_by(keys).len()["len"].min() >= 4
    assert written.height == n
    cells = sum((written[name] == "*").sum() for name in keys)
    assert 0 < cells < 0.5 * 3 * n
    for name in keys:  # what is not given up is a value of the input, as often as there at most
        before, after = Counter(frame[name].to_list()), Counter(written[name].to_list())
        assert all(text == "*" or count <= before[text] for text, count in after.items())
    again = run_job(job, file, tmp_path / "again", seed=1)
    assert again.public_manifest["sha256"] == release.public_manifest["sha256"]


def test_secrets_are_kept_too():
    rng = np.random.default_rng(8)
    codes = np.minimum(rng.geometric(0.4, (80, 2)) - 1, 4)
    ill = Domain("ill", Taxonomy.from_nested(["flu", "cold", "gout"]))
    domains = table(codes.astype(np.int32)).quasi_domains
    tally = count_cells(list(codes.T), [rng.choice(3, 80, p=[0.8, 0.1, 0.1])], domains, [ill])[0]
    found = decide(OPTIMAL, tally, Goal([KAnonymity(3), LDiversity("ill", 2)]))
    assert not found.notes["optimal"]
    assert "more than numbers" in str(found.notes["search"])


def test_without_the_solver_one_line_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name == "highspy":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    tally = table(np.array([[0], [0], [1]], np.int32))
    with pytest.raises(DataError) as error:
        OPTIMAL.decide(tally, Goal([KAnonymity(2)]), rng=np.random.default_rng(0))
    assert error.value.code == "E430"
    assert "tarnkappe[optimal]" in str(error.value)


def test_groups_that_are_too_small_are_never_written(monkeypatch, tmp_path):
    """Sabotage: an algorithm that gives up nothing and believes itself is caught before anything appears."""
    monkeypatch.setattr(Rows, "settle", lambda rows, _: iter([rows.grouping(rows.leaves())]))
    monkeypatch.setattr(local_suppression, "suppress_leftovers", lambda tally, grouping, goal: grouping)
    frame = pl.DataFrame({"age": ["1", "1", "2", "3"], "job": ["a", "a", "b", "b"]})
    job = tk.Job(quasi={n: tk.suppress() for n in frame.columns}, criteria=[KAnonymity(2)], algorithm=GREEDY)
    plain = local_suppression.LocalSuppression.all_in_one
    monkeypatch.setattr(local_suppression.LocalSuppression, "all_in_one", lambda self, tally: None)
    with pytest.raises(InfeasibleError):
        run_job(job, frame, tmp_path / "release", seed=1)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(local_suppression.LocalSuppression, "all_in_one", plain)
    release = run_job(job, frame, tmp_path / "release", seed=1)  # the last resort: all records in one group
    assert release.verdicts[0].reached == 4

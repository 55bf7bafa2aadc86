"""mu-Argus: by hand, and always safe in all columns together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from strategies import goals, published_rows, tallies
from tarnkappe.algorithms.subtree.mu_argus import MuArgus
from tarnkappe.audit import audit
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.pipeline import run_job
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)


def column(name: str, n: int) -> Domain:
    return Domain(name, Taxonomy.from_nested([f"{name}{i}" for i in range(n)]))


def table(*codes: list[int]) -> Tally:
    domains = [column("abc"[j], max(c) + 1) for j, c in enumerate(codes)]
    return count_cells([np.array(c) for c in codes], [], domains, [])[0]


def texts(tally: Tally, goal: Goal, algorithm: MuArgus) -> list[tuple[str | None, ...]]:
    plan = Plan.of(tally, goal, algorithm.decide(tally, goal, rng=RNG))
    return sorted((t for t, _ in published_rows(plan)), key=str)


def test_a_safe_table_is_left_alone():
    tally = table([0, 0, 1, 1], [0, 0, 1, 1])
    assert texts(tally, Goal([KAnonymity(2)]), MuArgus()) == [("a0", "b0")] * 2 + [("a1", "b1")] * 2


@pytest.mark.parametrize("light", [0, 1])
def test_one_cell_of_a_rare_pair_is_given_up(light):
    """Two pairs are unique, their values are not: the column of less weight is given up, and they look the same."""
    common, rare = [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 2]
    codes = [np.array([*common, *rare]), np.array([*common, 1, 1])]
    domains = [Domain(n, column(n, 3).taxonomy, weight=w) for n, w in (("a", 0.5), ("b", 1.0))]
    turn = slice(None, None, -1 if light else None)
    tally = count_cells(codes[turn], [], domains[turn], [])[0]
    # With k = 1 the joint check asks for nothing more, so the work of the thresholds is seen.
    found = texts(tally, Goal([KAnonymity(1)]), MuArgus(thresholds=(2,), local=0.5))
    expected = [(f"a{i}", f"b{i}") for i in common] + [("*", "b1")] * 2
    assert sorted(row[turn] for row in found) == sorted(expected)


def test_columns_are_recoded_while_too_many_records_would_lose_cells():
    zips = Domain("zip", Taxonomy.from_nested({"1*": ["11", "12"], "2*": ["21", "22"]}))
    tally = count_cells([np.array([0, 1, 1, 2, 2, 3])], [], [zips], [])[0]
    assert set(texts(tally, Goal([KAnonymity(2)]), MuArgus(local=0.1))) == {("1*",), ("2*",)}
    assert set(texts(tally, Goal([KAnonymity(2)]), MuArgus(local=0.5))) == {("*",), ("12",), ("21",)}


def test_thresholds_by_length():
    """A value needs three records, a pair only one."""
    tally = table([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 0])
    found = texts(tally, Goal([KAnonymity(1)]), MuArgus(thresholds=(3, 1), local=1.0))
    assert sorted(found) == sorted([("a0", "b0")] * 2 + [("a0", "b1")] + [("*", "b1")] * 2 + [("*", "b0")])


def rarest(rows: list[tuple[str | None, ...]], length: int) -> int:
    """By hand: how few rows share some combination of so many published values."""
    return min(
        min(Counter(tuple(row[j] for j in chosen) for row in rows).values())
        for chosen in combinations(range(len(rows[0])), length)
    )


def test_thresholds_above_k_hold_in_the_result():
    """Others counted on the cells that were given up and on the records that were suppressed."""
    rng = np.random.default_rng(3)
    tally = table(*(rng.integers(0, n, 60).tolist() for n in (6, 4, 3)))
    goal = Goal([KAnonymity(2)], 0.1)
    plain = texts(tally, goal, MuArgus(local=1.0))
    assert [rarest(plain, n) for n in (1, 2, 3)] != [8, 4, 3]
    found = texts(tally, goal, MuArgus(thresholds=(8, 4, 3), local=1.0))
    assert len(set(found)) > 1
    assert all(rarest(found, n) >= t for n, t in enumerate((8, 4, 3), 1))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_thresholds_are_verdicts_about_the_written_file(kind, tmp_path):
    rng = np.random.default_rng(5)
    data = {"a": rng.integers(0, 9, 400), "b": rng.integers(0, 5, 400), "c": rng.integers(0, 4, 400)}
    frame = pl.DataFrame({name: [f"{name}{i}" for i in codes] for name, codes in data.items()})
    file = tmp_path / f"data.{kind}"
    frame.write_csv(file) if kind == "csv" else frame.write_parquet(file)
    job = tk.Job(
        quasi={name: tk.suppress() for name in frame.columns},
        criteria=[KAnonymity(3)],
        algorithm=MuArgus(thresholds=(30, 12, 5), local=1.0),
    )
    release = run_job(job, file, tmp_path / "release", seed=1)
    written = tmp_path / "release" / "public" / release.public_manifest["file"]
    rows = (pl.read_csv(written) if kind == "csv" else pl.read_parquet(written)).cast(pl.String).rows()
    told = {v.asked: (v.reached, v.ok) for v in release.verdicts if v.criterion == "lkc-privacy"}
    assert told == {
        f"whoever knows {n} quasi-identifier{'s' * (n > 1)}: records ≥ {t}": (rarest(rows, n), True)
        for n, t in enumerate((30, 12, 5), 1)
    }
    assert all(rarest(rows, n) >= t for n, t in enumerate((30, 12, 5), 1))
    checked = audit(written)
    assert {v.asked for v in checked.found.verdicts} == {v.asked for v in release.verdicts}, "read from the manifest"
    again = run_job(release.job, file, tmp_path / "again", seed=1)
    assert again.verdicts == release.verdicts, "the job as it was carried out promises nothing twice"
    (tmp_path / "job.yaml").write_text(job.to_yaml())
    asked_for = audit(written, job=tmp_path / "job.yaml")
    assert {v.asked for v in asked_for.found.verdicts} == {v.asked for v in release.verdicts}, "and from the job"
    pair = pl.DataFrame(rows, frame.columns, orient="row").group_by("a", "b").len().row(0)[:2]
    rare = [row for row in rows if row[:2] != pair] + [row for row in rows if row[:2] == pair][:11]
    found = tk.verify(pl.DataFrame(rare, frame.columns, orient="row"), release.job.goal.criteria, frame.columns)
    verdict = next(v for v in found.verdicts if "knows 2" in v.asked)
    assert verdict.reached == rarest(rare, 2) < 12
    assert not verdict.ok


def unique_in_four() -> Tally:
    """Every triple of values occurs twice, every combination of four once."""
    rows = [[x, y, z, x ^ y ^ z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    both = np.array(rows + [[x, y, z, 1 - w] for x, y, z, w in rows])
    domains = [column(n, 2) for n in "abcd"]
    return count_cells(list(both.T), [], domains, [])[0]


def test_small_combinations_do_not_suffice():
    """The reason for the joint check: all triples are safe, and yet everybody is unique."""
    tally = unique_in_four()
    for chosen in combinations(range(4), 3):
        assert np.unique(tally.quasi[:, chosen], axis=0, return_counts=True)[1].min() == 2
    grouping = MuArgus().decide(tally, Goal([KAnonymity(2)]), rng=RNG)
    assert np.bincount(grouping.group).min() >= 2
    assert grouping.suppressed == 0
    lost = (grouping.fixed.node == 0).any(axis=0).sum()
    assert lost == 1, "one column is enough"


def test_what_has_nothing_left_is_suppressed_or_joined():
    tally = table([0, 0, 0, 0, 0, 1])
    goal = Goal([KAnonymity(2)])
    free = MuArgus(local=0.5).decide(tally, Goal([KAnonymity(2)], 0.2), rng=RNG)
    assert free.suppressed == 1
    assert set(texts(tally, goal, MuArgus(local=0.5))) == {("*",)}


THRESHOLDS = st.sampled_from([(), (1,), (3, 2)])


@given(tallies(wildcards=False), goals(), st.integers(1, 4), THRESHOLDS, st.sampled_from([0, 0.3, 1]))
@settings(deadline=None, max_examples=examples(40))
def test_always_safe_in_all_columns_together(tally, goal, longest, thresholds, local):
    together = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
    try:
        grouping = MuArgus(longest, thresholds, local).decide(tally, goal, rng=RNG)
    except InfeasibleError:
        fewer = tally.n_records < max(thresholds, default=0)  # than share a value
        assert fewer or not goal.satisfied(goal.stats(tally, together)).all()
        return
    check_grouping("mu-argus", tally, goal, grouping)


@given(
    tallies(wildcards=False),
    st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([0, 0.2]),
    st.sampled_from([0, 0.3, 1]),
)
@settings(deadline=None, max_examples=examples(60))
def test_no_rare_combination_is_published(tally, thresholds, longest, k, limit, local):
    """Whatever is recoded, given up and suppressed: counted in what is published, by hand."""
    algorithm, goal = MuArgus(longest, thresholds, local), Goal([KAnonymity(k)], limit)
    lengths = range(1, min(longest, len(tally.quasi_domains)) + 1)
    asked = {n: thresholds[min(n, len(thresholds)) - 1] for n in lengths}
    try:
        found = texts(tally, goal, algorithm)
    except InfeasibleError:
        assert tally.n_records < max(k, *asked.values()), "all records together have no rare combination"
        return
    assert all(rarest(found, n) >= t for n, t in asked.items())


def test_infeasible_and_bad_parameters():
    with pytest.raises(InfeasibleError):
        MuArgus().decide(table([0, 1]), Goal([KAnonymity(3)]), rng=RNG)
    with pytest.raises(JobError, match="thresholds"):
        MuArgus(thresholds=(0,))
    with pytest.raises(InfeasibleError, match="they ask for 9 records that share a value, the table has 4") as caught:
        MuArgus(thresholds=(9, 2), local=0.5).decide(table([0, 0, 1, 1], [0, 0, 1, 1]), Goal([KAnonymity(2)]), rng=RNG)
    assert caught.value.hint == "algorithm: {name: mu-argus, thresholds: [4, 2], local: 0.5}"
    assert MuArgus(thresholds=(4, 2)).decide(table([0, 0, 1, 1], [0, 0, 1, 1]), Goal([KAnonymity(2)]), rng=RNG)
    secret = Domain("s", Taxonomy.from_nested(["x", "y"]))
    tally = count_cells([np.array([0, 1])], [np.array([0, 0])], [column("a", 2)], [secret])[0]
    with pytest.raises(InfeasibleError):
        MuArgus().decide(tally, Goal([LDiversity("s", 2)]), rng=RNG)

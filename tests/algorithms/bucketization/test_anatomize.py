"""Anatomize: groups of different values, leftovers, and the error of putting tables together again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.algorithms.bucketization.anatomize import Anatomize
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.job.model import replace_job
from tarnkappe.kernels.bucketization.anatomizing import deal_different
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing.shared import sensitive_domain


def tally_of(counts: list[int]) -> Tally:
    """Records with one quasi-identifier, all different, and a sensitive column with these counts."""
    secret = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    n = len(secret)
    quasi = Domain("q", Taxonomy.scale([str(i) for i in range(n)]), np.arange(float(n)))
    sensitive = sensitive_domain("s", len(counts))
    tally, _ = count_cells([np.arange(n, dtype=np.int32)], [secret], [quasi], [sensitive])
    return tally


def groups_of(tally: Tally, l: int, seed: int = 0, limit: float = 0.0) -> list[list[int]]:  # noqa: E741
    """The sensitive values of every group."""
    deal = Anatomize().deal(tally, Goal([LDiversity("s", l)], limit), rng=np.random.default_rng(seed))
    secret = tally.sensitive[deal.cell, 0]
    return [part.tolist() for part in np.split(secret, deal.starts[1:-1])]


def test_the_largest_buckets_leave_nothing_over():
    tally = tally_of([25, 25, 20, 15, 10, 5])
    deal = Anatomize().deal(tally, Goal([LDiversity("s", 4)]), rng=np.random.default_rng(1))
    assert deal.notes["left over"] == 0
    assert deal.size.tolist() == [4] * 25


@given(st.lists(st.integers(1, 30), min_size=2, max_size=8), st.integers(2, 5), st.integers(0, 3))
def test_groups_have_different_values_or_there_are_none(counts, l, seed):  # noqa: E741
    n = sum(counts)
    tally = tally_of(counts)
    if max(counts) * l > n:
        with pytest.raises(InfeasibleError):
            groups_of(tally, l, seed)
        return
    groups = groups_of(tally, l, seed)
    assert Counter(v for g in groups for v in g) == dict(enumerate(counts))
    assert all(len(g) == len(set(g)) >= l for g in groups)
    assert sum(len(g) - l for g in groups) == n - l * len(groups) < l
    # What it costs to put the tables together again, and the least that any such groups cost.
    error = sum(len(g) * (1 - 1 / len(g)) for g in groups)
    assert n * (1 - 1 / l) - 1e-9 <= error <= n * (1 - 1 / l) * (1 + 1 / n) + 1e-9


@given(st.lists(st.integers(1, 30), min_size=2, max_size=6), st.integers(2, 4))
def test_no_more_is_suppressed_than_has_to_be(counts, l):  # noqa: E741
    tally, n = tally_of(counts), sum(counts)
    if len(counts) < l:
        with pytest.raises(InfeasibleError):
            groups_of(tally, l, limit=1.0)
        return
    # Brute force: cut the commonest values to every possible size.
    kept = max(total for most in range(1, n + 1) if most * l <= (total := sum(min(c, most) for c in counts)))
    assert sum(map(len, groups_of(tally, l, limit=1.0))) == kept


def test_values_stay_sorted_by_what_is_left_of_them():
    left = np.array([3, 3, 3, 3, 2])
    pool = np.arange(14, dtype=np.int32)
    dealt = np.empty(14, np.int32)
    n_groups = deal_different(left, np.array([0, 3, 6, 9, 12]), pool, 2, dealt)
    assert n_groups == 7
    assert left.tolist() == [0, 0, 0, 0, 0]
    assert sorted(dealt.tolist()) == list(range(14))


def job(l: int = 2, **settings) -> tk.Job:  # noqa: E741
    quasi = {"age": tk.numeric(), "sex": tk.suppress(), "zip": tk.suppress()}
    criteria = settings.pop("criteria", [tk.LDiversity("illness", l)])
    return tk.Job(quasi=quasi, sensitive=["illness"], criteria=criteria, algorithm="anatomize", **settings)


def thesis() -> pl.DataFrame:
    """The patients of table 4.9."""
    return pl.DataFrame(
        {
            "age": [23, 27, 35, 59, 61, 65, 65, 70],
            "sex": ["M", "M", "M", "M", "F", "F", "F", "F"],
            "zip": ["11000", "13000", "59000", "12000", "54000", "25000", "25000", "30000"],
            "illness": ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"],
        }
    )


def test_the_two_tables_of_the_thesis():
    release = job().anonymize(thesis(), seed=1)
    people, secrets = release.tables[""], release.tables["secrets"]
    assert people.columns == ["age", "sex", "zip", "group"]
    assert secrets.columns == ["group", "illness", "records"]
    assert people.drop("group").sort(pl.all()).equals(thesis().drop("illness").sort(pl.all()))
    expanded = secrets.select(pl.col("illness").repeat_by("records").explode()).to_series()
    assert sorted(expanded) == sorted(thesis()["illness"])
    assert secrets.group_by("group").len()["len"].min() == 2
    assert release.verdicts[0].reached == 2
    assert release.verify().ok


def test_k_anonymity_is_refused_before_anything_is_read():
    with pytest.raises(JobError, match=r"E111 anatomize cannot promise k-anonymity.*who a record is about"):
        tk.run_job(job(criteria=[tk.KAnonymity(2)]), "no-such-file.csv", "nowhere")


def near_people(n: int = 2000) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    area = rng.integers(0, 4, n)
    return pl.DataFrame(
        {
            "age": 20 * area + rng.integers(0, 20, n),
            "sex": rng.choice(["F", "M"], n),
            "zip": area.astype(str),
            "illness": ["ABCD"[a] + "uvwxyz"[i] for a, i in zip(area, rng.integers(0, 6, n), strict=True)],
        }
    )


class TestPeopleWhoAreAlike:
    def test_answers_are_more_exact_at_the_same_promise(self):
        error = []
        for alike in (True, False):
            release = replace_job(
                job(criteria=[tk.FrequencyLDiversity("illness", 4)]), algorithm=tk.Anatomize(alike=alike)
            ).anonymize(near_people(), seed=1)
            secrets = release.tables["secrets"]
            most = secrets.group_by("group").agg(pl.col("records").max() * 4 <= pl.col("records").sum())
            assert most["records"].all()
            assert release.verify().ok
            rng = np.random.default_rng(1)
            error.append(tk.query_error(release, rng=rng, predicates=1, selectivity=0.1, queries=300).median)
        assert error[0] < error[1] / 3

    def test_criteria_are_accepted_that_different_values_do_not_decide(self):
        asked = job(criteria=[tk.TCloseness("illness", 0.6)])
        release = replace_job(asked, algorithm=tk.Anatomize(alike=True)).anonymize(near_people(200), seed=1)
        assert release.n_groups > 1
        assert release.verify().ok

    @pytest.mark.parametrize("limit", [0.05, 0.2])
    def test_the_surplus_of_common_values_is_suppressed_within_the_limit(self, limit: float):
        table = near_people(300).with_columns(
            pl.when(pl.int_range(pl.len()) < 120).then(pl.lit("flu")).otherwise("illness").alias("illness")
        )
        asked = job(criteria=[tk.FrequencyLDiversity("illness", 3)], max_suppressed=limit)
        asked = replace_job(asked, algorithm=tk.Anatomize(alike=True))
        if limit < 0.1:
            with pytest.raises(InfeasibleError):
                asked.anonymize(table, seed=1)
            return
        release = asked.anonymize(table, seed=1)
        assert release.tables[""].height == 270, "90 of 120 are a third of what is left"
        assert release.verify().ok

    def test_the_same_seed_gives_the_same_tables(self):
        asked = replace_job(job(), algorithm=tk.Anatomize(alike=True))
        one, other = (asked.anonymize(near_people(300), seed=5).tables for _ in range(2))
        assert all(one[name].equals(other[name]) for name in one)

    def test_what_is_not_published_cannot_be_promised(self):
        with pytest.raises(JobError, match="E111 anatomize cannot promise k-anonymity"):
            replace_job(job(criteria=[tk.KAnonymity(2)]), algorithm=tk.Anatomize(alike=True)).anonymize(thesis())


def test_criteria_that_different_values_do_not_decide_are_refused():
    with pytest.raises(JobError, match="E111 anatomize forms groups of different values"):
        job(criteria=[tk.TCloseness("illness", 0.5)]).anonymize(thesis())


def test_where_no_deal_is_possible_all_records_may_be_one_group():
    table = thesis().with_columns(pl.Series("illness", ["flu"] * 6 + ["cold"] * 2))
    release = job().anonymize(table, seed=1)  # distinct 2-diversity holds for all records together, and for no less
    assert release.n_groups == 1
    assert "last resort" in release.private_manifest["search"]
    notice = next(n for n in release.notices if n.code == "W622")
    assert "nothing but all records in one group" in notice.message
    asked = replace_job(job(), algorithm=tk.Anatomize(alike=True))
    assert "alike: true" in str(notice.hint)
    assert "W622" not in {n.code for n in asked.anonymize(thesis(), seed=1).notices}


def error_by_definition(counts: list[int]) -> float:
    """Person by person: what is true of each, and the shares of the group."""
    size = sum(counts)
    return sum(n * sum(((i == j) - m / size) ** 2 for j, m in enumerate(counts)) for i, n in enumerate(counts))


@pytest.mark.parametrize("alike", [False, True])
def test_the_error_of_putting_tables_together_is_told_with_its_bound(tmp_path: Path, alike: bool):
    asked = replace_job(job(criteria=[tk.FrequencyLDiversity("illness", 4)]), algorithm=tk.Anatomize(alike=alike))
    near_people(403).write_csv(tmp_path / "people.csv")
    release = tk.run_job(asked, tmp_path / "people.csv", tmp_path / "out", seed=1)
    score = next(s for s in release.scores if s.name == "reconstruction-error")
    written = pl.read_csv(tmp_path / "out" / "public" / "people-secrets.csv")
    groups = [group["records"].to_list() for _, group in written.group_by("group")]
    assert score.value == pytest.approx(sum(map(error_by_definition, groups)))
    least = 403 * (1 - 1 / 4)
    if not alike:
        assert least <= score.value <= least * (1 + 1 / 403)
    assert f"at least {least:.10g}, which is n · (1 − 1/l)" in score.sentence
    for edition in ("public", "do-not-share"):
        assert "n · (1 − 1/l)" in (tmp_path / "out" / edition / "report.html").read_text("utf-8")


def test_the_same_seed_gives_the_same_tables():
    one, other, third = (job().anonymize(thesis(), seed=seed).tables for seed in (1, 1, 2))
    assert all(one[name].equals(other[name]) for name in one)
    assert not all(one[name].equals(third[name]) for name in one)


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_secrets_that_need_64_bits(engine: str):
    """Reading them back ended in Polars' own words, which quote values."""
    secrets = pl.Series([2**64 - 1, 2**63, 5, 2**63 + 9] * 5, dtype=pl.UInt64)
    people = pl.DataFrame({"age": [20, 21, 22, 23] * 5, "number": secrets})
    job = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive=["number"],
        criteria=[tk.LDiversity("number", 2)],
        algorithm=tk.Anatomize(),
        engine=engine,
    )
    told = job.anonymize(people, seed=1).tables["secrets"]
    assert told.select(pl.col("number").repeat_by("records").explode()).to_series().sort().equals(secrets.sort())

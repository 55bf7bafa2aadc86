"""ANGEL: batches keep what is asked about secrets, boxes what is asked about people, and both are true."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tables import Rows, commonest_share, covers, distance, read, secrets_of, texts

import tarnkappe as tk
from grids import examples
from tarnkappe.algorithms.bucketization.batching import formed_batches
from tarnkappe.audit import audit
from tarnkappe.deals import Deal
from tarnkappe.errors import InfeasibleError, JobError, TarnkappeError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.pipeline import run_job
from tarnkappe.publish.batches import Batches
from tarnkappe.schema import Column

THESIS = pl.DataFrame(
    {
        "age": [21, 23, 38, 40, 41, 43, 58, 60],
        "sex": ["M", "M", "W", "W", "M", "M", "W", "W"],
        "illness": ["pneumonia", "pneumonia", "bronchitis", "bronchitis"] * 2,
    }
)


def job_of(*criteria: tk.Criterion, algorithm: Any = "angel", weights: Any = None, **more: Any) -> tk.Job:
    quasi = {"age": tk.numeric(), "sex": tk.suppress()}
    asked = criteria or (tk.LDiversity("illness", 2),)
    return tk.Job(quasi=quasi, sensitive=["illness"], criteria=asked, algorithm=algorithm, weights=weights, **more)


def fits(people: Rows, original: Rows, names: list[str]) -> bool:
    """Whether the rows can be given to the people one by one such that every label is true (greedy on boxes)."""
    rest = Counter(tuple(row[n] for n in names) for row in people)
    able = {
        label: [all(covers(x, o[n]) for x, n in zip(label, names, strict=True)) for o in original] for label in rest
    }
    # Every label must be true of at least as many people as publish it, and everybody must find a label.
    enough = all(sum(able[label]) >= n for label, n in rest.items())
    return enough and all(any(flags[i] for flags in able.values()) for i in range(len(original)))


def test_the_tables_of_the_thesis() -> None:
    """Tables 4.11 and 4.12: two people in every box, one of each illness in every batch."""
    release = job_of(algorithm=tk.Angel(alike=False), weights={"sex": 2}).anonymize(THESIS, seed=3)
    people, batches = release.tables[""], release.tables["batches"]
    boxes = Counter(people.select("age", "sex").rows())
    assert boxes == {("[21 23]", "M"): 2, ("[38 40]", "W"): 2, ("[41 43]", "M"): 2, ("[58 60]", "W"): 2}
    assert sorted(people["batch"]) == [1, 1, 2, 2, 3, 3, 4, 4]
    pairs = [(b, i, 1) for b in range(1, 5) for i in ("bronchitis", "pneumonia")]
    assert sorted(batches.rows()) == pairs


def test_generalisation_alone_cannot_do_that() -> None:
    """With the same promise Mondrian must throw the sexes together, because illness follows from sex."""
    table = job_of(algorithm="mondrian", weights={"sex": 2}).anonymize(THESIS, seed=3).table
    assert set(table["sex"]) == {"*"}


def related_people(n: int = 3000) -> pl.DataFrame:
    """People in four areas of ages, each with illnesses of its own."""
    rng = np.random.default_rng(2)
    area = rng.integers(0, 4, n)
    return pl.DataFrame(
        {
            "age": 20 * area + rng.integers(0, 20, n),
            "sex": rng.choice(["M", "W"], n),
            "illness": [f"{a}-{i}" for a, i in zip(area, rng.integers(0, 6, n), strict=True)],
        }
    )


def test_batches_of_people_who_are_alike_keep_how_secrets_depend_on_them() -> None:
    """The error of queries is a fraction of that with batches of anybody, and below that of a generalisation."""
    error = {}
    for algorithm in (tk.Angel(), tk.Angel(alike=False), tk.Mondrian()):
        job = job_of(tk.FrequencyLDiversity("illness", 4), algorithm=algorithm)
        release = job.anonymize(related_people(), seed=1)
        rng = np.random.default_rng(1)
        error[repr(algorithm)] = tk.query_error(release, rng=rng, predicates=2, selectivity=0.1, queries=300).mean
        if release.is_numbered:
            assert release.verify().ok
    alike, anybody, mondrian = error.values()
    assert alike < anybody / 3
    assert alike < mondrian


def test_boxes_hold_as_many_people_as_asked_where_records_are_equal() -> None:
    """Hilb would put some of the nine equal people into another box; here equal people share one."""
    table = pl.DataFrame(
        {"age": [30] * 9 + [31] * 3 + [50] * 4, "sex": ["M"] * 16, "illness": ["flu", "cold"] * 8},
    )
    release = job_of(tk.LDiversity("illness", 2), tk.KAnonymity(4)).anonymize(table, seed=1)
    people = release.tables[""]
    assert sum(release.tables["batches"]["records"]) == 16
    assert min(Counter(people.select("age", "sex").rows()).values()) >= 4
    assert set(people["age"]) == {"[30 31]", "50"}
    assert release.verify().ok


ROWS = st.lists(
    st.tuples(
        st.integers(20, 40) | st.none(), st.sampled_from("MWD"), st.sampled_from("abcdef"), st.sampled_from("xyz")
    ),
    min_size=1,
    max_size=40,
)


def frame(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={"age": pl.Int64, "sex": pl.String, "illness": pl.String, "job": pl.String}, orient="row"
    )


def check_batches(people: Rows, batches: Rows, original: Rows, criteria: tuple[tk.Criterion, ...]) -> None:
    """What was promised, from the texts of two tables."""
    assert Counter(r["batch"] for r in people) == {
        b: sum(v.values()) for b, v in secrets_of(batches, "batch", "illness", "records").items()
    }
    for criterion in criteria:
        if isinstance(criterion, tk.KAnonymity):
            assert min(Counter((r["age"], r["sex"]) for r in people).values()) >= criterion.k
            continue
        groups = secrets_of(batches, "batch", criterion.column, "records")
        whole = Counter(str(r[criterion.column]) for r in original)
        for values in groups.values():
            if isinstance(criterion, tk.LDiversity):
                assert len(values) >= criterion.l
            elif isinstance(criterion, tk.FrequencyLDiversity):
                assert commonest_share(values) <= 1 / Fraction(str(criterion.l))
            else:
                assert distance(values, whole) <= Fraction(str(criterion.t)) + Fraction(1, 10**9)
    if len(people) == len(original):
        assert Counter(str(r["illness"]) for r in original) == sum(
            secrets_of(batches, "batch", "illness", "records").values(), Counter()
        )
        assert fits(people, original, ["age", "sex"])


GOALS = st.lists(
    st.one_of(
        st.builds(tk.LDiversity, st.just("illness"), st.integers(2, 3)),
        st.builds(tk.FrequencyLDiversity, st.just("illness"), st.sampled_from([1.5, 2, 3])),
        st.builds(tk.TCloseness, st.sampled_from(["illness", "job"]), st.sampled_from([0.2, 0.5])),
    ),
    min_size=1,
    max_size=2,
).flatmap(lambda some: st.sampled_from([[], [tk.KAnonymity(2)], [tk.KAnonymity(3)]]).map(lambda k: tuple(some + k)))


@settings(deadline=None, max_examples=examples(150))
@given(ROWS, GOALS, st.sampled_from([0.0, 0.3]), st.integers(0, 5), st.booleans())
def test_promises_hold_in_the_tables(rows: Any, criteria: Any, limit: float, seed: int, alike: bool) -> None:
    table = frame(rows)
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness", "job"],
        criteria=criteria,
        algorithm=tk.Angel(alike=alike),
        missing_rule="own-value",
        max_suppressed=limit,
    )
    try:
        release = job.anonymize(table, seed=seed)
    except InfeasibleError:
        return
    people, batches = (texts(release.tables[name].to_dicts()) for name in ("", "batches"))
    assert len(people) >= len(rows) * (1 - limit)
    check_batches(people, batches, table.to_dicts(), criteria)
    assert release.verify().ok


@settings(deadline=None, max_examples=examples(60))
@given(ROWS, GOALS, st.integers(0, 3))
def test_what_can_be_satisfied_is(rows: Any, criteria: Any, seed: int) -> None:
    """Nothing monotone is refused that all records together satisfy, and no record is lost then."""
    table = frame(rows)
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness", "job"],
        criteria=criteria,
        algorithm="angel",
        missing_rule="own-value",
    )
    try:
        tk.Job(
            quasi={"age": tk.numeric(), "sex": tk.suppress()},
            sensitive=["illness", "job"],
            criteria=criteria,
            missing_rule="own-value",
        ).anonymize(table, seed=1)
    except InfeasibleError:
        return
    assert job.anonymize(table, seed=seed).tables[""].height == len(rows)


def some_people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["M", "W"], n),
            "illness": rng.choice(["flu", "cold", "HIV", "asthma", "angina"], n, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
        }
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_written_releases_keep_their_promises(tmp_path: Path, suffix: str) -> None:
    criteria = (tk.FrequencyLDiversity("illness", 2), tk.KAnonymity(4))
    table, file = some_people(), tmp_path / f"data.{suffix}"
    table.write_csv(file) if suffix == "csv" else table.write_parquet(file)
    job = job_of(*criteria)
    run_job(job, file, tmp_path / "out", seed=7)
    public = tmp_path / "out" / "public"
    names = sorted(p.name for p in public.glob(f"*.{suffix}") if "codebook" not in p.name)
    people = next(n for n in names if "batches" not in n)
    batches = next(n for n in names if "batches" in n)
    check_batches(read(public / people), read(public / batches), table.to_dicts(), criteria)
    assert audit(tmp_path / "out").ok
    assert audit(tmp_path / "out").found.verdicts[1].reached >= 4


def test_same_seed_same_bytes_on_both_engines(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    some_people().write_csv(file)
    for name, engine in (("a", "memory"), ("b", "streaming")):
        run_job(job_of(engine=engine), file, tmp_path / name, seed=7)
    for table in (tmp_path / "a" / "public").glob("*.csv"):
        assert table.read_bytes() == (tmp_path / "b" / "public" / table.name).read_bytes()


def test_marginals_are_finer_and_have_the_same_numbers() -> None:
    algorithm = tk.Angel(bucket_size=20, marginals=[["age"], ["sex"]])
    release = job_of(algorithm=algorithm).anonymize(some_people(), seed=2)
    people, ages, sexes = (release.tables[name] for name in ("", "marginal-1", "marginal-2"))
    assert ages.columns == ["age", "batch"]
    assert Counter(ages["batch"]) == Counter(people["batch"]) == Counter(sexes["batch"])
    assert set(sexes["sex"]) == {"M", "W"}
    assert ages["age"].n_unique() > people.filter(pl.col("sex") == "M")["age"].n_unique()
    assert release.verify().ok


def test_queries_ask_the_table_with_the_finest_labels() -> None:
    """One column is answered from its marginal, two together from the table that has both."""
    table = some_people()
    job = job_of(algorithm=tk.Angel(bucket_size=30, marginals=[["age"]]))
    with_marginal = job.anonymize(table, seed=2)
    without = job_of(algorithm=tk.Angel(bucket_size=30)).anonymize(table, seed=2)
    true = table.filter(pl.col("age").is_between(20, 24)).height
    wide, narrow = (r.query("count where age in 20..24") for r in (without, with_marginal))
    assert wide.low <= narrow.low <= true <= narrow.high < wide.high
    both = [r.query("count where age in 20..24 and sex = M") for r in (without, with_marginal)]
    assert both[0].value == both[1].value

    def error(release: tk.Release) -> float:
        return tk.query_error(release, rng=np.random.default_rng(1), predicates=1, queries=200).mean

    assert error(with_marginal) < error(without)


def test_rows_of_two_tables_cannot_be_put_beside_each_other() -> None:
    """A marginal in the order of the first table would tell which of its rows are of the same person."""
    algorithm = tk.Angel(marginals=[["age", "sex"]])
    release = job_of(tk.TCloseness("illness", 0.05), algorithm=algorithm).anonymize(some_people(), seed=2)
    people, again = release.tables[""], release.tables["marginal-1"]
    assert sorted(people.rows()) == sorted(again.rows())
    assert (people["age"] == again["age"]).sum() < people.height / 2


def spoilt(release: tk.Release, name: str, table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {**release.tables, name: table}


def test_sabotage_is_caught() -> None:
    release = job_of(tk.LDiversity("illness", 2), tk.KAnonymity(2), weights={"sex": 2}).anonymize(THESIS, seed=3)
    assert release.draft is not None
    people, batches = release.tables[""], release.tables["batches"]
    swapped = people.with_columns(pl.Series("batch", [1, 1, 2, 2, 3, 3, 4, 4])).with_columns(pl.col("age").reverse())
    lying = people.with_columns(
        pl.when(pl.col("age") == "[21 23]").then(pl.lit("[24 30]")).otherwise("age").alias("age")
    )
    alone = people.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("21")).otherwise("age").alias("age"))
    same = batches.with_columns(pl.lit("flu").alias("illness"))
    one = batches.with_columns(pl.col("illness").sort())
    for name, table in (("", lying), ("", alone), ("batches", one)):
        assert not release.draft.verify(spoilt(release, name, table)).ok
    if sorted(swapped.rows()) != sorted(people.rows()):
        assert not release.draft.verify(spoilt(release, "", swapped)).ok
    with pytest.raises(TarnkappeError):
        release.draft.verify(spoilt(release, "batches", same))


def test_boxes_that_do_not_cover_their_records_are_caught() -> None:
    """An algorithm whose boxes are of others: every promise holds, but the table is untrue."""

    class Crooked(tk.Angel):
        name = "crooked"

        def deal(self, tally: Any, goal: Goal, *, rng: np.random.Generator) -> Deal:
            deal = super().deal(tally, goal, rng=rng)
            assert isinstance(deal.form, Batches)
            boxes = deal.form.people.boxes
            turned = replace(
                deal.form.people, boxes=boxes.relabel(np.roll(np.arange(boxes.n_groups), 1), boxes.n_groups)
            )
            return replace(deal, form=replace(deal.form, people=turned))

    with pytest.raises(VerificationError, match="do not cover"):
        job_of(algorithm=Crooked()).anonymize(THESIS, seed=3)


def test_batches_of_ordered_secrets_are_like_the_whole_table() -> None:
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"age": rng.integers(18, 90, 400), "wage": rng.integers(1, 400, 400)})
    job = tk.Job(
        quasi={"age": tk.numeric()},
        columns=[Column("wage", "sensitive", "numeric")],
        criteria=[tk.TCloseness("wage", 0.1, distance="ordered")],
        algorithm="angel",
        missing_rule="own-value",
    )
    release = job.anonymize(table, seed=1)
    assert release.tables["batches"]["batch"].n_unique() > 20


@pytest.mark.parametrize(
    ("criteria", "options", "says"),
    [
        ([tk.KAnonymity(2)], {}, "no criterion looks at any"),
        ([tk.AlphaKAnonymity("illness", 0.6, 2)], {}, "is about both"),
        ([tk.LDiversity("illness", 2), tk.KAnonymity(2)], {"marginals": [["age"]]}, "with marginals"),
        ([tk.LDiversity("illness", 2)], {"marginals": [["agee"]]}, "did you mean 'age'"),
        ([tk.LDiversity("illness", 2)], {"marginals": [[]]}, "one is empty"),
    ],
)
def test_what_cannot_be_kept_is_refused(criteria: Any, options: Any, says: str) -> None:
    with pytest.raises(JobError, match=says):
        job_of(*criteria, algorithm=tk.Angel(**options)).anonymize(THESIS)


def test_a_goal_that_all_records_miss_is_infeasible() -> None:
    with pytest.raises(InfeasibleError):
        job_of(tk.LDiversity("illness", 3)).anonymize(THESIS)
    with pytest.raises(InfeasibleError):
        job_of(tk.LDiversity("illness", 2), tk.KAnonymity(9)).anonymize(THESIS)


def test_common_values_are_pooled_before_any_record_is_suppressed() -> None:
    """Nine of ten have the flu: no groups of two different values, but groups with two different values."""
    table = THESIS.with_columns(pl.Series("illness", ["flu"] * 6 + ["cold"] * 2))
    for alike, batches in ((False, 2), (True, 1)):
        release = job_of(tk.LDiversity("illness", 2), algorithm=tk.Angel(alike=alike)).anonymize(table, seed=0)
        assert release.tables[""].height == 8
        assert release.tables["batches"]["batch"].n_unique() == batches


def test_batches_need_a_table() -> None:
    from tarnkappe.tally import Tally

    nobody = Tally(np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32), np.zeros(0, np.int64), (), ())
    with pytest.raises(InfeasibleError):
        formed_batches(nobody, Goal([tk.KAnonymity(2)]), np.random.default_rng(0))

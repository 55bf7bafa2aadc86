"""Slicing: nobody who matches is too easily guessed, over all matching buckets, and every strand is true."""

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
from plain_slices import Rows, buckets_of, could_be, guesses
from plain_tables import distance, read, texts

import tarnkappe as tk
from grids import examples
from tarnkappe.algorithms.bucketization.strands import contingency, k_medoids
from tarnkappe.audit import audit
from tarnkappe.deals import Deal
from tarnkappe.engines import MemoryEngine
from tarnkappe.engines.values import CellValues
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.io import open_source
from tarnkappe.pipeline import run_job
from tarnkappe.publish.sheets import Reading
from tarnkappe.publish.sliced import Sliced
from tarnkappe.regrouping import verify_sheets
from tarnkappe.schema import Column

THESIS = pl.DataFrame(
    {
        "age": [22, 22, 33, 52, 54, 60, 60, 64],
        "sex": ["M", "F", "F", "F", "M", "M", "M", "F"],
        "zip": ["47906", "47906", "47905", "47905", "47902", "47902", "47904", "47904"],
        "illness": ["dyspepsia", "flu", "flu", "bronchitis", "flu", "dyspepsia", "dyspepsia", "gastritis"],
    }
)
SLICED = pl.DataFrame(
    {
        "age": THESIS["age"],
        "sex": THESIS["sex"],
        "zip": ["47905", "47906", "47905", "47906", "47904", "47902", "47902", "47904"],
        "illness": ["flu", "dyspepsia", "bronchitis", "flu", "gastritis", "flu", "dyspepsia", "dyspepsia"],
        "bucket": [1, 1, 1, 1, 2, 2, 2, 2],
    }
)
STRANDS = [["age", "sex"], ["zip", "illness"]]
QUASI = ("age", "sex", "zip")


def free_name(name: str, taken: set[str]) -> str:
    return free_name(f"_{name}", taken) if name in taken else name


def named(strands: list[list[str]]) -> list[list[tuple[str, str]]]:
    """The columns of strands in the table; those that were there before have another name."""
    taken: set[str] = set()
    out = []
    for strand in strands:
        out.append([(free_name(name, taken), name) for name in strand])
        taken |= {column for column, _ in out[-1]}
    return out


def job_of(*criteria: Any, **more: Any) -> tk.Job:
    quasi = {"age": tk.numeric(), "sex": tk.suppress(), "zip": tk.suppress()}
    asked = criteria or (tk.FrequencyLDiversity("illness", 2),)
    rest = {key: more.pop(key) for key in ("engine", "max_suppressed", "weights") if key in more}
    return tk.Job(quasi=quasi, sensitive=["illness"], criteria=asked, algorithm=tk.Slicing(**more), **rest)


def reached(table: pl.DataFrame, beside: tuple[str, ...] = ("zip",), l: float = 2) -> Any:  # noqa: E741
    """What the package finds in a table by itself."""
    reading = Reading("bucket", beside={"illness": beside})
    goal = Goal([tk.FrequencyLDiversity("illness", l)])
    return verify_sheets({"": MemoryEngine().open(table, missing=())}, reading, [Column("illness", "sensitive")], goal)


def test_the_table_of_the_thesis_is_2_diverse() -> None:
    """Table 4.13, by the definition of the paper and by ours."""
    buckets = buckets_of(SLICED.to_dicts())
    for person in THESIS.drop("illness").to_dicts():
        assert max(guesses(person, buckets, named(STRANDS), "illness").values()) <= Fraction(1, 2)
    first = guesses({"age": 22, "sex": "M", "zip": "47906"}, buckets, named(STRANDS), "illness")
    assert first == {"dyspepsia": Fraction(1, 2), "flu": Fraction(1, 2)}
    assert reached(SLICED).ok
    assert reached(SLICED).verdicts[0].reached == 0.5
    assert not reached(SLICED, l=2.1).ok


def test_our_slices_of_it_are_2_diverse_too() -> None:
    release = job_of(strands=STRANDS).anonymize(THESIS, seed=4)
    table = release.table
    assert table.columns == ["age", "sex", "zip", "illness", "bucket"]
    buckets = buckets_of(table.to_dicts())
    assert len(buckets) >= 2
    for person in could_be(buckets, named(STRANDS), QUASI):
        assert max(guesses(person, buckets, named(STRANDS), "illness").values()) <= Fraction(1, 2)


def test_a_bucket_with_many_secrets_may_still_tell_one() -> None:
    """The bucket has four values, each once, but only one of them beside each postcode."""
    table = pl.DataFrame(
        {"age": [1, 2, 3, 4], "zip": list("abcd"), "illness": ["flu", "cold", "HIV", "angina"], "bucket": [1] * 4}
    )
    assert reached(table, beside=()).ok
    assert reached(table).verdicts[0].reached == 1.0
    assert not reached(table).ok


def test_other_buckets_that_match_count() -> None:
    """Two buckets match: the paper mixes them, and its mixture may hide a bucket that tells; we ask each of them."""
    strands = named([["age"], ["zip", "illness"]])
    rows = [(1, "a", "flu", 1), (1, "a", "flu", 1), (1, "a", "cold", 2), (1, "a", "HIV", 2)]
    table = pl.DataFrame(rows, schema=["age", "zip", "illness", "bucket"], orient="row")
    mixed = guesses({"age": 1, "zip": "a"}, buckets_of(table.to_dicts()), strands, "illness")
    assert mixed == {"flu": Fraction(1, 2), "cold": Fraction(1, 4), "HIV": Fraction(1, 4)}
    assert not reached(table).ok


def test_safe_buckets_make_safe_mixtures() -> None:
    """Where every bucket is safe for all who match it, no weights over the buckets can spoil it."""
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(400):
        n = int(rng.integers(4, 12))
        table = pl.DataFrame(
            {
                "age": rng.integers(0, 2, n),
                "zip": rng.integers(0, 2, n).astype(str),
                "illness": rng.integers(0, 4, n).astype(str),
                "bucket": np.sort(rng.integers(1, 4, n)),
            }
        )
        if reached(table).ok:
            found += 1
            strands = named([["age"], ["zip", "illness"]])
            buckets = buckets_of(table.to_dicts())
            for person in could_be(buckets, strands, ["age", "zip"]):
                assert max(guesses(person, buckets, strands, "illness").values()) <= Fraction(1, 2)
    assert found > 2


ROWS = st.lists(
    st.tuples(
        st.integers(20, 25),
        st.sampled_from("MW"),
        st.sampled_from("ab"),
        st.sampled_from("uvwxyz"),
        st.sampled_from("pqr"),
    ),
    min_size=1,
    max_size=40,
)
NAMES = ("age", "sex", "zip", "illness", "job")
GIVEN = st.sampled_from(
    [
        [],
        [["age", "sex"], ["zip", "illness"], ["job"]],
        [["age"], ["sex", "job"], ["zip", "illness"]],
        [["age", "sex", "zip"], ["illness"], ["job"]],
        [["age", "sex"], ["sex", "zip"], ["zip", "illness"], ["sex", "job"]],
    ]
)
GOALS = st.lists(
    st.one_of(
        st.builds(tk.FrequencyLDiversity, st.sampled_from(["illness", "job"]), st.sampled_from([1.5, 2, 3])),
        st.builds(tk.LDiversity, st.sampled_from(["illness", "job"]), st.integers(2, 3)),
        st.builds(tk.TCloseness, st.just("illness"), st.sampled_from([0.3, 0.6])),
    ),
    min_size=1,
    max_size=2,
)


def check_slices(table: Rows, original: Rows, strands: list[list[str]], criteria: Any) -> None:
    """What was promised, from the texts of the table."""
    shown, buckets = named(strands), buckets_of(table)
    whole = {name: Counter(row[name] for row in table) for name in ("illness", "job") if name in table[0]}
    for criterion in criteria:
        for person in could_be(buckets, shown, QUASI):
            likely = guesses(person, buckets, shown, criterion.column)
            if isinstance(criterion, tk.FrequencyLDiversity):
                assert max(likely.values()) <= 1 / Fraction(str(criterion.l))
            elif isinstance(criterion, tk.LDiversity):
                assert len(likely) >= criterion.l
            else:
                common = max(p.denominator for p in likely.values())
                scaled = Counter({v: int(p * common) for v, p in likely.items()})
                if all(p * common == scaled[v] for v, p in likely.items()):
                    assert distance(scaled, whole[criterion.column]) <= Fraction(str(criterion.t)) + Fraction(1, 10**9)
    for strand in shown:  # every strand is that of the original, person by person
        found = Counter(tuple(row[column] for column, _ in strand) for row in table)
        there = Counter(tuple(row[name] for _, name in strand) for row in original)
        assert found <= there
        assert len(table) < len(original) or found == there


def slices_of(release: tk.Release) -> list[list[str]]:
    return [part.split(", ") for part in release.private_manifest["search"]["strands"].split("; ")]


@settings(deadline=None, max_examples=examples(200))
@given(ROWS, GIVEN, GOALS, st.integers(2, 4), st.sampled_from([0.0, 0.3]), st.integers(0, 3))
def test_promises_hold_for_everybody_who_matches(
    rows: Any, given_: Any, criteria: Any, clusters: int, limit: float, seed: int
) -> None:
    table = pl.DataFrame(rows, schema=NAMES, orient="row")
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress(), "zip": tk.suppress()},
        sensitive=["illness", "job"],
        criteria=criteria,
        algorithm=tk.Slicing(clusters, strands=given_),
        max_suppressed=limit,
    )
    try:
        release = job.anonymize(table, seed=seed)
    except InfeasibleError:
        return
    strands = slices_of(release)
    assert not given_ or strands == given_
    assert len(release.table) >= len(rows) * (1 - limit)
    check_slices(texts(release.table.to_dicts()), texts(table.to_dicts()), strands, criteria)
    assert release.verify().ok


def some_people(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["M", "F"], n),
            "zip": rng.choice(["01", "02", "03"], n),
            "illness": rng.choice(["flu", "cold", "HIV", "asthma", "angina"], n),
        }
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_written_releases_keep_their_promises(tmp_path: Path, suffix: str) -> None:
    table, file = some_people(), tmp_path / f"data.{suffix}"
    table.write_csv(file) if suffix == "csv" else table.write_parquet(file)
    job = job_of(strands=[["age", "sex"], ["sex", "zip", "illness"]])
    run_job(job, file, tmp_path / "out", seed=7)
    written = read(tmp_path / "out" / "public" / f"data.{suffix}")
    assert len(buckets_of(written)) > 5
    check_slices(written, texts(table.to_dicts()), [["age", "sex"], ["sex", "zip", "illness"]], job.goal.criteria)
    assert audit(tmp_path / "out").ok
    pandas = (tmp_path / "out" / "public" / "manifest.json").read_text()
    assert suffix == "parquet" or '_sex\\": str' in pandas


def test_verify_finds_a_bucket_that_tells(tmp_path: Path) -> None:
    """The manifest says which columns narrow a secret down, so that a stranger can check without the original."""
    file = tmp_path / "data.csv"
    some_people().write_csv(file)
    run_job(job_of(strands=[["age", "sex"], ["zip", "illness"]]), file, tmp_path / "out", seed=7)
    told = tmp_path / "out" / "public" / "data.csv"
    table = pl.read_csv(told, schema_overrides={"zip": pl.String})
    one = (pl.col("bucket") == 1) & (pl.col("zip") == table.filter(pl.col("bucket") == 1)["zip"][0])
    table.with_columns(pl.when(one).then(pl.lit("flu")).otherwise("illness").alias("illness")).write_csv(told)
    found = audit(tmp_path / "out")
    assert not found.found.ok
    assert found.found.verdicts[0].reached == 1.0


def test_same_seed_same_bytes_on_both_engines(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    some_people().write_csv(file)
    for name, engine in (("a", "memory"), ("b", "streaming")):
        run_job(job_of(engine=engine), file, tmp_path / name, seed=7)
    one, two = ((tmp_path / name / "public" / "data.csv").read_bytes() for name in "ab")
    assert one == two


def test_strands_are_mixed_independently() -> None:
    """In one bucket of 500 people, few rows are still those of a person."""
    n = 500
    table = pl.DataFrame({"a": range(n), "b": range(n), "s": ["u"] * (n // 2) + ["v"] * (n // 2)})
    job = tk.Job(
        quasi={"a": tk.numeric(), "b": tk.numeric()},
        sensitive=["s"],
        criteria=[tk.TCloseness("s", 0.0)],
        algorithm=tk.Slicing(strands=[["a"], ["b"], ["s"]]),
        because={"a": "numbers of a test, harmless", "b": "numbers of a test, harmless"},
    )
    release = job.anonymize(table, seed=1)
    assert release.table["bucket"].n_unique() == 1
    assert (release.table["a"] == release.table["b"]).sum() < 10
    halves = release.table.filter(pl.col("s") == "u")["a"]
    assert 80 < (halves < n // 2).sum() < 170
    assert release.table["a"].sort().to_list() == list(range(n))


def test_a_table_is_the_same_whenever_it_is_asked_for() -> None:
    release = job_of(strands=STRANDS).anonymize(some_people(), seed=1)
    assert release.draft is not None
    run = replace(release.draft.run)  # as it was before chance moved on
    plan, schema = run.plan, run.checked.schema
    values = CellValues(plan.tally, schema, run.checked.source.types(schema.published))
    (sheet,) = plan.form.sheets(plan, schema, values, run.chance)
    assert pl.concat(sheet.batches()).equals(pl.concat(sheet.batches()))
    assert pl.concat(sheet.batches()).equals(release.table)


def test_sabotage_is_caught() -> None:
    strands = [["age", "sex"], ["zip", "illness"]]
    release = job_of(tk.FrequencyLDiversity("illness", 3), strands=strands, weights={"age": 50}).anonymize(
        some_people(150), seed=1
    )
    assert release.draft is not None
    table = release.table
    within = table.with_columns(pl.col("age", "sex").reverse().over("bucket"))
    assert release.draft.verify({"": within}).ok, "order within a bucket says nothing"
    moved = table.with_columns(pl.col("age", "sex").shift(1).fill_null(strategy="backward"))
    torn = table.with_columns(pl.col("sex").reverse().over("bucket"))
    mixed = table.with_columns(pl.col("illness").shuffle(seed=1))
    for spoilt in (moved, torn, mixed):
        changed = [sorted(x.select("bucket", *strand).rows()) for x in (spoilt, table) for strand in strands]
        assert changed[:2] != changed[2:], "nothing was spoilt"
        assert not release.draft.verify({"": spoilt}).ok


def test_buckets_that_tell_are_refused_before_anything_is_written() -> None:
    class Careless(tk.Slicing):
        name = "careless"

        def deal(self, tally: Any, goal: Goal, *, rng: np.random.Generator) -> Deal:
            deal = super().deal(tally, goal, rng=rng)
            return replace(deal, form=Sliced((("age",), ("sex", "zip", "illness"))))

    with pytest.raises(InfeasibleError):
        tk.Job(
            quasi={"age": tk.numeric(), "sex": tk.suppress(), "zip": tk.suppress()},
            sensitive=["illness"],
            criteria=[tk.FrequencyLDiversity("illness", 2)],
            algorithm=Careless(strands=[["age", "sex", "zip"], ["illness"]]),
        ).anonymize(THESIS)


def test_what_tells_the_secret_leaves_its_strand() -> None:
    """A column that determines the secret is the most closely related one, and must not stand beside it."""
    n = 200
    table = pl.DataFrame(
        {
            "age": [20 + i % 50 for i in range(n)],
            "drug": [f"against {i % 4}" for i in range(n)],
            "illness": [f"{i % 4}" for i in range(n)],
        }
    )
    job = tk.Job(
        quasi={"age": tk.numeric(), "drug": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.FrequencyLDiversity("illness", 2)],
        algorithm="slicing",
    )
    assert slices_of(job.anonymize(table, seed=1)) == [["age", "drug"], ["illness"]]


def test_related_columns_stay_together() -> None:
    rng = np.random.default_rng(3)
    n = 2000
    city, trade = rng.integers(0, 5, n), rng.integers(0, 5, n)
    table = pl.DataFrame(
        {
            "zip": [f"z{c}{i}" for c, i in zip(city, rng.integers(0, 3, n), strict=True)],
            "town": [f"t{c}" for c in city],
            "trade": [f"{t}" for t in trade],
            "pay": (trade * 10 + rng.integers(0, 10, n)).tolist(),
            "illness": rng.choice(list("uvwxyz"), n),
        }
    )
    job = tk.Job(
        quasi={"zip": tk.suppress(), "town": tk.suppress(), "trade": tk.suppress(), "pay": tk.numeric()},
        sensitive=["illness"],
        criteria=[tk.FrequencyLDiversity("illness", 2)],
        algorithm=tk.Slicing(3),
    )
    assert slices_of(job.anonymize(table, seed=1)) == [["zip", "town"], ["trade", "pay"], ["illness"]]


def test_contingency_is_that_of_the_definition() -> None:
    from strategies import tallies

    @settings(deadline=None, max_examples=examples(50))
    @given(tallies(max_records=30))
    def check(tally: Any) -> None:
        if not tally.n_records:
            return
        found = contingency(tally)
        codes = [tally.quasi[:, j] for j in range(tally.quasi.shape[1])]
        for a in range(len(codes)):
            for b in range(len(codes)):
                small = max(tally.quasi_domains[a].size, tally.quasi_domains[b].size) <= 10
                if a == b or not small:
                    continue
                n = tally.n_records
                pairs: Counter[Any] = Counter()
                for x, y, c in zip(codes[a].tolist(), codes[b].tolist(), tally.count.tolist(), strict=True):
                    pairs[x, y] += c
                rows, cols = Counter[int](), Counter[int]()
                for (x, y), c in pairs.items():
                    rows[x] += c
                    cols[y] += c
                rows, cols = +rows, +cols
                least = min(len(rows), len(cols)) - 1
                phi = sum(
                    (pairs[x, y] / n - rows[x] / n * cols[y] / n) ** 2 / (rows[x] / n * cols[y] / n)
                    for x in rows
                    for y in cols
                )
                assert found[a, b] == pytest.approx(phi / least if least else 0.0, abs=1e-9)

    check()


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 1000))
def test_medoids_are_as_near_as_exchanges_get(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = rng.random((n, n))
    distance_ = (half + half.T) / 2
    np.fill_diagonal(distance_, 0)
    nearest = k_medoids(distance_, [n - 1], k)
    medoids = sorted({*nearest.tolist()})
    assert n - 1 in medoids
    assert len(medoids) == max(min(k, n), 1)
    cost = distance_[np.arange(n), nearest].sum()
    for out in medoids:
        for into in range(n):
            if out != n - 1 and into not in medoids:
                others = [into if m == out else m for m in medoids]
                assert cost <= distance_[:, others].min(axis=1).sum() + 1e-9


@pytest.mark.parametrize(
    ("strands", "says"),
    [
        ([["age", "sex"], ["zip", "ilness"]], "did you mean 'illness'"),
        ([["age", "sex"], ["illness"]], "'zip' stands in none"),
        ([["age", "sex", "illness"], ["zip", "illness"]], "stands in several"),
        ([["age", "sex", "zip", "illness"]], "only one"),
        ([["age", "age", "sex"], ["zip", "illness"]], "has a column twice"),
        ([["age", "sex"], ["zip", "illness"], []], "is empty"),
    ],
)
def test_strands_that_are_none_are_refused(strands: Any, says: str) -> None:
    with pytest.raises(JobError, match=says) as caught:
        job_of(strands=strands).anonymize(THESIS)
    assert 'strands=[["age", "sex", "zip"], ["illness"]]' in str(caught.value)


def test_two_secrets_in_a_strand_are_refused() -> None:
    table = THESIS.with_columns(job=pl.lit("x"))
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress(), "zip": tk.suppress()},
        sensitive=["illness", "job"],
        criteria=[tk.FrequencyLDiversity("illness", 2)],
        algorithm=tk.Slicing(strands=[["age", "sex", "zip"], ["illness", "job"]]),
    )
    with pytest.raises(JobError, match="two sensitive columns"):
        job.anonymize(table)


@pytest.mark.parametrize(
    ("criterion", "says"),
    [
        (tk.KAnonymity(2), "not who a record is about"),
        (tk.FrequencyLDiversity("illness", 2, know_others=True), "cannot take others for known"),
    ],
)
def test_what_cannot_be_kept_is_refused(criterion: Any, says: str) -> None:
    with pytest.raises(JobError, match=says):
        job_of(criterion).anonymize(THESIS)


def test_people_who_cannot_be_hidden_are_left_out_if_allowed() -> None:
    """Only one person lives there: nobody else's illness could be theirs."""
    table = pl.concat([THESIS, THESIS[:1].with_columns(zip=pl.lit("10000"))])
    with pytest.raises(InfeasibleError, match="1 record"):
        job_of(strands=STRANDS).anonymize(table)
    release = job_of(strands=STRANDS, max_suppressed=0.2).anonymize(table, seed=1)
    assert "10000" not in release.table["zip"].to_list()
    assert release.table.height == 8


def test_coarse_columns_are_published_coarse(tmp_path: Path) -> None:
    """Column generalisation: a lowest level, for everybody."""
    file = tmp_path / "data.csv"
    THESIS.write_csv(file)
    job = tk.Job(
        quasi={"sex": tk.suppress()},
        columns=[
            Column("age", "quasi", "numeric", taxonomy=tk.intervals(10), min_level=1),
            Column("zip", "quasi", taxonomy=tk.suppress()),
        ],
        sensitive=["illness"],
        criteria=[tk.FrequencyLDiversity("illness", 2)],
        algorithm=tk.Slicing(strands=STRANDS),
    )
    run_job(job, file, tmp_path / "out", seed=1)
    with open_source(tmp_path / "out" / "public" / "data.csv") as source:
        ages = set(source.read(["age"])["age"].cast(pl.String))
    assert not ages & {str(a) for a in THESIS["age"]}
    assert audit(tmp_path / "out").ok


@pytest.mark.parametrize("names", [("records", "_records"), ("bucket", "_bucket"), ("bucket", "age"), ("a", "__a")])
def test_columns_of_several_strands_have_names_of_their_own(names: tuple[str, str], tmp_path: Path):
    one, other = names
    table = pl.DataFrame({one: list("aabb") * 5, other: list("xyxy") * 5, "ill": list("stuvw") * 4})
    strands = [[other, one], [one, other, "ill"]]
    job = tk.Job(
        quasi={one: tk.suppress(), other: tk.suppress()},
        sensitive=["ill"],
        criteria=[tk.FrequencyLDiversity("ill", 2)],
        algorithm=tk.Slicing(strands=strands),
        seed=1,
    )
    assert run_job(job, table, tmp_path / "out").n_published == 20
    columns = job.anonymize(table).table.columns
    assert len({*columns}) == len(columns) == 6

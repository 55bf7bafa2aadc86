"""Each attack succeeds on a table built to be vulnerable, at the rate that the construction implies, and does no better
than its baseline where the criterion that matches it holds."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.attacks import Finding
from tarnkappe.attacks.analytical import bounds
from tarnkappe.attacks.minimality import credibility
from tarnkappe.criteria import Criterion
from tarnkappe.errors import DataError


def one(what: Any, table: pl.DataFrame, **more: Any) -> Finding:
    return tk.attack(what, table, **{"quasi": ["q"], "sensitive": ["s"], **more})[0]


def holds(criterion: Criterion, table: pl.DataFrame, secret: Any = "s", **more: Any) -> bool:
    return tk.verify(table, [criterion], ["q"], [secret] if secret else (), **more).ok


def table(groups: dict[str, str], **more: list[Any]) -> pl.DataFrame:
    """Groups by label, each with the letters that are its secrets."""
    rows = [(q, s) for q, secrets in groups.items() for s in secrets]
    return pl.DataFrame(rows, schema=["q", "s"], orient="row").with_columns(**more)


def test_homogeneity_and_l_diversity():
    bad = table({"a": "xxx", "b": "xxyz", "c": "yyy"})
    assert not holds(tk.LDiversity("s", 2), bad)
    assert one("homogeneity", bad).rate == 6 / 10
    good = table({"a": "xxy", "b": "xxyz", "c": "yyx"})
    assert holds(tk.LDiversity("s", 2), good)
    found = one("homogeneity", good)
    assert (found.rate, found.baseline, found.beats_baseline) == (0, 0, False)


def test_homogeneity_of_a_table_in_which_all_are_alike_says_nothing_new():
    found = one("homogeneity", table({"a": "xx", "b": "xx"}))
    assert (found.rate, found.baseline, found.beats_baseline) == (1, 1, False)


def test_attribute_linkage_and_t_closeness():
    bad = table({"a": "xxxy", "b": "yyyx"})
    assert (one("attribute-linkage", bad).rate, one("attribute-linkage", bad).baseline) == (0.75, 0.5)
    good = table({"a": "xxyy", "b": "xxyy"})
    assert holds(tk.TCloseness("s", 1e-9), good)
    assert not one("attribute-linkage", good).beats_baseline


def test_skewness_and_t_closeness():
    bad = table({"a": "x" + "y" * 1, "b": "y" * 98})
    found = one("skewness", bad)
    assert (found.rate, found.baseline) == (0.5, 0.01)
    good = table({"a": "xyyy", "b": "xyyy", "c": "xxyyyyyy"})
    assert holds(tk.TCloseness("s", 1e-9), good)
    assert not one("skewness", good).beats_baseline


@pytest.mark.parametrize("groups", [{"a": "xxyz", "b": "xyyz"}, {"a": "xy", "b": "xxyyyz", "c": "zzxy"}])
def test_a_t_close_table_keeps_skewness_below_t(groups):
    found = tk.verify(table(groups), [tk.TCloseness("s", 1.0)], ["q"], ["s"])
    t = found.verdicts[0].reached
    skewed = one(tk.Skewness(margin=t), table(groups))
    assert skewed.rate - skewed.baseline <= t + 1e-12
    assert not skewed.beats_baseline


def test_similarity_and_t_closeness():
    kinds = tk.tree({"cancer": ["x", "y"], "cold": ["u", "v"]})
    bad = table({"a": "xyxy", "b": "xuyv"})
    column = tk.Column("s", "sensitive", "categorical", kinds)
    near = tk.TCloseness("s", 0.2, distance="hierarchical")
    assert not holds(near, bad, column)
    assert one("similarity", bad, sensitive={"s": kinds}).rate == 0.5
    good = table({"a": "xuyv", "b": "xvuy"})
    assert holds(near, good, column)
    found = one("similarity", good, sensitive={"s": kinds})
    assert (found.rate, found.baseline) == (0, 0)


def test_similar_numbers():
    numbers = pl.DataFrame({"q": ["a"] * 3 + ["b"] * 3, "s": [100, 105, 110, 100, 500, 900]})
    assert one(tk.Similarity(within=10), numbers).rate == 0.5
    assert one(tk.Similarity(within=9), numbers).rate == 0


def test_proximity_and_epsilon_m_anonymity():
    secret = tk.Column("s", "sensitive", "numeric")
    bad = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": [10, 11, 12, 90, 50, 51, 52, 99]})
    apart = tk.EpsilonMAnonymity("s", epsilon=2, m=4)
    assert holds(tk.KEAnonymity("s", k=4, e=40), bad, secret)
    assert not holds(apart, bad, secret)
    found = one(tk.Proximity(within=2), bad)
    assert (found.rate, found.baseline) == (6 / 8, 3 / 8)
    good = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": [10, 20, 30, 40] * 2})
    assert holds(apart, good, secret)
    found = one(tk.Proximity(within=2), good)
    assert (found.rate, found.baseline, found.beats_baseline) == (1 / 4, 1 / 4, False)


def test_background_knowledge_and_recursive_diversity():
    bad = table({"a": "xxyy", "b": "xyzu"})
    assert one("background-knowledge", bad).rate == 0.5
    good = table({"a": "xxyyzz", "b": "xyzu"})
    recursive = tk.RecursiveCLDiversity("s", c=2, l=3)
    assert holds(recursive, good)
    assert not holds(recursive, bad)
    found = one(tk.BackgroundKnowledge(excluded=1, confidence=2 / 3), good)  # c / (1 + c), with l - 2 values excluded
    assert (found.rate, found.beats_baseline) == (0, False)


def test_record_linkage_and_k_anonymity():
    people = pl.DataFrame({"name": list("abcdef"), "q": [21, 25, 34, 36, 38, 52]})
    bad = pl.DataFrame({"q": ["20-29", "20-29", "[30 39]", "[30 39]", "[30 39]", ">=50"], "s": list("xyxyxy")})
    found = one("record-linkage", bad, known=people)
    assert (found.successes, found.trials, found.baseline) == (1, 6, 1 / 6)
    assert found.figures["expected share of right picks among those that fit"] == pytest.approx(3 / 6)
    good = bad[:5]
    assert holds(tk.KAnonymity(2), good)
    found = one("record-linkage", good, known=people[:5])
    assert (found.rate, found.beats_baseline) == (0, False)
    assert found.figures["fewest records that fit somebody"] == 2


def test_links_are_checked_by_a_key():
    """A record that fits one person only by mistake is no success."""
    people = pl.DataFrame({"id": ["1", "2", "3"], "q": [20, 30, 40]})
    swapped = pl.DataFrame({"id": ["1", "3", "2"], "q": [20, 30, 40], "s": list("xyz")})
    assert one("record-linkage", swapped, known=people).rate == 1
    assert one("record-linkage", swapped, known=people, key="id").rate == 1 / 3
    assert one(tk.RecordLinkage(complete="people"), swapped, known=people, key="id").rate == 1 / 3
    strangers = pl.DataFrame({"q": [20, 21, 22, 23]})
    assert one("record-linkage", swapped, known=people, holdout=strangers).control == 0.25


def test_unsorted_matching_and_shuffling():
    ours = pl.DataFrame({"q": [str(20 + i % 10) for i in range(400)], "s": ["x"] * 400})
    theirs = pl.DataFrame({"q": [f"[{20 + i % 10} {20 + i % 10}]" for i in range(400)]})
    found = one("unsorted-matching", ours, others=[theirs])
    assert (found.rate, found.baseline) == (1, pytest.approx(0.1))
    assert found.control == pytest.approx(0.1, abs=0.05)
    mixed = ours.sample(fraction=1, shuffle=True, seed=3)
    assert not one("unsorted-matching", mixed, others=[theirs]).beats_baseline


def test_the_order_of_the_data_is_looked_at_too():
    people = pl.DataFrame({"q": list(range(300)), "s": ["x"] * 300})
    release = tk.Job(quasi={"q": tk.numeric()}, sensitive=["s"], criteria=[tk.KAnonymity(3)]).anonymize(people, seed=5)
    found = tk.attack("unsorted-matching", release, known=people, in_order=True)[0]
    assert not found.beats_baseline
    labels = pl.DataFrame({"q": [f"[{3 * (i // 3)} {3 * (i // 3) + 2}]" for i in range(300)]})
    kept = one("unsorted-matching", labels, known=people, in_order=True, sensitive=[])
    assert (kept.rate, kept.baseline) == (1, pytest.approx(3 / 300))


def test_complementary_releases_and_releases_with_the_same_groups():
    people = pl.DataFrame({"q": [1, 2, 3, 4], "s": list("xyxz")})
    first = pl.DataFrame({"q": ["1-2", "1-2", "3-4", "3-4"], "s": list("xyxz")})
    second = pl.DataFrame({"q": ["1", "2-3", "2-3", "4"], "s": list("xyxz")})
    crossed = pl.DataFrame({"q": ["{1 | 3}", "{2 | 4}", "{1 | 3}", "{2 | 4}"], "s": list("xyxz")})
    assert one("homogeneity", first).rate == 0
    found = one("complementary-release", first, others=[crossed], known=people)
    assert (found.rate, found.baseline) == (1, 0.5), "1 and 3 are known from the second alone"
    assert one("complementary-release", first, others=[second], known=people).rate == 3 / 4
    same = one("complementary-release", first, others=[first.reverse()], known=people)
    assert (same.rate, same.baseline, same.beats_baseline) == (0, 0, False)


def test_releases_with_other_columns_are_intersected_by_what_each_of_them_has(tmp_path: Path):
    """Ages in one, towns in the other: everybody who knows both columns has two ways to narrow a secret down."""
    rng = np.random.default_rng(4)
    towns, ills = (rng.choice(list(letters), 120) for letters in ("abcdefghijkl", "opqrstuvwxyz"))
    people = pl.DataFrame({"age": rng.integers(20, 60, 120), "town": towns, "ill": ills})
    made = {}
    for name, how in (("age", tk.numeric()), ("town", tk.suppress())):
        asked: dict[str, Any] = {"criteria": [tk.KAnonymity(4)], "algorithm": "mondrian", "seed": 1, "drop": "rest"}
        tk.run_job(tk.Job(quasi={name: how}, sensitive=["ill"], **asked), people, tmp_path / name)
        (file,) = (tmp_path / name / "public").glob("*.parquet")
        made[name] = pl.read_parquet(file).cast(pl.String)
    spans = {label: [int(x) for x in re.findall(r"\d+", label)] for label in made["age"]["age"].unique()}
    right = {"both": 0, "age": 0, "town": 0}
    for age, town, ill in people.rows():
        fits = [label for label, ends in spans.items() if ends[0] <= age <= ends[-1]]
        by_age = set(made["age"].filter(pl.col("age").is_in(fits))["ill"])
        by_town = set(made["town"].filter(pl.col("town").is_in([town, "*"]))["ill"])
        for way, left in (("both", by_age & by_town), ("age", by_age), ("town", by_town)):
            right[way] += left == {ill}
    assert right["both"] > max(right["age"], right["town"])
    given: dict[str, Any] = {"others": [tmp_path / "town"], "known": people}
    found = tk.attack("complementary-release", tmp_path / "age", **given)[0]
    assert (found.successes, found.trials) == (right["both"], 120)
    assert found.baseline == max(right["age"], right["town"]) / 120
    named = tk.attack("complementary-release", tmp_path / "age", quasi=["age"], **given)[0]
    assert named.successes == right["age"], "who knows ages only gains nothing by the towns"
    with pytest.raises(DataError, match="E410 no other release has 'ill'"):
        tk.attack("complementary-release", tmp_path / "age", others=[made["town"].drop("ill")], known=people)


def test_temporal_attack_and_newcomers_who_differ():
    before = table({"a": "xy", "b": "xz"})
    after = table({"a": "xyy", "b": "xz"})
    found = one("temporal", after, others=[before])
    assert (found.successes, found.trials, found.baseline) == (1, 1, 0)
    left = one("temporal", before, others=[after])
    assert (left.successes, left.trials) == (1, 1)
    fixed = one("temporal", table({"a": "xyxy", "b": "xz"}), others=[before])
    assert (fixed.successes, fixed.trials, fixed.beats_baseline) == (0, 2, False)


def test_table_linkage_membership_and_delta_presence():
    everybody = pl.DataFrame({"q": [10 + i for i in range(5)] + [20 + i for i in range(5)]})
    bad = pl.DataFrame({"q": ["10-19"] * 5, "s": ["x"] * 5})
    found = one("table-linkage", bad, population=everybody)
    assert (found.rate, found.baseline) == (1, 0)
    found = one("membership", bad, population=everybody)
    assert (found.rate, found.baseline, found.figures["area under the curve"]) == (1, 0.01, 1)
    good = pl.DataFrame({"q": ["10-19"] * 2 + ["20-29"] * 2, "s": ["x"] * 4})
    labels = pl.DataFrame({"q": ["10-19"] * 5 + ["20-29"] * 5})
    assert holds(tk.DeltaPresence(delta_max=0.4, delta_min=0.4), good, None, population=labels)
    found = one("table-linkage", good, population=everybody)
    assert (found.rate, found.baseline) == (0, 0)
    found = one("membership", good, population=everybody)
    assert found.rate == pytest.approx(0.01)
    assert not found.beats_baseline
    assert found.figures["area under the curve"] == pytest.approx(0.5)


def test_that_everybody_is_in_the_data_is_known_without_them():
    everybody = pl.DataFrame({"q": [10, 11, 12]})
    found = one("membership", pl.DataFrame({"q": ["10-19"] * 3, "s": ["x"] * 3}), population=everybody)
    assert (found.rate, found.baseline, found.beats_baseline) == (1, 1, False)


def test_membership_by_distance_from_people_who_are_not_in_the_data():
    people, others = pl.DataFrame({"q": [0.0, 10, 20, 30]}), pl.DataFrame({"q": [4.0, 14, 24, 36]})
    found = one("membership", people, known=people, holdout=others, sensitive=[])
    assert (found.rate, found.figures["area under the curve"]) == (1, 1), "raw numbers are at distance 0"
    mean = pl.DataFrame({"q": [15.0] * 4})
    found = one("membership", mean, known=people, holdout=people, sensitive=[])
    assert found.rate == pytest.approx(0.01)
    assert found.figures["area under the curve"] == pytest.approx(0.5)
    found = one("membership", pl.DataFrame({"q": ["[0 30]"]}), known=people, holdout=others, sensitive=[])
    assert found.figures["area under the curve"] == pytest.approx(0.5 + 0.5 * 1 / 4), "36 is outside of all labels"


def test_minimality_and_decisions_that_ignore_the_secret():
    """Two and four people are pooled because the two are both guarded; by chance they would be in one of 15 cases."""
    people = pl.DataFrame({"q": [1, 1, 2, 2, 2, 2], "s": list("xxyyyy")})
    forced = people.with_columns(pl.lit("1-2").alias("q"))
    found = one(tk.Minimality(value="x", l=2), forced, known=people)
    assert (found.rate, found.trials, found.baseline) == (1, 2, pytest.approx(2 / 6))
    ways = list(combinations(range(6), 2))
    blind = pl.concat(
        pl.DataFrame({"q": [2 * w + (i > 1) for i in range(6)], "s": ["x" if i in way else "y" for i in range(6)]})
        for w, way in enumerate(ways)
    )
    first = pl.col("q") // 2 * 2
    pooled = blind.with_columns(pl.format("[{} {}]", first, first + 1).alias("q"))
    found = one(tk.Minimality(value="x", l=2), pooled, known=blind)
    assert (found.trials, found.rate, found.baseline) == (2 * len(ways), pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert not found.beats_baseline


WAYS = [((2, 4), 2, 2), ((1, 2, 3), 2, 2), ((3, 3, 2), 3, 3), ((4, 1), 1, 2)]


@pytest.mark.parametrize(("sizes", "guarded", "l"), WAYS)
def test_beliefs_of_minimality_by_counting_all_ways(sizes: tuple[int, ...], guarded: int, l: int):  # noqa: E741
    part = [i for i, n in enumerate(sizes) for _ in range(n)]
    ways = combinations(range(len(part)), guarded)
    counts = [[sum(part[p] == i for p in way) for i in range(len(sizes))] for way in ways]
    telling = [c for c in counts if any(c[i] * l > n for i, n in enumerate(sizes))]
    expected = [sum(c[i] for c in telling) / len(telling) / n for i, n in enumerate(sizes)]
    assert credibility(sizes, guarded, l) == pytest.approx(expected)


def test_definetti_and_generalisation():
    """Smokers have cancer, others flu or a cold: buckets without cancer hold no smoker, and that tells who is who."""
    people = pl.DataFrame(
        {
            "q": ["smokes", "no", "no"] * 40,
            "age": list(range(120)),
            "s": ["cancer", "flu", "cold"] * 40,
        }
    )
    job = tk.Job(
        quasi={"q": tk.suppress(), "age": tk.numeric()},
        sensitive=["s"],
        criteria=[tk.LDiversity("s", 2)],
        algorithm="anatomize",
        because={"age": "invented for this test, nobody is behind it"},
    )
    buckets = job.anonymize(people, seed=4)
    found = tk.attack("definetti", buckets, known=people)[0]
    assert found.baseline == pytest.approx(0.5)
    assert found.rate == pytest.approx(100 / 120), "20 buckets hold no cancer, and leave flu or cold open"
    assert found.beats_baseline
    boxes = people.with_columns(pl.lit("*").alias("q"), pl.lit("*").alias("age"))
    found = tk.attack("definetti", boxes, quasi=["q", "age"], sensitive=["s"], known=people)[0]
    assert found.rate == pytest.approx(found.baseline)
    assert not found.beats_baseline


def test_definetti_without_anything_to_learn():
    """Secrets that do not depend on the quasi-identifiers are guessed as well from the group alone."""
    people = pl.DataFrame({"q": ["a", "a", "b", "b"] * 10, "s": ["x", "y"] * 20})
    table = people.with_columns(pl.Series("q", ["a", "a", "b", "b"] * 10))
    found = one("definetti", table, known=people)
    assert found.rate == pytest.approx(0.5)


def test_slices_are_learned_from_too():
    people = pl.DataFrame(
        {"q": ["smokes", "no"] * 60, "age": [20 + i % 7 for i in range(120)], "s": ["cancer", "flu"] * 60}
    )
    job = tk.Job(
        quasi={"q": tk.suppress(), "age": tk.numeric()},
        sensitive=["s"],
        criteria=[tk.LDiversity("s", 2)],
        algorithm="slicing",
    )
    found = tk.attack("definetti", job.anonymize(people, seed=1), known=people)[0]
    assert found.trials == 120
    assert 0 <= found.rate <= 1


def averaged(column: list[int], k: int) -> list[float]:
    """Individual ranking: means of k neighbours along the order of one column."""
    order = sorted(range(len(column)), key=lambda i: column[i])
    out = [0.0] * len(column)
    for begin in range(0, len(order), k):
        part = order[begin : begin + k]
        for i in part:
            out[i] = sum(column[j] for j in part) / len(part)
    return out


def test_rank_intersection_and_groups_of_all_columns():
    """Six people, averaged in threes by each column: the two columns together single four of them out."""
    a, b = [1, 2, 3, 11, 12, 13], [1, 11, 2, 12, 3, 13]
    people = pl.DataFrame({"a": a, "b": b})
    alone = pl.DataFrame({"a": averaged(a, 3), "b": averaged(b, 3)})
    found = tk.attack("rank-intersection", alone, quasi=["a", "b"], known=people)[0]
    brute = [sum(near(x, p, alone["a"]) and near(y, q, alone["b"]) for p, q in alone.rows()) for x, y in people.rows()]
    assert found.successes == brute.count(1)
    together = pl.DataFrame({"a": [2.0] * 3 + [12.0] * 3, "b": [14 / 3] * 3 + [28 / 3] * 3})
    found = tk.attack("rank-intersection", together, quasi=["a", "b"], known=people)[0]
    assert (found.rate, found.beats_baseline) == (0, False)


def near(value: float, average: float, averages: pl.Series) -> bool:
    """Whether no other average lies strictly between a value and an average."""
    return not any(min(value, average) < x < max(value, average) for x in averages)


def test_interval_and_analytical_attack():
    column = [0, 1, 2, 50, 51, 52, 98, 99, 100]
    people = pl.DataFrame({"a": column})
    ranked = pl.DataFrame({"a": averaged(column, 3)})
    found = tk.attack(tk.Interval(within=0.01), ranked, quasi=["a"], known=people)[0]
    assert (found.rate, found.baseline) == (1, pytest.approx(1 / 3))
    one_mean = pl.DataFrame({"a": [50.0] * 9})
    found = tk.attack(tk.Interval(within=0.01), one_mean, quasi=["a"], known=people)[0]
    assert found.rate == found.baseline == pytest.approx(2 / 9), "50 and 51"
    close = pl.DataFrame({"a": averaged([0, 0, 0, 1, 1, 1, 2, 2, 2, 200, 200, 200], 3)})
    found = tk.attack(tk.Analytical(within=0.01), close, quasi=["a"])[0]
    assert (found.rate, found.baseline) == (3 / 12, 0), "a 1 lies between 0 and 2, which is 2 of 200"
    assert tk.attack(tk.Analytical(within=0.01), ranked, quasi=["a"])[0].rate == 0


@settings(max_examples=examples(40))
@given(st.lists(st.integers(0, 60), min_size=6, max_size=30), st.integers(2, 4))
def test_bounds_of_averages_hold(column: list[int], k: int):
    means = np.array(averaged(column, k))
    levels, n = np.unique(means, return_counts=True)
    low, high = bounds(levels, n)
    for i, level in enumerate(levels):
        inside = [x for x, mean in zip(column, means, strict=True) if mean == level]
        assert low[i] - 1e-9 <= min(inside)
        assert max(inside) <= high[i] + 1e-9

"""FF-anonymity and quasi-sensitive attributes, against plain Python over everything that somebody may know."""

from __future__ import annotations

import csv
from collections import defaultdict
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.ff_anonymity import FFAnonymity
from tarnkappe.criteria.quasi_sensitive import QuasiSensitive
from tarnkappe.errors import JobError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.job.places import OutputSettings
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

#: Published quasi-identifiers, and an illness and a drug.
Row = tuple[tuple[str, ...], tuple[str, str]]

ILLNESS, DRUG = ["leg", "HIV", "flu"], ["aspirin", "AZT", "flu"]
DOMAINS = (Domain("illness", Taxonomy.scale(ILLNESS)), Domain("drug", Taxonomy.scale(DRUG)))
rows_ = st.lists(
    st.tuples(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy")),
        st.tuples(st.sampled_from(ILLNESS), st.sampled_from(DRUG)),
    ),
    min_size=1,
    max_size=24,
)
shares = st.sampled_from([0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])


def parts(things: tuple) -> list[tuple]:
    return list(chain.from_iterable(combinations(things, n) for n in range(len(things) + 1)))


def most_sure(rows: list[Row], guarded: tuple[str, ...], columns: tuple[int, ...]) -> Fraction:
    """Whatever part of the labels and of the observable values of a record is known: the surest guess of another."""
    worst = Fraction(0)
    for quasi, values in rows:
        facts = [("q", j, v) for j, v in enumerate(quasi)]
        facts += [("s", j, values[j]) for j in columns if values[j] not in guarded]
        for known in parts(tuple(facts)):
            fitting = [s for q, s in rows if all((q if kind == "q" else s)[j] == v for kind, j, v in known)]
            for j in columns:
                if ("s", j) in {(kind, at) for kind, at, _ in known}:
                    continue
                for y in {s[j] for s in fitting} & set(guarded):
                    worst = max(worst, Fraction(sum(s[j] == y for s in fitting), len(fitting)))
    return worst


def most_revealed(rows: list[Row], rules: dict[str, list[set[str]]], columns: tuple[int, ...]) -> Fraction:
    groups = defaultdict(list)
    for quasi, values in rows:
        groups[quasi].append({values[j] for j in columns})
    return max(
        Fraction(sum(any(rule <= has for rule in of) for has in members), len(members))
        for members in groups.values()
        for of in rules.values()
    )


def stats_of(rows: list[Row]) -> GroupStats:
    labels = list(dict.fromkeys(quasi for quasi, _ in rows))
    values = np.array([[ILLNESS.index(i), DRUG.index(d)] for _, (i, d) in rows], np.int32)
    joint, code = np.unique(values, axis=0, return_inverse=True)
    return GroupStats.from_cells(
        np.array([labels.index(quasi) for quasi, _ in rows]),
        np.ones(len(rows), np.int64),
        {d.name: (values[:, j], d) for j, d in enumerate(DOMAINS)},
        joint=(DOMAINS, code.reshape(-1).astype(np.int32), joint.astype(np.int32)),
    )


def told(criterion: Criterion, rows: list[Row]) -> tuple[bool, float]:
    verdict = criterion.verdict(stats_of(rows))
    return verdict.ok, verdict.reached


@given(rows_, st.sampled_from([("HIV",), ("AZT",), ("HIV", "AZT"), ("flu",)]), shares, st.booleans())
@settings(deadline=None, max_examples=examples(120))
def test_ff_anonymity(rows, guarded, c, both):
    columns = ("illness", "drug") if both else ("illness",)
    truth = most_sure(rows, guarded, (0, 1) if both else (0,))
    criterion = FFAnonymity(columns, guarded, c)
    assert told(criterion, rows) == (truth <= Fraction(c).limit_denominator(10), pytest.approx(float(truth)))


RULES = ("AZT -> HIV", "HIV -> HIV", "leg + aspirin -> accident")
AS_SETS = {"HIV": [{"AZT"}, {"HIV"}], "accident": [{"leg", "aspirin"}]}


@given(rows_, st.sampled_from([1, 1.5, 2, 3, 4]))
@settings(deadline=None, max_examples=examples(120))
def test_quasi_sensitive(rows, l):  # noqa: E741
    truth = most_revealed(rows, AS_SETS, (0, 1))
    criterion = QuasiSensitive(("illness", "drug"), RULES, l)
    assert told(criterion, rows) == (truth * Fraction(str(l)) <= 1, pytest.approx(float(truth)))


def patients(seed: int, n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    ill = rng.choice(ILLNESS, n, p=[0.6, 0.1, 0.3])
    drug = np.where((ill == "HIV") & (rng.random(n) < 0.7), "AZT", rng.choice(["aspirin", "flu"], n))
    return pl.DataFrame(
        {"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n), "illness": ill, "drug": drug}
    )


GOALS: dict[str, Criterion] = {
    "ff": FFAnonymity(("illness", "drug"), ("HIV", "AZT"), 0.4),
    "quasi-sensitive": QuasiSensitive(("illness", "drug"), RULES, 2.5),
}


def job(criterion: Criterion, algorithm: str) -> tk.Job:
    return tk.Job(
        quasi={"age": tk.numeric() if algorithm == "mondrian" else tk.intervals(5, 20), "sex": tk.suppress()},
        sensitive=["illness", "drug"],
        criteria=[tk.KAnonymity(2), criterion],
        algorithm=algorithm,
        output=OutputSettings(format="csv"),
    )


def kept(name: str, rows: list[Row]) -> bool:
    if name == "ff":
        return most_sure(rows, ("HIV", "AZT"), (0, 1)) <= Fraction(2, 5)
    return most_revealed(rows, AS_SETS, (0, 1)) <= Fraction(2, 5)


def written(folder: Path) -> list[Row]:
    with (folder / "public/release.csv").open(encoding="utf-8", newline="") as file:
        return [((r["age"], r["sex"]), (r["illness"], r["drug"])) for r in csv.DictReader(file)]


@pytest.mark.parametrize("algorithm", ["mondrian", "flash"])
@pytest.mark.parametrize("name", GOALS)
def test_written_release_keeps_it(name: str, algorithm: str, tmp_path: Path):
    data = patients(3)
    tk.run_job(job(GOALS[name], algorithm), data, tmp_path / "out", seed=1)
    rows = written(tmp_path / "out")
    assert len(rows) == data.height
    assert len({quasi for quasi, _ in rows}) > 1
    assert kept(name, rows)


@pytest.mark.parametrize("name", GOALS)
def test_believing_every_plan_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(Goal, "satisfied", lambda self, stats: np.ones(stats.n_groups, np.bool_))
    with pytest.raises(VerificationError):
        tk.run_job(job(GOALS[name], "mondrian"), patients(3), tmp_path / "out", seed=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", GOALS)
def test_a_lying_criterion_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(type(GOALS[name]), "holds", lambda self, stats: np.ones(stats.n_groups, np.bool_))
    tk.run_job(job(GOALS[name], "mondrian"), patients(3), tmp_path / "out", seed=1)
    assert not kept(name, written(tmp_path / "out"))


def test_l_diversity_does_not_see_it():
    """Everybody with AZT in the group has HIV: two illnesses each, and still no doubt."""
    rows: list[Row] = [(("a",), ("HIV", "aspirin")), (("a",), ("leg", "flu"))] * 2
    table = pl.DataFrame([(*q, *s) for q, s in rows], schema=["q", "illness", "drug"], orient="row")
    assert tk.verify(table, [tk.LDiversity("illness", 2)], ["q"], ["illness", "drug"]).ok
    asked = FFAnonymity(("illness", "drug"), ("HIV",), 0.5)
    found = tk.verify(table, [asked], ["q"], ["illness", "drug"])
    assert found.verdicts[0].reached == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FFAnonymity((), ("HIV",), 0.5), "empty"),
        (lambda: FFAnonymity(("illness",), (), 0.5), "empty"),
        (lambda: FFAnonymity(tuple(f"c{i}" for i in range(11)), ("HIV",), 0.5), "at most 10"),
        (lambda: QuasiSensitive(("drug",), (), 2), "empty"),
        (lambda: QuasiSensitive(("drug",), ("AZT means HIV",), 2), "cannot be read"),
        (lambda: QuasiSensitive(("drug",), (" -> HIV",), 2), "cannot be read"),
        (lambda: QuasiSensitive(("drug",), ("AZT -> ",), 2), "cannot be read"),
    ],
)
def test_what_says_nothing_is_refused(make, words: str):
    with pytest.raises(JobError, match=rf"E110 .*{words}"):
        make()


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ({"beside": (), "reveals": ("AZT -> HIV",)}, "beside: [NAME]"),
        ({"beside": ("drug",), "reveals": ()}, "reveals: [insulin -> diabetes]"),
    ],
)
def test_what_is_missing_is_what_the_fix_gives(given: dict[str, tuple[str, ...]], fix: str):
    """Columns stand beside; rules reveal."""
    with pytest.raises(JobError) as error:
        QuasiSensitive(**given, l=2)
    assert error.value.hint == fix


@pytest.mark.parametrize(
    "criterion", [FFAnonymity(("illness",), ("hiv",), 0.5), QuasiSensitive(("drug",), ("AZT + azt -> HIV",), 2)]
)
def test_a_misspelt_value_is_refused(criterion: Criterion):
    with pytest.raises(JobError, match=r"E110 .*is no value of"):
        job(criterion, "mondrian").anonymize(patients(1))

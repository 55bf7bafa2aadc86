"""Samples of a population: estimated k-map, sampling weights, households and strata, on what is written."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from fractions import Fraction
from math import comb, exp, factorial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms import Algorithm
from tarnkappe.criteria.base import Criterion
from tarnkappe.criteria.estimated_k_map import EstimatedKMap
from tarnkappe.criteria.individual_risk import IndividualRisk
from tarnkappe.criteria.weighted_k_map import WeightedKMap
from tarnkappe.errors import DataError, InfeasibleError, JobError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.job.files import job_from_text
from tarnkappe.job.places import OutputSettings
from tarnkappe.risks.weighted import individual_risks
from tarnkappe.schema import Column

# --- estimated k-map --------------------------------------------------------------------------------------------------


def tail(f: int, k: int, share: Fraction, estimator: str) -> float:
    """The chance that f or more are drawn of k - 1 people, by the definition."""
    if estimator == "negative-binomial":
        ways = (comb(k - 1, x) * share**x * (1 - share) ** (k - 1 - x) for x in range(f, k))
        return float(sum(ways, Fraction(0)))
    mean = float((k - 1) * share)
    below = sum(exp(-mean) * mean**x / factorial(x) for x in range(f))
    return (1 - below) / (1 - exp(-mean) if estimator == "truncated-poisson" and mean else 1)


@pytest.mark.parametrize("estimator", ["negative-binomial", "poisson", "truncated-poisson"])
@pytest.mark.parametrize("error", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("share", ["0.001", "0.05", "0.1", "0.5", "0.9"])
def test_least_records_by_the_definition(estimator: str, error: float, share: str):
    for k in (1, 2, 3, 5, 20, 60):
        least = EstimatedKMap(k, float(share), estimator, error).least
        fitting = [f for f in range(1, k) if tail(f, k, Fraction(share), estimator) <= error]
        assert least == min([*fitting, k])


def test_negative_binomial_is_the_belief_about_the_population():
    """f records of a sample: the population count is negative binomial, and reaches k with probability 1 - error."""
    k, share, f = 12, Fraction(1, 4), 6
    below = sum(comb(h - 1, f - 1) * share**f * (1 - share) ** (h - f) for h in range(f, k))
    assert float(below) == pytest.approx(tail(f, k, share, "negative-binomial"))


def test_groups_of_a_sample_come_from_enough_people():
    """Samples are drawn of a population: of the groups that are accepted, hardly any has fewer than k people."""
    rng = np.random.default_rng(3)
    asked = EstimatedKMap(6, 0.3)
    population = np.full(200_000, 5)  # every cell has one person too few
    accepted = rng.binomial(population, 0.3) >= asked.least
    assert 0 < accepted.mean() <= 0.05
    assert asked.decided_by_size


def test_the_whole_population_is_k_anonymity():
    assert EstimatedKMap(7, 1.0).least == 7
    assert EstimatedKMap(1, 0.5).least == 1


# --- weights ----------------------------------------------------------------------------------------------------------


def survey(n: int = 400, seed: int = 0) -> pl.DataFrame:
    """Households of one to four people who live together, of two regions, with weights of one decimal place."""
    rng = np.random.default_rng(seed)
    household = np.sort(rng.integers(0, n // 2, n))
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "region": np.where(household % 3 == 0, "north", "south"),
            "household": household,
            "weight": np.round(1 + 30 * rng.random(n), 1),
            "illness": rng.choice(["flu", "gout", "none"], n),
            "row": np.arange(n),
        }
    )


def job(*criteria: Criterion, algorithm: Algorithm | str = "mondrian", engine: str = "memory", **roles: str) -> tk.Job:
    given = {"household": "drop", "weight": "drop", "region": "drop", **roles}
    numbers = algorithm == "mondrian"
    return tk.Job(
        quasi={"age": tk.numeric() if numbers else tk.intervals(10, 30), "sex": tk.suppress()},
        sensitive=["illness"],
        keep=["row"],
        because={"row": "made up for a test"},
        columns=[Column(name, role) for name, role in given.items()],
        criteria=criteria,
        max_suppressed=0.1,
        algorithm=algorithm,
        engine=engine,
        output=OutputSettings(format="csv"),
    )


def groups_of(folder: Path, *by: str) -> dict[tuple[str, ...], list[int]]:
    """The rows of the input that stand in each written group."""
    groups = defaultdict(list)
    with (folder / "public/release.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            groups[tuple(row[name] for name in by)].append(int(row["row"]))
    return groups


@pytest.mark.parametrize("engine", ["memory", "streaming"])
@pytest.mark.parametrize("algorithm", ["mondrian", "flash", "datafly"])
def test_weights_of_every_written_group(algorithm: str, engine: str, tmp_path: Path):
    data = survey()
    asked = job(tk.KAnonymity(2), WeightedKMap("weight", 150), algorithm=algorithm, engine=engine, weight="weight")
    release = tk.run_job(asked, data, tmp_path / "out", seed=1)
    groups = groups_of(tmp_path / "out", "age", "sex")
    sums = [sum(Fraction(str(data["weight"][i])) for i in rows) for rows in groups.values()]
    assert min(sums) >= 150
    assert len(groups) > 2
    assert release.verdicts[1].reached == pytest.approx(float(min(sums)))
    assert "weight" not in pl.read_csv(tmp_path / "out/public/release.csv").columns


def test_individual_risk_of_every_written_group(tmp_path: Path):
    data = survey()
    release = tk.run_job(job(IndividualRisk("weight", 0.02), weight="weight"), data, tmp_path / "out", seed=1)
    groups = groups_of(tmp_path / "out", "age", "sex")
    sizes = np.array([len(rows) for rows in groups.values()])
    people = np.array([data["weight"].gather(rows).sum() for rows in groups.values()])
    risks = individual_risks(sizes, people)
    assert risks.max() <= 0.02
    assert release.verdicts[0].reached == pytest.approx(risks.max())
    assert len(groups) > 3


def test_risk_of_one_record_that_stands_for_ten():
    table = pl.DataFrame({"q": ["a", "b"], "w": [10.0, 1.0]})
    asked, columns = IndividualRisk("w", 0.3), [Column("w", "weight")]
    found = tk.verify(table, [asked], ["q"], columns)
    assert found.verdicts[0].reached == 1.0
    assert tk.verify(table[:1], [asked], ["q"], columns).verdicts[0].reached == pytest.approx(0.2558, abs=1e-4)


@pytest.mark.parametrize("bad", [0.5, None, -3.0])
@pytest.mark.parametrize("criterion", [WeightedKMap("weight", 20), IndividualRisk("weight", 0.2)])
def test_weights_that_are_none(criterion: Criterion, bad: float | None, tmp_path: Path):
    data = survey(50)
    data[7, "weight"] = bad
    with pytest.raises(DataError, match="E436") as refused:
        tk.run_job(job(criterion, weight="weight"), data, tmp_path / "out")
    assert refused.value.exit_code == 3
    assert not (tmp_path / "out").exists()


def test_weights_that_are_not_declared(tmp_path: Path):
    with pytest.raises(JobError, match=r"E111 .*not declared to hold numbers") as refused:
        job(WeightedKMap("weight", 20)).anonymize(survey(50).with_columns(pl.col("weight").cast(pl.String)))
    assert "role: weight" in str(refused.value.hint)


@pytest.mark.parametrize("criterion", [WeightedKMap("weight", 400), IndividualRisk("weight", 0.01)])
def test_believing_every_plan_is_noticed(criterion: Criterion, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(Goal, "satisfied", lambda self, stats: np.ones(stats.n_groups, np.bool_))
    with pytest.raises(VerificationError):
        tk.run_job(job(criterion, weight="weight"), survey(), tmp_path / "out", seed=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "criterion", [WeightedKMap("weight", 400), IndividualRisk("weight", 0.01), EstimatedKMap(40, 0.2)], ids=str
)
def test_a_lying_criterion_is_found_out(criterion: Criterion, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """It deceives plan and verdict alike; counting by hand it does not."""

    def broken(folder: Path) -> bool:
        data = survey()
        tk.run_job(job(criterion, weight="weight"), data, folder, seed=1)
        groups = groups_of(folder, "age", "sex").values()
        sizes = np.array([len(rows) for rows in groups])
        people = np.array([data["weight"].gather(rows).sum() for rows in groups])
        if isinstance(criterion, EstimatedKMap):
            return min(tail(int(f), 40, Fraction(1, 5), "negative-binomial") for f in [sizes.min()]) > 0.05
        return (
            people.min() < 400 if isinstance(criterion, WeightedKMap) else individual_risks(sizes, people).max() > 0.01
        )

    assert not broken(tmp_path / "honest")
    for name, lie in {"holds": lambda self, stats: np.ones(stats.n_groups, np.bool_), "min_size": 1}.items():
        monkeypatch.setattr(type(criterion), name, lie)
    monkeypatch.setattr(type(criterion), "decided_by_size", False)
    assert broken(tmp_path / "lying")


# --- households -------------------------------------------------------------------------------------------------------


def test_households_are_counted_and_not_published(tmp_path: Path):
    """A group of k records could be one family; k households it is not."""
    data = survey()
    asked = job(tk.KAnonymity(3), tk.XYAnonymity("household", 5), household="household")
    release = tk.run_job(asked, data, tmp_path / "out", seed=1)
    groups = groups_of(tmp_path / "out", "age", "sex")
    homes = [len({data["household"][i] for i in rows}) for rows in groups.values()]
    assert min(homes) >= 5
    assert release.verdicts[1].reached == min(homes)
    assert "household" not in pl.read_csv(tmp_path / "out/public/release.csv").columns
    witness = pl.read_parquet(tmp_path / "out/do-not-share/witness.parquet")
    kept = Counter(witness["household"].to_list())
    assert sorted(kept.values()) == sorted(Counter(data["household"]).values()), "the same households"
    order = [row for rows in groups_of(tmp_path / "out", "row").values() for row in rows]
    pairs = set(zip(witness["household"], (data["household"][i] for i in order), strict=True))
    assert len(pairs) == len(kept)
    assert any(number != household for number, household in pairs), "under other numbers"


def test_households_that_nobody_counts_are_refused():
    with pytest.raises(JobError, match=r"E111 .*household") as refused:
        job(tk.KAnonymity(3), household="household").anonymize(survey())
    assert refused.value.hint


# --- strata -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["mondrian", "flash", "datafly", "hilb", "k-member"])
def test_no_group_mixes_strata(algorithm: str, tmp_path: Path):
    data = survey(200)
    tk.run_job(job(tk.KAnonymity(4), algorithm=algorithm, region="stratum"), data, tmp_path / "out", seed=1)
    written = pl.read_csv(tmp_path / "out/public/release.csv")
    assert set(written["region"]) == {"north", "south"}
    for (_, _, region), rows in groups_of(tmp_path / "out", "age", "sex", "region").items():
        assert {data["region"][i] for i in rows} == {region}
        assert len(rows) >= 4


def test_a_stratum_that_is_too_small_is_left_out_or_stops_the_job():
    data = survey(200).with_columns(region=pl.when(pl.col("row") < 3).then(pl.lit("isle")).otherwise("region"))
    release = job(tk.KAnonymity(4), region="stratum").anonymize(data, seed=1)
    assert release.n_suppressed == 3
    assert "isle" not in set(release.table["region"])
    strict = job(tk.KAnonymity(4), region="stratum")
    with pytest.raises(InfeasibleError):
        tk.Job(
            columns=strict.columns, criteria=[tk.KAnonymity(4)], algorithm="mondrian", because={"row": "made up for it"}
        ).anonymize(data)


def test_in_job_files(tmp_path: Path):
    text = """
columns:
  age: {role: quasi, type: numeric}
  region: stratum
  household: household
  weight: {role: weight}
  row: drop
  sex: drop
  illness: drop
criteria:
  - k-anonymity: {k: 3}
  - xy-anonymity: {y: household, k: 3}
  - weighted-k-map: {weight: weight, k: 40}
algorithm: mondrian
limits: {suppressed_rows: 5%}
"""
    asked = job_from_text(text)
    assert {c.name: (c.role, c.max_level, c.kind) for c in asked.columns if c.name in ("region", "weight")} == {
        "region": ("quasi", 0, "categorical"),
        "weight": ("weight", None, "numeric"),
    }
    again = job_from_text(asked.to_yaml())
    one, other = (j.anonymize(survey(), seed=4) for j in (asked, again))
    assert one.table.equals(other.table)
    assert one.table.columns == ["age", "region"]
    assert {c.role for c in one.columns} >= {"household", "weight"}

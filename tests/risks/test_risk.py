"""The risk of whole tables: grids, models, releases, refusals, and the command."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.cli.app import app
from tarnkappe.errors import DataError, JobError, RefusedError
from tarnkappe.io import open_source
from tarnkappe.risks.intervals import interval_disclosure
from tarnkappe.risks.loglinear import _fitted, log_linear
from tarnkappe.risks.reading import combinations_of

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(7)
    n = 600
    days = rng.integers(0, 4 * 365, n)
    return pl.DataFrame(
        {
            "zip": [f"{z:05d}" for z in rng.integers(10_000, 10_060, n)],
            "birth": [f"{1980 + d // 365}-{d % 365 // 31 + 1:02d}-{d % 28 + 1:02d}" for d in days.tolist()],
            "sex": rng.choice(["f", "m"], n),
            "weight": rng.uniform(1, 40, n),
            "home": rng.integers(0, 250, n),
            "illness": rng.choice(["flu", "angina"], n),
        }
    )


def alone(rows) -> float:
    sizes = Counter(rows)
    return sum(n == 1 for n in sizes.values()) / len(rows)


def test_the_grid_of_unique_shares(people: pl.DataFrame):
    """The lecture's table: digits of the postcode down, day, month and year of birth across, sex known."""
    quasi = {"zip": tk.prefix(3, 2), "birth": tk.dates("month", "year"), "sex": tk.suppress()}
    found = tk.risk(people, quasi, grid=("zip", "birth")).grid
    assert found is not None
    rows = people.select("zip", "birth", "sex").rows()
    down = [lambda z: z, lambda z: z[:3], lambda z: z[:2], lambda z: "*"]
    across = [lambda b: b, lambda b: b[:7], lambda b: b[:4], lambda b: "*"]
    assert len(found.shares) == 4
    for i, coarser in enumerate(down):
        for j, vaguer in enumerate(across):
            assert found.shares[i][j] == alone([(coarser(z), vaguer(b), s) for z, b, s in rows])
    assert found.beside == ("sex",)
    assert found.table.height == 4


def test_a_grid_needs_taxonomies(people: pl.DataFrame):
    with pytest.raises(JobError, match="taxonomies"):
        tk.risk(people, ["zip", "birth"], grid=("zip", "birth"))
    with pytest.raises(JobError, match="no quasi-identifier"):
        tk.risk(people, {"zip": tk.prefix(3)}, grid=("zip", "birht"))


def test_the_governor(people: pl.DataFrame):
    """Weld's case on generated voters: six share his birthday, three of them are men, one lives where he does."""
    rng = np.random.default_rng(3)
    n = 5_000
    voters = pl.DataFrame(
        {
            "birth": [
                f"19{y:02d}-{m:02d}-{d:02d}" for y, m, d in rng.integers([20, 1, 1], [46, 12, 28], (n, 3)).tolist()
            ],
            "sex": rng.choice(["f", "m"], n),
            "zip": [f"0213{z}" for z in rng.integers(0, 10, n)],
        }
    ).filter(pl.col("birth") != "1945-07-31")
    his = [("m", "02138"), ("m", "02139"), ("m", "02140"), ("f", "02138"), ("f", "02138"), ("f", "02141")]
    same = pl.DataFrame({"birth": ["1945-07-31"] * 6, "sex": [s for s, _ in his], "zip": [z for _, z in his]})
    voters = pl.concat([voters, same])
    patients = pl.concat([same.head(1), voters.head(800)]).unique()
    found = tk.risk(patients, ["birth", "sex", "zip"], population=voters)
    assert found.attacker("journalist").highest == 1.0
    men = voters.filter(pl.col("birth") == "1945-07-31", pl.col("sex") == "m")
    assert (men.height, men.filter(pl.col("zip") == "02138").height) == (3, 1)
    by_day = tk.risk(patients, ["birth"], population=voters).attacker("journalist")
    assert by_day.average < found.attacker("journalist").average


def test_population_table_and_number(people: pl.DataFrame):
    some = people.head(100)
    by_table = tk.risk(some, ["zip", "sex"], population=people)
    sizes, every = Counter(some.select("zip", "sex").rows()), Counter(people.select("zip", "sex").rows())
    right = sum(f / every[key] for key, f in sizes.items()) / 100
    assert by_table.attacker("marketer").average == pytest.approx(right)
    assert by_table.attacker("journalist").highest == 1 / min(every[key] for key in sizes)
    assert by_table.population is not None
    assert by_table.population.chosen.uniques == sum(n == 1 for n in every.values())
    by_number = tk.risk(some, ["zip", "sex"], population=600)
    assert [m.attacker for m in by_number.matching] == ["prosecutor", "marketer"]
    assert by_number.population is not None


def test_a_population_that_lacks_people_is_said(people: pl.DataFrame):
    found = tk.risk(people, ["zip", "sex"], population=pl.concat([people.head(300)] * 3))
    assert any("lacks people" in note for note in found.notes)


def test_weights_and_households(people: pl.DataFrame):
    found = tk.risk(people, ["zip", "sex"], weight="weight", household="home").weighted
    assert found is not None
    rows = people.select("zip", "sex").rows()
    sizes, stands_for = Counter(rows), Counter()
    for row, weight in zip(rows, people["weight"], strict=True):
        stands_for[row] += weight
    risks = []
    for row in rows:
        f, p = sizes[row], sizes[row] / stands_for[row]
        c = p / (1 - p)
        value = c * math.log(1 / p)
        for j in range(1, f):
            value = c / j - c * value
        risks.append(value)
    assert found.expected == pytest.approx(sum(risks), rel=1e-6)
    homes: dict[int, float] = {}
    for home, r in zip(people["home"], risks, strict=True):
        homes[home] = homes.get(home, 1.0) * (1 - r)
    assert found.of_households == pytest.approx(sum(1 - x for x in homes.values()) / len(homes), rel=1e-6)


def test_weights_below_one_are_refused(people: pl.DataFrame):
    with pytest.raises(DataError, match="weights below 1"):
        tk.risk(people.with_columns(weight=pl.lit(0.5)), ["zip"], weight="weight")


def test_log_linear_with_independent_columns():
    table = pl.DataFrame({"a": ["x"] * 6 + ["y"] * 4, "b": ["u", "u", "u", "u", "u", "v", "u", "w", "w", "w"]})
    given = combinations_of(open_source(table), ["a", "b"])
    found = log_linear(given.codes, given.records, given.sizes, 100)
    rows = table.rows()
    of_a, of_b, both = Counter(a for a, _ in rows), Counter(b for _, b in rows), Counter(rows)
    rest = [of_a[a] * of_b[b] / 10 / 10 * 90 for (a, b), f in both.items() if f == 1]
    assert found.uniques == pytest.approx(sum(math.exp(-x) for x in rest))
    assert found.expected == pytest.approx(sum((1 - math.exp(-x)) / x for x in rest))


def test_log_linear_with_pairs_keeps_all_pairs():
    rng = np.random.default_rng(2)
    table = pl.DataFrame({name: rng.integers(0, 3, 300) * rng.integers(0, 2, 300) for name in "abc"})
    given = combinations_of(open_source(table), list("abc"))
    fitted, is_fitted = _fitted(given.codes, given.records, given.sizes)
    assert is_fitted
    full = np.zeros(given.sizes)
    full[tuple(given.codes.T)] = given.records
    for pair in combinations(range(3), 2):
        axis = tuple({0, 1, 2} - set(pair))
        assert np.abs(fitted.sum(axis) - full.sum(axis)).max() < 0.01
    assert log_linear(given.codes, given.records, given.sizes, 3000).interactions == "pairs"


def test_interval_disclosure_by_hand():
    original = open_source(pl.DataFrame({"id": [1, 2, 3, 4], "x": [0.0, 10.0, 100.0, 110.0]}))
    centres = open_source(pl.DataFrame({"id": [3, 4, 1, 2], "x": [105.0, 105.0, 5.0, 5.0]}))
    sigma = float(np.std([0.0, 10.0, 100.0, 110.0]))
    width = 5.0 / sigma
    for settings in ({"key": "id"}, {}):
        found = interval_disclosure(original, centres, ["x"], widths=(0.99 * width, 1.01 * width), **settings)[0]
        assert found.by_deviation == (0.0, 1.0)
        assert found.exact == 0.0
        assert found.security == 1.0
    in_order = interval_disclosure(original, centres, ["x"], in_order=True, tolerance=0.2)[0]
    assert in_order.by_deviation == (0.0,) * 4
    tight = interval_disclosure(original, centres, ["x"], tolerance=1.01 * width)[0]
    assert tight.security == 0.0


@pytest.fixture(scope="module")
def centres(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("centres")
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"income": rng.normal(3000, 500, 200).round(0), "age": rng.integers(18, 90, 200)})
    table.write_csv(folder / "raw.csv")
    job = tk.Job(
        quasi={"income": tk.numeric(), "age": tk.numeric()}, criteria=[tk.KAnonymity(5)], algorithm="mdav", seed=1
    )
    job.anonymize(table, seed=1).save(folder / "release")
    return folder


def test_frequencies_of_centres_are_refused(centres):
    with pytest.raises(RefusedError, match="E609") as caught:
        tk.risk(centres / "release")
    assert "--original" in str(caught.value)
    found = tk.risk(centres / "release", original=centres / "raw.csv")
    assert found.refused is not None
    assert not found.matching
    assert [i.column for i in found.intervals] == ["income", "age"]
    told = found.as_dict()["intervals"][0]
    assert 0 <= told["by_deviation"][0] <= told["by_deviation"][-1] <= 1


def test_of_a_release_the_worst_chance_is_one_in_k(people: pl.DataFrame, tmp_path):
    job = tk.Job(
        quasi={"zip": tk.prefix(4, 3), "sex": tk.suppress()},
        sensitive=["illness"],
        drop=["birth", "weight", "home"],
        criteria=[tk.KAnonymity(5)],
        seed=1,
    )
    job.anonymize(people, seed=1).save(tmp_path / "release")
    found = tk.risk(tmp_path / "release")
    assert found.origin == "the manifest"
    assert found.attacker("prosecutor").highest <= 1 / 5
    assert found.attacker("prosecutor").at_risk == 0
    assert tk.risk(people, ["zip", "sex"]).attacker("prosecutor").average > found.attacker("prosecutor").average


def test_the_command(people: pl.DataFrame, tmp_path):
    file = tmp_path / "people.csv"
    people.with_columns(pl.lit("canary-zip").alias("zip")).vstack(people).write_csv(file)
    shown = RUNNER.invoke(
        app, ["risk", str(file), "--quasi", "zip,sex", "--population", "50000", "--special", "--subsets"]
    )
    assert shown.exit_code == 0, shown.output
    for word in ("Prosecutor", "Marketer", "Population", "Special", "Keys"):
        assert word in shown.output
    assert "canary" not in shown.output
    told = RUNNER.invoke(app, ["risk", str(file), "--quasi", "zip,sex", "--json"])
    data = json.loads(told.stdout)
    assert data["attackers"]["prosecutor"]["highest"] == 1.0
    assert "canary" not in told.stdout
    assert "worst" not in data
    asked = RUNNER.invoke(app, ["risk", str(file), "--quasi", "zip,birth", "--special", "--show", "2"])
    assert "Exposed" in asked.output
    assert asked.output.count("birth: ") == 2


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--quasi", "nothing"], "E105"),
        (["--quasi", "zip", "--population", "3"], "E110"),
        (["--quasi", "zip", "--threshold", "7"], "E110"),
        (["--quasi", "zip", "--grid", "zip"], "E108"),
        (["--quasi", "zip", "--grid", "zip,sex"], "E108"),
        (["--quasi", "zip", "--weight", "nothing"], "E105"),
        (["--quasi", "zip", "--perturbed"], "E609"),
    ],
)
def test_what_cannot_be_answered(people: pl.DataFrame, tmp_path, options: list[str], code: str):
    file = tmp_path / "people.csv"
    people.write_csv(file)
    shown = RUNNER.invoke(app, ["risk", str(file), *options])
    assert shown.exit_code in (2, 3, 6)
    assert code in shown.output


def test_a_column_in_other_capitals_is_the_one_that_is_meant():
    table = pl.DataFrame({"nr": range(20), "PLZ": ["22765"] * 20})
    with pytest.raises(JobError, match=r"did you mean 'PLZ'") as caught:
        tk.risk(table, ["plz"])
    assert caught.value.hint == caught.value.python_hint == "Write  PLZ  in place of  plz"

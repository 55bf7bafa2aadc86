"""The synthetic census: reproducible, independent of batches, realistic, dependent, covered by its taxonomies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tarnkappe.datasets import CENSUS_COLUMNS, census, census_batches, write_census
from tarnkappe.datasets.blocks import BLOCK_ROWS
from tarnkappe.datasets.census_values import ROOTS, rows_of, values_of
from tarnkappe.errors import DataError, JobError, LimitError, RefusedError

TEXT = tuple(ROOTS)


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return census(300_000, seed=3)


def share(people: pl.DataFrame, condition: pl.Expr) -> float:
    return people.select(condition.mean()).item()


class TestReproducible:
    def test_same_seed_same_people(self):
        assert_frame_equal(census(5_000, seed=7), census(5_000, seed=7))

    def test_other_seed_other_people(self):
        assert not census(5_000, seed=7).equals(census(5_000, seed=8))

    def test_blocks_differ_from_each_other(self):
        two = census(2 * BLOCK_ROWS)
        assert not two.head(BLOCK_ROWS).equals(two.tail(BLOCK_ROWS))

    @settings(max_examples=10, deadline=None)
    @given(st.integers(0, BLOCK_ROWS + 2_000), st.integers(0, 2_000))
    def test_a_shorter_census_is_the_beginning_of_a_longer_one(self, n, more):
        assert_frame_equal(census(n, seed=1), census(n + more, seed=1).head(n))

    @pytest.mark.parametrize("batch_rows", [30_000, BLOCK_ROWS, 100_001, 1_000_000])
    def test_batches_add_up_to_the_census(self, batch_rows):
        n = 2 * BLOCK_ROWS + 17
        batches = list(census_batches(n, seed=5, batch_rows=batch_rows))
        assert all(batch.height == batch_rows for batch in batches[:-1])
        assert_frame_equal(pl.concat(batches), census(n, seed=5))

    def test_batches_are_made_only_when_asked_for(self):
        first = next(census_batches(10**15, batch_rows=10))
        assert_frame_equal(first, census(10))

    def test_a_seed_means_the_same_people_for_ever(self):
        """Pinned: a change here changes every published benchmark."""
        first, second = census(2, seed=0).rows()
        assert first == (
            *(52, "Private-nonprofit", "Bachelors", "Married-civ-spouse", "Advertising-manager", "Husband"),
            *("White", "Male", 30_000, 84, "Illinois"),
        )
        assert second == (
            *(58, "Local-gov", "Assoc-voc", "Divorced", "Sailor", "Householder"),
            *("White", "Male", 0, 35, "Massachusetts"),
        )
        assert census(BLOCK_ROWS + 1, seed=123).row(BLOCK_ROWS) == (
            *(42, "Private-profit", "HS-grad", "Widowed", "Insurance-claims-clerk", "Other-relative"),
            *("White", "Female", 0, 52, "Mexico"),
        )

    @pytest.mark.parametrize(("n", "seed"), [(-1, 0), (10, -1), (1.5, 0)])
    def test_senseless_numbers_are_refused(self, n, seed):
        with pytest.raises(JobError):
            census(n, seed)
        with pytest.raises(JobError):
            census_batches(n, seed)


class TestRealistic:
    def test_columns_types_and_no_missing_value(self, people):
        assert tuple(people.columns) == CENSUS_COLUMNS
        assert all(people.schema[c] == (pl.String if c in TEXT else pl.Int64) for c in CENSUS_COLUMNS)
        assert people.null_count().sum_horizontal().item() == 0
        assert census(0).schema == people.schema

    def test_age_is_a_pyramid_of_adults(self, people):
        ages = people["age"]
        assert ages.min() == 16
        assert 90 <= ages.max() <= 95
        assert 38 <= ages.median() <= 42
        counts = np.histogram(ages, bins=[40, 50, 60, 70, 80, 96])[0]
        assert all(older < younger for younger, older in pairwise(counts))

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (pl.col("sex") == "Male", 0.533),
            (pl.col("education") == "HS-grad", 0.29),
            (pl.col("marital-status") == "Married-civ-spouse", 0.56),
            (pl.col("marital-status") == "Never-married", 0.264),
            (pl.col("workclass") == "Private-profit", 0.67),
            (pl.col("race") == "White", 0.73),
            (pl.col("hours-per-week") == 40, 0.48),
            (pl.col("capital-gain") == 0, 0.93),
            (pl.col("native-country").is_in([r["value"] for r in rows_of("native-country.csv")[:51]]), 0.90),
            (pl.col("native-country") == "California", 0.108),
            (pl.col("native-country") == "Mexico", 0.028),
        ],
    )
    def test_shares(self, people, condition, expected):
        assert share(people, condition) == pytest.approx(expected, abs=0.01)

    def test_places_have_the_shares_of_their_file(self, people):
        seen = people["native-country"].value_counts().rows()
        given_ = {row["value"]: float(row["per_million"]) / 1e6 for row in rows_of("native-country.csv")}
        assert all(abs(count / people.height - given_[place]) < 0.003 for place, count in seen)

    def test_occupations_are_many_and_none_dominates(self, people):
        shares = people["occupation"].value_counts(sort=True, normalize=True)["proportion"].to_numpy()
        assert len(shares) == len(values_of("occupation")) == 500
        assert 0.01 < shares[0] < 0.025
        assert shares[0] > 20 * np.median(shares[-50:])

    def test_places_are_many(self):
        assert len(values_of("native-country")) == 301

    def test_hours_are_hours_of_a_week(self, people):
        assert people["hours-per-week"].is_between(1, 99).all()

    def test_gains_are_not_negative(self, people):
        assert people["capital-gain"].is_between(0, 99_000).all()


class TestDependent:
    def test_occupation_is_far_from_its_marginal_given_the_person(self, people):
        """Weighted mean over (education, sex, age band) of the total variation distance to the marginal.

        The same measure on shuffled occupations shows what the sample size alone would give.
        """
        shuffled = people.with_columns(pl.col("occupation").shuffle(seed=1))
        assert mean_variation_distance(people) > 0.4
        assert mean_variation_distance(shuffled) < 0.15

    def test_nurses_and_carpenters(self, people):
        nurses = people.filter(pl.col("occupation") == "Registered-nurse")
        carpenters = people.filter(pl.col("occupation") == "Carpenter")
        assert share(nurses, pl.col("sex") == "Female") > 0.75
        assert share(carpenters, pl.col("sex") == "Male") > 0.9
        assert share(people.filter(pl.col("occupation") == "Lawyer"), pl.col("education") == "HS-grad") < 0.05

    def test_marital_status_follows_age(self, people):
        single = pl.col("marital-status") == "Never-married"
        assert share(people.filter(pl.col("age") < 20), single) > 0.9
        assert share(people.filter(pl.col("age") > 50), single) < 0.1

    def test_relationship_follows_marital_status_and_sex(self, people):
        husbands = people.filter(pl.col("relationship") == "Husband")
        wives = people.filter(pl.col("relationship") == "Wife")
        married = ["Married-civ-spouse", "Married-AF-spouse"]
        assert husbands["sex"].unique().to_list() == ["Male"]
        assert wives["sex"].unique().to_list() == ["Female"]
        assert husbands["marital-status"].is_in(married).all()
        assert wives["marital-status"].is_in(married).all()

    def test_education_follows_age(self, people):
        degree = pl.col("education").is_in(["Bachelors", "Masters", "Prof-school", "Doctorate"])
        assert share(people.filter(pl.col("age") < 20), degree) < 0.01
        assert share(people.filter(pl.col("age").is_between(30, 60)), degree) > 0.25

    def test_workclass_follows_education_and_age(self, people):
        local = pl.col("workclass") == "Local-gov"
        own = pl.col("workclass").str.starts_with("Self-emp")
        masters, school = pl.col("education") == "Masters", pl.col("education") == "HS-grad"
        assert share(people.filter(masters), local) > 1.8 * share(people.filter(school), local)
        assert share(people.filter(pl.col("age") > 60), own) > 3 * share(people.filter(pl.col("age") < 22), own)

    def test_hours_follow_age_sex_and_workclass(self, people):
        def mean_hours(condition: pl.Expr) -> float:
            return people.filter(condition)["hours-per-week"].mean()

        assert mean_hours(pl.col("age") < 20) < mean_hours(pl.col("age").is_between(30, 50)) - 8
        assert mean_hours(pl.col("sex") == "Female") < mean_hours(pl.col("sex") == "Male") - 3
        assert mean_hours(pl.col("workclass") == "Self-emp-inc") > mean_hours(pl.col("workclass") == "State-gov") + 3

    def test_gains_follow_education_and_age(self, people):
        gain = pl.col("capital-gain") > 0
        graduates = pl.col("education").is_in(["Masters", "Prof-school", "Doctorate"])
        assert share(people.filter(graduates), gain) > 2 * share(people.filter(~graduates), gain)
        assert share(people.filter(pl.col("age") > 50), gain) > 2 * share(people.filter(pl.col("age") < 30), gain)

    def test_race_follows_place_of_birth(self, people):
        chinese = people.filter(pl.col("native-country") == "China")
        assert share(chinese, pl.col("race") == "Asian") > 0.9
        assert share(people.filter(pl.col("native-country") == "Iowa"), pl.col("race") == "White") > 0.7


class TestWriting:
    N = 4 * BLOCK_ROWS + 321  # more than one written batch

    @pytest.mark.parametrize(("name", "read"), [("c.csv", pl.read_csv), ("c.parquet", pl.read_parquet)])
    def test_file_holds_the_census_and_nothing_else_remains(self, tmp_path, name, read):
        heard = []
        write_census(tmp_path / name, self.N, seed=2, progress=lambda done, total: heard.append((done, total)))
        assert_frame_equal(read(tmp_path / name), census(self.N, seed=2))
        assert [p.name for p in tmp_path.iterdir()] == [name]
        assert heard == [(4 * BLOCK_ROWS, self.N), (self.N, self.N)]

    @pytest.mark.parametrize("name", ["empty.csv", "empty.PARQUET"])
    def test_a_census_of_nobody_has_a_header(self, tmp_path, name):
        write_census(str(tmp_path / name), 0, seed=0)
        read = pl.read_csv if name.endswith("csv") else pl.read_parquet
        assert tuple(read(tmp_path / name).columns) == CENSUS_COLUMNS

    def test_an_older_file_is_replaced(self, tmp_path):
        (tmp_path / "c.csv").write_text("old")
        write_census(tmp_path / "c.csv", 3, seed=0)
        assert_frame_equal(pl.read_csv(tmp_path / "c.csv"), census(3))

    @pytest.mark.parametrize("name", ["c.csv", "c.parquet"])
    def test_failure_leaves_nothing_behind_and_the_older_file_alone(self, tmp_path, name):
        (tmp_path / name).write_text("old")

        def stop(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write_census(tmp_path / name, 10, seed=0, progress=stop)
        assert [p.name for p in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_text() == "old"

    def test_unknown_format_is_refused(self, tmp_path):
        with pytest.raises(DataError, match=r"'\.xlsx'") as caught:
            write_census(tmp_path / "c.xlsx", 1, seed=0)
        assert caught.value.code == "E408"

    def test_missing_folder_is_refused_with_the_command_that_makes_it(self, tmp_path):
        with pytest.raises(RefusedError) as caught:
            write_census(tmp_path / "no" / "c.csv", 1, seed=0)
        assert caught.value.code == "E603"
        assert caught.value.hint == f"mkdir -p {tmp_path / 'no'}"

    def test_full_disk_is_named(self, tmp_path, monkeypatch):
        def full(*_: object, **__: object) -> None:
            raise OSError("No space left on device (os error 28)")

        monkeypatch.setattr(pl.DataFrame, "write_csv", full)
        with pytest.raises(LimitError) as caught:
            write_census(tmp_path / "c.csv", 1, seed=0)
        assert caught.value.code == "E701"
        assert not list(tmp_path.iterdir())

    def test_no_value_needs_quotes(self):
        """The CSV writer does not quote, which is right only as long as this holds."""
        labels = [value for column in TEXT for value in values_of(column)]
        assert all(label and label == label.strip() and not set(label) & set(',"\r\n') for label in labels)


def mean_variation_distance(people: pl.DataFrame) -> float:
    person = ["education", "sex", "band"]
    starts = np.array([20, 25, 35, 45, 55, 65])
    banded = people.with_columns(band=pl.Series(np.searchsorted(starts, people["age"].to_numpy(), side="right")))
    marginal = people["occupation"].value_counts(normalize=True).rename({"proportion": "everybody"})
    cells = banded.group_by(*person, "occupation").len()
    groups = cells.group_by(person).agg(pl.col("len").sum().alias("size")).filter(pl.col("size") > 5_000)
    distance = (
        groups.join(marginal, how="cross")
        .join(cells, on=[*person, "occupation"], how="left")
        .with_columns((pl.col("len").fill_null(0) / pl.col("size") - pl.col("everybody")).abs().alias("gap"))
        .group_by(person)
        .agg(pl.col("gap").sum() / 2, pl.col("size").first())
    )
    return distance.select((pl.col("gap") * pl.col("size")).sum() / pl.col("size").sum()).item()

"""The readers give complete typed tables and say which file is missing."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tarnkappe.datasets import load_adult, load_casc, load_cloud, load_points
from tarnkappe.errors import DataError, JobError


def test_adult_is_complete_and_covered_by_its_taxonomies(shared):
    table, taxonomies = load_adult(shared / "data" / "adult")
    assert table.shape == (30_162, 9)
    assert table.schema["age"] == pl.Int64
    assert all(dtype == pl.String for name, dtype in table.schema.items() if name != "age")
    assert list(taxonomies) == table.columns
    for column, taxonomy in taxonomies.items():
        assert set(table[column].cast(pl.String).unique()) <= set(taxonomy.leaves)
    assert taxonomies["age"].height == 4
    assert taxonomies["sex"].labels == ("*", "Male", "Female")


@pytest.mark.parametrize(("name", "shape"), [("census", (1080, 13)), ("tarragona", (834, 13)), ("eia", (4092, 11))])
def test_casc_tables_are_numeric_and_complete(shared, name, shape):
    table = load_casc(name, shared / "data" / "microaggregation")
    assert table.shape == shape
    assert all(dtype == pl.Int64 for dtype in table.dtypes)
    assert table.null_count().sum_horizontal().item() == 0


def test_eia_has_the_columns_of_the_oracle(shared):
    oracle = json.loads((shared / "oracles" / "microaggregation.json").read_text())
    assert load_casc("eia", shared / "data" / "microaggregation").columns == oracle["eia_columns"]


def test_a_small_adult_folder(tmp_path):
    (tmp_path / "adult.csv").write_text("sex;age\nMale;39\nFemale;50\n")
    (tmp_path / "adult_hierarchy_sex.csv").write_text("Male;*\nFemale;*\n")
    (tmp_path / "adult_hierarchy_age.csv").write_text("39;30-39;*\n50;50-59;*\n")
    table, taxonomies = load_adult(str(tmp_path))
    assert table.to_dict(as_series=False) == {"sex": ["Male", "Female"], "age": [39, 50]}
    assert taxonomies["age"].paths()[1] == ("50", "50-59", "*")


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(DataError, match=r"adult\.csv does not exist") as caught:
        load_adult(tmp_path)
    assert caught.value.code == "E401"
    assert caught.value.where == str(tmp_path / "adult.csv")
    assert "https://" in caught.value.hint


def test_a_missing_hierarchy_is_named(tmp_path):
    (tmp_path / "adult.csv").write_text("sex;age\nMale;39\n")
    with pytest.raises(DataError, match=r"adult_hierarchy_sex\.csv does not exist") as caught:
        load_adult(tmp_path)
    assert caught.value.code == "E401"


@pytest.mark.parametrize(("name", "in_r"), [("census", "CASCrefmicrodata"), ("tarragona", "Tarragona"), ("eia", "EIA")])
def test_a_missing_casc_file_comes_with_the_command_that_makes_it(tmp_path, name, in_r):
    with pytest.raises(DataError) as caught:
        load_casc(name, tmp_path)
    assert caught.value.code == "E401"
    assert f'write.csv({in_r}, "{name}.csv"' in caught.value.hint


def test_an_unknown_casc_table_is_refused(tmp_path):
    with pytest.raises(JobError, match="did you mean 'tarragona'") as caught:
        load_casc("taragona", tmp_path)
    assert caught.value.code == "E105"


def test_an_eia_file_without_its_columns_is_refused(tmp_path):
    (tmp_path / "eia.csv").write_text("UTILITYID,RESSALES\n1,2\n")
    with pytest.raises(DataError, match="lacks 9 of the 11 columns") as caught:
        load_casc("eia", tmp_path)
    assert caught.value.code == "E410"
    assert "TOTSALES" in caught.value.details


@pytest.mark.parametrize(
    ("end", "text"), [(".csv", "a,b\n1,2.5\n-3,4e2\n"), (".txt", "  1   2.5\n-3\t4e2\n\n"), (".data", "1;2.5\n-3; 4e2")]
)
def test_a_cloud_is_a_table_of_numbers_however_it_is_separated(tmp_path, end, text):
    (tmp_path / f"cloud1{end}").write_text(text)
    table = load_cloud("cloud1", tmp_path)
    assert table.rows() == [(1.0, 2.5), (-3.0, 400.0)]
    assert table.columns == (["a", "b"] if end == ".csv" else ["x1", "x2"])


def test_a_cloud_that_is_missing_or_unknown_is_named(tmp_path):
    with pytest.raises(DataError, match=r"E401 cloud2\.csv does not exist"):
        load_cloud("cloud2", tmp_path)
    with pytest.raises(JobError, match=r"E105 .*did you mean 'cloud1'"):
        load_cloud("clowd1", tmp_path)


@pytest.mark.parametrize(
    ("text", "what"),
    [("", "no rows"), ("1,2\n3\n", "different lengths"), ("a,b\n", "no rows"), ("1,2\nx,3\n", "1 fields")],
)
def test_what_is_no_table_of_numbers_is_refused_without_its_values(tmp_path, text, what):
    (tmp_path / "points.csv").write_text(text)
    with pytest.raises(DataError, match=f"E431 .*{what}") as caught:
        load_points(tmp_path / "points.csv")
    assert "x,3" not in str(caught.value)

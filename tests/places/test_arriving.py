"""Distinct rows of what a database sends are the same, whoever counts them: the database, or we as rows arrive."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tarnkappe.io import open_source
from tarnkappe.io.databases import arriving, counts, postgresql
from tarnkappe.io.databases.address import Address
from tarnkappe.io.databases.base import look_at
from tarnkappe.io.databases.counts import digest_of_counts


def table(n: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "text": pl.Series(["b", "a", None, "", "ä"]).gather(rng.integers(0, 5, n)),
            "number": pl.Series([3, -7, None, 1 << 40]).gather(rng.integers(0, 4, n)),
            "float": pl.Series([0.0, -0.0, float("nan"), 2.5, None]).gather(rng.integers(0, 5, n)),
            "rare": rng.integers(0, 900, n),
        }
    )


def batches(rows: pl.DataFrame, size: int) -> list[pl.DataFrame]:
    return [rows.slice(i, size) for i in range(0, rows.height, size)]


@pytest.mark.parametrize("size", [7, 500, 5000])
@pytest.mark.parametrize("waiting", [1, 1000, 1 << 22])
def test_rows_that_are_counted_as_they_arrive_are_those_that_were_counted_there(size, waiting, monkeypatch):
    monkeypatch.setattr(arriving, "_WAITING", waiting)
    rows = table(300 if size == 7 else 3000)
    types = list(rows.schema.values())
    there = rows.group_by(rows.columns).agg(pl.len().cast(pl.Int64).alias("n")).sample(fraction=1, shuffle=True, seed=1)
    counted = arriving.counted_there(types, iter(batches(there, 700)))
    here = arriving.counted_here(types, iter(batches(rows, size)))
    assert here is not None
    assert digest_of_counts(rows.columns, here) == digest_of_counts(rows.columns, counted)
    assert int(here.count.sum()) == rows.height
    assert len(np.unique(here.codes, axis=0)) == len(here.codes)
    zero = here.values[2].to_list().index(0.0) + 1
    assert here.count[here.codes[:, 2] == zero].sum() == rows.filter(pl.col("float") == 0).height


def test_rows_with_more_values_than_a_number_has_room_for_are_left_to_the_database():
    rows = pl.DataFrame({f"c{i}": pl.Series(np.arange(300)) * (i + 1) for i in range(8)})  # nine bits each
    assert arriving.counted_here(list(rows.schema.values()), iter(batches(rows, 50))) is None
    there = rows.with_columns(n=pl.lit(1, pl.Int64))
    counted = arriving.counted_there(list(rows.schema.values()), iter([there]))
    assert counted.codes[:, 3].tolist() == list(range(1, 301))


def test_the_widest_numbers_are_not_missing(monkeypatch):
    """A number that needs all 64 bits was counted as missing where the ones before it were small."""
    monkeypatch.setattr(arriving, "_WAITING", 1)
    rows = pl.DataFrame({"u": pl.Series([1, 2, None, 2**63, 2**64 - 1, 2], dtype=pl.UInt64)})
    there = rows.with_columns(n=pl.lit(1, pl.Int64))
    counted = arriving.counted_there([pl.UInt64()], iter(batches(there, 1)))
    here = arriving.counted_here([pl.UInt64()], iter(batches(rows, 2)))
    assert here is not None
    for found in (here, counted):
        assert found.values[0].to_list() == [1, 2, 2**63, 2**64 - 1]
        assert found.codes[:, 0].tolist() == [0, 1, 2, 3, 4]
        assert found.count.tolist() == [1, 1, 2, 1, 1]


def test_postgresql_sends_rows_of_which_many_differ_and_counts_others(database_of, monkeypatch):
    monkeypatch.setattr(postgresql, "_SAMPLE", 1 << 10)
    database = database_of("postgresql")
    alike = pl.DataFrame({"age": np.arange(20_000) % 50, "sex": ["f", "m"] * 10_000})
    database.put("alike", alike)
    database.put("differ", alike.with_columns(age=pl.Series(np.arange(20_000) % 15_000)))
    database.ask("CREATE VIEW seen AS SELECT * FROM differ")
    for name, wanted in (("alike", False), ("differ", True), ("seen", False)):
        look = look_at(Address.of(database.address(name)))
        assert look.better_sent(['"age"', '"sex"'], 20_000) is wanted
        assert not look.better_sent(['"age"', '"sex"'], 1000)  # few rows are counted there
        assert look.n_rows() == 20_000  # it goes on, whatever it was asked
        look.close()
    asked = []
    monkeypatch.setattr(
        counts, "counted_here", lambda types, rows: asked.append(types) or arriving.counted_here(types, rows)
    )
    with open_source(database.address("differ")) as source:
        found = source.counted(["age", "sex"])
        digest = source.sha256
    assert asked
    monkeypatch.setattr(postgresql, "_SAMPLE", 1 << 20)
    with open_source(database.address("differ")) as source:
        same = source.counted(["age", "sex"])
        assert source.sha256 == digest
    assert len(asked) == 1
    assert np.array_equal(found.codes, same.codes)
    assert np.array_equal(found.count, same.count)

"""The tables that every tool gets: Adult, Adult drawn with replacement, and the generated census."""

from __future__ import annotations

import polars as pl
from measure import DATA, SCRATCH

from tarnkappe.datasets import census, load_adult, write_census

#: The order of values that puts like beside like; the same for every tool that has an order.
EDUCATION = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
ADULT_QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
CENSUS_QUASI = (
    "age", "hours-per-week", "sex", "race", "marital-status", "education", "native-country", "workclass",
)  # fmt: skip
SENSITIVE = "occupation"


def adult(rows: int | None = None) -> pl.DataFrame:
    """Adult, or `rows` of it drawn with replacement (more rows, not more distinct tuples)."""
    frame, _ = load_adult(DATA / "adult")
    return frame if rows is None else frame.sample(rows, with_replacement=True, seed=7)


def adult_orders() -> dict[str, tuple[str, ...]]:
    """The values of each nominal quasi-identifier of Adult, in the order of its taxonomy."""
    frame, taxonomies = load_adult(DATA / "adult")
    orders = {
        name: tuple(v for v in taxonomies[name].leaves if v in set(frame[name].unique()))
        for name in ADULT_QUASI
        if name != "age"
    }
    return {**orders, "education": EDUCATION}


def named(name: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A table by name and its quasi-identifiers."""
    if name == "adult-30k":
        return adult(), ADULT_QUASI
    if name == "adult-300k":
        return adult(301_620), ADULT_QUASI
    return census(1_000_000, seed=1), CENSUS_QUASI


def census_file(rows: int) -> str:
    """A Parquet file of the generated census, made if absent."""
    SCRATCH.mkdir(exist_ok=True)
    path = SCRATCH / f"census-{rows}.parquet"
    if not path.exists():
        write_census(path, rows, seed=1)
    return str(path)


def set_loss(groups: pl.DataFrame, original: pl.DataFrame, quasi: tuple[str, ...]) -> float:
    """Mean of (values in the group - 1) / (values in the table - 1), numbers by extent; the same ruler for every tool.

    `groups` has the original quasi-identifiers and a column ``group``.
    """
    total = 0.0
    for name in quasi:
        if original[name].dtype.is_numeric():
            extent = original[name].max() - original[name].min()
            loss = (pl.col(name).max() - pl.col(name).min()) / extent
        else:
            loss = (pl.col(name).n_unique() - 1) / (original[name].n_unique() - 1)
        per_group = groups.group_by("group").agg(loss.alias("loss"), pl.len().alias("n"))
        total += float((per_group["loss"] * per_group["n"]).sum()) / groups.height
    return total / len(quasi)

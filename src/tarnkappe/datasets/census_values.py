"""The values of the synthetic census: which exist, how they are grouped, and the role of each column."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import Any

from tarnkappe.taxonomy import Taxonomy

#: The columns of the synthetic census, in their order.
CENSUS_COLUMNS = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "hours-per-week",
    "native-country",
)

#: A sensible role for each column; `CENSUS_ROLE_REASONS` says why.
CENSUS_ROLES: dict[str, str] = {
    "age": "quasi",
    "workclass": "quasi",
    "education": "quasi",
    "marital-status": "quasi",
    "occupation": "sensitive",
    "relationship": "keep",
    "race": "quasi",
    "sex": "quasi",
    "capital-gain": "drop",
    "hours-per-week": "keep",
    "native-country": "quasi",
}

#: Why each column has the role that `CENSUS_ROLES` gives it.
CENSUS_ROLE_REASONS: dict[str, str] = {
    "age": "Neighbours and registers know it, and it tells many people apart.",
    "workclass": "An acquaintance knows whether somebody works for the state, a firm or themselves.",
    "education": "Public on many profiles, and rare at both ends.",
    "marital-status": "Recorded in public registers.",
    "occupation": "What the release must not reveal about one person.",
    "relationship": "Describes the household, and with 15 values tells few people apart.",
    "race": "Visible to everybody who knows the person.",
    "sex": "Visible to everybody who knows the person.",
    "capital-gain": "A rare exact amount points at one person, and the analysis does not need it.",
    "hours-per-week": "Known to few outsiders, and most people share the same number.",
    "native-country": "Known to acquaintances; a small country of birth points at few people.",
}

#: The label of the root of each taxonomy.
ROOTS: dict[str, str] = {
    "workclass": "ANY WORKCLASS",
    "education": "ANY EDUCATION",
    "marital-status": "ANY MARITAL STATUS",
    "occupation": "ANY OCCUPATION",
    "relationship": "ANY RELATIONSHIP",
    "race": "ANY RACE",
    "sex": "ANY SEX",
    "native-country": "ANY COUNTRY",
}

#: Columns of a value file that are not levels of its taxonomy.
NOT_A_LEVEL = ("per_million",)


@cache
def rows_of(file: str) -> tuple[dict[str, str], ...]:
    """The rows of one of the package's own data files.

    >>> rows_of("sex.csv")
    ({'value': 'Female'}, {'value': 'Male'})
    """
    text = resources.files(__package__).joinpath("data", file).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def values_of(column: str) -> tuple[str, ...]:
    """The values of a categorical column, in the order of its taxonomy's leaves."""
    return tuple(row["value"] for row in rows_of(f"{column}.csv"))


def census_taxonomies() -> dict[str, Taxonomy]:
    """The taxonomy of every categorical column of the synthetic census.

    >>> place = census_taxonomies()["native-country"]
    >>> " -> ".join(place.paths()[place.leaves.index("Pennsylvania")])
    'Pennsylvania -> USA -> North-America -> America -> ANY COUNTRY'
    """
    return {
        column: Taxonomy.from_paths(
            (*(label for level, label in row.items() if level not in NOT_A_LEVEL), root)
            for row in rows_of(f"{column}.csv")
        )
        for column, root in ROOTS.items()
    }


def census_taxonomy_trees() -> dict[str, dict[str, Any]]:
    """The same taxonomies as nested mappings, as they stand in a job file.

    >>> census_taxonomy_trees()["sex"]
    {'ANY SEX': ['Female', 'Male']}
    """
    return {column: taxonomy.nested() for column, taxonomy in census_taxonomies().items()}

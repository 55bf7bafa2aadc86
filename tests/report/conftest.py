"""Releases made by hand: a report needs nothing but the object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tarnkappe import Job, KAnonymity, LDiversity, TCloseness, numeric, suppress
from tarnkappe.columns import ColumnSummary, Example
from tarnkappe.criteria import Criterion, Verdict
from tarnkappe.errors import Notice
from tarnkappe.release import SUPPRESSION_CONVENTION, Release, Score

SHA256 = "9f2b6c1de04c7b1a5a0d3c8e6f4471b2a9d5e0c3f8b7a61524938d7c6b5a4f30"

COLUMNS = (
    ColumnSummary("ssn", "identifier", "removed: names a person directly", "issued by the state"),
    ColumnSummary(
        "age",
        "quasi",
        "intervals [min max] per group",
        None,
        0.1264,
        73,
        412,
        (
            Example("36", "[35 38]", 312),
            Example("31", "[30 33]", 298),
            Example("23", "[22 24]", 277),
        ),
    ),
    ColumnSummary(
        "education",
        "quasi",
        "lowest common category per group",
        None,
        0.3871,
        16,
        24,
        (
            Example("HS-grad", "Secondary", 4120),
            Example("Bachelors", "University", 2204),
        ),
    ),
    ColumnSummary("sex", "quasi", "published unchanged: no group needed to coarsen it", None, 0.002, 2, 2),
    ColumnSummary("zip", "quasi", "generalised to level 2 of 5 for everybody", None, 0.5512, 12_034, 98),
    ColumnSummary("salary-class", "sensitive", "published unchanged inside its group"),
    ColumnSummary("occupation", "keep", "published unchanged", "self-reported, not in public registers"),
    ColumnSummary("fnlwgt", "drop", "removed: not needed", "sampling weight reveals stratum"),
)

SCORES = (
    Score(
        "average-group-size",
        "Average group size (C_avg)",
        1.5021,
        "Groups are on average 1.50 times as large as the smallest size allowed.",
        "minimise",
    ),
    Score(
        "discernibility",
        "Discernibility (DM)",
        241_882.0,
        "Discernibility is 241,882: each record is charged the size of its group.",
        "minimise",
    ),
    Score(
        "gcp",
        "NCP / GCP",
        0.2667,
        "On average a cell covers 26.7% of its column (global certainty penalty).",
        "minimise",
    ),
    Score("lm", "LM", 0.2642, "On average a cell has lost 26.4 % of its detail (loss metric).", "minimise"),
    Score(
        "precision",
        "Precision (Prec)",
        0.6126,
        "Cells have kept 61.3% of their levels of detail (precision).",
        "maximise",
    ),
    Score("suppressed-share", "Suppressed records", 0.00202, "0.20% of the records were left out.", "minimise"),
)

NOTICES = (
    Notice(
        "W605",
        "in 212 groups (1,404 records) everyone has the same salary-class",
        "Add  - l-diversity: {column: salary-class, l: 3}",
    ),
    Notice("W606", "61 of 30,162 rows were suppressed (0.20%)"),
)

GROUP_SIZES = (
    (5, 1904),
    (6, 801),
    (7, 540),
    (8, 333),
    (9, 240),
    (10, 71),
    (12, 60),
    (15, 33),
    (21, 20),
    (47, 9),
    (312, 1),
)

VERDICTS = (
    Verdict("k-anonymity", None, "k-anonymity ≥ 5", 5.0, True, 0),
    Verdict("l-diversity", "salary-class", "l-diversity ≥ 2", 2.0, True, 0),
    Verdict("t-closeness", "salary-class", "equal EMD ≤ 0.3", 0.28713, True, 0),
)

PUBLIC = {
    "tarnkappe": "0.1.0",
    "file": "census.csv",
    "sha256": SHA256,
    "made": "2026-11-15T18:20:41+00:00",
    "criteria": [
        {"name": "k-anonymity", "k": 5},
        {"name": "l-diversity", "column": "salary-class", "know_others": False, "l": 2},
        {"name": "t-closeness", "column": "salary-class", "know_others": False, "t": 0.3, "distance": "equal"},
    ],
    "loss": {s.name: s.value for s in SCORES},
    "suppression": SUPPRESSION_CONVENTION,
}

PRIVATE: dict[str, Any] = {
    "seed": 731_953_286,
    "input": {"name": "census-raw.csv", "sha256": "canary-of-the-input-hash"},
}


CRITERIA = (KAnonymity(5), LDiversity("salary-class", 2), TCloseness("salary-class", 0.3))


def make_job(
    criteria: Iterable[Criterion] = CRITERIA,
    title: str = "Census 1994 extract, public-use file",
    purpose: str = "Teaching file: users study income by education and age.",
) -> Job:
    """What the release was asked to be; its seed is one more thing that must not get into the public edition."""
    return Job(
        quasi={"age": numeric(), "education": suppress(), "sex": suppress(), "zip": suppress()},
        identifiers=["ssn"],
        sensitive=["salary-class"],
        criteria=criteria,
        title=title,
        purpose=purpose,
        seed=PRIVATE["seed"],
    )


def make_release(**changes: Any) -> Release:
    """A plausible release; every field can be replaced."""
    sizes = changes.get("group_sizes", GROUP_SIZES)
    published = sum(size * groups for size, groups in sizes)
    fields: dict[str, Any] = {
        "job": make_job(),
        "verdicts": VERDICTS,
        "scores": SCORES,
        "columns": COLUMNS,
        "notices": NOTICES,
        "n_input": published + 61,
        "n_published": published,
        "n_groups": sum(groups for _, groups in sizes),
        "unique_before": 2103,
        "group_sizes": sizes,
        "missing_rule": "A missing cell is a value of its own: it matches only other missing cells.",
        "public_manifest": PUBLIC,
        "private_manifest": PRIVATE,
    }
    return Release(**{**fields, **changes})


@pytest.fixture
def release() -> Release:
    """The plausible release as it is."""
    return make_release()

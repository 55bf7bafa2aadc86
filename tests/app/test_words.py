"""The words of the page in German."""

from __future__ import annotations

import json
from importlib.resources import files

import polars as pl
import pytest

from tarnkappe.io import open_source
from tarnkappe.job import words
from tarnkappe.job.suggest import suggest
from tarnkappe.looks.base import Detector
from tarnkappe.registry import registered

GERMAN = json.loads((files("tarnkappe.app") / "static/words/de.json").read_text(encoding="utf-8"))


def test_reasons_for_roles_have_german_words():
    reasons = {meaning.reason for meaning in words._WORDS}
    titles = [detector.title for detector in registered("tarnkappe.looks.identifiers", Detector).values()]  # type: ignore[type-abstract]
    for title in titles:
        reasons |= {f"its name says that it holds {title}", f"its values look like {title}"}
        reasons.add(f"some of its values look like {title}")
    assert {text for text in reasons if f"reason.{text}" not in GERMAN} == set()


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("patient_id", [f"P{i:04d}" for i in range(60)]),
        pl.Series("ward", ["a", "b", "c"] * 20),
        pl.Series("thing", [1] * 60),
        pl.Series("measure", [i * 1.37 for i in range(60)]),
        pl.Series("ort", ["Bonn", "Ulm"] * 30),
    ],
    ids=lambda column: column.name,
)
def test_the_reason_of_a_column_is_told_in_german(column: pl.Series):
    with open_source(pl.DataFrame([column])) as source:
        (found,) = suggest(source)
    assert f"reason.{found.reason}" in GERMAN

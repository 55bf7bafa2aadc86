"""Sentences that commands put together are told in German on the German page, whatever figures are in them."""

from __future__ import annotations

import ast
import inspect
import json
from importlib.resources import files

import polars as pl
import pytest
from started_app import Visit

import tarnkappe as tk
from tarnkappe.advising import advise
from tarnkappe.attacks.base import Attack
from tarnkappe.metrics import all_metrics
from tarnkappe.registry import registered
from tarnkappe.usefulness.losses import _DEFINITIONS

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[dev]'")

GERMAN = json.loads((files("tarnkappe.app") / "static/words/de.json").read_text(encoding="utf-8"))

ATTACKS = registered("tarnkappe.attacks", Attack)  # type: ignore[type-abstract]

#: Words that stand in English sentences only.
ENGLISH = {"the", "of", "is", "are", "there", "columns", "records", "people", "instead", "their", "whoever", "release"}


def sentences_of_attacks() -> list[str]:
    """Every sentence that an attack may say, with figures and names in it."""
    out = []
    for module in {inspect.getmodule(attack) for attack in ATTACKS.values()}:
        for node in ast.walk(ast.parse(inspect.getsource(module))):  # type: ignore[arg-type]
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "sentence":
                assert isinstance(node.value, ast.JoinedStr)
                out.append("".join(_example(part) for part in node.value.values))
    assert len(out) >= len(ATTACKS) - 2  # some share theirs
    return out


def _example(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    said = ast.unparse(part)
    noun = next((n for n in ("pairs of rows", "people", "record", "column", "value", "item") if n in said), None)
    if "plural" in said and noun is not None:
        return f"1 200 {noun if noun.endswith(('s', 'people')) else noun + 's'}"
    for name, example in {
        "percent": "12.5 %",
        "rate": "12.5 %",
        "within": "3",
        "everybody": "9 people",
        "n_releases": "2 releases",
        "sure": "certain",
        "what": "kind",
        "how": "nearest",
    }.items():
        if name in said:
            return example
    return "Beruf"


def sentences_of_advice() -> list[str]:
    """What advice says about jobs with a release and without one."""
    table = pl.DataFrame(
        {
            "alter": [20 + i % 40 for i in range(120)],
            "ort": ["ab"[i % 2] for i in range(119)] + ["c"],
            "befund": ["xyz"[i % 3] for i in range(120)],
        }
    )
    out = []
    for k, values, limit in ((4, 2, 0.0), (4, 2, 0.02), (4, 4, 0.0), (115, 2, 0.05)):
        job = tk.Job(
            quasi={"alter": tk.intervals(10), "ort": tk.suppress()},
            sensitive=["befund"],
            criteria=[tk.KAnonymity(k), tk.LDiversity("befund", values)],
            max_suppressed=limit,
            algorithm="flash",
        )
        out += [change.sentence for change in advise(job, table, seed=1).changes]
    return out


def test_sentences_of_advice_and_attacks_are_told_in_german(visit: Visit):
    given = [*sentences_of_advice(), *sentences_of_attacks()]
    told = visit.page.evaluate(
        """async (given) => {
            const words = await import("/static/words.js");
            await words.speak("de");
            const german = given.map(words.phrase);
            const strange = words.phrase("This nobody knows.");
            await words.speak("en");
            return { german, strange, english: given.map(words.phrase) };
        }""",
        given,
    )
    assert told["english"] == given
    assert told["strange"] == "This nobody knows."
    left = {text: german for text, german in zip(given, told["german"], strict=True) if ENGLISH & set(german.split())}
    assert left == {}
    assert any("79,2 %" in text or "12,5 %" in text for text in told["german"])
    assert any("„alter“" in text for text in told["german"])


def test_attacks_and_measures_have_german_names():
    assert {name for name in ATTACKS if f"attack.name.{name}" not in GERMAN} == set()
    measures = {*all_metrics(), *_DEFINITIONS} - {"query-error"}
    assert {name for name in measures if f"measure.{name}" not in GERMAN} == set()
    assert {name for name in _DEFINITIONS if f"definition.{name}" not in GERMAN} == set()

"""What is registered explains itself, and what can go wrong has a code that is explained."""

from __future__ import annotations

import ast
import dataclasses
import re
from functools import cache

import pytest
from modules import modules

from tarnkappe.algorithms import Algorithm, all_algorithms
from tarnkappe.attacks import Attack, AttackCard, all_attacks
from tarnkappe.criteria import Card, Criterion, all_criteria
from tarnkappe.errors import CODES
from tarnkappe.masks import all_masks
from tarnkappe.metrics import all_metrics
from tarnkappe.params import parameters
from tarnkappe.registry import registered
from tarnkappe.taxonomy import TaxonomyBuilder

#: What needs no paper to be understood.
PLAIN = {"suppressed-share"}

CODE = re.compile(r"\b[EW]\d{3}\b")

#: Which codes belong to which exception: the first digit says it, and decides the exit code.
FAMILIES = {
    "JobError": "E1",
    "TaxonomyError": "E2",
    "InfeasibleError": "E3",
    "DataError": "E4",
    "VerificationError": "E5",
    "RefusedError": "E6",
    "LimitError": "E7",
    "Notice": "W6",
}

EVERYTHING: dict[str, type] = {
    **all_criteria(),
    **all_algorithms(),
    **all_attacks(),
    **all_masks(),
    **{name: type(metric) for name, metric in all_metrics().items()},
}


@pytest.mark.parametrize("name", EVERYTHING)
def test_documented_with_its_source(name: str):
    cls = EVERYTHING[name]
    doc = cls.__dict__.get("__doc__") or ""
    first = doc.strip().splitlines()[0]
    assert first.endswith("."), "one plain sentence first"
    if name not in PLAIN:
        references = doc.partition("References\n")[2]
        assert re.search(r"\.\. \[\w+\] .*\d{4}", references, re.DOTALL), "who said so, and when?"


@pytest.mark.parametrize("name", PLAIN)
def test_exceptions_are_still_there(name: str):
    assert name in EVERYTHING


@pytest.mark.parametrize("cls", all_criteria().values(), ids=lambda c: c.name)
def test_criteria_have_a_card(cls: type[Criterion]):
    assert isinstance(cls.card, Card)
    for field in dataclasses.fields(Card):
        words = getattr(cls.card, field.name)
        assert len(words) > 5
        assert words.endswith(".")
        assert words[0].islower() or words[0].isdigit() or field.name == "typical", "it continues a sentence"
    assert cls.sense in ("at least", "at most", "below")
    assert isinstance(cls.monotone, bool)
    assert isinstance(cls.absorbing, bool)


@pytest.mark.parametrize("cls", all_attacks().values(), ids=lambda c: c.name)
def test_attacks_have_a_card(cls: type[Attack]):
    for field in dataclasses.fields(AttackCard):
        words = str(getattr(cls.card, field.name))
        assert len(words) > 5
        assert words[0].islower(), "it continues a sentence"
        assert words.endswith(".") == (field.name != "remedy"), "a remedy is pasted"
    assert cls.title


@pytest.mark.parametrize("cls", all_algorithms().values(), ids=lambda c: c.name)
def test_algorithms_say_what_they_do(cls: type[Algorithm]):
    assert cls.summary.endswith(".")
    assert cls.title


BUILDERS = registered("tarnkappe.taxonomy", TaxonomyBuilder)  # type: ignore[type-abstract]


ROOMS = (all_criteria(), all_algorithms(), all_attacks(), BUILDERS)


@pytest.mark.parametrize("cls", [cls for room in ROOMS for cls in room.values()], ids=str)
def test_parameters_are_explained(cls: type):
    for p in parameters(cls):
        assert p.doc.endswith((".", "}.", ")."))
        assert p.doc[0].isupper()


@cache
def used_codes() -> dict[str, set[str]]:
    """Every code that stands in the package outside the list of codes, and the modules it stands in."""
    out: dict[str, set[str]] = {}
    for module in modules().values():
        for text in module.texts():
            for code in CODE.findall(text):
                if module.short != "errors":
                    out.setdefault(code, set()).add(module.short)
    return out


def test_every_code_used_is_explained():
    assert {code: where for code, where in used_codes().items() if code not in CODES} == {}


@cache
def raised_codes() -> list[tuple[str, str, str, int]]:
    """Exception or notice, code, module and line of everything that is made with a code written in place."""
    out = []
    for module in modules().values():
        for name, call in module.calls():
            kind = name.split(".")[-1]
            if kind in FAMILIES and call.args and isinstance(call.args[0], ast.Constant):
                out.append((kind, str(call.args[0].value), module.short, call.lineno))
    return out


def test_every_code_explained_is_used():
    raised = {code for _, code, _, _ in raised_codes()}
    elsewhere = used_codes()
    assert [code for code in CODES if code not in raised and code not in elsewhere] == []


def test_codes_fit_their_exceptions():
    assert [found for found in raised_codes() if not found[1].startswith(FAMILIES[found[0]])] == []
    assert len(raised_codes()) > 100


def test_explanations_are_sentences():
    assert [code for code, words in CODES.items() if not words.endswith(".")] == []
    assert list(CODES) == sorted(CODES)

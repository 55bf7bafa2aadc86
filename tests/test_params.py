"""Declared parameters: every mistake is an error that says what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from tarnkappe.criteria import all_criteria
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.errors import JobError
from tarnkappe.params import Declared, bind, json_schema, param, parameters, place


@dataclass(frozen=True)
class Recipe(Declared):
    """Something with a parameter of every kind."""

    cups: int = param(doc="How many cups.", ge=1, le=12)
    heat: float = param(0.5, doc="How hot.", gt=0)
    name: str = param("cake", doc="What it is called.")
    done: bool = param(False, doc="Whether it is ready.")
    style: str = param("plain", doc="How it is made.", choices=("plain", "marble"))
    notes: str | None = param(None, doc="Anything else.")
    layers: tuple[int, ...] = param((), doc="Height of each layer.", ge=1)
    limit: float = param(1.0, doc="At most two.", le=2)
    spices: Mapping[str, float] = param({}, doc="How much of each spice.", gt=0)


SPICES = "a mapping such as {name: VALUE}, each value a number above 0"


def recipe(**changes: object) -> Recipe:
    return Recipe(**{"cups": 3, **changes})


def test_good_values_are_taken_as_declared():
    made = recipe(heat=2, layers=[1, 2], notes="with nuts")
    assert made.heat == 2.0
    assert isinstance(made.heat, float)
    assert made.layers == (1, 2)
    assert made.get_params() == {
        "cups": 3,
        "heat": 2.0,
        "name": "cake",
        "done": False,
        "style": "plain",
        "notes": "with nuts",
        "layers": (1, 2),
        "limit": 1.0,
        "spices": {},
    }
    assert recipe() == recipe()
    assert recipe(heat=np.float64(0.25)).heat == 0.25


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"cups": 0}, "'cups' must be a whole number between 1 and 12, got 0"),
        ({"cups": 13}, "'cups' must be a whole number between 1 and 12, got 13"),
        ({"cups": 2.0}, "'cups' must be a whole number between 1 and 12, got 2.0"),
        ({"cups": True}, "'cups' must be a whole number between 1 and 12, got True"),
        ({"cups": "3"}, "'cups' must be a whole number between 1 and 12, got '3'"),
        ({"cups": None}, "'cups' must be a whole number between 1 and 12, got None"),
        ({"heat": 0}, "'heat' must be a number above 0, got 0.0"),
        ({"heat": "hot"}, "'heat' must be a number above 0, got 'hot'"),
        ({"heat": float("nan")}, "'heat' must be a number above 0, got nan"),
        ({"heat": float("inf")}, "'heat' must be a number above 0, got inf"),
        ({"heat": True}, "'heat' must be a number above 0, got True"),
        ({"limit": 2.5}, "'limit' must be a number of at most 2, got 2.5"),
        ({"name": 5}, "'name' must be a text, got 5"),
        ({"done": "yes"}, "'done' must be true or false, got 'yes'"),
        ({"done": 1}, "'done' must be true or false, got 1"),
        ({"style": "marbel"}, "'style' must be one of plain, marble, got 'marbel' (did you mean 'marble'?)"),
        ({"style": "xyz"}, "'style' must be one of plain, marble, got 'xyz'"),
        ({"style": 3}, "'style' must be one of plain, marble, got 3"),
        ({"notes": 3}, "'notes' must be a text, got 3"),
        ({"layers": [1, 0]}, "'layers' must be a whole number of at least 1, got 0"),
        ({"spices": {"salt": 0}}, "'spices.salt' must be a number above 0, got 0.0"),
        ({"spices": {1: 0.5}}, f"'spices' must be {SPICES}, got {{1: 0.5}}"),
        ({"spices": [0.5]}, f"'spices' must be {SPICES}, got [0.5]"),
    ],
)
def test_every_mistake_has_its_sentence(changes, sentence):
    with pytest.raises(JobError) as caught:
        recipe(**changes)
    error = caught.value
    assert error.message == sentence
    assert error.code == "E110"
    (name,) = changes
    assert error.hint.startswith(name)


def test_a_single_value_is_no_list():
    with pytest.raises(JobError, match="'layers' must be"):
        recipe(layers=3)


class Located(dict):
    """A mapping that remembers its lines, as one read from a job file does."""

    def place_of(self, key: str | None) -> str:
        return f"job.yaml:{list(self).index(key) + 1 if key in self else 0}"


class TestBind:
    def test_builds(self):
        assert bind(Recipe, {"cups": 2, "style": "marble"}, "recipe") == Recipe(2, style="marble")

    def test_an_unknown_key(self):
        with pytest.raises(JobError) as caught:
            bind(Recipe, Located(cups=2, stile="marble"), "recipe 'cake'")
        error = caught.value
        assert error.code == "E102"
        assert error.message == "unknown key 'stile' in recipe 'cake' (did you mean 'style'?)"
        assert error.where == "job.yaml:2"
        assert error.hint == "Known keys: cups, heat, name, done, style, notes, layers, limit, spices."

    def test_a_missing_key(self):
        with pytest.raises(JobError) as caught:
            bind(Recipe, Located(heat=1), "recipe 'cake'")
        error = caught.value
        assert error.code == "E103"
        assert error.message == "recipe 'cake' needs 'cups'"
        assert error.where == "job.yaml:0"
        assert error.hint == "cups: How many cups. (a whole number between 1 and 12)."

    def test_a_bad_value_has_its_place(self):
        with pytest.raises(JobError) as caught:
            bind(Recipe, Located(heat=1, cups=0), "recipe")
        assert caught.value.where == "job.yaml:2"

    def test_a_class_without_parameters(self):
        @dataclass(frozen=True)
        class Nothing(Declared):
            """Takes nothing."""

        assert bind(Nothing, {}, "nothing") == Nothing()
        with pytest.raises(JobError, match="unknown key 'x' in nothing") as caught:
            bind(Nothing, {"x": 1}, "nothing")
        assert caught.value.hint == "Known keys: none."

    def test_a_key_that_is_no_text(self):
        with pytest.raises(JobError, match="unknown key '5'"):
            bind(Recipe, {5: 1}, "recipe")


def test_a_plain_mapping_has_no_place():
    assert place({}, "a") is None


def test_what_is_known_about_parameters():
    known = {p.name: p for p in parameters(Recipe)}
    assert list(known) == ["cups", "heat", "name", "done", "style", "notes", "layers", "limit", "spices"]
    assert known["cups"].required
    assert not known["notes"].required
    assert known["heat"].default == 0.5


def test_a_schema_for_editors():
    schema = json_schema(Recipe)
    assert schema["required"] == ["cups"]
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert properties["cups"] == {"description": "How many cups.", "type": "integer", "minimum": 1, "maximum": 12}
    assert properties["heat"] == {"description": "How hot.", "type": "number", "exclusiveMinimum": 0}
    assert properties["style"]["enum"] == ["plain", "marble"]
    assert properties["notes"]["type"] == "string"
    assert properties["done"]["type"] == "boolean"
    assert properties["layers"]["type"] == "array"
    assert properties["layers"]["items"] == {"type": "integer", "minimum": 1}


def test_a_mapping_of_names():
    given = {"cinnamon": 1, "salt": 0.5}
    made = recipe(spices=given)
    given["salt"] = 9
    assert made.spices == {"cinnamon": 1.0, "salt": 0.5}
    assert len({made, recipe(spices=made.spices), recipe()}) == 2
    assert json_schema(Recipe)["properties"]["spices"] == {
        "description": "How much of each spice.",
        "type": "object",
        "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
    }
    known = {p.name: p for p in parameters(Recipe)}
    assert known["spices"].expected == SPICES
    assert known["layers"].expected == "a list, each value a whole number of at least 1"


def test_a_default_may_be_a_mapping():
    @dataclass(frozen=True)
    class Holder(Declared):
        """Holds a mapping."""

        rows: dict[str, int] = param({"a": 1}, doc="Rows.")

    assert Holder().rows == {"a": 1}
    assert parameters(Holder)[0].default == {"a": 1}


@pytest.mark.parametrize("cls", all_criteria().values(), ids=str)
def test_every_parameter_of_every_criterion_is_explained(cls):
    for p in parameters(cls):
        assert p.doc.endswith(".")
        assert p.expected != "a value"


@pytest.mark.parametrize("k", [10**400, -(10**400), 2**53 + 1])
def test_numbers_beyond_what_readers_agree_on_are_refused(k: int):
    with pytest.raises(JobError, match="'k' must be a whole number of at least 1, got a number beyond"):
        KAnonymity(k)
    with pytest.raises(JobError, match="E110"):
        TCloseness("illness", 10**400)


def test_a_word_that_nobody_knows_is_answered_with_the_usual_one():
    with pytest.raises(JobError, match="'style' must be one of plain, marble, got 'zebra'") as caught:
        recipe(style="zebra")
    assert caught.value.hint == "style: plain   (How it is made.)"

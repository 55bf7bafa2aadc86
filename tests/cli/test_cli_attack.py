"""``tarnkappe attack``."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def released(cli):
    assert cli("run", "job.yaml", "-o", "release", "-q").exit_code == 0
    return "release"


def test_all_attacks_on_our_own_release(cli, released):
    result = cli("attack", "all", released, "--known", "people.csv", "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    found = {one["attack"]: one for one in told["attacks"]}
    assert found["record-linkage"]["rate"] == 0, "it is k-anonymous"
    assert found["homogeneity"]["rate"] == 0, "it is diverse"
    for one in told["attacks"]:
        assert 0 <= one["low"] <= one["rate"] <= one["high"] <= 1
        assert one["sentence"].endswith(".")
    assert {one["attack"] for one in told["skipped"]} >= {"temporal", "membership"}


def test_the_data_themselves_are_linked(cli, folder):
    """Raw data are a release without any protection; every person that is unique is found."""
    result = cli("attack", "record-linkage", "people.csv", "--quasi", "age,sex", "--known", "people.csv", "--json")
    (found,) = json.loads(result.stdout)["attacks"]
    assert found["rate"] > 0
    shown = cli("attack", "record-linkage", "people.csv", "--quasi", "age,sex", "--known", "people.csv").stdout
    assert "95 % interval" in shown
    assert "✗ 1 of 1 attacks" in shown


def test_parameters_are_given_as_those_of_criteria(cli, released):
    result = cli("attack", "background-knowledge:excluded=2,confidence=0.5", released, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["attacks"][0]["attack"] == "background-knowledge"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("homogenity", "people.csv"), "E105", "did you mean 'homogeneity'"),
        (("record-linkage", "people.csv", "--quasi", "age"), "E108", "--known"),
        (("homogeneity", "people.csv", "--quasi", "aeg", "--sensitive", "illness"), "E108", "did you mean 'age'"),
        (("background-knowledge:excluded=0", "people.csv"), "E110", "at least 1"),
        (("background-knowledge:excluded", "people.csv"), "E108", "key=value"),
        (("homogeneity", "nothing.csv", "--quasi", "age"), "E401", "does not exist"),
    ],
)
def test_what_cannot_be_done_says_why(cli, words, code, says):
    result = cli("attack", *words)
    assert result.exit_code in (2, 3)
    assert code in result.output
    assert says in result.output


def test_every_attack_explains_itself(cli):
    from tarnkappe.attacks import all_attacks

    for name in all_attacks():
        shown = cli("explain", name).stdout
        assert "Attacker" in shown
        assert f"tarnkappe attack {name}" in shown

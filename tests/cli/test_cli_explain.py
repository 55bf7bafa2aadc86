"""``explain`` and ``schema`` know everything that is registered."""

from __future__ import annotations

import json

import pytest

from tarnkappe.advice import ADVICE
from tarnkappe.algorithms import all_algorithms
from tarnkappe.criteria import all_criteria
from tarnkappe.errors import CODES
from tarnkappe.job.files import job_json_schema
from tarnkappe.metrics import all_metrics
from tarnkappe.registry import registered
from tarnkappe.schema import MISSING_RULES, ROLES
from tarnkappe.taxonomy import TaxonomyBuilder
from tarnkappe.topics import GROUPS, all_topics


def test_everything_registered_has_a_topic_and_every_code_an_advice() -> None:
    kinds = registered("tarnkappe.taxonomy", TaxonomyBuilder)
    known = {*all_criteria(), *all_algorithms(), *all_metrics(), *ROLES, *MISSING_RULES, *kinds, *CODES}
    assert known <= set(all_topics())
    assert set(CODES) <= set(ADVICE)
    for topic in all_topics().values():
        assert topic.group in GROUPS
        assert all(label and text for label, text in topic.lines)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("k-anonymity", "being singled out"),
        ("K-Anonymity", "being singled out"),
        ("quasi", "identifying in combination"),
        ("mondrian", "medians"),
        ("gcp", "less is better"),
        ("wildcard", "could be anything"),
        ("prefix", "keep"),
        ("e204", "does not cover"),
        ("W602", "a warning"),
        ("hierarchy", "coarsened"),
        ("key variable", "identifies people"),
    ],
)
def test_words_are_explained(cli, word: str, says: str) -> None:
    result = cli("explain", *word.split())
    assert result.exit_code == 0
    assert says in result.stdout


def test_all_words_are_listed(cli) -> None:
    text = cli("explain").stdout
    listed = json.loads(cli("explain", "--json").stdout)
    assert list(listed) == list(GROUPS)
    for name in all_topics():
        assert name in text
        assert any(name in names for names in listed.values())


def test_an_unknown_word_gets_a_guess(cli) -> None:
    result = cli("explain", "k-anonimity")
    assert result.exit_code == 2
    assert "did you mean 'k-anonymity'" in result.stderr


def test_json_of_a_word(cli) -> None:
    data = json.loads(cli("explain", "l-diversity", "--json").stdout)
    assert (data["name"], data["group"]) == ("l-diversity", "criteria")
    assert "Protects" in [fact["label"] for fact in data["facts"]]


def test_schema_is_the_schema(cli) -> None:
    assert json.loads(cli("schema").stdout) == json.loads(json.dumps(job_json_schema()))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("explain E20", "E204"),
        ("verify x --criterion k", "k-anonymity:k="),
        ("run x --set algorithm.name=m", "mondrian"),
    ],
)
def test_a_shell_can_complete_words(words: str, expected: str) -> None:
    from tarnkappe.cli.options import complete_criteria, complete_settings, complete_topics

    command, *_, last = words.split()
    complete = {"explain": complete_topics, "verify": complete_criteria, "run": complete_settings}[command]
    found = complete(last)
    assert any(expected in word for word in found)
    assert all(word.startswith(last) for word in found)

"""The table of criteria and attack models against the published one."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.criteria import all_criteria
from tarnkappe.criteria.attacks import ATTACKS, QUESTIONS, attacks_stopped
from tarnkappe.topics import topic

RECORD, ATTRIBUTE, TABLE, BELIEF = ATTACKS

#: Fung, Wang, Fu, Yu 2011, table 2.1, as far as its criteria are here: what it ticks.
PUBLISHED = {
    "k-anonymity": {RECORD},
    "l-diversity": {RECORD, ATTRIBUTE},
    "confidence-bounding": {ATTRIBUTE},
    "alpha-k-anonymity": {RECORD, ATTRIBUTE},
    "xy-privacy": {RECORD, ATTRIBUTE},
    "k-e-anonymity": {ATTRIBUTE},
    "epsilon-m-anonymity": {ATTRIBUTE},
    "personalized-privacy": {ATTRIBUTE},
    "t-closeness": {ATTRIBUTE, BELIEF},
    "delta-presence": {TABLE},
    "differential-privacy": {TABLE, BELIEF},
}

#: Where we differ, and why: l-diversity is also kept by tables that publish quasi-identifiers as they are, and a
#: mechanism that hides who is there hides their records and their secrets, too.
OURS = {"l-diversity": {ATTRIBUTE}, "differential-privacy": set(ATTACKS)}


def test_as_published_but_for_what_is_told():
    known = all_criteria()
    assert {name: set(attacks_stopped(known[name])) for name in PUBLISHED} == PUBLISHED | OURS
    page = (Path(__file__).parents[2] / "docs/theory/index.md").read_text("utf-8")
    assert "l-diversity only attribute linkage" in " ".join(page.split())


def test_every_criterion_stops_something():
    assert all(list(attacks_stopped(cls)) for cls in all_criteria().values())
    assert set(QUESTIONS) == set(ATTACKS)


def test_explain_prints_it():
    lines = dict(topic("attack models").lines)
    assert lines["t-closeness"] == "attribute linkage, probabilistic attack"
    assert set(lines) >= set(all_criteria()) | set(ATTACKS)
    assert dict(topic("k-map").lines)["Against"] == "record linkage"

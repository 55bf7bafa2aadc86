"""Rooms find their classes by themselves."""

from __future__ import annotations

import pytest

from tarnkappe.algorithms import algorithm_class, all_algorithms
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.criteria import all_criteria, criterion_class
from tarnkappe.criteria.base import Criterion, SensitiveCriterion
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import JobError
from tarnkappe.metrics import all_metrics
from tarnkappe.registry import lookup, registered


def test_what_is_in_the_house():
    assert set(all_criteria()) >= {
        "k-anonymity",
        "l-diversity",
        "entropy-l-diversity",
        "recursive-cl-diversity",
        "frequency-l-diversity",
        "t-closeness",
    }
    assert set(all_algorithms()) >= {"mondrian", "datafly"}
    assert set(all_metrics()) >= {
        "average-group-size",
        "discernibility",
        "gcp",
        "iloss",
        "lm",
        "minimal-distortion",
        "precision",
        "suppressed-share",
    }


@pytest.mark.parametrize("room", [all_criteria, all_algorithms, all_metrics])
def test_names_are_sorted_and_match(room):
    found = room()
    assert list(found) == sorted(found)
    assert all(cls.name == name for name, cls in found.items())
    assert all(name == name.lower() and " " not in name for name in found)


def test_bases_are_not_registered():
    assert SensitiveCriterion not in all_criteria().values()
    assert not any(cls is Criterion for cls in all_criteria().values())


def test_classes_by_name():
    assert criterion_class("k-anonymity") is KAnonymity
    assert algorithm_class("mondrian") is Mondrian


def test_an_unknown_name_is_an_error_with_the_closest_one():
    with pytest.raises(JobError) as caught:
        criterion_class("k-anonimity", where="job.yaml:4")
    error = caught.value
    assert error.code == "E105"
    assert error.message == "unknown criterion 'k-anonimity' (did you mean 'k-anonymity'?)"
    assert error.where == "job.yaml:4"
    assert error.hint.startswith("Known: ")
    assert "t-closeness" in error.hint
    with pytest.raises(JobError, match=r"unknown algorithm 'xyz'$") as caught:
        algorithm_class("xyz")
    assert caught.value.where is None


def test_a_registry_cannot_be_changed_from_outside():
    registered("tarnkappe.algorithms", Algorithm).clear()
    assert all_algorithms()


def test_lookup_says_what_was_looked_for():
    with pytest.raises(JobError, match="unknown spell 'abra'"):
        lookup("tarnkappe.algorithms", Algorithm, "abra", "spell")


def test_a_new_file_is_found_by_itself(tmp_path, monkeypatch):
    room = tmp_path / "room_of_tests"
    (room / "inner").mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "inner" / "__init__.py").write_text("")
    (room / "inner" / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from tarnkappe.criteria.k_anonymity import KAnonymity\n"
        "from tarnkappe.criteria.base import Criterion\n"
        "@dataclass(frozen=True)\n"
        "class Mine(KAnonymity):\n"
        "    '''One more.'''\n"
        "    name = 'mine'\n"
        "class Unnamed(Criterion):\n"
        "    '''Abstract, so not registered.'''\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = registered("room_of_tests", Criterion)
    assert list(found) == ["mine"]  # neither what it imports nor what is abstract
    assert found["mine"](3).min_size == 3

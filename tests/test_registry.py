"""Rooms find their classes by themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys

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


def test_one_name_does_not_load_the_whole_room():
    asked = "from tarnkappe.algorithms import algorithm_class as a; import sys; a('mondrian'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert "tarnkappe.algorithms.multidimensional.mondrian" in loaded
    assert not [
        name
        for name in loaded
        if name.startswith(("tarnkappe.algorithms.fulldomain.", "tarnkappe.algorithms.subtree."))
    ]


def test_an_unknown_name_is_an_error_with_the_closest_one():
    with pytest.raises(JobError) as caught:
        criterion_class("k-anonimity", where="job.yaml:4")
    error = caught.value
    assert error.code == "E105"
    assert error.message == "unknown criterion 'k-anonimity' (did you mean 'k-anonymity'?)"
    assert error.where == "job.yaml:4"
    assert error.hint.startswith("Known: ")
    assert "t-closeness" in error.hint
    with pytest.raises(JobError, match=r"unknown algorithm 'xyz'\n") as caught:
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


GUEST = """
from dataclasses import dataclass
from tarnkappe.criteria.k_anonymity import KAnonymity

@dataclass(frozen=True)
class Guest(KAnonymity):
    '''A promise of another package.'''
    name = "guest-anonymity"
"""

JOB_OF_A_GUEST = """
data: {path: data.csv}
columns: {age: {role: quasi, taxonomy: suppress}}
criteria: [{guest-anonymity: {k: 2}}]
output: {folder: release}
"""


def install(folder, entry: str) -> None:
    """What pip leaves of a package that offers a criterion."""
    (folder / "guest_package.py").write_text(GUEST)
    about = folder / "guest_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[tarnkappe.criteria]\n{entry}\n")


def run_here(folder, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), *sys.path])
    command = [sys.executable, "-m", "tarnkappe", *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )


def test_a_criterion_of_another_package_works_in_a_job_file(tmp_path):
    install(tmp_path, "guest-anonymity = guest_package:Guest")
    (tmp_path / "job.yaml").write_text(JOB_OF_A_GUEST)
    (tmp_path / "data.csv").write_text("age\n1\n1\n2\n2\n")
    run = run_here(tmp_path, "run", "job.yaml")
    assert run.returncode == 0, run.stderr
    manifest = json.loads((tmp_path / "release/public/manifest.json").read_text())
    assert [v["criterion"] for v in manifest["verdicts"]] == ["guest-anonymity"]


@pytest.mark.parametrize("entry", ["guest-anonymity = no_such_package:Guest", "other-name = guest_package:Guest"])
def test_a_package_that_offers_nonsense_is_named(tmp_path, entry: str):
    install(tmp_path, entry)
    run = run_here(tmp_path, "explain")
    assert run.returncode == 2
    assert "E114" in run.stderr
    assert "guest-package" in run.stderr
    assert "Traceback" not in run.stderr

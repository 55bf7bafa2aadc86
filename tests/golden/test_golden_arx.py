"""Optima that ARX reports for Adult, and the figures of the poster about 3-anonymous releases of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tarnkappe.algorithms.fulldomain.flash import Flash
from tarnkappe.algorithms.fulldomain.search import Search
from tarnkappe.criteria.beta_likeness import BetaLikeness
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.goal import Goal
from tarnkappe.metrics import metric_named

NINE = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
SECRET = "occupation"


@pytest.fixture(scope="module")
def oracle(shared: Path) -> ModuleType:
    """The script that compares with a file of expected results."""
    folder = str(Path(__file__).parents[2] / "bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("TARNKAPPE_DATA", str(shared / "data"))
        import fulldomain_oracle

        yield fulldomain_oracle
    sys.modules.pop("fulldomain_oracle", None)


@pytest.fixture(scope="module")
def document(shared: Path) -> dict:
    """The file of expected results."""
    return json.loads((shared / "oracles" / "adult_fulldomain.json").read_text())


def optimum(oracle: ModuleType, goal: Goal, metric: str) -> Search:
    secret = next((c.sensitive_column for c in goal.criteria if c.sensitive_column), None)
    quasi = tuple(q for q in NINE if q != secret)
    tally = oracle.tally_of(quasi, tuple(f"adult_hierarchy_{q}.csv" for q in quasi), secret)
    search = Search(tally, goal, metric_named(metric), against_published=False)
    Flash().run(search, np.random.default_rng(0))
    return search


@pytest.mark.parametrize(
    ("k", "limit", "loss", "levels"),
    [
        (2, 0.0, 0.529696, "041132020"),
        (2, 0.04, 0.175991, "030021110"),
        (2, 1.0, 0.161760, "030011010"),
        (5, 0.0, 0.573151, "041132210"),
        (5, 0.04, 0.266111, "030111120"),
        (5, 1.0, 0.220412, "030021110"),
        (10, 0.04, 0.321440, "040121020"),
        (50, 0.04, 0.408861, "040131120"),
        (100, 0.0, 0.632496, "041232210"),
        (100, 0.04, 0.498753, "031222120"),
    ],
)
def test_loss(oracle: ModuleType, k: int, limit: float, loss: float, levels: str):
    best = optimum(oracle, Goal([KAnonymity(k)], limit), "loss").best
    assert "".join(map(str, best.node)) == levels
    assert best.score == pytest.approx(loss, abs=1e-6)


@pytest.mark.parametrize(
    ("form", "beta", "limit", "loss", "levels"),
    [
        ("basic", 3.0, 0.5, 0.348839, "03002010"),
        ("enhanced", 2.0, 0.0, 0.759176, "14113220"),
        pytest.param("enhanced", 10.0, 1.0, 0.341904, "03003120", marks=pytest.mark.full),
        pytest.param("basic", 1.0, 1.0, 0.608135, "14013020", marks=pytest.mark.full),
    ],
)
def test_likeness(oracle: ModuleType, form: str, beta: float, limit: float, loss: float, levels: str):
    best = optimum(oracle, Goal([BetaLikeness(SECRET, beta, form)], limit), "loss").best
    assert "".join(map(str, best.node)) == levels
    assert best.score == pytest.approx(loss, abs=1e-6)


def test_nonuniform_entropy(oracle: ModuleType):
    best = optimum(oracle, Goal([KAnonymity(100)]), "nonuniform-entropy").best
    assert best.node == (0, 4, 1, 1, 3, 2, 2, 1, 1)
    assert best.score == pytest.approx(453_196.8932, abs=1e-4)


def test_nonuniform_entropy_with_suppression_chooses_the_same_nodes(oracle: ModuleType):
    """The bits of suppressed records are charged differently there, but the optima are the same."""
    best = optimum(oracle, Goal([KAnonymity(5)], 0.04), "nonuniform-entropy").best
    assert best.node == (1, 0, 1, 1, 3, 2, 2, 0, 1)
    best = optimum(oracle, Goal([EntropyLDiversity(SECRET, 5.0)], 0.04), "nonuniform-entropy").best
    assert best.node == (1, 0, 1, 1, 2, 2, 2, 1)


class TestOracleFile:
    @pytest.mark.parametrize("number", [0, 12, 18, 27, 30])
    def test_configurations(self, oracle: ModuleType, document: dict, number: int):
        assert list(oracle.differences(document["configs"][number])) == []

    @pytest.mark.full
    @pytest.mark.parametrize("number", range(36))
    def test_all_configurations(self, oracle: ModuleType, document: dict, number: int):
        assert list(oracle.differences(document["configs"][number])) == []

    def test_a_wrong_expectation_is_noticed(self, oracle: ModuleType, document: dict):
        config = document["configs"][27]
        for key, value in (("n_satisfying", 5), ("classes", 3), ("exhaustive_best_score", 0.9), ("lattice_size", 1)):
            assert len(list(oracle.differences({**config, key: value}))) == 1

    def test_the_poster(self, oracle: ModuleType, document: dict):
        assert list(oracle.poster_differences(document["poster"], document["configs"])) == []

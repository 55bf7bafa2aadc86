"""All patterns with their figures; the poster's row; clusters."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from adult_cells import NINE, adult_tally

from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import InfeasibleError, JobError, LimitError
from tarnkappe.fingerprint.candidates import Candidates, clusters, satisfying
from tarnkappe.goal import Goal
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy


def small() -> Tally:
    rng = np.random.default_rng(3)
    trees = [
        Taxonomy.from_paths([(str(i), f"{i // 2 * 2}", "*") for i in range(6)]),
        Taxonomy.from_paths([(x, y, "*") for x, y in zip("abcd", "uuvv", strict=True)]),
    ]
    codes = [rng.integers(0, t.n_leaves, 60).astype(np.int32) for t in trees]
    domains = [Domain(name, tree) for name, tree in zip("xy", trees, strict=True)]
    return count_cells(codes, [], domains, [])[0]


def test_patterns_are_those_that_brute_force_finds():
    tally, limit, k = small(), 0.1, 4
    trees = [d.taxonomy for d in tally.quasi_domains]
    expected = {}
    for levels in product(*(range(t.height + 1) for t in trees)):
        groups: dict[tuple, int] = {}
        for row, count in zip(tally.quasi, tally.count, strict=True):
            key = tuple(int(t.ancestors[a][x]) for t, a, x in zip(trees, levels, row, strict=True))
            groups[key] = groups.get(key, 0) + int(count)
        kept = [size for size in groups.values() if size >= k]
        lost = tally.n_records - sum(kept)
        if kept and lost <= limit * tally.n_records:
            expected[levels] = (min(kept), lost, len(kept))
    found = {p.levels: (p.smallest, p.suppressed, p.groups) for p in satisfying(tally, Goal([KAnonymity(k)], limit))}
    assert found == expected
    assert 1 < len(found) < 9


def test_too_many_patterns_and_none(monkeypatch):
    with pytest.raises(InfeasibleError):
        Candidates.of(small(), Goal([KAnonymity(61)]))
    monkeypatch.setattr("tarnkappe.fingerprint.candidates._MOST_NODES", 5)
    with pytest.raises(LimitError):
        Candidates.of(small(), Goal([KAnonymity(2)]))


def test_clusters_divide_all_patterns():
    found = Candidates.of(small(), Goal([KAnonymity(2)], 0.5))
    parts = clusters(found, 3)
    assert sorted(np.concatenate([p.members for p in parts]).tolist()) == list(range(len(found)))
    assert len(parts) == 3
    assert len(clusters(found, 100)) <= len(found)
    for part in parts:
        assert part.k_range == (part.patterns.max_k.min(), part.patterns.max_k.max())
    with pytest.raises(JobError):
        clusters(found, 0)
    with pytest.raises(JobError):
        found.metric("beauty")


@pytest.fixture(scope="module")
def nine(shared: Path) -> Candidates:
    return Candidates.of(adult_tally(shared / "data" / "adult", NINE), Goal([KAnonymity(3)], 0.1))


def test_the_row_of_the_poster(nine: Candidates):
    at = nine.place([0, 4, 0, 0, 1, 0, 0, 1, 0])
    assert nine.loss[at] == pytest.approx(0.2210, abs=5e-5)
    assert 100 * nine.suppressed_share[at] == pytest.approx(9.77, abs=5e-3)
    assert nine.level_share[at] == pytest.approx(0.2037, abs=5e-5)
    assert nine.average_size[at] == pytest.approx(28.3195, abs=5e-5)
    assert nine.precision[at] == pytest.approx(0.7185, abs=5e-5)
    assert nine.aecs[at] == pytest.approx(31.3534, abs=5e-5)
    assert nine.rows()[at]["groups"] == 961


def test_the_search_space_of_the_poster(nine: Candidates, shared: Path):
    assert len(nine) == 9_703
    given = json.loads((shared / "oracles" / "adult_fulldomain.json").read_text())["poster"]["level_vectors"]
    space = nine.only(given)
    assert len(space) == 1_197
    assert space.levels.tolist() == given
    with pytest.raises(InfeasibleError, match=r"\[0, 0, 0, 0, 0, 0, 0, 0, 0\]"):
        nine.only([[0] * 9])


@pytest.mark.parametrize(("k", "limit", "n"), [(3, 0, 82), (3, 0.01, 1_567)])
def test_counts_of_eight_columns(eight: Tally, k: int, limit: float, n: int):
    assert len(Candidates.of(eight, Goal([KAnonymity(k)], limit))) == n


@pytest.mark.full
@pytest.mark.parametrize(("k", "limit", "n"), [(5, 0, 67), (10, 0, 50), (3, 0.02, 2_276)])
def test_more_counts(eight: Tally, k: int, limit: float, n: int):
    assert len(Candidates.of(eight, Goal([KAnonymity(k)], limit))) == n

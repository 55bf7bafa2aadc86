"""(n, t)-closeness against brute force over every set of quasi-identifiers, and the paper's argument."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import tarnkappe as tk
from grids import examples
from tarnkappe.criteria.n_t_closeness import NTCloseness, tried_sets
from tarnkappe.errors import InfeasibleError
from tarnkappe.groups import GroupStats
from tarnkappe.relaxing import written
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

TREE = Taxonomy.from_nested({"*": {"x": ["v0", "v1"], "y": {"z": ["v2"]}, "w": ["v3"]}})
ILLNESS = Domain("illness", TREE)
PARENT = {"v0": "x", "v1": "x", "v2": "z", "z": "y", "v3": "w", "x": "*", "y": "*", "w": "*"}

releases = st.lists(st.tuples(st.tuples(*[st.integers(0, 2)] * 3), st.integers(0, 3)), min_size=1, max_size=30)


def stats_of(rows: list[tuple[tuple[int, ...], int]], times: int = 1) -> GroupStats:
    labels = list(dict.fromkeys(quasi for quasi, _ in rows))
    return GroupStats.from_cells(
        np.array([labels.index(quasi) for quasi, _ in rows]),
        np.full(len(rows), times, np.int64),
        {"illness": (np.array([v for _, v in rows], np.int32), ILLNESS)},
        keys=np.array(labels, np.int32),
        quasi=("a", "b", "c"),
    )


@given(
    releases,
    st.integers(1, 12),
    st.sampled_from([0, 0.1, 0.2, 0.25, 1 / 3, 0.375, 0.5, 1]),
    st.sampled_from(["equal", "ordered", "hierarchical"]),
    st.sampled_from([1, 10**10]),
)
@settings(deadline=None, max_examples=examples(150))
def test_against_brute_force(rows, n, t, distance, times):
    """Also with counts whose products 64 bits cannot hold."""
    named = [(quasi, (f"v{v}",)) for quasi, v in rows]
    truth = brute.n_t(named, 0, n, distance, ["v0", "v1", "v2", "v3"], PARENT)
    verdict = NTCloseness("illness", n * times, t, distance).verdict(stats_of(rows, times))
    assert verdict.ok == (truth <= Fraction(t).limit_denominator(1000))
    if truth <= 1:
        assert verdict.reached == pytest.approx(float(truth))
    else:
        assert verdict.reached > 1


def test_between_t_closeness_and_nothing():
    """n as large as the table asks for t-closeness; n = 1 asks for nothing, every group is its own superset."""
    rng = np.random.default_rng(2)
    rows = [(tuple(int(x) for x in rng.integers(0, 3, 3)), int(rng.integers(0, 4))) for _ in range(60)]
    close = NTCloseness("illness", 60, 0.3).verdict(stats_of(rows))
    assert close.reached == tk.TCloseness("illness", 0.3).verdict(stats_of(rows)).reached
    assert NTCloseness("illness", 1, 0.0).verdict(stats_of(rows)).ok


def test_union_of_two_close_groups_need_not_be_close():
    """Each is like its own row or column of the table, their union is like neither."""
    left = [((0, 0, 0), v) for v in (0, 0)] + [((0, 1, 0), v) for v in (0, 0)]
    right = [((1, 2, 0), v) for v in (1, 1)] + [((2, 2, 0), v) for v in (1, 1)]
    rest = [((2, 3, 1), v) for v in (2, 3, 2, 3)]
    criterion = NTCloseness("illness", 4, 0.0)
    assert not criterion.monotone
    assert criterion.verdict(stats_of(left + right + rest)).ok
    merged = [((0, 0, 0) if quasi in ((0, 0, 0), (1, 2, 0)) else quasi, v) for quasi, v in left + right + rest]
    assert not criterion.verdict(stats_of(merged)).ok


FEW = pl.DataFrame({"age": list(range(20, 60)), "ill": ["a", "b"] * 20, "days": [i % 10 for i in range(40)]})


@pytest.mark.parametrize(
    ("criterion", "said", "fix"),
    [
        (NTCloseness("ill", 100, 0.2), "has 40 records, fewer than n = 100", NTCloseness("ill", 40, 0.2)),
        (tk.AlphaKAnonymity("ill", 0.6, 50), "has 40 records, fewer than k = 50", tk.AlphaKAnonymity("ill", 0.6, 40)),
        (tk.AlphaKAnonymity("ill", 0.3, 50), "has 40 records, fewer than k = 50", tk.AlphaKAnonymity("ill", 0.5, 40)),
        (
            tk.KEAnonymity("days", 50, 3),
            "has 10 different numbers in 'days', fewer than k = 50",
            tk.KEAnonymity("days", 10, 3),
        ),
        (
            tk.RecursiveCLDiversity("ill", 2, 5),
            "has 2 different values in 'ill', fewer than l = 5",
            tk.RecursiveCLDiversity("ill", 2, 2),
        ),
        (
            tk.LKCPrivacy(1, 60, 0.4, "ill"),
            "has 40 records, fewer than k = 60",
            tk.LKCPrivacy(1, 40, 0.5, "ill"),
        ),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_what_the_table_lacks_is_said(criterion: tk.Criterion, said: str, fix: tk.Criterion):
    """Where the table is too small for a parameter, no level says anything; and what is proposed works."""
    sensitive = {"ill": None, "days": tk.numeric()}
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=sensitive, criteria=[criterion], algorithm="ola")
    with pytest.raises(InfeasibleError) as error:
        job.anonymize(FEW)
    assert f"The whole table {said}" in str(error.value)
    assert "reach" not in str(error.value)
    assert written(fix).in_python in str(error.value)
    tk.Job(quasi={"age": tk.numeric()}, sensitive=sensitive, criteria=[fix], algorithm="ola").anonymize(FEW)


def test_many_quasi_identifiers_do_not_take_for_ever():
    assert len(tried_sets(30)) == 1024
    assert len(tried_sets(6)) == len(set(tried_sets(6))) == 64


def test_a_group_of_a_region_that_is_like_its_region():
    """The region as a whole differs from the country; that is statistics, and t-closeness forbids it all the same."""
    north = [("north", age, v) for age in ("20s", "30s") for v in ["flu"] * 6 + ["gout"] * 2]
    south = [("south", age, v) for age in ("20s", "30s") for v in ["flu"] * 2 + ["gout"] * 6]
    table = pl.DataFrame(north + south, schema=["region", "age", "illness"], orient="row")
    quasi, secret = ["region", "age"], ["illness"]
    assert tk.verify(table, [tk.TCloseness("illness", 0.2)], quasi, secret).verdicts[0].reached == 0.25
    assert tk.verify(table, [NTCloseness("illness", 16, 0.0)], quasi, secret).ok
    assert not tk.verify(table, [NTCloseness("illness", 17, 0.2)], quasi, secret).ok

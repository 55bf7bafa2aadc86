"""Centroid marks keep groups and means, and are traced."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from people import KEY, job, people

import tarnkappe as tk
from tarnkappe.errors import JobError
from tarnkappe.fingerprint.centroids import CentroidScheme
from tarnkappe.fingerprint.code import TardosCode
from tarnkappe.fingerprint.tracing import score_recipients
from tarnkappe.pipeline import Decided

NAMES = [f"r{i}" for i in range(20)]


@pytest.fixture(scope="module")
def decided() -> Decided:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.normal(50, 20, 1500).round(1) for name in ("x", "y", "z")})
    given = tk.Job(quasi={n: tk.numeric() for n in frame.columns}, criteria=[tk.KAnonymity(5)], algorithm="mdav")
    return tk.decide(given, frame, seed=1)


@pytest.fixture(scope="module")
def scheme(decided: Decided) -> CentroidScheme:
    return CentroidScheme.of(decided.plan, KEY.of("centres"))


def copies(decided: Decided, scheme: CentroidScheme, *names: str) -> list[pl.DataFrame]:
    code = TardosCode(KEY.of("centres"), scheme.n_positions)
    plans = [scheme.plan_of_copy(decided.plan, code.bits(name)) for name in names]
    return [decided.regrouped(plan).publish(copy=i).table for i, plan in enumerate(plans)]


def accused(scheme: CentroidScheme, table: pl.DataFrame) -> tuple[str, ...]:
    code = TardosCode(KEY.of("centres"), scheme.n_positions)
    return score_recipients(scheme.read(table), code, NAMES).accused


def test_groups_and_means_stay(decided: Decided, scheme: CentroidScheme):
    plain = decided.publish().table
    (copy,) = copies(decided, scheme, "r3")
    for name in plain.columns:
        assert copy[name].mean() == pytest.approx(plain[name].mean(), rel=1e-9)
        assert copy[name].std() == pytest.approx(plain[name].std(), rel=0.01)
    sizes = copy.group_by(copy.columns).len()["len"]
    assert sizes.min() >= 5
    assert len(sizes) == decided.n_groups


def test_copies_are_traced(decided: Decided, scheme: CentroidScheme):
    one, other = copies(decided, scheme, "r3", "r8")
    assert accused(scheme, one) == ("r3",)
    assert accused(scheme, other.sample(fraction=0.2, seed=1)) == ("r8",)
    assert accused(scheme, one.drop("y")) == ("r3",)
    assert accused(scheme, one.with_columns(pl.all().round(1))) in (("r3",), ())
    mixed = pl.concat([one[::2], other[1::2]])
    assert set(accused(scheme, mixed)) <= {"r3", "r8"}
    assert accused(scheme, mixed)


def test_the_middle_of_two_copies_names_one_of_them(decided: Decided, scheme: CentroidScheme):
    code = TardosCode(KEY.of("centres"), scheme.n_positions)
    middle = (scheme.shifted(code.bits("r1")) + scheme.shifted(code.bits("r2"))) / 2
    table = pl.DataFrame(np.repeat(middle, scheme.size, axis=0), schema=list(scheme.names))
    found = set(accused(scheme, table))
    assert found
    assert found <= {"r1", "r2"}


def test_nobody_is_accused_of_unmarked_means(decided: Decided, scheme: CentroidScheme):
    assert accused(scheme, decided.publish().table) == ()
    assert accused(scheme, pl.DataFrame({"w": [1.0]})) == ()


def test_other_forms_are_refused(decided: Decided):
    with pytest.raises(JobError, match="publish means"):
        CentroidScheme.of(tk.decide(job(algorithm="flash"), people(500)).plan, KEY.of("x"))
    with pytest.raises(JobError, match="strength"):
        CentroidScheme.of(decided.plan, KEY.of("x"), strength=2.0)

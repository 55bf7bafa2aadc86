"""Attacks on copies, value marks, and what single changed values do to k."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from people import KEY, job, people

from tarnkappe.errors import DataError, JobError, VerificationError
from tarnkappe.fingerprint.attacks import ATTACKS, Bench, outcome, robustness
from tarnkappe.fingerprint.baseline import compare_marks
from tarnkappe.fingerprint.page import attack_page
from tarnkappe.fingerprint.planning import Planned, plan_copies
from tarnkappe.fingerprint.promises import colluders_carried, positions_needed, survival, survival_statements
from tarnkappe.fingerprint.proof import check_proof, prove
from tarnkappe.fingerprint.tracing import score_recipients, trace
from tarnkappe.fingerprint.value_schemes import VALUE_SCHEMES, PublishedCells, ValueScheme
from tarnkappe.fingerprint.values import columns_to_mark, mark_values, read_values


@pytest.fixture(scope="module")
def planned() -> Planned:
    return plan_copies(job(), people(), KEY, recipients=30)


@pytest.fixture(scope="module")
def bench(planned: Planned) -> Bench:
    return Bench(planned.scheme.layout, KEY.of(planned.scheme.dataset), 30, 1e-3, 2)


EASY = {
    "delete-rows": 0.9,
    "flip-marks": 0.5,
    "add-rows": 1.0,
    "merge": 2,
    "mix-rows": 2,
    "delete-columns": 1,
    "coarsen": 1,
    "rename-labels": 0.1,
    "guess": 1.0,
    "blur": 2,
}


@pytest.mark.parametrize(("name", "strength"), EASY.items())
def test_attacks_that_copies_survive(bench: Bench, name: str, strength: float):
    attack = next(a for a in ATTACKS if a.name == name)
    found = outcome(bench, attack, strength, np.random.default_rng(1), 6)
    assert found.traced >= 5
    assert found.falsely_accused == 0
    assert 0 < found.detail_left <= 1


def test_plans_say_what_was_measured(planned: Planned):
    outcomes = survival(planned.scheme, KEY, runs=3)
    found = {(o.attack, o.strength): o.traced for o in outcomes}
    marked = len(np.unique(planned.scheme.layout.pairs))
    assert found["delete-columns", 1] == 3
    assert found["coarsen", marked] == 0  # all marks are gone, and nobody is accused
    survives, lost = survival_statements(outcomes)
    assert "columns deleted: " in survives
    assert "99 % of the rows deleted" in survives
    assert "50 %" not in survives.partition("rows deleted")[0]  # what is weaker goes without saying
    assert "marked columns coarsened: " in lost
    assert survival(replace(planned.scheme, layout=planned.scheme.layout.unmarked()), KEY) == ()
    assert survival_statements(()) == ()


def test_nobody_innocent_is_accused(bench: Bench):
    attack = next(a for a in ATTACKS if a.name == "nobody")
    assert outcome(bench, attack, 1, np.random.default_rng(2), 60).falsely_accused <= 1


def test_a_decoder_that_believes_anything_would_be_noticed(bench: Bench):
    """Sabotage: with almost any risk allowed, innocents are accused now and then; the measure sees it."""
    reckless = Bench(bench.layout, bench.key, 30, 0.999, 2)
    attack = next(a for a in ATTACKS if a.name == "nobody")
    assert outcome(reckless, attack, 1, np.random.default_rng(2), 40).falsely_accused > 0


def test_all_attacks_run_and_are_drawn(bench: Bench, planned: Planned):
    outcomes = robustness(bench, np.random.default_rng(0), runs=1)
    assert {o.attack for o in outcomes} == {a.name for a in ATTACKS}
    page = attack_page(outcomes, planned.scheme)
    assert page.count("<svg") >= 8
    assert all(o.title in page for o in outcomes)


def test_lengths_of_codes():
    assert positions_needed(100, 2, 1e-3) == 196
    assert colluders_carried(positions_needed(50, 3, 0.01), 50, 0.01) == 3
    assert colluders_carried(3, 100, 1e-3) == 0


@pytest.mark.parametrize("kind", VALUE_SCHEMES)
def test_value_schemes_are_read_again(planned: Planned, kind: type[ValueScheme]):
    """Without an attack every scheme finds its recipient, and changes one cell of a marked row at most."""
    scheme = kind(PublishedCells.of(planned.decided.plan), KEY.of("x"), 4)
    book, _ = scheme.book([f"r{i}" for i in range(20)])
    numbers = np.arange(scheme.table.n_rows)
    for who in (3, 11):
        marked = scheme.marked(book[who])
        changed = marked != scheme.table.cells
        assert changed.sum(axis=1).max() == 1
        assert not np.delete(changed, scheme.columns, axis=1).any()
        assert ((marked >= 0) & (marked < scheme.table.labels)).all()
        assert changed.any(axis=1).mean() < 0.3
        assert who in scheme.accused(scheme.votes(marked, numbers), book)
        few = numbers[::2]
        assert who in scheme.accused(scheme.votes(marked[few], few), book)


def test_marks_are_compared_on_the_same_table(planned: Planned, bench: Bench):
    found = compare_marks(
        planned.decided.plan, bench, np.random.default_rng(0), loss=planned.loss, extra_loss=planned.extra_loss, runs=2
    )
    block, *others = found
    assert len(others) == 3
    assert block.privacy.smallest >= 4
    assert all(m.attacks.keys() == block.attacks.keys() for m in others)
    for marks in others:
        assert marks.privacy.smallest < 4
        assert marks.privacy.below > 0
        assert 0 < marks.privacy.false_cells < 0.1
        assert marks.attacks["none"].missed == 0
        assert marks.bounded["sorted"].missed == 2  # there is no number of a row in a leak
        assert marks.bounded["a copy of nobody"].falsely_accused == 0
    assert block.attacks["sorted"].missed == 0


def test_value_marks_in_columns_that_no_criterion_reads():
    frame = people(4000).with_columns(salary=pl.Series(np.random.default_rng(0).integers(1000, 9000, 4000)))
    schema = job(keep=["salary"]).schema(frame.columns)
    key, names = KEY.of("salaries"), [f"r{i}" for i in range(20)]
    assert columns_to_mark(schema) == ["salary"]
    marked = mark_values(frame, schema, "salary", key, "r7", length=96, every=4)
    assert (marked["salary"] - frame["salary"]).abs().max() == 1
    assert marked.drop("salary").equals(frame.drop("salary"))
    changed = (marked["salary"] != frame["salary"]).mean()
    assert 0.05 < changed < 0.25
    leak = marked.sample(fraction=0.5, shuffle=True, seed=1)
    from tarnkappe.fingerprint.code import TardosCode

    evidence = read_values(leak, "salary", key, length=96, every=4)
    assert score_recipients(evidence, TardosCode(key, 96), names).accused == ("r7",)
    nothing = read_values(frame, "salary", key, length=96, every=4)
    assert score_recipients(nothing, TardosCode(key, 96), names).accused == ()
    with pytest.raises(JobError, match="read by criteria"):
        mark_values(frame, schema, "illness", key, "r7", length=96)
    with pytest.raises(DataError, match="whole numbers"):
        mark_values(frame.cast({"salary": pl.Float64}), schema, "salary", key, "r7", length=96)


def test_a_third_party_traces_with_the_key_of_the_data_set(planned: Planned, tmp_path: Path):
    from tarnkappe.fingerprint import Register, issue

    register = Register.open(tmp_path / "register.jsonl")
    tables = {}
    for name in ("one", "two"):
        copy, register = issue(planned, KEY, name, register=register)
        tables[name] = copy.release.table
    proof = prove(planned.scheme, KEY)
    revealed = check_proof(proof, planned.scheme.commitment)
    assert trace(tables["two"], planned.scheme, revealed, register).accused == ("two",)
    assert KEY.raw.hex() not in str(proof)
    for broken in ({}, {**proof, "nonce": "x"}, {**proof, "key of this data set": "zz"}):
        with pytest.raises(VerificationError, match="E504"):
            check_proof(broken, planned.scheme.commitment)


@pytest.fixture(scope="module")
def acceptance(shared: Path):
    """The script with all fourteen points."""
    path = Path(__file__).parents[2] / "bench" / "fingerprint_acceptance.py"
    spec = importlib.util.spec_from_file_location("fingerprint_acceptance", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TARNKAPPE_DATA", str(shared))
        spec.loader.exec_module(module)
        yield module.Acceptance(quick=True)
    sys.modules.pop(spec.name)


#: Points that take longest even when little is repeated; the tests above ask the same of a smaller table.
SLOW = (1, 5, 6, 7, 10, 14)


@pytest.mark.parametrize("number", [n for n in range(1, 15) if n not in SLOW])
def test_points_of_acceptance(acceptance, number: int):
    point = next(p for name, p in acceptance.points() if name.startswith(f"{number} "))
    ok, figure = point()
    assert ok, figure


@pytest.mark.full
@pytest.mark.parametrize("number", SLOW)
def test_all_points_of_acceptance(acceptance, number: int):
    point = next(p for name, p in acceptance.points() if name.startswith(f"{number} "))
    ok, figure = point()
    assert ok, figure

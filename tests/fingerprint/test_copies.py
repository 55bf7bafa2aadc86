"""Copies are private together, alike on paper, and traced after whatever was done to them."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from people import KEY, NAMES, job, people

import tarnkappe as tk
from tarnkappe.audit import audit
from tarnkappe.errors import DataError, JobError, RefusedError
from tarnkappe.fingerprint.families import framed
from tarnkappe.fingerprint.issuing import issue, plan_of_copy
from tarnkappe.fingerprint.joint import alignability, joint_privacy, unaligned_candidates
from tarnkappe.fingerprint.keys import Key
from tarnkappe.fingerprint.planning import Planned, plan_copies
from tarnkappe.fingerprint.poster import poster_plans
from tarnkappe.fingerprint.register import Register
from tarnkappe.fingerprint.scheme import Scheme
from tarnkappe.fingerprint.tracing import trace

RECIPIENTS = [f"hospital {i}" for i in range(6)]


@pytest.fixture(scope="module")
def planned() -> Planned:
    return plan_copies(job(), people(), KEY, recipients=20)


@pytest.fixture(scope="module")
def issued(planned: Planned, tmp_path_factory) -> tuple[Register, dict[str, pl.DataFrame]]:
    register = Register.open(tmp_path_factory.mktemp("register") / "register.jsonl")
    tables = {}
    for name in RECIPIENTS:
        copy, register = issue(planned, KEY, name, register=register)
        assert copy.release.verify().ok
        tables[name] = copy.release.table
    return register, tables


def test_plans_say_what_they_can_carry(planned: Planned):
    assert planned.carried >= 2
    assert planned.scheme.layout.n_positions > 200
    assert any("learns no more than the base" in line for line in planned.statements)
    tiny = plan_copies(job(), people(300), KEY, recipients=1000, colluders=5)
    assert any("only" in line or "cannot carry" in line for line in tiny.statements)


@pytest.mark.parametrize("criterion", [tk.KAnonymity(4), tk.LDiversity("illness", 3), tk.TCloseness("illness", 0.3)])
def test_any_coalition_stays_within_the_criteria(criterion):
    planned = plan_copies(job(criteria=[criterion, tk.KAnonymity(4)]), people(), KEY)
    own = KEY.of(planned.scheme.dataset)
    plans = [plan_of_copy(planned, own, f"r{i}", planned.scheme.base) for i in range(12)]
    for size in (1, 2, 3):
        for coalition in list(combinations(plans, size))[:60]:
            assert joint_privacy(coalition).ok
    everybody = joint_privacy(plans)
    assert everybody.ok
    assert everybody.effective_k >= 4
    assert len({p.suppressed for p in plans}) == 1


def test_pooling_copies_shows_at_most_the_base(planned: Planned):
    own = KEY.of(planned.scheme.dataset)
    plans = [plan_of_copy(planned, own, f"r{i}", planned.scheme.base) for i in range(30)]
    base = planned.decided.plan
    together = joint_privacy(plans)
    alone = joint_privacy([base])
    assert together.effective_k == alone.effective_k
    assert together.risk <= alone.risk


def test_copies_with_suppression_of_their_own_would_be_found_out():
    """Sabotage: leave out one group more in one copy."""
    planned = plan_copies(job(), people(), KEY)
    own = KEY.of(planned.scheme.dataset)
    one, other = (plan_of_copy(planned, own, name, planned.scheme.base) for name in "ab")
    doomed = np.zeros(other.n_groups, np.bool_)
    doomed[int(other.sizes.argmax())] = True
    from dataclasses import replace

    broken = replace(other, grouping=other.grouping.without(doomed))
    assert joint_privacy([one, other]).ok
    assert joint_privacy([one, broken]).n_records == joint_privacy([one]).n_records
    assert joint_privacy([one, broken]).risk > joint_privacy([one, other]).risk - 1e-12


@pytest.mark.parametrize("criterion", [tk.EpsilonMAnonymity("pay", epsilon=1.0, m=3), tk.AverageRisk(0.2)])
def test_criteria_that_pooling_can_break_are_refused(criterion):
    frame = people(500).with_columns(pay=pl.int_range(500) % 20)
    given = job(criteria=[tk.KAnonymity(4), criterion], sensitive={"illness": None, "pay": tk.numeric()})
    with pytest.raises(JobError, match=r"traceable copies cannot promise|cannot guarantee"):
        plan_copies(given, frame, KEY)


@pytest.mark.parametrize("criterion", [tk.KAnonymity(4), tk.TCloseness("illness", 0.3)])
def test_papers_of_copies_are_alike(criterion, tmp_path: Path):
    """But for the digest of the table they are the same, byte by byte: no recipient, time or figure of a copy."""
    planned = plan_copies(job(criteria=[criterion]), people(4000), KEY, recipients=20)
    papers = []
    for name in ("Saint Mary", "Charité"):
        copy, _ = issue(planned, KEY, name, tmp_path / name)
        public = tmp_path / name / "public"
        texts = {p.name: p.read_text() for p in public.iterdir() if p.suffix in (".json", ".html", ".csv")}
        told = json.loads(texts["manifest.json"])
        assert not any(name in text or "fingerprint" in text for text in texts.values())
        assert KEY.raw.hex() not in "".join(texts.values())
        assert told["made"] == planned.scheme.made
        assert all(v["ok"] for v in told["verdicts"])
        assert audit(str(tmp_path / name)).ok
        internal = (tmp_path / name / "do-not-share" / "report.html").read_text()
        assert "Smallest group" in internal  # the publisher is told
        assert copy.release.smallest_group >= 4 or not isinstance(criterion, tk.KAnonymity)
        papers.append({n: text.replace(told["sha256"], "SHA") for n, text in texts.items() if n != "codebook.csv"})
    assert papers[0] == papers[1]


def test_the_same_recipient_gets_the_same_bytes(planned: Planned, tmp_path: Path):
    tables = []
    for folder in ("one", "two"):
        issue(planned, KEY, "Saint Mary", tmp_path / folder)
        tables.append(next((tmp_path / folder / "public").glob("release.*")).read_bytes())
    assert tables[0] == tables[1]


def test_pristine_copies_accuse_exactly_their_recipients(planned: Planned, issued):
    register, tables = issued
    for name, table in tables.items():
        assert trace(table, planned.scheme, KEY, register).accused == (name,)


def manipulations(table: pl.DataFrame, other: pl.DataFrame) -> dict[str, pl.DataFrame]:
    foreign = people(2000, seed=9)
    return {
        "few rows": table.sample(fraction=0.08, seed=1),
        "sorted": table.sort(pl.all()),
        "columns": table.drop("age"),
        "two columns": table.drop("age", "illness"),
        "renamed columns": table.rename({name: f"v{i}" for i, name in enumerate(table.columns)}),
        "spelling": table.with_columns(pl.col(NAMES).cast(pl.String).str.to_uppercase().str.replace(":", " ")),
        "foreign rows": pl.concat([table.select(NAMES).cast(pl.String), foreign.select(NAMES)]),
        "coarser": table.with_columns(pl.lit("*").alias("school")),
        "altered": table.with_columns(
            pl.when(pl.int_range(pl.len()) % 3 == 0)
            .then(pl.col("job").cast(pl.String).shuffle(seed=2))
            .otherwise(pl.col("job").cast(pl.String))
            .alias("job")
        ),
        "mixed": pl.concat([table.cast(pl.String)[::2], other.cast(pl.String)[1::2]]),
    }


@pytest.mark.parametrize("what", manipulations(people(10), people(10)))
def test_leaks_are_traced(what: str, planned: Planned, issued):
    register, tables = issued
    leak = manipulations(tables["hospital 3"], tables["hospital 5"])[what]
    accused = set(trace(leak, planned.scheme, KEY, register).accused)
    assert "hospital 3" in accused
    assert accused <= ({"hospital 3", "hospital 5"} if what == "mixed" else {"hospital 3"})


def test_new_names_for_labels_need_a_list(planned: Planned, issued):
    register, tables = issued
    table = tables["hospital 1"].cast(pl.String)
    for name in NAMES:
        texts = sorted(table[name].unique().to_list())
        table = table.with_columns(pl.col(name).replace({t: f"Z{i}" for i, t in enumerate(texts)}))
    assert trace(table, planned.scheme, KEY, register).accused == ()
    original = tables["hospital 1"].cast(pl.String)
    meaning = {n: {f"Z{i}": t for i, t in enumerate(sorted(original[n].unique().to_list()))} for n in NAMES}
    assert trace(table, planned.scheme, KEY, register, labels=meaning).accused == ("hospital 1",)


def test_nobody_is_accused_without_reason(planned: Planned, issued):
    register, tables = issued
    assert trace(people(3000, seed=4), planned.scheme, KEY, register).accused == ()
    copy, _ = issue(planned, KEY, "not in the register")
    assert trace(copy.release.table, planned.scheme, KEY, register).accused == ()
    empty = trace(tables["hospital 0"], planned.scheme, KEY, Register.open("absent.jsonl"))
    assert empty.suspects == ()
    with pytest.raises(DataError, match="no column"):
        trace(pl.DataFrame({"x": ["1"]}), planned.scheme, KEY, register)
    with pytest.raises(JobError, match="not the key"):
        trace(tables["hospital 0"], planned.scheme, Key(bytes(32)), register)
    for risk in (0.0, 1.0, 2.0):  # p-values are below 2 for everybody
        with pytest.raises(JobError, match="alpha"):
            trace(tables["hospital 0"], planned.scheme, KEY, register, alpha=risk)


def test_schemes_are_kept(planned: Planned, issued, tmp_path: Path):
    register, tables = issued
    planned.scheme.save(tmp_path / "plan")
    again = Scheme.load(tmp_path / "plan")
    assert trace(tables["hospital 2"], again, KEY, register).accused == ("hospital 2",)
    text = (tmp_path / "plan" / "scheme.json").read_text()
    assert KEY.raw.hex() not in text
    changed = text.replace('"alpha": 0.001', '"alpha": 0.9')
    assert changed != text
    (tmp_path / "plan" / "scheme.json").write_text(changed)
    with pytest.raises(JobError, match="the plan was changed"):
        trace(tables["hospital 2"], Scheme.load(tmp_path / "plan"), KEY, register)
    (tmp_path / "plan" / "layout.npz").write_bytes(b"changed")
    with pytest.raises(DataError, match="E415"):
        Scheme.load(tmp_path / "plan")


def test_patterns_are_handed_out_once(tmp_path: Path):
    planned = plan_copies(job(), people(), KEY, kind="patterns", recipients=4, colluders=2)
    assert framed(np.array(planned.scheme.patterns, np.int16), 2) is None
    register = Register.open(tmp_path / "register.jsonl")
    tables = {}
    n = len(planned.scheme.patterns)
    for i in range(n):
        copy, register = issue(planned, KEY, f"r{i}", register=register)
        tables[f"r{i}"] = copy.release.table
    assert len({e.pattern for e in register.entries}) == n
    for name, table in tables.items():
        assert trace(table.sample(1, seed=3), planned.scheme, KEY, register).fitting == (name,)
    mixed = pl.concat([tables["r0"].cast(pl.String), tables["r1"].cast(pl.String)])
    found = trace(mixed, planned.scheme, KEY, register)
    assert found.fitting == () or len(found.fitting) < n
    assert found.fitting or ("r0", "r1") in found.coalitions
    with pytest.raises(JobError, match="are taken"):
        issue(planned, KEY, "one too many", register=register)
    again, _ = issue(planned, KEY, "r0", register=register)
    assert again.release.table.equals(tables["r0"])


def test_patterns_and_marks_together(tmp_path: Path):
    planned = plan_copies(job(), people(), KEY, kind="both", recipients=3, colluders=1, alpha=0.01)
    assert planned.scheme.patterns
    register = Register.open(tmp_path / "register.jsonl")
    tables = {}
    for name in "abc":
        copy, register = issue(planned, KEY, name, register=register)
        tables[name] = copy.release.table
    for name, table in tables.items():
        found = trace(table, planned.scheme, KEY, register)
        assert found.fitting == (name,)
        assert set(found.accused) <= {name}
    own = KEY.of(planned.scheme.dataset)
    plans = [plan_of_copy(planned, own, e.recipient, e.pattern) for e in register.entries]
    assert joint_privacy(plans).ok


def test_the_mode_of_the_poster_needs_an_acknowledgement(planned: Planned):
    tally, goal = planned.decided.plan.tally, planned.decided.plan.goal
    patterns = [(0, 3, 3, 1, 1), (3, 0, 1, 3, 1), (1, 1, 0, 3, 3)]
    with pytest.raises(RefusedError, match="pairs of recipients"):
        poster_plans(tally, goal, patterns, acknowledged=False)
    plans, report = poster_plans(tally, goal, patterns, acknowledged=True)
    assert len(plans) == report.pairs == 3
    assert report.broken > 0
    assert not report.everybody.ok


def test_joint_privacy_of_nested_patterns_is_that_of_their_meet(planned: Planned):
    tally, goal = planned.decided.plan.tally, tk.Job(quasi={"a": tk.suppress()}, criteria=[tk.KAnonymity(1)]).goal
    from tarnkappe.algorithms.fulldomain.search import cuts_at
    from tarnkappe.algorithms.recoding import recode
    from tarnkappe.plan import Plan

    def at(levels):
        return Plan.of(tally, goal, recode(tally, cuts_at(tally, levels)))

    for one, other in [((3, 1, 2, 2, 2), (1, 3, 2, 3, 2)), ((2, 2, 2, 2, 3), (3, 3, 1, 3, 2))]:
        low = tuple(min(a, b) for a, b in zip(one, other, strict=True))
        assert joint_privacy([at(one), at(other)]).effective_k == at(low).sizes.min()


def test_candidates_of_who_cannot_match_rows(planned: Planned):
    own = KEY.of(planned.scheme.dataset)
    one, other = (plan_of_copy(planned, own, name, planned.scheme.base) for name in "ab")
    found = unaligned_candidates(one, other)
    tally = one.tally
    expected = []
    for g, h in {(int(g), int(h)) for g, h in zip(one.grouping.group, other.grouping.group, strict=True) if g >= 0}:
        total = 0
        for s in range(len(tally.joint[1])):
            sizes = [
                int(tally.count[(p.grouping.group == x) & (tally.joint[0] == s)].sum())
                for p, x in ((one, g), (other, h))
            ]
            total += min(sizes)
        expected.append(total)
    assert sorted(found.tolist()) == sorted(expected)
    assert found.min() >= joint_privacy([one, other]).effective_k


def test_alignability():
    assert alignability(people(50), []) == 0
    assert alignability(people(50), list(NAMES)) > 0.9


@pytest.mark.parametrize(
    "wrong",
    [{"recipients": 0}, {"colluders": 0}, {"alpha": 0.0}, {"kind": "magic"}, {"base": (9, 9, 9, 9, 9)}],
)
def test_bad_plans_are_refused(wrong):
    from tarnkappe.errors import TarnkappeError

    with pytest.raises(TarnkappeError):
        plan_copies(job(), people(300), KEY, **wrong)
    with pytest.raises(JobError):
        issue(plan_copies(job(), people(300), KEY), KEY, "  ")

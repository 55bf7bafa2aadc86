"""Top-down specialisation: the paper's example, a plain twin, and the guarantee under every kind of goal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_specialisation import PlainSpecialisation, published_parts

from grids import examples
from strategies import brute_meets, goals, published_rows, tallies
from tarnkappe.algorithms.subtree.party import Party
from tarnkappe.algorithms.subtree.specialisation import by_size, specialise
from tarnkappe.algorithms.subtree.tds import TopDownSpecialization
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.datasets import load_adult
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.io import open_source
from tarnkappe.job import Job, numeric
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

RNG = np.random.default_rng(0)

EDUCATION = Taxonomy.from_nested(
    {
        "any": {
            "Secondary": {"Junior": ["9th", "10th"], "Senior": ["11th", "12th"]},
            "University": {"Bachelors": None, "Graduate": ["Masters", "Doctorate"]},
        }
    }
)
SEX = Taxonomy.from_nested({"person": ["F", "M"]})
HOURS = [30, 32, 35, 37, 42, 44]
#: Education, sex, hours, people with a high income, people with a low one.
PAPER = [
    ("9th", "M", 30, 0, 3),
    ("10th", "M", 32, 0, 4),
    ("11th", "M", 35, 2, 3),
    ("12th", "F", 37, 3, 1),
    ("Bachelors", "F", 42, 4, 2),
    ("Bachelors", "F", 44, 4, 0),
    ("Masters", "M", 44, 4, 0),
    ("Masters", "F", 44, 3, 0),
    ("Doctorate", "F", 44, 1, 0),
]


def paper_table() -> Tally:
    domains = [
        Domain("education", EDUCATION),
        Domain("sex", SEX),
        Domain("hours", Taxonomy.scale([str(h) for h in HOURS]), np.array(HOURS, np.float64)),
    ]
    rows = [
        (EDUCATION.leaves.index(e), SEX.leaves.index(s), HOURS.index(h), income)
        for e, s, h, yes, no in PAPER
        for income in [0] * yes + [1] * no
    ]
    columns = list(np.array(rows).T)
    return count_cells(columns[:3], columns[3:], domains, [Domain("income", Taxonomy.from_nested(["yes", "no"]))])[0]


def party(tally: Tally, target: str, k: int, **settings_of_party: object) -> Party:
    s = tally.sensitive_index(target)
    classes = tally.sensitive[:, s], tally.sensitive_domains[s].size
    return Party(tally.quasi, tally.quasi_domains, tally.count, classes, min_size=k, **settings_of_party)


def labels(grouping: Grouping, tally: Tally, j: int) -> set[str]:
    """What column `j` publishes."""
    plan = Plan.of(tally, Goal([KAnonymity(1)], 1.0), grouping)
    return {plan.labels[j].texts[c] for c in plan.labels[j].code}


def test_scores_of_the_paper():
    """InfoGain of education 0.2716, its score 0.2716 / (34 - 16 + 1); the hours are better, sex is worse."""
    table = paper_table()
    holder = party(table, "income", 4, granularity="subtree")
    candidates = holder.candidates()
    gain, _ = holder.gains(candidates)
    scores = dict(zip(candidates.tolist(), holder._score()[candidates].tolist(), strict=True))
    found = dict(zip(candidates.tolist(), gain.tolist(), strict=True))
    education, sex, hours = 0, 7, 9
    assert found[education] == pytest.approx(0.2716, abs=5e-5)
    assert scores[education] == pytest.approx(0.2716 / 19, abs=5e-6)
    assert found[sex] == pytest.approx(0.1664, abs=5e-5)
    assert found[hours + 2] == pytest.approx(0.3584, abs=5e-5)
    assert scores[hours + 2] == pytest.approx(0.3584 / 23, abs=5e-6)
    (offer, best) = holder.best()
    assert best == hours + 2
    assert offer.score == scores[hours + 2]


def test_release_of_the_paper():
    table = paper_table()
    grouping = TopDownSpecialization("income", granularity="subtree", attempts=1).decide(
        table, Goal([KAnonymity(4)]), rng=RNG
    )
    assert labels(grouping, table, 0) == {"Junior", "11th", "12th", "Bachelors", "Graduate"}
    assert labels(grouping, table, 2) == {"[30 32]", "35", "37", "42", "44"}


def test_a_rare_child_does_not_keep_the_others_back():
    tree = Taxonomy.from_nested({"any": ["a", "b", "rare"]})
    codes = [0] * 6 + [1] * 6 + [2]
    target = [0] * 6 + [1] * 7
    table = count_cells(
        [np.array(codes)], [np.array(target)], [Domain("x", tree)], [Domain("y", Taxonomy.from_nested(["p", "q"]))]
    )[0]
    goal = Goal([KAnonymity(5)])
    siblings = TopDownSpecialization("y").decide(table, goal, rng=RNG)
    assert labels(siblings, table, 0) in ({"a", "any"}, {"b", "any"})
    whole = TopDownSpecialization("y", granularity="subtree").decide(table, goal, rng=RNG)
    assert labels(whole, table, 0) == {"any"}
    with_suppression = TopDownSpecialization("y").decide(table, Goal([KAnonymity(5)], 0.1), rng=RNG)
    assert labels(with_suppression, table, 0) == {"a", "b"}
    assert with_suppression.suppressed == 1


def test_a_generous_limit_is_not_wasted():
    """Everybody may be suppressed; that is no reason to do it for a little more detail."""
    tree = Taxonomy.from_nested({"any": [f"v{i}" for i in range(12)]})
    codes = np.repeat(np.arange(12), 3)
    domains = [Domain("x", tree)], [Domain("y", Taxonomy.from_nested(["p", "q"]))]
    table = count_cells([codes], [codes % 2], *domains)[0]
    grouping = TopDownSpecialization("y").decide(table, Goal([KAnonymity(4)], 1.0), rng=RNG)
    check_grouping("tds", table, Goal([KAnonymity(4)], 1.0), grouping)
    assert grouping.suppressed < table.n_records


def cell_labels(grouping: Grouping, tally: Tally) -> list[list[tuple[int, ...]]]:
    boxes = grouping.boxes(tally)
    order = np.argsort(grouping.cell)
    at = grouping.group[order]
    return [
        list(zip(boxes.lo[at, j].tolist(), boxes.hi[at, j].tolist(), boxes.node[at, j].tolist(), strict=True))
        for j in range(len(tally.quasi_domains))
    ]


@settings(max_examples=examples(150))
@given(tallies(wildcards=False, max_records=40), st.integers(1, 6), st.booleans())
def test_same_as_the_plain_twin(tally: Tally, k: int, siblings: bool):
    if tally.n_records < k:
        return
    expected = PlainSpecialisation(tally, "s0", k, siblings=siblings).run()
    if not expected:  # a tie
        return
    granularity = "sibling" if siblings else "subtree"
    found = TopDownSpecialization("s0", granularity=granularity, attempts=1).decide(
        tally, Goal([KAnonymity(k)]), rng=RNG
    )
    assert published_parts(tally, cell_labels(found, tally)) == expected


@settings(max_examples=examples(60))
@given(tallies(wildcards=False, max_records=60), st.integers(1, 5), st.sampled_from(["subtree", "sibling", "value"]))
def test_weights_stay_exact(tally: Tally, k: int, granularity: str):
    """After every step the incremental sums are those of counting anew."""
    if tally.n_records < k:
        return
    holder = party(tally, "s0", k, granularity=granularity, budget=tally.n_records // 10)
    while (found := holder.best()) is not None:
        lost = holder._sums(holder._weights[id(holder.groups)].lost)
        freed = holder._sums(holder._weights[id(holder.groups)].freed)
        for candidate in holder.candidates().tolist():
            pieces = holder.step(candidate).pieces
            small = pieces.size[pieces.size < k].sum()
            before = (holder.groups.size[np.unique(pieces.group)].astype(float) ** 2).sum()
            assert lost[candidate] == small
            assert freed[candidate] == before - (pieces.size.astype(float) ** 2).sum()
        step = holder.step(found[1])
        holder.carry_out(step, by_size(holder, step))


@settings(max_examples=examples(60))
@given(tallies(wildcards=False), goals(know_others=None), st.sampled_from(["subtree", "sibling"]))
def test_every_goal_is_kept(tally: Tally, goal: Goal, granularity: str):
    try:
        grouping = TopDownSpecialization("s0", granularity=granularity, attempts=2).decide(tally, goal, rng=RNG)
    except InfeasibleError:
        return
    check_grouping("tds", tally, goal, grouping)
    rows = published_rows(Plan.of(tally, goal, grouping))
    assert all(brute_meets(rows, c, tally) for c in goal.criteria)


@settings(max_examples=examples(60))
@given(tallies(wildcards=False), st.integers(1, 5))
def test_nothing_more_is_allowed_in_the_end(tally: Tally, k: int):
    if tally.n_records < k:
        return
    holder = party(tally, "s0", k)
    specialise([holder], by_size)
    holder.relax(k, 0)  # everything may be tried again
    assert holder.best() is None


def test_several_quasi_identifiers():
    """Anonymity lost is the mean over the sets: a set without the column loses nothing."""
    table = paper_table()
    one = party(table, "income", 4, granularity="subtree")
    both = party(table, "income", 4, granularity="subtree", sets=[[0, 1], [1, 2]])
    education, sex = 0, 7
    assert one._score()[education] == pytest.approx(both._score()[education] * (9 + 1) / (18 + 1))
    assert one._score()[sex] == pytest.approx(both._score()[sex])
    goal = Goal([KAnonymity(4)])
    found = TopDownSpecialization("income", anonymity_sets=(("education", "sex"), ("sex", "hours")))
    check_grouping("tds", table, goal, found.decide(table, goal, rng=RNG))
    with pytest.raises(JobError, match=r"no quasi-identifier .did you mean 'hours'"):
        TopDownSpecialization("income", anonymity_sets=(("hour",),)).decide(table, goal, rng=RNG)


def test_values_without_information_come_last_but_come():
    tree = Taxonomy.from_nested({"any": ["a", "b"]})
    codes = np.array([0, 1] * 8)
    domains = [Domain("x", tree)], [Domain("y", Taxonomy.from_nested(["p", "q"]))]
    table = count_cells([codes], [np.array([0, 0, 1, 1] * 4)], *domains)[0]
    grouping = TopDownSpecialization("y").decide(table, Goal([KAnonymity(4)]), rng=RNG)
    assert labels(grouping, table, 0) == {"a", "b"}


def test_sets_publish_sets():
    scale = Domain("x", Taxonomy.scale(["a", "b", "c", "d"]), sets=True)
    codes = np.array([0, 1, 2, 3] * 2)
    target = [Domain("y", Taxonomy.from_nested(["p", "q"]))]
    table = count_cells([codes], [np.array([0, 0, 1, 1] * 2)], [scale], target)[0]
    grouping = TopDownSpecialization("y").decide(table, Goal([KAnonymity(4)]), rng=RNG)
    assert labels(grouping, table, 0) == {"{a | b}", "{c | d}"}


def test_what_cannot_be_done():
    table = paper_table()
    with pytest.raises(InfeasibleError):
        TopDownSpecialization("income").decide(table, Goal([KAnonymity(35)]), rng=RNG)
    with pytest.raises(JobError, match="did you mean 'income'"):
        TopDownSpecialization("incme").decide(table, Goal([KAnonymity(2)]), rng=RNG)


@pytest.fixture(scope="module")
def adult(shared: Path) -> Tally:
    frame, taxonomies = load_adult(shared / "data" / "adult")
    quasi = {name: numeric() if name == "age" else taxonomies[name] for name in frame.columns[:-2]}
    job = Job(quasi=quasi, sensitive=["occupation", "salary-class"], drop="rest", criteria=[KAnonymity(10)])
    source = open_source(frame)
    return MemoryEngine().count(source, job.schema(source.columns))


@pytest.mark.parametrize(
    "goal",
    [Goal([KAnonymity(10)]), Goal([KAnonymity(50)], 0.02), Goal([KAnonymity(10), LDiversity("occupation", 4)])],
    ids=["k=10", "k=50, 2 %", "k=10, l=4"],
)
def test_adult(adult: Tally, goal: Goal):
    grouping = TopDownSpecialization("salary-class").decide(adult, goal, rng=RNG)
    check_grouping("tds", adult, goal, grouping)
    assert grouping.n_groups > 50

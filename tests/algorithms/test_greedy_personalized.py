"""Sensitive values are coarsened person by person, and written tables keep everybody's guarding node."""

from __future__ import annotations

import csv
import random
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.algorithms.subtree.greedy_personalized import GreedyPersonalized, _paths
from tarnkappe.audit import audit as verify_folder
from tarnkappe.criteria.personalized_privacy import PersonalizedPrivacy
from tarnkappe.errors import InfeasibleError, JobError, VerificationError
from tarnkappe.groups import GroupStats
from tarnkappe.job.places import OutputSettings
from tarnkappe.kernels.subtree.raising import raise_values
from tarnkappe.publish.personal import Personal
from tarnkappe.schema import Column
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

sys.path.insert(0, str(Path(__file__).parent.parent / "guarantee"))
import personal_checker as outside

ILLNESS = {
    "any illness": {
        "respiratory": {"infection": ["flu", "pneumonia", "bronchitis"], "chronic": ["asthma"]},
        "digestive": ["gastritis", "ulcer", "dyspepsia"],
    }
}
TREE = Taxonomy.from_nested(ILLNESS)
BELOW = outside.below(ILLNESS)
SECRET = Domain("illness", TREE)
SIDES = {"*": {"North": ["Kiel", "Husum"], "South": ["Ulm", "Passau"]}}
QUASI = {"age": None, "town": outside.below(SIDES), "sex": None}


# --- the chance of a breach -------------------------------------------------------------------------------------------


def stats_of(labels: list[str], guards: list[str | None], people: list[int]) -> GroupStats:
    """One group whose records publish labels; guarding nodes and people stand beside them."""
    names = sorted({g for g in guards if g is not None})
    scale = Taxonomy.scale(names).with_missing("?")
    guard = Domain("guard", scale, missing=scale.n_leaves - 1, aside=True)
    person = Domain("person", Taxonomy.scale([str(i) for i in range(max(people) + 1)]), aside=True)
    codes = np.array([guard.missing if g is None else names.index(g) for g in guards], np.int32)
    nodes = np.array([TREE.labels.index(label) for label in labels], np.int32)
    n = len(labels)
    sensitive = {"guard": (codes, guard), "person": (np.array(people, np.int32), person)}
    return GroupStats.from_cells(np.zeros(n), np.ones(n, np.int64), sensitive, raised={"illness": (nodes, SECRET)})


@given(
    st.lists(st.tuples(st.sampled_from(TREE.labels), st.sampled_from(TREE.labels)), min_size=1, max_size=3),
    st.booleans(),
    st.integers(1, 3),
)
@settings(max_examples=examples(60))
def test_the_chance_of_a_breach_is_that_of_all_worlds(records, several, n_people):
    labels, guards = [r[0] for r in records], [r[1] for r in records]
    people = [i % n_people for i in range(len(records))]
    n = min(n_people, len(records)) if several else len(records)
    truth = max(outside.breach_by_worlds(labels, g, n, several, BELOW) for g in guards)
    assert truth == max(outside.breach(labels, g, n, several, BELOW) for g in guards)
    criterion = PersonalizedPrivacy("illness", "guard", 0.5, "person" if several else None)
    stats = stats_of(labels, list(guards), people)
    assert criterion.level(stats).tolist() == pytest.approx([float(truth)], abs=1e-12)
    assert criterion.satisfied(stats).tolist() == [truth <= Fraction(1, 2)]
    assert criterion._exact(stats, 0) == truth


def test_hand_worked_shares():
    """Infection covers three illnesses: a record published so is the flu with a third, and an infection for certain."""
    labels = ["infection", "ulcer", "ulcer"]
    assert outside.breach(labels, "flu", 3, False, BELOW) == Fraction(1, 9)
    assert outside.breach(labels, "infection", 3, False, BELOW) == Fraction(1, 3)
    assert outside.breach(["any illness", "flu"], "infection", 2, False, BELOW) == (Fraction(3, 7) + 1) / 2
    # Two people, two records of the flu, and anybody may have both: nobody has none with a quarter.
    assert outside.breach(["flu", "flu"], "flu", 2, True, BELOW) == Fraction(3, 4)
    stats = stats_of(["flu", "flu"], ["flu", None], [0, 1])
    assert PersonalizedPrivacy("illness", "guard", 0.75, "person").satisfied(stats).all()
    assert not PersonalizedPrivacy("illness", "guard", 0.74, "person").satisfied(stats).any()


# --- raising the values of one group ----------------------------------------------------------------------------------

KNOWN = PersonalizedPrivacy.known_values(SECRET)
COST = (KNOWN - 1) / (KNOWN[0] - 1)


def raised(values: list[str], guards: list[str], n_people: int, p: float, several: bool) -> tuple[list[str], bool]:
    """What the kernel publishes for a group."""
    leaves = sorted(set(values), key=TREE.leaves.index)
    windows = [TREE.labels.index(g) for g in guards]
    first, last = TREE.lo[windows], TREE.hi[windows]
    limit = p if not several else -np.log1p(-p) if p < 1 else np.inf
    steps, lost, ok = raise_values(
        np.array([0, len(leaves)]),
        np.array([TREE.leaves.index(v) for v in leaves], np.int32),
        np.array([values.count(v) for v in leaves]),
        np.array([n_people]),
        np.array([0, len(guards)]),
        first,
        last,
        (last - first + 1).astype(np.int64),
        _paths(SECRET),
        TREE.lo,
        TREE.hi,
        KNOWN,
        COST,
        limit,
        several,
    )
    path = _paths(SECRET)
    out = [
        TREE.labels[path[TREE.leaves.index(v), s]]
        for v, row in zip(leaves, steps, strict=True)
        for s, n in enumerate(row)
        for _ in range(n)
    ]
    assert len(out) == len(values)
    assert lost[0] == pytest.approx(sum(COST[TREE.labels.index(label)] for label in out))
    return out, bool(ok[0])


def best_by_brute_force(values: list[str], guards: list[str], n: int, p: float, several: bool) -> float | None:
    """The least cost of labels that breach no node; None if there are none."""
    above = {v: [label for label in TREE.labels if v in BELOW[label]] for v in values}
    costs = [
        sum(float(COST[TREE.labels.index(label)]) for label in labels)
        for labels in product(*(above[v] for v in values))
        if all(outside.breach(labels, g, n, several, BELOW) <= Fraction(str(p)) for g in guards)
    ]
    return min(costs, default=None)


groups = st.lists(st.sampled_from(TREE.leaves), min_size=2, max_size=4)
guarding = st.lists(st.sampled_from(TREE.labels[1:]), min_size=1, max_size=3, unique=True)


@given(groups, guarding, st.sampled_from([0.25, 0.4, 0.5, 0.75, 1.0]), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_raised_values_breach_no_node(values, guards, p, several):
    """And where labels that breach none exist, they are found, at no more than one and a half times the least cost."""
    n = len(values)
    labels, ok = raised(values, guards, n, p, several)
    assert outside.matched(labels, values, BELOW)
    kept = all(outside.breach(labels, g, n, several, BELOW) <= Fraction(str(p)) for g in guards)
    assert kept == ok
    best = best_by_brute_force(values, guards, n, p, several)
    assert ok == (best is not None)
    if best is not None:
        cost = sum(float(COST[TREE.labels.index(label)]) for label in labels)
        assert cost <= 1.5 * best + 1e-9


def test_only_as_many_are_raised_as_needed():
    labels, ok = raised(["flu"] * 6 + ["ulcer"] * 4, ["flu"], 10, 0.5, False)
    assert ok
    assert sorted(labels) == sorted(["flu"] * 4 + ["infection"] * 2 + ["ulcer"] * 4)


# --- whole jobs -------------------------------------------------------------------------------------------------------


def patients(seed: int, n: int, visits: int = 1) -> pl.DataFrame:
    rng = random.Random(seed)
    rows = []
    for person in range(n):
        who = (rng.randint(20, 39), rng.choice(["Kiel", "Husum", "Ulm", "Passau"]), rng.choice("fm"))
        for _ in range(rng.randint(1, visits)):
            guard = rng.choice([None, None, "flu", "infection", "digestive", "ulcer", "asthma"])
            rows.append((*who, rng.choice(TREE.leaves), guard, f"p{person}"))
    return pl.DataFrame(rows, schema=["age", "town", "sex", "illness", "guard", "person"], orient="row")


def job(p: float, k: int = 2, by_people: bool = False, **settings: Any) -> tk.Job:
    return tk.Job(
        quasi={"age": tk.numeric(), "town": tk.tree(SIDES), "sex": tk.suppress()},
        columns=[
            Column("illness", "sensitive", taxonomy=tk.tree(ILLNESS)),
            Column("guard", "drop"),
            Column("person", "subject" if by_people else "drop"),
        ],
        criteria=[
            tk.KAnonymity(k),
            PersonalizedPrivacy("illness", "guard", p, "person" if by_people else None),
        ],
        algorithm=GreedyPersonalized(),
        output=OutputSettings(format="csv"),
        **settings,
    )


def written(folder: Path) -> list[dict[str, str]]:
    with next(p for p in (folder / "public").glob("*.csv") if p.name != "codebook.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def run_and_audit(seed: int, n: int, p: float, k: int, by_people: bool, folder: Path, limit: float = 0.0) -> int:
    """Write a release and audit it from outside; how many sensitive values are coarse, -1 if there is no release."""
    table = patients(seed, n, 3 if by_people else 1)
    out = folder / f"{seed}"
    try:
        tk.run_job(job(p, k, by_people, max_suppressed=limit), table, out, seed=seed)
    except InfeasibleError:
        assert not out.exists()
        return -1
    rows, people = written(out), table.with_columns(pl.col("age").cast(pl.String)).to_dicts()
    assert len(rows) >= (1 - limit) * table.height
    worst, smallest = outside.audit(rows, people, QUASI, "illness", BELOW, person="person" if by_people else None)
    assert worst <= Fraction(str(p))
    assert smallest >= k
    return sum(row["illness"] not in TREE.leaves for row in rows)


@pytest.mark.parametrize("by_people", [False, True])
def test_written_tables_breach_nobody(by_people: bool, tmp_path: Path):
    asked = [0.7, 0.7, 0.75, 0.8, 0.9] if by_people else [0.45, 0.5, 0.6, 0.75, 0.9]
    found = [run_and_audit(seed, 30, p, 2, by_people, tmp_path, 0.1) for seed, p in enumerate(asked)]
    assert sum(n >= 0 for n in found) >= 4
    assert max(found) > 0, "nothing was coarsened, so nothing was tested"


@pytest.mark.full
@pytest.mark.parametrize("by_people", [False, True])
def test_many_written_tables_breach_nobody(by_people: bool, tmp_path: Path):
    rng = random.Random(7)
    found = [
        run_and_audit(
            100 + i, rng.randint(5, 80), rng.choice([0.2, 0.3, 0.5, 0.7, 0.9]), rng.randint(1, 5), by_people, tmp_path
        )
        for i in range(100)
    ]
    assert sum(n >= 0 for n in found) >= 40, "too few of them were released"


def least_loss(rows: list[tuple], p: float, k: int) -> float | None:
    """What a release loses at least, of all ways to tell the two columns or not; None if there is none."""
    best = None
    for told in product([False, True], repeat=2):
        groups: dict[tuple, list[tuple]] = {}
        for row in rows:
            groups.setdefault(tuple(v for v, t in zip(row, told, strict=False) if t), []).append(row)
        costs = []
        for members in groups.values():
            guards = [r[3] for r in members if r[3] is not None]
            costs.append(best_by_brute_force([r[2] for r in members], guards, len(members), p, False))
        if min(map(len, groups.values())) < k or None in costs:
            continue
        hidden = sum(not t and len({r[j] for r in rows}) > 1 for j, t in enumerate(told))
        loss = sum(c for c in costs if c is not None) + len(rows) * hidden
        best = loss if best is None else min(best, loss)
    return best


def test_near_the_best_of_all_releases_of_tiny_tables():
    """Where there is a release it is found, and loses at most a quarter more than the best."""
    found = []
    for seed in range(25):
        rng = random.Random(seed)
        rows = [
            (rng.choice("fm"), rng.choice("xy"), rng.choice(TREE.leaves), rng.choice([None, None, *TREE.labels[1:]]))
            for _ in range(rng.randint(2, 4))
        ]
        p, k = rng.choice([0.25, 0.4, 0.5, 0.75]), rng.randint(1, 2)
        asked = tk.Job(
            quasi={"sex": tk.suppress(), "side": tk.suppress()},
            columns=[Column("illness", "sensitive", taxonomy=tk.tree(ILLNESS)), Column("guard", "drop")],
            criteria=[tk.KAnonymity(k), PersonalizedPrivacy("illness", "guard", p)],
            algorithm=GreedyPersonalized(),
        )
        data = pl.DataFrame(rows, schema=["sex", "side", "illness", "guard"], orient="row")
        best = least_loss(rows, p, k)
        try:
            table = asked.anonymize(data, seed=1).table
        except InfeasibleError:
            assert best is None
            continue
        hidden = sum(int((table[q] == "*").sum()) for q in ("sex", "side") if data[q].n_unique() > 1)
        loss = hidden + sum(float(COST[TREE.labels.index(label)]) for label in table["illness"])
        assert best is not None
        assert best - 1e-9 <= loss <= 1.25 * best + 1e-9
        found.append(loss)
    assert len(found) > 12


def test_less_is_lost_than_without_coarse_secrets(tmp_path: Path):
    """What the method is for: an algorithm that leaves secrets as they are must coarsen the rest much more."""
    table = patients(3, 60)
    fine = job(0.5).anonymize(table, seed=1)
    coarse = tk.Job(
        quasi=dict(zip(QUASI, [tk.intervals(5, 10, 20, start=20), tk.tree(SIDES), tk.suppress()], strict=True)),
        columns=[c for c in job(0.5).columns if c.role != "quasi"],
        criteria=job(0.5).goal.criteria,
        algorithm="flash",
        max_suppressed=0.0,
    ).anonymize(table, seed=1)
    assert fine.n_groups > 3 * coarse.n_groups


def test_folders_are_checked_again_and_edits_found(tmp_path: Path):
    tk.run_job(job(0.5), patients(1, 40), tmp_path / "out", seed=1)
    assert verify_folder(str(tmp_path / "out")).ok
    file = next(p for p in (tmp_path / "out/public").glob("*.csv") if p.name != "codebook.csv")
    kept = file.read_text()
    lines = kept.splitlines()
    at = lines[0].split(",").index("illness")
    broken = [",".join([*row[:at], "flu", *row[at + 1 :]]) for row in (line.split(",") for line in lines[1:])]
    file.write_text("\n".join([lines[0], *broken]) + "\n")
    found = verify_folder(str(tmp_path / "out"))
    assert not found.ok
    assert [v.ok for v in found.found.verdicts] == [True, False]


def test_a_stranger_is_told_what_cannot_be_checked(tmp_path: Path):
    tk.run_job(job(0.5), patients(1, 40), tmp_path / "out", seed=1)
    file = next(p for p in (tmp_path / "out/public").glob("*.csv") if p.name != "codebook.csv")
    # Beside the private folder nobody says what labels stand for; without it, what people guard is not known either.
    for moved in (False, True):
        found = verify_folder(str((tmp_path / "out/public").rename(tmp_path / "shared") / file.name if moved else file))
        assert [v.criterion for v in found.found.verdicts if v.ok] == ["k-anonymity"]
        assert [c.name for c, _ in found.unchecked] == ["personalized-privacy"]


def test_guards_and_people_are_not_published(tmp_path: Path):
    tk.run_job(job(0.8, by_people=True), patients(1, 40, 2), tmp_path / "out", seed=1)
    assert list(written(tmp_path / "out")[0]) == ["age", "town", "sex", "illness", "group"]
    witness = pl.read_parquet(tmp_path / "out/do-not-share/witness.parquet")
    assert set(witness.columns) == {"guard", "person"}
    assert witness["person"].dtype.is_integer()
    assert (tmp_path / "out/do-not-share/witness.parquet").stat().st_mode & 0o077 == 0


def test_engines_write_the_same_bytes(tmp_path: Path):
    for engine in ("memory", "streaming"):
        tk.run_job(job(0.5, engine=engine), patients(2, 40), tmp_path / engine, seed=5)
    one, two = (next((tmp_path / e / "public").glob("r*.csv")).read_bytes() for e in ("memory", "streaming"))
    assert one == two


# --- broken on purpose ------------------------------------------------------------------------------------------------

made_labels, made_witness = Personal._labels, Personal.witness


def others_labels(self: Personal, plan: Any, missing: Any) -> Any:
    """Everybody has the label of the next one."""
    nodes, labels = made_labels(self, plan, missing)
    return np.roll(nodes, 1), labels


def nobody_minds(self: Personal, plan: Any, rng: Any) -> pl.DataFrame:
    """What is kept says that nobody guards anything."""
    return made_witness(self, plan, rng).with_columns(guard=pl.lit(None, pl.String))


def everybody_is_somebody_else(self: Personal, plan: Any, rng: Any) -> pl.DataFrame:
    """What is kept says that no person has two records."""
    made = made_witness(self, plan, rng)
    return (
        made.with_columns(person=pl.int_range(made.height))
        if "person" in made.columns
        else nobody_minds(self, plan, rng)
    )


@pytest.mark.parametrize(
    ("name", "broken"),
    [("_labels", others_labels), ("witness", nobody_minds), ("witness", everybody_is_somebody_else)],
)
@pytest.mark.parametrize("by_people", [False, True])
def test_a_lie_is_found_and_nothing_is_left(
    name: str, broken: Any, by_people: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(Personal, name, broken)
    asked = job(0.8 if by_people else 0.5, by_people=by_people)
    with pytest.raises(VerificationError, match="E501"):
        tk.run_job(asked, patients(1, 40, 3 if by_people else 1), tmp_path / "out", seed=1)
    assert list(tmp_path.iterdir()) == []


def test_a_lying_criterion_is_found_out_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """It deceives plan and verdict alike; counting by hand it does not."""
    from tarnkappe.algorithms.subtree import greedy_personalized as module

    def content(indptr, leaf, counts, *rest):
        steps = np.zeros((len(leaf), _paths(SECRET).shape[1]), np.int64)
        steps[:, 0] = counts
        return steps, np.zeros(len(indptr) - 1), np.ones(len(indptr) - 1, np.bool_)

    monkeypatch.setattr(module, "raise_values", content)
    monkeypatch.setattr(PersonalizedPrivacy, "holds", lambda self, stats: np.ones(stats.n_groups, np.bool_))
    with pytest.raises(AssertionError):
        run_and_audit(1, 40, 0.4, 2, False, tmp_path)


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_what_it_cannot_do():
    table = patients(1, 40)
    kind = tk.tree(ILLNESS)
    guard = [Column("guard", "drop"), Column("person", "drop")]
    quasi = {"age": tk.numeric(), "town": tk.tree(SIDES), "sex": tk.suppress()}

    def refused(columns: list[Column], criteria: list[Any], match: str) -> None:
        asked = tk.Job(quasi=quasi, columns=columns, criteria=criteria, algorithm=GreedyPersonalized())
        with pytest.raises(JobError, match=match):
            asked.anonymize(table)

    personal = PersonalizedPrivacy("illness", "guard", 0.5)
    secret = Column("illness", "sensitive", taxonomy=kind)
    refused([secret, *guard], [tk.KAnonymity(2)], "E111 .*cannot promise a goal without it")
    refused([secret, *guard], [personal, tk.LDiversity("illness", 2)], "E111 .*cannot promise l-diversity")
    refused(
        [secret, guard[0], Column("person", "sensitive", because="made up for a test")],
        [personal],
        "E111 .*one sensitive column, .*others: person",
    )
    table = table.with_columns(guard=pl.lit("flu"))
    refused([Column("illness", "sensitive"), *guard], [personal], "E111 .*by its taxonomy, and has none")


def test_columns_may_be_called_as_ours_are(tmp_path: Path):
    table = patients(1, 40).rename({"guard": "group"})
    asked = tk.Job(
        quasi={"age": tk.numeric(), "town": tk.tree(SIDES), "sex": tk.suppress()},
        columns=[
            Column("illness", "sensitive", taxonomy=tk.tree(ILLNESS)),
            Column("group", "drop"),
            Column("person", "drop"),
        ],
        criteria=[PersonalizedPrivacy("illness", "group", 0.5)],
        algorithm=GreedyPersonalized(),
    )
    tk.run_job(asked, table, tmp_path / "out", seed=1)
    assert verify_folder(str(tmp_path / "out")).ok


def test_missing_values(tmp_path: Path):
    """A missing illness is published as missing, or as any; nobody takes it for what a label hides."""
    table = patients(4, 40).with_columns(
        illness=pl.when(pl.int_range(40) < 4).then(None).otherwise(pl.col("illness")),
        sex=pl.when(pl.int_range(40) % 9 == 0).then(None).otherwise(pl.col("sex")),
    )
    tk.run_job(job(0.5, missing_rule="own-value"), table, tmp_path / "out", seed=1)
    assert verify_folder(str(tmp_path / "out")).ok
    rows = written(tmp_path / "out")
    assert 0 < sum(row["illness"] == "" for row in rows) <= 4


def test_what_nobody_can_do():
    """Who guards the root guards everything."""
    table = patients(1, 20).with_columns(guard=pl.lit("any illness"))
    with pytest.raises(InfeasibleError):
        job(0.5).anonymize(table)

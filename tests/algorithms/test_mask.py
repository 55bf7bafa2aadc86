"""MASK: groups that no secret decided, false values that are counted, and an attack that finds nothing."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.algorithms.multidimensional import mask
from tarnkappe.algorithms.multidimensional.mask import Mask
from tarnkappe.audit import audit
from tarnkappe.choice import Auto
from tarnkappe.criteria.m_confidentiality import MConfidentiality
from tarnkappe.deals import Deal
from tarnkappe.errors import InfeasibleError, JobError, VerificationError
from tarnkappe.job.places import OutputSettings
from tarnkappe.publish.masked import Masked

#: The running example of the paper: two people of q1 who both have it, five of q2 who do not.
PAPER = pl.DataFrame({"place": ["q1"] * 2 + ["q2"] * 5, "illness": ["HIV"] * 2 + ["other"] * 5})


def job(m: float = 2, k: int = 2, guarded: tuple[str, ...] = ("HIV",), **more: object) -> tk.Job:
    return tk.Job(
        quasi={"place": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(k), MConfidentiality("illness", guarded, m)],
        algorithm=Mask(),
        **more,
    )


def attacked(release: tk.Release, known: pl.DataFrame = PAPER) -> object:
    asked = tk.Minimality(value="HIV", l=2)
    return tk.attack(asked, release.table, quasi={"place": tk.suppress()}, sensitive=["illness"], known=known)[0]


def test_the_papers_example():
    """Coarsened because it had to be, q1 is accused and guilty; masked, nobody is accused."""
    minimal = tk.Job(
        quasi={"place": tk.suppress()},
        sensitive=["illness"],
        criteria=[tk.AlphaKAnonymity("illness", 0.5, 2, "HIV")],
        algorithm=tk.Flash(),
    ).anonymize(PAPER, seed=1)
    assert set(minimal.table["place"]) == {"*"}
    found = attacked(minimal)
    assert (found.rate, found.trials, found.figures["highest belief"]) == (1.0, 2, 1.0)
    masked = job().anonymize(PAPER, seed=1)
    assert sorted(masked.table["place"]) == ["q1"] * 2 + ["q2"] * 5
    assert set(masked.table["illness"]) == {"other"}, "nothing is left to accuse anybody of"
    # With a third place in which one of four has it, that one stays, and still nobody is accused.
    more = pl.concat([PAPER, pl.DataFrame({"place": ["q3"] * 4, "illness": ["HIV", "other", "other", "other"]})])
    masked = job().anonymize(more, seed=1)
    assert masked.table.filter(pl.col("illness") == "HIV")["place"].to_list() == ["q3"]
    found = attacked(masked, more)
    assert (found.successes, found.trials) == (0, 0)


def test_false_values_are_counted_and_said_aloud(tmp_path: Path):
    release = tk.run_job(job(), PAPER, tmp_path / "out", seed=1)
    private = json.loads((tmp_path / "out/do-not-share/manifest.json").read_text("utf-8"))
    public = json.loads((tmp_path / "out/public/manifest.json").read_text("utf-8"))
    told = {"falsified values": 2, "falsified groups": 1, "groups they hide among": 2}
    assert {name: private["search"][name] for name in told} == told
    assert {n.code: n.message for n in release.notices if n.code in ("W648", "W649")} == {
        "W648": "values of 'illness' may be falsified: in groups with too many guarded ones some were replaced",
        "W649": "2 values of 'illness' falsified (28.6 % of all)",
    }
    assert {n.code for n in release.for_readers().notices} & {"W648", "W649"} == {"W648"}
    assert "falsified" in public["caution"]
    assert "may be falsified" in (tmp_path / "out/public/report.html").read_text("utf-8")
    assert "2 values of 'illness' falsified" not in (tmp_path / "out/public/report.html").read_text("utf-8")
    assert audit(str(tmp_path / "out")).ok


people = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("fm"), st.sampled_from(["HIV", "flu", "gout", "HIV", "none", None])),
    min_size=4,
    max_size=80,
)


@given(people, st.sampled_from([1.5, 2, 3]), st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=examples(40))
def test_on_the_disk(tmp_path_factory, rows, m, k, both):
    """Every group as written: at most one in m; no value but those of the data; only guarded ones were replaced."""
    guarded = ("HIV", "flu") if both else ("HIV",)
    data = pl.DataFrame(
        [(i, *row) for i, row in enumerate(rows)], schema=["id", "age", "sex", "illness"], orient="row"
    ).with_columns(pl.col("illness").cast(pl.String))
    asked = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness"],
        drop=["id"],
        criteria=[tk.KAnonymity(k), MConfidentiality("illness", guarded, m)],
        missing_rule="own-value",
        algorithm=Mask(),
        output=OutputSettings(format="csv"),
    )
    folder = tmp_path_factory.mktemp("mask") / "out"
    if not set(guarded) <= set(data["illness"].drop_nulls()):
        with pytest.raises(JobError, match="E110"):
            tk.run_job(asked, data, folder, seed=3)
        return
    try:
        tk.run_job(asked, data, folder, seed=3)
    except InfeasibleError:
        assert not folder.exists()
        return
    with (folder / "public/release.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == len(rows)
    groups = defaultdict(list)
    for row in written:
        groups[row["age"], row["sex"]].append(row["illness"])
    for values in groups.values():
        assert len(values) >= k
        assert sum(v in guarded for v in values) * m <= len(values)
    before = Counter(v or "" for v in data["illness"])
    after = Counter(row["illness"] for row in written)
    assert set(after) <= set(before)
    assert all(after[v] <= before[v] if v in guarded else after[v] >= before[v] for v in before)
    private = json.loads((folder / "do-not-share/manifest.json").read_text("utf-8"))
    assert private["search"]["falsified values"] == sum(before[v] - after[v] for v in guarded)


def test_groups_do_not_depend_on_the_secret():
    """Whatever people have, the labels are the same."""
    rng = np.random.default_rng(4)
    base = pl.DataFrame({"place": rng.choice(["a", "b", "c", "d", "e", "f", "g", "h"], 200)})
    looks = []
    for share in (0.0, 0.05, 0.2):
        ill = np.where(rng.random(200) < share, "HIV", "none")
        ill[:2] = ["HIV", "none"]
        looks.append(sorted(job(3, 5).anonymize(base.with_columns(illness=pl.Series(ill)), seed=2).table["place"]))
    assert looks[0] == looks[1] == looks[2]


def test_same_seed_same_bytes(tmp_path: Path):
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"place": rng.choice(list("abcdefgh"), 300), "illness": rng.choice(["HIV", "x", "y"], 300)})
    found = set()
    for engine in ("memory", "streaming"):
        tk.run_job(job(2.5, engine=engine), data, tmp_path / engine, seed=5)
        found.add((tmp_path / engine / "public/release.parquet").read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize("algorithm", [tk.Mondrian(), tk.Flash(), tk.Datafly(), Auto()])
def test_who_looks_at_the_secret_cannot_promise_it(algorithm: tk.Algorithm, tmp_path: Path):
    asked = tk.Job(
        quasi={"place": tk.suppress()},
        sensitive=["illness"],
        criteria=[MConfidentiality("illness", ("HIV",), 2)],
        algorithm=algorithm,
    )
    with pytest.raises(JobError, match=r"E111 .*looking at the sensitive values") as refused:
        tk.run_job(asked, PAPER, tmp_path / "out")
    assert "mask" in str(refused.value.hint)
    assert not (tmp_path / "out").exists()


def test_bad_jobs():
    with pytest.raises(JobError, match=r"E110 .*no value of 'illness'"):
        job(guarded=("hiv",)).anonymize(PAPER)
    crowded = pl.DataFrame({"place": ["a"] * 4 + ["b"] * 4, "illness": ["HIV"] * 6 + ["x"] * 2})
    with pytest.raises(InfeasibleError, match="E301 too many groups"):
        job(3, 4).anonymize(crowded)
    two = PAPER.with_columns(income=pl.lit("high"))
    asked = tk.Job(
        quasi={"place": tk.suppress()},
        sensitive=["illness", "income"],
        criteria=[MConfidentiality("illness", ("HIV",), 2)],
        algorithm=Mask(),
    )
    with pytest.raises(JobError, match=r"E111 .*one sensitive column"):
        asked.anonymize(two)
    with pytest.raises(JobError, match="E111 mask is made for one m-confidentiality"):
        tk.Job(
            quasi={"place": tk.suppress()},
            sensitive=["illness"],
            criteria=[tk.LDiversity("illness", 2)],
            algorithm=Mask(),
        ).anonymize(PAPER)


def test_a_value_that_was_not_dealt_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The table tells the truth where the plan lies: that is as wrong as the other way round."""
    original = Masked.sheets

    def honest(self, plan, *given):
        true = Deal(plan.deal.cell, plan.deal.size, plan.deal.form, plan.deal.notes, told=plan.deal.cell)
        return original(self, replace(plan, deal=true), *given)

    monkeypatch.setattr(Masked, "sheets", honest)
    with pytest.raises(VerificationError, match="E501"):
        tk.run_job(job(), PAPER, tmp_path / "out", seed=1)
    assert list(tmp_path.iterdir()) == []


def test_a_lying_criterion_is_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Nothing is falsified, and the criterion says that nothing needs to be: counting by hand shows it."""
    monkeypatch.setattr(MConfidentiality, "holds", lambda self, stats: np.ones(stats.n_groups, np.bool_))
    monkeypatch.setattr(mask, "_masked", lambda tally, goal, asked, cell, size, rng: (cell.copy(), {}))
    tk.run_job(job(), PAPER, tmp_path / "out", seed=1)
    written = pl.read_parquet(tmp_path / "out/public/release.parquet")
    shares = written.group_by("place").agg((pl.col("illness") == "HIV").mean())
    assert shares["illness"].max() == 1.0


def test_falsifying_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(mask, "_masked", lambda tally, goal, asked, cell, size, rng: (cell.copy(), {}))
    with pytest.raises(InfeasibleError):
        tk.run_job(job(), PAPER, tmp_path / "out", seed=1)
    assert list(tmp_path.iterdir()) == []


def test_readers_are_told_the_same_whether_a_value_was_falsified_or_not():
    """So nothing may be said that is untrue where none was."""
    people = pl.DataFrame({"place": ["q1", "q2"] * 20, "illness": ["HIV", "HIV", *["flu"] * 38]})
    goal = [tk.KAnonymity(2), tk.MConfidentiality("illness", ("HIV",), 2)]
    job = tk.Job(quasi={"place": tk.suppress()}, sensitive=["illness"], criteria=goal, algorithm="mask", seed=1)
    release = job.anonymize(people)
    assert "0 values" in next(n.message for n in release.notices if n.code == "W649")
    assert release.public_manifest["caution"].startswith("Some sensitive values may be falsified")


def test_no_guarded_values_guard_nothing():
    with pytest.raises(JobError, match="'values' of m-confidentiality is empty"):
        tk.MConfidentiality("illness", (), 2)

"""The ledger: noted after a release appeared, compared before the next one does, and nothing in it can be changed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.cli.app import app as main
from tarnkappe.errors import DataError, JobError, RefusedError
from tarnkappe.history.asking import releases_with, withdraw
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import PERSON, PLACE
from tarnkappe.job.history import HistorySettings
from tarnkappe.pipeline import decide, run_job, save


def people(n: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(list("abcde"), n),
        }
    )


def job(ledger: Path, because: str | None = None, k: int = 4, algorithm: str = "mondrian") -> tk.Job:
    return tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["ill"],
        identifiers=["id"],
        criteria=[tk.KAnonymity(k), tk.LDiversity("ill", 2)],
        history=HistorySettings(str(ledger), "id", because),
        algorithm=algorithm,
        seed=1,
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "private" / "ledger.jsonl"


def test_a_release_is_noted_once_it_appeared(ledger: Path, tmp_path: Path):
    release = run_job(job(ledger), people(60), tmp_path / "r1")
    assert release.notices == () or all(n.code != "W651" for n in release.notices)
    (line,) = Ledger.read(ledger).lines
    assert line.people == 60
    assert line.folder == str(tmp_path / "r1")
    told = json.loads((tmp_path / "r1" / "public" / "manifest.json").read_text())
    assert line.table == told["sha256"]
    for file in ledger.parent.rglob("*"):
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file
    kept = b"".join(f.read_bytes() for f in ledger.parent.rglob("*") if f.is_file())
    assert b"p17" not in kept, "people stand under keyed hashes only"


def test_the_same_groups_again_are_no_harm_and_others_are_refused(ledger: Path, tmp_path: Path):
    data = people(120)
    run_job(job(ledger), data, tmp_path / "r1")
    again = run_job(job(ledger), data, tmp_path / "r2")
    (notice,) = [n for n in again.notices if n.code == "W651"]
    assert "the same input as release 1" in notice.message
    assert notice.internal
    public = (tmp_path / "r2" / "public" / "manifest.json").read_text()
    assert "W651" not in public, "that people are in two releases is not told to readers"
    with pytest.raises(DataError, match="below the goal") as error:
        run_job(job(ledger, k=7, algorithm="hilb"), data, tmp_path / "r3")
    assert error.value.code == "E440"
    assert not (tmp_path / "r3").exists()
    assert len(Ledger.read(ledger).lines) == 2
    accepted = run_job(job(ledger, "one reader has both", 7, "hilb"), data, tmp_path / "r3")
    assert "W652" in [n.code for n in accepted.notices]
    assert Ledger.read(ledger).lines[-1].because == "one reader has both"


def test_in_memory_nothing_is_noted_until_it_is_saved(ledger: Path, tmp_path: Path):
    data = people(60)
    made = decide(job(ledger), data).publish()
    assert Ledger.read(ledger).lines == ()
    assert made.draft is not None
    save(made.draft, tmp_path / "r1")
    assert len(Ledger.read(ledger).lines) == 1


def brute_joint(groups: list[dict[str, frozenset[int]]], values: dict[str, str]) -> tuple[int, int]:
    """The smallest joint group, and the fewest values in one, of those who are in the last release."""
    names = sorted({p for g in groups for p in g})
    classes: dict[tuple, list[str]] = {}
    for p in names:
        if p in groups[-1]:
            classes.setdefault(tuple(g.get(p) for g in groups), []).append(p)
    return min(map(len, classes.values())), min(len({values[p] for p in c}) for c in classes.values())


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_joint_figures_are_those_of_the_written_files(tmp_path_factory, seed: int, k: int):
    """By brute force: which rows of each written file a person fits, read from the files alone."""
    folder = tmp_path_factory.mktemp("joint")
    rng = np.random.default_rng(seed)
    everybody = people(60, seed)
    groups, joint = [], None
    for i in range(2):
        some = everybody[np.sort(rng.choice(60, 45, replace=False))]
        made = tk.Job(
            quasi={"age": tk.intervals(10, 20) if i else tk.numeric(), "sex": tk.suppress()},
            sensitive=["ill"],
            identifiers=["id"],
            criteria=[tk.KAnonymity(k)],
            history=HistorySettings(str(folder / "ledger"), "id", "a test"),
            algorithm="samarati" if i else "mondrian",
            max_suppressed=0.2,
            seed=seed,
        )
        release = run_job(made, some, folder / f"r{i}")
        joint = next((n.message for n in release.notices if n.code == "W651"), None)
        file = pl.read_parquet(folder / f"r{i}" / "public" / "release.parquet").with_columns(
            pl.col("age", "sex").cast(pl.String)
        )
        looks = file.select("age", "sex").unique().rows()
        where: dict[str, frozenset] = {}
        for name, age, sex, _ in some.rows():
            fits = [look for look in looks if covers(look[0], age) and look[1] in ("*", sex)]
            if fits:
                where[name] = frozenset(fits)
        groups.append(where)
    assert joint is not None
    assert all(len(g) == 1 for w in groups for g in w.values()), "these algorithms let a person fit one group"
    least, values = brute_joint(groups, dict(everybody.select("id", "ill").rows()))
    assert f"k = {least}, l (ill) = {values}," in joint


def covers(label: str, age: int) -> bool:
    if label == "*":
        return True
    if label.startswith("["):
        low, _, high = label.strip("[]").partition(" ")
        return float(low) <= age <= float(high)
    low, dash, high = label.partition("-")
    return float(low) <= age <= float(high) if dash else float(label) == age


def test_who_leaves_alone_is_noticed(ledger: Path, tmp_path: Path):
    data = people(40)
    run_job(job(ledger), data, tmp_path / "r1")
    with pytest.raises(DataError) as error:
        run_job(job(ledger), data[1:], tmp_path / "r2")
    assert error.value.code == "E440"


@pytest.mark.parametrize("harm", ["edit", "cut", "first", "head", "foreign"])
def test_a_broken_ledger_stops_everything(ledger: Path, tmp_path: Path, harm: str):
    data = people(40)
    run_job(job(ledger), data, tmp_path / "r1")
    run_job(job(ledger), data, tmp_path / "r2")
    lines = ledger.read_text().splitlines(keepends=True)
    texts = {"edit": [lines[0].replace('"people": 40', '"people": 41'), lines[1]], "cut": lines[:1], "first": lines[1:]}
    if harm == "head":
        ledger.with_name("ledger.jsonl.head").unlink()
    elif harm == "foreign":
        ledger.write_text("no ledger\n")
    else:
        ledger.write_text("".join(texts[harm]))
    with pytest.raises(DataError) as error:
        run_job(job(ledger), data, tmp_path / "r3")
    assert error.value.code == "E442"
    assert not (tmp_path / "r3").exists()


@pytest.mark.parametrize("harm", ["missing", "empty", "other"])
def test_without_its_key_nothing_is_made(ledger: Path, tmp_path: Path, harm: str):
    data = people(40)
    run_job(job(ledger), data, tmp_path / "r1")
    key = ledger.with_name("ledger.jsonl.key")
    key.unlink()
    if harm != "missing":
        key.write_text("" if harm == "empty" else "00" * 32)
    with pytest.raises(DataError) as error:
        run_job(job(ledger), data, tmp_path / "r2")
    assert error.value.code == ("E442" if harm == "other" else "E441")
    assert not (tmp_path / "r2").exists()


def test_people_files_are_held_to_their_digest(ledger: Path, tmp_path: Path):
    data = people(40)
    run_job(job(ledger), data, tmp_path / "r1")
    (file,) = ledger.with_name("ledger.jsonl.people").iterdir()
    pl.read_parquet(file).with_columns(pl.lit(1, pl.Int32).alias(PLACE)).write_parquet(file)
    with pytest.raises(DataError) as error:
        run_job(job(ledger), data, tmp_path / "r2")
    assert error.value.code == "E443"


def test_a_failed_release_is_not_noted(ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tarnkappe.publication.write_companions", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_job(job(ledger), people(40), tmp_path / "r1")
    assert Ledger.read(ledger).lines == ()


def test_one_run_at_a_time(ledger: Path, tmp_path: Path):
    with Ledger.opened(ledger), pytest.raises(DataError) as error:
        run_job(job(ledger), people(40), tmp_path / "r1")
    assert error.value.code == "E445"


def test_the_ledger_does_not_lie_in_the_release(tmp_path: Path):
    inside = tmp_path / "r1" / "public" / "ledger.jsonl"
    with pytest.raises(RefusedError):
        run_job(job(inside), people(40), tmp_path / "r1")
    with pytest.raises(RefusedError):
        tk.republish_people(
            people(40),
            m=2,
            subject="id",
            ledger=inside,
            folder=tmp_path / "r1",
            quasi={"age": tk.numeric(), "sex": tk.suppress()},
            sensitive=["ill"],
            identifiers=["id"],
        )
    assert not (tmp_path / "r1").exists(), "no key lies where the release would be"


def test_subjects_are_named_and_known(ledger: Path, tmp_path: Path):
    with pytest.raises(JobError, match=r"do not have \(did you mean 'id'\?\)") as unknown:
        run_job(tk.Job(**{**_plain(), "history": HistorySettings(str(ledger), "ids")}), people(40), tmp_path / "r")
    assert unknown.value.hint == "subject: COLUMN   (under 'history', or 'series')"
    assert unknown.value.python_hint == 'subject="COLUMN"'
    nameless = people(40).with_columns(pl.when(pl.col("id") != "p3").then("id").alias("id"))
    with pytest.raises(DataError) as error:
        run_job(job(ledger), nameless, tmp_path / "r")
    assert error.value.code == "E446"
    assert not (tmp_path / "r").exists()


def _plain() -> dict:
    return {
        "quasi": {"age": tk.numeric(), "sex": tk.suppress()},
        "sensitive": ["ill"],
        "identifiers": ["id"],
        "criteria": [tk.KAnonymity(4)],
    }


def test_withdrawal(ledger: Path, tmp_path: Path):
    data = people(40)
    run_job(job(ledger), data, tmp_path / "r1")
    run_job(job(ledger), data, tmp_path / "r2")
    book = Ledger.read(ledger)
    assert [h.line.number for h in releases_with(book, "p3")] == [1, 2]
    assert releases_with(book, "somebody else") == ()
    (holding, _) = withdraw(ledger, "p3")
    places = book.groups_of(book.lines[0])
    mine = places.filter(pl.col(PERSON) == book.person("p3"))[PLACE][0]
    assert holding.alike == places.filter(pl.col(PLACE) == mine).height
    with pytest.raises(DataError) as error:
        run_job(job(ledger, "accepted"), data, tmp_path / "r3")
    assert error.value.code == "E447"
    run_job(job(ledger, "the person withdrew"), data.filter(pl.col("id") != "p3"), tmp_path / "r3")
    assert [h.line.number for h in releases_with(Ledger.read(ledger), "p3")] == [1, 2]


def test_a_withdrawal_tells_whose_secret_nobody_else_has(ledger: Path, tmp_path: Path, capsys):
    """By l-diversity the others need other groups then, however many they are."""
    data = people(8).with_columns(pl.lit(30).alias("age"), pl.lit("f").alias("sex"), pl.Series("ill", list("abbbbbbb")))
    run_job(job(ledger), data, tmp_path / "r1")
    (rare,) = releases_with(Ledger.read(ledger), "p0")
    (common,) = releases_with(Ledger.read(ledger), "p1")
    assert rare.enough_without
    assert rare.only_one_in == ("ill",)
    assert common.only_one_in == ()
    for person, said in (("p0", "nobody else there has the same 'ill'"), ("p1", "enough without this person")):
        with pytest.raises(SystemExit):
            main(["history", str(ledger), "--withdraw", person])
        assert said in " ".join(capsys.readouterr().out.split())


def test_people_are_known_behind_their_pseudonyms(ledger: Path, tmp_path: Path):
    (tmp_path / "key").write_text("a5" * 32)
    data = people(60)
    run_job(job(ledger), data, tmp_path / "r1")
    hidden = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive=["ill"],
        identifiers=["id"],
        drop=["sex"],
        criteria=[tk.KAnonymity(4)],
        masks=[tk.Pseudonyms("id", key=str(tmp_path / "key"))],
        history=HistorySettings(str(ledger), "id"),
        seed=1,
    )
    with pytest.raises(DataError, match="60 people are in earlier releases too"):
        run_job(hidden, data, tmp_path / "r2")
    withdraw(ledger, "p3")
    with pytest.raises(DataError, match="E447"):
        run_job(hidden, data, tmp_path / "r2")
    assert not (tmp_path / "r2").exists()


def test_a_key_is_the_same_key_as_a_whole_number_and_as_a_float(ledger: Path, tmp_path: Path):
    data = people(40).with_columns(pl.int_range(40).alias("id"))
    data.write_csv(tmp_path / "people.csv")
    run_job(job(ledger), tmp_path / "people.csv", tmp_path / "r1")
    run_job(job(ledger, "the same groups"), data.with_columns(pl.col("id").cast(pl.Float64)), tmp_path / "r2")
    assert [h.line.number for h in releases_with(Ledger.read(ledger), "7")] == [1, 2]


def test_people_with_several_records_and_divided_cells(ledger: Path, tmp_path: Path):
    """A person who has several records is in all their groups; the release is followed all the same."""
    data = people(60).with_columns((pl.int_range(60) // 2).cast(pl.String).alias("id"))
    run_job(job(ledger, algorithm="hilb"), data, tmp_path / "r1")
    assert Ledger.read(ledger).lines[0].people == 30
    run_job(job(ledger, algorithm="hilb"), data, tmp_path / "r2")


def test_jobs_keep_their_history(ledger: Path, tmp_path: Path):
    made = job(ledger, "why not")
    text = made.to_yaml(tmp_path)
    assert "ledger: private/ledger.jsonl" in text
    (tmp_path / "job.yaml").write_text(text)
    assert tk.Job.from_yaml(tmp_path / "job.yaml").history == made.history


def test_bad_history_sections(tmp_path: Path):
    text = job(tmp_path / "l").to_yaml(tmp_path)
    for bad in ("history: here", "history: {ledger: l}", "history: {ledger: l, subject: id, who: x}"):
        lines = [line for line in text.splitlines() if not line.startswith("history")]
        (tmp_path / "job.yaml").write_text("\n".join([*lines, bad]))
        with pytest.raises(JobError):
            tk.Job.from_yaml(tmp_path / "job.yaml")
    with pytest.raises(JobError):
        tk.Job(**{**_plain(), "history": 5})


def test_a_history_on_spark_is_refused_before_anything_is_read(tmp_path: Path):
    with pytest.raises(JobError, match="E111 a history of people is kept by one machine"):
        tk.Job(**_plain(), history={"ledger": tmp_path / "l", "subject": "id"}, engine="spark")


@pytest.mark.parametrize("together", ["refuse", "pool"])
def test_a_mechanism_has_no_history_as_that_would_tell_of_people(together: str, tmp_path: Path):
    """The second release was refused, or its groups were pooled, by what was in the data; and people may have many."""
    with pytest.raises(JobError, match=r"E111 whether a release keeps the goal beside .* depends on the data"):
        tk.Job(
            quasi={"sex": tk.suppress()},
            identifiers=["id"],
            criteria=[tk.DifferentialPrivacy(3.0, 0.01)],
            algorithm=tk.Sdgs(levels={"sex": 0}),
            max_suppressed=1.0,
            history=HistorySettings(str(tmp_path / "ledger"), "id", together=together),
        )


def test_a_place_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JobError) as error:
        run_job(job(tmp_path / "file" / "ledger"), people(40), tmp_path / "r1")
    assert error.value.code == "E107"
    assert not (tmp_path / "r1").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["file"]

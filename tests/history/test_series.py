"""m-invariance: on the written files, everybody is among the same secrets in all releases of a series."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.bundles import audit_bundle
from tarnkappe.errors import DataError, InfeasibleError, JobError, VerificationError
from tarnkappe.history import series as room
from tarnkappe.history.asking import releases_with, withdraw
from tarnkappe.history.drafting import SeriesDraft, SeriesRelease
from tarnkappe.history.invariance import NEW, Republished, republish
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import PERSON, PLACE
from tarnkappe.history.series import republish_people
from tarnkappe.job.series import load_series_job

#: The running example of the paper: what is published first, and the data of the second release.
DISEASES = ["dyspepsia", "bronchitis", "flu", "gastritis"]
FIRST = {
    ("Bob", "Alice"): ("dyspepsia", "bronchitis"),
    ("Andy", "David"): ("flu", "gastritis"),
    ("Gary", "Helen"): ("flu", "gastritis"),
    ("Jane", "Ken", "Linda"): ("dyspepsia", "flu", "gastritis"),
    ("Paul", "Steve"): ("dyspepsia", "gastritis"),
}
SECOND = [
    ("Bob", 21, "dyspepsia"),
    ("David", 23, "gastritis"),
    ("Emily", 25, "flu"),
    ("Jane", 37, "dyspepsia"),
    ("Linda", 43, "gastritis"),
    ("Gary", 41, "flu"),
    ("Mary", 46, "gastritis"),
    ("Ray", 54, "dyspepsia"),
    ("Steve", 56, "gastritis"),
    ("Tom", 60, "gastritis"),
    ("Vince", 65, "flu"),
]


def test_the_running_example_has_two_counterfeits():
    """Xiao and Tao 2007: the second release needs one counterfeit of bronchitis and one of flu, in these groups."""
    code = {name: i for i, name in enumerate(DISEASES)}
    signature = {p: tuple(sorted(code[d] for d in ill)) for people, ill in FIRST.items() for p in people}
    known = sorted(set(signature.values()))
    made = republish(
        np.array([code[ill] for _, _, ill in SECOND], np.int32),
        np.array([known.index(signature[p]) if p in signature else NEW for p, _, _ in SECOND], np.int32),
        np.array([age for _, age, _ in SECOND]),
        known,
        2,
        4,
    )
    groups = {frozenset(SECOND[i][0] for i in np.flatnonzero(made.group == g)): g for g in range(made.n_groups)}
    assert set(groups) == {
        frozenset(g)
        for g in (["Bob"], ["David", "Emily"], ["Jane", "Linda"], ["Gary", "Mary"], ["Ray", "Steve"], ["Tom", "Vince"])
    }
    false = {g: int(made.counterfeits[i]) for g, i in groups.items()}
    assert {g: n for g, n in false.items() if n} == {frozenset(["Bob"]): 1, frozenset(["Jane", "Linda"]): 1}
    of_bob = made.signatures[made.of_group[groups[frozenset(["Bob"])]]]
    of_jane = made.signatures[made.of_group[groups[frozenset(["Jane", "Linda"])]]]
    assert {DISEASES[v] for v in of_bob} == {"dyspepsia", "bronchitis"}
    assert {DISEASES[v] for v in of_jane} == {"dyspepsia", "flu", "gastritis"}


#: The data of its first release.
BEFORE = [
    ("Bob", 21, "dyspepsia"),
    ("Alice", 22, "bronchitis"),
    ("Andy", 24, "flu"),
    ("David", 23, "gastritis"),
    ("Gary", 41, "flu"),
    ("Helen", 36, "gastritis"),
    ("Jane", 37, "dyspepsia"),
    ("Ken", 40, "flu"),
    ("Linda", 43, "gastritis"),
    ("Paul", 52, "dyspepsia"),
    ("Steve", 56, "gastritis"),
]


def as_in_the_paper(value: Any, owner: Any, rank: Any, known: Any, m: int, n_values: int) -> Republished:
    """The groups that the paper published first; the records are known by the order of their ages."""
    by_age = [who for who, _, _ in sorted(BEFORE, key=lambda person: person[1])]
    groups = list(FIRST)
    group = np.array([next(g for g, people in enumerate(groups) if by_age[r] in people) for r in rank])
    signatures = [tuple(sorted(int(v) for v in value[group == g])) for g in range(len(groups))]
    distinct = tuple(sorted(set(signatures)))
    return Republished(group, np.array([distinct.index(s) for s in signatures], np.int32), distinct)


def test_the_running_example_on_the_written_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The paper's first release, then the second by the command line: two counterfeits, each in its group."""
    from tarnkappe.cli.app import app

    said = {}
    for name, people in (("first", BEFORE), ("second", SECOND)):
        file = tmp_path / f"{name}.csv"
        pl.DataFrame(people, schema=["who", "age", "ill"], orient="row").write_csv(file)
        text = JOB.replace("data.csv", file.name).replace("folder: release", f"folder: {name}").replace("m: 3", "m: 2")
        (tmp_path / "job.yaml").write_text(text.replace("  sex: {role: quasi, taxonomy: suppress}\n", ""))
        monkeypatch.setattr(room, "republish", as_in_the_paper if name == "first" else republish)
        with pytest.raises(SystemExit) as ended:
            app(["run", str(tmp_path / "job.yaml"), "--seed", "1"])
        assert ended.value.code == 0
        table = pl.read_csv(tmp_path / name / "public" / f"{name}.csv")
        false = dict(pl.read_csv(tmp_path / name / "public" / f"{name}-counterfeits.csv").rows())
        said[name] = {part["age"][0]: (set(part["ill"]), false[number]) for (number,), part in table.group_by("group")}
        assert table.group_by("group").agg(pl.col("age").n_unique())["age"].to_list() == [1] * len(said[name])
    assert said["first"] == {
        "[21 22]": ({"dyspepsia", "bronchitis"}, 0),
        "[23 24]": ({"flu", "gastritis"}, 0),
        "[36 41]": ({"flu", "gastritis"}, 0),
        "[37 43]": ({"dyspepsia", "flu", "gastritis"}, 0),
        "[52 56]": ({"dyspepsia", "gastritis"}, 0),
    }
    assert said["second"] == {
        "21": ({"dyspepsia", "bronchitis"}, 1),  # Bob, and nobody
        "[23 25]": ({"flu", "gastritis"}, 0),
        "[37 43]": ({"dyspepsia", "flu", "gastritis"}, 1),  # Jane, Linda, and nobody
        "[41 46]": ({"flu", "gastritis"}, 0),
        "[54 56]": ({"dyspepsia", "gastritis"}, 0),
        "[60 65]": ({"flu", "gastritis"}, 0),
    }


def make(n: int, n_values: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "who": [f"p{i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice([f"d{i}" for i in range(n_values)], n, p=rng.dirichlet(np.ones(n_values) * 2)),
        }
    )


def publish(data: Any, place: Path, name: str, m: int = 3, **more: Any) -> SeriesRelease:
    how: dict[str, Any] = {"quasi": {"age": tk.numeric(), "sex": tk.suppress()}, "sensitive": ["ill"], "seed": 5}
    how |= {"identifiers": ["who"], "subject": "who", "ledger": place / "ledger", "max_counterfeits": 1.0}
    return republish_people(data, m=m, folder=place / name, **{**how, **more})


def covers(label: str, age: int) -> bool:
    low, _, high = label.strip("[]").partition(" ")
    return float(low) <= age <= float(high or low)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_histories_on_the_written_files(tmp_path_factory, data: st.DataObject):
    """Insertions, deletions, both, and people who come back; groups are found in the files by their numbers alone."""
    place = tmp_path_factory.mktemp("series")
    seed, m = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(2, 4))
    n, n_values = data.draw(st.integers(5, 60)), data.draw(st.integers(m, 7))
    everybody = make(n, n_values, seed)
    rng = np.random.default_rng(seed)
    suffix = data.draw(st.sampled_from(["csv", "parquet"]))
    among: dict[str, frozenset[str]] = {}
    for i in range(data.draw(st.integers(2, 5))):
        here = everybody[np.sort(rng.choice(n, rng.integers(1, n + 1), replace=False))]
        file = place / f"data{i}.{suffix}"
        here.write_csv(file) if suffix == "csv" else here.write_parquet(file)
        try:
            publish(file, place, f"r{i}", m)
        except InfeasibleError:  # fewer than m secrets among all who are there
            assert here["ill"].n_unique() < m
            continue
        read = pl.read_csv if suffix == "csv" else pl.read_parquet
        table = read(place / f"r{i}" / "public" / f"data{i}.{suffix}").with_columns(
            pl.col("age", "sex").cast(pl.String)
        )
        false = read(place / f"r{i}" / "public" / f"data{i}-counterfeits.{suffix}")
        groups = {g: part for (g,), part in table.group_by("group")}
        counts = dict(false.rows())
        book = Ledger.read(place / "ledger")
        where = dict(book.groups_of(book.lines[-1]).select(PERSON, PLACE).rows())
        real = dict.fromkeys(groups, 0)
        for who, age, sex, ill in here.rows():
            g = where[book.person(who)]
            part = groups[g]
            real[g] += 1
            assert ill in part["ill"].to_list()
            assert covers(part["age"][0], age)
            assert part["sex"][0] in ("*", sex)
            assert among.setdefault(who, frozenset(part["ill"])) == frozenset(part["ill"]), "the same in all releases"
        for g, part in groups.items():
            assert part["ill"].n_unique() == part.height >= m, "m-unique"
            assert part.height == real[g] + counts[g]
        assert sum(real.values()) == here.height
        audit = audit_bundle(place / f"r{i}")
        assert audit is not None
        assert audit.ok


def test_deleted_and_inserted_again(tmp_path: Path):
    data = make(60, 6, 3)
    publish(data, tmp_path, "one")
    publish(data[5:], tmp_path, "two")
    publish(data, tmp_path, "three")
    book = Ledger.read(tmp_path / "ledger")
    assert [h.line.number for h in releases_with(book, "p2")] == [1, 3]
    assert [h.line.number for h in releases_with(book, "p9")] == [1, 2, 3]
    states = [book.groups_of(line) for line in book.lines]
    first, last = (s.filter(pl.col(PERSON) == book.person("p2"))["signature"][0] for s in (states[0], states[2]))
    assert first == last


def test_a_value_that_nobody_has_any_more_is_a_counterfeit(tmp_path: Path):
    data = pl.DataFrame({"who": list("abcd"), "age": [1, 2, 3, 4], "ill": ["x", "y", "z", "x"]})
    how: dict[str, Any] = {"quasi": {"age": tk.numeric()}, "m": 2}
    publish(data, tmp_path, "one", **how)
    left = data.filter(pl.col("ill") == "x")
    release = publish(left, tmp_path, "two", **how)
    table = pl.read_parquet(tmp_path / "two" / "public" / "release.parquet")
    assert release.public_manifest["counterfeits"] == table.height - 2 > 0


def test_same_seed_same_bytes(tmp_path: Path):
    data = make(80, 6, 3)
    for place in (tmp_path / "a", tmp_path / "b"):
        publish(data, place, "one")
        publish(data[10:], place, "two")
    for file in ("release.parquet", "release-counterfeits.parquet"):
        one, other = ((tmp_path / p / "two" / "public" / file).read_bytes() for p in "ab")
        assert one == other


SABOTAGE = {
    "moved": lambda made: replace(made, group=np.roll(made.group, 1)),
    "other secrets": lambda made: replace(
        made, signatures=tuple(tuple(sorted({*s, (max(s) + 1) % 6, (max(s) + 2) % 6})) for s in made.signatures)
    ),
    "too few": lambda made: replace(made, signatures=tuple(s[:2] for s in made.signatures)),
}


@pytest.mark.parametrize("how", SABOTAGE)
def test_sabotage_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str):
    data = make(60, 6, 3)
    publish(data, tmp_path, "one")

    def broken(*given: Any) -> Republished:
        return SABOTAGE[how](republish(*given))

    monkeypatch.setattr(room, "republish", broken)
    with pytest.raises(VerificationError):
        publish(data[3:], tmp_path, "two")
    assert not (tmp_path / "two").exists()
    assert len(Ledger.read(tmp_path / "ledger").lines) == 1


def test_wrong_counterfeits_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = make(60, 6, 3)
    publish(data, tmp_path, "one")
    tables = SeriesDraft.tables

    def lying(self: Any) -> dict[str, pl.DataFrame]:
        made = tables(self)
        return {**made, "counterfeits": made["counterfeits"].with_columns(pl.lit(0).alias("counterfeits"))}

    monkeypatch.setattr(SeriesDraft, "tables", lying)
    with pytest.raises(VerificationError, match="counterfeits than is said"):
        publish(data[20:], tmp_path, "two")


def test_a_changed_table_is_found(tmp_path: Path):
    publish(make(60, 6, 3), tmp_path, "one")
    file = tmp_path / "one" / "public" / "release.parquet"
    pl.read_parquet(file).with_columns(pl.lit("d1").alias("ill")).write_parquet(file)
    audit = audit_bundle(tmp_path / "one")
    assert audit is not None
    assert not audit.found.ok
    assert not audit.same_as_manifest


def test_bad_input(tmp_path: Path):
    data = make(60, 6, 3)
    publish(data, tmp_path, "one")
    cases: list[tuple[pl.DataFrame, dict[str, Any], str]] = [
        (data.with_columns(pl.lit("d1").alias("ill")), {}, "E449"),
        (data, {"m": 4}, "E448"),  # people stay among the three secrets that they had
        (pl.concat([data, data[:1]]), {}, "E446"),
        (data[:30], {"max_counterfeits": 0.0}, "E301"),
        (data, {"subject": "nobody"}, "E103"),
    ]
    for given_, how, code in cases:
        with pytest.raises((DataError, InfeasibleError, JobError)) as error:
            publish(given_, tmp_path, "two", **how)
        assert error.value.code == code
        assert not (tmp_path / "two").exists()
    withdraw(tmp_path / "ledger", "p7")
    with pytest.raises(DataError) as error:
        publish(data, tmp_path, "two")
    assert error.value.code == "E447"
    few = make(20, 6, 1).with_columns(pl.lit("only").alias("ill"))
    with pytest.raises(InfeasibleError) as infeasible:
        publish(few, tmp_path / "elsewhere", "one")
    assert "m: 1" not in str(infeasible.value.hint), "which is refused"
    with pytest.raises(JobError, match="one secret"):
        publish(data, tmp_path / "elsewhere", "one", sensitive=["ill", "sex"], quasi={"age": tk.numeric()})
    with pytest.raises(JobError, match="counterfeits have no value"):
        publish(data, tmp_path / "elsewhere", "one", keep=["sex"], quasi={"age": tk.numeric()})


def test_an_earlier_release_that_does_not_belong(tmp_path: Path):
    data = make(60, 6, 3)
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["ill"],
        identifiers=["who"],
        criteria=[tk.KAnonymity(3)],
        history={"ledger": tmp_path / "ledger", "subject": "who"},
        seed=1,
    )
    tk.run_job(job, data, tmp_path / "one")
    with pytest.raises(DataError) as error:
        publish(data, tmp_path, "two")
    assert error.value.code == "E448"


JOB = """
data: {path: data.csv}
columns:
  who: {role: identifier}
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  ill: {role: sensitive}
series: {m: 3, subject: who, ledger: private/ledger.jsonl, max_counterfeits: 0.5}
output: {folder: release}
"""


def test_as_a_job_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from tarnkappe.cli.app import app

    make(60, 6, 3).write_csv(tmp_path / "data.csv")
    (tmp_path / "job.yaml").write_text(JOB)
    for words, code in (
        (["run", str(tmp_path / "job.yaml"), "--dry-run"], 0),
        (["run", str(tmp_path / "job.yaml"), "--seed", "1"], 0),
        (["verify", str(tmp_path / "release")], 0),
        (["history", str(tmp_path / "private" / "ledger.jsonl")], 0),
        (["history", str(tmp_path / "private" / "ledger.jsonl"), "--person", "p1", "--json"], 0),
        (["history", str(tmp_path / "private" / "ledger.jsonl"), "--withdraw", "p1"], 0),
        (["history", str(tmp_path / "private" / "nothing")], 2),
        (["check", str(tmp_path / "job.yaml")], 2),
        (["run", str(tmp_path / "job.yaml"), "--overwrite"], 3),
    ):
        with pytest.raises(SystemExit) as ended:
            app(words)
        assert ended.value.code == code, capsys.readouterr()
    out = capsys.readouterr().out
    assert "m-invariance" in out
    assert "Reissue" in out
    kept = load_series_job(tmp_path / "release" / "do-not-share" / "job.yaml")
    assert kept.series.m == 3
    assert Path(kept.series.ledger).resolve() == (tmp_path / "private" / "ledger.jsonl").resolve()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (("series: {m: 3,", "series: {m: 1,"), "m"),
        (("ill: {role: sensitive}", "ill: {role: drop}"), "no sensitive column"),
        (("output:", "criteria: [k-anonymity: {k: 3}]\noutput:"), "criteria"),
        (("{m: 3, subject: who,", "{m: 3,"), "subject"),
    ],
)
def test_bad_job_files(tmp_path: Path, change: tuple[str, str], word: str):
    (tmp_path / "job.yaml").write_text(JOB.replace(*change))
    with pytest.raises(JobError, match=word):
        load_series_job(tmp_path / "job.yaml")

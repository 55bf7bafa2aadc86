"""Nobody stands out in joined tables: checked against a plain count with dictionaries."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import DataError, InfeasibleError, JobError, VerificationError
from tarnkappe.io import open_source
from tarnkappe.job import numeric
from tarnkappe.multirelational import (
    MultiJob,
    MultiRelease,
    Relation,
    anonymize_multirelational,
    run_multirelational,
    verify_multirelational,
)
from tarnkappe.multirelational import plan as module
from tarnkappe.taxonomy import intervals, suppress, tree

ILLNESS = ["flu", "cold", "gout", "migraine"]
TOWNS = {"north": ["Kiel", "Husum"], "south": ["Ulm", "Passau"]}

PEOPLE = Relation("people", quasi={"town": tree(TOWNS), "age": intervals(10, 20)}, drop=["name"])
VISITS = Relation("visits", quasi={"day": intervals(7, 28)}, sensitive=["illness"])
BILLS = Relation("bills", sensitive=["amount"])


def tables_of(n: int, seed: int) -> dict[str, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    keys = [f"key-{i}" for i in range(n)]
    towns = [t for group in TOWNS.values() for t in group]
    visits, bills = np.repeat(np.arange(n), rng.integers(0, 3, n)), np.repeat(np.arange(n), rng.integers(1, 3, n))
    return {
        "people": pl.DataFrame(
            {"key": keys, "name": keys, "town": rng.choice(towns, n), "age": rng.integers(20, 60, n)}
        ),
        "visits": pl.DataFrame(
            {
                "illness": rng.choice(ILLNESS, len(visits)),
                "key": [keys[i] for i in visits],
                "day": rng.integers(0, 56, len(visits)),
            },
            schema_overrides={"illness": pl.String, "key": pl.String},
        ),
        "bills": pl.DataFrame({"key": [keys[i] for i in bills], "amount": rng.integers(0, 5, len(bills))}),
    }


def groups_by_hand(tables: dict[str, Any], relations: list[Relation], key: str = "key") -> list[list[Any]]:
    """The persons of whom the same is seen."""
    seen: dict[Any, list[Any]] = {}
    for relation in relations:
        rows = defaultdict(list)
        for row in tables[relation.name].to_dicts():
            rows[row[key]].append(tuple(row[c] for c in relation.quasi))
        if relation is relations[0]:
            seen = {person: [] for person in rows}
        for person, parts in seen.items():
            kinds = rows.get(person, [])
            parts.append(frozenset(Counter(set(kinds) if relation.rows == "set" else kinds).items()))
    groups = defaultdict(list)
    for person, parts in seen.items():
        groups[tuple(parts)].append(person)
    return list(groups.values())


@settings(max_examples=25)
@given(st.integers(30, 120), st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.5]), st.booleans())
def test_every_person_looks_like_others(n: int, seed: int, k: int, limit: float, as_sets: bool):
    tables = tables_of(n, seed)
    rows = "set" if as_sets else "multiset"
    visits = Relation("visits", VISITS.quasi, VISITS.sensitive, rows=rows)
    job = MultiJob("key", PEOPLE, [visits, BILLS], k=k, max_suppressed=limit)
    try:
        release = anonymize_multirelational(job, tables, seed=seed)
    except InfeasibleError:
        return
    published = dict(release.tables)
    groups = groups_by_hand(published, [PEOPLE, visits, BILLS])
    assert min(map(len, groups)) >= k
    assert len(groups) == release.n_groups
    assert release.n_suppressed <= limit * n
    assert sorted(published["people"]["key"]) == list(range(1, n - release.n_suppressed + 1))
    assert published["people"].columns == ["key", "town", "age"]
    assert published["visits"].columns == ["illness", "key", "day"]
    assert set(published["visits"]["key"]) <= set(published["people"]["key"])
    assert_minimal(job, tables, release)


def assert_minimal(job: MultiJob, tables: dict[str, pl.DataFrame], release: MultiRelease):
    """No level can be lowered by itself."""
    plan = module.decide_levels(job, tables)
    assert {n: dict(v) for n, v in release.levels.items()} == {
        r.relation.name: dict(zip(r.relation.quasi, levels, strict=True))
        for r, levels in zip(plan.tables, plan.search.by_table(plan.levels), strict=True)
    }
    for j, level in enumerate(plan.levels):
        if level:
            lower = (*plan.levels[:j], level - 1, *plan.levels[j + 1 :])
            assert not plan.search.is_release(plan.search.view(lower))


def test_hashes_find_the_same_groups_as_the_values():
    tables = tables_of(300, 1)
    plan = module.decide_levels(MultiJob("key", PEOPLE, [VISITS, BILLS], k=1), tables)
    assert plan.levels == (0, 0, 0)
    expected = groups_by_hand(tables, [PEOPLE, VISITS, BILLS])
    found = defaultdict(list)
    for person, group in zip(tables["people"]["key"], plan.view.group, strict=True):
        found[group].append(person)
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, expected))


def test_persons_and_their_rows_stay_together():
    """Joined by the new key, every person still has his or her own rows."""
    tables = tables_of(60, 2)
    release = anonymize_multirelational(MultiJob("key", PEOPLE, [VISITS, BILLS], k=1), tables)

    def profiles(frames: dict[str, pl.DataFrame]) -> Counter:
        out: dict[Any, list] = {key: [] for key in frames["people"]["key"]}
        for name, columns in {
            "people": ["town", "age"],
            "visits": ["illness", "day"],
            "bills": ["amount"],
        }.items():
            for row in frames[name].to_dicts():
                out[row["key"]].append((name, *(str(row[c]) for c in columns)))
        return Counter(tuple(sorted(p)) for p in out.values())

    assert profiles(tables) == profiles(release.tables)


def test_no_key_survives_and_chance_decides():
    tables = tables_of(80, 3)
    job = MultiJob("key", PEOPLE, [VISITS, BILLS], k=2, max_suppressed=0.3)
    one, again = (anonymize_multirelational(job, tables, seed=5).tables for _ in range(2))
    other = anonymize_multirelational(job, tables, seed=6).tables
    assert all(one[name].equals(again[name]) for name in one)
    assert not one["people"].equals(other["people"])
    text = "".join(frame.write_csv() for frame in one.values())
    assert "key-" not in text


def test_diversity_is_counted_over_persons():
    """Four persons look the same. Three rows say flu, but they belong to one person."""
    people = pl.DataFrame({"key": [1, 2, 3, 4], "sex": ["f"] * 4})
    visits = pl.DataFrame(
        {"key": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], "illness": ["flu"] * 3 + ["cold"] * 2 + ["gout"] * 7}
    )
    tables = {"people": people, "visits": visits}

    def check(l: float) -> Any:  # noqa: E741
        return verify_multirelational(
            Relation("people", ["sex"]), [Relation("visits", sensitive={"illness": l})], tables, "key", 4
        ).verdicts[1]

    assert check(1).reached == 0.75  # gout: persons 2, 3 and 4
    assert check(4 / 3).ok
    assert not check(1.4).ok
    assert check(2).violating_groups == 1


@pytest.mark.parametrize("seed", range(5))
def test_diversity_holds_in_the_release(seed: int):
    tables = tables_of(150, seed)
    visits = Relation("visits", VISITS.quasi, {"illness": 1.5})
    release = anonymize_multirelational(MultiJob("key", PEOPLE, [visits, BILLS], k=2, max_suppressed=0.3), tables)
    holders = defaultdict(set)
    group_of = {p: i for i, g in enumerate(groups_by_hand(release.tables, [PEOPLE, visits, BILLS])) for p in g}
    sizes = Counter(group_of.values())
    for row in release.tables["visits"].to_dicts():
        holders[group_of[row["key"]], row["illness"]].add(row["key"])
    assert all(len(people) * 3 <= sizes[group] * 2 for (group, _), people in holders.items())
    assert release.verdicts[1].column == "visits.illness"
    assert release.verdicts[1].ok


def test_sets_and_multisets_differ():
    people = pl.DataFrame({"key": [1, 2], "sex": ["f", "f"]})
    visits = pl.DataFrame({"key": [1, 2, 2], "month": ["May", "May", "May"]})
    tables = {"people": people, "visits": visits}
    for rows, ok in (("multiset", False), ("set", True)):
        satellite = Relation("visits", ["month"], rows=rows)
        assert verify_multirelational(Relation("people", ["sex"]), [satellite], tables, "key", 2).ok is ok
    job = MultiJob(
        "key",
        Relation("people", {"sex": suppress()}),
        [Relation("visits", {"month": suppress()}, rows="set")],
        k=2,
    )
    assert anonymize_multirelational(job, tables).tables["visits"].height == 2, "rows that look the same stand once"


def test_cells_cannot_be_confused():
    """Texts that only read the same when they are written one after the other are different."""
    people = pl.DataFrame({"key": [1, 2, 3], "a": ["x", "x2:y", None], "b": ["2:yz", "z", "x"]})
    found = verify_multirelational(Relation("people", ["a", "b"]), [], {"people": people}, "key", 1)
    assert len(found.sizes) == 3


def test_missing_values_are_values_of_their_own():
    people = pl.DataFrame({"key": range(6), "town": ["Kiel", "Kiel", "Ulm", "Ulm", None, None]})
    relation = Relation("people", {"town": tree(TOWNS)})
    with pytest.raises(DataError, match="missing"):
        anonymize_multirelational(MultiJob("key", relation, [], k=2), {"people": people})
    release = anonymize_multirelational(
        MultiJob("key", relation, [], k=2, missing_rule="own-value"), {"people": people}
    )
    assert sorted(release.tables["people"]["town"].fill_null("?")) == ["?", "?", "Kiel", "Kiel", "Ulm", "Ulm"]


def test_frames_come_back_as_they_were_given():
    tables = {name: frame.to_pandas() for name, frame in tables_of(40, 1).items()}
    release = anonymize_multirelational(MultiJob("key", PEOPLE, [VISITS, BILLS], k=1), tables)
    assert all(isinstance(frame, pd.DataFrame) for frame in release.tables.values())


JOB = MultiJob("key", PEOPLE, [VISITS, BILLS], k=3, max_suppressed=0.4)


def write(tables: dict[str, pl.DataFrame], folder: Path) -> dict[str, Path]:
    out = {"people": folder / "people.csv", "visits": folder / "visits.csv", "bills": folder / "bills.parquet"}
    tables["people"].write_csv(out["people"])
    tables["visits"].write_csv(out["visits"])
    tables["bills"].write_parquet(out["bills"])
    return out


def test_files_are_written_and_can_be_checked(tmp_path: Path):
    files = write(tables_of(200, 4), tmp_path)
    release = run_multirelational(JOB, files, tmp_path / "release", seed=1)
    public = tmp_path / "release" / "public"
    assert sorted(p.name for p in public.iterdir()) == [
        "bills.parquet",
        "codebook.csv",
        "manifest.json",
        "people.csv",
        "report.html",
        "visits.csv",
    ]
    written = {"people": public / "people.csv", "visits": public / "visits.csv", "bills": public / "bills.parquet"}
    found = verify_multirelational(PEOPLE, [VISITS, BILLS], written, "key", 3)
    assert found.ok
    assert found.n_records == release.n_persons - release.n_suppressed
    manifest = json.loads((public / "manifest.json").read_text())
    assert manifest["suppressed"] == release.n_suppressed
    assert [t["sha256"] for t in manifest["tables"]] == [
        open_source(written[n]).sha256 for n in ("people", "visits", "bills")
    ]
    with pytest.raises(Exception, match="exists already"):
        run_multirelational(JOB, files, tmp_path / "release")
    run_multirelational(JOB, files, tmp_path / "release", overwrite=True)


def test_nothing_appears_if_the_check_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files = write(tables_of(200, 4), tmp_path)

    def everybody(self: Any, rows: Any) -> pl.Series:
        return pl.Series([f"{i}" for i in range(len(rows))])

    monkeypatch.setattr(module.Labelling, "at", everybody)
    with pytest.raises(VerificationError) as caught:
        run_multirelational(JOB, files, tmp_path / "release")
    assert caught.value.code == "E501"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bills.parquet", "people.csv", "visits.csv"]


def test_what_cannot_be_done_says_why():
    tables = tables_of(20, 0)
    with pytest.raises(InfeasibleError, match="look like 19 others") as caught:
        anonymize_multirelational(MultiJob("key", PEOPLE, [VISITS, BILLS], k=20), tables)
    assert "k below 20" in (caught.value.hint or ""), "no limit would help"


def test_an_empty_table_is_no_release():
    people = pl.DataFrame({"key": range(6), "sex": ["f"] * 6})
    visits = pl.DataFrame({"key": [0], "illness": ["flu"]})
    job = MultiJob(
        "key",
        Relation("people", {"sex": suppress()}),
        [Relation("visits", sensitive=["illness"])],
        2,
        max_suppressed=0.2,
    )
    with pytest.raises(InfeasibleError, match="nothing of table 'visits'"):
        anonymize_multirelational(job, {"people": people, "visits": visits})


FRAMES = tables_of(20, 0)


@pytest.mark.parametrize(
    ("tables", "code", "words"),
    [
        ({**FRAMES, "people": pl.concat([FRAMES["people"]] * 2)}, "E413", "repeat an earlier"),
        ({**FRAMES, "people": FRAMES["people"].with_columns(key=None)}, "E413", "have no 'key'"),
        ({**FRAMES, "people": FRAMES["people"].head(5)}, "E413", "belong to nobody"),
        ({**FRAMES, "visits": FRAMES["visits"].drop("day")}, "E410", "no column 'day'"),
        ({**FRAMES, "visits": FRAMES["visits"].drop("key")}, "E410", "no column 'key'"),
        ({**FRAMES, "visits": FRAMES["visits"].with_columns(note=pl.lit("x"))}, "E101", "has no role"),
        ({"people": FRAMES["people"], "visit": FRAMES["visits"]}, "E105", "did you mean 'visit'"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tables: dict[str, pl.DataFrame], code: str, words: str):
    with pytest.raises((DataError, JobError), match=words) as caught:
        anonymize_multirelational(JOB, tables)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Relation("x", rows="bag"), "E110"),
        (lambda: Relation("x", sensitive={"s": 0.5}), "E110"),
        (lambda: Relation("x", ["s"], ["s"]), "E104"),
        (lambda: MultiJob("key", PEOPLE, [PEOPLE], k=2), "E104"),
        (lambda: MultiJob("key", BILLS, [], k=2), "E106"),
        (lambda: MultiJob("town", PEOPLE, [], k=2), "E111"),
        (lambda: MultiJob("key", PEOPLE, [], k=2, missing_rule="wildcard"), "E111"),
        (lambda: MultiJob("key", PEOPLE, [], k=0), "E110"),
        (lambda: MultiJob("key", PEOPLE, [], k=2, max_suppressed=2), "E110"),
        (lambda: Relation("x", ["a"]).columns(), "E112"),
    ],
)
def test_descriptions_are_checked(make: Any, code: str):
    with pytest.raises(JobError) as caught:
        make()
    assert caught.value.code == code


def test_a_column_that_looks_like_a_name_is_refused():
    people = pl.DataFrame({"key": range(50), "phone": [170_000_000 + i for i in range(50)]})
    with pytest.raises(Exception, match="identify") as caught:
        anonymize_multirelational(
            MultiJob("key", Relation("people", {"phone": numeric()}), [], k=2), {"people": people}
        )
    assert getattr(caught.value, "code", "") == "E604"

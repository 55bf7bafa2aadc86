"""Nothing that points at people is published unseen: by no role, and not by several columns together."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tarnkappe import (
    DataSettings,
    FrequencyLDiversity,
    Job,
    KAnonymity,
    KEAnonymity,
    intervals,
    numeric,
    ordered,
    prefix,
    suppress,
    value_set,
)
from tarnkappe.criteria.xy_anonymity import XYAnonymity
from tarnkappe.errors import JobError, RefusedError
from tarnkappe.guards.people import people_per_group
from tarnkappe.pipeline import anonymize, check, run_job
from tarnkappe.plan import Plan
from tarnkappe.schema import Column

N = 200
FIRST = ["Anna", "Peter", "Maria", "Hans", "Julia", "Thomas", "Sabine", "Michael", "Laura", "Stefan"]

#: What must not go out under any role that publishes it unchanged.
POINTING: dict[str, tuple[str, list[Any]]] = {
    "names": ("doctor", [FIRST[i % 10] for i in range(N)]),
    "a few names": ("attending", ["Schmidt", "Weber", "Fischer", "Meyer"] * (N // 4)),
    "record numbers": ("case_id", [7000 + (i * 17) % N for i in range(N)]),
    "insurance numbers": ("insurance_no", [f"K{i}" for i in range(N)]),
    "coordinates": ("lat", [52.5 + 0.0013 * (i % 40) for i in range(N)]),
    "sampling weights": ("fnlwgt", [1000 + i % 50 for i in range(N)]),
    "mail": ("c", [f"a{i}@example.org" for i in range(N)]),
    "free text": ("remark", [f"was seen by her son on day {i}" for i in range(N)]),
    "all different": ("score", [0.5 + (i * 37) % 211 for i in range(N)]),
    "row order": ("position", [i * 2 for i in range(N)]),
    "dates": ("admitted", [f"2020-01-{1 + i % 28:02d}" for i in range(N)]),
    "towns": ("city", ["Ulm", "Bonn"] * (N // 2)),
}


def people(**further: list[Any]) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {"age": rng.integers(20, 60, N), "sex": rng.choice(["f", "m"], N), "illness": rng.choice(["a", "b", "c"], N)}
    ).with_columns(**{name: pl.Series(values) for name, values in further.items()})


def job(*columns: Column, **changes: Any) -> Job:
    given: dict[str, Any] = {
        "quasi": {"age": numeric(), "sex": suppress()},
        "sensitive": ["illness"],
        "columns": columns,
        "criteria": [KAnonymity(5)],
    }
    return Job(**{**given, **changes})


@pytest.mark.parametrize("role", ["sensitive", "keep"])
@pytest.mark.parametrize("what", POINTING)
def test_a_column_that_points_at_people_is_refused_whatever_role_publishes_it(what: str, role: Any, tmp_path: Path):
    name, values = POINTING[what]
    data = people(**{name: values})
    with pytest.raises(RefusedError) as caught:
        run_job(job(Column(name, role)), data, tmp_path / "out")
    assert caught.value.code == "E604"
    assert caught.value.hint
    assert not any(str(v) in str(caught.value) for v in values if isinstance(v, str) and len(v) > 3)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("taxonomy", [suppress(), value_set(), ordered()], ids=lambda t: t.kind)
@pytest.mark.parametrize("what", ["names", "record numbers", "insurance numbers", "mail", "free text", "visits"])
def test_a_quasi_identifier_that_names_people_is_refused_if_it_is_only_pooled(what: str, taxonomy: Any):
    """Two records of one person share the number of that person, so it was published as it is."""
    visits = ("mrn", [i // 10 for i in range(N)])
    name, values = {**POINTING, "visits": visits}[what]
    data = people(**{name: [values[i // 10 * 10] for i in range(N)] if what == "free text" else values})
    with pytest.raises(RefusedError, match="E604"):
        check(job(Column(name, "quasi", taxonomy=taxonomy)), data)


def test_a_quasi_identifier_that_somebody_has_looked_at_may_be_called_anything():
    data = people(mrn=[f"{i // 10:02d}" for i in range(N)])
    assert check(job(Column("mrn", "quasi", taxonomy=prefix(1))), data)
    answers = ["did not finish any school", "finished school with a degree", "finished school without a degree"]
    data = people(school=[answers[i % 3] for i in range(N)])[:20]
    assert check(job(Column("school", "quasi", taxonomy=value_set(*answers))), data)


def test_long_labels_of_a_release_are_no_free_text():
    states = ["never married", "widowed long ago", "divorced again", "lives in a partnership"]
    data = people(state=[states[i % 4] for i in range(N)])[:24]
    asked = Job(quasi={"age": numeric(), "state": value_set()}, drop=["sex", "illness"], criteria=[KAnonymity(6)])
    assert max(len(str(label)) for label in anonymize(asked, data, seed=1).table["state"]) > 40


@pytest.mark.parametrize("algorithm", ["anatomize", "angel", "slicing"])
def test_a_floor_coarsens_what_is_published_beside_numbers_of_groups(algorithm: str):
    """Incomes that are all different are refused as they are; below a floor of wide bands nobody sees them."""
    people = pl.DataFrame(
        {"income": [1000 + 7 * i for i in range(400)], "illness": ["flu", "gout", "ache", "cold"] * 100}
    )
    asked = {"sensitive": ["illness"], "criteria": [FrequencyLDiversity("illness", 2)], "algorithm": algorithm}
    if algorithm != "angel":  # which coarsens in batches
        with pytest.raises(RefusedError, match="E604 column 'income' would be published unchanged"):
            Job(quasi={"income": numeric()}, **asked).anonymize(people)
    release = Job(quasi={"income": intervals(500, 1000)}, min_level={"income": 1}, **asked).anonymize(people, seed=1)
    assert release.table["income"].n_unique() < 10
    narrow = Job(quasi={"income": intervals(7, 700)}, min_level={"income": 1}, **asked)
    if algorithm != "angel":  # a floor that leaves every label to one record is found in what was written
        with pytest.raises(RefusedError, match="E604 column 'income'"):
            narrow.anonymize(people, seed=1)


def test_a_reason_is_recorded_and_is_an_alert_in_both_reports(tmp_path: Path):
    data = people(score=POINTING["all different"][1])
    reason = "the board wants exact scores, decided in May"
    release = run_job(job(Column("score", "sensitive", because=reason)), data, tmp_path / "out", seed=1)
    assert [n.code for n in release.notices if "'score'" in n.message and reason in n.message] == ["W609"]
    for edition in ("public", "do-not-share"):
        page = next((tmp_path / "out").glob(f"{edition}*/report.html")).read_text("utf-8")
        alerts = page.split('id="alerts"')[1].split("</section>")[0]
        assert "W609" in alerts
        assert reason in alerts


@pytest.mark.parametrize("reason", ["x", "", "reviewed", "reviewed …", "aaaaaaa aaaaaaaaa", "12 34 56 78 90 12 34"])
def test_what_is_too_short_to_be_a_reason_is_refused(reason: str):
    with pytest.raises(JobError, match=r"E110.*too short to be a reason"):
        Column("score", "keep", because=reason)
    assert Column("score", "keep", because="internal code, reviewed by the board").because
    with pytest.raises(JobError, match="too short to be a reason"):
        job(keep=["score"], because={"score": reason})


def test_an_identifier_that_first_shows_far_below_is_found_in_what_was_written(tmp_path: Path):
    n = 30_000
    rng = np.random.default_rng(1)
    late = ["none"] * 15_000 + [f"ask a{i % 300}@example.org" for i in range(15_000)]
    data = pl.DataFrame({"age": rng.integers(20, 40, n), "channel": late})
    with pytest.raises(RefusedError, match="e-mail"):
        run_job(Job(quasi={"age": numeric()}, keep=["channel"], criteria=[KAnonymity(5)]), data, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_values_that_only_the_first_rows_have_once_are_not_taken_for_all_different():
    n = 60_000
    rng = np.random.default_rng(1)
    amounts = np.concatenate([rng.permutation(10_000), rng.integers(0, 10_000, n - 10_000)])
    data = pl.DataFrame({"age": rng.integers(20, 40, n), "income": amounts})
    assert check(Job(quasi={"age": numeric()}, sensitive=["income"], criteria=[KAnonymity(5)]), data)


def small_groups(table: pl.DataFrame, columns: list[str], k: int) -> tuple[int, int]:
    sizes = table.group_by(columns).len()["len"]
    return int(sizes.filter(sizes < k).sum()), int((sizes == 1).sum())


@pytest.mark.parametrize("values", [[60], [31, 60, 24], [2]])
def test_kept_columns_are_judged_together_and_the_number_is_said(values: list[int]):
    rng = np.random.default_rng(2)
    kept = {f"q{j}": rng.integers(0, v, N).tolist() for j, v in enumerate(values)}
    release = anonymize(job(keep=list(kept)), people(**kept), seed=3)
    few, alone = small_groups(release.table, ["age", "sex", *kept], 5)
    said = [n.message for n in release.notices if n.code == "W603" and "also knows" in n.message]
    assert few > 0
    assert len(said) == 1
    assert f"{few} of {N} records in groups of fewer than 5, {alone} of them alone" in said[0]
    assert all(f"'{name}'" in said[0] for name in kept)


def test_a_kept_column_that_says_nothing_is_not_mentioned():
    release = anonymize(job(keep=["wave"]), people(wave=["one"] * N), seed=3)
    assert [n for n in release.notices if n.code == "W603"] == []


def test_sensitive_values_that_belong_to_one_record_are_counted():
    incomes = [1000 + i if i < 40 else 900 for i in range(N)]
    release = anonymize(job(sensitive=["illness", "income"]), people(income=incomes), seed=1)
    said = [n.message for n in release.notices if n.code == "W603"]
    assert len(said) == 1
    assert f"40 of {N} records have a value of their own" in said[0]


PANEL = pl.DataFrame(
    {
        "nr": [1000 + i // 8 for i in range(800)],
        "age": [20 + i // 8 for i in range(800)],
        "wage": [round(5 + (i * 7919 % 97) / 13, 2) for i in range(800)],
    }
)


def people_of(table: pl.DataFrame, release: Any) -> list[int]:
    """How many men each published group has, counted by the ages that its label covers."""
    out = []
    for (label,) in release.table.select(pl.col("age").unique()).iter_rows():
        low, _, high = str(label).strip("[]").partition(" ")
        out.append(table.filter(pl.col("age").is_between(int(low), int(high or low)))["nr"].n_unique())
    return out


def test_rows_that_repeat_a_key_are_counted_in_the_style_of_all_numbers():
    data = pl.DataFrame({"nr": [i // 2 for i in range(3000)], "age": [i // 2 % 50 for i in range(3000)]})
    said = anonymize(Job(quasi={"age": numeric()}, identifiers=["nr"], criteria=[KAnonymity(2)]), data, seed=1).notices
    assert "1 500 of 3 000 rows repeat an earlier value of 'nr'" in next(n.message for n in said if n.code == "W604")


@pytest.mark.parametrize("times", [2, 8])
def test_several_records_per_person_are_said_however_many_they_are(times: int):
    data = PANEL.filter(pl.int_range(pl.len()) % 8 < times)
    asked = Job(quasi={"age": numeric()}, identifiers=["nr", "wage"], criteria=[KAnonymity(2)])
    release = anonymize(asked, data, seed=1)
    men = people_of(data, release)
    said = [n for n in release.notices if n.code == "W604"]
    assert len(said) == 1  # the wage repeats, too, but is no key of a person
    assert f"{data.height - 100} of {data.height} rows repeat an earlier value of 'nr'" in said[0].message
    assert f"{sum(m < 2 for m in men)} of {len(men)} groups have fewer than 2 people" in said[0].message
    assert said[0].hint == "nr: {role: subject}   and under 'criteria':  - xy-anonymity: {y: nr, k: 2}"
    assert "W604" in [n.code for n in check(asked, data).notices]


def test_a_key_of_people_that_is_dropped_still_says_that_they_have_several_records():
    data = PANEL.with_columns(ward=pl.col("nr") // 10)
    asked = Job(quasi={"age": numeric()}, drop=["nr", "wage", "ward"], criteria=[KAnonymity(2)])
    (said,) = [n.message for n in anonymize(asked, data, seed=1).notices if n.code == "W604"]
    assert "700 of 800 rows repeat an earlier value of 'nr'" in said


KEYS_BY_CONTENT = {
    "mail": lambda n: f"a{n}@example.org",
    "telephone": lambda n: f"+49 40 {n:07d}",
    "key": lambda n: f"123e4567-e89b-12d3-a456-{n:012d}",
    "ssn": lambda n: f"{n:09d}",
    "Patienten-ID": str,
}


@pytest.mark.parametrize("key", KEYS_BY_CONTENT)
def test_a_key_that_is_dropped_says_so_whether_its_name_or_its_values_tell(key: str):
    name = key if key in ("ssn", "Patienten-ID") else "c"
    data = PANEL.with_columns(pl.Series("nr", [KEYS_BY_CONTENT[key](n) for n in PANEL["nr"]])).rename({"nr": name})
    asked = Job(quasi={"age": numeric()}, drop=[name, "wage"], criteria=[KAnonymity(2)])
    (said,) = [n for n in anonymize(asked, data, seed=1).notices if n.code == "W604"]
    assert f"700 of 800 rows repeat an earlier value of '{name}'" in said.message
    doctors = PANEL.with_columns(doctor=pl.Series(FIRST * 80))
    told = anonymize(Job(quasi={"age": numeric()}, drop="rest", criteria=[KAnonymity(2)]), doctors, seed=1).notices
    assert not [n for n in told if "doctor" in n.message]


def test_the_column_by_which_a_history_knows_people_is_a_key_whatever_it_is_called(tmp_path: Path):
    data = PANEL.rename({"nr": "mystery"})
    history = {"ledger": tmp_path / "ledger", "subject": "mystery"}
    asked = Job(quasi={"age": numeric()}, drop="rest", criteria=[KAnonymity(2)], history=history)
    for notices in (check(asked, data).notices, anonymize(asked, data, seed=1).notices):
        (said,) = [n.message for n in notices if n.code == "W604"]
        assert "700 of 800 rows repeat an earlier value of 'mystery'" in said


@pytest.mark.parametrize("role", ["sensitive", "keep", "quasi"])
def test_a_key_of_people_that_is_published_says_so_too(role: str):
    data = PANEL.rename({"nr": "pid"}).with_columns(subject=pl.Series(["maths", "music"] * 400))
    columns = [Column("age", "quasi", "numeric"), Column("pid", role, "numeric" if role == "quasi" else "categorical")]
    asked = Job(columns=columns, sensitive=["subject"], drop=["wage"], criteria=[KAnonymity(2)])
    (said,) = [n for n in anonymize(asked, data, seed=1).notices if n.code == "W604"]
    assert "700 of 800 rows repeat an earlier value of 'pid'" in said.message
    assert "pid: {role: subject}" in str(said.hint)


@pytest.mark.parametrize("algorithm", ["anatomize", "slicing", "angel"])
def test_several_records_per_person_are_said_of_numbered_groups(algorithm: str):
    data = PANEL.with_columns(illness=pl.Series(["flu", "gout", "cold", "burn"] * 200))
    asked = Job(
        quasi={"age": numeric()},
        sensitive=["illness"],
        drop=["nr", "wage"],
        criteria=[FrequencyLDiversity("illness", 2)],
        algorithm=algorithm,
    )
    (said,) = [n.message for n in anonymize(asked, data, seed=1).notices if n.code == "W604"]
    assert "700 of 800 rows repeat an earlier value of 'nr'" in said
    assert re.search(r"\d+ of \d+ groups have fewer than 2 people", said)


@pytest.mark.parametrize("algorithm", ["anatomize", "angel", "k-e-permutation"])
def test_a_secret_that_tells_records_apart_is_said_where_others_stand_beside_it(algorithm: str):
    n = 120
    data = pl.DataFrame(
        {
            "age": [20 + i % 40 for i in range(n)],
            "illness": ["flu", "gout", "cold", "burn"] * (n // 4),
            "pay": [1000 + 7 * min(i, 90) for i in range(n)],
        }
    )
    criteria = [KEAnonymity("pay", 2, 1)] if algorithm == "k-e-permutation" else [FrequencyLDiversity("illness", 2)]
    secret = [Column("illness", "sensitive"), Column("pay", "sensitive", "numeric")]
    asked = Job(columns=secret, quasi={"age": numeric()}, criteria=criteria, algorithm=algorithm)
    (said,) = [n.message for n in anonymize(asked, data, seed=1).notices if n.code == "W603"]
    assert "'pay' is published unchanged, and 90 of 120 records have a value of their own" in said
    assert "reads 'illness' beside it" in said


def test_people_are_counted_whatever_the_columns_are_coarsened_by():
    """Levels, gaps, secrets and suppressed records do not lose anybody: counted again from the table by hand."""
    rng = np.random.default_rng(4)
    visits = pl.DataFrame(
        {
            "who": [f"p{i // 3}" for i in range(600)],
            "age": [20 + i // 3 % 45 for i in range(600)],
            "zip": pl.Series([f"10{i // 3 % 40:03d}" for i in range(600)]),
            "illness": [(None, "a", "b")[v] for v in rng.integers(0, 3, 600)],
        }
    )
    columns = [
        Column("age", "quasi", "numeric", intervals(5, 20), min_level=1),
        Column("zip", "quasi", taxonomy=prefix(4, 3)),
    ]
    asked = Job(columns=columns, sensitive=["illness"], identifiers=["who"], criteria=[KAnonymity(4)])
    checked = check(asked, visits)
    grouping = asked.algorithm.decide(checked.tally, asked.goal, rng=np.random.default_rng(1))
    plan = Plan.of(checked.tally, asked.goal, grouping, ("",))
    people = people_per_group(checked.source, checked.schema, plan, ["who"])
    assert people is not None
    assert people.min() >= 1
    assert (people <= plan.sizes).all()
    if not grouping.splits_cells:
        assert people.sum() >= visits["who"].n_unique()


def test_the_fix_that_is_offered_works():
    asked = Job(quasi={"age": numeric()}, subject="nr", drop=["wage"], criteria=[XYAnonymity("nr", 5)])
    release = anonymize(asked, PANEL, seed=1)
    assert min(people_of(PANEL, release)) >= 5
    assert "W604" not in [n.code for n in release.notices]


def test_a_declared_subject_needs_a_criterion_about_people():
    asked = Job(quasi={"age": numeric()}, subject="nr", drop=["wage"], criteria=[KAnonymity(5)])
    with pytest.raises(JobError, match="E111 k-anonymity counts records, but 'nr'") as caught:
        anonymize(asked, PANEL)
    assert "- xy-anonymity: {y: nr, k: 5}" in str(caught.value.hint)


def test_the_reason_is_part_of_the_job_that_is_kept(tmp_path: Path):
    data = people(score=POINTING["all different"][1])
    reason = "the board wants exact scores, decided in May"
    run_job(job(Column("score", "sensitive", because=reason)), data, tmp_path / "out", seed=1)
    kept = next((tmp_path / "out").glob("*/job.yaml")).read_text("utf-8")
    assert reason in kept
    assert json.loads((tmp_path / "out/public/manifest.json").read_text("utf-8"))["columns"]


@pytest.mark.parametrize("role", ["identifier", "drop"])
def test_a_person_may_be_known_by_two_columns(role: str):
    """A household and a number in it: either repeats for other reasons, together they say who has several records."""
    people = [(h, p, wave) for h in range(30) for p in range(1, 4) for wave in range(4)]
    data = pl.DataFrame(
        {
            "household_id": [f"H{h:03d}" for h, _, _ in people],
            "person_id": [p for _, p, _ in people],
            "age": [20 + (h * 7 + p * 3) % 50 for h, p, _ in people],
        }
    )
    asked = Job(
        quasi={"age": numeric()},
        criteria=[KAnonymity(4)],
        **{"identifiers" if role == "identifier" else "drop": ["household_id", "person_id"]},
    )
    said = [n for n in asked.anonymize(data, seed=1).notices if n.code == "W604"]
    (pair,) = [n for n in said if "combination" in n.message]
    assert "270 of 360 rows repeat an earlier combination of 'household_id' and 'person_id'" in pair.message
    assert "fewer than 4 people" in pair.message
    # What is proposed works.
    joined = data.select(
        "age", pl.concat_str("household_id", pl.col("person_id").cast(pl.String), separator="-").alias("who")
    )
    safe = Job(
        quasi={"age": numeric()},
        columns=[Column("who", "subject")],
        criteria=[KAnonymity(4), XYAnonymity("who", 4)],
    )
    assert all(v.ok for v in safe.anonymize(joined, seed=1).verdicts)


@pytest.mark.parametrize("values", [["Latin", "Latin", "Greek", "Music"], [None] * 4])
def test_a_column_that_is_only_called_like_a_key_says_nothing(values: list[str | None]):
    table = pl.DataFrame({"age": [1, 1, 2, 2], "subject": pl.Series(values, dtype=pl.String)})
    taught = Column("subject", "keep", because="what is taught, which everybody may know")
    job = Job(quasi={"age": numeric()}, columns=[taught], criteria=[KAnonymity(2)])
    assert "W604" not in {notice.code for notice in job.anonymize(table).notices}


def test_two_keys_of_the_same_people_are_no_pair():
    data = pl.DataFrame({"patient_id": [f"P{i // 3}" for i in range(60)], "age": [20 + i // 3 % 9 for i in range(60)]})
    data = data.with_columns(insurance_number=pl.col("patient_id") + "x")
    asked = Job(quasi={"age": numeric()}, identifiers=["patient_id", "insurance_number"], criteria=[KAnonymity(3)])
    said = [n.message for n in asked.anonymize(data, seed=1).notices if n.code == "W604"]
    assert said
    assert not [message for message in said if "combination" in message]


@pytest.mark.parametrize("engine", ["memory", "streaming", "spark"])
def test_people_without_a_number_are_not_one_person(tmp_path: Path, engine: str):
    numbers = [f"040/{5_000_000 + i}" if i % 3 else "-" for i in range(60)]
    data = pl.DataFrame({"age": [20 + i % 9 for i in range(60)], "tel": numbers})
    file = tmp_path / "people.csv"
    data.write_csv(file)
    asked = Job(
        quasi={"age": numeric()},
        identifiers=["tel"],
        criteria=[KAnonymity(3)],
        data=DataSettings(missing=("", "-")),
        engine=engine,
    )
    assert "W604" not in [n.code for n in asked.anonymize(file, seed=1).notices]
    data[2, "tel"] = data[1, "tel"]
    data.write_csv(file)
    (said,) = [n.message for n in asked.anonymize(file, seed=1).notices if n.code == "W604"]
    assert said.startswith("1 of 60 rows repeat an earlier value of 'tel'")

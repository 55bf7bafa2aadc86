"""What is published beside the table tells nothing about original values that the table does not tell.

The attacker knows the job and the records of everybody but one, and all values that this one may have. Each of them is
tried. Candidates that would have given the same table must also have given the same manifest and report.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms import Algorithm
from tarnkappe.schema import Column

AGES = range(18, 60)


def others(n: int = 59) -> pl.DataFrame:
    """The people whom the attacker knows."""
    rng = np.random.default_rng(11)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 60, n),
            "zip": rng.choice(["22765", "22767", "22301", "2230", "10115"], n),
            "job": rng.choice(["baker", "nurse", "clerk", "cook"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "illness": rng.choice(["flu", "none", "cold"], n),
        }
    )


LEVELS = {
    "age": tk.intervals(5, 10, 20, top=55),
    "zip": tk.prefix(4, 3, 2),
    "job": tk.tree({"food": ["baker", "cook"], "care": ["nurse"], "office": ["clerk"]}),
}
RANGES = {"age": tk.numeric(), "zip": tk.ordered(), "job": tk.value_set()}
COUNTED = {"age": tk.quantiles(8, 4, 2), "zip": tk.suppress(), "job": tk.frequency(0.1, 0.4)}
ALGORITHMS = [
    (tk.Flash(), LEVELS),
    (tk.Flash(), COUNTED),
    (tk.Datafly(), LEVELS),
    (tk.Mondrian(), RANGES),
    (tk.Mondrian(), LEVELS),
    (tk.Hilb(), RANGES),
    (tk.MuArgus(), LEVELS),
    (tk.MDAV(aggregate="median"), RANGES | {"zip": tk.suppress(), "job": tk.suppress()}),
]


def candidates() -> Iterator[tuple[object, ...]]:
    """What the last one may be like; the attacker knows all but the age, or all but the postcode."""
    for age in AGES:
        yield age, "22765", "baker", "flu"
    for zip_ in ("22765", "22767", "22301", "2230", "10115", "10117", "1", None):
        yield 33, zip_, "cook", "none"


def published(folder: Path) -> tuple[str, str, str]:
    """The table without its order, the manifest, and report and codebook; without what chance and the clock decide."""
    public = folder / "public"
    manifest = json.loads((public / "manifest.json").read_text())
    digest, made = manifest.pop("sha256"), manifest.pop("made")
    del manifest["tables"][0]["sha256"]
    page = (public / "report.html").read_text().replace(digest, "").replace(made, "")
    page = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?|\d{1,2} \w+ \d{4}", "", page)
    rows = "\n".join(sorted((public / "people.csv").read_text().splitlines()))
    assert sorted(p.name for p in public.iterdir()) == ["codebook.csv", "manifest.json", "people.csv", "report.html"]
    return rows, json.dumps(manifest), page + (public / "codebook.csv").read_text()


@pytest.mark.parametrize(
    ("algorithm", "quasi", "limit"),
    [
        pytest.param(*one, limit, id=f"{one[0].name}-{limit}-{i}", marks=[] if i % 8 == 4 * j else [pytest.mark.full])
        for i, one in enumerate(ALGORITHMS)
        for j, limit in enumerate((0.0, 0.2))
    ],
)
def test_an_attacker_who_knows_everybody_else_gains_nothing(
    algorithm: Algorithm, quasi: dict, limit: float, tmp_path: Path
):
    known, seen = others(), defaultdict(set)
    for i, last in enumerate(candidates()):
        people = pl.concat([known, pl.DataFrame([last], known.schema, orient="row")])
        people.write_csv(tmp_path / "people.csv")
        asked = tk.Job(
            quasi=quasi,
            sensitive=["illness"],
            criteria=[tk.KAnonymity(4)],
            algorithm=algorithm,
            max_suppressed=limit,
            missing_rule="own-value",
        )
        release = tk.run_job(asked, tmp_path / "people.csv", tmp_path / f"{i}", seed=5)
        told = release.as_dict()
        for by_chance in ("sha256", "made", "folder"):
            told.pop(by_chance)
        told["tables"] = [{**table, "sha256": None} for table in told["tables"]]
        rows, manifest, page = published(tmp_path / f"{i}")
        seen[rows].add((manifest, page, json.dumps(told, default=str)))
    assert len(seen) < len(list(candidates()))  # some of them give the same table
    assert {len(facts) for facts in seen.values()} == {1}


def test_exact_figures_stay_with_the_publisher(tmp_path: Path):
    asked = tk.Job(quasi=LEVELS, sensitive=["illness"], criteria=[tk.KAnonymity(4)])
    release = tk.run_job(asked, others(), tmp_path / "out", seed=1)
    public, private = release.public_manifest["loss"], release.private_manifest["loss"]
    assert "gcp" not in public
    assert {"gcp", "nonuniform-entropy", "iloss"} <= private.keys()
    assert public.items() <= private.items()
    internal = (tmp_path / "out" / "do-not-share" / "report.html").read_text()
    page = (tmp_path / "out" / "public" / "report.html").read_text()
    assert "before → after" in internal.replace("<br>", " ")
    assert "before → after" not in page
    assert "Detail kept by column" in internal
    assert "Detail kept by column" not in page


def test_how_many_cells_were_missing_is_not_told(tmp_path: Path):
    people = others().with_columns(zip=pl.when(pl.col("age") > 30).then(pl.col("zip")))
    asked = tk.Job(quasi=RANGES, sensitive=["illness"], criteria=[tk.KAnonymity(4)], missing_rule="wildcard")
    release = asked.anonymize(people, seed=1)
    assert "W607" in {n.code for n in release.notices}
    assert "W607" not in {n["code"] for n in release.as_dict()["notices"]}


def both(tmp_path: Path, one: str, other: str, **asked: object) -> list[tuple[str, str, str]]:
    """What is published about people of whom the last is one or the other; the rest are five of 20 and four of 30."""
    told = []
    tmp_path.mkdir(exist_ok=True)
    for i, last in enumerate((one, other)):
        known = [f"{20 + 10 * (n > 4)};{'flu' if n % 2 else 'cold'};{'a' if n % 3 else 'b'};p{n}" for n in range(9)]
        (tmp_path / "people.csv").write_text("\n".join(["age;illness;wave;who", *known, last, ""]))
        job = tk.Job(
            **{"quasi": {"age": tk.suppress()}, "sensitive": ["illness"], "criteria": [tk.KAnonymity(3)]} | asked
        )
        tk.run_job(job, tmp_path / "people.csv", tmp_path / f"{i}", seed=1)
        told.append(published(tmp_path / f"{i}"))
    return told


@pytest.mark.parametrize(
    "gone",
    ["99;=cmd();a;p", "99;FLU;a;p", "99;flu;=cmd();p", "99;flu;ann@example.org;p", "99,5;flu;a;p", "99;1,5;a;p"],
    ids=["formula", "spelling", "formula kept", "e-mail kept", "decimal comma", "decimal comma sensitive"],
)
@pytest.mark.parametrize("algorithm", [tk.Flash(), tk.MuArgus()], ids=lambda a: a.name)
def test_a_suppressed_record_leaves_no_trace(gone: str, algorithm: Algorithm, tmp_path: Path):
    asked = {"keep": ["wave"], "drop": ["who"], "because": {"wave": "the wave of a survey, known to all"}}
    one, other = both(tmp_path, gone, "99;flu;a;p", algorithm=algorithm, max_suppressed=0.1, **asked)
    assert one == other


def test_a_decimal_comma_that_shows_is_told(tmp_path: Path):
    for i, last in enumerate(("20;1,5;a;p", "20,5;flu;a;p")):
        for _, manifest, page in both(tmp_path / str(i), last, last, drop=["wave", "who"], quasi={"age": tk.numeric()}):
            assert json.loads(manifest)["csv"]["decimal"] == ","
            assert "decimal=&quot;,&quot;" in page


@pytest.mark.parametrize("criterion", [tk.XYAnonymity("who", 3), tk.XYPrivacy("who", 2, "illness", 0.9)], ids=str)
def test_people_whose_key_is_removed_are_not_counted_in_public(criterion: tk.Criterion, tmp_path: Path):
    people = {"columns": [Column("who", "subject"), Column("wave", "drop")], "criteria": [tk.KAnonymity(3), criterion]}
    one, other = both(tmp_path, "30;flu;a;p8", "30;flu;a;p99", algorithm=tk.Flash(), **people)
    assert one == other
    verdicts = json.loads(one[1])["verdicts"]
    assert [(v["reached"], v["ok"]) for v in verdicts] == [(5, True), (None, True)]
    assert "not told" in one[2]


def test_the_order_of_the_codebook_follows_from_the_labels(tmp_path: Path):
    jobs = ["baker"] * 4 + ["clerk"] * 4
    told = []
    for last in ("baker", "clerk"):
        people = pl.DataFrame({"job": [*jobs, last], "age": [*[20] * 8, 99]})
        quasi = {"job": tk.frequency(0.1), "age": tk.suppress()}
        job = tk.Job(quasi=quasi, criteria=[tk.KAnonymity(3)], algorithm=tk.Flash(), max_suppressed=0.2)
        release = job.anonymize(people, seed=1)
        told.append((sorted(release.table.rows()), release.codebook))
    assert told[0] == told[1]

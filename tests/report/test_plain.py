"""The four questions that everybody asks, and figures about labels that anybody can count in the public files."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.datasets import census
from tarnkappe.report import render_report
from tarnkappe.report.bundle import render_bundle
from tarnkappe.report.facts import in_numbers

TOWNS = {"north": ["Kiel", "Husum"], "south": ["Ulm", "Passau", "Lindau"]}


def people(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "town": rng.choice(["Kiel", "Husum", "Ulm", "Passau", "Lindau"], n),
            "sex": rng.choice(["f", "m", None], n, p=[0.5, 0.45, 0.05]),
            "wave": rng.choice(["a", "b"], n),
            "illness": rng.choice(["flu", "gout", "mumps", "cold"], n),
        }
    )


def job(algorithm: str, limit: float = 0.0) -> tk.Job:
    return tk.Job(
        quasi={"age": tk.numeric(), "town": tk.tree(TOWNS), "sex": tk.suppress()},
        identifiers=["name"],
        keep={"wave": "two waves of a survey, known to all"},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(6), tk.FrequencyLDiversity("illness", 2)],
        algorithm=algorithm,
        max_suppressed=limit,
        missing_rule="own-value",
    )


def kind(meaning: str) -> str:
    return {
        "The value itself.": "exact",
        "Missing in the data.": "exact",
        "Any value: nothing is said.": "nothing",
    }.get(meaning, "coarser")


@pytest.mark.parametrize(("algorithm", "limit"), [("mondrian", 0.0), ("flash", 0.1), ("local-suppression", 0.1)])
def test_what_cells_still_say_can_be_counted_in_the_public_files(algorithm: str, limit: float, tmp_path: Path):
    people().write_csv(tmp_path / "people.csv")
    release = tk.run_job(job(algorithm, limit), tmp_path / "people.csv", tmp_path / "out", seed=1)
    public = tmp_path / "out" / "public"
    table = pl.read_csv(public / "people.csv", infer_schema=False).fill_null("")
    book = pl.read_csv(public / "codebook.csv", infer_schema=False).fill_null("")
    for column in release.columns:
        if column.role != "quasi":
            assert column.said is None
            continue
        told = dict(book.filter(pl.col("column") == column.name).select("label", "meaning").iter_rows())
        counted = Counter(kind(told[label]) for label in table[column.name].to_list())
        said = column.said
        assert said is not None
        assert (said.exact, said.coarser, said.nothing) == tuple(counted[k] for k in ("exact", "coarser", "nothing"))
        if column.name == "age" and algorithm == "mondrian":
            ends = [re.fullmatch(r"\[(\d+) (\d+)\]", label) for label in table["age"].to_list()]
            widths = sorted(int(m[2]) - int(m[1]) for m in ends if m)
            assert said.width == widths[(len(widths) - 1) // 2]


def test_the_page_answers_what_everybody_asks(tmp_path: Path):
    release = job("mondrian").anonymize(people(), seed=1)
    page = render_report(release)
    words = re.sub("<[^>]+>", " ", page).replace("\u00a0", " ")
    for answer in (
        "Who is who: no record can be told from at least 5 others.",
        "Protected from being right more than once in 2 guesses about a person's sensitive value (illness).",
        "Somebody who knows age, town and sex of a person",
        "Somebody who also knows wave, published unchanged, may find people by them.",
        "No record was left out.",
        "Columns removed: name.",
        "still say the value itself",
    ):
        assert answer in words.replace("&#x27;", "'")
    assert "hide a secret that all" not in words.split("What was done")[0], "another criterion does"


def test_letters_become_numbers_and_names_of_criteria_stay():
    assert in_numbers("k-anonymity asks for k records", tk.KAnonymity(7)) == "k-anonymity asks for 7 records"
    recursive = tk.RecursiveCLDiversity("s", c=2, l=3)
    assert in_numbers("rule out l - 2 values", recursive) == "rule out l - 2 values"


def test_a_page_about_buckets_says_what_they_lose():
    frame = people().drop_nulls()
    quasi = {"age": tk.numeric(), "town": tk.suppress()}
    asked = tk.Job(
        quasi=quasi, sensitive=["illness"], drop="rest", criteria=[tk.LDiversity("illness", 2)], algorithm="anatomize"
    )
    words = re.sub("<[^>]+>", " ", render_report(asked.anonymize(frame, seed=1)))
    assert "Protected from learning the sensitive value from group membership alone: at least 2 values" in words
    assert asked.algorithm.publishes.loses in words


def test_what_can_be_combined_depends_on_the_ledger(tmp_path: Path):
    """Who keeps a ledger had all its releases compared; readers are told nothing of it."""
    table = census(200, seed=1).with_row_index("person").with_columns(pl.col("person").cast(pl.String))
    job = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive=["occupation"],
        identifiers=["person"],
        drop="rest",
        criteria=[tk.KAnonymity(5)],
        history=tk.HistorySettings(str(tmp_path / "private.jsonl"), "person"),
        seed=1,
    )
    tk.run_job(job, table, tmp_path / "out")
    said = {e: (tmp_path / "out" / e / "report.html").read_text() for e in ("public", "do-not-share")}
    assert said["do-not-share"].count("that the ledger does not know can be combined") == 2
    assert "ledger" not in said["public"]
    assert said["public"].count("Another release about the same people can be combined with this one.") == 2


def test_a_series_says_what_it_holds_to_and_what_it_cost(tmp_path: Path):
    table = pl.DataFrame(
        {"id": [f"p{i}" for i in range(40)], "age": list(range(20, 60)), "ill": list("abcd") * 10, "more": ["x"] * 40}
    )
    how = {
        "m": 3,
        "max_counterfeits": 0.3,
        "subject": "id",
        "ledger": tmp_path / "private.jsonl",
        "identifiers": ["id"],
        "drop": "rest",
    }
    for data, folder in ((table, "one"), (table[7:], "two")):
        made = tk.republish_people(
            data, folder=tmp_path / folder, quasi={"age": tk.numeric()}, sensitive=["ill"], seed=1, **how
        )
    page = (tmp_path / "two/public/report.html").read_text()
    assert "The check looks at this release alone" not in page
    assert page.count("without its ledger can be combined with this one") == 2
    assert f"{made.public_manifest['counterfeits']} of " in page
    assert {c.name: c.role for c in made.columns} == {
        "id": "identifier",
        "age": "quasi",
        "ill": "sensitive",
        "more": "drop",
    }


def test_noise_is_told_in_plain_numbers():
    made = tk.noisy_counts(pl.DataFrame({"sex": ["f", "m"] * 9}), {"sex": ["f", "m"]}, epsilon=1.0, seed=1)
    page = render_bundle(made)
    assert "e^" not in page
    assert "more than 2.72 times as likely" in page
    assert "What it cost" in page


def test_columns_of_the_page_are_not_empty_where_groups_have_numbers():
    """Numbered groups have no labels to count, and no examples of what values became."""
    quasi, rest = {"age": tk.numeric()}, {"sensitive": ["illness"], "drop": "rest", "seed": 1}
    torn = tk.Job(quasi=quasi, criteria=[tk.FrequencyLDiversity("illness", 2)], algorithm="anatomize", **rest)
    page = render_report(torn.anonymize(people()), "internal")
    assert "before → after" not in page
    assert "Commonest values" not in page
    assert "Examples are the commonest" not in page
    assert "<em>empty</em>" not in page, "numbers of groups and secrets stand in every row"
    page = render_report(tk.Job(quasi=quasi, criteria=[tk.KAnonymity(5)], **rest).anonymize(people()), "internal")
    assert "before → after" in page
    assert "Commonest values" in page

"""Every way out of E301 that is told works when it is pasted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms import algorithm_class
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.history.applying import apply_recoding
from tarnkappe.job.files import job_from_text
from tarnkappe.job.model import replace_job
from tarnkappe.job.places import OutputSettings
from tarnkappe.schema import Column

N = 40


def people() -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, N),
            "zip": rng.choice(["22765", "22767", "20246", "10115"], N),
            "illness": ["flu", "gout", "cold", "flu"] * (N // 4),
            "income": rng.integers(1, 9, N) * 1000,
        }
    )


JOB = """\
columns:
  age: {{role: quasi, type: numeric}}
  zip: {{role: quasi, taxonomy: {{kind: prefix, keep: [3]}}{ceiling}}}
  illness: {{role: sensitive}}
  income: {{role: sensitive, type: numeric}}
criteria:
{criteria}
algorithm: {algorithm}
"""

CASES = {
    "k above the number of rows": ("  - k-anonymity: {k: 50}", "mondrian", ""),
    "l above the number of values": ("  - k-anonymity: {k: 3}\n  - l-diversity: {column: illness, l: 9}", "hilb", ""),
    "both": ("  - k-anonymity: {k: 50}\n  - l-diversity: {column: illness, l: 9}", "mondrian", ""),
    "entropy": ("  - k-anonymity: {k: 2}\n  - entropy-l-diversity: {column: illness, l: 3.9}", "mondrian", ""),
    "too common": ("  - k-anonymity: {k: 2}\n  - frequency-l-diversity: {column: illness, l: 3}", "flash", ""),
    "range of numbers": (
        "  - k-anonymity: {k: 2}\n  - k-e-anonymity: {column: income, k: 2, e: 90000}",
        "mondrian",
        "",
    ),
    "diversity alone": ("  - l-diversity: {column: illness, l: 9}", "mondrian", ""),
    "a ceiling": ("  - k-anonymity: {k: 25}", "flash", ", max_level: 1"),
    "a ceiling and closeness": ("  - t-closeness: {column: illness, t: 0.01}", "flash", ", max_level: 1"),
    "a ceiling and k above the number of rows": ("  - k-anonymity: {k: 50}", "mondrian", ", max_level: 1"),
    "a ceiling and too common": (
        "  - k-anonymity: {k: 2}\n  - frequency-l-diversity: {column: illness, l: 3}",
        "hilb",
        ", max_level: 1",
    ),
}


def told(text: str, data: pl.DataFrame) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        job_from_text(text).anonymize(data, seed=1)
    return caught.value


def pasted(text: str, way: str) -> str:
    """The job file after a change as it was told."""
    for change in way.split("  and  "):
        if change.startswith("- "):
            name = change[2:].partition(":")[0]
            text = re.sub(rf"^  - {name}:.*$", f"  {change}", text, flags=re.MULTILINE)
        elif change.startswith("criteria:"):
            text = re.sub(r"^criteria:\n(  - .*\n)+", f"{change}\n", text, flags=re.MULTILINE)
        elif change.startswith("--set"):
            column, level = re.fullmatch(r"--set columns\.(\w+)\.max_level=(\d+)", change).groups()  # type: ignore[union-attr]
            text = re.sub(rf"(  {column}: .*max_level: )\d+", rf"\g<1>{level}", text)
        elif change.startswith(("limits:", "algorithm:")):
            text = re.sub(rf"^{change.partition(':')[0]}:.*\n", "", text, flags=re.MULTILINE) + f"{change}\n"
        else:
            column = change.partition(":")[0]
            text = re.sub(rf"^  {column}: .*$", f"  {change}", text, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize("case", CASES)
def test_every_way_out_leads_out(case: str):
    criteria, algorithm, ceiling = CASES[case]
    text = JOB.format(criteria=criteria, algorithm=algorithm, ceiling=ceiling)
    error = told(text, people())
    first, *lines = error.hint.split("\n")
    assert first == "one of"
    assert len(lines) >= (2 if ceiling else 3)
    for line in lines:
        way, effect = re.fullmatch(r"(.*?)   \((.*)\)", line).groups()  # type: ignore[union-attr]
        assert effect
        changed = pasted(text, way)
        assert changed != text
        release = job_from_text(changed).anonymize(people(), seed=1)
        assert all(v.ok for v in release.verdicts)
        if "left out" in effect:
            assert release.n_suppressed == int(effect.split()[0])


def test_the_ways_around_a_stratum_lead_out():
    """No level can be set for a stratum: what lets its parts meet is another role."""
    text = JOB.format(criteria="  - k-anonymity: {k: 25}", algorithm="flash", ceiling="")
    text = text.replace("zip: {role: quasi, taxonomy: {kind: prefix, keep: [3]}}", "zip: stratum")
    lines = told(text, people()).hint.split("\n")[1:]
    assert len(lines) == 2
    for line in lines:
        release = job_from_text(pasted(text, line.partition("   (")[0])).anonymize(people(), seed=1)
        assert all(v.ok for v in release.verdicts)


def test_nobody_is_told_to_coarsen_labels_that_were_given(tmp_path: Path):
    data = people()
    job = tk.Job(
        quasi={"age": tk.numeric()}, drop="rest", criteria=tk.KAnonymity(3), output=OutputSettings(recoding=True)
    )
    tk.run_job(job, data, tmp_path / "first", seed=1)
    with pytest.raises(InfeasibleError) as caught:
        apply_recoding(tmp_path / "first", job, data[:24], tmp_path / "second", unseen="suppress")
    assert re.fullmatch(
        r"one of\nlimits: \{suppressed_rows: [\d.]+%\}   \(\d+ of 24 records are left out\)", caught.value.hint
    )
    share = float(re.search(r"rows: ([\d.]+)%", caught.value.hint)[1]) / 100  # type: ignore[index]
    enough = replace_job(job, goal=Goal(job.goal.criteria, share))
    released = apply_recoding(tmp_path / "first", enough, data[:24], tmp_path / "second", unseen="suppress")
    assert all(v.ok for v in released.verdicts)


def test_the_criterion_that_fails_is_named_and_no_other():
    criteria, algorithm, _ = CASES["l above the number of values"]
    error = told(JOB.format(criteria=criteria, algorithm=algorithm, ceiling=""), people())
    assert error.message == "no release satisfies l-diversity ≥ 9"
    assert error.details == (f"All {N} records in one group reach 3 on 'illness'; asked: l-diversity ≥ 9.",)


@pytest.mark.parametrize("algorithm", ["mondrian", "hilb", "flash", "mdav", "local-suppression"])
def test_an_algorithm_that_does_not_find_whom_to_leave_out_does_not_say_that_there_is_no_release(algorithm: str):
    criteria, _, _ = CASES["too common"]
    text = JOB.format(criteria=criteria, algorithm=algorithm, ceiling="") + "limits: {suppressed_rows: 50%}\n"
    uncommon = people().with_row_index().filter((pl.col("illness") != "flu") | (pl.col("index") % 4 == 0)).drop("index")
    assert len(uncommon) >= N / 2
    assert told(text, people()).message.startswith("no release was found")
    assert job_from_text(text).anonymize(uncommon, seed=1).n_published, "for there is one"


def test_the_ways_out_are_python_when_called_from_python():
    job = tk.Job(quasi={"age": tk.numeric()}, drop="rest", criteria=tk.KAnonymity(50))
    with pytest.raises(InfeasibleError) as caught:
        job.anonymize(people())
    assert f"KAnonymity(k={N})" in str(caught.value)
    assert "{k:" not in str(caught.value)


def test_the_command_line_shows_each_way_on_a_line(tmp_path: Path):
    from typer.testing import CliRunner

    from tarnkappe.cli.app import app

    people().write_csv(tmp_path / "people.csv")
    text = "data: {path: people.csv}\n" + JOB.format(criteria=CASES["both"][0], algorithm="mondrian", ceiling="")
    (tmp_path / "job.yaml").write_text(text)
    result = CliRunner().invoke(app, ["check", str(tmp_path / "job.yaml")])
    assert result.exit_code == 4
    assert "Fix:  one of" in result.stderr
    assert f"- k-anonymity: {{k: {N}}}  and  - l-diversity: {{column: illness, l: 3}}" in result.stderr


def test_numbers_are_written_as_on_the_screen():
    frame = pl.DataFrame({"age": [i % 50 for i in range(2000)]})
    with pytest.raises(InfeasibleError) as caught:
        tk.Job(quasi={"age": tk.numeric()}, criteria=tk.KAnonymity(10_000_000)).anonymize(frame)
    assert "k-anonymity ≥ 10 000 000" in str(caught.value)
    assert "All 2 000 records in one group reach 2 000" in str(caught.value)
    assert "KAnonymity(k=2000)" in str(caught.value), "what is pasted is no text for people"


@pytest.mark.parametrize(
    "criterion",
    [tk.XYPrivacy("person", 3, "illness", 0.1), tk.XYLinkability("illness", 0.1, subject="person")],
    ids=["privacy", "linkability"],
)
def test_people_go_on_being_counted_where_their_secret_is_given_up(criterion: tk.XYPrivacy | tk.XYLinkability):
    data = people().with_columns(person=pl.Series([i // 2 for i in range(N)]))
    job: dict[str, Any] = {
        "quasi": {"age": tk.numeric()},
        "subject": "person",
        "drop": ["zip", "income"],
        "algorithm": "flash",
    }
    with pytest.raises(InfeasibleError) as caught:
        tk.Job(**job, sensitive=["illness"], criteria=criterion).anonymize(data)
    (told,) = set(re.findall(r"criteria=\[XYAnonymity\(y=\"person\", k=(\d)\)\]", str(caught.value)))
    release = tk.Job(**job, sensitive=["illness"], criteria=tk.XYAnonymity("person", int(told))).anonymize(data)
    assert all(v.ok for v in release.verdicts)


@pytest.mark.parametrize("algorithm", ["flash", "ola", "incognito", "samarati", "mingen", "best-first"])
def test_the_share_to_suppress_is_that_of_levels_that_are_allowed(algorithm: str):
    """Incognito also looks at one column without the other; above its ceiling the other cannot be left out."""
    data = pl.DataFrame(
        {
            "age": [i // 4 for i in range(44)],
            "sex": ["f"] * 40 + ["m"] * 4,
            "illness": [["flu", "gout", "cold"][(i // 2 if i < 8 else i // 4) % 3] for i in range(44)],
        }
    )
    quasi = {"age": tk.intervals(20), "sex": tk.suppress()}

    def job(limit: float) -> tk.Job:
        criteria = [tk.FrequencyLDiversity("illness", 2)]
        return tk.Job(
            quasi=quasi,
            sensitive=["illness"],
            max_level={"age": 0, "sex": 0},
            criteria=criteria,
            algorithm=algorithm,
            max_suppressed=limit,
        )

    with pytest.raises(InfeasibleError) as caught:
        job(0.05).anonymize(data)
    share = re.search(r"max_suppressed=([\d.]+) ", str(caught.value))
    assert share is not None
    assert job(float(share[1])).anonymize(data).n_suppressed == 36


@pytest.mark.parametrize("algorithm", ["flash", "ola", "incognito", "samarati", "mingen", "best-first"])
def test_nobody_is_told_that_more_must_be_suppressed_than_must(algorithm: str):
    """Searches do not look for the fewest records beyond their limit; they speak of the levels that they found."""
    rng, bounds = np.random.default_rng(4), 0
    for _ in range(25):
        n = int(rng.integers(10, 40))
        data = pl.DataFrame(
            {
                "area": rng.choice(["p", "q", "r", "s"], n),
                "zip": rng.choice(["11", "12", "21", "22"], n),
                "illness": rng.choice(["flu", "gout", "cold"], n, p=[0.6, 0.2, 0.2]),
            }
        )
        quasi = {"area": tk.tree({"P": ["p", "q"], "R": ["r", "s"]}), "zip": tk.prefix(1)}
        goal: dict[str, Any] = {
            "quasi": quasi,
            "sensitive": ["illness"],
            "criteria": [tk.FrequencyLDiversity("illness", 2), tk.KAnonymity(int(rng.integers(2, 5)))],
            "max_level": {"zip": 1},
        }
        try:
            tk.Job(**goal, algorithm=algorithm).anonymize(data)
            continue
        except InfeasibleError as error:
            told = re.search(r"(At least|found if) (\d+) records? ", str(error))
        if told is None:
            continue
        free = pl.concat(tk.solutions(tk.Job(**goal, max_suppressed=1, algorithm="flash"), data, "all"))
        fewest = min(lost for lost in free["suppressed"] if lost < n)
        bounds += 1
        assert int(told[2]) <= fewest if told[1] == "At least" else int(told[2]) in free["suppressed"]
    assert bounds


def test_nobody_is_told_to_drop_a_column_that_a_criterion_knows():
    """A ceiling may be lifted; without the column the criterion that names it would be refused."""
    criteria = "  - key-anonymity: {k: 25, x: [age, zip]}"
    text = JOB.format(criteria=criteria, algorithm="flash", ceiling=", max_level: 1")
    lines = told(text, people()).hint.split("\n")[1:]
    assert lines
    for line in lines:
        release = job_from_text(pasted(text, line.partition("   (")[0])).anonymize(people(), seed=1)
        assert all(v.ok for v in release.verdicts)


def test_a_column_is_left_alone_by_all_criteria_that_name_it():
    """Where nothing is to limit what is told about a column, no criterion that looks at several columns does."""
    criteria = (
        "  - ff-anonymity: {freeform: [income, illness], values: [flu], c: 0.9}\n"
        "  - l-diversity: {column: illness, l: 9}\n"
        "  - k-anonymity: {k: 3}"
    )
    text = JOB.format(criteria=criteria, algorithm="mondrian", ceiling="")
    first, *lines = told(text, people()).hint.split("\n")
    assert first == "one of"
    assert lines[1:] == [
        "criteria: [{k-anonymity: {k: 3}}]   (nothing limits then what a group tells about 'illness')",
        "illness: {role: drop}  and  criteria: [{k-anonymity: {k: 3}}]   ('illness' is not published at all)",
    ]
    for line in lines:
        release = job_from_text(pasted(text, line.partition("   (")[0])).anonymize(people(), seed=1)
        assert all(v.ok for v in release.verdicts)


def at_most_half(algorithm: str, limit: float, rows: str) -> tk.Release:
    """Ages, blood groups and illnesses, such as ``2bx``; no age is published above its highest level."""
    data = pl.DataFrame([(int(r[:-2]), r[-2], r[-1]) for r in rows.split()], ["age", "blood", "ill"], orient="row")
    return tk.Job(
        columns=[
            Column("age", "quasi", "numeric", tk.intervals(5, 10), max_level=2),
            Column("blood", "quasi", taxonomy=tk.suppress() if algorithm == "flash" else tk.value_set()),
            Column("ill", "sensitive"),
        ],
        criteria=[tk.FrequencyLDiversity("ill", 2)],
        max_suppressed=limit,
        algorithm=tk.Flash() if algorithm == "flash" else algorithm_class(algorithm)("ill"),
        seed=1,
    ).anonymize(data)


@pytest.mark.parametrize(
    ("algorithm", "rows", "proposed"),
    [
        ("flash", "2bx 2bz 11cz 26ay 5cz 23ay 25cx 21cx", (0.5, 2)),
        ("tds", "28az 26bx 2bz 0ay 18ax 9cx 13bx 12ay 16ax 11ax 4cy 23by", None),
    ],
)
def test_leaving_out_more_records_was_tried_before_it_is_told(
    algorithm: str, rows: str, proposed: tuple[float, int] | None
):
    """With more room a search ends elsewhere: with fewer records left out, or with too many of them again."""
    with pytest.raises(InfeasibleError) as caught:
        at_most_half(algorithm, 0, rows)
    ways = re.findall(r"max_suppressed=([\d.]+)   \((\d+) of", str(caught.value))
    assert [(float(limit), int(records)) for limit, records in ways] == ([] if proposed is None else [proposed])
    if proposed is not None:
        assert at_most_half(algorithm, proposed[0], rows).n_suppressed == proposed[1]

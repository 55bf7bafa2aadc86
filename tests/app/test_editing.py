"""Changes to a job file say what they should, and lose nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import tarnkappe
from tarnkappe.app.editing import PRESETS, with_fix, with_preset, with_value
from tarnkappe.errors import CODES, DataError, InfeasibleError
from tarnkappe.job.text import read_job_text

JOB = """\
# Mine.
version: 1
data: {path: a.csv}    # rows
columns:
  age:  {role: quasi, type: numeric}  # known
  "a: b": {role: quasi, taxonomy: {kind: set}}  # odd #1
  ill: sensitive
criteria:
  - k-anonymity: {k: 5}
  - l-diversity: {column: ill, l: 2}
limits: {suppressed_rows: 0%}
"""


def test_a_value_is_set_and_the_rest_stays():
    text = with_value(JOB, ["columns", "age", "weight"], 2)
    assert text.startswith("# Mine.\n")
    assert "# known" in text
    data = read_job_text(text, "job")
    assert data["columns"]["age"] == {"role": "quasi", "type": "numeric", "weight": 2}
    assert data["columns"]["a: b"] == {"role": "quasi", "taxonomy": {"kind": "set"}}
    again = with_value(text, ["columns", "age", "weight"], None)
    assert read_job_text(again, "job") == read_job_text(JOB, "job")


def test_a_short_role_becomes_long_and_lists_grow_and_shrink():
    data = read_job_text(with_value(JOB, ["columns", "ill", "weight"], 3), "job")
    assert data["columns"]["ill"] == {"role": "sensitive", "weight": 3}
    more = with_value(JOB, ["criteria", 2], {"t-closeness": {"column": "ill", "t": 0.3}})
    assert len(read_job_text(more, "job")["criteria"]) == 3
    assert [list(c) for c in read_job_text(with_value(more, ["criteria", 0], None), "job")["criteria"]] == [
        ["l-diversity"],
        ["t-closeness"],
    ]
    with pytest.raises(DataError):
        with_value(JOB, ["criteria", 9, "k-anonymity", "k"], 3)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_asks_no_more_than_the_column_has(preset: str):
    data = read_job_text(with_preset(JOB, preset, {"ill": 2}), "job")
    assert data["criteria"][0] == {"k-anonymity": {"k": PRESETS[preset]["k"]}}
    assert data["criteria"][1]["l-diversity"]["l"] == 2
    assert len(read_job_text(with_preset(JOB, preset, {"ill": 1}), "job")["criteria"]) == 1


@pytest.mark.parametrize(
    ("fix", "key", "value"),
    [
        (
            "- l-diversity: {column: ill, l: 7}",
            "criteria",
            [{"k-anonymity": {"k": 5}}, {"l-diversity": {"column": "ill", "l": 7}}],
        ),
        ("criteria: [{k-anonymity: {k: 5}}]", "criteria", [{"k-anonymity": {"k": 5}}]),
        ("without  - l-diversity: {column: ill, l: 2}", "criteria", [{"k-anonymity": {"k": 5}}]),
        ("--set limits.suppressed_rows=3%", "limits", {"suppressed_rows": "3%"}),
        ("limits.suppressed_rows: 0.05", "limits", {"suppressed_rows": 0.05}),
        ("limits: {suppressed_rows: 2%}", "limits", {"suppressed_rows": "2%"}),
        ("algorithm: {name: mondrian}", "algorithm", {"name": "mondrian"}),
    ],
)
def test_fixes_are_applied(fix: str, key: str, value: object):
    assert read_job_text(with_fix(JOB, fix), "job")[key] == value


def test_a_dropped_column_takes_what_was_asked_of_it_along():
    data = read_job_text(with_fix(JOB, "ill: {role: drop}  and  age: {min_level: 1}"), "job")
    assert data["columns"]["ill"] == {"role": "drop"}
    assert data["columns"]["age"] == {"role": "quasi", "type": "numeric", "min_level": 1}
    assert data["criteria"] == [{"k-anonymity": {"k": 5}}]


def test_every_fix_that_an_impossible_goal_proposes_leads_to_a_release(tmp_path: Path):
    """What the page offers as a click is what the error says, and it works."""
    table = pl.DataFrame({"age": list(range(20, 60)), "a: b": ["x", "y"] * 20, "ill": ["f", "g", "h", "i"] * 10})
    table.write_csv(tmp_path / "a.csv")
    text = with_value(JOB, ["criteria", 1, "l-diversity", "l"], 9)
    (tmp_path / "job.yaml").write_text(text)
    with pytest.raises(InfeasibleError) as caught:
        tarnkappe.Job.from_yaml(tmp_path / "job.yaml").anonymize(str(tmp_path / "a.csv"))
    offered = caught.value.as_dict()["ways"]
    assert len(offered) == 3
    for fix in offered:
        (tmp_path / "fixed.yaml").write_text(with_fix(text, fix["write"]))
        tarnkappe.Job.from_yaml(tmp_path / "fixed.yaml").anonymize(str(tmp_path / "a.csv"))


STATIC = Path(tarnkappe.__file__).parent / "app" / "static"


def test_every_word_of_the_page_is_known_in_every_language():
    words = {f.stem: json.loads(f.read_text("utf-8")) for f in (STATIC / "words").glob("*.json")}
    assert set(words) == {"en", "de"}
    # What codes, reasons and sentences say in English is said by the commands themselves.
    told = ("code.", "reason.", "phrase.", "attack.name.", "measure.", "definition.")
    codes = {key.removeprefix("code.") for key in words["de"] if key.startswith("code.")}
    assert set(words["en"]) == {key for key in words["de"] if not key.startswith(told)}
    for key, text in words["de"].items():
        if key.startswith("phrase."):
            assert set(re.findall(r"\{\w+\}", key)) == set(re.findall(r"\{\w+\}", text)), key
    assert codes - {"cancelled", "killed", "internal"} == set(CODES)
    for key, text in words["en"].items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", words["de"][key])), key
    used = {k for f in STATIC.glob("*.js") for k in re.findall(r'\bt\("([^"]+)"', f.read_text("utf-8"))}
    assert used <= set(words["en"])


def test_the_page_makes_no_markup_of_text_and_names_nothing_elsewhere():
    for file in STATIC.rglob("*"):
        text = file.read_text("utf-8") if file.is_file() else ""
        for bad in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "https:",
            "url(",
        ):
            assert bad not in text, (file.name, bad)
        assert not re.search(r"http://(?!www\.w3\.org/2000/svg)", text), file.name

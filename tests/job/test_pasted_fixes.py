"""Every fix that is told to somebody who only writes Python is Python, and works when it is pasted."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.attacks import all_attacks
from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.history.sequential import HISTORY_FIX

PEOPLE = pl.DataFrame(
    {
        "age": [20 + i % 40 for i in range(200)],
        "sex": ["f", "m"] * 100,
        "illness": ["flu", "gout", "cold", "flu", "flu"] * 40,
    }
)
#: What somebody has who imported everything from the front.
NAMES = {name: getattr(tk, name) for name in tk.__all__}

#: Something that only a job file or a command line would take.
_NO_PYTHON = re.compile(r"\w: [\[{\w]|^- |  - |--\w|tarnkappe ")


def job(**changes: Any) -> tk.Job:
    given: dict[str, Any] = {
        "quasi": {"age": tk.numeric(), "sex": tk.suppress()},
        "sensitive": ["illness"],
        "criteria": [tk.KAnonymity(3)],
    }
    return tk.Job(**(given | changes))


def fix_of(**changes: Any) -> str:
    """The fix of the error that a changed job ends with."""
    with pytest.raises(TarnkappeError) as caught:
        job(**changes).anonymize(PEOPLE, seed=1)
    return str(caught.value).partition("Fix: ")[2]


def test_a_misspelt_sensitive_column_is_corrected_where_it_is_written(tmp_path):
    wrong = "criteria:\n  - l-diversity: {column: ilness, l: 2}\n"
    for criteria in ([tk.LDiversity("ilness", 2)], [tk.KAnonymity(3), tk.TCloseness("ilness", 0.5)]):
        assert fix_of(criteria=criteria) == "Write  illness  in place of  ilness"
    assert fix_of(attacks=[all_attacks()["homogeneity"](column="ilness")]) == "Write  illness  in place of  ilness"
    text = "data: {path: x.csv}\ncolumns:\n  illness: {role: sensitive}\n  age: {role: quasi, type: numeric}\n" + wrong
    path = tmp_path / "job.yaml"
    path.write_text(text)
    with pytest.raises(JobError) as caught:
        tk.Job.from_yaml(path)
    assert caught.value.hint == "Write  illness  in place of  ilness"


def test_texts_in_a_column_of_numbers_can_be_published_as_texts():
    fix = fix_of(sensitive={"illness": tk.numeric()})
    offered = re.findall(r'quasi={.*?}|sensitive=\["illness"\]|data=DataSettings\(.*?\)\)', fix)
    assert len(offered) == 3
    assert not _NO_PYTHON.search(fix.partition("such as  ")[2])
    for pasted in offered:
        eval(f"dict({pasted})", NAMES)
    assert job(sensitive=["illness"]).anonymize(PEOPLE).n_groups > 1


def test_the_decimal_sign_of_a_file_is_an_argument(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;sex\n" + "".join(f"{20 + i % 9},5;f\n" for i in range(60)))
    made = {"quasi": {"age": tk.numeric(), "sex": tk.suppress()}, "criteria": [tk.KAnonymity(3)]}
    with pytest.raises(TarnkappeError) as caught:
        tk.Job(**made, data=tk.DataSettings(dialect=tk.CsvDialect(decimal="."))).anonymize(path)
    pasted = str(caught.value).partition("decimal sign:  ")[2]
    settings = eval(f"dict({pasted})", NAMES)
    assert tk.Job(**made, **settings).anonymize(path).n_groups > 1


@pytest.mark.parametrize("name", all_attacks())
def test_what_a_gate_lacks_is_told_in_python(name: str):
    try:
        job(attacks=[name]).anonymize(PEOPLE, seed=1)
    except TarnkappeError as error:
        fix = str(error).partition("Fix: ")[2]
        assert fix
        assert not _NO_PYTHON.search(fix.removeprefix("Add to 'criteria':  "))
        if fix.startswith("Add to 'criteria':  "):
            eval(fix.removeprefix("Add to 'criteria':  "), NAMES)


def test_a_history_to_start_from_is_no_text_in_quotes():
    assert eval(f"dict({HISTORY_FIX.in_python})", NAMES)["history"].subject == "COLUMN"
    with pytest.raises(JobError) as caught:
        job(history="ledger.jsonl")
    assert "history=HistorySettings(" in str(caught.value)


@pytest.mark.parametrize(
    "made",
    [
        tk.intervals,
        lambda: tk.intervals(10, 5),
        tk.prefix,
        lambda: tk.prefix(2, 3),
        lambda: tk.quantiles(2, 4),
        lambda: tk.cuts(5, 3),
        lambda: tk.dates("year", "month"),
        lambda: tk.dates("day", format="%Y-%m"),
        lambda: tk.frequency(0.5, 0.1),
    ],
)
def test_settings_of_taxonomies_are_told_as_their_functions_take_them(made: Any):
    with pytest.raises(TarnkappeError) as caught:
        made()
    pasted = str(caught.value).partition("Fix: ")[2].partition("   (")[0]
    eval(pasted, NAMES)


def test_a_date_format_to_start_from_is_an_argument():
    with pytest.raises(TarnkappeError) as caught:
        tk.dates(format="%d.%m.")
    pasted = str(caught.value).partition("Fix: ")[2].partition("   (")[0]
    assert eval(f"dates({pasted})", NAMES).format == "%Y-%m-%d"


def test_a_parameter_that_is_lacking_is_told_with_a_value():
    assert fix_of(algorithm="tds").startswith('target="COLUMN"   (')
    with pytest.raises(JobError, match="swaps=0"):
        job(algorithm={"name": "mondrian", "swaps": -1})


@pytest.mark.parametrize("made", [tk.synthesize, lambda data, columns: tk.noisy_counts(data, columns, epsilon=1.0)])
def test_a_list_of_columns_where_their_values_are_asked_for_is_an_error_of_ours(made: Any):
    with pytest.raises(JobError) as caught:
        made(PEOPLE, columns=["age", "sex"])
    assert 'columns={"age": ' in str(caught.value)
    eval(f"dict({str(caught.value).partition('Fix: ')[2]})", {})


def test_columns_of_wrong_types_are_told_as_they_were_given():
    assert fix_of(subject=["illness"], sensitive=[]) == 'subject="illness"'
    assert fix_of(sensitive=None) == "sensitive=[]"

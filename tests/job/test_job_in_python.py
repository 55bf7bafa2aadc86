"""Jobs, releases and errors as somebody meets them who only writes Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.errors import InfeasibleError, JobError, RefusedError, TarnkappeError
from tarnkappe.fixes import criterion, of_column, role, say, setting
from tarnkappe.job.files import job_from_text
from tarnkappe.job.text import read_job_text
from tarnkappe.schema import Column

PEOPLE = pl.DataFrame(
    {
        "age": [21, 22, 25, 27, 31, 33, 34, 38, 61, 64, 66, 70],
        "zip": ["22765", "22767", "22769", "22761", "20246", "20249", "20246", "20251", *["22765"] * 4],
        "illness": ["flu", "gout", "flu", "cold", "gout", "flu", "cold", "flu", "gout", "flu", "cold", "gout"],
        "ward": ["a", "b"] * 6,
    }
)
SEED = 918_273_645


def job(**changes: Any) -> tk.Job:
    given = {
        "quasi": {"age": tk.numeric(), "zip": tk.prefix(4, 3, 2)},
        "sensitive": ["illness"],
        "keep": "rest",
        "criteria": [tk.KAnonymity(3), tk.LDiversity("illness", 2)],
    }
    return tk.Job(**(given | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [str, repr])
def test_a_job_prints_short_and_without_its_seed(text: Callable[[object], str]):
    shown = text(job(seed=SEED, title="Wards"))
    assert str(SEED) not in shown
    assert "k-anonymity ≥ 3" in shown
    assert len(shown.splitlines()) < 12


def test_a_printed_job_says_what_happens_to_every_column():
    shown = str(job())
    assert "age (numeric), zip (prefix)" in shown
    assert "all other columns" in shown


@pytest.mark.parametrize("text", [str, repr])
def test_a_release_prints_short_and_without_its_seed(text: Callable[[object], str]):
    shown = text(job().anonymize(PEOPLE, seed=SEED))
    assert str(SEED) not in shown
    assert "sha256" not in shown
    assert "{" not in shown, "no manifest"
    assert len(shown.splitlines()) < 12
    assert "k-anonymity ≥ 3" in shown


def test_a_release_made_in_memory_can_be_saved(tmp_path: Path):
    release = job().anonymize(PEOPLE, seed=1)
    saved = release.save(tmp_path / "release")
    assert saved.folder == tmp_path / "release"
    written = pl.read_parquet(tmp_path / "release/public/release.parquet")
    assert written.equals(release.table)
    with pytest.raises(RefusedError, match="E601"):
        release.save(tmp_path / "release")
    release.save(tmp_path / "release", overwrite=True)
    with pytest.raises(RefusedError, match="written to a folder when it was made"):
        saved.save(tmp_path / "again")


def test_a_release_is_not_saved_over_its_own_input(tmp_path: Path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    release = job().anonymize(tmp_path / "people.csv")
    with pytest.raises(RefusedError, match="E602"):
        release.save(tmp_path)
    release.save(tmp_path / "release")
    assert (tmp_path / "release/public/people.csv").read_text("utf-8").startswith("age,zip,illness,ward")


@pytest.mark.parametrize("rest", ["keep", "drop"])
def test_a_job_file_can_say_what_happens_to_the_rest(rest: str):
    given = job(**{"keep": (), rest: "rest"})
    again = job_from_text(given.to_yaml())
    assert again == given
    assert again.anonymize(PEOPLE, seed=1).table.equals(given.anonymize(PEOPLE, seed=1).table)


def test_a_job_file_takes_the_rest_for_no_other_role():
    text = job().to_yaml().replace("rest: keep", "rest: sensitive")
    with pytest.raises(JobError, match="E110 'rest' must be one of keep, drop"):
        job_from_text(text)


@pytest.mark.parametrize(
    ("change", "same_as"),
    [
        ({"criteria": tk.KAnonymity(5)}, {"criteria": [tk.KAnonymity(5)]}),
        ({"algorithm": "hilb"}, {"algorithm": tk.Hilb()}),
        ({"algorithm": {"name": "flash", "metric": "lm"}}, {"algorithm": tk.Flash(metric="lm")}),
        ({"max_suppressed": "2%"}, {"max_suppressed": 0.02}),
        ({"data": Path("census.csv")}, {"data": "census.csv"}),
    ],
)
def test_what_can_only_mean_one_thing_works(change: dict[str, Any], same_as: dict[str, Any]):
    assert job(**change) == job(**same_as)


def test_columns_called_by_a_number_work():
    frame = PEOPLE.to_pandas()
    frame.columns = range(4)
    made = tk.Job(quasi={0: tk.numeric(), 1: tk.prefix(3)}, sensitive=[2], drop=[3], criteria=tk.KAnonymity(3))  # type: ignore[dict-item, list-item]
    assert list(made.anonymize(frame).table.columns) == ["0", "1", "2"]
    assert tk.LDiversity(2, 3) == tk.LDiversity("2", 3)  # type: ignore[arg-type]


def test_levels_are_bounded_by_column():
    made = job(min_level={"zip": 1, "age": 1}, max_level={"zip": 2})
    assert {c.name: (c.min_level, c.max_level) for c in made.columns if c.role == "quasi"} == {
        "age": (1, None),
        "zip": (1, 2),
    }
    written = job_from_text(made.to_yaml(), "job.yaml")
    assert written.columns == made.columns
    assert all(label.endswith("*") for label in made.anonymize(PEOPLE).table["zip"])


def test_names_that_fixes_use_can_be_imported_from_the_front():
    assert tk.Column is Column
    assert tk.DataSettings(missing=("", "x")).missing == ("", "x")


def test_a_verification_prints_short():
    found = job().anonymize(PEOPLE).verify()
    assert "✓ k-anonymity ≥ 3: " in str(found)
    assert len(str(found).splitlines()) < 6
    assert repr(found).startswith("<Verification: 12 records in ")


def test_a_folder_that_exists_is_replaced_by_an_argument(tmp_path: Path):
    release = job().anonymize(PEOPLE)
    release.save(tmp_path / "out")
    with pytest.raises(RefusedError, match="overwrite=True") as caught:
        release.save(tmp_path / "out")
    assert "--overwrite" in str(caught.value.hint), "on the command line"
    assert "--overwrite" not in str(caught.value)
    release.save(tmp_path / "out", overwrite=True)


def test_moments_declared_as_numbers_are_told_to_be_dates():
    frame = pl.DataFrame({"seen": pl.datetime_range(pl.date(2020, 1, 1), pl.date(2020, 1, 12), eager=True)})
    with pytest.raises(TarnkappeError, match=r'quasi=\{"seen": dates\(\)\}'):
        tk.Job(quasi={"seen": tk.numeric()}, criteria=tk.KAnonymity(3)).anonymize(frame)
    assert tk.Job(quasi={"seen": tk.dates()}, criteria=tk.KAnonymity(3)).anonymize(frame).n_published == 12


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"quasi": ["age"]}, 'quasi={"age": numeric()}'),
    ({"quasi": "age"}, "quasi={"),
    ({"quasi": {"age": "numeric"}}, 'quasi={"age": numeric()}'),
    ({"quasi": {"age": tk.numeric}}, 'quasi={"age": numeric()}'),
    ({"quasi": {None: tk.numeric()}}, "quasi={"),
    ({"sensitive": "illness"}, 'sensitive=["illness"]'),
    ({"identifiers": "name"}, 'identifiers=["name"]'),
    ({"keep": "ward"}, 'keep=["ward"]'),
    ({"subject": ["ward"]}, "subject="),
    ({"criteria": "k-anonymity"}, "criteria=[KAnonymity(5)]"),
    ({"criteria": [tk.KAnonymity]}, "criteria=[KAnonymity(5)]"),
    ({"criteria": None}, "criteria=[KAnonymity(5)]"),
    ({"criteria": []}, "criteria=[KAnonymity(5)]"),
    ({"min_level": {"age": "1"}}, 'min_level={"age": 1}'),
    ({"max_level": 2}, 'max_level={"age": 1}'),
    ({"max_level": {"aeg": 2}}, "Write  age  in place of  aeg"),
    ({"max_level": {"height": 2}}, 'quasi={"height": numeric()}'),
    ({"because": {"wrad": "an internal code, reviewed"}}, 'keep=["wrad"]'),
    ({"keep": ["ward"], "because": {"ward": "x"}}, 'because={"ward": '),
    ({"algorithm": tk.Mondrian}, 'algorithm="mondrian"'),
    ({"algorithm": 5}, "algorithm="),
    ({"max_suppressed": "much"}, "max_suppressed=0.02"),
    ({"max_suppressed": None}, "max_suppressed=0.02"),
    ({"seed": "x"}, "seed=7"),
    ({"seed": -1}, "seed=7"),
    ({"seed": 2**128}, "seed=7"),
    ({"seed": 10**5000}, "seed=7"),
    ({"missing_rule": "own"}, 'missing_rule="own-value"'),
    ({"weights": {"agee": 2}}, "Write  age  in place of  agee"),
    ({"drop": "rest"}, 'drop="rest"'),
    ({"population": 5}, 'population="register.csv"'),
    ({"weights": {"age": "much"}}, 'weights={"age": 2}'),
    ({"columns": ["age"]}, 'columns=[Column("age"'),
    ({"columns": 5}, 'columns=[Column("age"'),
    ({"engine": 5}, 'engine="auto"'),
    ({"title": 5}, "title="),
    ({"data": 5}, 'data="census.csv"'),
    ({"output": 5}, 'output="release"'),
]


@pytest.mark.parametrize(
    ("change", "fix"), WRONG, ids=[f"{next(iter(change))}, {i}" for i, (change, _) in enumerate(WRONG)]
)
def test_a_wrong_type_is_an_error_of_ours_with_a_fix_in_python(change: dict[str, Any], fix: str):
    with pytest.raises(TarnkappeError) as caught:
        job(**change)
    assert fix in str(caught.value)
    assert ": {" not in str(caught.value).partition("Fix:")[2], "no syntax of job files"


def refusals() -> dict[str, Callable[[], object]]:
    """Calls that are refused, each for a value that the fix replaces."""
    quasi = {"age": tk.numeric()}
    frame = PEOPLE.select("age", "illness")
    odd = frame.with_columns(ward=pl.Series([[1, 2]] * 12))
    return {
        "prefix without lengths": tk.prefix,
        "prefix that grows": lambda: tk.prefix(2, 3),
        "intervals that overlap": lambda: tk.intervals(5, 8),
        "cuts in disorder": lambda: tk.cuts(9, 1),
        "presence": lambda: tk.DeltaPresence(delta_min=0.5, delta_max=0.2),
        "a level that is not there": lambda: job(quasi=quasi, drop="rest", keep=(), min_level={"age": 99}).anonymize(
            PEOPLE
        ),
        "lists": lambda: job(quasi=quasi, keep=["ward"]).anonymize(odd),
        "risk": lambda: tk.risk(frame, ["x"]),
        "a job file": lambda: tk.Job.from_yaml(5),  # type: ignore[arg-type]
    }


def made_for_another_goal(name: str) -> None:
    numbers = pl.DataFrame({"age": range(60), "illness": ["flu", "gout", "ache"] * 20})
    given = {"sensitive": ["illness"], "criteria": tk.KAnonymity(5), "algorithm": name}
    tk.Job(quasi={"age": tk.numeric()}, **given).anonymize(numbers)


#: Algorithms that promise one thing, and what they answer if it is not asked for.
MADE_FOR = {
    "greedy-personalized": "PersonalizedPrivacy(",
    "mask": "MConfidentiality(",
    "regenerated-condensation": "KIndistinguishability(",
    "individual-sorting": "LKCPrivacy(",
}


@pytest.mark.parametrize("name", MADE_FOR)
def test_an_algorithm_that_promises_one_thing_names_it_in_python(name: str):
    with pytest.raises(JobError) as caught:
        made_for_another_goal(name)
    assert MADE_FOR[name] in str(caught.value)
    assert MADE_FOR[name] not in str(caught.value.hint), "that is for job files"


@pytest.mark.parametrize("name", refusals())
def test_every_fix_in_python_is_python(name: str):
    with pytest.raises(TarnkappeError) as caught:
        refusals()[name]()
    fix = str(caught.value).partition("Fix: ")[2].split("   ")[0]
    compile(f"f({fix})", "fix", "eval")


def test_numbers_of_numpy_are_numbers():
    assert tk.KAnonymity(np.int64(5)) == tk.KAnonymity(5)
    assert tk.LDiversity("illness", np.int32(2), know_others=np.bool_(True)) == tk.LDiversity(
        "illness", 2, know_others=True
    )
    with pytest.raises(JobError, match="must be a whole number of at least 1, got 0"):
        tk.KAnonymity(np.int64(0))
    with pytest.raises(JobError, match="E110"):
        tk.KAnonymity(np.array([5]))


@pytest.mark.parametrize("column", ["net: pay", "- age", "#", "a, b", "plain", "'", "yes: ", "?", "ä"])
def test_fixes_in_a_job_file_are_yaml(column: str):
    reason = "codes of wards, reviewed: by A. Meyer"
    for fix, key in ((role(column, "drop"), "role"), (of_column(column, "because", reason), "because")):
        assert read_job_text(fix.in_job, "job")[column][key] in ("drop", reason)


def test_a_wrong_column_is_an_error_of_ours():
    for given in ({"role": "quasy"}, {"role": "quasi", "kind": "number"}, {"role": "keep", "weight": 0}):
        with pytest.raises(JobError, match="E110"):
            Column("age", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [tk.numeric(), "suppress", {"s": ["m", "w"]}], ids=["numeric", "text", "dict"])
def test_a_column_whose_taxonomy_is_none_is_an_error_of_ours(given: Any):
    with pytest.raises(JobError, match=r"E110 the taxonomy of .age. must be made by a function") as caught:
        Column("age", "quasi", "numeric", given)
    assert 'quasi={"age": numeric()}' in str(caught.value)


def test_verify_refuses_wrong_types_too():
    assert tk.verify(PEOPLE, tk.KAnonymity(1), ["age"]).ok
    with pytest.raises(JobError, match="E110 'quasi' must be a list"):
        tk.verify(PEOPLE, tk.KAnonymity(1), "age")
    with pytest.raises(JobError, match="E110 'job' cannot be"):
        tk.run_job("job.yaml")  # type: ignore[arg-type]


def test_the_text_of_an_error_has_its_details_and_its_fix():
    hint = say("Try  {}  or  {}.", role("illness", "sensitive"), criterion("k-anonymity", "KAnonymity", k=5))
    error = JobError("E110", "what", where="here", details=["one", "two"], hint=hint)
    assert str(error) == 'E110 what (here)\n  one\n  two\n  Fix: Try  sensitive=["illness"]  or  KAnonymity(k=5).'
    assert error.hint == "Try  illness: {role: sensitive}  or  - k-anonymity: {k: 5}."
    assert error.as_dict()["hint"] == error.hint


def test_an_error_in_a_job_file_speaks_the_language_of_job_files():
    text = job().to_yaml().replace("illness: {role: sensitive}", "illness: {role: keep}")
    with pytest.raises(JobError) as caught:
        job_from_text(text)
    assert "Fix: illness: {role: sensitive}" in str(caught.value)
    with pytest.raises(JobError) as caught:
        job(sensitive=[])
    assert 'Fix: sensitive=["illness"]' in str(caught.value)


def test_an_infeasible_goal_says_in_python_what_would_help():
    with pytest.raises(InfeasibleError) as caught:
        job(criteria=tk.KAnonymity(50)).anonymize(PEOPLE)
    assert "All 12 records in one group reach 12" in str(caught.value)


@pytest.mark.parametrize("made", [setting("engine: spark", "engine", "spark"), role("a", "quasi", "suppress")])
def test_fixes_in_python_are_python(made: Any):
    compile(f"f({made.in_python})", "fix", "eval")

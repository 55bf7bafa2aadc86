"""``verify``: says the truth about any file, and its exit code can be relied on."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from hospital import JOB, ROWS, people

FILE = "release/public/people.csv"
QUASI = ("--quasi", "age,sex,zip")


@pytest.fixture
def released(cli) -> Path:
    assert cli("run", "job.yaml", "--seed", 1).exit_code == 0
    return Path(FILE)


def test_a_release_verifies_by_job_by_criteria_and_by_its_manifest(cli, released: Path) -> None:
    criteria = ("--criterion", "k-anonymity:k=5", "--criterion", "l-diversity:column=illness,l=2")
    for words in (("--job", "job.yaml"), (*QUASI, *criteria), ()):
        result = cli("verify", FILE, *words)
        assert result.exit_code == 0
        assert "✓ k-anonymity ≥ 5" in result.stdout
        assert "✓ l-diversity ≥ 2 (illness)" in result.stdout
        assert "✓ is that of manifest.json" in result.stdout
        assert "✓ the file keeps the promise" in result.stdout


def test_the_raw_data_do_not(cli) -> None:
    result = cli("verify", "people.csv", "--job", "job.yaml", "--json")
    assert result.exit_code == 5
    data = json.loads(result.stdout)
    sizes = people().group_by("age", "sex", "zip").len()["len"]
    assert (data["ok"], data["records"], data["groups"]) == (False, ROWS, len(sizes))
    k = data["verdicts"][0]
    assert (k["ok"], k["reached"], k["violating_groups"]) == (False, sizes.min(), int((sizes < 5).sum()))
    assert data["sha256_matches_manifest"] is None


def test_a_stronger_promise_is_found_broken(cli, released: Path) -> None:
    result = cli("verify", FILE, "--job", "job.yaml", "--set", "criteria.k=50")
    assert result.exit_code == 5
    assert "✗ k-anonymity ≥ 50" in result.stdout
    assert "violate it" in result.stdout
    assert "✗ the file does NOT keep the promise" in result.stdout


def test_a_file_that_was_changed_is_noticed(cli, released: Path) -> None:
    lines = released.read_text().splitlines(keepends=True)
    released.write_text("".join([lines[0], *reversed(lines[1:])]))  # the promise still holds
    result = cli("verify", FILE)
    assert result.exit_code == 5
    assert "✓ k-anonymity" in result.stdout
    assert "✗ is not that of manifest.json" in result.stdout


def test_one_record_less_breaks_the_smallest_group(cli, released: Path) -> None:
    table = pl.read_csv(released, infer_schema=False)
    groups = table.group_by("age", "sex", "zip").len().sort("len")
    row = groups.row(0, named=True)
    at = table.with_row_index().filter(age=row["age"], sex=row["sex"], zip=row["zip"])["index"][0]
    table.with_row_index().filter(pl.col("index") != at).drop("index").write_csv("less.csv")
    k = row["len"]
    assert cli("verify", "less.csv", *QUASI, "--criterion", f"k-anonymity:k={k}").exit_code == 5
    assert cli("verify", "less.csv", *QUASI, "--criterion", f"k-anonymity:k={k - 1}").exit_code == 0


def test_numbers_are_ordered_as_numbers(cli) -> None:
    # As texts, 9 would lie between 10 and 100, and the mix of either group would seem closer to the whole.
    pl.DataFrame({"q": ["a", "a", "b", "b"], "s": ["9", "10", "100", "101"]}).write_csv("n.csv")
    words = ("verify", "n.csv", "--quasi", "q", "--json", "--criterion", "t-closeness:column=s,t=0.9,distance=ordered")
    assert json.loads(cli(*words).stdout)["verdicts"][0]["reached"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("criterion", "exit_code"),
    [
        ("alpha-k-anonymity:column=s,alpha=0.5,k=4", 0),
        ("alpha-k-anonymity:column=s,alpha=0.2,k=4,value=9", 5),
        ("confidence-bounding:column=s,bounds.9=0.25,bounds.10=0.5", 0),
        ("confidence-bounding:column=s,bounds.9=0.2,bound=0.5", 5),
        ("k-e-anonymity:column=s,k=3,e=91", 0),
        ("k-e-anonymity:column=s,k=3,e=92", 5),
        ("epsilon-m-anonymity:column=s,epsilon=1,m=2", 5),
        ("epsilon-m-anonymity:column=s,epsilon=0.5,m=2", 0),
        ("epsilon-m-anonymity:column=s,epsilon=0.05,m=2,relative=true", 0),
        ("beta-likeness:column=s,beta=1", 0),
        ("beta-likeness:column=s,beta=0.1,form=basic", 5),
        ("delta-disclosure:column=s,delta=1.1", 5),
        ("delta-disclosure:column=s,delta=1.1,absent=skipped,logarithm=natural", 0),
        ("max-risk:risk=0.25", 0),
        ("max-risk:risk=0.2", 5),
        ("personalized-privacy:column=s,guard=g,p_breach=0.5", 0),
        ("personalized-privacy:column=s,guard=g,p_breach=0.25", 5),
    ],
)
def test_criteria_of_single_groups(cli, criterion: str, exit_code: int) -> None:
    """Two groups of numbers; some of the people mind that others learn that they have a 10, or a 9."""
    values = ["9", "10", "10", "100", "9", "11", "10", "101"]
    table = {"q": ["a"] * 4 + ["b"] * 4, "s": values, "g": ["10", "", "", "", "10", "", "", "9"]}
    pl.DataFrame(table).write_csv("s.csv")
    result = cli("verify", "s.csv", "--quasi", "q", "--criterion", criterion)
    assert result.exit_code == exit_code, result.output


def test_names_are_no_numbers(cli) -> None:
    pl.DataFrame({"q": ["a", "a"], "s": ["x", "y"]}).write_csv("s.csv")
    result = cli("verify", "s.csv", "--quasi", "q", "--criterion", "k-e-anonymity:column=s,k=2,e=1")
    assert result.exit_code == 2
    assert "measures by the numbers of 's'" in result.stderr


def test_columns_with_commas_in_their_names(cli) -> None:
    pl.DataFrame({"city, state": ["x", "x"], "age": ["1", "1"]}).write_csv("c.csv")
    words = ("--quasi", "city, state", "--quasi", "age", "--criterion", "k-anonymity:k=2")
    assert cli("verify", "c.csv", *words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "exit_code", "says"),
    [
        ([], 2, "nothing says what to check"),
        (["--criterion", "k-anonymity:k=5"], 2, "needs --quasi"),
        ([*QUASI, "--criterion", "k-anonimity:k=5"], 2, "did you mean 'k-anonymity'"),
        ([*QUASI, "--criterion", "k-anonymity:k=0"], 2, "at least 1"),
        ([*QUASI, "--criterion", "k-anonymity:k"], 2, "key=value"),
        ([*QUASI, "--criterion", "k-anonymity:"], 2, "needs 'k'"),
        ([*QUASI, "--criterion", "l-diversity:column=ilness,l=2"], 3, "ilness"),
        ([*QUASI, "--criterion", "t-closeness:column=illness,t=0.2,distance=hierarchical"], 2, "needs a taxonomy"),
        (["--quasi", "agee", "--criterion", "k-anonymity:k=5"], 3, "agee"),
        (["--job", "job.yaml", *QUASI], 2, "excludes"),
        ([*QUASI, "--set", "criteria.k=3"], 2, "--job"),
        (["--job", "none.yaml"], 2, "cannot be opened"),
    ],
)
def test_questions_that_make_no_sense_are_usage_errors(cli, words: list[str], exit_code: int, says: str) -> None:
    result = cli("verify", "people.csv", *words)
    assert result.exit_code == exit_code
    assert says in result.stderr


def test_the_command_that_the_report_prints_works_as_it_is(cli, folder: Path, monkeypatch) -> None:
    from tarnkappe.job.files import load_job
    from tarnkappe.pipeline import run_job
    from tarnkappe.report.facts import verify_command

    release = run_job(load_job("job.yaml", ["criteria.l-diversity.l=3"]))
    monkeypatch.chdir("release/public")
    words = shlex.split(verify_command(release))
    assert words[0] == "tarnkappe"
    result = cli(*words[1:])
    assert result.exit_code == 0
    assert "✓ l-diversity ≥ 3 (illness)" in result.stdout


def test_it_also_works_with_bounds_of_single_values(cli, folder: Path, monkeypatch) -> None:
    from tarnkappe.job.files import load_job
    from tarnkappe.pipeline import run_job
    from tarnkappe.report.facts import verify_command

    people().with_columns(pl.col("illness").str.strip_prefix("canary-")).write_csv("people.csv")
    bounded = "  - confidence-bounding: {column: illness, bounds: {flu: 0.5, burn: 0.6}}\noutput:"
    Path("job.yaml").write_text(JOB.replace("output:", bounded))
    release = run_job(load_job("job.yaml"))
    monkeypatch.chdir("release/public")
    words = shlex.split(verify_command(release))
    assert words[-1] == "confidence-bounding:column=illness,bounds.flu=0.5,bounds.burn=0.6"
    result = cli(*words[1:])
    assert result.exit_code == 0
    assert "✓ share over bound ≤ 1 (flu 0.5, burn 0.6)" in result.stdout
    assert "✓ the file keeps the promise" in cli("verify", "people.csv").stdout  # by its manifest


def test_a_foreign_manifest_is_not_believed(cli, released: Path) -> None:
    for text in ("{", "[]", '{"file": "people.csv"}', '{"tarnkappe": "1", "file": "other.csv"}'):
        Path("manifest.json").write_text(text)
        assert cli("verify", "people.csv").exit_code == 2


def test_the_jobs_missing_markers_are_used(cli, folder: Path) -> None:
    table = people().with_columns(age=pl.when(pl.col("age") > 50).then(pl.lit("?")).otherwise(pl.col("age").cast(str)))
    table.write_csv("gaps.csv")
    rule = "{path: gaps.csv, missing: ['?'], missing_rule: wildcard}"
    Path("job.yaml").write_text(JOB.replace("{path: people.csv}", rule))
    assert cli("run", "job.yaml").exit_code == 0
    assert cli("verify", "release/public/gaps.csv", "--job", "job.yaml").exit_code == 0

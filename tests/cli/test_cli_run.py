"""``run`` and ``check``: a verified release or nothing, and figures that are true."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
from hospital import JOB, ROWS, files, people

PUBLIC = {"public/people.csv", "public/codebook.csv", "public/manifest.json", "public/report.html"}
INTERNAL = {f"do-not-share/{name}" for name in ("manifest.json", "report.html", "job.yaml", "groups.parquet")}


def released(folder: Path, name: str = "release") -> pl.DataFrame:
    return pl.read_csv(folder / name / "public" / "people.csv", infer_schema=False)


def smallest_group(table: pl.DataFrame) -> int:
    return int(table.group_by("age", "sex", "zip").len()["len"].min())


def test_a_run_writes_a_release_and_tells_what_happened(cli, folder: Path) -> None:
    result = cli("run", "job.yaml")
    assert result.exit_code == 0
    assert files(folder / "release") == PUBLIC | INTERNAL
    table = released(folder)
    assert table.columns == ["age", "sex", "zip", "illness"]
    assert table.height == ROWS
    assert smallest_group(table) >= 5
    assert table.group_by("age", "sex", "zip").agg(pl.col("illness").n_unique())["illness"].min() >= 2
    lines = {line[2:12].strip(): line for line in result.stdout.splitlines() if line[2:3].isalpha()}
    assert list(lines) == ["Data", "Roles", "Before", "Goal", "Result", "Verify", "Wrote"]
    unique = int((people().group_by("age", "sex", "zip").len()["len"] == 1).sum())
    groups = table.group_by("age", "sex", "zip").len()
    assert f"people.csv · {ROWS} rows · 5 columns" in lines["Data"]
    assert "1 direct identifier dropped · 3 quasi-identifiers · 1 sensitive" in lines["Roles"]
    assert f"{unique} records are unique on the 3 quasi-identifiers" in lines["Before"]
    assert "k-anonymity ≥ 5 · l-diversity ≥ 2 (illness) · no row removed" in lines["Goal"]
    assert f"{groups.height} groups · smallest {smallest_group(table)} · 0 rows removed" in lines["Result"]
    assert f"✓ k-anonymity ≥ 5: {smallest_group(table)}" in lines["Verify"]
    assert "release/public/ (may be shared)" in lines["Wrote"]
    assert "release/do-not-share/ (stays with you)" in result.stdout


@pytest.mark.parametrize(
    ("encoding", "delimiter", "told"),
    [("cp1252", ";", "utf-8, semicolon"), ("utf-16", "\t", "utf-8, tab"), ("utf-8", ",", "utf-8, comma")],
)
def test_a_run_tells_how_the_release_is_written(cli, folder: Path, encoding: str, delimiter: str, told: str) -> None:
    """The input may be written otherwise: whoever reads the release as they read the input would get wrong letters."""
    table = people().with_columns(pl.col("illness") + "é")
    Path("people.csv").write_bytes(table.write_csv(separator=delimiter).encode(encoding))
    result = cli("run", "job.yaml")
    assert f"people.csv ({told}), codebook.csv" in result.stdout
    written = Path("release/public/people.csv").read_bytes().decode(told.split(",", maxsplit=1)[0])
    assert delimiter.join(["age", "sex", "zip", "illness"]) in written.splitlines()
    assert "é" in written


def test_a_release_that_is_no_text_has_no_dialect_to_tell(cli) -> None:
    result = cli("run", "job.yaml", "--set", "output.format=parquet")
    assert "people.parquet, codebook.csv" in result.stdout


def test_phases_go_to_stderr_as_plain_lines_when_piped(cli) -> None:
    result = cli("run", "job.yaml")
    phases = [line for line in result.stderr.splitlines() if "kernels" not in line]
    assert phases == [
        "  reading and counting …",
        "  forming groups …",
        "  rewriting the records …",
        "  reading back and verifying …",
        "  writing the reports …",
    ]


def test_json_is_one_document_with_the_public_facts(cli, folder: Path) -> None:
    result = cli("run", "job.yaml", "--json")
    data = json.loads(result.stdout)
    manifest = json.loads((folder / "release/public/manifest.json").read_text())
    assert {key: data[key] for key in manifest} == manifest
    assert data["sha256"] == hashlib.sha256((folder / "release/public/people.csv").read_bytes()).hexdigest()
    assert "seed" not in data


def test_a_dry_run_writes_nothing(cli, folder: Path) -> None:
    before = files(folder)
    result = cli("run", "job.yaml", "--dry-run")
    assert result.exit_code == 0
    assert "nothing: this was a dry run" in result.stdout
    assert "groups · smallest" in result.stdout
    assert files(folder) == before
    assert json.loads(cli("run", "job.yaml", "--dry-run", "--json").stdout)["dry_run"] is True


def test_quiet_says_nothing_at_all(cli, folder: Path) -> None:
    result = cli("run", "job.yaml", "--quiet")
    assert result.output == ""
    assert (folder / "release").is_dir()


def test_settings_change_the_job(cli, folder: Path) -> None:
    result = cli("run", "job.yaml", "--set", "criteria.k=20", "--set", "columns.sex.role=drop")
    assert result.exit_code == 0
    table = released(folder)
    assert "sex" not in table.columns
    assert table.group_by("age", "zip").len()["len"].min() >= 20
    assert "k: 20" in (folder / "release/do-not-share/job.yaml").read_text()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(cli, folder: Path) -> None:
    for name, seed in (("a", 11), ("b", 11), ("c", 12)):
        assert cli("run", "job.yaml", "--seed", seed, "-o", name).exit_code == 0
    a, b, c = (Path(name, "public/people.csv").read_bytes() for name in "abc")
    assert a == b
    assert a != c
    assert json.loads(Path("a/do-not-share/manifest.json").read_text())["seed"] == 11
    assert "11" not in json.loads(Path("a/public/manifest.json").read_text()).values()


def test_the_internal_job_file_repeats_the_run(cli, folder: Path) -> None:
    cli("run", "job.yaml", "--set", "criteria.k=7")
    seed = json.loads(Path("release/do-not-share/manifest.json").read_text())["seed"]
    result = cli("run", "release/do-not-share/job.yaml", "--seed", seed, "-o", "again")
    assert result.exit_code == 0
    assert Path("again/public/people.csv").read_bytes() == Path("release/public/people.csv").read_bytes()


def test_another_data_file_can_be_given(cli, folder: Path) -> None:
    people().head(100).write_csv("fewer.csv")
    assert cli("run", "job.yaml", "fewer.csv").exit_code == 0
    assert pl.read_csv("release/public/fewer.csv").height == 100


def test_parquet_in_parquet_out(cli, folder: Path) -> None:
    people().write_parquet("people.parquet")
    assert cli("run", "job.yaml", "people.parquet").exit_code == 0
    assert pl.read_parquet("release/public/people.parquet").height == ROWS


def test_a_german_file_stays_one(cli, folder: Path) -> None:
    frame = people().with_columns(gehalt=pl.col("age") * 100.5)
    text = frame.write_csv(separator=";", decimal_comma=True)
    Path("leute.csv").write_bytes(text.replace("illness", "Übel").encode("cp1252"))
    job = JOB.replace("people.csv", "leute.csv").replace("illness", "Übel")
    Path("job.yaml").write_text(job.replace("criteria:", "  gehalt: {role: sensitive, type: numeric}\ncriteria:"))
    result = cli("run", "job.yaml", "--set", "criteria.l-diversity.l=2")
    assert result.exit_code == 0
    assert Path("release/public/leute.csv").read_text().startswith("age;sex;zip;Übel;gehalt\n")
    assert cli("verify", "release/public/leute.csv", "--job", "job.yaml").exit_code == 0


def test_missing_cells_are_written_as_the_input_wrote_them(cli, folder: Path) -> None:
    sex = pl.when(pl.col("age") % 3 == 0).then(pl.lit("?")).when(pl.col("age") % 5 == 0).then(pl.lit(""))
    people().with_columns(sex=sex.otherwise("sex")).write_csv("gaps.csv")
    rule = JOB.replace("{path: people.csv}", "{path: gaps.csv, missing: ['?'], missing_rule: own-value}")
    Path("job.yaml").write_text(rule)
    assert cli("run", "job.yaml").exit_code == 0
    assert "?" in set(pl.read_csv("release/public/gaps.csv", infer_schema=False)["sex"])
    assert cli("verify", "release/public/gaps.csv", "--job", "job.yaml").exit_code == 0


def test_an_earlier_release_is_only_replaced_on_request(cli, folder: Path) -> None:
    cli("run", "job.yaml", "--seed", 1)
    first = Path("release/public/people.csv").read_bytes()
    refused = cli("run", "job.yaml", "--seed", 2)
    assert refused.exit_code == 6
    assert refused.stderr.splitlines()[0] == "E601  'release' exists already"
    assert Path("release/public/people.csv").read_bytes() == first
    assert cli("run", "job.yaml", "--seed", 2, "--overwrite").exit_code == 0
    assert Path("release/public/people.csv").read_bytes() != first


@pytest.mark.parametrize(
    ("words", "change", "exit_code", "code"),
    [
        (["--set", "criteria.k=1000"], None, 4, "E301"),
        (["--set", "columns.name.role=keep"], None, 6, "E604"),
        (["--set", "data.path=none.csv"], None, 3, "E401"),
        (["--set", "nonsense"], None, 2, "E108"),
        (["none.csv"], None, 3, "E401"),
        (["--output", "."], None, 6, "E602"),
        ([], ("  sex:", "  # sex:"), 2, "E101"),
        ([], ("sex:", "sexx:"), 2, "E101"),
        ([], ("criteria", "critera"), 2, "E102"),
        ([], ("data: {path: people.csv}", ""), 2, "E103"),
        ([], ("output: {folder: release}", ""), 2, "E103"),
        ([], ("prefix, keep: [4, 3, 2, 1]", "dates"), 3, "E204"),
    ],
)
def test_failures_have_their_exit_code_and_leave_nothing(
    cli, folder: Path, words: list[str], change: tuple[str, str] | None, exit_code: int, code: str
) -> None:
    if change:
        Path("job.yaml").write_text(JOB.replace(*change))
    before = files(folder)
    for extra in ([], ["--json"]):
        result = cli("run", "job.yaml", *words, *extra)
        assert result.exit_code == exit_code
        if extra:
            error = json.loads(result.stdout)["error"]
            assert (error["code"], error["exit_code"]) == (code, exit_code)
            assert error["hint"]
        else:
            assert f"\n{result.stderr}".count(f"\n{code}  ") == 1
            assert "Fix:" in result.stderr
            assert result.stdout == ""
    assert files(folder) == before


def test_a_job_without_roles_names_the_command_that_adds_them_and_it_works(cli, folder: Path) -> None:
    Path("job.yaml").write_text(JOB.replace("  sex: {role: quasi, taxonomy: suppress}\n", ""))
    result = cli("check", "job.yaml")
    assert result.exit_code == 2
    fix = next(line for line in result.stderr.splitlines() if "Fix:" in line).split("Fix:")[1].split("   ")[0]
    words = fix.split()
    assert words[0] == "tarnkappe"
    assert cli(*words[1:]).exit_code == 0
    assert cli("check", "job.yaml").exit_code == 0


def test_warnings_are_told_with_what_to_do(cli, folder: Path) -> None:
    Path("job.yaml").write_text(JOB.replace("k: 5", "k: 2").replace("  - l-diversity: {column: illness, l: 2}\n", ""))
    result = cli("run", "job.yaml")
    assert result.exit_code == 0
    for code in ("W601", "W602", "W605"):
        assert f"{code}  " in result.stdout
    assert "Hint:  Add  - l-diversity: {column: illness, l: 2}." in result.stdout


def test_check_counts_and_promises_nothing_it_cannot_keep(cli, folder: Path) -> None:
    before = files(folder)
    result = cli("check", "job.yaml")
    assert result.exit_code == 0
    assert "✓ a release exists" in result.stdout
    assert files(folder) == before
    data = json.loads(cli("check", "job.yaml", "--json", "--set", "criteria.k=9").stdout)
    cells = people().group_by("age", "sex", "zip", "illness").len().height
    tuples = people().group_by("age", "sex", "zip").len()
    assert (data["rows"], data["cells"], data["combinations"]) == (ROWS, cells, tuples.height)
    assert data["unique"] == int((tuples["len"] == 1).sum())
    assert data["criteria"][0] == {"name": "k-anonymity", "k": 9}
    assert cli("check", "job.yaml", "--set", "criteria.k=401").exit_code == 4


def test_check_refuses_what_the_algorithm_cannot_do(cli, folder: Path) -> None:
    rule = "data: {path: people.csv, missing: [female], missing_rule: wildcard}"
    Path("job.yaml").write_text(JOB.replace("data: {path: people.csv}", rule) + "algorithm: {name: datafly}\n")
    result = cli("check", "job.yaml")
    assert result.exit_code == 2
    assert "E111" in result.stderr

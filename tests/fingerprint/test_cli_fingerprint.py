"""The commands from a plan to a named recipient, on files."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
from people import NAMES, people, tree
from typer.testing import CliRunner

from tarnkappe.cli.app import app

WORDS = ["--plan", "plan", "--key", "key"]


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["fingerprint", *words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A plan and three copies."""
    place = tmp_path_factory.mktemp("fingerprint")
    people(6000).write_csv(place / "people.csv")
    columns = []
    for name in NAMES:
        taxonomy = tree(name)
        rows = [[taxonomy.labels[int(a[i])] for a in taxonomy.ancestors] for i in range(taxonomy.n_leaves)]
        (place / f"{name}.csv").write_text("\n".join(";".join(r) for r in rows) + "\n")
        columns.append(f"  {name}: {{role: quasi, taxonomy: {name}}}")
    trees = [f"  {name}: {{kind: file, path: {name}.csv}}" for name in NAMES]
    text = ["data: {path: people.csv}", "taxonomies:", *trees, "columns:", *columns, "  illness: {role: sensitive}"]
    text += ["criteria: [{k-anonymity: {k: 4}}]", "limits: {suppressed_rows: 10%}", "output: {folder: out}"]
    (place / "job.yaml").write_text("\n".join(text) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        told = json.loads(
            run(
                "plan",
                "job.yaml",
                "--recipients",
                "5",
                "--new-key",
                "key",
                "-o",
                "plan",
                "--json",
                "--patterns",
                "p.csv",
            )
        )
        assert told["positions"] > 50
        names = [word for name in ("North", "South", "St. Mary's") for word in ("--to", name)]
        run("issue", "job.yaml", *WORDS, *names, "-o", "copies")
    return place


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch):
    monkeypatch.chdir(folder)


def test_a_leak_is_traced_with_a_report(folder: Path):
    table = pl.read_csv("copies/south/public/people.csv", infer_schema=False)
    table.sample(fraction=0.2, seed=1).drop("illness").write_csv("leak.csv")
    told = json.loads(run("trace", "leak.csv", *WORDS, "--report", "trace.html", "--json"))
    assert told["accused"] == ["South"]
    page = Path("trace.html").read_text()
    assert "South" in page
    assert "less than 1 in a trillion" in page
    assert sha256(Path("leak.csv").read_bytes()).hexdigest() in page
    assert "What this does not show" in page
    entries = [json.loads(line) for line in Path("plan/register.jsonl").read_text().splitlines()]
    assert next(e["release"] for e in entries if e["recipient"] == "South") in page
    assert Path("key").read_text().strip() not in page
    assert not re.search(r"https?://", page)
    words = run("trace", "leak.csv", *WORDS)
    assert "made from the copy of South" in words


def test_all_patterns_are_listed(folder: Path):
    found = pl.read_csv("p.csv")
    assert {"levels", "max_k", "suppressed", "loss", "level_share", "average_size", "cluster"} <= set(found.columns)
    assert found["max_k"].min() >= 4
    assert found["cluster"].n_unique() == 10


def test_nobody_is_accused_of_the_original(folder: Path):
    assert json.loads(run("trace", "people.csv", *WORDS, "--json"))["accused"] == []
    assert "no accusation" in run("trace", "people.csv", *WORDS, "--report", "nobody.html")
    page = Path("nobody.html").read_text()
    assert "Nobody is accused." in page
    assert "This clears nobody either" in page


def test_ownership_is_proved_with_the_key_of_the_data_set_only(folder: Path):
    run("prove", *WORDS, "-o", "proof.json")
    assert Path("proof.json").stat().st_mode & 0o077 == 0
    assert Path("key").read_text().strip() not in Path("proof.json").read_text()
    commitment = json.loads(Path("plan/scheme.json").read_text())["commitment"]
    assert "✓" in run("prove", "--plan", "plan", "--check", "proof.json", "--commitment", commitment)
    forged = {**json.loads(Path("proof.json").read_text()), "key of this data set": "00" * 32}
    Path("forged.json").write_text(json.dumps(forged))
    assert CliRunner().invoke(app, ["fingerprint", "prove", "--plan", "plan", "--check", "forged.json"]).exit_code == 5


def test_attacks_are_measured(folder: Path):
    told = json.loads(run("attack", *WORDS, "--runs", "1", "--report", "attack.html", "--json"))
    outcomes = {(o["attack"], o["strength"]): o for o in told["outcomes"]}
    assert outcomes["delete-rows", 0.5]["traced"] == 1
    assert outcomes["nobody", 1]["falsely_accused"] == 0
    assert "<svg" in Path("attack.html").read_text()


def test_places_that_cannot_be_written_are_named(folder: Path):
    Path("file").write_text("x")
    words = ["fingerprint", "trace", "people.csv", *WORDS, "--report", "file/trace.html"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 6
    assert "E603" in result.output


def test_other_data_and_other_keys_are_refused(folder: Path):
    people(6000, seed=5).write_csv("other.csv")
    words = ["fingerprint", "issue", "job.yaml", "other.csv", *WORDS, "--to", "X", "-o", "elsewhere"]
    assert CliRunner().invoke(app, words).exit_code == 2
    assert not Path("elsewhere").exists()
    Path("wrong").write_text("11" * 32)
    assert (
        CliRunner().invoke(app, ["fingerprint", "trace", "people.csv", "--plan", "plan", "--key", "wrong"]).exit_code
        == 2
    )
    assert (
        CliRunner().invoke(app, ["fingerprint", "trace", "people.csv", "--plan", "absent", "--key", "key"]).exit_code
        == 3
    )


def test_no_other_plan_takes_the_place_of_one_with_copies(folder: Path, monkeypatch):
    monkeypatch.chdir(folder)
    before = (folder / "plan" / "scheme.json").read_bytes()
    other = ["plan", "job.yaml", "--recipients", "5", "-o", "plan"]
    assert "E601" in run(*other, "--key", "key", "--set", "criteria.k=40", code=6)
    assert "E601" in run(*other, "--new-key", "another", code=6)
    assert not (folder / "another").exists()
    assert (folder / "plan" / "scheme.json").read_bytes() == before
    run(*other, "--key", "key")  # the same plan


def test_a_file_that_is_no_proof_is_told_with_how_to_make_one(folder: Path, monkeypatch):
    monkeypatch.chdir(folder)
    for name in ("people.csv", "absent.json"):
        said = run("prove", "--plan", "plan", "--check", name, code=2)
        assert "E107" in said
        assert "tarnkappe fingerprint prove" in said


def test_names_that_look_alike_do_not_share_a_folder(folder: Path):
    run("issue", "job.yaml", *WORDS, "--to", "Ward 1", "--to", "ward-1", "-o", "wards")
    before = Path("wards/ward-1/public/people.csv").read_bytes()
    assert Path("wards/ward-1-2/public/people.csv").read_bytes() != before
    run("issue", "job.yaml", *WORDS, "--to", "ward-1", "-o", "wards", "--overwrite")
    assert Path("wards/ward-1/public/people.csv").read_bytes() == before
    assert json.loads(run("trace", "wards/ward-1-2/public/people.csv", *WORDS, "--json"))["accused"] == ["ward-1"]


def test_nothing_is_issued_if_one_folder_is_there_already(folder: Path):
    lines = Path("plan/register.jsonl").read_text()
    Path("full/south").mkdir(parents=True)
    Path("full/south/notes").write_text("x")
    assert "E601" in run("issue", "job.yaml", *WORDS, "--to", "North", "--to", "South", "-o", "full", code=6)
    assert not Path("full/north").exists()
    assert Path("plan/register.jsonl").read_text() == lines


def test_a_third_party_traces_with_a_proof(folder: Path):
    run("prove", *WORDS, "-o", "for-court.json")
    leak = "copies/north/public/people.csv"
    ours = json.loads(run("trace", leak, *WORDS, "--json"))
    theirs = json.loads(run("trace", leak, "--plan", "plan", "--proof", "for-court.json", "--json"))
    assert ours == theirs
    assert ours["accused"] == ["North"]
    assert "E108" in run("trace", leak, *WORDS, "--proof", "for-court.json", code=2)
    other = {**json.loads(Path("for-court.json").read_text()), "plan": "0" * 64}
    Path("other-plan.json").write_text(json.dumps(other))
    assert "E504" in run("trace", leak, "--plan", "plan", "--proof", "other-plan.json", code=5)


def test_a_register_must_have_the_head_that_was_noted(folder: Path):
    head = json.loads(Path("plan/register.jsonl").read_text().splitlines()[1])["digest"]
    run("trace", "people.csv", *WORDS, "--head", head)
    assert "E414" in run("trace", "people.csv", *WORDS, "--head", "f" * 64, code=3)


def test_results_say_what_a_page_needs(folder: Path):
    told = json.loads(run("trace", "copies/north/public/people.csv", *WORDS, "--json"))
    assert told["verdict"] == "made from the copy of North"
    assert told["positions"] >= told["positions_read"] > 0
    assert told["strange_rows"] == 0
    assert {c["copies"]: c["understood"] for c in told["columns"]} == dict.fromkeys(NAMES, 1.0)
    first = told["suspects"][0]
    assert first["recipient"] == "North"
    assert first["agree"] == first["clear"]


@pytest.mark.parametrize("what", ["utf-16", "latin-1", "semicolons", "no header", "excel"])
def test_leaks_in_other_dialects(folder: Path, what: str):
    table = pl.read_csv("copies/south/public/people.csv", infer_schema=False).sample(fraction=0.5, seed=2)
    table = table.rename({"illness": "Erkältung"})
    place = Path("dialect.xlsx" if what == "excel" else "dialect.csv")
    if what == "excel":
        table.write_excel(place)
    else:
        sign = ";" if what == "semicolons" else ","
        text = table.write_csv(separator=sign, include_header=what != "no header")
        place.write_bytes(text.encode(what if what in ("utf-16", "latin-1") else "utf-8"))
    assert json.loads(run("trace", str(place), *WORDS, "--json"))["accused"] == ["South"]


@pytest.mark.parametrize(("text", "code"), [("", "E402"), ("age,area\n", "E402"), ("x,y\n1,2\n", "E410")])
def test_leaks_that_are_none(folder: Path, text: str, code: str):
    Path("none.csv").write_text(text)
    assert code in run("trace", "none.csv", *WORDS, code=3)


@pytest.mark.parametrize("text", ['{"sex": "x"}', '{"sex": {"1": 5}}', '{"sex": ["1"]}', '["sex"]', "{"])
def test_lists_of_labels_that_are_none(folder: Path, text: str):
    Path("labels.json").write_text(text)
    told = run("trace", "copies/north/public/people.csv", *WORDS, "--labels", "labels.json", code=2)
    assert "E107" in told
    assert "labels.json" in told


def test_without_a_register_the_verdict_says_that_it_clears_nobody(folder: Path, tmp_path: Path):
    for name in ("scheme.json", "layout.npz"):
        (tmp_path / name).write_bytes(Path("plan", name).read_bytes())
    told = run("trace", "copies/north/public/people.csv", "--plan", str(tmp_path), "--key", "key")
    assert "the register names no recipient" in " ".join(told.split())


def test_one_row_and_many_columns_of_others(folder: Path):
    table = pl.read_csv("copies/south/public/people.csv", infer_schema=False)
    table.head(1).write_csv("one.csv")
    assert json.loads(run("trace", "one.csv", *WORDS, "--json"))["accused"] == []
    wide = table.with_columns(pl.lit("?").alias(f"further {i}") for i in range(200))
    wide.write_csv("wide.csv")
    assert json.loads(run("trace", "wide.csv", *WORDS, "--json"))["accused"] == ["South"]


@pytest.mark.parametrize("select", ["exact", "genetic"])
def test_patterns_of_the_poster_are_planned_issued_and_read(folder: Path, select: str):
    place = f"poster-{select}"
    words = ["--recipients", "3", "--scheme", "patterns", "--select", select, "--key", "key", "-o", place, "--json"]
    told = json.loads(run("plan", "job.yaml", *words))
    assert len(told["patterns"]) >= 2
    run("issue", "job.yaml", "--plan", place, "--key", "key", "--to", "North", "-o", f"{place}/copies")
    leak = f"{place}/copies/north/public/people.csv"
    found = json.loads(run("trace", leak, "--plan", place, "--key", "key", "--json"))
    assert found["fitting"] == ["North"]
    assert found["accused"] == []  # a pattern alone is no proof


def test_a_choice_that_there_is_not(folder: Path):
    assert "E110" in run("plan", "job.yaml", "--select", "luck", "--key", "key", code=2)


def test_names_of_columns_that_were_swapped_hide_nobody(folder: Path):
    table = pl.read_csv("copies/south/public/people.csv", infer_schema=False)
    turned = dict(zip(NAMES, [*NAMES[1:], NAMES[0]], strict=True))
    table.rename(turned).write_csv("swapped.csv")
    told = json.loads(run("trace", "swapped.csv", *WORDS, "--json"))
    assert told["accused"] == ["South"]
    assert {c["copies"]: c["leak"] for c in told["columns"]} == turned

"""The checker that needs no Tarnkappe agrees with ``verify``, and is free of everything but Python."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from checker import IN_MEMORY
from hypothesis import HealthCheck, Phase, given, settings
from whole_jobs import Case, cases

import tarnkappe as tk
from tarnkappe import check_release
from tarnkappe.audit import audit
from tarnkappe.certificate import add_checker
from tarnkappe.criteria import criterion_class
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.job.places import OutputSettings


def compare(table: Path) -> int:
    """How many criteria of a table's manifest both have checked; they must agree on all of them."""
    alone = check_release.Release(table.with_name("manifest.json"))
    found = audit(table)
    assert alone.changed() == []
    n = 0
    verdicts = {(v.criterion, v.asked, v.column): v for v in found.found.verdicts}
    unchecked = {(c.name, c.asked, c.sensitive_column) for c, _ in found.unchecked}
    for criterion in alone.manifest["criteria"]:
        given = {key: value for key, value in criterion.items() if key != "name"}
        promised = criterion_class(criterion["name"])(**given)
        try:
            worst, violating = check_release.check(alone, criterion)
        except check_release.CannotCheckError:
            known = criterion["name"] in {*check_release.DIVERSITIES, "k-anonymity", "t-closeness"}
            assert not known or criterion.get("know_others") or criterion.get("distance") in ("ordered", "hierarchical")
            continue
        if (promised.name, promised.asked, promised.sensitive_column) in unchecked:
            continue
        verdict = verdicts[promised.name, promised.asked, promised.sensitive_column]
        assert violating == verdict.violating_groups
        assert math.isclose(worst, verdict.reached, rel_tol=1e-9) or worst == verdict.reached
        n += 1
    return n


def random_release(rng: random.Random, folder: Path) -> Path:
    """Any table with a manifest that promises what it may or may not keep."""
    n = rng.randint(1, 80)
    delimiter, missing = rng.choice([(",", ""), (";", "NA"), ("\t", "")])
    frame = pl.DataFrame(
        {
            "age": [rng.choice(["20-29", "30-39", "*", 'the "old"', None]) for _ in range(n)],
            "town, or so": [rng.choice(["Köln", "Bonn\nam Rhein", "Ulm"]) for _ in range(n)],
            "illness": [rng.choice(["flu", "flu", "gout", "=x", None]) for _ in range(n)],
            "income": [rng.choice(["1", "10", "3", "-2.5"]) for _ in range(n)],
        }
    )
    path = folder / "table.csv"
    frame.write_csv(path, separator=delimiter, null_value=missing)
    illness = {"column": "illness"}
    criteria: list[dict[str, Any]] = [
        {"name": "k-anonymity", "k": rng.randint(1, 6)},
        {"name": "l-diversity", **illness, "l": rng.randint(1, 3)},
        {"name": "frequency-l-diversity", **illness, "l": rng.choice([1, 1.5, 2, 3])},
        {"name": "entropy-l-diversity", **illness, "l": rng.choice([1, 1.5, 2])},
        {"name": "recursive-cl-diversity", **illness, "c": rng.choice([0.7, 1, 1.5, 3]), "l": rng.randint(1, 3)},
        {"name": "t-closeness", **illness, "t": rng.choice([0.05, 0.1, 0.25, 1 / 3, 0.5])},
        {"name": "t-closeness", "column": "income", "t": rng.choice([0.1, 0.2, 0.3]), "distance": "ordered"},
    ]
    manifest = {
        "tarnkappe": "test",
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "csv": {"delimiter": delimiter, "encoding": "utf-8", "quote": '"', "missing": [missing]},
        "columns": frame.columns,
        "quasi_identifiers": ["age", "town, or so"],
        "criteria": criteria,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return path


def agree_on_random_tables(numbers: range) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        for number in numbers:
            assert compare(random_release(random.Random(number), Path(folder))) == 7


def test_it_agrees_with_verify_on_tables_that_keep_and_break_promises():
    agree_on_random_tables(range(40))


@pytest.mark.full
def test_it_agrees_with_verify_on_many_tables():
    agree_on_random_tables(range(1000, 1200))


def agree_on_a_release(case: Case) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as parent:
        try:
            tk.run_job(case.job(), case.write(Path(parent)), Path(parent, "release"), seed=1)
        except (InfeasibleError, JobError):
            return
        shared = Path(parent, "shared")
        shutil.copytree(Path(parent, "release", "public"), shared)
        told = json.loads((shared / "manifest.json").read_text("utf-8"))
        with suppress(JobError):  # nothing of it can be checked by readers
            compare(shared / told["file"])


quick = settings(suppress_health_check=list(HealthCheck), deadline=None, phases=(Phase.generate,))


@settings(quick, max_examples=25)
@given(cases())
def test_it_agrees_with_verify_on_releases(case: Case):
    agree_on_a_release(case)


@pytest.mark.full
@settings(quick, max_examples=200)
@given(cases())
def test_it_agrees_with_verify_on_many_releases(case: Case):
    agree_on_a_release(case)


@pytest.mark.parametrize("algorithm", ["anatomize", "angel", "slicing", "k-e-permutation"])
def test_it_checks_releases_of_several_tables(tmp_path: Path, algorithm: str):
    rng = random.Random(3)
    rows = [(rng.randint(20, 60), rng.choice("abc"), rng.choice([10, 20, 35, 50, 80])) for _ in range(120)]
    frame = pl.DataFrame(rows, schema=["age", "town", "income"], orient="row")
    job = tk.Job(
        quasi={"age": tk.numeric(), "town": tk.suppress()},
        sensitive={"income": tk.numeric()},
        criteria=[tk.LDiversity("income", 3)],
        algorithm=algorithm,
        output=OutputSettings(format="csv"),
    )
    tk.run_job(job, frame, tmp_path / "out", seed=1)
    main = next(t for t in json.loads((tmp_path / "out/public/manifest.json").read_text())["tables"] if not t["name"])
    assert compare(tmp_path / "out/public" / main["file"]) == 1
    checker = add_checker(tmp_path / "out")
    assert said_by(checker)[0] == 0
    secrets = next((tmp_path / "out/public").glob("*-secrets.csv"), tmp_path / "out/public" / main["file"])
    secrets.write_text("\n".join(secrets.read_text().splitlines()[:-1]) + "\n")
    code, said = said_by(checker)
    assert code == 1
    assert "is not the file that the manifest describes" in said


def test_it_checks_ranges_of_numbers(tmp_path: Path):
    frame = pl.DataFrame({"age": [i % 30 for i in range(90)], "pay": [i % 45 / 4 for i in range(90)]})
    job = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive={"pay": tk.numeric()},
        criteria=[tk.KEAnonymity("pay", 4, 0.75)],
        algorithm="k-e-permutation",
        output=OutputSettings(format="csv"),
    )
    tk.run_job(job, frame, tmp_path / "out", seed=1)
    checker = add_checker(tmp_path / "out")
    assert said_by(checker)[0] == 0
    manifest = tmp_path / "out/public/manifest.json"
    for key, value in (("k", 5), ("e", 0.7501)):
        told = json.loads(manifest.read_text())
        told["criteria"][0][key] = value
        (tmp_path / "out/public/forged.json").write_text(json.dumps(told))
        forged = [sys.executable, "-I", "-S", checker, tmp_path / "out/public/forged.json"]
        done = subprocess.run(forged, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "groups break k-e-anonymity" in done.stdout


def test_groups_that_are_not_published_cannot_be_checked_and_it_says_so(tmp_path: Path):
    frame = pl.DataFrame({"age": [i % 30 for i in range(90)], "pay": [i * 7 % 45 for i in range(90)]})
    job = tk.Job(
        quasi={"age": tk.numeric(), "pay": tk.numeric()},
        criteria=[tk.KIndistinguishability(10)],
        algorithm="regenerated-condensation",
        output=OutputSettings(format="csv"),
    )
    tk.run_job(job, frame, tmp_path / "out", seed=1)
    code, said = said_by(add_checker(tmp_path / "out"))
    assert code == 2
    assert "which rows were drawn together is known to the publisher only" in said


def said_by(checker: Path) -> tuple[int, str]:
    """What the checker says where there is nothing but Python: no packages, no environment."""
    done = subprocess.run([sys.executable, "-I", "-S", str(checker)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_it_finds_a_release_that_was_changed(tmp_path: Path):
    """A forger who changes a record and the checksum is found all the same."""
    frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52] * 4, "illness": ["flu", "gout", "ache"] * 8})
    job = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive=["illness"],
        criteria=[tk.KAnonymity(4)],
        output=OutputSettings(format="csv"),
    )
    tk.run_job(job, frame, tmp_path / "out", seed=1)
    checker = add_checker(tmp_path / "out")
    assert said_by(checker)[0] == 0
    table = checker.with_name("release.csv")
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines[:-1], "99," + lines[-1].split(",", 1)[1]]) + "\n")
    assert "NO       release.csv is not the file" in said_by(checker)[1]
    manifest = json.loads(checker.with_name("manifest.json").read_text())
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    manifest |= {"sha256": digest, "tables": [{**manifest["tables"][0], "sha256": digest}]}
    checker.with_name("manifest.json").write_text(json.dumps(manifest))
    code, said = said_by(checker)
    assert code == 1
    assert "groups break k-anonymity (k = 4): the worst group reaches 1" in said


#: What a forger may write into a manifest, by the names of what is changed.
FORGERIES: dict[str, dict[str, Any]] = {
    "nothing promised": {"criteria": []},
    "promises that are none": {"criteria": ["k-anonymity"]},
    "an encoding that is none": {"csv": {"encoding": "hex"}},
    "signs that are none": {"csv": "comma"},
    "another table of the same name": {"tables": [{"name": "", "file": "manifest.json", "sha256": ""}]},
    "no table": {"tables": [{"name": "other", "file": "manifest.json", "sha256": ""}]},
    "a column that is published and not named": {"columns": ["age", "town, or so", "illness"]},
    "groups that have no numbers": {"reading": {}},
}


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_manifests_are_never_said_to_be_kept(tmp_path: Path, what: str):
    random_release(random.Random(1), tmp_path)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["criteria"] = [{"name": "k-anonymity", "k": 1}]
    path.write_text(json.dumps(manifest))
    assert check_release.main([str(path)]) == 0
    path.write_text(json.dumps({**manifest, **FORGERIES[what]}))
    assert check_release.main([str(path)]) == 2


def test_manifests_too_deep_and_numbers_too_large_are_not_checked_for_ever(tmp_path: Path):
    (tmp_path / "manifest.json").write_text("[" * 100_000)
    assert check_release.main([str(tmp_path)]) == 2
    assert check_release.number("1e999999999", ".") is None
    assert check_release.number("-1.5e+30", ".") == -15 * 10**29


@pytest.mark.parametrize("rows", ["1,flu,2\n1,gout,0\n", "1,flu,3\n1,gout,-1\n"])
def test_values_that_nobody_has_do_not_make_a_group_diverse(tmp_path: Path, rows: str):
    files = {"": "age,group\n30,1\n31,1\n", "secrets": f"group,illness,records\n{rows}"}
    tables = []
    for name, text in files.items():
        (tmp_path / f"t{name}.csv").write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        columns = text.split("\n")[0].split(",")
        tables.append({"name": name, "file": f"t{name}.csv", "sha256": digest, "columns": columns})
    manifest = {
        **tables[0],
        "tables": tables,
        "reading": {"number": "group", "secrets": "secrets", "count": "records"},
        "quasi_identifiers": ["age"],
        "criteria": [{"name": "l-diversity", "column": "illness", "l": 2}],
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert check_release.main([str(tmp_path)]) == 2


def test_what_it_does_not_know_it_says(tmp_path: Path):
    path = random_release(random.Random(1), tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["criteria"] = [{"name": "beta-likeness", "column": "illness", "beta": 1}]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert check_release.main([str(path.with_name("manifest.json"))]) == 2
    (tmp_path / "manifest.json").write_text("{}")
    assert check_release.main([str(tmp_path)]) == 2


def test_it_imports_nothing_but_what_python_brings():
    tree = ast.parse(Path(check_release.__file__).read_text("utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {alias.name for node in found if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in found if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} - {"pyarrow"} <= sys.stdlib_module_names

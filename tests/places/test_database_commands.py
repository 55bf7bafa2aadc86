"""Databases on the command line: from a look at a table to a release that others can check."""

from __future__ import annotations

import json
import subprocess
import sys
from urllib.parse import quote

import polars as pl
import pytest
from typer.testing import CliRunner

from tarnkappe.cli.app import app


def people(n: int = 120) -> pl.DataFrame:
    ages = [20 + i % 17 for i in range(n)]
    return pl.DataFrame({"age": ages, "sex": ["f", "m"] * (n // 2), "illness": ["flu", "cold", "asthma"] * (n // 3)})


@pytest.fixture
def cli(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, list(words), prog_name="tarnkappe")
        assert done.exit_code == code, done.output
        return done.output if code else done.stdout

    return call


JOB = """
version: 1
data: {{database: "{uri}", {schema}table: people}}
columns: {{age: {{role: quasi, type: numeric}}, sex: {{role: quasi, taxonomy: suppress}}, illness: sensitive}}
criteria: [k-anonymity: {{k: 5}}]
output: {{database: "{uri}", {schema}table: released, folder: papers}}
"""


def test_from_a_look_at_a_table_to_a_release_that_others_check(cli, database, tmp_path):
    database.put("people", people())
    address = database.address("people")
    seen = json.loads(cli("inspect", address, "--json"))
    assert [c["name"] for c in seen["columns"]] == ["age", "sex", "illness"]
    cli("init", address, "-o", "suggested.yaml")
    written = (tmp_path / "suggested.yaml").read_text()
    assert "\n  table: people\n" in written
    assert "\n  database: " in written
    checked = json.loads(cli("check", "suggested.yaml", "--json"))
    assert checked["rows"] == 120
    schema = "" if database.schema is None else f"schema: {database.schema}, "
    (tmp_path / "job.yaml").write_text(JOB.format(uri=database.uri, schema=schema))
    assert json.loads(cli("run", "job.yaml", "--dry-run", "--json"))["dry_run"]
    assert database.tables() == {"people"}
    told = cli("run", "job.yaml")
    assert "table released" in told
    assert database.tables() == {"people", "released"}
    assert "is that of manifest.json" in cli("verify", "papers")
    cli("verify", database.address("released"), "--job", "job.yaml")
    cli("verify", database.address("released"), "--quasi", "age,sex", "--k", "5")
    cli("verify", database.address("people"), "--quasi", "age,sex", "--k", "50", code=5)
    assert "E601" in cli("run", "job.yaml", "-o", "elsewhere", code=6)
    assert not (tmp_path / "elsewhere").exists()
    cli("run", "job.yaml", "--overwrite")


def test_a_password_in_a_job_is_refused_without_being_repeated(cli, tmp_path):
    (tmp_path / "job.yaml").write_text(JOB.format(uri="postgresql://me:s3cret@host/db", schema=""))
    for words in (("check", "job.yaml"), ("run", "job.yaml"), ("run", "job.yaml", "--debug")):
        told = cli(*words, code=3)
        assert "E461" in told
        assert "s3cret" not in told
    told = cli("inspect", "postgresql://me:s3cret@host/db#people", code=3)
    assert "s3cret" not in told


def test_init_writes_the_variable_of_a_password_and_never_the_password(cli, database_of, tmp_path, monkeypatch):
    database = database_of("postgresql")
    database.put("people", people())
    monkeypatch.setenv("CENSUS_PASSWORD", "s3cr3t-word")
    address = database.address("people").replace("steward@", "steward:${CENSUS_PASSWORD}@")
    told = cli("init", address, "-o", "job.yaml")
    told += cli("check", "job.yaml") + cli("init", address.replace("#", "#x"), "-o", "other.yaml", code=3)
    assert "s3cr3t" not in told
    assert "${CENSUS_PASSWORD}@" in (tmp_path / "job.yaml").read_text()
    assert "s3cr3t" not in (tmp_path / "job.yaml").read_text()
    told = cli("init", address.replace("${CENSUS_PASSWORD}", "s3cr3t-word"), "-o", "refused.yaml", code=3)
    assert "E461" in told
    assert "s3cr3t" not in told
    assert not (tmp_path / "refused.yaml").exists()


@pytest.mark.parametrize("where", ["people", "s.people", "?SELECT age, sex FROM people"])
def test_init_of_a_duckdb_makes_a_job_that_runs(cli, database_of, tmp_path, where):
    database = database_of("duckdb")
    database.put("people", people())
    database.ask("CREATE SCHEMA s")
    database.ask("CREATE TABLE s.people AS SELECT * FROM people")
    cli("init", f"{database.uri}#{where}", "-o", "job.yaml")
    cli("run", "job.yaml", "-o", "papers")
    assert (tmp_path / "papers/public/manifest.json").is_file()
    told = cli("init", database.uri, code=3)
    assert f"{database.uri}#people" in told  # how a table is named here
    for user in ("me:s3cret@", "?password=s3cret"):
        told = cli("init", f"{database.uri.replace(':///', f'://{user}/')}#people", code=3)
        assert "E461" in told
        assert "s3cret" not in told


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cret@host/db#people",
        "postgresql:/me:s3cret@host/db#people",
        " postgresql://me:s3cret@host/db#people",
        "mysql://me:s3cret@host/db#people",
        "jdbc:postgresql://host/db?user=me&password=s3cret",
        "s3://key:s3cret@lake/people.csv",
    ],
)
@pytest.mark.parametrize("command", ["inspect", "init", "verify", "risk"])
def test_no_command_repeats_a_password_of_an_address_it_does_not_know(cli, command, address):
    told = cli(command, address, code=3)
    assert "E461" in told
    assert "s3cret" not in told


def test_an_address_that_is_no_database_stays_an_address(cli, tmp_path):
    people().write_csv(tmp_path / "people.csv")
    address = f"file://{tmp_path}/people.csv"
    assert "120 rows" in cli("inspect", address)
    cli("init", address)
    assert address in (tmp_path / "people.yaml").read_text()
    assert "E476" in cli("inspect", "https://host/people.csv", code=3)


def test_signatures_and_checkers_are_about_folders(cli, database_of):
    database = database_of("sqlite")
    database.put("people", people())
    for option in (("--standalone",), ("--signed-by", "key.pub")):
        assert "E108" in cli("verify", database.address("people"), "--quasi", "age", *option, code=2)


def test_a_query_sees_no_file_beside_the_database(cli, database_of, tmp_path):
    people().write_csv(tmp_path / "secret.csv")
    database = database_of("duckdb")
    database.put("people", people())
    base = database.address("people").partition("#")[0]
    for query in (f"select * from '{tmp_path}/secret.csv'", f"select * from read_csv('{tmp_path}/secret.csv')"):
        assert "E465" in cli("inspect", f"{base}#?{quote(query)}", code=3)
    assert "120 rows" in cli("inspect", f"{base}#?{quote('select * from people')}")


def test_a_signature_covers_the_table_in_the_database(cli, database, tmp_path):
    pytest.importorskip("cryptography")
    database.put("people", people())
    schema = "" if database.schema is None else f"schema: {database.schema}, "
    (tmp_path / "job.yaml").write_text(JOB.format(uri=database.uri, schema=schema))
    cli("run", "job.yaml")
    cli("sign", "--new-key", "office")
    cli("sign", "papers", "--key", "office.key")
    assert "was signed by" in cli("verify", "papers", "--signed-by", "office.pub")
    assert "E108" in cli("verify", "papers", "--standalone", code=2)
    again = (tmp_path / "job.yaml").read_text().replace("k: 5", "k: 40")
    (tmp_path / "other.yaml").write_text(again)
    cli("run", "other.yaml", "-o", "elsewhere", "--overwrite")  # the table is another one, the papers are the old ones
    assert "✗ manifest.json" in cli("verify", "papers", "--signed-by", "office.pub", code=5)


def test_a_process_says_nothing_of_its_own_when_it_ends(database, tmp_path):
    """What libraries print while a process ends is not seen where commands are called within one."""
    database.put("people", people())
    command = [sys.executable, "-m", "tarnkappe", "verify", database.address("people"), "--quasi", "age", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "  reading back and verifying …\n")
    assert json.loads(done.stdout)["reached"]["k"] == 7

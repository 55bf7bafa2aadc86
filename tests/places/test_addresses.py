"""Addresses of tables: one text for each, and never a password in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.errors import DataError, TarnkappeError
from tarnkappe.io import open_source
from tarnkappe.io.databases import Address
from tarnkappe.io.databases.address import refuse_password
from tarnkappe.job.files import job_from_text, job_to_yaml
from tarnkappe.job.places import DataSettings, OutputSettings

NAMES = st.text(min_size=1, max_size=12)

WITH_PASSWORDS = [
    "postgresql://me:s3cret@host/db#people",
    "postgresql://me:s3/cret@host/db#people",
    "postgresql://me:s3#cret@host/db#people",
    "postgresql://me:s3?cret@host/db#people",
    "postgresql://me:s3@cret@host/db#people",
    "postgresql://host/db?user=me&password=s3cret#people",
    "postgresql://host/db?PASSWORD=s3cret#people",
    "postgres://me:${OK}s3cret@host/db#people",
]


@given(schema=st.none() | NAMES, table=NAMES)
def test_an_address_says_the_same_as_its_text(schema, table):
    address = Address("postgresql://me@host:5433/db", schema, table)
    assert Address.of(address.text) == address


@given(query=st.text(min_size=1))
def test_a_query_says_the_same_as_its_text(query):
    address = Address("duckdb:///census.duckdb", query=query)
    assert Address.of(address.text) == address


@pytest.mark.parametrize("text", WITH_PASSWORDS)
def test_a_password_is_refused_wherever_it_stands_and_repeated_nowhere(text):
    for ask in (Address.of, open_source, DataSettings, lambda t: OutputSettings("out", database=t)):
        with pytest.raises(DataError) as refused:
            ask(text)
        assert refused.value.code == "E461"
        assert "cret" not in str(refused.value)
        assert "PGPASSWORD" in str(refused.value)
        assert refused.value.__cause__ is None


def test_the_fix_names_the_variables_of_the_store():
    with pytest.raises(DataError, match="AWS_SECRET_ACCESS_KEY") as refused:
        refuse_password("s3://key:s3cret@lake/people.csv")
    assert "PGPASSWORD" not in str(refused.value)


def test_a_variable_may_stand_for_the_password_and_is_only_known_to_the_client(monkeypatch):
    address = Address.of("postgresql://me:${CENSUS_PASSWORD}@host/db#people")
    with pytest.raises(DataError, match="E468"):
        address.connection_uri()
    assert Address.of("postgresql://host/db?user=me&password=${CENSUS_PASSWORD}#people").table == "people"
    monkeypatch.setenv("CENSUS_PASSWORD", "p@ss/w#rd")
    assert address.connection_uri() == "postgresql://me:p%40ss%2Fw%23rd@host/db"
    for shown in (address.text, address.shown, repr(address), str(address)):
        assert "ss/w" not in shown
        assert "ss%2Fw" not in shown


@pytest.mark.parametrize(
    "text",
    ["postgresql://host/db", "sqlite:///#people", "duckdb://#people", "mysql://host/db#people", "sqlite:///a.db"],
)
def test_what_is_no_address_of_a_table_is_refused(text):
    with pytest.raises(TarnkappeError) as refused:
        Address.of(text)
    assert refused.value.code == "E462"
    assert refused.value.hint


JOB = """
version: 1
data: {%s}
columns: {age: {role: quasi, type: numeric}}
criteria: [k-anonymity: {k: 2}]
output: {%s}
"""


def test_job_files_name_databases_relative_to_themselves(tmp_path):
    text = JOB % (
        "database: 'sqlite:///census.db', table: people",
        "database: 'duckdb:///out/c.duckdb', table: released, folder: papers",
    )
    job = job_from_text(text, folder=tmp_path)
    assert Address.of(job.data.path).file == tmp_path / "census.db"
    assert Address.of(job.output.database).file == tmp_path / "out/c.duckdb"
    again = job_to_yaml(job, tmp_path / "elsewhere")
    assert "sqlite:///../census.db" in again
    (tmp_path / "elsewhere").mkdir()
    moved = job_from_text(again, folder=tmp_path / "elsewhere")
    assert Address.of(moved.data.path).file.resolve() == tmp_path / "census.db"
    assert Address.of(moved.output.database).table == "released"


@pytest.mark.parametrize(
    ("data", "output", "code"),
    [
        ("path: a.csv, database: 'sqlite:///a.db', table: people", "folder: out", "E110"),
        ("table: people", "folder: out", "E103"),
        ("database: 'sqlite:///a.db'", "folder: out", "E462"),
        ("database: 'sqlite:///a.db', table: people, query: SELECT 1", "folder: out", "E462"),
        ("database: 'postgresql://me:s3cret@host/db', table: people", "folder: out", "E461"),
        ("path: a.csv", "database: 'postgresql://me:s3cret@host/db', table: people, folder: out", "E461"),
        ("path: a.csv", "table: people, folder: out", "E103"),
    ],
)
def test_sections_that_cannot_be_meant(data, output, code):
    with pytest.raises(TarnkappeError) as refused:
        job_from_text(JOB % (data, output))
    assert refused.value.code == code
    assert refused.value.where
    assert "s3cret" not in str(refused.value)


def test_jobs_made_in_python_take_addresses():
    quasi = {"age": tk.numeric()}
    job = tk.Job(quasi=quasi, criteria=[tk.KAnonymity(2)], data="postgresql://me@host/db#people")
    assert job_from_text(job.to_yaml(), folder=Path()).data == job.data

"""A PostgreSQL for all tests of this folder, and databases of every kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from database_tables import KINDS, Database, fresh_schema
from postgresql_server import NOT_INSTALLED, binaries, running


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URI of a PostgreSQL that runs as long as the tests do."""
    if binaries() is None:
        pytest.skip(NOT_INSTALLED)
    with running() as uri:
        yield uri


@pytest.fixture
def database_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Database]:
    """Makes an empty database of a kind."""

    def made(kind: str) -> Database:
        if kind == "postgresql":
            return fresh_schema(request.getfixturevalue("server"))
        return Database(kind, f"{kind}:///{tmp_path}/census.{kind}")

    return made


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, database_of: Callable[[str], Database]) -> Database:
    """An empty database, of each kind in turn."""
    return database_of(request.param)

"""Where a table of a database is, as one text: the URI of the database, ``#``, and the table.

Such a text stands wherever a path may stand. It never holds a password: those come from the environment, or from
files that the client library of the database reads by itself.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tarnkappe.errors import DataError

#: Beginnings of addresses, and what they are addresses of.
_SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql", "duckdb": "duckdb", "sqlite": "sqlite"}

_TITLES = {"postgresql": "PostgreSQL", "duckdb": "DuckDB", "sqlite": "SQLite"}

_FORMS = "postgresql://USER@HOST/DATABASE , duckdb:///FILE , sqlite:///FILE"

#: A variable of the environment in an address.
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

#: The same at the end of an address, before the table.
_VARIABLE_AND_TABLE = re.compile(r"^(\$\{[A-Za-z_][A-Za-z0-9_]*\})#.*", re.DOTALL)

#: Settings of a PostgreSQL address that are secret.
_SECRET = {"password", "sslpassword", "passwd", "pwd"}


def is_database(given: object) -> bool:
    """Whether something is the address of a database, rather than a path or a frame.

    >>> [is_database(text) for text in ("postgresql:///census#people", "people.csv", "hdfs://host/people.csv")]
    [True, False, False]
    """
    return isinstance(given, str) and "://" in given and given.partition("://")[0].lower() in _SCHEMES


def file_of(given: object) -> str | Path | None:
    """The file that a table is read from, if it is one file."""
    if is_database(given):
        return Address.of(str(given)).file
    return given if isinstance(given, (str, Path)) else None


@dataclass(frozen=True)
class Address:
    """A table of a database, or what a query finds in it.

    >>> Address.of("postgresql://steward@db.example.org/census#public.people")
    Address(uri='postgresql://steward@db.example.org/census', schema='public', table='people', query=None)
    >>> Address("sqlite:///census.db", table="all people").text
    'sqlite:///census.db#all%20people'
    """

    #: The database, without a table; variables of the environment stand in it as ``${NAME}``.
    uri: str
    schema: str | None = None
    table: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no address, and what holds a password."""
        if not is_database(self.uri):
            raise _not_understood("the address of a database begins with one of postgresql://, duckdb://, sqlite://")
        if "#" in self.uri:
            raise _not_understood("the address of a database ends before a '#'; the table is told apart from it")
        refuse_password(self.uri)
        if self.kind != "postgresql" and not self._path:
            raise _not_understood(f"the address of a {self.title} database names no file")
        if (self.table is None) == (self.query is None):
            raise DataError(
                "E462",
                "a database holds many tables: name one of them, or write a query, and not both",
                where=self.shown,
                hint=f"table: people   or  query: SELECT * FROM people   in a job;  {self.uri}#people  elsewhere",
            )

    @classmethod
    def of(cls, text: str) -> Self:
        """The address that a text stands for."""
        refuse_password(text)  # before anything is cut: a password may hold any sign
        uri, _, fragment = text.partition("#")
        if fragment.startswith("?"):
            return cls(uri, query=unquote(fragment[1:]))
        schema, dot, table = fragment.rpartition(".")
        return cls(uri, unquote(schema) if dot else None, unquote(table) or None)

    @property
    def text(self) -> str:
        """The address in one text."""
        if self.query is not None:
            return f"{self.uri}#?{quote(self.query, safe='')}"
        names = [name for name in (self.schema, self.table) if name is not None]
        return f"{self.uri}#{'.'.join(quote(name, safe='').replace('.', '%2E') for name in names)}"

    @property
    def kind(self) -> str:
        """Which database it is: postgresql, duckdb or sqlite."""
        return _SCHEMES[self.uri.partition("://")[0].lower()]

    @property
    def title(self) -> str:
        """The database as people call it."""
        return _TITLES[self.kind]

    @property
    def name(self) -> str:
        """What to call the table in messages and in names of files."""
        return self.table or "query"

    @property
    def shown(self) -> str:
        """The database as it may be printed: without anything that lets somebody in."""
        if self.kind != "postgresql":
            return self.uri
        parts = urlsplit(self.uri)
        user, _, host = parts.netloc.rpartition("@")
        user = user.partition(":")[0]
        return f"postgresql://{user + '@' if user else ''}{host}{parts.path}"

    @property
    def _path(self) -> str:
        return unquote(self.uri.partition("://")[2]).removeprefix("/")

    @property
    def file(self) -> Path | None:
        """The file that holds the database, if it is one file."""
        return None if self.kind == "postgresql" else Path(self._with_variables(self._path)).expanduser()

    def beside(self, folder: Path) -> Self:
        """The same address, where the file of a relative one is taken from a folder."""
        if self.kind == "postgresql" or "${" in self._path or Path(self._path).is_absolute():
            return self
        return replace(self, uri=f"{self.kind}:///{quote((folder / self._path).as_posix(), safe='/')}")

    def relative_to(self, folder: Path | None) -> Self:
        """The inverse of `beside`."""
        if folder is None or self.kind == "postgresql" or "${" in self._path:
            return self
        try:
            path = Path(os.path.relpath(self._path, folder)).as_posix()
        except ValueError:  # on another drive
            return self
        return replace(self, uri=f"{self.kind}:///{quote(path, safe='/')}")

    def connection_uri(self) -> str:
        """What is handed to the client library; nobody else may see it."""
        return self._with_variables(self.uri)

    def _with_variables(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            known = os.environ.get(found[1])
            if known is None:
                raise DataError(
                    "E468",
                    f"the address of the database asks for the variable {found[1]}, which is not set",
                    where=self.shown,
                    hint=f"export {found[1]}=…   in the shell that starts the job",
                )
            return quote(known, safe="") if self.kind == "postgresql" else known

        return _VARIABLE.sub(value, text)


def require_table(given: str | None, *, to_write: bool = False) -> None:
    """Refuse an address of a database that is none, holds a password, or is not one of a table to write to."""
    if given is None or not (to_write or is_database(given)):
        return
    if Address.of(given).table is None and to_write:
        raise DataError("E462", "a release goes to a table, not to a query", hint="table: people_released")


def refuse_password(text: str) -> None:
    """Refuse an address with a password in it, wherever its signs may make it seem to end.

    That holds for addresses of any kind, and for mistyped ones: an error about them would repeat what is in them.
    """
    rest = text.partition(":/")[2].lstrip("/")
    password = rest.rpartition("@")[0].partition(":")[2]
    given = [value for key, value in parse_qsl(rest.partition("?")[2]) if key.lower() in _SECRET]
    # What follows a variable and a '#' is the table.
    given = [_VARIABLE_AND_TABLE.sub(r"\1", value) for value in given]
    if all(_VARIABLE.fullmatch(unquote(secret)) for secret in (password, *given) if secret):
        return
    raise DataError(
        "E461",
        "the address holds a password, which would stand in job files and logs",
        hint=_outside(text),
    )


def _outside(text: str) -> str:
    """What to do with the password of such an address."""
    scheme = text.partition(":/")[0].lower().rpartition("=")[2]
    for schemes, how in _OUTSIDE:
        if scheme in schemes:
            return how
    return "export PGPASSWORD=…   and take it out of the address:  postgresql://USER@HOST/DATABASE"


_TAKE_OUT = "and take everything before the @ out of the address."

#: Object stores have variables of their own, and files of databases have no passwords.
_OUTSIDE = (
    (("s3", "s3a"), f"export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…   {_TAKE_OUT}"),
    (
        ("az", "azure", "abfs", "abfss", "adl"),
        f"export AZURE_STORAGE_ACCOUNT_NAME=… AZURE_STORAGE_ACCOUNT_KEY=…   {_TAKE_OUT}",
    ),
    (("gs", "gcs"), f"export GOOGLE_APPLICATION_CREDENTIALS=key.json   {_TAKE_OUT}"),
    (("http", "https", "hf", "hdfs", "file"), "Download the file first, and name it by its path."),
    (("duckdb",), "duckdb:///FILE   needs none: leave user and password out."),
    (("sqlite",), "sqlite:///FILE   needs none: leave user and password out."),
)


def _not_understood(message: str) -> DataError:
    return DataError("E462", message, hint=f"Known are  {_FORMS}")

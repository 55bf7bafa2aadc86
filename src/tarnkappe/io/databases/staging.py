"""A release whose tables go to a database: they appear there, and its papers in a folder, or nothing does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from tarnkappe._version import __version__
from tarnkappe.appeared import is_to_commit
from tarnkappe.errors import RefusedError, TarnkappeError
from tarnkappe.fixes import OVERWRITE, say
from tarnkappe.io.base import Source
from tarnkappe.io.databases.address import Address
from tarnkappe.io.databases.base import MARK, Change, Look, Run, TakesRuns, change
from tarnkappe.io.databases.counts import CountedBack
from tarnkappe.io.databases.source import OF_COUNTS, OF_ROWS, DatabaseSource, as_csv, digest_told
from tarnkappe.io.dialect import CsvDialect
from tarnkappe.io.folders import MANIFEST, PRIVATE, ReleaseFolder, read_manifest
from tarnkappe.io.leftovers import temporary_tag
from tarnkappe.io.sink import Format
from tarnkappe.io.staging import Staging, hidden_folders

#: So many rows are looked at, and each must occur so often among them that the database had better count them.
_SOME, _OFTEN = 1 << 16, 2


class DatabaseStaging(Staging):
    """Tables that are made in one transaction of a database, beside a folder with all that goes with them.

    Nobody else sees a table before it was read back and verified. Then the transaction is committed, and the folder
    takes its name. What is killed before leaves both as they were: the database undoes what was not committed.
    """

    def __init__(
        self, address: Address, folder: str | Path, *, overwrite: bool = False, inputs: Iterable[str | Path] = ()
    ) -> None:
        """Say where tables and papers are to appear; nothing is touched before the ``with`` block begins."""
        files = [file for file in (address.file,) if file is not None]
        super().__init__(folder, overwrite=overwrite, inputs=[*inputs, *files])
        self.address = address
        self._change: Change | None = None
        #: The tables of the release: what each is called now, and its digest once it was read back.
        self._hidden: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self._digested: dict[str, str] = {}
        self._writers: dict[str, StagedTable] = {}
        #: Whether something stands beside the rows in their order, so that they must be read back in it.
        self.ordered = True

    @property
    def told(self) -> dict[str, Any]:
        """What a public manifest tells about where its table is; which host it is on concerns nobody."""
        digests = {self._digested.get(final, OF_ROWS) for final in self._hidden}
        place = {"kind": self.address.kind, "schema": self.address.schema, "table": self.address.table}
        place["digest"] = digests.pop() if len(digests) == 1 else OF_ROWS
        return {"database": {key: value for key, value in place.items() if value is not None}}

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self._change = change(self.address, self.overwrite)
            self._refuse_taken(self.address.name)
        except BaseException:
            self._undo()
            self._discard()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        finally:
            self._undo()

    def table(self, name: str) -> Path:
        """What the table is called until it is verified; the path is only a name."""
        final = Path(name).name
        if final not in self._hidden:
            self._refuse_taken(final)
            self._hidden[final] = f"tarnkappe{temporary_tag()}"
        return Path(final)

    def writer(self, path: str | Path, format_: Format, dialect: CsvDialect | None, missing: str) -> StagedTable:
        """Takes the rows of a table; how a file would be written does not matter here."""
        kind = StagedRuns if isinstance(self._transaction, TakesRuns) else StagedTable
        self._writers[str(path)] = kind(self._transaction, self._hidden[str(path)])
        return self._writers[str(path)]

    def open(self, path: str | Path, dialect: CsvDialect | None = None, missing: tuple[str, ...] = ("",)) -> Source:
        """Read a table back out of the database: its rows once, or if many are alike, as the database counts them."""
        look = self._transaction.look(self._hidden[str(path)])
        source: Source
        if self.ordered or not self._writers[str(path)].alike:
            source = ReadBack(look, str(path), missing, self.folder)
        else:
            source = CountedBack(look, str(path), missing)
            self._digested[str(path)] = OF_COUNTS
        self._digests[str(path)] = source.sha256
        return source

    @property
    def _transaction(self) -> Change:
        if self._change is None:
            raise ValueError("a DatabaseStaging is only usable inside its with block")
        return self._change

    def _before_appearing(self) -> None:
        """Commit when the folder has only to take its name: after that, little can go wrong."""
        for final, hidden in self._hidden.items():
            self._refuse_taken(final)  # it may have appeared meanwhile
            comment = f"{MARK}, made by version {__version__}, SHA-256 of its rows {self._digests[final]}"
            self._transaction.rename(hidden, final, comment)
        is_to_commit(f"{', '.join(self._hidden)} in {self.address.shown}")
        self._made.clear()  # whoever is stopped from here on leaves the papers, to which the next run gives their name
        self._transaction.commit()

    def _tidy(self, parent: Path) -> None:
        """First end what was killed after its tables had appeared: its papers are whole, and lack only their name."""
        for hidden in hidden_folders(self.target):
            told = read_manifest(ReleaseFolder(hidden).manifest)
            whole = read_manifest(hidden / PRIVATE / MANIFEST) is not None  # the private manifest is written last
            if told is not None and whole and told.get("sha256") == self._digest_there(told):
                self._take_name(hidden)
        super()._tidy(parent)

    def _digest_there(self, told: dict[str, Any]) -> str | None:
        try:
            with DatabaseSource(self.address, ()) as source:
                source.digested = digest_told(told)
                return source.sha256
        except TarnkappeError:  # there is no table yet, or it cannot be read: whoever writes it will say so
            return None

    def _undo(self) -> None:
        if self._change is not None:
            self._change.close()
            self._change = None

    def _refuse_taken(self, table: str) -> None:
        """Refuse a table that exists, unless it is an earlier release that may be replaced."""
        comment = self._transaction.existing(table)
        if comment is None or (self.overwrite and comment.startswith(MARK)):
            return
        if comment.startswith(MARK):
            reason, hint = "exists already", say("Replace it with  {}  or name another table.", OVERWRITE)
        else:
            reason = "exists and is not an earlier release, so it is not replaced"
            hint = say(f"Name another table, such as  table: {table}_released")
        raise RefusedError("E601", f"table '{table}' {reason}", where=self.address.shown, hint=hint)


class StagedTable:
    """Appends batches to a table that nobody sees yet."""

    def __init__(self, transaction: Change, name: str) -> None:
        """The first batch says what the columns are."""
        self.dialect = CsvDialect()
        self._transaction, self._name = transaction, name
        self._schema: dict[str, pl.DataType] | None = None
        #: Whether many rows are alike, as far as can be seen from the first ones.
        self.alike = False

    def write(self, batch: pl.DataFrame) -> None:
        """Append records."""
        if self._schema is None:
            self._schema = dict(batch.schema)
            self._transaction.create(self._name, self._schema)
            some = batch.head(_SOME)
            self.alike = some.n_unique() * _OFTEN <= some.height
        self._transaction.append(self._name, batch)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return


class StagedRuns(StagedTable):
    """A table whose database writes out records that are alike."""

    def write_runs(self, runs: Iterable[Run]) -> None:
        """Write all records, of which many are alike."""
        assert isinstance(self._transaction, TakesRuns)
        self._transaction.create_of_runs(self._name, runs)
        self.alike = True


class ReadBack(Source):
    """A written table, as the database gives it back; it is kept in a file while it is looked at."""

    def __init__(self, look: Look, name: str, missing: tuple[str, ...], folder: Path) -> None:
        """Read all rows once, into a file that only the owner of the release can reach."""
        from tarnkappe.io.databases import sql
        from tarnkappe.io.parquetfile import ParquetFile

        fields = look.fields()
        types = {field.name: field.dtype for field in fields}
        self._path = folder / f"read-back{temporary_tag()}"
        statement = sql.selected([field.expression for field in fields], look.relation)
        digest, n_rows = hashlib.sha256(), 0
        with self._path.open("wb") as file:
            kept = ParquetFile(file)
            for batch in look.batches(statement, types):
                digest.update(as_csv(batch, header=n_rows == 0))
                n_rows += batch.height
                kept.append(batch.to_arrow(compat_level=pl.CompatLevel.oldest()))
            kept.close()
        self._digest = digest.hexdigest()
        self._title = look.address.title
        super().__init__(name, [field.name for field in fields], n_rows, missing)

    @property
    def format(self) -> str:
        """Which database it was read back from."""
        return f"{self._title} table"

    @cached_property
    def sha256(self) -> str:
        """The digest of the rows, as whoever opens the table finds it."""
        return self._digest

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return pl.scan_parquet(self._path, glob=False, hive_partitioning=False).select(columns)

    def close(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)
